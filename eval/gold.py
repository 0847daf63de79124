"""Read the gold sets in `data/gold` that hold one record a line."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, TypeVar

from eval.datasets.files import read_text
from eval.datasets.load import GOLD
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.refusals import ModelT, parse

T = TypeVar("T")

Half = Literal["build", "measure"]
"""Halves of a set: rules may be built by reading the first, the second is only measured."""


def read_gold(name: str, model: type[ModelT], path: Path | None = None) -> list[ModelT]:
    """Return the records of `path`, by default of the gold set `name`.

    Raises NotFoundError, and InvalidInputError that names the line.
    """
    source = path or GOLD / f"{name}.jsonl"
    records = []
    for number, line in enumerate(read_text(source).splitlines(), start=1):
        place = f"{source} line {number}"
        try:
            values = json.loads(line)
        except json.JSONDecodeError as error:
            raise InvalidInputError(f"{place} is not JSON: {error}") from None
        if not isinstance(values, dict):
            raise InvalidInputError(f"{place} is not an object")
        records.append(parse(model, place, values))
    if not records:
        raise InvalidInputError(f"{source} holds no record")
    return records


def grouped(outcomes: Iterable[T], group: Callable[[T], str]) -> dict[str, list[T]]:
    """Return all outcomes as "all", then each group of them, in the order of their appearance."""
    groups: dict[str, list[T]] = {"all": [*outcomes]}
    for outcome in groups["all"]:
        groups.setdefault(group(outcome), []).append(outcome)
    return groups


def share(values: Iterable[bool]) -> float | None:
    """Return the share of true values; None if there is none at all."""
    judged = [*values]
    return statistics.fmean(judged) if judged else None
