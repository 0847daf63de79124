"""Fits memories into a token budget."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from semantic_memory.injection import render
from semantic_memory.injection.choose import Candidate, Line, Policy, choose
from semantic_memory.models import Category, Context, Fact, Hit
from semantic_memory.ports import TokenCounter
from semantic_memory.text import stems

_REMEMBERED = 8_192  # lines whose tokens are known
_BITS = 512


class Packer:
    """Packs blocks for one model and one template. Thread-safe.

    What a memory costs is counted once and remembered.
    """

    def __init__(
        self,
        counter: TokenCounter,
        template: str = "xml",
        policy: Policy | None = None,
    ) -> None:
        self._counter = counter
        self._template = render.load_template(template)
        self._policy = policy or Policy()
        self._priced = lru_cache(_REMEMBERED)(self._price)
        self._counted = lru_cache(_REMEMBERED)(counter.count)

    def pack(
        self,
        hits: Sequence[Hit],
        *,
        budget: int,
        standing: Sequence[Fact] = (),
        without: Collection[str] = (),
    ) -> Context:
        """The block that holds as much as fits into `budget` tokens, best first.

        `standing` is shown whatever was asked, the first ones first, within its share. Of the hits
        none is shown if not one matches well enough. Messages with an id in `without` are known to
        the reader already, and so is a fact all of whose messages are.

        The count is that of the finished text, so it is exact and never over the budget; a budget
        too small for one memory gives an empty block.
        """
        recalled = self._relevant(hits, {fact.id for fact in standing}, frozenset(without))
        facts = [*standing, *(hit.fact for hit in recalled)]
        lines = [render.shown(fact) for fact in facts]
        headings = self._headings(facts)
        room = budget - self._frame(len(hits))
        chosen = self._standing(
            standing, lines, headings, min(room, int(budget * self._policy.standing))
        )
        opened = {name for place in chosen for name in _headings_of(facts[place])}
        first = len(standing)
        spent = sum(self._line(facts[place], lines[place]).tokens for place in chosen)
        picked = choose(
            [Candidate(hit.score, hit.fact.category, _headings_of(hit.fact)) for hit in recalled],
            lambda place: self._line(facts[first + place], lines[first + place]),
            headings,
            opened=opened,
            room=room - spent - sum(headings[name] for name in opened),
            budget=budget,
            policy=self._policy,
        )
        chosen += [first + place for place in picked]
        return self._finished(hits, facts, lines, chosen, len(recalled), budget)

    def _finished(
        self,
        hits: Sequence[Hit],
        facts: Sequence[Fact],
        lines: Sequence[str],
        chosen: list[int],
        recalled: int,
        budget: int,
    ) -> Context:
        standing = len(facts) - recalled
        while True:
            places = sorted(chosen, key=lambda place: render.place(facts[place]))
            waiting = recalled - sum(place >= standing for place in chosen)
            entries = [(facts[place], lines[place]) for place in places]
            text = render.block(entries, waiting, self._template)
            tokens = self._counter.count(text)
            if tokens <= budget:
                break
            chosen.pop()  # the count of the whole decides: give up what was chosen last
        by_id = {hit.fact.id: hit for hit in hits}
        kept = tuple(by_id[facts[place].id] for place in places if facts[place].id in by_id)
        return Context(
            text=text,
            tokens=tokens,
            facts=tuple(facts[place] for place in places),
            hits=kept,
            left_out=len(hits) - len(kept),
        )

    def _relevant(
        self, hits: Sequence[Hit], standing: set[str], without: frozenset[str]
    ) -> list[Hit]:
        if all(hit.parts.match < self._policy.floor for hit in hits):
            return []
        return [
            hit
            for hit in hits
            if hit.parts.match >= self._policy.weakest
            and hit.fact.id not in standing
            and not (hit.fact.message_ids and without.issuperset(hit.fact.message_ids))
        ]

    def _standing(
        self,
        facts: Sequence[Fact],
        lines: Sequence[str],
        headings: Mapping[str, int],
        room: int,
    ) -> list[int]:
        chosen: list[int] = []
        opened: set[str] = set()
        for place, fact in enumerate(facts):
            cost = self._line(fact, lines[place]).tokens
            cost += sum(headings[name] for name in _headings_of(fact) if name not in opened)
            if cost <= room:
                room -= cost
                chosen.append(place)
                opened.update(_headings_of(fact))
        return chosen

    def _line(self, fact: Fact, line: str) -> Line:
        priced = self._priced(line)
        if fact.category is not Category.CONVERSATION:
            return priced
        return Line(priced.tokens + self._counted(f"{self._template.gap}\n"), priced.words)

    def _price(self, line: str) -> Line:
        bits = 0
        for stem in stems(line):
            bits |= 1 << zlib.crc32(stem.encode()) % _BITS
        # whatever number it will have: one of up to three digits is one token
        entry = self._template.entry.format(mark=1, text=line)
        return Line(self._counter.count(f"{entry}\n"), bits)

    def _frame(self, most_left_out: int) -> int:
        template = self._template
        ends = (template.opening, template.note, template.left_out, template.closing)
        return sum(self._counted(f"{end.format(number=most_left_out)}\n") for end in ends if end)

    def _headings(self, facts: Sequence[Fact]) -> dict[str, int]:
        """What each section costs, and each day."""
        template = self._template
        costs = {}
        for fact in facts:
            name, day = _headings_of(fact)
            if name not in costs:
                ends = [template.section, template.end] if template.end else [template.section]
                costs[name] = sum(self._counted(f"{end.format(name=name)}\n") for end in ends)
            if day not in costs:
                costs[day] = self._counted(f"{template.day.format(day=render.day(fact))}\n")
        return costs


def _headings_of(fact: Fact) -> tuple[str, str]:
    section = render.section(fact)
    return section, f"{section} {render.day(fact)}"
