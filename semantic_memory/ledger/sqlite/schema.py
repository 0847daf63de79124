"""The ledger's tables, and the migrations that bring older ones up to date.

`PRAGMA user_version` counts the migrations applied. A migration, once released, never changes.
"""

from __future__ import annotations

import sqlite3

from semantic_memory.domain.bodies import whole_text
from semantic_memory.domain.errors import SchemaTooNewError, StoreUnavailableError
from semantic_memory.domain.text import matchable, stems
from semantic_memory.ledger.sql.owners import owner_token
from semantic_memory.ledger.sql.rows import to_body
from semantic_memory.ledger.sql.spelling import written

_V1 = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- One row a memory, in its present state. A forgotten one keeps its row as the tombstone.
CREATE TABLE facts (
    num            INTEGER PRIMARY KEY,
    id             TEXT NOT NULL UNIQUE,
    user_id        TEXT NOT NULL,
    session_id     TEXT,
    position       INTEGER,
    role           TEXT,
    speaker        TEXT,
    category       TEXT NOT NULL,
    status         TEXT NOT NULL,
    content        TEXT NOT NULL,
    content_key    BLOB NOT NULL,           -- digest of the normalised content
    confidence     REAL NOT NULL,
    importance     REAL NOT NULL,
    created_at     INTEGER NOT NULL,        -- all times: microseconds since 1970, UTC
    recorded_at    INTEGER NOT NULL,
    valid_from     INTEGER NOT NULL,
    valid_to       INTEGER,
    confirmed_at   INTEGER,
    last_used_at   INTEGER,
    use_count      INTEGER NOT NULL,
    superseded_by  TEXT,
    tags           TEXT NOT NULL,           -- separated by spaces
    said_in        TEXT NOT NULL,           -- session/message, separated by spaces
    detail         TEXT NOT NULL,           -- JSON: source, corroborations, references, metadata
    version        INTEGER NOT NULL,
    action         TEXT NOT NULL,           -- what led to this version, when and why
    reason         TEXT NOT NULL,
    changed_at     INTEGER NOT NULL,
    embedded       INTEGER NOT NULL,        -- 1: has vectors; 0: waits for them; -1: refused
    revision       INTEGER NOT NULL UNIQUE  -- number of the latest change; the outbox reads by it
);
CREATE INDEX facts_by_change  ON facts (user_id, revision);
CREATE INDEX facts_by_time    ON facts (user_id, created_at, num);
CREATE INDEX facts_by_place   ON facts (user_id, session_id, position);
CREATE INDEX facts_by_content ON facts (user_id, content_key) WHERE category <> 'conversation';
CREATE INDEX facts_unembedded ON facts (num) WHERE embedded = 0;

CREATE TABLE versions (
    num      INTEGER NOT NULL REFERENCES facts (num),
    version  INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    action   TEXT NOT NULL,
    reason   TEXT NOT NULL,
    snapshot TEXT NOT NULL,                 -- the fact as JSON
    PRIMARY KEY (num, version)
) WITHOUT ROWID;

CREATE TABLE vectors (
    num       INTEGER PRIMARY KEY REFERENCES facts (num),
    windows   INTEGER NOT NULL,
    sentences INTEGER NOT NULL,
    data      BLOB NOT NULL                 -- float32, windows first, then sentences
);

CREATE TABLE cursors (
    user_id    TEXT NOT NULL,
    session_id TEXT NOT NULL,
    stage      TEXT NOT NULL,
    position   INTEGER NOT NULL,
    offset     INTEGER NOT NULL,
    message_id TEXT,
    PRIMARY KEY (user_id, session_id, stage)
) WITHOUT ROWID;

