"""Superseded facts by the messages that state them: those that no longer hold in full."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol

from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.ports import Facts, Trait


class EndedFacts(Protocol):
    """Reads facts by id, and superseded ones by where they were said, as `Facts` does."""

    def get(self, fact_ids: Sequence[str], user_id: str | None = None) -> list[Fact]:
        """Return the facts with these ids, in their order."""
        ...

    def superseded_in(
        self,
        user_id: str,
        session_ids: Collection[str],
        places: Collection[str],
        positions: Collection[tuple[str, int]],
    ) -> list[Fact]:
        """Return the superseded facts of these sessions, said at one of the places or positions."""
        ...


class EndedIndex(Protocol):
    """Finds the superseded facts of users whose memories are held in RAM."""

    def ended(
        self,
        user_id: str,
        session_ids: Collection[str],
        places: Collection[str],
        positions: Collection[tuple[str, int]],
    ) -> list[str] | None:
        """Return the ids of what `superseded_in` returns; None if they aren't held."""
        ...


class HeldFacts:
    """Reads superseded facts by the index in RAM where it has them, else by the ledger's."""

    def __init__(self, ledger: Facts, index: EndedIndex) -> None:
        self._ledger = ledger
        self._index = index

    def get(self, fact_ids: Sequence[str], user_id: str | None = None) -> list[Fact]:
        """Return the facts with these ids, in their order."""
        return self._ledger.get(fact_ids, user_id)

    def superseded_in(
        self,
        user_id: str,
        session_ids: Collection[str],
        places: Collection[str],
        positions: Collection[tuple[str, int]],
    ) -> list[Fact]:
        """Return the superseded facts of these sessions, said at one of the places or positions."""
        ids = self._index.ended(user_id, session_ids, places, positions)
        if ids is None:
            return self._ledger.superseded_in(user_id, session_ids, places, positions)
        found = self._ledger.get(ids, user_id) if ids else []
        return [fact for fact in found if fact.status is Status.SUPERSEDED]  # still, by now


class _Ended(NamedTuple):
    id: str
    session_id: str
    position: int | None
    said_in: tuple[str, ...]


class Ended:
    """One user's superseded facts by where they were said, kept current as facts change."""

    def __init__(self) -> None:
        self._facts: dict[int, _Ended] = {}
        self._by_place: dict[str, set[int]] = defaultdict(set)
        self._by_position: dict[tuple[str, int | None], set[int]] = defaultdict(set)

    def take(self, trait: Trait) -> None:
        """Note the present state of a fact."""
        self.drop(trait.num)
        if trait.status == Status.SUPERSEDED and trait.session_id is not None:
            self._add(trait.num, _Ended(trait.id, trait.session_id, trait.position, trait.said_in))

    def keep(self) -> list[list[Any]]:
        """Return all facts, as JSON holds them."""
        return [[num, *fact] for num, fact in self._facts.items()]

    def take_kept(self, facts: Iterable[Sequence[Any]]) -> None:
        """Note facts as `keep` returned them."""
        for num, fact_id, session_id, position, said_in in facts:
            self._add(num, _Ended(fact_id, session_id, position, tuple(said_in)))

    def _add(self, num: int, own: _Ended) -> None:
        self._facts[num] = own
        for named in self._named(own):
            named.add(num)

    def drop(self, num: int) -> None:
        """Leave out a fact."""
        own = self._facts.pop(num, None)
        if own is not None:
            for named in self._named(own):
                named.discard(num)

    def found(
        self,
        session_ids: Collection[str],
        places: Collection[str],
        positions: Collection[tuple[str, int]],
    ) -> list[str]:
        """Return the ids of the facts that were said first in one of the sessions, as written.

        Only those stated at one of `places` (`session/message`), or said first at one of
        `positions`, pairs of a session and a position in it.
        """
        stated = (self._by_place.get(one, ()) for one in places)
        first = (self._by_position.get(one, ()) for one in positions)
        nums = sorted(set(chain.from_iterable((*stated, *first))))
        facts = map(self._facts.__getitem__, nums)
        return [fact.id for fact in facts if fact.session_id in session_ids]

    def _named(self, fact: _Ended) -> Iterator[set[int]]:
        """Yield the sets of facts that belong to the places of this one."""
        yield from (self._by_place[place] for place in fact.said_in)
        yield self._by_position[fact.session_id, fact.position]
