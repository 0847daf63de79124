"""Session logs of each kind, for tests that hold for all of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

from ingest.log_line import LineFormat
from ingest.session_log import FileSessionLog
from semantic_memory.disk import SystemDisk
from semantic_memory.domain.changes import Cursor
from semantic_memory.domain.events import Event
from semantic_memory.domain.ports import Ledger, SessionLog
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.ledger.sqlite import SqliteLedger

Emit = Callable[[Event], None]


class Place(Protocol):
    """A place of logs, with the ledger beside them; the log of `u1`, `s1` can be damaged."""

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        ...

    @property
    def log(self) -> SessionLog:
        """The logs."""
        ...

    def again(self) -> SessionLog:
        """Return the logs as another process finds them: at the same time, if they are shared."""
        ...

    def edit(self, change: Callable[[list[bytes]], list[bytes]]) -> None:
        """Change the lines of messages, behind the back of the log; b"" takes one out."""
        ...

    def content(self) -> bytes:
        """Return all that is kept of the log."""
        ...


class Files:
    """Logs in a directory."""

    def __init__(
        self, directory: Path, emit: Emit, encryption: Encryption | None, opened: ExitStack
    ) -> None:
        self.ledger = SqliteLedger(directory / "ledger.sqlite3")
        opened.callback(self.ledger.close)
        self._opened = lambda: FileSessionLog(
            directory / "sessions", emit, SystemDisk(), encryption
        )
        self.log = self._opened()
        self._path = self.log.path("u1", "s1")

    def again(self) -> FileSessionLog:
        """Open the directory again."""
        return self._opened()

    def edit(self, change: Callable[[list[bytes]], list[bytes]]) -> None:
        """Change the lines behind the first, which names the session."""
        first, *lines = self._path.read_bytes().splitlines(keepends=True)
        self._path.write_bytes(b"".join([first, *change(lines)]))

    def content(self) -> bytes:
        """Return the file."""
        return self._path.read_bytes()


class Database:
    """Logs in a schema of a PostgreSQL database."""

    def __init__(
        self, url: str, emit: Emit, encryption: Encryption | None, opened: ExitStack
    ) -> None:
        from semantic_memory.ledger.postgres import PostgresLedger

        self.url = url
        self._emit = emit
        self._form = LineFormat(encryption)
        self._ledger: type[PostgresLedger] = PostgresLedger
        self._opened = opened
        self.ledger = self._process()
        self.log = self.ledger.session_log(self._form, emit)

    def _process(self) -> Any:
        ledger = self._ledger(self.url)
        self._opened.callback(ledger.close)
        return ledger

    def again(self) -> SessionLog:
        """Return the logs of a ledger that shares nothing with the first but the database."""
        log: SessionLog = self._process().session_log(self._form, self._emit)
        return log

    def edit(self, change: Callable[[list[bytes]], list[bytes]]) -> None:
        """Change the lines in their table."""
        lines = self._lines()
        for position, line in enumerate(change(lines)):
            if not line:
                self.run("DELETE FROM log_lines WHERE position = %s", position)
            elif line != lines[position]:
                self.run("UPDATE log_lines SET line = %s WHERE position = %s", line, position)

    def content(self) -> bytes:
        """Return the lines."""
        return b"".join(self._lines())

    def _lines(self) -> list[bytes]:
        found = self.run("SELECT line FROM log_lines ORDER BY user_id, session_id, position")
        return [line for (line,) in found]

    def run(self, statement: str, *values: Any) -> list[Any]:
        """Run a statement on a connection of the test's own."""
        import psycopg

        server, _, schema = self.url.partition("&schema=")
        with psycopg.connect(server) as connection:
            connection.execute(f"SET LOCAL search_path TO {schema}".encode())
            cursor = connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else []


def behind(record: Any) -> Cursor:
    """Return the cursor behind a record of `u1`, `s1`."""
    return Cursor("u1", "s1", "stored", record.position + 1, record.end, record.message.id)


def contents(log: SessionLog, user: str = "u1", session: str = "s1") -> list[str]:
    """Return the texts of a log."""
    return [record.message.content for record in log.read(user, session)]
