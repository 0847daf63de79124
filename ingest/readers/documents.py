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
    while file.peek(1)[:1].isspace():
        file.read(1)
    prefix = "item" if file.peek(1)[:1] == b"[" else f"{key}.item" if key else ""
    yield from ijson.items(file, prefix)
