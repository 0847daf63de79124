"""Runs of hours that continue where they were stopped: each history has a store of its own.

The file is replaced once a history's questions are asked, so that a run that was ended loses only
the history that it was at.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from eval.datasets import DataSet, History
from eval.experiment import Bench
from eval.results import Result
from eval.run import Row, ask
from eval.systems.build import OURS, Name, build_system
from semantic_memory.domain.errors import InvalidInputError, StoreUnavailableError
from semantic_memory.domain.ports import Progress


# A question without results has a score of minus infinity.
@dataclass(frozen=True, slots=True, config=ConfigDict(ser_json_inf_nan="constants"))
class Done:
    """The rows of one history by one system: a line of the file."""

    dataset: str
    system: str
    history: str
    """Digest of its memories and questions."""
    take_in_seconds: float
    rows: Sequence[Row]


_LINE = TypeAdapter(Done)


def asked(
    dataset: DataSet,
    name: Name,
    shared: Bench,
    path: Path,
    progress: Progress,
    *,
    rerank: bool = False,
) -> Result:
    """Ask the questions of the histories that `path` lacks, add them to it, and return all rows.

    The rows are those of the code that asked: after a change of it, begin with another file. Raises
    InvalidInputError if a line of `path` is no such row, StoreUnavailableError if it can't
    be read or written.
    """
    shown = f"{name}, reranked" if rerank and name == OURS else name
    done = {(one.dataset, one.system, one.history): one for one in _read(path)}
    keys = [(dataset.name, shown, _digest(history)) for history in dataset.histories]
    _write(path, done.values())  # so that a path that can't be written is refused at once
    for number, (key, history) in enumerate(zip(keys, dataset.histories, strict=True), 1):
        if key in done:
            continue
        directory = shared.scratch / f"history-{number}"
        directory.mkdir(mode=0o700)
        try:
            with closing(build_system(name, shared.embedder, directory, rerank=rerank)) as system:
                start = time.perf_counter()
                system.take_in([history], _silent)
                seconds = time.perf_counter() - start
                rows = ask(system, replace(dataset, histories=[history]), shared.counter, _silent)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
        done[key] = Done(*key, take_in_seconds=seconds, rows=rows)
        _write(path, done.values())
        progress(f"{shown}: histories", number, len(keys))
    own = [done[key] for key in keys]
    return Result(
        shown, [row for one in own for row in one.rows], sum(one.take_in_seconds for one in own)
    )


def _digest(history: History) -> str:
    text = json.dumps(asdict(history), default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: object) -> object:
    # A set has another order in each process.
    return sorted(value) if isinstance(value, frozenset) else str(value)


def _read(path: Path) -> list[Done]:
    if not path.exists():
        return []
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise StoreUnavailableError(f"can't read {path}: {error.strerror or error}") from error
    try:
        return [_LINE.validate_json(line) for line in lines]
    except ValidationError as error:
        raise InvalidInputError(f"{path} has a line that this command didn't write") from error


def _write(path: Path, done: Iterable[Done]) -> None:
    written = path.with_name(path.name + ".new")
    try:
        written.write_bytes(b"".join(_LINE.dump_json(one) + b"\n" for one in done))
        written.replace(path)
    except OSError as error:
        raise StoreUnavailableError(f"can't write {path}: {error.strerror or error}") from error


def _silent(step: str, done: int, total: int) -> None:
    """Report nothing: progress is told by histories."""
