"""Fits memories into a token budget."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Sequence
from functools import lru_cache

from semantic_memory.injection import render
from semantic_memory.injection.choose import Candidate, Heading, Line, Policy, choose
from semantic_memory.models import Category, Context, Fact, Hit
from semantic_memory.ports import TokenCounter
from semantic_memory.text import stems

_REMEMBERED = 8_192  # lines whose tokens are known
_BITS = 512
_SHORT_LINE = 4  # tokens: of more lines than would fit at this length, the last are never reached
_FEWEST = 128


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
        """The block that holds as much as fits into `budget` tokens of `hits`, given best first.

        `standing` is shown whatever was asked, the first ones first, within its share. Of the hits
        none is shown if not one matches well enough. Messages with an id in `without` are known to
        the reader already, and so is a fact all of whose messages are.

        The count is that of the finished text, so it is exact and never over the budget; a budget
        too small for one memory gives an empty block.
        """
        recalled = self._relevant(hits, {fact.id for fact in standing}, frozenset(without))
        considered = recalled[: max(_FEWEST, budget // _SHORT_LINE)]
        facts = [*standing, *(hit.fact for hit in considered)]
        first = len(standing)
        room = budget - self._frame(len(hits))
        chosen, opened, spent = self._standing(
            standing, min(room, int(budget * self._policy.standing))
        )
        line = lru_cache(None)(lambda place: self._line(considered[place].fact))
        picked = choose(
            [_candidate(hit) for hit in considered],
            line,
            self._heading,
            opened=opened,
            room=room - spent,
            budget=budget,
            policy=self._policy,
        )
        chosen += [first + place for place in picked]
        while True:
            places = sorted(chosen, key=lambda place: render.place(facts[place]))
            waiting = len(recalled) - sum(place >= first for place in chosen)
            entries = [(facts[place], render.shown(facts[place])) for place in places]
            text = render.block(entries, waiting, self._template)
            tokens = self._counter.count(text)
            if tokens <= budget:
                break
            chosen.pop()  # the count of the whole decides: give up what was chosen last
        shown = {facts[place].id for place in places}
        kept = {hit.fact.id: hit for hit in hits if hit.fact.id in shown}
        return Context(
            text=text,
            tokens=tokens,
            facts=tuple(facts[place] for place in places),
            hits=tuple(kept[facts[place].id] for place in places if facts[place].id in kept),
            left_out=waiting,
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
            and not (without and _all_in(hit.fact.message_ids, without))
        ]

    def _standing(self, facts: Sequence[Fact], room: int) -> tuple[list[int], set[Heading], int]:
        """Places of those shown, the headings they open, and what all that takes."""
        chosen: list[int] = []
        opened: set[Heading] = set()
        spent = 0
        for place, fact in enumerate(facts):
            headings = {*_headings(fact)} - opened
            cost = self._line(fact).tokens + sum(map(self._heading, headings))
            if spent + cost <= room:
                spent += cost
                chosen.append(place)
                opened |= headings
        return chosen, opened, spent

    def _line(self, fact: Fact) -> Line:
        priced = self._priced(render.shown(fact))
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

    def _heading(self, heading: Heading) -> int:
        """What opening a section takes, or a day."""
        name, day = heading
        template = self._template
        if day is not None:
            return self._counted(f"{template.day.format(day=day.isoformat())}\n")
        ends = (template.section, template.end)
        return sum(self._counted(f"{end.format(name=name)}\n") for end in ends if end)


def _candidate(hit: Hit) -> Candidate:
    fact = hit.fact
    return Candidate(hit.score, fact.category, *_headings(fact), len(fact.content))


def _headings(fact: Fact) -> tuple[Heading, Heading]:
    name = render.section(fact)
    return (name, None), (name, fact.created_at.date())


def _all_in(message_ids: Collection[str], known: frozenset[str]) -> bool:
    return bool(message_ids) and known.issuperset(message_ids)
