"""Forget a topic, a time, a session, what meets a query, or a user, for good."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ingest.gate import Gate
from semantic_memory.application.erasing import Erasing
from semantic_memory.application.naming import Named, Naming
from semantic_memory.application.reach import Reach, reach
from semantic_memory.application.resolving import FilterResolver
from semantic_memory.domain.changes import Change, EraseLines
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Ledger
from semantic_memory.domain.reports import Forgotten
from semantic_memory.domain.requests import ForgetRequest
from semantic_memory.pipeline.pipeline import Pipeline
from semantic_memory.session.session import state_path

_SHOWN = 100
_OUTER = ("session_id", "since", "until")
"""Conditions on when and where something was said, not on what."""


class Forgetting:
    """Forget memories of every status, with the session logs and windows they came from.

    `windows` is the directory of the windows and checkpoints of sessions. Thread-safe.
    """

    def __init__(
        self,
        ledger: Ledger,
        pipeline: Pipeline,
        erasing: Erasing,
        windows: Path,
        resolver: FilterResolver,
        naming: Naming,
        gate: Gate,
    ) -> None:
        self._ledger = ledger
        self._pipeline = pipeline
        self._erasing = erasing
        self._windows = windows
        self._resolver = resolver
        self._naming = naming
        self._gate = gate

    def forget(self, asked: ForgetRequest) -> Forgotten:
        """Forget what meets all conditions, and what goes with it; a dry run only returns it."""
        user_id = asked.user_id
        filters = self._resolver.resolved(asked.joined(), user_id)
        self._pipeline.store()  # also what was said a moment ago
        reached = partial(self._reach, asked, filters)
        if asked.dry_run:
            found = reached()
            newest = list(found.gone.values())[: -_SHOWN - 1 : -1]
            return Forgotten(len(found.gone), newest, found.sentences)
        besides: list[Change] = []
        if not (asked.names_content or filters.goes_beyond("since", "until")):
            besides.append(EraseLines(user_id, *filters.bounds))
        whole = () if asked.names_content else self._sessions(user_id, filters)
        reason = self._gate.redacted(asked.reason)
        found = self._erasing.erase(user_id, reached, reason, whole=whole, besides=besides)
        if asked.everything:
            shutil.rmtree(state_path(self._windows, user_id), ignore_errors=True)
        return Forgotten(len(found.gone), (), found.sentences)

    def _reach(self, asked: ForgetRequest, filters: Filters) -> Reach:
        if asked.entity is not None:
            named = self._naming.naming(asked.entity, asked.user_id, filters)
        elif asked.query is not None:
            named = self._naming.about(asked.query, asked.user_id, filters)
        else:
            named = Named(self._ledger.get(self._ledger.ids(asked.user_id, filters)))
        if asked.keep_source:
            return Reach({fact.id: fact for fact in named.facts})
        sources = asked.names_content or filters.goes_beyond(*_OUTER)
        return reach(self._ledger, asked.user_id, named.facts, named.sentences, sources=sources)

    def _sessions(self, user_id: str, filters: Filters) -> Sequence[SessionKey]:
        """Return the sessions that are forgotten as a whole."""
        if filters.goes_beyond("session_id"):
            return ()
        if filters.session_id is not None:
            return (SessionKey(user_id, filters.session_id),)
        return [SessionKey(user_id, one) for one in self._ledger.session_ids(user_id)]
