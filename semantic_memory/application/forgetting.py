"""Forget a topic, a time, a session, what meets a query, or a user, for good."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from ingest.gate import Gate
from semantic_memory.application.resolving import FilterResolver
from semantic_memory.domain.actor import actor
from semantic_memory.domain.changes import EraseLines, Forget
from semantic_memory.domain.events import PinnedForgotten
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Clock, Ledger, Observer
from semantic_memory.domain.reports import Forgotten
from semantic_memory.domain.requests import ForgetRequest
from semantic_memory.pipeline.pipeline import Pipeline
from semantic_memory.session.session import state_path

_BATCH = 500
_SHOWN = 100


class Forgetting:
    """Forget memories of every status, with the session logs and windows they came from.

    `windows` is the directory of the windows and checkpoints of sessions. Thread-safe.
    """

    def __init__(
        self,
        ledger: Ledger,
        pipeline: Pipeline,
        windows: Path,
        resolver: FilterResolver,
        gate: Gate,
        clock: Clock,
        observe: Observer,
        changed: Callable[[str], None],
    ) -> None:
        self._ledger = ledger
        self._pipeline = pipeline
        self._windows = windows
        self._resolver = resolver
        self._gate = gate
        self._clock = clock
        self._observe = observe
        self._changed = changed

    def forget(self, asked: ForgetRequest) -> Forgotten:
        """Forget what meets all conditions; return the number of memories.

        A dry run only returns what would be forgotten. A session, or a user, that is forgotten as a
        whole loses its windows and session logs first: if the process is killed, asking again
        finishes it.
        """
        user_id = asked.user_id
        filters = self._resolver.resolved(asked.joined(), user_id)
        if asked.dry_run:
            return self._shown(user_id, filters)
        if not filters.goes_beyond("session_id"):
            self._forget_conversations(user_id, filters.session_id)
        else:
            self._pipeline.store()  # also what was said a moment ago
        number = pinned = 0
        reason = self._gate.redacted(asked.reason)
        with self._ledger.exclusive():
            ids = self._ledger.ids(user_id, filters)
            if not filters.goes_beyond("since", "until"):
                since, until = filters.bounds
                self._ledger.apply([EraseLines(user_id, since, until)])
            for start in range(0, len(ids), _BATCH):
                now = self._clock.now()
                batch = ids[start : start + _BATCH]
                pinned += sum(fact.is_pinned for fact in self._ledger.get(batch))
                changes = [Forget(one, now, reason, actor()) for one in batch]
                number += self._ledger.apply(changes)
        if pinned:
            self._observe(PinnedForgotten(user_id, pinned))
        self._changed(user_id)
        return Forgotten(number)

    def _shown(self, user_id: str, filters: Filters) -> Forgotten:
        """Return the number of memories that would be forgotten, and the newest of them."""
        self._pipeline.store()
        ids = self._ledger.ids(user_id, filters)
        return Forgotten(len(ids), self._ledger.get(ids[: -_SHOWN - 1 : -1]))

    def _forget_conversations(self, user_id: str, session_id: str | None) -> None:
        names = [user_id] if session_id is None else [user_id, session_id]
        shutil.rmtree(state_path(self._windows, *names), ignore_errors=True)
        sessions = self._pipeline.session_ids(user_id) if session_id is None else [session_id]
        for session in sessions:
            self._pipeline.forget_session(SessionKey(user_id, session))
