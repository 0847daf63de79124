"""Memories as they were told: behind what was said before them, as a reranker reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from semantic_memory.context.excerpt import excerpt
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.ports import Facts, Traits
from semantic_memory.domain.text import stems

_LONGEST = 400
"""Characters of a memory that are read: the part around the query's words."""
_BEFORE = 140
"""Characters of what was said before that are read with it."""


class Places(Facts, Traits, Protocol):
    """The roles of the ledger that tell what was said before a memory."""


def told(
    query: str, facts: Sequence[Fact], ledger: Places, wanted: Mapping[str, Filters]
) -> list[str]:
    """Return each memory behind the end of the message before it, messages with their speakers.

    `wanted` has the filters of each owner: a message that they don't admit isn't read.
    """
    asked = stems(query)
    owners = dict.fromkeys(fact.user_id for fact in facts)
    messages = {
        (owner, one.source.session_id, one.source.position): one
        for owner in owners
        for one in wanted[owner].admitted(
            _around([fact for fact in facts if fact.user_id == owner], owner, ledger)
        )
    }
    texts = []
    for fact in facts:
        text = excerpt(fact.text, asked, _LONGEST)
        if fact.category == Category.CONVERSATION:
            text = f"{_speaker(fact)}: {text}"
        source = fact.source
        if source.position:  # not the first of its session
            before = messages.get((fact.user_id, source.session_id, source.position - 1))
            if before is not None:
                text = f"{f'{_speaker(before)}: {before.text}'[-_BEFORE:]} / {text}"
        texts.append(text)
    return texts


def _around(facts: Sequence[Fact], owner: str, ledger: Places) -> list[Fact]:
    placed = [fact.id for fact in facts if fact.source.position]
    if not placed:
        return []
    known = {fact.id: fact for fact in facts}
    near = ledger.neighbours(placed, owner)
    found = [*known.values(), *ledger.get([one for one in near if one not in known], owner)]
    return [
        one
        for one in found
        if one.category == Category.CONVERSATION and one.status is Status.ACTIVE
    ]


def _speaker(message: Fact) -> str:
    return message.source.speaker or message.source.role or "user"
