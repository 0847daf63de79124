"""The ledger's tables on PostgreSQL, and the migrations that bring older ones up to date.

The table `migrations` has the number of those applied. A migration, once released, never changes.
Every key begins with the user, so that tables can be cut and distributed by users.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from semantic_memory.domain.errors import ConfigurationError, SchemaTooNewError
from semantic_memory.ledger.postgres.driver import psycopg, translated

_PARTITIONS = 16
_TEXT = 'TEXT COLLATE "C"'  # compared by code points, as all other ledgers do


def _partitions(table: str) -> Iterator[str]:
    for remainder in range(_PARTITIONS):
        yield (
            f"CREATE TABLE {table}_{remainder} PARTITION OF {table}"
            f" FOR VALUES WITH (MODULUS {_PARTITIONS}, REMAINDER {remainder});"
        )


_V1 = f"""
CREATE TABLE meta (key {_TEXT} PRIMARY KEY, value TEXT NOT NULL);

-- The counters of each user. Who locks the row numbers the user's changes.
CREATE TABLE users (
    user_id  {_TEXT} PRIMARY KEY,
    memories BIGINT NOT NULL DEFAULT 0,     -- forgotten ones aside
    revision BIGINT NOT NULL DEFAULT 0,     -- of the latest change
    facts    BIGINT NOT NULL DEFAULT 0,     -- memories ever written
    texts    BIGINT NOT NULL DEFAULT 0,     -- memories whose words are indexed, and their words
    words    BIGINT NOT NULL DEFAULT 0
);

-- One row a memory, in its present state. A forgotten one keeps its row as the tombstone.
CREATE TABLE facts (
    num            BIGINT GENERATED ALWAYS AS IDENTITY,
    id             {_TEXT} NOT NULL,
    user_id        {_TEXT} NOT NULL,
    session_id     {_TEXT},
    position       BIGINT,
    role           {_TEXT},
    speaker        {_TEXT},
    category       {_TEXT} NOT NULL,
    status         {_TEXT} NOT NULL,
    content        {_TEXT} NOT NULL,
    content_key    BYTEA NOT NULL,            -- digest of the normalised content
    confidence     DOUBLE PRECISION NOT NULL,
    importance     DOUBLE PRECISION NOT NULL,
    created_at     BIGINT NOT NULL,           -- all times: microseconds since 1970, UTC
    recorded_at    BIGINT NOT NULL,
    valid_from     BIGINT NOT NULL,
    valid_to       BIGINT,
    confirmed_at   BIGINT,
    last_used_at   BIGINT,
    expires_at     BIGINT,
    use_count      BIGINT NOT NULL,
    superseded_by  {_TEXT},
    tags           {_TEXT} NOT NULL,          -- separated by spaces
    said_in        {_TEXT} NOT NULL,          -- session/message, separated by spaces
    detail         TEXT NOT NULL,             -- JSON: source, corroborations, references, metadata
    body           TEXT,                      -- the typed body as JSON
    trust          {_TEXT} NOT NULL,
    agent_id       {_TEXT} NOT NULL,          -- the scope; an empty text for no agent and no run
    run_id         {_TEXT} NOT NULL,
    version        BIGINT NOT NULL,
    action         TEXT NOT NULL,             -- what led to this version, when, why and who
    reason         TEXT NOT NULL,
    changed_at     BIGINT NOT NULL,
    changed_by     TEXT,
    embedded       INTEGER NOT NULL,          -- 1: has vectors; 0: waits for them; -1: refused
    revision       BIGINT NOT NULL,           -- the user's, at the latest change
    retention      DOUBLE PRECISION NOT NULL DEFAULT 1.0,
    recency        DOUBLE PRECISION NOT NULL DEFAULT 1.5,
    PRIMARY KEY (user_id, num),
    UNIQUE (user_id, id),
    UNIQUE (user_id, revision)
);
CREATE INDEX facts_by_id       ON facts (id);
CREATE INDEX facts_by_time     ON facts (user_id, created_at, num);
CREATE INDEX facts_by_place    ON facts (user_id, session_id, position);
CREATE INDEX facts_by_category ON facts (user_id, category, status, created_at);
CREATE INDEX facts_by_content  ON facts (user_id, content_key) WHERE category <> 'conversation';
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