-- owner is the user, hashed to one token, so that a match is cut to a user before it is ranked
CREATE VIRTUAL TABLE words USING fts5 (owner, text, tokenize = 'porter unicode61');
CREATE VIRTUAL TABLE word_counts USING fts5vocab (words, row);
"""

_V2 = """
-- How many memories each user has, forgotten ones aside, and the latest revision among them:
-- counting rows takes too long at 100,000.
CREATE TABLE users (
    user_id  TEXT PRIMARY KEY,
    memories INTEGER NOT NULL,
    revision INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO users
    SELECT user_id, count(*) FILTER (WHERE status <> 'forgotten'), max(revision)
    FROM facts GROUP BY user_id;
CREATE TRIGGER memory_added AFTER INSERT ON facts BEGIN
    INSERT INTO users VALUES (new.user_id, new.status <> 'forgotten', new.revision)
    ON CONFLICT (user_id) DO UPDATE
    SET memories = memories + excluded.memories, revision = excluded.revision;
END;
CREATE TRIGGER memory_changed AFTER UPDATE OF status, revision ON facts BEGIN
    UPDATE users
    SET memories = memories + (new.status <> 'forgotten') - (old.status <> 'forgotten'),
        revision = max(revision, new.revision)
    WHERE user_id = new.user_id;
END;
CREATE INDEX facts_forgotten ON facts (user_id, session_id)
    WHERE status = 'forgotten' AND content <> '';
CREATE INDEX facts_by_category ON facts (user_id, category, status, created_at);

-- How far each job has come with each user.
CREATE TABLE marks (
    job      TEXT NOT NULL,
    user_id  TEXT NOT NULL,
    revision INTEGER NOT NULL,              -- changes up to this one have been looked at
    at       INTEGER NOT NULL,
    PRIMARY KEY (job, user_id)
) WITHOUT ROWID;
CREATE TABLE runs (
    num        INTEGER PRIMARY KEY,
    job        TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    record     TEXT NOT NULL                -- the run as JSON
);
CREATE INDEX runs_by_job ON runs (job, started_at);
"""

_V3 = """
-- What a fact is about, hashed: two with a key in common may repeat or contradict each other. Only
-- facts that one of the jobs below has looked at have theirs, so all are looked at once more.
CREATE TABLE claim_keys (
    user_id TEXT NOT NULL,
    key     BLOB NOT NULL,
    num     INTEGER NOT NULL REFERENCES facts (num),
    PRIMARY KEY (user_id, key, num)
) WITHOUT ROWID;
CREATE INDEX claim_keys_by_memory ON claim_keys (num);
DELETE FROM marks WHERE job IN ('settling', 'dedup', 'conflicts');
"""

_V4 = """
-- Profiles and histories: what stands, and what stood before it.
CREATE TABLE lines (
    num        INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    user_id    TEXT NOT NULL,
    layer      TEXT NOT NULL,               -- a field of the profile or a tier of the history
    text       TEXT NOT NULL,
    origin     TEXT NOT NULL,               -- derived, model, user
    at         INTEGER NOT NULL,            -- when what it says was said
    valid_from INTEGER NOT NULL,            -- when it stood
    valid_to   INTEGER
);
CREATE INDEX lines_by_user ON lines (user_id, layer, at);

-- What each rests on: ids of facts, and session/message of messages.
CREATE TABLE line_sources (
    num    INTEGER NOT NULL REFERENCES lines (num) ON DELETE CASCADE,
    source TEXT NOT NULL,
    PRIMARY KEY (num, source)
) WITHOUT ROWID;
CREATE INDEX line_sources_by_source ON line_sources (source);

-- Most memories are messages: what asks for facts must not walk through them.
CREATE INDEX beliefs_by_time   ON facts (user_id, created_at, num)
    WHERE category <> 'conversation';
CREATE INDEX beliefs_by_change ON facts (user_id, revision) WHERE category <> 'conversation';
CREATE INDEX facts_replaced    ON facts (superseded_by) WHERE superseded_by IS NOT NULL;
"""

_V5 = """
ALTER TABLE facts ADD COLUMN expires_at INTEGER;
ALTER TABLE facts ADD COLUMN body TEXT;             -- the typed body as JSON
ALTER TABLE facts ADD COLUMN changed_by TEXT;       -- the name of the API key, where there was one
-- Factors of the relevance, as the hourly sweep left them; a new memory has the highest.
ALTER TABLE facts ADD COLUMN retention REAL NOT NULL DEFAULT 1.0;
ALTER TABLE facts ADD COLUMN recency   REAL NOT NULL DEFAULT 1.5;
CREATE INDEX facts_expiring ON facts (user_id, expires_at) WHERE expires_at IS NOT NULL;
"""

_V6 = """
-- Facts and messages are looked up by what they give a value of as well: all are looked at again.
DELETE FROM marks WHERE job IN ('settling', 'dedup', 'conflicts');
CREATE INDEX facts_superseded ON facts (user_id, session_id) WHERE status = 'superseded';
"""

_V7 = """
-- Words as they are written: the beginning of one can't be found among the stems of `words`.
CREATE VIRTUAL TABLE forms USING fts5 (owner, text, tokenize = 'unicode61');
INSERT INTO forms (rowid, owner, text)
    SELECT f.num, owner_token(f.user_id), word_forms(f.content, f.body)
    FROM facts f WHERE f.content <> '';

-- The values that the order of a listing depended on until a revision, so that a listing can be
-- continued as it began while memories change: the latest eight changes of each memory.
CREATE TABLE placings (
    num        INTEGER NOT NULL REFERENCES facts (num),
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    importance REAL NOT NULL,
    confidence REAL NOT NULL,
    PRIMARY KEY (num, revision)
) WITHOUT ROWID;
CREATE TRIGGER placing_changed AFTER UPDATE OF created_at, importance, confidence ON facts
WHEN old.created_at <> new.created_at OR old.importance <> new.importance
    OR old.confidence <> new.confidence
BEGIN
    INSERT OR REPLACE INTO placings VALUES
        (new.num, new.revision, old.created_at, old.importance, old.confidence);
    DELETE FROM placings WHERE num = new.num AND revision <= (
        SELECT revision FROM placings WHERE num = new.num ORDER BY revision DESC LIMIT 1 OFFSET 8
    );
END;
"""

_V8 = """
-- Texts in other languages than English are indexed by the words of their languages.
UPDATE words SET text = matchable(text) WHERE text <> matchable(text);
"""

_V9 = """
-- The lowest trust of what a fact was drawn from.
ALTER TABLE facts ADD COLUMN trust TEXT NOT NULL DEFAULT 'user';
UPDATE facts SET trust = role WHERE role IN ('assistant', 'tool');
"""

_V10 = """
-- Messages whose text is to be erased from the log of their session; an empty id is the whole log.
CREATE TABLE redactions (
    user_id    TEXT NOT NULL,
    session_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    PRIMARY KEY (user_id, session_id, message_id)
) WITHOUT ROWID;

-- Messages that have lost sentences, which indexes still hold until they are erased there too.
CREATE TABLE cuts (num INTEGER PRIMARY KEY REFERENCES facts (num), user_id TEXT NOT NULL);
"""

_V11 = """
-- What entered prompts: ids, times and scores, and no text.
CREATE TABLE prompts (
    num     INTEGER PRIMARY KEY,
    user_id TEXT NOT NULL,
    record  TEXT NOT NULL                   -- as JSON
);
CREATE INDEX prompts_by_user ON prompts (user_id, num);
"""

_V12 = """
-- Values under exact keys. A put replaces the row, and a number is never used again: it stands for
-- one state of one item.
CREATE TABLE items (
    num        INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id    TEXT NOT NULL,
    namespace  TEXT NOT NULL,               -- labels, each with its end mark
    key        TEXT NOT NULL,
    value      TEXT NOT NULL,               -- JSON
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    ttl        INTEGER,                     -- microseconds
    expires_at INTEGER,
    paths      TEXT NOT NULL,               -- JSON: the paths that are embedded
    embedded   INTEGER NOT NULL,            -- 0: waits for its vectors
    UNIQUE (namespace, key, user_id)
);
CREATE INDEX items_by_user    ON items (user_id, namespace);
CREATE INDEX items_expiring   ON items (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX items_unembedded ON items (num) WHERE embedded = 0;
CREATE TABLE item_vectors (
    num  INTEGER NOT NULL REFERENCES items (num) ON DELETE CASCADE,
    path TEXT NOT NULL,
    rows INTEGER NOT NULL,
    data BLOB NOT NULL,                     -- float32
    PRIMARY KEY (num, path)
);
CREATE TABLE item_terms (
    term TEXT NOT NULL,
    num  INTEGER NOT NULL REFERENCES items (num) ON DELETE CASCADE,
    PRIMARY KEY (term, num)
) WITHOUT ROWID;
CREATE INDEX item_terms_by_item ON item_terms (num);
"""

_V13 = """
-- The scope of a memory; an empty text for no agent and no run.
ALTER TABLE facts ADD COLUMN agent_id TEXT NOT NULL DEFAULT '';
ALTER TABLE facts ADD COLUMN run_id   TEXT NOT NULL DEFAULT '';
CREATE INDEX facts_by_agent ON facts (user_id, agent_id, created_at, num) WHERE agent_id <> '';
CREATE INDEX facts_by_run   ON facts (user_id, run_id, created_at, num)   WHERE run_id <> '';
"""

_V14 = """
-- What happened, in order: a version of a memory, or an extraction from a session, and no texts.
-- It begins empty.
CREATE TABLE events (
    num        INTEGER PRIMARY KEY,
    user_id    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    at         INTEGER NOT NULL,
    fact       INTEGER REFERENCES facts (num),
    version    INTEGER,
    status     TEXT,
    action     TEXT NOT NULL,
    session_id TEXT,                        -- of an extraction, as are the next columns
    messages   INTEGER,
    facts      INTEGER
);
CREATE INDEX events_by_user ON events (user_id);
"""

_V15 = """
-- Revisions are numbers of their user, whose row in `users` has the latest, rather than of all. The
-- table is copied, as a constraint of a column can't be dropped.
CREATE TABLE new_facts (
    num            INTEGER PRIMARY KEY,
    id             TEXT NOT NULL UNIQUE,
    user_id        TEXT NOT NULL,
    session_id     TEXT,
    position       INTEGER,
    role           TEXT,
    speaker        TEXT,
    category       TEXT NOT NULL,
    status         TEXT NOT NULL,
    content        TEXT NOT NULL,
    content_key    BLOB NOT NULL,
    confidence     REAL NOT NULL,
    importance     REAL NOT NULL,
    created_at     INTEGER NOT NULL,
    recorded_at    INTEGER NOT NULL,
    valid_from     INTEGER NOT NULL,
    valid_to       INTEGER,
    confirmed_at   INTEGER,
    last_used_at   INTEGER,
    use_count      INTEGER NOT NULL,
    superseded_by  TEXT,
    tags           TEXT NOT NULL,
    said_in        TEXT NOT NULL,
    detail         TEXT NOT NULL,
    version        INTEGER NOT NULL,
    action         TEXT NOT NULL,
    reason         TEXT NOT NULL,
    changed_at     INTEGER NOT NULL,
    embedded       INTEGER NOT NULL,
    revision       INTEGER NOT NULL,        -- the user's, at the latest change
    expires_at     INTEGER,
    body           TEXT,
    changed_by     TEXT,
    retention      REAL NOT NULL DEFAULT 1.0,
    recency        REAL NOT NULL DEFAULT 1.5,
    trust          TEXT NOT NULL DEFAULT 'user',
    agent_id       TEXT NOT NULL DEFAULT '',
    run_id         TEXT NOT NULL DEFAULT ''
);
INSERT INTO new_facts SELECT * FROM facts;
DROP TABLE facts;
ALTER TABLE new_facts RENAME TO facts;
CREATE UNIQUE INDEX facts_by_change ON facts (user_id, revision);
CREATE INDEX facts_by_time     ON facts (user_id, created_at, num);
CREATE INDEX facts_by_place    ON facts (user_id, session_id, position);
CREATE INDEX facts_by_content  ON facts (user_id, content_key) WHERE category <> 'conversation';
CREATE INDEX facts_by_category ON facts (user_id, category, status, created_at);
CREATE INDEX facts_by_agent    ON facts (user_id, agent_id, created_at, num) WHERE agent_id <> '';
CREATE INDEX facts_by_run      ON facts (user_id, run_id, created_at, num)   WHERE run_id <> '';
CREATE INDEX facts_unembedded  ON facts (num) WHERE embedded = 0;
CREATE INDEX facts_forgotten   ON facts (user_id, session_id)
    WHERE status = 'forgotten' AND content <> '';
CREATE INDEX facts_superseded  ON facts (user_id, session_id) WHERE status = 'superseded';
CREATE INDEX facts_replaced    ON facts (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX facts_expiring    ON facts (user_id, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX beliefs_by_time   ON facts (user_id, created_at, num)
    WHERE category <> 'conversation';
CREATE INDEX beliefs_by_change ON facts (user_id, revision) WHERE category <> 'conversation';

-- Memories of which the index may not hold the present state. One that never had vectors can't be
-- in it. `meta` names the index that they are for, its filling, and the changes it has reached.
CREATE TABLE unindexed (
    user_id  TEXT NOT NULL,
    num      INTEGER NOT NULL REFERENCES facts (num),
    revision INTEGER NOT NULL,
    PRIMARY KEY (user_id, num)
) WITHOUT ROWID;
UPDATE meta SET key = 'index', value = 'given ' || value
    WHERE key = 'given index' AND NOT EXISTS (SELECT 1 FROM meta WHERE key = 'index');
UPDATE meta SET value = 'chroma ' || value WHERE key = 'index' AND value NOT LIKE 'given %';
DELETE FROM meta WHERE key = 'given index';
INSERT INTO unindexed SELECT user_id, num, revision FROM facts
    WHERE (embedded = 1 OR version > 1) AND revision > coalesce(
        (SELECT replace(value, rtrim(value, '0123456789'), '') FROM meta WHERE key = 'index'), 0
    ) + 0;

-- Marks were numbers of all users too: one beyond its user's latest change would hide the next.
UPDATE marks SET revision = min(revision, coalesce(
    (SELECT u.revision FROM users u WHERE u.user_id = marks.user_id), 0
));

-- The watermark notes the number of changes so far: the sum of the users' revisions, which were
-- further apart until now.
INSERT INTO meta SELECT 'changes apart',
    (SELECT coalesce(max(revision), 0) FROM facts) - (SELECT coalesce(sum(revision), 0) FROM users);

CREATE TRIGGER memory_added AFTER INSERT ON facts BEGIN
    INSERT INTO users VALUES (new.user_id, new.status <> 'forgotten', new.revision)
    ON CONFLICT (user_id) DO UPDATE
    SET memories = memories + excluded.memories, revision = excluded.revision;
    INSERT INTO unindexed SELECT new.user_id, new.num, new.revision WHERE new.embedded = 1;
END;
CREATE TRIGGER memory_changed AFTER UPDATE OF status, revision ON facts BEGIN
    UPDATE users
    SET memories = memories + (new.status <> 'forgotten') - (old.status <> 'forgotten'),
        revision = max(revision, new.revision)
    WHERE user_id = new.user_id;
    INSERT OR REPLACE INTO unindexed SELECT new.user_id, new.num, new.revision
    WHERE new.embedded = 1 OR new.version > 1;
END;
CREATE TRIGGER placing_changed AFTER UPDATE OF created_at, importance, confidence ON facts
WHEN old.created_at <> new.created_at OR old.importance <> new.importance
    OR old.confidence <> new.confidence
BEGIN
    INSERT OR REPLACE INTO placings VALUES
        (new.num, new.revision, old.created_at, old.importance, old.confidence);
    DELETE FROM placings WHERE num = new.num AND revision <= (
        SELECT revision FROM placings WHERE num = new.num ORDER BY revision DESC LIMIT 1 OFFSET 8
    );
END;
"""

_V16 = """
-- The stems of the words that each memory is found by, separated by spaces, repeats included.
CREATE TABLE stems (num INTEGER PRIMARY KEY REFERENCES facts (num), text TEXT NOT NULL);
INSERT INTO stems SELECT rowid, stemmed(text) FROM words;
"""

MIGRATIONS: tuple[str, ...] = (
    *(_V1, _V2, _V3, _V4, _V5, _V6, _V7, _V8, _V9, _V10, _V11, _V12),
    *(_V13, _V14, _V15, _V16),
)


def check_schema(connection: sqlite3.Connection) -> None:
    """Raise StoreUnavailableError for a ledger of an older schema, which only writing brings up.

    Raises SchemaTooNewError for one of a newer version of this package.
    """
    version = _version(connection)
    if version < len(MIGRATIONS):
        raise StoreUnavailableError(
            f"the ledger has schema {version}, and can't be brought to {len(MIGRATIONS)} where"
            " nothing may be written: open it once where it may"
        )


def migrate(connection: sqlite3.Connection) -> int:
    """Bring the ledger to the newest schema, one transaction a step; return the schema before.

    Raises SchemaTooNewError for a ledger written by a newer version of this package.
    """
    version = _version(connection)
    add_functions(connection)
    # A table that others refer to may be replaced; no transaction can change this.
    connection.execute("PRAGMA foreign_keys = OFF")
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        connection.executescript(
            f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {number}; COMMIT;"
        )
    connection.execute("PRAGMA foreign_keys = ON")
    return version


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise SchemaTooNewError(
            f"the ledger has schema {version}, this version of semantic-memory knows"
            f" {len(MIGRATIONS)}: upgrade the package (pip install -U semantic-memory)"
        )
    return int(version)


def add_functions(connection: sqlite3.Connection) -> None:
    """Add the functions that the migrations call."""
    connection.create_function("owner_token", 1, owner_token, deterministic=True)
    connection.create_function("word_forms", 2, _word_forms, deterministic=True)
    connection.create_function("matchable", 1, matchable, deterministic=True)
    connection.create_function("stemmed", 1, _stemmed, deterministic=True)


def _stemmed(text: str) -> str:
    return " ".join(stems(text))


def _word_forms(content: str, body: str | None) -> str:
    return written(whole_text(content, to_body(body)))
