"""A sweep killed at any moment leaves no half change, and the next one completes it."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

from semantic_memory import Fact, Message, SemanticMemory
from semantic_memory.domain.changes import Add, FactVectors
from semantic_memory.domain.facts import Category, Source, Status
from semantic_memory.testing import HashEmbedder
from tests.conftest import make_fact
from tests.crash.test_kill import ROOT
from tests.crash.upkeep_program import DIMENSION, MOMENT, opened, sweep
from tests.support.effort import rounds
from tests.support.inside import inside

KILLS = rounds(full=8, quick=2)
USERS = [f"u{number}" for number in range(8)]
CITIES = "Bergen Oslo Turin Lyon Porto Ghent".split()
THINGS = "chess jazz rowing pottery hiking opera".split()
State = dict[str, tuple[object, ...]]


def told(user: str, dice: random.Random) -> list[Fact]:
    """Return duplicates, conflicts, faded facts, and more facts than the cap."""
    contents = [
        *(f"{who} {thing}" for thing in THINGS for who in ("I love", "The user loves")),
        *(f"I live in {city}" for city in CITIES),
        *(f"I keep {word} number {dice.randrange(99)} in the cellar" for word in THINGS * 8),
    ]
    return [
        make_fact(
            number,
            id=f"{user}-{number}",
            user_id=user,
            content=content,
            category=Category.PROJECT,
            confidence=dice.choice([0.42, 0.7, 0.9]),
            created_at=MOMENT - timedelta(days=100 - number),
            recorded_at=MOMENT - timedelta(days=100 - number),
            valid_from=MOMENT - timedelta(days=100 - number),
            source=Source(session_id="s", message_ids=(f"m{number}",)),
        )
        for number, content in enumerate(contents)
    ]


def fill(directory: Path) -> None:
    """Build a store that has not been swept, with forgotten memories."""
    embedder = HashEmbedder(DIMENSION)
    dice = random.Random(3)
    with opened(directory) as memory:
        for user in USERS:
            memory.observe(
                [
                    Message(id="said", role="user", content="Please never say swordfish"),
                    Message(id="kept", role="user", content="Please say marzipan"),
                ],
                user_id=user,
                session_id="s",
            )
        memory.flush()
        for user in USERS:
            memory.forget(user_id=user, filters="swordfish")
        inside(memory).pipeline.close()  # nothing is settled before the sweep
        for user in USERS:
            facts = told(user, dice)
            vectors = embedder.embed([fact.content for fact in facts], "document")
            none = vectors[:0]
            inside(memory).ledger.apply(
                [
                    Add(fact, FactVectors(row[None, :], none))
                    for fact, row in zip(facts, vectors, strict=True)
                ]
            )


def state(memory: SemanticMemory) -> State:
    """Return status, successor, validity, confidence and messages of every fact."""
    ledger = inside(memory).ledger
    return {
        fact.id: (
            fact.status,
            fact.superseded_by,
            fact.valid_to,
            round(fact.confidence, 6),
            fact.message_ids,
        )
        for user in USERS
        for fact in ledger.get(ledger.ids(user))
        if fact.category != "conversation"
    }


def check(memory: SemanticMemory) -> None:
    """Check for complete merges, complete chains, and a sound store."""
    assert [finding for finding in memory.admin.check() if not finding.ok] == []
    ledger = inside(memory).ledger
    for user in USERS:
        facts = {fact.id: fact for fact in ledger.get(ledger.ids(user))}
        for fact in facts.values():
            assert (fact.status is Status.SUPERSEDED) <= (fact.superseded_by in facts)
            seen = {fact.id}
            last = fact
            while last.superseded_by is not None:
                if last.status is Status.ARCHIVED:  # merged: all that it says is taken over
                    assert set(last.message_ids) <= set(facts[last.superseded_by].message_ids)
                last = facts[last.superseded_by]
                assert last.id not in seen, "a chain runs in a circle"
                seen.add(last.id)


def test_a_killed_sweep_is_finished_as_if_nothing_had_happened(tmp_path: Path) -> None:
    fresh = tmp_path / "fresh"
    fill(fresh)
    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(fresh, undisturbed)
    with opened(undisturbed) as memory:
        sweep(memory)
        expected = state(memory)
    statuses = [row[0] for row in expected.values()]
    assert min(map(statuses.count, (Status.SUPERSEDED, Status.ARCHIVED, Status.ACTIVE))) > 20
    dice = random.Random(5)
    halfway = 0
    for number in range(KILLS):
        directory = tmp_path / f"killed-{number}"
        shutil.copytree(fresh, directory)
        for _ in range(2):  # and killed again while it finishes
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.crash.upkeep_program", str(directory)],
                stdout=subprocess.PIPE,
                cwd=ROOT,
                text=True,
            )
            assert process.stdout is not None
            for _ in range(dice.randrange(1, len(USERS))):
                process.stdout.readline()
            time.sleep(dice.uniform(0.0, 0.1))
            process.kill()
            process.communicate()
        with opened(directory) as memory:
            inside(memory).pipeline.close()
            check(memory)
            halfway += state(memory) != expected
        with opened(directory) as memory:
            sweep(memory)
            check(memory)
            assert state(memory) == expected
        shutil.rmtree(directory)
    assert halfway > KILLS // 4, "the kills came too late to say anything"
