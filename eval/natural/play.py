"""Tell scenarios in natural chat to a store, run the jobs of upkeep, and ask.

Each scenario is a user of one store with default settings, except that nothing runs in the
background. The clock follows the messages of all users in order; a user's session is extracted
before the user's next one begins. Questions are asked on the Monday after a scenario ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from eval.datasets.scenarios import Scenario, Turn
from eval.natural.judge import Outcome, Shown, positions
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.messages import Message
from semantic_memory.domain.ports import Embedder, Progress
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import IngestSettings, Settings, UpkeepSettings
from semantic_memory.testing import FrozenClock, InMemoryIndex

BUDGET = 600
"""Tokens of a block."""
HITS = 10

_ONCE_BELIEVED = (Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED)
_NUMBERED = re.compile(r"(\d+) (.+)")  # a memory's line in the default template


def play(scenarios: Sequence[Scenario], embedder: Embedder, progress: Progress) -> list[Outcome]:
    """Tell all scenarios to one store; return each one's outcome, in the order given."""
    with TemporaryDirectory(prefix="semantic-memory-natural-") as scratch:
        settings = Settings(
            data_dir=Path(scratch),
            ingest=IngestSettings(background=False),
            upkeep=UpkeepSettings(schedule=False),
        )
        clock = FrozenClock(min(scenario.turns[0].said_at for scenario in scenarios))
        with SemanticMemory.open(
            settings=settings, embedder=embedder, index=InMemoryIndex(), clock=clock
        ) as memory:
            outcomes = dict(_Play(memory, clock).outcomes(scenarios, progress))
    return [outcomes[scenario.id] for scenario in scenarios]


class _Play:
    def __init__(self, memory: SemanticMemory, clock: FrozenClock) -> None:
        self._memory = memory
        self._clock = clock
        self._unread: set[str] = set()
        """Users with a session that isn't extracted yet."""

    def outcomes(
        self, scenarios: Sequence[Scenario], progress: Progress
    ) -> Iterator[tuple[str, Outcome]]:
        """Yield each scenario's id and outcome, once its question has been asked."""
        done = 0
        for week in _weeks(scenarios):
            for scenario, number in week.sessions:
                self._tell(scenario, number)
            self._clock.moment = week.end
            self._flush()
            for scenario in week.due:
                self._memory.jobs.run(user_id=scenario.id)
            self._flush()
            for scenario in week.due:
                yield scenario.id, self._ask(scenario)
            done += len(week.due)
            progress("scenarios", done, len(scenarios))

    def _tell(self, scenario: Scenario, number: int) -> None:
        if scenario.id in self._unread:
            self._flush()
        for turn in scenario.sessions[number]:
            self._clock.moment = max(self._clock.moment, turn.said_at)
            self._memory.observe([_message(turn)], user_id=scenario.id, session_id=f"s{number}")
        self._unread.add(scenario.id)

    def _flush(self) -> None:
        self._memory.flush()
        self._unread.clear()

    def _ask(self, scenario: Scenario) -> Outcome:
        user = scenario.id
        known = {
            fact.id: fact
            for status in _ONCE_BELIEVED
            for fact in self._memory.list(user_id=user, status=status, limit=None)
        }
        facts = tuple(one for one in known.values() if one.category is not Category.CONVERSATION)
        if scenario.ask is None:
            return Outcome(scenario, facts)
        hits = self._memory.search(scenario.ask, user_id=user, k=HITS)
        context = self._memory.context(scenario.ask, user_id=user, budget=BUDGET)
        texts = _texts(context.text)
        return Outcome(
            scenario,
            facts,
            tuple(_shown(hit.fact, hit.fact.content, known) for hit in hits),
            tuple(
                _shown(fact, text, known) for fact, text in zip(context.facts, texts, strict=True)
            ),
            context.text,
        )


class _Week(NamedTuple):
    end: datetime
    sessions: list[tuple[Scenario, int]]
    """Sessions of the week, by their numbers, in order of time."""
    due: list[Scenario]
    """Scenarios that ended in the week."""


def _weeks(scenarios: Sequence[Scenario]) -> Iterator[_Week]:
    weeks: dict[datetime, _Week] = {}
    for scenario in scenarios:
        for number, session in enumerate(scenario.sessions):
            end = _monday_after(session[-1].said_at)
            weeks.setdefault(end, _Week(end, [], [])).sessions.append((scenario, number))
        weeks[end].due.append(scenario)
    for end in sorted(weeks):
        week = weeks[end]
        week.sessions.sort(key=lambda told: told[0].sessions[told[1]][0].said_at)
        yield week


def _monday_after(moment: datetime) -> datetime:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + timedelta(days=7 - midnight.weekday())


def _message(turn: Turn) -> Message:
    return Message(
        id=str(turn.position), role=turn.role, content=turn.content, created_at=turn.said_at
    )


def _shown(fact: Fact, text: str, known: Mapping[str, Fact]) -> Shown:
    # A line of the profile refers to facts rather than to messages.
    behind = [fact, *(known[one] for one in fact.references if one in known)]
    places = frozenset(place for one in behind for place in positions(one))
    return Shown(text, places, fact.category is Category.CONVERSATION)


def _texts(block: str) -> list[str]:
    """Return the numbered lines of a block, without their numbers."""
    texts: list[str] = []
    for line in block.splitlines():
        found = _NUMBERED.fullmatch(line)
        if found and int(found[1]) == len(texts) + 1:
            texts.append(found[2])
    return texts
