"""Choice of a data set by its name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

from eval.datasets import DataSet
from eval.datasets.locomo import load_locomo
from eval.datasets.longmemeval import load_longmemeval
from eval.datasets.own import load_own
from eval.datasets.realtalk import load_realtalk
from semantic_memory.domain.errors import InvalidInputError

Name = Literal[
    "locomo", "longmemeval", "longmemeval-dialogue", "longmemeval-loose", "realtalk", "own", "gold"
]
NAMES: tuple[Name, ...] = get_args(Name)

GOLD = Path(__file__).parents[2] / "data" / "gold"
PARTS = ("dialogues", "facts", "freshness")


def named(text: str) -> Name:
    """Return the name of a data set. Raises InvalidInputError for an unknown one."""
    for name in NAMES:
        if name == text:
            return name
    raise InvalidInputError(f"unknown data set {text!r}: one of {', '.join(NAMES)}")


def load(name: Name, path: Path | None) -> DataSet:
    """Load a data set from the file `path`; `gold` is part of the checkout and needs no path.

    Raises NotFoundError, InvalidInputError.
    """
    if name == "gold":
        return load_gold(path or GOLD)
    if path is None:
        raise InvalidInputError(f"--set {name} needs --data FILE: nothing is downloaded")
    match name:
        case "locomo":
            return load_locomo(path)
        case "longmemeval":
            return load_longmemeval(path, "official")
        case "longmemeval-dialogue":
            return load_longmemeval(path, "dialogue")
        case "longmemeval-loose":
            return load_longmemeval(path, "loose")
        case "realtalk":
            return load_realtalk(path)
        case "own":
            return load_own(path)


def load_gold(directory: Path) -> DataSet:
    """Load all parts of the set written for this project; kinds are prefixed by their part."""
    histories = []
    for part in PARTS:
        for history in load_own(directory / f"{part}.jsonl").histories:
            questions = [
                replace(question, kind=f"{part}: {question.kind}")
                if question.relevant
                else question
                for question in history.questions
            ]
            histories.append(replace(history, questions=questions))
    return DataSet(
        "gold", histories, "the set in data/gold: dialogues, lone facts, stale and fresh"
    )
