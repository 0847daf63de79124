"""Requests to forget, said in conversations: list them, settle them, or do them at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from semantic_memory.application.forgetting import Forgetting
from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.events import ForgetSettled
from semantic_memory.domain.forget_requests import RequestState, RequestToForget
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Clock, Ledger, Observer
from semantic_memory.domain.requests import ForgetRequest, RequestsRequest, SettleRequest
from semantic_memory.pipeline.forget_requests import (
    read_requests,
    settle_requests,
    waiting_users,
)
from semantic_memory.pipeline.pipeline import Pipeline
from semantic_memory.pipeline.stage import SETTLE, Outlook

REASON = "asked for in the conversation"


class Asking:
    """Manage requests to forget; a stage of the pipeline that does them `at_once`. Thread-safe.

    A request to forget everything always waits: what was only understood so can't be brought back.
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
    ) -> None:
        self._ledger = ledger
        self._pipeline = pipeline
        self._forgetting = forgetting
        self._clock = clock
        self._observe = observe
        self._at_once = at_once

    def requests(self, asked: RequestsRequest) -> list[RequestToForget]:
        """Return a user's requests, the latest first."""
        self._pipeline.store_user(asked.user_id)
        return read_requests(self._ledger, asked.user_id)

    def settled(self, key: SessionKey) -> Collection[str]:
        """Return the messages of a session whose requests are settled."""
        found = read_requests(self._ledger, key.user_id)
        return {
            one.message_id
            for one in found
            if one.session_id == key.session_id and one.state != "pending"
        }

    def settle(self, asked: SettleRequest) -> RequestToForget:
        """Settle a request; a settled one stays as it is. Raises NotFoundError."""
        self._pipeline.store_user(asked.user_id)
        known = read_requests(self._ledger, asked.user_id)
        found = next((one for one in known if one.id == asked.request_id), None)
        if found is None:
            raise NotFoundError(f"no request {asked.request_id!r}")
        if found.state != "pending":
            return found
        if asked.answer == "forget":
            self._forget(asked.user_id, found)
        state: RequestState = "declined" if asked.answer == "decline" else "done"
        now = self._clock.now()
        with self._ledger.exclusive(asked.user_id):
            settle_requests(self._ledger, asked.user_id, state, now, lambda one: one.id == found.id)
        self._observe(
            ForgetSettled(asked.user_id, found.session_id, found.message_id, asked.answer)
        )
        return found.model_copy(update={"state": state, "settled_at": now, "subject": ""})

    def pending(self) -> Iterable[str]:
        """Return the users whose requests are to be done at once."""
        if not self._at_once:
            return []
        return [one for one in waiting_users(self._ledger) if self._subjects(one)]

    def run(self, item: str) -> None:
        """Do the requests of a user."""
        for one in self._subjects(item) if self._at_once else ():
            self.settle(SettleRequest.of(one.id, user_id=item, answer="forget"))

    def outlook(self) -> Outlook:
        """Count the users whose requests wait."""
        return Outlook("forgetting", len([*self.pending()]))

    def _pending(self, user_id: str) -> list[RequestToForget]:
        return [one for one in read_requests(self._ledger, user_id) if one.state == "pending"]

    def _subjects(self, user_id: str) -> list[RequestToForget]:
        return [one for one in self._pending(user_id) if one.scope == "subject"]

    def _forget(self, user_id: str, request: RequestToForget) -> None:
        what = (
            ForgetRequest.of(user_id=user_id, everything=True, reason=REASON)
            if request.scope == "everything"
            else ForgetRequest.of(user_id=user_id, query=request.subject, reason=REASON)
        )
        self._forgetting.forget(what)
