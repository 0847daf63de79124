"""Readers: messages from files, one at a time, with what can't be used reported by place.

`read` picks the reader; each yields `Incoming` messages and `Rejected` places, and raises
InvalidInputError only if nothing of the file can be read.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Literal, cast, get_args

from ingest.readers.jsonl import read_jsonl
from ingest.readers.locomo import is_locomo, read_locomo
from ingest.readers.openai_chat import read_openai_chat
from ingest.readers.values import Incoming, Rejected
from semantic_memory.errors import InvalidInputError, NotFoundError

__all__ = ["FORMATS", "Format", "Incoming", "Rejected", "read"]

Format = Literal["auto", "jsonl", "locomo", "openai"]
FORMATS: tuple[Format, ...] = get_args(Format)


def read(path: Path, form: Format, session_id: str) -> Iterator[Incoming | Rejected]:
    """The messages of a file, plain or gzipped; those of no session go to `session_id`."""
    if not path.is_file():
        raise NotFoundError(f"no file {path}")
    name = path.name.removesuffix(".gz")
    if form == "jsonl" or (form == "auto" and name.endswith((".jsonl", ".ndjson"))):
        with _open(path) as lines:
            yield from read_jsonl(lines, session_id)
        return
    document = _document(path)
    if form == "locomo" or (form == "auto" and is_locomo(document)):
        yield from read_locomo(document)
    else:
        yield from read_openai_chat(document, session_id)


def _open(path: Path) -> IO[bytes]:
    # Bytes, so that one line in a wrong encoding spoils that line only.
    with path.open("rb") as file:
        gzipped = file.read(2) == b"\x1f\x8b"
    return cast("IO[bytes]", gzip.open(path, "rb")) if gzipped else path.open("rb")


def _document(path: Path) -> Any:
    try:
        with _open(path) as file, io.TextIOWrapper(file, encoding="utf-8") as text:
            return json.load(text)
    except ValueError as error:
        raise InvalidInputError(
            f"{path} is not a JSON document ({error}); for one message a line use --format jsonl"
        ) from None
    except (EOFError, gzip.BadGzipFile) as error:
        raise InvalidInputError(f"{path} is a damaged gzip file: {error}") from None