CREATE TABLE versions (
    user_id  {_TEXT} NOT NULL,
    num      BIGINT NOT NULL,
    version  BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    action   TEXT NOT NULL,
    reason   TEXT NOT NULL,
    snapshot TEXT NOT NULL,                   -- the fact as JSON
    PRIMARY KEY (user_id, num, version)
) PARTITION BY HASH (user_id);
{"".join(_partitions("versions"))}

CREATE TABLE vectors (
    user_id   {_TEXT} NOT NULL,
    num       BIGINT NOT NULL,
    windows   INTEGER NOT NULL,
    sentences INTEGER NOT NULL,
    data      BYTEA NOT NULL,                 -- float32, windows first, then sentences
    PRIMARY KEY (user_id, num)
) PARTITION BY HASH (user_id);
-- Vectors don't shrink. By ALTER, for servers before 16; partitions inherit it.
ALTER TABLE vectors ALTER COLUMN data SET STORAGE EXTERNAL;
{"".join(_partitions("vectors"))}

-- Stems with the owner before them, how often each occurs, and how many there are; the words as
-- they are written, with the owner, and in their order.
CREATE TABLE words (
    user_id {_TEXT} NOT NULL,
    num     BIGINT NOT NULL,
    stems   TEXT[] COLLATE "C" NOT NULL,
    counts  INTEGER[] NOT NULL,
    length  BIGINT NOT NULL,
    forms   TSVECTOR NOT NULL,
    written {_TEXT} NOT NULL,
    PRIMARY KEY (user_id, num)
);
CREATE INDEX words_by_stem ON words USING gin (stems);
CREATE INDEX words_by_form ON words USING gin (forms);

-- What a fact is about, hashed: two with a key in common may repeat or contradict each other.
CREATE TABLE claim_keys (
    user_id {_TEXT} NOT NULL,
    key     BYTEA NOT NULL,
    num     BIGINT NOT NULL,
    PRIMARY KEY (user_id, key, num)
);
CREATE INDEX claim_keys_by_memory ON claim_keys (user_id, num);

-- The values that the order of a listing depended on until a revision: the latest eight changes.
CREATE TABLE placings (
    user_id    {_TEXT} NOT NULL,
    num        BIGINT NOT NULL,
    revision   BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    importance DOUBLE PRECISION NOT NULL,
    confidence DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (user_id, num, revision)
);

-- Memories of which the index may not hold the present state.
CREATE TABLE unindexed (
    user_id  {_TEXT} NOT NULL,
    num      BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (user_id, num)
);

-- Profiles and histories: what stands, and what stood before it.
CREATE TABLE lines (
    num        BIGINT GENERATED ALWAYS AS IDENTITY,
    id         {_TEXT} NOT NULL,
    user_id    {_TEXT} NOT NULL,
    layer      {_TEXT} NOT NULL,
    text       TEXT NOT NULL,
    origin     {_TEXT} NOT NULL,
    at         BIGINT NOT NULL,               -- when what it says was said
    valid_from BIGINT NOT NULL,               -- when it stood
    valid_to   BIGINT,
    PRIMARY KEY (user_id, num),
    UNIQUE (user_id, id)
);
CREATE INDEX lines_by_id   ON lines (id);
CREATE INDEX lines_by_num  ON lines (num);
CREATE INDEX lines_by_user ON lines (user_id, layer, at);
-- What each rests on: ids of facts, and session/message of messages.
CREATE TABLE line_sources (
    user_id {_TEXT} NOT NULL,
    num     BIGINT NOT NULL,
    source  {_TEXT} NOT NULL,
    PRIMARY KEY (user_id, num, source),
    FOREIGN KEY (user_id, num) REFERENCES lines ON DELETE CASCADE
);
CREATE INDEX line_sources_by_source ON line_sources (user_id, source);

