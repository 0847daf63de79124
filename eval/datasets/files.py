"""Reading of JSON files of data sets, plain or gzipped."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from semantic_memory.domain.errors import InvalidInputError, NotFoundError

T = TypeVar("T")


def read_text(path: Path) -> str:
    """Read the text of a file. Raises NotFoundError, InvalidInputError."""
    if not path.is_file():
        raise NotFoundError(f"no file {path}")
    data = path.read_bytes()
    try:
        plain = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        return plain.decode("utf-8-sig")
    except (EOFError, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{path} can't be read: {error}") from None


def read_samples(path: Path, name: str, load: Callable[[list[dict[str, object]]], T]) -> T:
    """Read a JSON list of samples and convert it by `load`.

    Raises NotFoundError, or InvalidInputError if the file isn't in the format `name`.
    """
    text = read_text(path)
    try:
        samples = json.loads(text)
        if not isinstance(samples, list) or not samples:
            raise TypeError("it is not a list of samples")
        return load(samples)
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"{path} is not a JSON document: {error}") from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InvalidInputError(f"{path} is not a file of {name}: {reason}") from None


def rows_of(path: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the JSON objects of a file, one a line, each with its place.

    Raises NotFoundError, InvalidInputError that names the line.
    """
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        place = f"{path} line {number}"
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise InvalidInputError(f"{place} is not a JSON object: {error}") from None
        if not isinstance(row, dict):
            raise InvalidInputError(f"{place} is not a JSON object")
        yield place, row
