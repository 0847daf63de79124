"""Forget a topic, a time, a session, what meets a query, or a user, for good."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ingest.gate import Gate
from semantic_memory.application.erasing import Erasing
from semantic_memory.application.naming import Named, Naming
from semantic_memory.application.proving import Prover
from semantic_memory.application.reach import Reach, reach
from semantic_memory.application.reserve import Room
from semantic_memory.application.resolving import FilterResolver
from semantic_memory.application.rolling_back import reviving, withdrawing
from semantic_memory.application.trail import Trail
from semantic_memory.domain.changes import Change, EraseItems, EraseLines, EraseReasons
from semantic_memory.domain.facts import Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.origins import Origin
from semantic_memory.domain.ports import Clock, Ledger
from semantic_memory.domain.ports.states import States
from semantic_memory.domain.reports import Forgotten
from semantic_memory.domain.requests import ForgetRequest
from semantic_memory.pipeline.forget_requests import drop_requests, settle_requests
from semantic_memory.pipeline.pipeline import Pipeline

_SHOWN = 100
_OUTER = ("session_id", "since", "until", "agents", "runs")
"""Conditions on when and where something was said, not on what."""


class Forgetting:
    """Forget memories of every status, with the session logs and windows they came from.

    Thread-safe.
    """

    def __init__(
        self,
        ledger: Ledger,
        pipeline: Pipeline,
        erasing: Erasing,
        states: States,
        room: Room,
        resolver: FilterResolver,
        naming: Naming,
        gate: Gate,
        prover: Prover,
        trail: Trail,
        clock: Clock,
    ) -> None:
        self._ledger = ledger
        self._pipeline = pipeline
        self._erasing = erasing
        self._states = states
        self._room = room
        self._resolver = resolver
        self._naming = naming
        self._gate = gate
        self._prover = prover
        self._trail = trail
        self._clock = clock

    def forget(self, asked: ForgetRequest) -> Forgotten:
        """Forget what meets all conditions, and what goes with it; a dry run only returns it.

        On a full disk, the reserve's room is used.
        """
        user_id = asked.user_id
        filters = self._resolver.resolved(asked.joined(), user_id)
        # Also what was said a moment ago.
        self._room.lend(partial(self._pipeline.store_user, user_id))
        if asked.withdraw and not asked.dry_run:
            self._pipeline.flush()  # what is extracted later would escape
        reached = partial(self._reach, asked, filters)
        items = self._ledger.count_items(user_id) if asked.everything else 0
        if asked.dry_run:
            found = reached()
            gone = list(found.gone.values())
            if asked.withdraw:
                gone = [fact for fact in gone if fact.status is Status.ACTIVE]
            return Forgotten(len(gone), gone[: -_SHOWN - 1 : -1], found.sentences, items=items)
        reason = self._gate.redacted(asked.reason)
        if asked.withdraw:
            return self._withdrawn(user_id, reached, reason)
        besides: list[Change] = []
        picks = asked.names_content or asked.source is not None
        if not (picks or filters.goes_beyond("since", "until")):
            besides.append(EraseLines(user_id, *filters.bounds))
        held = self._prover.item_texts(user_id) if asked.everything and asked.proof else []
        if asked.everything:
            besides += [EraseItems(user_id), EraseReasons(user_id)]
        whole = () if picks else self._sessions(user_id, filters)
        found = self._erasing.erase(
            user_id,
            reached,
            reason,
            whole=whole,
            besides=besides,
            revives=asked.source is not None,
        )
        self._settle(asked, user_id, whole)
        if asked.everything:
            self._trail.drop(user_id)
            self._states.drop(user_id)
        proof = None
        if asked.proof:
            proof = self._prover.prove([*self._prover.texts(found), *held], user_id, reason)
        return Forgotten(len(found.gone), (), found.sentences, proof, items)

    def _settle(self, asked: ForgetRequest, user_id: str, whole: Sequence[SessionKey]) -> None:
        """Drop the requests of what was forgotten as a whole; settle those for the same subject."""
        subject = (asked.query or asked.entity or "").casefold()
        with self._ledger.exclusive(user_id):
            if whole:
                drop_requests(self._ledger, user_id, [key.session_id for key in whole])
            if subject:
                settle_requests(
                    self._ledger,
                    user_id,
                    "done",
                    self._clock.now(),
                    lambda one: one.subject.casefold() == subject,
                )

    def _withdrawn(self, user_id: str, reached: Callable[[], Reach], reason: str) -> Forgotten:
        """Quarantine what came from a source, and revive the facts that it retired."""
        now = self._clock.now()
        with self._ledger.exclusive(user_id):
            gone = reached().gone
            withdrawn = list(withdrawing(gone, now, reason))
            self._ledger.apply([*withdrawn, *reviving(self._ledger, gone, now)])
        self._pipeline.changed(user_id)
        return Forgotten(len(withdrawn))

    def _reach(self, asked: ForgetRequest, filters: Filters) -> Reach:
        if asked.entity is not None:
            named = self._naming.naming(asked.entity, asked.user_id, filters)
        elif asked.query is not None:
            named = self._naming.about(asked.query, asked.user_id, filters)
        else:
            named = Named(self._ledger.get(self._ledger.ids(asked.user_id, filters)))
        if asked.source is not None:
            origin = Origin.of(asked.source)
            named = Named([fact for fact in named.facts if origin.gave(fact)])
        if asked.keep_source:
            return Reach({fact.id: fact for fact in named.facts})
        sources = asked.names_content or filters.goes_beyond(*_OUTER)
        sources &= asked.source is None  # what a source said goes; what it was drawn from stays
        return reach(self._ledger, asked.user_id, named.facts, named.sentences, sources=sources)

    def _sessions(self, user_id: str, filters: Filters) -> Sequence[SessionKey]:
        """Return the sessions that are forgotten as a whole."""
        if filters.goes_beyond("session_id"):
            return ()
        if filters.session_id is not None:
            return (SessionKey(user_id, filters.session_id),)
        return [SessionKey(user_id, one) for one in self._ledger.session_ids(user_id)]
