"""JSON documents of any size, an item at a time."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader
from typing import Any

import ijson


def items(file: BufferedReader, key: str | None = None) -> Iterator[Any]:
    """The items of a list; of an object, those of the list at `key`, or else the object itself.

    Only one item is in memory at a time. Raises ijson.JSONError where the document is damaged.
    """
    while file.peek(1)[:1].isspace():
        file.read(1)
    prefix = "item" if file.peek(1)[:1] == b"[" else f"{key}.item" if key else ""
    yield from ijson.items(file, prefix)
