"""Worker process of the Chroma index, started by `semantic_memory.vectors.chroma.process`.

A damaged index can crash the process that loads it, so the service doesn't load it itself. The
worker reports that it is about to load the index, then whether the index is usable, and answers
calls until its parent closes the connection or dies. It finishes a flush under way first, and seals
the vector files after each flush.
"""

from __future__ import annotations

import os
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
LACKS = ("disk is full", "No space left on device", "Too many open files")


def serve(connection: Connection, directory: Path, generation: str, sync_threshold: int) -> None:
    """Serve the index in `directory` over `connection`, as the only process that has it open."""
    os.umask(0o077)  # Chroma's files are for their owner alone
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

    connection.send(("answer", None))  # from here on, a crash is blamed on the index
    outcome, index = attempt(opened)
    connection.send((outcome, None if outcome == "answer" else index))
    while outcome == "answer":
        try:
            request = connection.recv()
            connection.send(attempt(call, *request))
        except (EOFError, BrokenPipeError):
            index.close()
            return


def attempt(action: Callable[..., Any], *args: Any) -> tuple[Outcome, Any]:
    """Run an action; return its value, or the error and whether it is the index's fault."""
    try:
        return "answer", action(*args)
    except FileNotFoundError as error:
        return "broken", f"a file is missing: {error}"
    except (MemoryError, OSError) as error:
        return "unavailable", f"{type(error).__name__}: {error}"
    except Exception as error:  # Chroma raises many types; the parent gets them all
        lacking = any(words in str(error) for words in LACKS)
        return "unavailable" if lacking else "broken", f"{type(error).__name__}: {error}"


def main() -> None:
    """Serve by the command line: DIRECTORY GENERATION SYNC_THRESHOLD FD."""
    # Ctrl-C is for the parent, which then closes this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    directory, generation, sync_threshold, descriptor = sys.argv[1:]
    serve(Connection(int(descriptor)), Path(directory), generation, int(sync_threshold))
