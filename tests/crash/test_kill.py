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
from semantic_memory.testing import HashEmbedder
from tests.crash.program import DIMENSION, SETTINGS, USERS
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


def run_and_kill(directory: Path, seed: int, seconds: float, *, opening: bool) -> list[str]:
    """Run the program, kill it, and return the complete lines it printed.

    `seconds` are counted from its start when `opening`, else from when it has opened the store.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.program", str(directory), str(seed)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        text=True,
    )
    assert process.stdout is not None
    first = "" if opening else process.stdout.readline()
    time.sleep(seconds)
    process.kill()
    rest, _ = process.communicate()
    return [first, *(line for line in rest.splitlines(keepends=True) if line.endswith("\n"))]


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
            if fact.source.extractor.startswith("offline")
        ]
        sources = [message_id for fact in facts for message_id in fact.message_ids]
        assert len(sources) == len(set(sources)), "a message was extracted twice"
        assert acknowledged.messages[user] <= set(sources)
        assert {fact.version for fact in facts} <= {1}
        assert len({fact.confidence for fact in facts}) <= 1


@pytest.mark.timeout(900)
def test_nothing_acknowledged_is_lost_by_random_kills(tmp_path: Path) -> None:
    directory = tmp_path / "store"
    acknowledged = Acknowledged()
    dice = random.Random(7)
    for seed in range(KILLS):
        opening = seed % 3 == 2
        seconds = dice.uniform(0.4, 1.6) if opening else dice.uniform(0.0, 1.5)
        for line in run_and_kill(directory, seed, seconds, opening=opening):
            acknowledged.take(line)
        with SemanticMemory.open(
            directory, settings=SETTINGS, embedder=HashEmbedder(DIMENSION)
        ) as memory:
            check(memory, acknowledged)
            if seed % 4 == 3:
                memory.flush()
                check(memory, acknowledged)
                check_extracted(memory, acknowledged)
                assert [finding for finding in memory.check() if not finding.ok] == []
                for user in USERS:
                    for fact_id in dice.sample(sorted(acknowledged.facts[user]), 3):
                        fact = memory.get(fact_id)
                        hits = memory.search(fact.content, user_id=user, k=3)
                        assert fact_id in [hit.fact.id for hit in hits]
    assert sum(map(len, acknowledged.messages.values())) > 5 * KILLS
    assert len(acknowledged.deleted) > KILLS // 2
