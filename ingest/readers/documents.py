"""Streaming of JSON documents of any size."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader
from typing import Any

import ijson

_CHUNK = 65_536
_LEVELS = {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}
_MOST_DEPTH = 500
"""Levels of a document, whose items are checked by stricter limits of their own."""


def events(file: BufferedReader, *, several: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield the events of a document, or of `several` that follow each other.

    Raises ijson.JSONError where it is damaged, nested deeper than 500 levels, or has a number
    beyond all bounds.
    """
    found = ijson.sendable_list()
    parser = ijson.basic_parse_coro(found, multiple_values=several)
    depth = 0
    error: ijson.JSONError | None = None
    while error is None:
        chunk = file.read(_CHUNK)
        try:
            parser.send(chunk) if chunk else parser.close()
        except ijson.JSONError as damage:
            error = damage
        except (ValueError, ArithmeticError, SystemError) as refused:
            error = ijson.JSONError("a number has too many digits")
            if isinstance(refused, SystemError):  # the event of a whole number has no value then
                del found[-1:]
        for event, value in found:
            depth += _LEVELS.get(event, 0)
            if depth > _MOST_DEPTH:
                raise ijson.JSONError(f"nested deeper than {_MOST_DEPTH} levels")
            yield event, value
        found.clear()
        if not chunk:
            break
    if error is not None:
        raise error


def items(file: BufferedReader, key: str | None = None) -> Iterator[Any]:
    """Yield the items of a list, or of an object's list at `key`; without a key, the object.

    Holds one item in memory at a time. Raises ijson.JSONError where the document is damaged.
    """
    prefix = "item" if _begins(file) == b"[" else f"{key}.item" if key else ""
    yield from _built(file, prefix)


def items_or_lines(file: BufferedReader) -> Iterator[Any]:
    """Yield the items of a list, or the documents that follow each other, as on lines."""
    if _begins(file) == b"[":
        yield from _built(file, "item")
    else:
        yield from _built(file, "", several=True)


def _built(file: BufferedReader, prefix: str, *, several: bool = False) -> Iterator[Any]:
    # From checked events that are pushed: left to itself, ijson takes time by the square of the
    # depth, and its extension in C ends the process at a number of thousands of digits.
    yield from ijson.items(ijson.parse(events(file, several=several)), prefix)


def _begins(file: BufferedReader) -> bytes:
    """Return the first byte of a document, and leave it there."""
    while file.peek(1)[:1].isspace():
        file.read(1)
    return file.peek(1)[:1]