CREATE TABLE cursors (
    user_id    {_TEXT} NOT NULL,
    session_id {_TEXT} NOT NULL,
    stage      {_TEXT} NOT NULL,
    position   BIGINT NOT NULL,
    "offset"   BIGINT NOT NULL,
    message_id {_TEXT},
    PRIMARY KEY (user_id, session_id, stage)
);
CREATE TABLE marks (
    user_id  {_TEXT} NOT NULL,
    job      {_TEXT} NOT NULL,
    revision BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    PRIMARY KEY (user_id, job)
);
CREATE TABLE runs (
    num        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job        {_TEXT} NOT NULL,
    started_at BIGINT NOT NULL,
    record     TEXT NOT NULL
);
CREATE TABLE redactions (
    user_id    {_TEXT} NOT NULL,
    session_id {_TEXT} NOT NULL,
    message_id {_TEXT} NOT NULL,
    PRIMARY KEY (user_id, session_id, message_id)
);
CREATE TABLE cuts (
    user_id {_TEXT} NOT NULL,
    num     BIGINT NOT NULL,
    PRIMARY KEY (user_id, num)
);
CREATE TABLE prompts (
    num     BIGINT GENERATED ALWAYS AS IDENTITY,
    user_id {_TEXT} NOT NULL,
    record  TEXT NOT NULL,
    PRIMARY KEY (user_id, num)
);

