"""Erase memories and what goes with them: from the ledger, then from session logs and windows.

One transaction forgets the memories and records which logs hold their texts. A process that is
killed before the logs are rewritten does so when the store is opened again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from semantic_memory.application.reach import Reach
from semantic_memory.domain.actor import actor
from semantic_memory.domain.changes import Change, Cut, Forget, Redact
from semantic_memory.domain.events import MemoriesForgotten, PinnedForgotten
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Clock, Ledger, Observer
from semantic_memory.pipeline.pipeline import Pipeline
from semantic_memory.session.session import state_path

_WINDOW = "window*.json"


class Erasing:
    """Carry out what a user forgets. Thread-safe.

    `windows` is the directory of the windows and checkpoints of sessions.
    """

    def __init__(
        self, ledger: Ledger, pipeline: Pipeline, windows: Path, clock: Clock, observe: Observer
    ) -> None:
        self._ledger = ledger
        self._pipeline = pipeline
        self._windows = windows
        self._clock = clock
        self._observe = observe

    def resume(self) -> None:
        """Rewrite the logs that an earlier process left with texts that are to be erased."""
        self._rewrite(self._ledger.redactions())

    def erase(
        self,
        user_id: str,
        reached: Callable[[], Reach],
        reason: str,
        *,
        whole: Collection[SessionKey] = (),
        besides: Iterable[Change] = (),
    ) -> Reach:
        """Erase what `reached` returns; sessions in `whole` lose log, window and options as well.

        `besides` are changes of the same transaction.
        """
        found = reached()
        while True:
            sessions = found.places.keys() | set(whole)
            with self._pipeline.held(sessions):
                with self._ledger.exclusive():
                    found = reached()
                    if held := found.places.keys() <= sessions:
                        redacts = _redacts(found, whole)
                        self._ledger.apply(
                            [*self._changes(found, reason), *besides, *redacts],
                        )
                if held:
                    self._redact(redacts)
                    break
        for key in found.places:
            self.drop_window(key)
        pinned = sum(fact.is_pinned for fact in found.gone.values())
        if pinned:
            self._observe(PinnedForgotten(user_id, pinned))
        self._observe(MemoriesForgotten(user_id, len(found.gone), len(found.left)))
        self._pipeline.changed(user_id)
        return found

    def _changes(self, found: Reach, reason: str) -> list[Change]:
        now, by = self._clock.now(), actor()
        return [
            *(Forget(one, now, reason, by) for one in found.gone),
            *(Cut(one, left, now, reason, by) for one, left in found.left.items()),
        ]

    def drop_window(self, key: SessionKey) -> None:
        """Delete the window of a session, which is filled from its log again."""
        for file in state_path(self._windows, *key).glob(_WINDOW):
            file.unlink(missing_ok=True)

    def _rewrite(self, redacts: Collection[Redact]) -> None:
        for redact in redacts:
            with self._pipeline.held([SessionKey(redact.user_id, redact.session_id)]):
                self._redact([redact])

    def _redact(self, redacts: Iterable[Redact]) -> None:
        """Rewrite logs whose locks are held, and drop the windows filled from them."""
        for redact in redacts:
            key = SessionKey(redact.user_id, redact.session_id)
            if redact.message_ids:
                self.drop_window(key)
            else:
                shutil.rmtree(state_path(self._windows, *key), ignore_errors=True)
            self._pipeline.redact(redact)


def _redacts(found: Reach, whole: Collection[SessionKey]) -> list[Redact]:
    """Return the logs to rewrite now; those of messages that go as a whole wait for compaction."""
    cut = [key for key in found.cut_places if key not in whole]
    return [
        *(Redact(*key, frozenset(found.places[key])) for key in cut),
        *(Redact(*key) for key in whole),
    ]
