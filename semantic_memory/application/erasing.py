"""Erase memories and what goes with them: from the ledger, then from session logs and windows.

One transaction forgets the memories and records which logs hold their texts. A process that is
killed before the logs are rewritten does so when the store is opened again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial

from semantic_memory.application.reach import Reach
from semantic_memory.application.reserve import Room
from semantic_memory.application.rolling_back import reviving
from semantic_memory.domain.actor import actor
from semantic_memory.domain.changes import Change, Cut, Forget, Redact, Unquote
from semantic_memory.domain.events import MemoriesForgotten, PinnedForgotten
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Clock, Ledger, Observer
from semantic_memory.domain.ports.states import States
from semantic_memory.pipeline.forget_requests import settle_erased
from semantic_memory.pipeline.pipeline import Pipeline


class Erasing:
    """Carry out what a user forgets. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        pipeline: Pipeline,
        states: States,
        room: Room,
        clock: Clock,
        observe: Observer,
    ) -> None:
        self._ledger = ledger
        self._pipeline = pipeline
        self._states = states
        self._room = room
        self._clock = clock
        self._observe = observe

    def resume(self) -> None:
        """Rewrite the logs that an earlier process left with texts that are to be erased."""
        for redact in self._ledger.redactions():
            with self._pipeline.held([SessionKey(redact.user_id, redact.session_id)]):
                self._redact([redact])

    def erase(
        self,
        user_id: str,
        reached: Callable[[], Reach],
        reason: str,
        *,
        whole: Collection[SessionKey] = (),
        besides: Iterable[Change] = (),
        revives: bool = False,
    ) -> Reach:
        """Erase what `reached` returns; sessions in `whole` lose log, window and options as well.

        `besides` are changes of the same transaction, made before the others. With `revives`, facts
        that only what is erased had superseded are active again.
        """
        # those of a whole user or session name all sessions already: worked out once, not twice
        found = Reach() if whole else reached()
        while True:
            sessions = found.places.keys() | set(whole)
            with self._pipeline.held(sessions):
                with self._ledger.exclusive(user_id):
                    found = reached()
                    if held := found.places.keys() <= sessions:
                        redacts = _redacts(found, whole)
                        now = self._clock.now()
                        revived = reviving(self._ledger, found.gone, now) if revives else ()
                        gone = Unquote(user_id, frozenset((*found.gone, *found.left)))
                        changes = [
                            *besides,
                            *self._changes(found, reason),
                            *revived,
                            gone,
                            *redacts,
                        ]
                        self._room.lend(partial(self._ledger.apply, changes))
                if held:
                    self._room.lend(partial(self._redact, redacts))
                    break
        with self._ledger.exclusive(user_id):
            settle_erased(self._ledger, user_id, {*found.gone, *found.left}, self._clock.now())
        for key in found.places:
            self._states.drop_window(key)  # a session may have saved it again meanwhile
        pinned = sum(fact.is_pinned for fact in found.gone.values())
        if pinned:
            self._observe(PinnedForgotten(user_id, pinned))
        self._observe(MemoriesForgotten(user_id, len(found.gone), len(found.left)))
        self._pipeline.changed(user_id)
        return found

    def erase_said(self, key: SessionKey, message_id: str) -> None:
        """Erase a message from its log that no memory stands for, like one of recalled text."""
        redact = Redact(*key, frozenset({message_id}))
        with self._pipeline.held([key]):
            self._room.lend(partial(self._ledger.apply, [redact]))
            self._room.lend(partial(self._redact, [redact]))

    def _changes(self, found: Reach, reason: str) -> list[Change]:
        now, by = self._clock.now(), actor()
        return [
            *(Forget(one, now, reason, by) for one in found.gone),
            *(Cut(one, left, now, reason, by) for one, left in found.left.items()),
        ]

    def _redact(self, redacts: Collection[Redact]) -> None:
        """Rewrite logs whose locks are held, and drop the windows filled from them."""
        self._pipeline.owe(redacts)
        for redact in redacts:
            self._pipeline.redact(redact)


def _redacts(found: Reach, whole: Collection[SessionKey]) -> list[Redact]:
    """Return the logs to rewrite or remove."""
    return [
        *(Redact(*key, frozenset(ids)) for key, ids in found.places.items() if key not in whole),
        *(Redact(*key) for key in whole),
    ]
