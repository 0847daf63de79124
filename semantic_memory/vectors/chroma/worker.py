"""The process that Chroma lives in; `semantic_memory.vectors.chroma.process` starts it.

A damaged index can bring down the process that loads it, so that process isn't the service. It says
when it is about to load the index and whether the index can be used, then answers calls until its
parent closes the connection or dies; a flush under way is finished first, and the vector files are
sealed after each.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

from semantic_memory.domain.errors import IndexUnavailableError
from semantic_memory.vectors.chroma import seal

Outcome = Literal["answer", "broken", "unavailable"]

_PREDECESSOR_SECONDS = 60.0
_LACKS = ("disk is full", "No space left on device", "Too many open files")


def serve(connection: Connection, directory: Path, generation: str, sync_threshold: int) -> None:
    """Serve the index in `directory` over `connection`, as its only process."""
    try:
        with seal.alone(directory, _PREDECESSOR_SECONDS):
            _serve_alone(connection, directory, generation, sync_threshold)
    except IndexUnavailableError as error:
        connection.send(("unavailable", str(error)))


def _serve_alone(
    connection: Connection, directory: Path, generation: str, sync_threshold: int
) -> None:
    if not seal.is_empty(directory) and (reason := seal.damage(directory, generation)):
        connection.send(("broken", reason))
        return

    from semantic_memory.vectors.chroma.index import ChromaIndex

    stamps: seal.Stamps | None = None

    def seal_if_flushed() -> None:
        nonlocal stamps
        now = seal.stamps(directory)
        if now != stamps:
            seal.write(directory, generation)
            stamps = now

    def opened() -> ChromaIndex:
        directory.mkdir(exist_ok=True, mode=0o700)
        index = ChromaIndex(directory, sync_threshold)
        index.probe()
        seal_if_flushed()
        return index

    def call(method: str, args: Any, kwargs: Any) -> Any:
        answer = getattr(index, method)(*args, **kwargs)
        seal_if_flushed()
        return answer

    connection.send(("answer", None))  # from here on the index is to blame for this process's death
    outcome, index = _attempt(opened)
    connection.send((outcome, None if outcome == "answer" else index))
    while outcome == "answer":
        try:
            request = connection.recv()
            connection.send(_attempt(call, *request))
        except (EOFError, BrokenPipeError):
            index.close()
            return


def _attempt(action: Callable[..., Any], *args: Any) -> tuple[Outcome, Any]:
    """What came of it: a value, or why there is none and whether the index is to blame."""
    try:
        return "answer", action(*args)
    except FileNotFoundError as error:
        return "broken", f"a file is missing: {error}"
    except (MemoryError, OSError) as error:
        return "unavailable", f"{type(error).__name__}: {error}"
    except Exception as error:  # Chroma's errors are many; all that it raises is told to the parent
        lacking = any(words in str(error) for words in _LACKS)
        return "unavailable" if lacking else "broken", f"{type(error).__name__}: {error}"


def main() -> None:
    """Serve as the command line says: DIRECTORY GENERATION SYNC_THRESHOLD FD."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then closes us
    directory, generation, sync_threshold, descriptor = sys.argv[1:]
    serve(Connection(int(descriptor)), Path(directory), generation, int(sync_threshold))
