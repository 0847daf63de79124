"""A process killed at any moment loses nothing that it acknowledged."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from semantic_memory import SemanticMemory
from semantic_memory.domain.errors import NotFoundError
from tests.crash.program import USERS, Repeating, opened
from tests.support.effort import rounds

KILLS = rounds(full=20, quick=4)
ROOT = Path(__file__).parent.parent.parent


class Acknowledged:
    """Acknowledgements of the killed processes."""

    def __init__(self) -> None:
        self.messages: dict[str, set[str]] = defaultdict(set)
        self.facts: dict[str, set[str]] = defaultdict(set)
        self.deleted: set[str] = set()

    def take(self, line: str) -> None:
        match line.split():
            case ["observed", user, *ids]:
                self.messages[user].update(ids)
            case ["added", user, fact_id]:
                self.facts[user].add(fact_id)
            case ["deleting", user, fact_id]:  # from here on it may be there or not
                self.facts[user].discard(fact_id)
            case ["deleted", _, fact_id]:
                self.deleted.add(fact_id)


def run_and_kill(directory: Path, seed: int, lines: int, seconds: float) -> list[str]:
    """Run the program, kill it `seconds` after it printed some lines, and return all it printed.

    The first line tells that it has opened the store. A line that was cut off is left out.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.program", str(directory), str(seed)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        text=True,
    )
    assert process.stdout is not None
    first = [process.stdout.readline() for _ in range(lines)]
    time.sleep(seconds)
    process.kill()
    rest, _ = process.communicate()
    return [*first, *(line for line in rest.splitlines(keepends=True) if line.endswith("\n"))]


def check(memory: SemanticMemory, acknowledged: Acknowledged) -> None:
    for user in USERS:
        everything = memory.list(user_id=user, limit=None)
        verbatim = [fact for fact in everything if fact.category == "conversation"]
        messages = [message_id for fact in verbatim for message_id in fact.message_ids]
        assert len(messages) == len(set(messages)), "a message was stored twice"
        assert acknowledged.messages[user] <= set(messages)
        ids = {fact.id for fact in everything}
        assert acknowledged.facts[user] <= ids
        assert not acknowledged.deleted & ids
    for fact_id in acknowledged.deleted:
        with pytest.raises(NotFoundError):
            memory.get(fact_id)


def check_extracted(memory: SemanticMemory, acknowledged: Acknowledged) -> None:
    """Messages differ, so each must have one unchanged fact."""
    for user in USERS:
        facts = [
            fact
            for fact in memory.list(user_id=user, limit=None)
            if fact.source.extractor == Repeating.name
        ]
        sources = [message_id for fact in facts for message_id in fact.message_ids]
        assert len(sources) == len(set(sources)), "a message was extracted twice"
        assert acknowledged.messages[user] <= set(sources)
        assert {fact.version for fact in facts} <= {1}
        assert len({fact.confidence for fact in facts}) <= 1


def test_nothing_acknowledged_is_lost_by_random_kills(tmp_path: Path) -> None:
    directory = tmp_path / "store"
    acknowledged = Acknowledged()
    dice = random.Random(7)
    for seed in range(KILLS):
        if seed % 3 == 2:  # while it opens the store
            lines, seconds = 0, dice.uniform(0.4, 1.6)
        else:
            lines, seconds = dice.randint(1, 150), dice.uniform(0.0, 0.05)
        for line in run_and_kill(directory, seed, lines, seconds):
            acknowledged.take(line)
        with opened(directory) as memory:
            check(memory, acknowledged)
            if seed % 4 == 3:
                memory.flush()
                check(memory, acknowledged)
                check_extracted(memory, acknowledged)
                assert [finding for finding in memory.admin.check() if not finding.ok] == []
                for user in USERS:
                    known = sorted(acknowledged.facts[user])
                    for fact_id in dice.sample(known, min(3, len(known))):
                        fact = memory.get(fact_id)
                        hits = memory.search(fact.content, user_id=user, k=3)
                        assert fact_id in [hit.fact.id for hit in hits]
    assert sum(map(len, acknowledged.messages.values())) > 5 * KILLS
    assert len(acknowledged.deleted) > KILLS // 2
