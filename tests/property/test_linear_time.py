"""Reading takes time in proportion to the length of a text, whatever its shape.

Measured is the CPU time of this thread, the best of several runs; a time too short to tell from
noise passes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ingest.extract.offline import OfflineExtractor
from ingest.gate import Gate
from ingest.recalled import extractable, without_recalled
from semantic_memory import Message, SemanticMemory
from semantic_memory.bootstrap import Parts, build
from semantic_memory.context.render import as_data
from semantic_memory.domain.english.relative_dates import dated_in_place
from semantic_memory.domain.language import is_english, language, other_script
from semantic_memory.domain.segments import segments
from semantic_memory.domain.text import lexical_text, stems
from semantic_memory.domain.values import normalised
from semantic_memory.judging.forgetting import asked_to_forget
from semantic_memory.language.own_speech import own_speech
from semantic_memory.settings import IngestSettings, Settings, UpkeepSettings
from semantic_memory.testing import HashEmbedder, InMemoryIndex
from semantic_memory.vectors.passages import split
from tests.support.effort import rounds

SIZES = (10, 40, 160, 640)
MOST = 1.6
RUNS = 3
FLOOR_SECONDS = 0.25
"""Seconds of a run, below which a deviation may be noise."""
SHAPES = {
    "unpunctuated backticks": "`a ",
    "fences": "```\n",
    "Chinese": "我住在北京",
    "Chinese amid English": "I live in 北京 ",
    "an unbroken line": "a",
    "an unbroken line of words": "word ",
    "sentences": "I live in Oslo. ",
    "nested brackets": "([{<",
    "nested quotes": "\"'“‘«",
    "triple quotes": '"""',
    "quoted lines": "> quoted line\n",
    "mail headers": "From: a@b.example\nSubject: hi\n",
    "attributions": "On Monday Bob wrote:\n",
    "tags": "<document>",
    "dates": "2026-05-10 ",
    "months": "May 5 ",
    "digits": "1234567890",
    "combining marks": "e\u0301\u0316",
    "line ends": "\n",
    "commas": "a, ",
    "conjunctions": "I and ",
    "ellipses": ". ",
    "addresses": "a@b.c ",
    "passwords": "password: ",
    "calls with a noun for a secret": "pin:a1(",
    "names": "Maya Oslo ",
    "questions": "Who? ",
    "list items": "- item\n",
    "words of an end": "no longer and ",
    "words of now": "now it is ",
    "words of change": "instead of x ",
    "moves": "we switched from a to b, ",
    "labels": "Bob: I moved\n",
    "requests": "translate that and ",
}


def said(text: str, role: Any = "user") -> Message:
    return Message(role=role, content=text)


GATE, EXTRACTOR = Gate(), OfflineExtractor()
READINGS: dict[str, Callable[[str], object]] = {
    "the gate": lambda text: GATE.screen(said(text)),
    "the gate of tools": lambda text: GATE.screen(said(text, "tool")),
    "recalled blocks": lambda text: (without_recalled(said(text)), extractable([said(text)])),
    "own speech": own_speech,
    "requests to forget": asked_to_forget,
    "extraction": lambda text: EXTRACTOR.extract([said(text)]),
    "words": lambda text: (lexical_text(text, None, 0.0), stems(text), normalised(text)),
    "sentences": lambda text: list(segments(text)),
    "secrets": lambda text: GATE.logged(said(text)),
    "languages": lambda text: (is_english(text), language(text), other_script(text)),
    "passages": split,
    "relative dates": lambda text: dated_in_place(text, datetime(2026, 5, 10, tzinfo=UTC)),
    "rendering": as_data,
}


def shaped(unit: str, kilobytes: int) -> str:
    size = kilobytes * 1_024
    repeated = unit * (size // len(unit.encode()) + 1)
    return f"I say {repeated}".encode()[:size].decode(errors="ignore")


def seconds(read: Callable[[str], object], text: str, runs: int) -> float:
    """Return the CPU time of the fastest of some runs; of one, if it takes long."""
    best = float("inf")
    for attempt in range(runs):
        start = time.thread_time()
        read(f"{text}{attempt}")  # another text, so that no cache answers
        best = min(best, time.thread_time() - start)
        if best > 5 * FLOOR_SECONDS:
            break
    return best


def excess(
    read: Callable[[str], object], unit: str, sizes: tuple[int, ...], runs: int = RUNS
) -> float:
    """Return the highest time a kilobyte, as a multiple of that of the sizes below it.

    The smallest size, with which the others are compared, is always timed `RUNS` times.
    """
    rates: list[float] = []
    worst = 0.0
    for size in sizes:
        spent = seconds(read, shaped(unit, size), runs if rates else RUNS)
        if rates and spent > FLOOR_SECONDS:
            worst = max(worst, spent / size / max(rates))
        rates.append(spent / size)
        if worst > MOST:
            break
    return worst


@pytest.mark.parametrize("reading", READINGS)
def test_reading_takes_linear_time(reading: str) -> None:
    read = READINGS[reading]
    read(" ".join(SHAPES.values()))  # loads what it needs
    sizes = SIZES[: rounds(full=4, quick=2)]
    found = {name: excess(read, unit, sizes, runs=1) for name, unit in SHAPES.items()}
    slow = {name: round(factor, 1) for name, factor in found.items() if factor > MOST}
    if slow:  # measured again: another process may have taken the caches
        slow = {name: round(excess(read, SHAPES[name], sizes), 1) for name in slow}
    assert {name: factor for name, factor in slow.items() if factor > MOST} == {}


@pytest.fixture
def through(tmp_path: Path) -> Iterator[Callable[[str], object]]:
    """Return a reading of texts by all of a store: from the message to the prompt."""
    settings = Settings(
        data_dir=tmp_path / "store",
        ingest=IngestSettings(background=False),
        upkeep=UpkeepSettings(schedule=False),
    )
    memory = SemanticMemory(build(settings, Parts(HashEmbedder(), index=InMemoryIndex())))
    users = count()

    def read(text: str) -> None:
        user = f"user-{next(users)}"  # each with one text alone
        memory.observe([said(text)], user_id=user, session_id="s1")
        memory.flush()
        question = text.encode()[:8_000].decode(errors="ignore")
        memory.search(question, user_id=user)
        memory.context(question, user_id=user)

    yield read
    memory.close()


@pytest.mark.timeout(1_800)
def test_a_store_takes_linear_time(through: Callable[[str], object]) -> None:
    through(" ".join(SHAPES.values()))
    sizes = SIZES[: rounds(full=4, quick=2)]
    shapes = dict(list(SHAPES.items())[: rounds(full=len(SHAPES), quick=2)])
    found = {name: excess(through, unit, sizes) for name, unit in shapes.items()}
    slow = {name: round(factor, 1) for name, factor in found.items() if factor > MOST}
    slow = {name: round(excess(through, SHAPES[name], sizes), 1) for name in slow}
    assert {name: factor for name, factor in slow.items() if factor > MOST} == {}


def test_the_measure_tells_quadratic_time() -> None:
    def quadratic(text: str) -> int:
        return sum(len(text[start:]) for start in range(len(text)))

    def linear(text: str) -> int:
        return sum(ord(char) for _ in range(40) for char in text)

    assert excess(quadratic, "a", (20, 80, 320)) > MOST
    assert excess(linear, "a", (20, 80, 320)) < MOST
