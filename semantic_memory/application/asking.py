"""Requests to forget, said in conversations: list them, settle them, or do them at once."""

from __future__ import annotations

from collections.abc import Iterable

from semantic_memory.application.forgetting import Forgetting
from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.events import ForgetSettled
from semantic_memory.domain.fields import Answer
from semantic_memory.domain.forget_requests import Asked, RequestState, RequestToForget
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Clock, Ledger, Observer
from semantic_memory.domain.requests import RequestsRequest, SettleRequest
from semantic_memory.pipeline.forget_requests import (
    OPEN,
    read_requests,
    settle_requests,
    waiting_users,
)
from semantic_memory.pipeline.pipeline import Pipeline
from semantic_memory.pipeline.stage import SETTLE, Outlook


class Asking:
    """Manage requests to forget; a stage of the pipeline that does the confirmed ones. Thread-safe.

    With `at_once` it does all but those for everything, which wait for a second word: what was
    only understood so can't be brought back.
    """

    name = SETTLE

    def __init__(
        self,
        ledger: Ledger,
        pipeline: Pipeline,
        forgetting: Forgetting,
        clock: Clock,
        observe: Observer,
        *,
        at_once: bool,
        withholds: bool,
    ) -> None:
        """Keep what open requests ask to forget out of blocks if it `withholds`."""
        self._ledger = ledger
        self._pipeline = pipeline
        self._forgetting = forgetting
        self._clock = clock
        self._observe = observe
        self._at_once = at_once
        self._withholds = withholds

    def requests(self, asked: RequestsRequest) -> list[RequestToForget]:
        """Return a user's requests, the latest first."""
        self._pipeline.store_user(asked.user_id)
        return read_requests(self._ledger, asked.user_id)

    def waiting(self, key: SessionKey) -> dict[str, Asked]:
        """Return the requests of a session that aren't settled, by message."""
        found = reversed(self.requests(RequestsRequest.of(user_id=key.user_id)))
        return {
            one.message_id: Asked(one.scope, one.subject)
            for one in found
            if one.session_id == key.session_id and one.state in OPEN
        }

    def withheld(self, user_id: str) -> set[str]:
        """Return the ids of memories that open requests keep out of blocks."""
        if not self._withholds:
            return set()
        open_ones = [one for one in read_requests(self._ledger, user_id) if one.state in OPEN]
        return {
            fact_id
            for one in open_ones
            for fact_id in (one.id, *self._forgetting.taken_by(user_id, one))
        }

    def settle(self, asked: SettleRequest) -> RequestToForget:
        """Settle a request; a settled one stays as it is. Raises NotFoundError."""
        self._pipeline.store_user(asked.user_id)
        known = read_requests(self._ledger, asked.user_id)
        found = next((one for one in known if one.id == asked.request_id), None)
        if found is None:
            raise NotFoundError(f"no request {asked.request_id!r}")
        if found.state not in OPEN:
            return found
        return self._settled(asked.user_id, found, asked.answer)

    def pending(self) -> Iterable[str]:
        """Return the users with requests that are to be done."""
        return [one for one in waiting_users(self._ledger) if self._due(one)]

    def run(self, item: str) -> None:
        """Do the requests of a user."""
        for one in self._due(item):
            self._settled(item, one, "forget")

    def outlook(self) -> Outlook:
        """Count the users whose requests are to be done."""
        return Outlook("forgetting", len([*self.pending()]))

    def _due(self, user_id: str) -> list[RequestToForget]:
        return [
            one
            for one in read_requests(self._ledger, user_id)
            if one.state == "confirmed"
            or (self._at_once and one.state == "pending" and one.scope != "everything")
        ]

    def _settled(self, user_id: str, found: RequestToForget, answer: Answer) -> RequestToForget:
        state: RequestState = "declined" if answer == "decline" else "done"
        if answer == "forget":
            self._move(user_id, found, "confirmed")  # first, so that a kill leaves it to be done
            self._forgetting.carry_out(user_id, found)
        elif answer == "done":
            self._forgetting.erase_words(user_id, found)
        self._move(user_id, found, state)
        self._observe(ForgetSettled(user_id, found.session_id, found.message_id, answer))
        now = self._clock.now()
        return found.model_copy(update={"state": state, "settled_at": now, "subject": ""})

    def _move(self, user_id: str, request: RequestToForget, state: RequestState) -> None:
        now = self._clock.now()
        with self._ledger.exclusive(user_id):
            settle_requests(self._ledger, user_id, state, now, lambda one: one.id == request.id)