-- Values under exact keys. A put replaces the row, and a number is never used again.
CREATE TABLE items (
    num        BIGINT GENERATED ALWAYS AS IDENTITY,
    user_id    {_TEXT} NOT NULL,
    namespace  {_TEXT} NOT NULL,
    key        {_TEXT} NOT NULL,
    value      TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    ttl        BIGINT,
    expires_at BIGINT,
    paths      {_TEXT} NOT NULL,
    embedded   INTEGER NOT NULL,
    PRIMARY KEY (user_id, num),
    UNIQUE (user_id, namespace, key)
);
CREATE INDEX items_by_num     ON items (num);
CREATE INDEX items_expiring   ON items (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX items_unembedded ON items (num) WHERE embedded = 0;
CREATE TABLE item_vectors (
    user_id {_TEXT} NOT NULL,
    num     BIGINT NOT NULL,
    path    {_TEXT} NOT NULL,
    rows    INTEGER NOT NULL,
    data    BYTEA NOT NULL,
    PRIMARY KEY (user_id, num, path),
    FOREIGN KEY (user_id, num) REFERENCES items ON DELETE CASCADE
);
CREATE TABLE item_terms (
    user_id {_TEXT} NOT NULL,
    term    {_TEXT} NOT NULL,
    num     BIGINT NOT NULL,
    PRIMARY KEY (user_id, term, num),
    FOREIGN KEY (user_id, num) REFERENCES items ON DELETE CASCADE
);
CREATE INDEX item_terms_by_item ON item_terms (user_id, num);

-- What happened. Writers of several users commit in another order than they insert: who reads the
-- feed first numbers what has been committed. `seq` is the order within a user.
CREATE TABLE events (
    seq        BIGINT GENERATED ALWAYS AS IDENTITY,
    num        BIGINT,
    user_id    {_TEXT} NOT NULL,
    kind       {_TEXT} NOT NULL,
    at         BIGINT NOT NULL,
    fact       BIGINT,
    version    BIGINT,
    status     {_TEXT},
    action     TEXT NOT NULL,
    session_id {_TEXT},
    messages   BIGINT,
    facts      BIGINT,
    PRIMARY KEY (user_id, seq)
);
CREATE INDEX events_by_number  ON events (num) WHERE num IS NOT NULL;
CREATE INDEX events_unnumbered ON events (seq) WHERE num IS NULL;

-- JSON may escape a NUL, which no text of PostgreSQL can hold.
CREATE FUNCTION details(detail TEXT) RETURNS JSONB IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT CASE WHEN strpos(detail, '\\u0000') = 0 THEN detail
        ELSE regexp_replace(detail, '(?<!\\\\)((?:\\\\\\\\)*)\\\\u0000', '\\1\\\\ufffd', 'g')
    END::jsonb
$$;

CREATE FUNCTION memory_added() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    UPDATE users SET memories = memories + (new.status <> 'forgotten')::int,
        facts = facts + 1, revision = new.revision
    WHERE user_id = new.user_id;
    IF new.embedded = 1 THEN
        INSERT INTO unindexed VALUES (new.user_id, new.num, new.revision);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER memory_added AFTER INSERT ON facts
    FOR EACH ROW EXECUTE FUNCTION memory_added();

CREATE FUNCTION memory_changed() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    UPDATE users SET revision = greatest(revision, new.revision),
        memories = memories + (new.status <> 'forgotten')::int - (old.status <> 'forgotten')::int
    WHERE user_id = new.user_id;
    IF new.embedded = 1 OR new.version > 1 THEN
        INSERT INTO unindexed VALUES (new.user_id, new.num, new.revision)
        ON CONFLICT (user_id, num) DO UPDATE SET revision = excluded.revision;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER memory_changed AFTER UPDATE OF status, revision ON facts
    FOR EACH ROW EXECUTE FUNCTION memory_changed();

CREATE FUNCTION placing_changed() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO placings VALUES (new.user_id, new.num, new.revision,
        old.created_at, old.importance, old.confidence);
    DELETE FROM placings WHERE user_id = new.user_id AND num = new.num AND revision <= (
        SELECT revision FROM placings WHERE user_id = new.user_id AND num = new.num
        ORDER BY revision DESC LIMIT 1 OFFSET 8
    );
    RETURN NULL;
END $$;
CREATE TRIGGER placing_changed AFTER UPDATE OF created_at, importance, confidence ON facts
    FOR EACH ROW WHEN (old.created_at <> new.created_at OR old.importance <> new.importance
        OR old.confidence <> new.confidence)
    EXECUTE FUNCTION placing_changed();

CREATE FUNCTION words_changed() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    UPDATE users SET
        texts = texts + (tg_op = 'INSERT')::int - (tg_op = 'DELETE')::int,
        words = words + coalesce(new.length, 0) - coalesce(old.length, 0)
    WHERE user_id = coalesce(new.user_id, old.user_id);
    RETURN NULL;
END $$;
CREATE TRIGGER words_changed AFTER INSERT OR UPDATE OR DELETE ON words
    FOR EACH ROW EXECUTE FUNCTION words_changed();
"""

# Neither table is logged: after a crash of the server, all is granted again.
_LEASES = f"""
-- Who does what; names are hashed, as they hold ids of users.
CREATE SEQUENCE lease_fences;
CREATE UNLOGGED TABLE leases (
    name  BYTEA PRIMARY KEY,
    owner TEXT NOT NULL,                  -- host:process
    fence BIGINT NOT NULL,
    until TIMESTAMPTZ NOT NULL
);

-- The memories that a worker embeds at present.
CREATE UNLOGGED TABLE embedding (
    user_id {_TEXT} NOT NULL,
    num     BIGINT NOT NULL,
    worker  UUID NOT NULL,
    until   TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (user_id, num)
);
"""

_STATES = f"""
-- The states of sessions' windows and tasks, as JSON.
CREATE TABLE states (
    user_id    {_TEXT} NOT NULL,
    session_id {_TEXT} NOT NULL,
    name       {_TEXT} NOT NULL,
    version    INTEGER NOT NULL,              -- of the model whose data it is
    data       TEXT NOT NULL,
    PRIMARY KEY (user_id, session_id, name)
);
"""

_LOGS = f"""
-- The session logs. A number of the sequence is never given twice: a log that was removed and begun
-- anew has another generation too.
CREATE SEQUENCE log_generations;
CREATE TABLE logs (
    user_id    {_TEXT} NOT NULL,
    session_id {_TEXT} NOT NULL,
    generation BIGINT NOT NULL DEFAULT nextval('log_generations'),
    lines      BIGINT NOT NULL DEFAULT 0,
    size       BIGINT NOT NULL DEFAULT 0,       -- of all lines, in bytes
    corrupt    BIGINT NOT NULL DEFAULT 0,       -- lines, as last counted
    stored     BIGINT NOT NULL DEFAULT 0,       -- position of the cursor "stored"
    PRIMARY KEY (user_id, session_id)
);
CREATE INDEX logs_behind ON logs (user_id, session_id) WHERE stored < lines;

CREATE TABLE log_lines (
    user_id    {_TEXT} NOT NULL,
    session_id {_TEXT} NOT NULL,
    position   BIGINT NOT NULL,
    ends       BIGINT NOT NULL,                 -- offset behind the line, in bytes of the log
    message_id {_TEXT},                         -- NULL: damaged, and observed again since
    line       BYTEA NOT NULL,
    PRIMARY KEY (user_id, session_id, position),
    UNIQUE (user_id, session_id, message_id)
) PARTITION BY HASH (user_id);
{"".join(_partitions("log_lines"))}

CREATE FUNCTION log_stored() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    UPDATE logs SET stored = new.position
    WHERE user_id = new.user_id AND session_id = new.session_id;
    RETURN NULL;
END $$;
CREATE TRIGGER log_stored AFTER INSERT OR UPDATE OF position ON cursors
    FOR EACH ROW WHEN (new.stage = 'stored') EXECUTE FUNCTION log_stored();
"""

_SERVICE = f"""
-- What services keep beside the memory. The number of changes of keys is in `meta`.
CREATE TABLE api_keys (
    id     {_TEXT} PRIMARY KEY,
    num    BIGINT GENERATED ALWAYS AS IDENTITY,
    record BYTEA NOT NULL
);

-- Answers by the digest of caller, request and idempotency key. While a request is worked on, its
-- row names the worker, which renews the lease; `forgotten` are digests of users who had something
-- forgotten meanwhile, `names` those of the identifiers in the answer.
CREATE TABLE replies (
    name         {_TEXT} PRIMARY KEY,
    worker       {_TEXT},
    leased_until TIMESTAMPTZ,
    fingerprint  BYTEA,
    status       INTEGER,
    media_type   TEXT,
    body         BYTEA,
    names        BYTEA[] NOT NULL DEFAULT '{{}}',
    forgotten    BYTEA[] NOT NULL DEFAULT '{{}}',
    at           DOUBLE PRECISION NOT NULL
);
CREATE INDEX replies_by_time   ON replies (at);
CREATE INDEX replies_by_names  ON replies USING gin (names);
CREATE INDEX replies_under_way ON replies (worker) WHERE worker IS NOT NULL;

-- Token buckets of callers. A crash of the server empties the table, and so fills the buckets.
CREATE UNLOGGED TABLE rates (
    name    {_TEXT} PRIMARY KEY,
    tokens  DOUBLE PRECISION NOT NULL,
    at      DOUBLE PRECISION NOT NULL,
    granted BIGINT NOT NULL                   -- to whom drew last
) WITH (fillfactor = 50);
"""

_UNEXTRACTED = """
-- The cursor "stored" of a session knows the position of the cursor "extracted", so that an index
-- finds the sessions with a difference between them, however many others there are.
ALTER TABLE cursors ADD COLUMN extracted BIGINT NOT NULL DEFAULT 0;
UPDATE cursors s SET extracted = e.position FROM cursors e
WHERE s.stage = 'stored' AND e.stage = 'extracted'
    AND e.user_id = s.user_id AND e.session_id = s.session_id;
CREATE INDEX cursors_unextracted ON cursors (user_id, session_id)
    WHERE stage = 'stored' AND position > extracted;
CREATE FUNCTION session_extracted() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    UPDATE cursors s SET extracted = e.position FROM cursors e
    WHERE s.user_id = new.user_id AND s.session_id = new.session_id AND s.stage = 'stored'
        AND e.user_id = new.user_id AND e.session_id = new.session_id AND e.stage = 'extracted';
    RETURN NULL;
END $$;
CREATE TRIGGER session_extracted AFTER INSERT OR UPDATE OF position ON cursors
    FOR EACH ROW WHEN (new.stage = 'extracted') EXECUTE FUNCTION session_extracted();
CREATE TRIGGER session_stored AFTER INSERT ON cursors
    FOR EACH ROW WHEN (new.stage = 'stored') EXECUTE FUNCTION session_extracted();
"""

_DONE = """
-- True once the changes of a request under way are committed: set in their transaction.
ALTER TABLE replies ADD COLUMN done BOOLEAN NOT NULL DEFAULT FALSE;
"""

OLDEST_SERVER = 13
"""The oldest major version of PostgreSQL that has all that the tables and statements need."""

MIGRATIONS: tuple[str, ...] = (_V1, _LEASES, _STATES, _LOGS, _SERVICE, _UNEXTRACTED, _DONE)


def lock_key(*names: str) -> int:
    """Return the number of the advisory lock of this name, a signed 64-bit one."""
    digest = hashlib.blake2b("\0".join(names).encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


def migrate(conninfo: str, schema: str, name: str) -> int:
    """Bring the ledger to the newest schema, creating it if necessary; return the schema before.

    Of several processes at once, one does it. Raises SchemaTooNewError for a ledger written by a
    newer version of this package, ConfigurationError for a server that is too old, or a database
    in another encoding than UTF-8.
    """
    with (
        translated(name),
        psycopg.connect(conninfo, prepare_threshold=None, connect_timeout=10) as connection,
    ):
        return _migrate(connection, schema)


def check_server(version: int) -> None:
    """Refuse a server of this `server_version_num` if it is too old. Raises ConfigurationError.

    >>> check_server(150_018)
    """
    major = version // 10_000
    if major < OLDEST_SERVER:
        raise ConfigurationError(
            f"the server is PostgreSQL {major}, and a store needs {OLDEST_SERVER} or newer:"
            " upgrade the server, or name another one in store.url"
        )


def _migrate(connection: psycopg.Connection[Any], schema: str) -> int:
    check_server(connection.info.server_version)  # first: an old one fails at some statement
    row = connection.execute("SELECT current_setting('server_encoding')").fetchone()
    if row != ("UTF8",):
        raise ConfigurationError(
            f"the database has the encoding {row and row[0]}: create it with ENCODING 'UTF8'"
        )
    key = lock_key("migrations", schema)
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (key,))
    known = connection.execute("SELECT to_regnamespace(%s)", (schema,)).fetchone()
    if known == (None,):
        connection.execute(f"CREATE SCHEMA {schema}".encode())
    connection.execute(f"SET LOCAL search_path TO {schema}".encode())
    connection.execute("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY)")
    row = connection.execute("SELECT coalesce(max(number), 0) FROM migrations").fetchone()
    version = int(row[0]) if row else 0
    if version > len(MIGRATIONS):
        raise SchemaTooNewError(
            f"the ledger has schema {version}, this version of semantic-memory knows"
            f" {len(MIGRATIONS)}: upgrade the package (pip install -U semantic-memory)"
        )
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        connection.execute(script.encode())
        connection.execute("INSERT INTO migrations VALUES (%s)", (number,))
    return version
