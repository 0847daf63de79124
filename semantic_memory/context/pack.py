"""Packing of memories into a token budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from semantic_memory.context import render
from semantic_memory.context.choose import Candidate, Line, Policy, choose
from semantic_memory.context.connected import connected, is_need, may_be_shown
from semantic_memory.context.excerpt import (
    content_stems,
    excerpt,
    says_no_more,
    source_of,
    telling,
)
from semantic_memory.context.overview import Overview, Placed
from semantic_memory.context.prices import Prices, word_bits
from semantic_memory.context.related import NOTHING_RELATED, Related
from semantic_memory.context.topics import Pair, keys, topics
from semantic_memory.domain.english.names import names
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.ports import TokenCounter
from semantic_memory.domain.recall import Context, Hit, LeftOut, Omission
from semantic_memory.domain.text import stem_set
from semantic_memory.domain.values import normalised

BEST = 10
"""Hits of a search that are shown as far as the budget goes."""
NEWER = 2
"""Newer statements that come with one of them."""
_TOKENS_FOR_NEWER = 250  # of the budget for each of them
_NAMED = 20  # memories of which a block says why they aren't in it
_SHORT_LINE = 4  # tokens; more hits than lines of this length fit the budget aren't considered
_FEWEST = 128
_PASSAGE = 240  # characters of a message that stand for a fact that says less
_ABOUT = 0.6  # share of the best match from which on a memory is about the question itself
_ABOUT_MOST = 4
_SHORTEST_CUT = 300  # characters of a long memory that even a small block may show
_MATERIAL = 0.75  # weight of what tools returned beside what people said
_MEASURE = "xml"  # template in whose tokens the core is measured: it holds as much in any other
NOTHING = Overview()
"""An empty overview."""


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
        related: Related = NOTHING_RELATED,
        explaining: Collection[str] = (),
    ) -> Context:
        """Pack those of `hits`, given best first, that are worth their tokens into `budget`.

        Shown whatever the hits are the parts of `overview` and the `standing` facts, the first
        ones first, within their shares. The best hits follow, each with newer statements about
        its subject, and then what is worth its tokens beside them. No hit is shown if none reaches
        the floor. Messages with an id in `without` are left out, and so are hits and facts that
        come from such messages only. Long memories are cut around the words of `query`. What is
        free in the end goes to the rest of the core, then to events of the history that share words
        with the question or a session with what was recalled.

        Of the memories that are left out the best say why, and those with an id in `explaining`.
        The tokens are counted in the finished text, so the count is exact and never over the
        budget. A budget too small for one memory gives an empty block.
        """
        policy = self._policy
        pot = int(budget * policy.history)
        block = _Block(self._template, self._prices, budget, frozenset(without), hits, related)
        block.show(overview.written, budget)
        block.show(overview.core, policy.core, self._core)
        block.show(map(Placed, standing), int(budget * policy.standing))
        for part in (overview.texts, overview.asked, overview.history):
            pot -= block.show(part, pot)
        best = max([hit.parts.match for hit in hits], default=0.0)
        block.recall(query, policy, matching=best >= policy.floor)
        block.fill(overview.core, policy.core, self._core)
        block.leave_out_told()
        block.fill(block.bearing(overview.events, query), pot)
        return block.finished(_relevance(best, policy.floor), explaining)


class _Finished(NamedTuple):
    """A block as rendered."""

    shown: int
    """Number of memories that it was rendered from."""
    entries: Sequence[render.Entry]
    text: str
    tokens: int


class _Block:
    """A block in the making: the memories that it shows so far, and the tokens that are left."""

    def __init__(
        self,
        template: render.Template,
        prices: Prices,
        budget: int,
        without: frozenset[str],
        hits: Sequence[Hit],
        related: Related,
    ) -> None:
        self._template = template
        self._prices = prices
        self._budget = budget
        self._without = without
        self._hits = hits
        self._related = related
        self._room = budget - prices.frame(len(hits))
        self._shown: list[Placed] = []
        self._chosen: list[tuple[Category, Line]] = []
        self._known_keys: dict[str, set[str]] = {}
        self._keys_shown: set[str] = set()
        """Keys of all lines that it has or had."""
        self._given = 0
        """Number of lines that are shown whatever the question."""
        self._displaced: set[str] = set()
        """Facts that left the core for the notes."""
        self._beside = 0
        """Number of newer statements shown beside older ones."""
        best = max([hit.parts.match for hit in hits], default=0.0)
        about = [hit.fact.id for hit in hits[:_ABOUT_MOST] if hit.parts.match >= _ABOUT * best]
        self._asked: Sequence[Pair] = list(pairwise(about))
        """Pairs of memories that are about the question itself."""
        self._said_at = {_turn(hit.fact): hit.fact for hit in hits if _is_message(hit.fact)}
        self._refused: dict[str, Omission] = {}
        self._finished: _Finished | None = None

    @property
    def facts(self) -> list[Fact]:
        """The memories that it shows."""
        return [one.fact for one in self._shown]

    def bearing(self, events: Sequence[Placed], query: str) -> list[Placed]:
        """Return the events that bear on the question, and that the notes don't tell.

        An event bears on it if it shares words with it, names apart; what somebody needs always
        does.
        """
        asked = stem_set(query)
        named = {*names(query), *(one.fact.source.speaker or "" for one in events)}
        topic = asked - {stem for name in named for stem in stem_set(name)}
        notes = [one for one in self._shown if one.section == render.NOTES]
        told = {key for one in notes for key in self._keys(one.fact)}
        return [
            one
            for one in events
            if may_be_shown(one.fact, asked)
            and (not topic.isdisjoint(stem_set(one.fact.content)) or is_need(one.fact))
            and told.isdisjoint(self._keys(one.fact))
        ]

    def show(self, part: Iterable[Placed], most: int, prices: Prices | None = None) -> int:
        """Show those of a part that fit into `most` tokens, the first ones first.

        `most` counts in `prices`, if given, and else in those of the block. Return the tokens of
        those shown.
        """
        shown = {fact.id for fact in self.facts} | self._displaced
        said = {normalised(fact.content) for fact in self.facts}  # also for another agent
        left = most
        for one in map(self._marked, part):
            text = normalised(one.fact.content)
            if one.fact.id in shown or text in said or _is_known(one.fact, self._without):
                continue
            cost = self._cost(self._prices, one)
            share = cost if prices is None else self._cost(prices, one)
            if cost <= self._room and share <= left:
                left -= share
                self._room -= cost
                self._show(one)
                said.add(text)
        return most - left

    def recall(self, query: str, policy: Policy, *, matching: bool) -> None:
        """Show the best hits, newer statements beside them, and what else is worth its tokens."""
        asked = stem_set(query)
        longest = min(render.MOST_CHARACTERS, max(_SHORTEST_CUT, self._budget))
        wanted = self._wanted(asked, policy, matching=matching)
        self._given = len(self._shown)
        for hit in wanted[:BEST]:
            if self._add(self._placed(hit.fact, asked, longest, hit.space)):
                self._add_newer(hit.fact, asked, longest)
            elif self._lines_of(hit.fact):
                self._add_newer(hit.fact, asked, longest)
                self._refused[hit.fact.id] = "repeats"
            else:
                self._refused[hit.fact.id] = "budget"
        known = {fact.id for fact in self.facts}
        tail = [hit for hit in wanted[BEST:] if hit.fact.id not in known]
        near = {hit.fact.id for hit in connected(wanted, query)}
        self._refused |= {hit.fact.id: "other topic" for hit in tail if hit.fact.id not in near}
        self._choose([hit for hit in tail if hit.fact.id in near], policy, asked, longest)

    def _wanted(self, asked: frozenset[str], policy: Policy, *, matching: bool) -> list[Hit]:
        """Return the hits that may be shown: the best, and the others that match.

        What concerns its moment only is none of the best, unless it has a word of the question.
        """
        wanted = []
        for rank, hit in enumerate(self._hits):
            fact = hit.fact
            if _is_known(fact, self._without):
                continue
            if not may_be_shown(fact, asked):
                self._refused[fact.id] = "other topic"
            elif not matching or self._is_weak(hit, asked, policy, is_best=rank < BEST):
                self._refused[fact.id] = "weak"
            else:
                wanted.append(hit)
        return wanted

    def _is_weak(self, hit: Hit, asked: frozenset[str], policy: Policy, *, is_best: bool) -> bool:
        if is_best:
            return asked.isdisjoint(stem_set(hit.fact.content)) and self._is_idle(hit.fact)
        return hit.parts.match < policy.weakest

    def _choose(
        self, hits: Sequence[Hit], policy: Policy, asked: frozenset[str], longest: int
    ) -> None:
        """Show those hits that are worth their tokens, as far as there is room."""
        considered = hits[: max(_FEWEST, self._budget // _SHORT_LINE)]
        measured: dict[int, tuple[Placed, Line]] = {}

        def line(place: int) -> Line:
            hit = considered[place]
            one = self._placed(hit.fact, asked, longest, hit.space)
            measured[place] = one, self._prices.line(one)
            return measured[place][1]

        choice = choose(
            [*map(_candidate, considered)],
            line,
            chosen=self._chosen,
            best=max([hit.score for hit in self._hits], default=0.0),
            room=self._room - self._opening(render.NOTES),
            budget=self._budget,
            policy=policy,
            asked=word_bits(asked),
            is_idle=lambda place: self._is_idle(considered[place].fact),
        )
        for place, reason in choice.refused.items():
            self._refused[considered[place].fact.id] = reason
        for place in choice.chosen:
            if not self._add(*measured[place]):
                self._refused[considered[place].fact.id] = "repeats"

    def _is_idle(self, fact: Fact) -> bool:
        """Return True for a message that concerns its moment only and answers no question."""
        if not _is_message(fact) or not self._related.is_idle(fact):
            return False
        asking = self._said_at.get(_turn(fact, -1))
        return asking is None or not asking.content.rstrip().endswith("?")

    def _add_newer(self, fact: Fact, asked: frozenset[str], longest: int) -> None:
        """Show newer statements about the subject of a shown memory beside it.

        Unless it is known to be over, neither of them stays in the core then: among the notes their
        order tells what is current. What the same messages say of other things does stay.
        """
        if not may_be_shown(fact, asked):
            return
        ending = self._related.endings.get(fact.id)
        for newer in self._related.newer.get(fact.id, ())[:NEWER]:
            if not self._lines_of(newer):
                if not may_be_shown(newer, asked) or _is_known(newer, self._without):
                    continue
                if self._beside >= self._budget // _TOKENS_FOR_NEWER:
                    continue
                if not self._add(self._placed(newer, asked, longest)):
                    continue
                self._beside += 1
            if ending is None or not ending.is_certain:
                places = {*self._lines_of(fact), *self._lines_of(newer)}
                for place in sorted(places, reverse=True):  # a removal moves later lines only
                    one = self._shown[place]
                    if (one.fact.id, newer.id) in self._related.displaced:
                        self._displace(place, self._placed(one.fact, asked, longest, one.space))

    def _displace(self, place: int, note: Placed) -> None:
        """Show a line as a note instead, unless another line tells the same."""
        self._displaced.add(note.fact.id)
        del self._shown[place]
        if not self._is_told(note):
            self._shown.insert(place, note)
        elif place < self._given:
            self._given -= 1

    def _lines_of(self, fact: Fact) -> list[int]:
        """Return the places of the lines that show a memory, or one from the same message."""
        own = self._keys(fact)
        if own.isdisjoint(self._keys_shown):  # as of most
            return []
        return [n for n, one in enumerate(self._shown) if not own.isdisjoint(self._keys(one.fact))]

    def _keys(self, fact: Fact) -> set[str]:
        known = self._known_keys.get(fact.id)
        if known is None:
            known = self._known_keys[fact.id] = keys(fact)
        return known

    def _add(self, one: Placed, line: Line | None = None) -> bool:
        """Show a note, if it fits and no other line tells it; measure its line unless given."""
        if one.text == "" or self._is_told(one):
            return False
        line = line or self._prices.line(one)
        cost = line.tokens + self._opening(one.section)
        if cost > self._room:
            return False
        for place in reversed(self._lines_of(one.fact)):  # a removal moves later lines only
            if _replaces(one, self._shown[place]):
                del self._shown[place]
        self._room -= cost
        self._show(one)
        self._chosen.append((one.fact.category, line))
        return True

    def _show(self, one: Placed) -> None:
        self._shown.append(one)
        self._keys_shown |= self._keys(one.fact)

    def _is_told(self, one: Placed) -> bool:
        """Return True if a line shows a memory already, or tells it.

        That is another line from its message with the same text or all of its words, or, of a fact,
        one shown whatever the question that has its text.
        """
        text = _text_of(one)
        given = () if _is_message(one.fact) else self._shown[: self._given]
        return any(text in _text_of(other) for other in given) or any(
            other.fact.id == one.fact.id or _text_of(other) == text or _tells(other, one)
            for other in map(self._shown.__getitem__, self._lines_of(one.fact))
        )

    def _placed(
        self, fact: Fact, asked: frozenset[str], longest: int, space: str | None = None
    ) -> Placed:
        """Place a note: of a message what it tells, of a fact that tells less its sentence."""
        message = self._related.messages.get(fact.id)
        text = None
        if message is not None:
            text = self._said(fact, message, asked)
        elif _is_message(fact) and not render.is_material(fact):
            told = telling(fact.content, asked, self._known_of(fact))
            text = None if told == fact.content else told
        shorter = _cut(text or fact.content, asked, longest)
        ending = self._related.endings.get(fact.id)
        return Placed(fact, render.NOTES, 0, shorter or text, space, ending)

    def _said(self, fact: Fact, message: Fact, asked: frozenset[str]) -> str | None:
        """Return what a message tells around the words of a fact, if that is more than the fact."""
        said = message.created_at
        sentence = source_of(fact.content, message.content, lambda one: render.dated(one, said))
        if sentence is None:
            return None
        wanted = asked.union(stem_set(sentence))
        told = excerpt(telling(message.content, wanted), wanted, max(_PASSAGE, len(sentence)))
        return told if content_stems(told) - content_stems(fact.content) else None

    def _known_of(self, message: Fact) -> frozenset[str]:
        """Return the stems of the lines beside the notes that are drawn from a message."""
        lines = (self._shown[place] for place in self._lines_of(message))
        lines = (one for one in lines if one.section != render.NOTES)
        return frozenset(stem for one in lines for stem in stem_set(one.text or one.fact.content))

    def fill(self, part: Sequence[Placed], most: int, prices: Prices | None = None) -> None:
        """Show the lines of a part that fit into the rest of the budget."""
        shown = {fact.id for fact in self.facts}
        if waiting := [one for one in part if one.fact.id not in shown]:
            self._room = self._budget - self._fitted().tokens
            self.show(waiting, most, prices)

    def leave_out_told(self) -> None:
        """Leave out messages that the other lines tell in full."""
        told = _lines_by_message(one for one in self._shown if not _is_message(one.fact))
        self._shown = [
            one for one in self._shown if not (_is_message(one.fact) and _is_told(one.fact, told))
        ]

    def finished(self, relevance: float, explaining: Collection[str] = ()) -> Context:
        """Return the block, with those of the hits that it shows."""
        _, entries, text, tokens = self._fitted()
        ids = {entry.fact.id for entry in entries}
        omitted = [hit for hit in self._hits if hit.fact.id in self._refused.keys() - ids]
        named = [hit for n, hit in enumerate(omitted) if n < _NAMED or hit.fact.id in explaining]
        return Context(
            text=text,
            tokens=tokens,
            facts=tuple(entry.fact for entry in entries),
            hits=tuple([hit for hit in self._hits if hit.fact.id in ids]),
            left_out=tuple(
                LeftOut(fact=hit.fact, score=hit.score, reason=self._reason(hit)) for hit in named
            ),
            omitted=self._omitted(ids),
            relevance=relevance,
        )

    def _reason(self, hit: Hit) -> Omission:
        over = hit.changed is not None or hit.fact.status is Status.SUPERSEDED
        return "superseded" if over else self._refused[hit.fact.id]

    def _fitted(self) -> _Finished:
        """Render the block, without the last choices if it is over the budget."""
        while self._finished is None or self._finished.shown != len(self._shown):
            entries = self._entries()
            ids = {entry.fact.id for entry in entries}
            text = render.block(entries, self._omitted(ids), self._template)
            tokens = self._prices.text(text)
            if tokens <= self._budget:
                self._finished = _Finished(len(self._shown), entries, text, tokens)
            else:
                self._refused[self._shown.pop().fact.id] = "budget"
        return self._finished

    def _entries(self) -> list[render.Entry]:
        """Return the entries in the order of the block."""
        ordered = list(self._ordered())
        numbers = {
            key: number
            for number, (one, _) in enumerate(ordered, start=1)
            for key in self._keys(one.fact)
        }
        return [
            render.Entry(one.fact, self._text(one, topic, numbers), one.section, topic)
            for one, topic in ordered
        ]

    def _ordered(self) -> Iterator[tuple[Placed, int]]:
        """Yield the memories in the order of the block, each with the number of its topic."""
        notes = [one for one in self._shown if one.section == render.NOTES]
        rest = [one for one in self._shown if one.section != render.NOTES]
        rest.sort(key=_standing_order)
        yield from ((one, 0) for one in rest)
        groups = topics(
            [one.fact for one in notes], {*self._related.linked, *self._asked}, self._keys
        )
        for number, group in enumerate(groups, start=1):
            yield from ((notes[place], number) for place in group)

    def _text(self, one: Placed, topic: int, numbers: Mapping[str, int]) -> str:
        by = one.ending.by if one.ending else ()
        see = max((numbers.get(key, 0) for key in by), default=0)
        return self._template.shown(
            one.fact, one.section, one.text, one.space, one.ending, see=see, topic=topic
        )

    def _cost(self, prices: Prices, one: Placed) -> int:
        """Return the tokens that a memory adds to the block."""
        opening = 0 if self._is_open(one.section) else prices.section(one.section)
        return prices.line(one).tokens + opening

    def _opening(self, section: str) -> int:
        return 0 if self._is_open(section) else self._prices.section(section)

    def _is_open(self, section: str) -> bool:
        return any(one.section == section for one in self._shown)

    def _marked(self, one: Placed) -> Placed:
        ending = self._related.endings.get(one.fact.id)
        return one if ending is None else one._replace(ending=ending)

    def _omitted(self, shown: Collection[str]) -> int:
        return sum(reason == "budget" and one not in shown for one, reason in self._refused.items())


def _standing_order(one: Placed) -> tuple[int, int, tuple[str, str, str, int, str]]:
    return render.SECTIONS.index(one.section), one.rank, render.place(one.fact)


def _text_of(one: Placed) -> str:
    return normalised(one.text or one.fact.content)


def _is_message(fact: Fact) -> bool:
    return fact.category is Category.CONVERSATION


def _turn(message: Fact, shift: int = 0) -> tuple[str, str | None, int | None]:
    """Return the place of a message among those of its session, or one near it."""
    source = message.source
    position = None if source.position is None else source.position + shift
    return message.user_id, source.session_id, position


def _relevance(best: float, floor: float) -> float:
    """Return the distance of the best match from the floor, as a share of the largest one."""
    return round(max(0.0, best - floor) / max(1e-9, 1.0 - floor), 4)


def _cut(text: str, wanted: frozenset[str], characters: int) -> str | None:
    """Return the part of a text around the `wanted` words; None for all of it."""
    if len(text) <= characters or wanted.isdisjoint(stem_set(text)):
        return None
    return excerpt(text, wanted, characters)


def _candidate(hit: Hit) -> Candidate:
    fact = hit.fact
    score = hit.score * (_MATERIAL if render.is_material(fact) else 1.0)
    return Candidate(score, fact.category, len(fact.text))


def _replaces(one: Placed, other: Placed) -> bool:
    """Return True if a note that is to be shown makes another line from its message needless.

    A message stands for all facts drawn from it.
    """
    return other.section == render.NOTES and (_is_message(one.fact) or _tells(one, other))


def _tells(one: Placed, other: Placed) -> bool:
    """Return True if a line has all words of another from its message, and its ending."""
    return (other.ending is None or one.ending is not None) and says_no_more(
        other.text or other.fact.content,
        one.text or one.fact.content,
        other.fact.source.speaker or "",
    )


Said = tuple[str, str | None, str]
"""The user, the session and the id of a message: ids repeat in other sessions."""


def _said(fact: Fact) -> set[Said]:
    return {(fact.user_id, *message) for message in fact.messages}


def _lines_by_message(shown: Iterable[Placed]) -> Mapping[Said, Sequence[str]]:
    """Return the texts that are shown, by the messages that they come from."""
    lines: dict[Said, list[str]] = defaultdict(list)
    for one in shown:
        for message in _said(one.fact):
            lines[message].append(one.text or one.fact.content)
    return lines


def _is_told(message: Fact, told: Mapping[Said, Sequence[str]]) -> bool:
    """Return True if the lines that come from a message, `told` by message, have all its words."""
    lines = [line for one in _said(message) for line in told.get(one, ())]
    return bool(lines) and not telling(message.content, (), stem_set(" ".join(lines)))


def _is_known(fact: Fact, without: frozenset[str]) -> bool:
    """Return True if a memory comes from messages, all of them among `without`."""
    return bool(without and fact.message_ids) and without.issuperset(fact.message_ids)
