"""The rows of a ledger, user by user, as they are copied from one database to another.

Tables and columns have the same names in all of them. Where a table leaves its rows' user to the
fact, line or item that they belong to, it is looked up there.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from semantic_memory.ledger.sql.batch import Texts
from semantic_memory.ledger.sql.part import REVISION, Connections, Database, set_meta
from semantic_memory.ledger.sql.rows import FactRow, to_fact

Row = tuple[Any, ...]
_AT_ONCE = 1_000
_OWN_META = frozenset({"index", "changes apart", "api_keys"})
"""Small values of one database alone: of its vector index, of its watermark, and of its keys."""
MOVING = "moving"
"""Key of the small value that names the source while a store is copied to this database."""
_OFFSET = "offset"  # of a cursor: in the log beside this ledger


class Table(NamedTuple):
    """A table with rows of users."""

    name: str
    columns: tuple[str, ...]
    """Without the user; those that order a user's rows come first."""
    key: int = 1
    """Number of the columns that order them."""
    owner: str | None = None
    """The table that tells the user of a row by its number, where this one may not."""


_FACTS = Table(
    "facts",
    (
        *("num", *(name for name in FactRow._fields if name != "user_id")),
        *("action", "reason", "changed_at", "changed_by", "embedded", "revision"),
        *("retention", "recency"),
    ),
)
_CURSORS = Table("cursors", ("session_id", "stage", "position", _OFFSET, "message_id"), 2)
TABLES = (
    _FACTS,
    Table("versions", ("num", "version", "at", "action", "reason", "snapshot"), 2, "facts"),
    Table("vectors", ("num", "windows", "sentences", "data"), owner="facts"),
    Table("claim_keys", ("key", "num"), 2),
    Table(
        "placings", ("num", "revision", "created_at", "importance", "confidence"), 2, owner="facts"
    ),
    Table("lines", ("num", "id", "layer", "text", "origin", "at", "valid_from", "valid_to")),
    Table("line_sources", ("num", "source"), 2, "lines"),
    _CURSORS,
    Table("marks", ("job", "revision", "at")),
    Table("redactions", ("session_id", "message_id"), 2),
    Table("cuts", ("num",)),
    Table("prompts", ("num", "record")),
    Table(
        "items",
        (
            *("num", "namespace", "key", "value", "created_at", "updated_at", "ttl"),
            *("expires_at", "paths", "embedded"),
        ),
    ),
    Table("item_vectors", ("num", "path", "rows", "data"), 2, "items"),
    Table("item_terms", ("term", "num"), 2, "items"),
    Table(
        "events",
        (
            *("num", "kind", "at", "fact", "version", "status", "action"),
            *("session_id", "messages", "facts"),
        ),
    ),
)
"""Each behind those that it refers to."""


