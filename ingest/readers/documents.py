"""Streaming of JSON documents of any size."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader
from typing import Any

import ijson


def items(file: BufferedReader, key: str | None = None) -> Iterator[Any]:
    """Yield the items of a list, or of an object's list at `key`; without a key, the object.

    Holds one item in memory at a time. Raises ijson.JSONError where the document is damaged.
    """
    prefix = "item" if _begins(file) == b"[" else f"{key}.item" if key else ""
    yield from ijson.items(file, prefix)


def items_or_lines(file: BufferedReader) -> Iterator[Any]:
    """Yield the items of a list, or the documents that follow each other, as on lines."""
    if _begins(file) == b"[":
        yield from ijson.items(file, "item")
    else:
        yield from ijson.items(file, "", multiple_values=True)


def _begins(file: BufferedReader) -> bytes:
    """Return the first byte of a document, and leave it there."""
    while file.peek(1)[:1].isspace():
        file.read(1)
    return file.peek(1)[:1]
