"""Fits memories into a token budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from semantic_memory.injection import render
from semantic_memory.models import Context, Fact, Hit
from semantic_memory.ports import TokenCounter


@dataclass(frozen=True, slots=True)
class Shares:
    """The most of the budget that a section may take; what it leaves goes to the facts."""

    profile: float = 0.25
    history: float = 0.2


def pack(
    profile: Sequence[Fact],
    history: Sequence[Fact],
    hits: Sequence[Hit],
    *,
    budget: int,
    counter: TokenCounter,
    shares: Shares,
) -> Context:
    """The block that holds as much as fits into `budget` tokens, best first.

    Profile and history come first because they change least: an unchanged prefix keeps a provider's
    prompt cache warm. A memory appears once, in the first section that has it. The count is that of
    the finished text, so it is exact and never over the budget; a budget too small for one memory
    gives an empty block.
    """
    sections: dict[str, dict[str, str]] = {"profile": {}, "history": {}, "facts": {}}
    left = budget - counter.count(render.block({name: ["-"] for name in sections}))

    def fill(name: str, facts: Sequence[Fact], most: int) -> None:
        nonlocal left
        room = min(most, left)
        for fact in facts:
            text = render.line(fact)
            cost = counter.count(text + "\n")
            if cost <= room and not any(fact.id in lines for lines in sections.values()):
                sections[name][fact.id] = text
                room -= cost
                left -= cost

    fill("profile", profile, int(budget * shares.profile))
    fill("history", history, int(budget * shares.history))
    fill("facts", [hit.fact for hit in hits], left)

    while True:
        text = render.block({name: list(lines.values()) for name, lines in sections.items()})
        tokens = counter.count(text)
        if tokens <= budget:
            break
        # Tokens may merge differently once the lines are joined: give up the least again.
        next(sections[name] for name in reversed(sections) if sections[name]).popitem()
    kept = tuple(hit for hit in hits if any(hit.fact.id in lines for lines in sections.values()))
    return Context(text=text, tokens=tokens, hits=kept, left_out=len(hits) - len(kept))
