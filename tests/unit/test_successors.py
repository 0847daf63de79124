"""Marks of messages by superseded facts, against comparing every pair."""

import random
from datetime import timedelta

import pytest

from semantic_memory.domain.changes import Add
from semantic_memory.domain.facts import Category, Fact, Source, Status
from semantic_memory.domain.recall import Hit, ScoreParts
from semantic_memory.domain.text import stems
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.retrieval.successors import noted
from tests.conftest import NOW, make_fact

_PARTS = ScoreParts(**dict.fromkeys(set(ScoreParts.model_fields), 0.5))
_WORDS = "tea coffee Berlin Oslo piano chess".split()


def _source(dice: random.Random, **values: object) -> Source:
    first = dice.randrange(6)
    ids = tuple(f"m{first + more}" for more in range(dice.choice((1, 1, 2))))
    place = {"session_id": f"s{dice.randrange(3)}", "message_ids": ids, "position": first}
    return Source(**{**place, **values})


def _filled(ledger: SqliteLedger, seed: int) -> tuple[list[Hit], list[Fact]]:
    dice = random.Random(seed)
    facts = [
        make_fact(
            number,
            content=f"{dice.choice(_WORDS)} {number}",
            status=dice.choice((Status.SUPERSEDED, Status.SUPERSEDED, Status.ACTIVE)),
            valid_to=NOW + timedelta(days=dice.randrange(5)),
            source=_source(dice),
            corroborations=tuple(_source(dice) for _ in range(dice.choice((0, 0, 1)))),
        )
        for number in range(30)
    ]
    messages = [
        make_fact(
            100 + number,
            content=f"{dice.choice(_WORDS)} and {dice.choice(_WORDS)}",
            category=Category.CONVERSATION,
            source=_source(
                dice,
                role=dice.choice(("user", "assistant")),
                session_id=dice.choice(("s0", "s1", "s2", None)),
            ),
        )
        for number in range(12)
    ]
    ledger.apply([Add(fact) for fact in (*facts, *messages)])
    return [Hit(fact=one, score=0.5, parts=_PARTS) for one in (*messages, *facts)], facts


def _ended(message, facts, sessions, as_of):
    """Return the latest end of what a message states, by comparing it with every fact."""

    def states(fact) -> bool:
        own, other = message.source, fact.source
        drawn = any(
            source.session_id == own.session_id
            and set(source.message_ids) & set(message.message_ids)
            for source in fact.sources
        )
        answered = (
            own.role == "assistant"
            and own.session_id == other.session_id
            and own.position == other.position + 1
            and set(stems(fact.content)) & set(stems(message.content))
        )
        return bool(drawn or answered)

    ends = [
        fact.valid_to
        for fact in facts
        if fact.status is Status.SUPERSEDED
        and fact.source.session_id in sessions
        and states(fact)
        and (as_of is None or fact.valid_to <= as_of)
    ]
    return max(ends, default=None)


@pytest.mark.parametrize("as_of", [None, NOW + timedelta(days=2)])
@pytest.mark.parametrize("seed", range(20))
def test_messages_are_marked_as_by_comparing_every_pair(tmp_path, seed, as_of):
    ledger = SqliteLedger(tmp_path / "ledger.sqlite3")
    hits, facts = _filled(ledger, seed)
    messages = [hit.fact for hit in hits if hit.fact.category is Category.CONVERSATION]
    sessions = {message.source.session_id for message in messages} - {None}
    found = {
        hit.fact.id: hit.changed for hit in noted(hits, ledger, "u1", as_of=as_of, present=False)
    }
    expected = {one.id: _ended(one, facts, sessions, as_of) for one in messages}
    assert {one: found[one] for one in expected} == expected
    assert any(expected.values())
    assert not any(found[fact.id] for fact in facts)
    ledger.close()
