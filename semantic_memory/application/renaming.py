"""Ids of memories that are loaded: those that their records have, where these are free.

A record may claim any id, also one that a memory of another user will have: the ids of messages and
of what was extracted from them follow from the user, the session and the text. So an id is kept if
it is random, or follows from the loading user's own; every other one is replaced by one derived
from it, the same one each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from semantic_memory.domain.changes import Change, Update
from semantic_memory.domain.facts import Cause, Fact
from semantic_memory.domain.ports import Ledger
from semantic_memory.domain.values import derived_id, is_random, normalised

_ACTION = "renamed"


class Names:
    """The ids that the facts of one load get, and what they mention."""

    def __init__(self, ledger: Ledger, user_id: str) -> None:
        self._ledger = ledger
        self._user_id = user_id
        self._mentions: dict[str, set[str]] = {}  # ids that weren't there yet: the facts with them
        self.renamed: dict[str, str] = {}
        """The ids that weren't kept, with those in their place."""

    def named(self, fact: Fact) -> Fact:
        """Return a fact under its id here, with what it mentions under theirs."""
        own = self._id_of(fact)
        places = self.places(mentioned(fact))
        for one in mentioned(fact):
            if one not in places:
                self._mentions.setdefault(one, set()).add(own)
        return _renamed(fact, places).model_copy(update={"id": own})

    def places(self, ids: Iterable[str]) -> Mapping[str, str]:
        """Return the ids here of those that are known here."""
        asked = {one: derived_id(self._user_id, one) for one in ids}
        both = [*asked, *asked.values()]
        known = {fact.id for fact in self._ledger.get(both, self._user_id)} if both else set()
        found = {one: here for one, here in asked.items() if here in known}
        found |= {one: self.renamed[one] for one in asked if one in self.renamed}
        return found | {one: one for one in asked if one in known}

    def settled(self, now: datetime) -> list[Change]:
        """Return the changes of facts that mention one which got another id after them."""
        holders: set[str] = set()
        for one, by in self._mentions.items():
            if one in self.renamed:
                holders |= by
        facts = self._ledger.get(sorted(holders), self._user_id)
        return [Update(_renamed(fact, self.renamed), _ACTION, now) for fact in facts]

    def _id_of(self, fact: Fact) -> str:
        derived = derived_id(self._user_id, fact.id)
        known = {one.id for one in self._ledger.get([fact.id, derived], self._user_id)}
        if fact.id in known:
            return fact.id
        is_free = _is_own(fact) and not self._ledger.known([fact.id])
        if derived not in known and is_free:
            return fact.id
        self.renamed[fact.id] = derived
        return derived


def mentioned(fact: Fact) -> list[str]:
    """Return the ids of other memories in a fact."""
    causes = [*([fact.ended_by] if fact.ended_by else []), *fact.perhaps_changed]
    named = [fact.superseded_by, *(cause.newer for cause in causes)]
    ids = (*fact.bases, *fact.contested_by, *fact.follows, *named)
    return [one for one in ids if one]


def _is_own(fact: Fact) -> bool:
    """Return True if no other user's memory can get the id of this one."""
    source = fact.source
    if is_random(fact.id):
        return True
    if source.session_id is None:
        return False
    said = (fact.user_id, source.session_id, *source.message_ids, normalised(fact.content))
    return fact.id == derived_id(*said)


def _renamed(fact: Fact, places: Mapping[str, str]) -> Fact:
    def here(fact_id: str | None) -> str | None:
        return None if fact_id is None else places.get(fact_id, fact_id)

    def cause(one: Cause) -> Cause:
        return one.model_copy(update={"newer": here(one.newer)})

    return fact.model_copy(
        update={
            "superseded_by": here(fact.superseded_by),
            "references": tuple(places.get(one, one) for one in fact.references),
            "contested_by": tuple(places.get(one, one) for one in fact.contested_by),
            "follows": tuple(places.get(one, one) for one in fact.follows),
            "rests_on": tuple(places.get(one, one) for one in fact.rests_on),
            "ended_by": cause(fact.ended_by) if fact.ended_by else None,
            "perhaps_changed": tuple(map(cause, fact.perhaps_changed)),
        }
    )
