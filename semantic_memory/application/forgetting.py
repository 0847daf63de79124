"""Forget a topic, a time, a session, what meets a query, or a user, permanently."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from ingest.gate import Gate
from semantic_memory.application.erasing import Erasing
from semantic_memory.application.forget_checks import ForgetChecks
from semantic_memory.application.naming import Named, Naming
from semantic_memory.application.proving import Prover
from semantic_memory.application.reach import Reach, is_message, reach
from semantic_memory.application.reserve import Room
from semantic_memory.application.resolving import FilterResolver
from semantic_memory.application.rolling_back import reviving, withdrawing
from semantic_memory.application.tracing import Tracer
from semantic_memory.application.trail import Trail
from semantic_memory.domain.changes import Change, EraseItems, EraseLines, EraseReasons
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.facts import Category, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.forget_requests import RequestToForget
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.origins import Origin
from semantic_memory.domain.ports import Clock, Ledger
from semantic_memory.domain.ports.states import States
from semantic_memory.domain.reports import Forgotten
from semantic_memory.domain.requests import ForgetRequest
from semantic_memory.llm.spending import erase_spending
from semantic_memory.pipeline.forget_requests import (
    OPEN,
    drop_requests,
    read_requests,
    settle_requests,
    words_of_requests,
)
from semantic_memory.pipeline.pipeline import Pipeline

REASON = "asked for in the conversation"
"""The reason in the tombstones of what a request takes."""

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
        checks: ForgetChecks,
        gate: Gate,
        prover: Prover,
        trail: Trail,
        tracer: Tracer,
        clock: Clock,
    ) -> None:
        self._ledger = ledger
        self._pipeline = pipeline
        self._erasing = erasing
        self._states = states
        self._room = room
        self._resolver = resolver
        self._naming = naming
        self._checks = checks
        self._gate = gate
        self._prover = prover
        self._trail = trail
        self._tracer = tracer
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
        if asked.dry_run:
            return self._shown(asked, reached())
        named = asked.names_content and not asked.force
        if named and (doubt := self._checks.doubt(asked, reached())):
            raise InvalidInputError(f"forget: {doubt}: look at a dry run, then use force")
        return self._forgotten(asked, filters, reached)

    def _shown(self, asked: ForgetRequest, found: Reach) -> Forgotten:
        """Return what would be forgotten."""
        gone = list(found.gone.values())
        if asked.withdraw:
            gone = [fact for fact in gone if fact.status is Status.ACTIVE]
        return Forgotten(
            len(gone),
            gone[: -_SHOWN - 1 : -1],
            found.sentences,
            items=self._ledger.count_items(asked.user_id) if asked.everything else 0,
            warning=self._checks.doubt(asked, found),
            kept_in=self._checks.kept_in(asked),
        )

    def _forgotten(
        self, asked: ForgetRequest, filters: Filters, reached: Callable[[], Reach]
    ) -> Forgotten:
        user_id, reason = asked.user_id, self._gate.redacted(asked.reason)
        items = self._ledger.count_items(user_id) if asked.everything else 0
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
            self._tracer.drop(user_id)
            self._states.drop(user_id)
            erase_spending(self._ledger, user_id)
        proof = None
        if asked.proof:
            texts = [*self._prover.texts(found), *held]
            proof = self._prover.prove(texts, found, user_id, reason)
        elif asked.now:
            self._prover.erase(user_id)
        kept_in = self._checks.kept_in(asked)
        return Forgotten(len(found.gone), (), found.sentences, proof, items, kept_in=kept_in)

    def carry_out(self, user_id: str, request: RequestToForget) -> None:
        """Forget what a user's request names, and the words of the request."""
        match request.scope:
            case "everything":
                self.forget(ForgetRequest.of(user_id=user_id, everything=True, reason=REASON))
            case "subject":
                what = ForgetRequest.of(
                    user_id=user_id, query=request.subject, reason=REASON, force=True
                )
                self.forget(what)
            case _:
                self._erasing.erase(user_id, lambda: self._messages(user_id, request), REASON)

    def erase_words(self, user_id: str, request: RequestToForget) -> None:
        """Erase the sentences in which a request was made."""
        words = partial(words_of_requests, self._ledger, [request])
        self._erasing.erase(
            user_id, lambda: reach(self._ledger, user_id, (), words(), sources=False), REASON
        )

    def taken_by(self, user_id: str, request: RequestToForget) -> Iterable[str]:
        """Return the ids of the memories that a request would delete, in whole or in part."""
        match request.scope:
            case "everything":
                return self._ledger.ids(user_id)
            case "subject":
                asked = ForgetRequest.of(user_id=user_id, query=request.subject)
                found = self._reach(asked, self._resolver.resolved(asked.joined(), user_id))
            case _:
                found = self._messages(user_id, request)
        return [*found.gone, *found.left]

    def _messages(self, user_id: str, request: RequestToForget) -> Reach:
        """Return what goes with the message of a request and, if it says so, the one before."""
        ids = [request.id]
        if request.scope == "previous" and (before := self._before(user_id, request)):
            ids.append(before)
        return reach(self._ledger, user_id, self._ledger.get(ids, user_id), sources=False)

    def _before(self, user_id: str, request: RequestToForget) -> str | None:
        """Return the memory of the user's message before that of a request, in its scope."""
        filters = Filters(
            session_id=request.session_id, categories=frozenset({Category.CONVERSATION})
        )
        said = [
            fact
            for fact in self._ledger.get(self._ledger.ids(user_id, filters), user_id)
            if is_message(fact) and fact.source.role == "user"
        ]
        said.sort(key=lambda fact: fact.source.position or 0)
        asking = next((fact for fact in said if fact.id == request.id), None)
        before = None
        for fact in said:
            if asking is None or fact.id == asking.id:
                return before
            if fact.scope == asking.scope:
                before = fact.id
        return None

    def _settle(self, asked: ForgetRequest, user_id: str, whole: Sequence[SessionKey]) -> None:
        """Drop the requests of what was forgotten as a whole; settle those for the same subject."""
        subject = (asked.query or asked.entity or "").casefold()
        with self._ledger.exclusive(user_id):
            if whole:
                drop_requests(self._ledger, user_id, [key.session_id for key in whole])
            if subject:
                now = self._clock.now()
                settle_requests(self._ledger, user_id, "done", now, partial(_is_about, subject))

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
        if subject := (asked.query or asked.entity or "").casefold():
            named = self._with_requests(named, asked.user_id, subject)
        if asked.keep_source:
            return Reach({fact.id: fact for fact in named.facts})
        sources = asked.names_content or filters.goes_beyond(*_OUTER)
        sources &= asked.source is None  # what a source said goes; what it was drawn from stays
        return reach(self._ledger, asked.user_id, named.facts, named.sentences, sources=sources)

    def _with_requests(self, named: Named, user_id: str, subject: str) -> Named:
        """Return what is named with the words of the open requests for the same subject."""
        requests = read_requests(self._ledger, user_id)
        asking = [one for one in requests if one.state in OPEN and _is_about(subject, one)]
        if not asking:
            return named
        words = words_of_requests(self._ledger, asking)
        sentences = {
            one: {*named.sentences.get(one, ()), *words.get(one, ())}
            for one in (*named.sentences, *words)
        }
        return Named(named.facts, sentences)

    def _sessions(self, user_id: str, filters: Filters) -> Sequence[SessionKey]:
        """Return the sessions that are forgotten as a whole."""
        if filters.goes_beyond("session_id"):
            return ()
        if filters.session_id is not None:
            return (SessionKey(user_id, filters.session_id),)
        return [SessionKey(user_id, one) for one in self._ledger.session_ids(user_id)]


def _is_about(subject: str, request: RequestToForget) -> bool:
    return request.scope == "subject" and request.subject.casefold() == subject
