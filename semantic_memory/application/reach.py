"""Work out everything that goes when memories are forgotten: facts, messages, sentences of them.

A fact takes the sentences that it was drawn from, unless a fact that stays was drawn from them too;
a message without a sentence left goes as a whole. A message, or a sentence of one, takes the facts
that nothing else supports.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from semantic_memory.application.expiring import whole
from semantic_memory.domain.evidence import drawn_from, left_of, pieces, still_said
from semantic_memory.domain.facts import Fact, Source
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Ledger
from semantic_memory.pipeline.facts import VERBATIM, verbatim_id

Place = tuple[str, str]
"""A session and a message in it."""
NO_SENTENCES: Mapping[str, Collection[int]] = {}


@dataclass(frozen=True, slots=True)
class Reach:
    """Everything that a user loses."""

    gone: Mapping[str, Fact] = field(default_factory=dict)
    """Memories that go, by id, in the order written."""
    left: Mapping[str, str] = field(default_factory=dict)
    """Texts of the messages that lose sentences, as they are left, by the ids of their memories."""
    messages: Mapping[str, Fact] = field(default_factory=dict)
    """The memories of those messages, by id."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences that messages lose which stay."""
        lost = []
        for fact_id, left in self.left.items():
            kept = [piece.strip() for piece in pieces(left)]
            said = (piece.strip() for piece in pieces(self.messages[fact_id].content))
            lost += [piece for piece in said if piece and piece not in kept]
        return tuple(lost)

    @property
    def places(self) -> dict[SessionKey, set[str]]:
        """The messages that go or lose sentences, by session."""
        found: dict[SessionKey, set[str]] = {}
        for fact in (*self.gone.values(), *self.messages.values()):
            if is_message(fact) and fact.source.session_id is not None:
                key = SessionKey(fact.user_id, fact.source.session_id)
                found.setdefault(key, set()).update(fact.source.message_ids)
        return found


def is_message(fact: Fact) -> bool:
    """Return True for the memory of a message as it was said."""
    return fact.source.extractor == VERBATIM


def reach(
    ledger: Ledger,
    user_id: str,
    seeds: Sequence[Fact],
    sentences: Mapping[str, Collection[int]] = NO_SENTENCES,
    *,
    sources: bool,
) -> Reach:
    """Return what goes with the memories `seeds` and some sentences of messages, by memory.

    With `sources`, facts take the sentences that they were drawn from.
    """
    return _Tracing(ledger, user_id, seeds, sentences).reach(sources=sources)


class _Tracing:
    """The facts and messages that a reach is worked out from."""

    def __init__(
        self,
        ledger: Ledger,
        user_id: str,
        seeds: Sequence[Fact],
        sentences: Mapping[str, Collection[int]],
    ) -> None:
        self._ledger = ledger
        self._user_id = user_id
        self._gone = {fact.id: fact for fact in seeds}
        self._cut = {one: set(places) for one, places in sentences.items() if one not in self._gone}
        self._messages: dict[Place, Fact | None] = {}

    def reach(self, *, sources: bool) -> Reach:
        asked = [fact for fact in self._gone.values() if not is_message(fact)]
        self._take_what_rests()
        if sources:
            self._take_sources([*asked, *self._parts(asked)])
        left: dict[str, str] = {}
        messages: dict[str, Fact] = {}
        for message in self._ledger.get(list(self._cut)):
            rest = left_of(pieces(message.content), self._cut[message.id])
            if rest:
                left[message.id], messages[message.id] = rest, message
            else:
                self._gone[message.id] = message
        return Reach(self._gone, left, messages)

    def _take_what_rests(self) -> None:
        """Take the facts that only messages, or sentences of them, say that go."""
        losing = [*self._gone.values(), *self._ledger.get(list(self._cut), self._user_id)]
        touched = {
            place: fact for fact in losing if is_message(fact) for place in _places(fact.source)
        }
        if not touched:
            return
        self._messages.update(touched)
        resting = self._ledger.resting_on(self._user_id, touched)
        self._look_up(resting)
        for fact in resting:
            if not any(self._stands(fact, source, touched) for source in fact.sources):
                self._gone.setdefault(fact.id, fact)

    def _stands(self, fact: Fact, source: Source, touched: Collection[Place]) -> bool:
        """Return True if a source of a fact still says it."""
        places = _places(source)
        known = [self._messages.get(place) for place in places]
        if not places:
            return True  # the caller's own word
        if not any(place in touched for place in places):
            return any(message is not None for message in known)
        before = [message.content for message in known if message is not None]
        left = [
            left_of(pieces(one.content), self._cut.get(one.id, ()))
            for one in known
            if one is not None and one.id not in self._gone
        ]
        return still_said(fact.content, left, before)

    def _parts(self, facts: Iterable[Fact]) -> list[Fact]:
        """Take the facts merged into these, and the states that updates left; return them."""
        ids = dict.fromkeys(part for fact in facts for part in whole(self._ledger, fact))
        parts = self._ledger.get([one for one in ids if one not in self._gone])
        self._gone.update((part.id, part) for part in parts)
        return parts

    def _take_sources(self, going: Sequence[Fact]) -> None:
        """Take the sentences that these facts were drawn from, unless others need them."""
        places = list(dict.fromkeys(place for fact in going for place in _all_places(fact)))
        if not places:
            return
        staying: dict[Place, list[Fact]] = {}
        for fact in self._ledger.resting_on(self._user_id, places):
            if fact.id not in self._gone:
                for place in _all_places(fact):
                    staying.setdefault(place, []).append(fact)
        self._look_up(going)
        for place in places:
            message = self._messages.get(place)
            if message is None or message.id in self._gone:
                continue
            said = pieces(message.content)
            lost = {n for fact in going if place in _all_places(fact) for n in _drawn(fact, said)}
            lost -= {n for fact in staying.get(place, ()) for n in drawn_from(fact.content, said)}
            if lost:
                self._cut.setdefault(message.id, set()).update(lost)

    def _look_up(self, facts: Iterable[Fact]) -> None:
        """Read the messages that facts rest on."""
        wanted = {
            verbatim_id(SessionKey(self._user_id, place[0]), place[1]): place
            for fact in facts
            for place in _all_places(fact)
            if place not in self._messages
        }
        found = {fact.id: fact for fact in self._ledger.get(list(wanted), self._user_id)}
        self._messages.update((place, found.get(one)) for one, place in wanted.items())


def _drawn(fact: Fact, said: Sequence[str]) -> Collection[int]:
    """Return the sentences that a fact was drawn from; all, where none shares a word with it."""
    return drawn_from(fact.content, said) or range(len(said))


def _places(source: Source) -> list[Place]:
    return [(source.session_id or "", message_id) for message_id in source.message_ids]


def _all_places(fact: Fact) -> list[Place]:
    return [place for source in fact.sources for place in _places(source)]
