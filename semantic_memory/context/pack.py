"""Packing of memories into a token budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from semantic_memory.context import render
from semantic_memory.context.choose import Candidate, Heading, Line, Policy, choose
from semantic_memory.context.connected import connected, may_be_shown, shares_words
from semantic_memory.context.excerpt import excerpt
from semantic_memory.context.overview import Overview, Placed
from semantic_memory.context.prices import Prices, headings, word_bits
from semantic_memory.domain.english.core import names_a_need
from semantic_memory.domain.english.smalltalk import is_filler
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.ports import TokenCounter
from semantic_memory.domain.recall import Context, Hit
from semantic_memory.domain.text import stems
from semantic_memory.domain.values import normalised

_SHORT_LINE = 4  # tokens; more hits than lines of this length fit the budget aren't considered
_FEWEST = 128
_SHORTEST_CUT = 300  # characters of a long memory that even a small block may show
_MATERIAL = 0.75  # weight of what tools returned beside what people said
_MEASURE = "xml"  # template in whose tokens the core is measured: it holds as much in any other
NOTHING = Overview()
"""An empty overview."""
_NONE: Mapping[str, datetime] = MappingProxyType({})


class Packer:
    """Packer of context blocks for one model and one template. Thread-safe.

    Token counts of lines are cached.
    """

    def __init__(self, counter: TokenCounter, template: str, policy: Policy) -> None:
        self._template = render.load_template(template)
        self._prices = Prices(counter, self._template)
        measure = render.load_template(_MEASURE)
        known = measure == self._template
        self._core = self._prices if known else Prices(counter, measure)
        self._policy = policy

    def pack(
        self,
        hits: Sequence[Hit],
        *,
        budget: int,
        query: str = "",
        standing: Sequence[Fact] = (),
        overview: Overview = NOTHING,
        without: Collection[str] = (),
        doubted: Mapping[str, datetime] = _NONE,
    ) -> Context:
        """Pack as many of `hits`, given best first, as fit into `budget` tokens.

        Shown whatever the hits are the parts of `overview` and the `standing` facts, the first
        ones first, within their shares. No hit is shown if none reaches the floor. Messages with
        an id in `without` are left out, and so are hits and facts that come from such messages
        only. Long memories are cut around the words of `query`. What is free in the end goes to
        the rest of the core, then to events of the history: those that share words with the
        question or a session with what was recalled, then those that aren't about other people.
        `doubted` are the times of later statements by which memories may no longer hold, by the
        memories' ids: their lines say so.

        The tokens are counted in the finished text, so the count is exact and never over the
        budget. A budget too small for one memory gives an empty block.
        """
        policy = self._policy
        known = frozenset(without)
        block = _Block(self._template, self._prices, budget, known, len(hits), doubted)
        history = int(budget * policy.history)
        block.show(overview.written, budget)
        block.show(overview.core, policy.core, self._core)
        block.show(
            [Placed(fact, render.section(fact)) for fact in standing],
            int(budget * policy.standing),
        )
        block.show(overview.asked, int(budget * policy.asked))
        block.show(overview.history, history)
        always = {fact.id for fact in standing}
        texts = [normalised(fact.content) for fact in block.facts if fact.id not in always]
        shown = {fact.id for fact in block.facts}
        said = {normalised(fact.content) for fact in block.facts}
        told = _lines_by_message(block.shown)
        best = max([hit.parts.match for hit in hits], default=0.0)
        recalled = _relevant(hits, best, policy, known)
        if shown:
            recalled = [
                hit
                for hit in recalled
                if hit.fact.id not in shown and not _is_said(hit.fact, said, texts, told)
            ]
        block.recall(connected(recalled, query), query, policy)
        block.fill(overview.core, policy.core, self._core)
        block.leave_out_told()
        block.fill(block.bearing(overview.events, query), history)
        return block.finished(hits, _relevance(best, policy.floor))


class _Block:
    """A block in the making: the memories that it shows so far, and the tokens that are left."""

    def __init__(
        self,
        template: render.Template,
        prices: Prices,
        budget: int,
        without: frozenset[str],
        most_left_out: int,
        doubted: Mapping[str, datetime],
    ) -> None:
        self._doubted = doubted
        self._template = template
        self._prices = prices
        self._budget = budget
        self._without = without
        self._room = budget - prices.frame(most_left_out)
        self._opened: set[Heading] = set()
        self._shown: list[Placed] = []
        self._recalled: dict[str, Hit] = {}
        self._rendered: tuple[list[render.Entry], str, int] | None = None

    @property
    def shown(self) -> Sequence[Placed]:
        """The memories that it shows, each with its place."""
        return self._shown

    @property
    def facts(self) -> list[Fact]:
        """The memories that it shows."""
        return [one.fact for one in self._shown]

    def bearing(self, events: Sequence[Placed], query: str) -> list[Placed]:
        """Return the events that bear on the question, and then those that aren't of others.

        An event bears on it if it shares words with it, or a session with a shown hit.
        """
        asked = frozenset(stems(query))
        recalled = [one for one in self.facts if one.id in self._recalled]
        sessions = {session for one in recalled for session in one.sessions}

        def bears(fact: Fact) -> bool:
            return not sessions.isdisjoint(fact.sessions) or shares_words(fact.content, query)

        admitted = [one for one in events if may_be_shown(one.fact, asked)]
        bearing = [one for one in admitted if bears(one.fact)]
        rest = [one for one in admitted if one not in bearing and not _is_of_others(one.fact)]
        return [*bearing, *rest]

    def show(self, part: Sequence[Placed], most: int, prices: Prices | None = None) -> None:
        """Show those of a part that fit into `most` tokens, the first ones first.

        `most` counts in `prices`, if given, and else in those of the block.
        """
        shown = {fact.id for fact in self.facts}
        said = {normalised(fact.content) for fact in self.facts}  # also for another agent
        left = most
        measure = prices or self._prices
        for one in map(self._marked, part):
            text = normalised(one.fact.content)
            if one.fact.id in shown or text in said:
                continue
            if _is_known(one.fact, self._without):
                continue
            cost, opens = self._cost(self._prices, one)
            share = cost if measure is self._prices else self._cost(measure, one)[0]
            if cost <= self._room and share <= left:
                left -= share
                self._room -= cost
                self._shown.append(one)
                said.add(text)
                self._opened |= opens

    def recall(self, hits: Sequence[Hit], query: str, policy: Policy) -> None:
        """Show the hits that are worth most for their tokens, as far as there is room."""
        self._recalled = {hit.fact.id: hit for hit in hits}
        considered = hits[: max(_FEWEST, self._budget // _SHORT_LINE)]
        wanted = frozenset(stems(query))
        longest = min(render.MOST_CHARACTERS, max(_SHORTEST_CUT, self._budget))
        placed: dict[int, Placed] = {}  # few of those considered

        def line(place: int) -> Line:
            hit = considered[place]
            text, doubted = _cut(hit.fact, wanted, longest), self._doubted.get(hit.fact.id)
            one = Placed(hit.fact, render.section(hit.fact), 0, text, hit.space, doubted)
            placed[place] = one
            return self._prices.line(one, hit.changed)

        chosen = choose(
            [*map(_candidate, considered)],
            line,
            self._prices.heading,
            opened=self._opened,
            room=self._room,
            budget=self._budget,
            policy=policy,
            asked=word_bits(wanted),
        )
        for one in map(placed.__getitem__, chosen):
            self._shown.append(one)
            self._opened.update(headings(one.fact, one.section))

    def fill(self, part: Sequence[Placed], most: int, prices: Prices | None = None) -> None:
        """Show those of a part that fit into what the finished text leaves free."""
        shown = {fact.id for fact in self.facts}
        if waiting := [one for one in part if one.fact.id not in shown]:
            self._room = self._budget - self._fitted()[2]
            self.show(waiting, most, prices)

    def leave_out_told(self) -> None:
        """Leave out messages that the other lines tell in full."""
        told = _lines_by_message(one for one in self._shown if not _is_message(one.fact))
        self._shown = [
            one for one in self._shown if not (_is_message(one.fact) and _is_told(one.fact, told))
        ]

    def finished(self, hits: Sequence[Hit], relevance: float) -> Context:
        """Return the block, with those of `hits` that it shows."""
        entries, text, tokens = self._fitted()
        ids = {entry.fact.id for entry in entries}
        return Context(
            text=text,
            tokens=tokens,
            facts=tuple(entry.fact for entry in entries),
            hits=tuple([hit for hit in hits if hit.fact.id in ids]),
            left_out=self._left_out(ids),
            relevance=relevance,
        )

    def _fitted(self) -> tuple[list[render.Entry], str, int]:
        """Render the block, without the last choices if it is over the budget."""
        while self._rendered is None or len(self._rendered[0]) != len(self._shown):
            entries = sorted(map(self._entry, self._shown), key=render.place)
            left_out = self._left_out({entry.fact.id for entry in entries})
            text = render.block(entries, left_out, self._template)
            tokens = self._prices.text(text)
            if tokens <= self._budget:
                self._rendered = entries, text, tokens
            else:
                self._shown.pop()
        return self._rendered

    def _cost(self, prices: Prices, one: Placed) -> tuple[int, set[Heading]]:
        """Return the tokens that a memory adds to the block, and the headings that it opens."""
        line = prices.line(one)
        opens = {line.section, line.day} - self._opened
        return line.tokens + sum(map(prices.heading, opens)), opens

    def _marked(self, one: Placed) -> Placed:
        doubted = self._doubted.get(one.fact.id)
        return one if doubted is None else one._replace(doubted=doubted)

    def _left_out(self, shown: set[str]) -> int:
        return len(self._recalled) - len(self._recalled.keys() & shown)

    def _entry(self, one: Placed) -> render.Entry:
        hit = self._recalled.get(one.fact.id)
        changed = hit.changed if hit else None
        text = self._template.shown(
            one.fact, changed, one.section, one.text, one.space, one.doubted
        )
        return render.Entry(one.fact, text, one.section, one.rank)


def _is_message(fact: Fact) -> bool:
    return fact.category is Category.CONVERSATION


def _is_of_others(fact: Fact) -> bool:
    """Return True if a personal fact of a conversation names neither its user nor a need.

    What the application adds is of its user: "Prefers black tea".
    """
    own = ("the user", *filter(None, [fact.source.speaker]))
    told = fact.content.casefold()
    return (
        fact.category is Category.PERSONAL
        and bool(fact.message_ids)
        and not any(one.casefold() in told for one in own)
        and not names_a_need(fact.content)
    )


def _relevance(best: float, floor: float) -> float:
    """Return the distance of the best match from the floor, as a share of the largest one."""
    return round(max(0.0, best - floor) / max(1e-9, 1.0 - floor), 4)


def _relevant(
    hits: Sequence[Hit], best: float, policy: Policy, without: frozenset[str]
) -> list[Hit]:
    """Return the hits that match well enough, say something, and aren't in the prompt already.

    `best` is the best match of all.
    """
    if best < policy.floor:
        return []
    return [
        hit
        for hit in hits
        if hit.parts.match >= policy.weakest
        and not (_is_message(hit.fact) and is_filler(hit.fact.content))
        and not (without and _is_known(hit.fact, without))
    ]


def _cut(fact: Fact, wanted: frozenset[str], characters: int) -> str | None:
    """Return the part of a memory around the `wanted` words; None for all of it."""
    if len(fact.content) <= characters or wanted.isdisjoint(stems(fact.content)):
        return None
    return excerpt(fact.content, wanted, characters)


def _candidate(hit: Hit) -> Candidate:
    fact = hit.fact
    score = hit.score * (_MATERIAL if render.is_material(fact) else 1.0)
    return Candidate(score, fact.category, len(fact.text))


def _is_said(
    fact: Fact, said: Collection[str], texts: Collection[str], told: Mapping[str, Sequence[str]]
) -> bool:
    """Return True if one of `said` is the fact's sentence, or one of `texts` contains it.

    All are normalised. Facts of several agents may have one text. A message is said if the lines
    that come from it, `told` by message, have all of its words.
    """
    if _is_message(fact):
        return _is_told(fact, told)
    own = normalised(fact.content)
    return own in said or any(own in text for text in texts)


def _lines_by_message(shown: Iterable[Placed]) -> Mapping[str, Sequence[str]]:
    """Return the texts that are shown, by the ids of the messages that they come from."""
    lines: dict[str, list[str]] = defaultdict(list)
    for one in shown:
        for message in one.fact.message_ids:
            lines[message].append(one.text or one.fact.content)
    return lines


def _is_told(message: Fact, told: Mapping[str, Sequence[str]]) -> bool:
    """Return True if the lines that come from a message, `told` by message, have all its words."""
    lines = [line for one in message.message_ids for line in told.get(one, ())]
    return bool(lines) and set(stems(" ".join(lines))).issuperset(stems(message.content))


def _is_known(fact: Fact, without: frozenset[str]) -> bool:
    """Return True if a memory comes from messages, all of them among `without`."""
    return bool(fact.message_ids) and without.issuperset(fact.message_ids)
