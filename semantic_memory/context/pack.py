"""Packing of memories into a token budget."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Sequence
from datetime import datetime
from functools import lru_cache

from semantic_memory.context import render
from semantic_memory.context.choose import Candidate, Heading, Line, Policy, choose
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.ports import TokenCounter
from semantic_memory.domain.recall import Context, Hit
from semantic_memory.domain.text import stems
from semantic_memory.domain.values import normalised

_REMEMBERED = 8_192  # number of lines whose token counts are cached
_BITS = 512
_SHORT_LINE = 4  # tokens; more hits than lines of this length fit the budget aren't considered
_FEWEST = 128

Placed = tuple[Fact, str]
"""A fact and the section of the block that shows it."""


class Packer:
    """Packer of context blocks for one model and one template. Thread-safe.

    Token counts of lines are cached.
    """

    def __init__(self, counter: TokenCounter, template: str, policy: Policy) -> None:
        self._counter = counter
        self._template = render.load_template(template)
        self._policy = policy
        self._priced = lru_cache(_REMEMBERED)(self._price)
        self._counted = lru_cache(_REMEMBERED)(counter.count)

    def pack(
        self,
        hits: Sequence[Hit],
        *,
        budget: int,
        standing: Sequence[Fact] = (),
        asked: Sequence[Placed] = (),
        overview: Sequence[Placed] = (),
        without: Collection[str] = (),
    ) -> Context:
        """Pack as many of `hits`, given best first, as fit into `budget` tokens.

        Shown whatever the hits are `standing` facts, the facts of layers of profile and history
        that the question asks for (`asked`), and those of the others (`overview`), the first ones
        first, within their shares. No hit is shown if none reaches the floor. Messages with an id
        in `without` are left out, and so are hits and facts of layers that come from such messages
        only.

        The tokens are counted in the finished text, so the count is exact and never over the
        budget. A budget too small for one memory gives an empty block.
        """
        room = budget - self._frame(len(hits))
        known = frozenset(without)
        opened: set[Heading] = set()
        always = [(fact, render.section(fact)) for fact in standing]
        share = int(budget * self._policy.standing)
        placed, spent = self._always(always, opened, min(room, share))
        ids = {fact.id for fact in standing}
        texts: list[str] = []
        for layers, largest in ((asked, self._policy.asked), (overview, self._policy.overview)):
            fresh = [
                (fact, name)
                for fact, name in layers
                if fact.id not in ids and not _all_in(fact.message_ids, known)
            ]
            share = int(budget * largest)
            added, cost = self._always(fresh, opened, min(room - spent, share))
            placed += added
            spent += cost
            ids |= {fact.id for fact, _ in added}
            texts += [normalised(fact.content) for fact, _ in added]
        shown_ids = {fact.id for fact, _ in placed}
        recalled = self._relevant(hits, shown_ids, texts, known)
        considered = recalled[: max(_FEWEST, budget // _SHORT_LINE)]
        first = len(placed)
        chosen = list(range(first))
        placed += [(hit.fact, render.section(hit.fact)) for hit in considered]
        changed = {hit.fact.id: hit.changed for hit in considered}
        line = lru_cache(None)(
            lambda place: self._line(considered[place].fact, considered[place].changed)
        )
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
            shown = (placed[place] for place in chosen)
            entries = sorted(
                (
                    render.Entry(fact, render.shown(fact, changed.get(fact.id)), name)
                    for fact, name in shown
                ),
                key=render.place,
            )
            waiting = len(recalled) - sum(place >= first for place in chosen)
            text = render.block(entries, waiting, self._template)
            tokens = self._counter.count(text)
            if tokens <= budget:
                break
            chosen.pop()  # the finished text is too long: leave out the last choice
        ids = {entry.fact.id for entry in entries}
        kept = {hit.fact.id: hit for hit in hits if hit.fact.id in ids}
        return Context(
            text=text,
            tokens=tokens,
            facts=tuple(entry.fact for entry in entries),
            hits=tuple(kept[entry.fact.id] for entry in entries if entry.fact.id in kept),
            left_out=waiting,
        )

    def _relevant(
        self,
        hits: Sequence[Hit],
        standing: Collection[str],
        texts: Collection[str],
        without: frozenset[str],
    ) -> list[Hit]:
        """Return the hits that match well enough and aren't in the prompt already."""
        if all(hit.parts.match < self._policy.floor for hit in hits):
            return []
        return [
            hit
            for hit in hits
            if hit.parts.match >= self._policy.weakest
            and hit.fact.id not in standing
            and not _is_said(hit.fact, texts)
            and not (without and _all_in(hit.fact.message_ids, without))
        ]

    def _always(
        self, facts: Sequence[Placed], opened: set[Heading], room: int
    ) -> tuple[list[Placed], int]:
        """Return the facts that fit and their tokens; add their headings to `opened`."""
        chosen: list[Placed] = []
        spent = 0
        for fact, name in facts:
            headings = {*_headings(fact, name)} - opened
            cost = self._line(fact).tokens + sum(map(self._heading, headings))
            if spent + cost <= room:
                spent += cost
                chosen.append((fact, name))
                opened |= headings
        return chosen, spent

    def _line(self, fact: Fact, changed: datetime | None = None) -> Line:
        priced = self._priced(render.shown(fact, changed))
        if fact.category is not Category.CONVERSATION:
            return priced
        return Line(priced.tokens + self._counted(f"{self._template.gap}\n"), priced.words)

    def _price(self, line: str) -> Line:
        bits = 0
        for stem in stems(line):
            bits |= 1 << zlib.crc32(stem.encode()) % _BITS
        # the number doesn't matter: up to three digits are one token
        entry = self._template.entry.format(mark=1, text=line)
        return Line(self._counter.count(f"{entry}\n"), bits)

    def _frame(self, most_left_out: int) -> int:
        template = self._template
        ends = (template.opening, template.note, template.left_out, template.closing)
        return sum(self._counted(f"{end.format(number=most_left_out)}\n") for end in ends if end)

    def _heading(self, heading: Heading) -> int:
        """Return the tokens of the heading of a section or a day."""
        name, day = heading
        template = self._template
        if day is not None:
            return self._counted(f"{template.day.format(day=day.isoformat())}\n")
        ends = (template.section, template.end)
        return sum(self._counted(f"{end.format(name=name)}\n") for end in ends if end)


def _candidate(hit: Hit) -> Candidate:
    fact = hit.fact
    headings = _headings(fact, render.section(fact))
    return Candidate(hit.score, fact.category, *headings, len(fact.text))


def _headings(fact: Fact, name: str) -> tuple[Heading, Heading]:
    return (name, None), (name, fact.created_at.date())


def _is_said(fact: Fact, texts: Collection[str]) -> bool:
    """Return True if one of the normalised texts contains the fact's sentence."""
    if fact.category is Category.CONVERSATION:
        return False
    own = normalised(fact.content)
    return any(own in text for text in texts)


def _all_in(message_ids: Collection[str], known: frozenset[str]) -> bool:
    return bool(message_ids) and known.issuperset(message_ids)