class Rows(ABC):
    """The rows of a ledger that nobody else writes meanwhile."""

    connections: Connections
    overriding = ""
    """Has numbers taken as they are given."""

    def __init__(self, texts: Texts) -> None:
        """Index copied facts in `texts`."""
        self._texts = texts

    @property
    def _names_users(self) -> bool:
        """True if every table has the user."""
        return "user_id" in self.connections.dialect.own.names

    @abstractmethod
    def settle(self) -> None:
        """Number what is numbered late, before it is read."""

    @abstractmethod
    def continue_numbers(self, db: Database) -> None:
        """Have numbers that are given from now on continue those of the copied rows."""

    @abstractmethod
    def begin_user(self, db: Database, user_id: str) -> None:
        """Insert the row of a user's counters."""

    def users(self) -> list[str]:
        """Return every user with a row in any table, sorted."""
        own = [one.name for one in TABLES if one.owner is None]
        query = " UNION ".join(f"SELECT user_id FROM {name}" for name in ("users", *own))
        with self.connections.snapshot() as db:
            return sorted(user_id for (user_id,) in db.execute(query))

    def sessions(self) -> list[tuple[str, str]]:
        """Return every user and session with a cursor."""
        with self.connections.snapshot() as db:
            found = db.execute("SELECT DISTINCT user_id, session_id FROM cursors ORDER BY 1, 2")
            return [tuple(row) for row in found]

    def begun_users(self) -> set[str]:
        """Return the users who have a row of counters."""
        with self.connections.snapshot() as db:
            return {user_id for (user_id,) in db.execute("SELECT user_id FROM users")}

    def revision(self, user_id: str) -> int:
        """Return the number of a user's latest change."""
        with self.connections.snapshot() as db:
            return int(db.execute(REVISION, (user_id,)).fetchone()[0])

    def read(self, table: Table, user_id: str) -> Iterator[list[Row]]:
        """Yield a user's rows of a table in their order, many at a time, without the user."""
        columns = ", ".join(f't."{name}"' for name in table.columns)
        key = ", ".join(f't."{name}"' for name in table.columns[: table.key])
        source, user = f"{table.name} t", "t.user_id"
        if table.owner is not None and not self._names_users:
            source, user = f"{source} JOIN {table.owner} o ON o.num = t.num", "o.user_id"
        query = f"SELECT {columns} FROM {source} WHERE {user} = ?"
        after: Row = ()
        while True:
            behind = f" AND ({key}) > ({_marks(table.key)})" if after else ""
            with self.connections.snapshot() as db:
                found = db.execute(
                    f"{query}{behind} ORDER BY {key} LIMIT {_AT_ONCE}", (user_id, *after)
                )
                rows = [tuple(row) for row in found]
            if rows:
                yield rows
            if len(rows) < _AT_ONCE:
                return
            after = rows[-1][: table.key]

    def write(self, db: Database, table: Table, user_id: str, rows: Sequence[Row]) -> None:
        """Insert a user's rows into a table, the words of facts into their indexes too."""
        names: tuple[str, ...] = table.columns
        values: Iterable[Row] = rows
        if table.owner is None or self._names_users:
            names, values = ("user_id", *names), [(user_id, *row) for row in rows]
        columns = ", ".join(f'"{name}"' for name in names)
        insert = f"INSERT INTO {table.name} ({columns}) {self.overriding}"
        db.executemany(f"{insert} VALUES ({_marks(len(names))})", values)
        if table is _FACTS:
            self._index(db, user_id, rows)

    def _index(self, db: Database, user_id: str, rows: Sequence[Row]) -> None:
        for row in rows:
            named = dict(zip(_FACTS.columns, row, strict=True)) | {"user_id": user_id}
            if named["content"]:
                fact = to_fact(FactRow(**{name: named[name] for name in FactRow._fields}))
                self._texts.write(db, named["num"], fact)

    def end_user(self, db: Database, user_id: str, revision: int) -> None:
        """Set the number of a user's latest change, which may have concerned no fact."""
        db.execute("UPDATE users SET revision = ? WHERE user_id = ?", (revision, user_id))

    # ---------------------------------------------------------------- rows of no user

    def values(self) -> dict[str, str]:
        """Return the small values that concern the store, and not its database."""
        with self.connections.snapshot() as db:
            found: dict[str, str] = dict(db.execute("SELECT key, value FROM meta").fetchall())
        return {key: one for key, one in found.items() if key not in (*_OWN_META, MOVING)}

    def runs(self) -> list[Row]:
        """Return the runs of jobs, in order."""
        with self.connections.snapshot() as db:
            found = db.execute("SELECT num, job, started_at, record FROM runs ORDER BY num")
            return [tuple(row) for row in found]

    def write_store(self, values: dict[str, str], runs: Sequence[Row]) -> None:
        """Write the rows of no user, in place of those present."""
        insert = f"INSERT INTO runs (num, job, started_at, record) {self.overriding}"
        with self.connections.transaction() as db:
            for key, value in values.items():
                set_meta(db, key, value)
            db.execute("DELETE FROM runs")
            db.executemany(f"{insert} VALUES (?, ?, ?, ?)", runs)
            self.continue_numbers(db)


Offsets = Mapping[str, Mapping[int, int]]
"""The byte offset of each position in the copied logs of a user's sessions."""


def copy_user(source: Rows, target: Rows, user_id: str, offsets: Offsets) -> None:
    """Copy all of a user's rows in one transaction; cursors get the offsets of copied logs."""
    with target.connections.transaction() as db:
        target.begin_user(db, user_id)
        for table in TABLES:
            for rows in source.read(table, user_id):
                if table is _CURSORS:
                    rows = [_moved(row, offsets) for row in rows]
                target.write(db, table, user_id, rows)
        target.end_user(db, user_id, source.revision(user_id))


def _moved(row: Row, offsets: Offsets) -> Row:
    """Return the row of a cursor with its place in the copied log."""
    cursor = dict(zip(_CURSORS.columns, row, strict=True))
    known = offsets.get(cursor["session_id"], {})
    cursor[_OFFSET] = known.get(cursor["position"], cursor[_OFFSET])
    return tuple(cursor.values())


class Sum(NamedTuple):
    """Number of rows, and a sum of their digests, in which their order doesn't count."""

    rows: int = 0
    digest: int = 0

    def plus(self, row: Row) -> Sum:
        """Return the sum with one row more."""
        plain = tuple(bytes(one) if isinstance(one, bytes | memoryview) else one for one in row)
        digest = hashlib.blake2b(repr(plain).encode("utf-8", "surrogatepass"), digest_size=16)
        return Sum(self.rows + 1, (self.digest + int.from_bytes(digest.digest())) % (1 << 128))


def sums(rows: Rows) -> dict[str, Sum]:
    """Return the sum of each table, and of the users' revisions."""
    found: dict[str, Sum] = {name: Sum() for name in ("users", *(one.name for one in TABLES))}
    for user_id in rows.users():
        if revision := rows.revision(user_id):  # a copied user may have a row of counters more
            found["users"] = found["users"].plus((user_id, revision))
        for table in TABLES:
            for some in rows.read(table, user_id):
                for row in some:
                    alike = (
                        one for name, one in zip(table.columns, row, strict=True) if name != _OFFSET
                    )
                    found[table.name] = found[table.name].plus((user_id, *alike))
    found["runs"] = Sum()
    for row in rows.runs():
        found["runs"] = found["runs"].plus(row)
    return found


def _marks(number: int) -> str:
    return ", ".join("?" * number)
