"""The process that Chroma lives in.

    python -m semantic_memory.index.worker FD DIRECTORY GENERATION SYNC_THRESHOLD

A damaged index can bring down the process that loads it, so that process isn't the service. It says
once whether the index can be used, then answers calls until its parent closes the connection or
dies; a flush under way is finished first, and the vector files are sealed after each.
"""

from __future__ import annotations

import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path

from filelock import FileLock, Timeout

from semantic_memory.index import seal

_PREDECESSOR_SECONDS = 60.0


def main(connection: Connection, directory: Path, generation: str, sync_threshold: int) -> None:
    """Serve the index in `directory` over `connection`."""
    lock = FileLock(directory.with_suffix(".lock"), mode=0o600)
    try:
        lock.acquire(timeout=_PREDECESSOR_SECONDS)
    except Timeout:
        connection.send((False, "the process that had it open before does not end"))
        return
    if not seal.is_empty(directory) and (reason := seal.damage(directory, generation)):
        connection.send((False, reason))
        return

    from chromadb.errors import ChromaError

    from semantic_memory.index.chroma import ChromaIndex

    directory.mkdir(exist_ok=True, mode=0o700)
    stamps: seal.Stamps | None = None

    def seal_if_flushed() -> None:
        nonlocal stamps
        now = seal.stamps(directory)
        if now != stamps:
            seal.write(directory, generation)
            stamps = now

    try:
        index = ChromaIndex(directory, sync_threshold)
        index.probe()
    except (ChromaError, ValueError, OSError) as error:
        connection.send((False, f"it can't be opened: {error}"))
        return
    seal_if_flushed()
    connection.send((True, None))
    while True:
        try:
            method, args, kwargs = connection.recv()
        except EOFError:
            break
        try:
            answer = (True, getattr(index, method)(*args, **kwargs))
        except (ChromaError, ValueError, TypeError, OSError) as error:
            answer = (False, f"{type(error).__name__}: {error}")
        seal_if_flushed()
        try:
            connection.send(answer)
        except BrokenPipeError:
            break
    index.close()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then closes us
    main(Connection(int(sys.argv[1])), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
