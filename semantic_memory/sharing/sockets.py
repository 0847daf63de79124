"""The socket on which an owner listens: a Unix socket if it can be, else a port on loopback."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

SOCKET = "owner.sock"
"""Name of the socket in the data directory."""
_LONGEST = 103
"""Bytes that the path of a socket may have: macOS takes 103, Linux 107."""
_BACKLOG = 128
"""Connections that wait until the owner has opened the store."""


class Listening(NamedTuple):
    """A listening socket, with its path or its URL."""

    socket: socket.socket
    path: Path | None = None
    url: str | None = None


@contextmanager
def listening(directory: Path) -> Iterator[Listening]:
    """Listen for processes of this user that want the store in `directory`.

    The caller owns the directory: a socket found in the place was left by a process that was
    killed. The path is in the directory; if it would be too long, or the file system has no
    sockets, in the user's runtime directory; failing that, a port on loopback is taken.
    """
    found = _listening(directory.resolve())
    try:
        yield found
    finally:
        found.socket.close()
        if found.path is not None:
            found.path.unlink(missing_ok=True)


def _listening(directory: Path) -> Listening:
    places: tuple[Callable[[Path], Path], ...] = (lambda at: at / SOCKET, _in_runtime_directory)
    for place in places if hasattr(socket, "AF_UNIX") else ():
        try:
            path = place(directory)
            return Listening(_bound(path), path=path)
        except OSError:
            continue
    listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
    return Listening(listener, url=f"http://127.0.0.1:{listener.getsockname()[1]}")


def _bound(path: Path) -> socket.socket:
    """Listen at a path. Raises OSError."""
    if len(os.fsencode(path)) > _LONGEST:
        raise OSError(errno.ENAMETOOLONG, "too long for a socket", str(path))
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(_BACKLOG)  # nobody could connect before
    except OSError:
        listener.close()
        raise
    return listener


def _in_runtime_directory(directory: Path) -> Path:
    """Return a short path of its own for a data directory. Raises OSError."""
    user = os.getuid()
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{user}")
    parent = runtime if os.access(runtime, os.W_OK) else Path(tempfile.gettempdir())
    own = parent / f"semantic-memory-{user}"
    own.mkdir(mode=0o700, exist_ok=True)
    about = own.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != user or about.st_mode & 0o077:
        raise PermissionError(errno.EPERM, "others may write there", str(own))
    digest = hashlib.blake2b(os.fsencode(directory), digest_size=8).hexdigest()
    return own / f"{digest}.sock"
