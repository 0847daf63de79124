"""Events that an endpoint didn't take: the list of them, and their return to the endpoint.

Kept by their numbers among the small values of the ledger; the events themselves are in the feed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime

from pydantic import TypeAdapter

from semantic_memory.consolidation.resolver import Outcome
from semantic_memory.domain.feed import MemoryEvent
from semantic_memory.domain.inspection import UndeliveredEvent
from semantic_memory.domain.ports import KeyValues, Ledger
from semantic_memory.domain.reports import DeadLetter, WebhookState

CURSOR = "webhook"
"""Key in the ledger's meta: the place behind what was delivered."""
MOST = 1_000
"""Dead letters that are kept. Once there are as many, nothing more is given up."""
_DEAD = "webhook dead"
_REPLAYED = "webhook replayed"
_DISABLED = "webhook disabled"
_LETTERS = TypeAdapter(tuple[DeadLetter, ...])
_NUMBERS = TypeAdapter(tuple[int, ...])


def delivered(ledger: KeyValues) -> int | None:
    """Return the place behind what was delivered; None before the first start."""
    place = ledger.meta(CURSOR)
    return None if place is None else int(place)


class DeadLetters:
    """The dead letters of a store, and whether its webhook is disabled. Thread-safe."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def state(self) -> WebhookState:
        """Return how far deliveries are."""
        return WebhookState(
            delivered=delivered(self._ledger),
            latest=self._ledger.last_event(),
            disabled=self.disabled(),
            dead=self.listed(),
        )

    def undelivered(self) -> tuple[UndeliveredEvent, ...]:
        """Return the dead letters with their events, the latest first."""
        return tuple(
            UndeliveredEvent(letter=letter, event=self._event(letter.event_id))
            for letter in reversed(self.listed())
        )

    def listed(self) -> tuple[DeadLetter, ...]:
        """Return the dead letters, oldest first."""
        return _LETTERS.validate_json(self._ledger.meta(_DEAD) or "[]")

    def add(self, numbers: Sequence[int], error: str, attempts: int, at: datetime) -> bool:
        """List events as dead; return False if there is no room."""
        with self._changing():
            known = {letter.event_id: letter for letter in self.listed()}
            for number in numbers:
                known[number] = DeadLetter(event_id=number, error=error, attempts=attempts, at=at)
            if len(known) > MOST:
                return False
            self._keep([known[number] for number in sorted(known)])
        return True

    def remove(self, numbers: Sequence[int]) -> None:
        """Take events off the list, as they were delivered or are gone from the feed."""
        with self._changing():
            gone = set(numbers)
            self._keep([one for one in self.listed() if one.event_id not in gone])
            left = [number for number in self.replayed() if number not in gone]
            self._ledger.set_meta(_REPLAYED, _NUMBERS.dump_json(tuple(left)).decode())

    def replayed(self) -> tuple[int, ...]:
        """Return the events that are to be sent again."""
        return _NUMBERS.validate_json(self._ledger.meta(_REPLAYED) or "[]")

    def redeliver(self, *, dry_run: bool) -> Iterator[Outcome]:
        """Have every dead letter sent again, and enable the webhook: an upkeep job."""
        outcome = Outcome()
        letters = self.listed()
        outcome.counts["redelivered"] = len(letters)
        if dry_run:
            outcome.planned.extend(
                f"send event {one.event_id:,} again, which failed {one.attempts} times: {one.error}"
                for one in letters
            )
        else:
            self.enable()
            with self._changing():
                numbers = tuple(letter.event_id for letter in letters)
                self._ledger.set_meta(_REPLAYED, _NUMBERS.dump_json(numbers).decode())
        yield outcome

    def disabled(self) -> bool:
        """Return True if the endpoint has asked for no further events, by 410."""
        return bool(self._ledger.meta(_DISABLED))

    def disable(self, endpoint: str) -> None:
        """Deliver nothing to this endpoint until the webhook is enabled, or has another one."""
        self._ledger.set_meta(_DISABLED, endpoint)

    def enable(self, endpoint: str | None = None) -> None:
        """Deliver again; if an endpoint is given, only if it isn't the one that was disabled."""
        kept = self._ledger.meta(_DISABLED)
        if kept and kept != endpoint:
            self._ledger.set_meta(_DISABLED, "")

    def _event(self, number: int) -> MemoryEvent | None:
        return next((one for one in self._ledger.events(number - 1, 1) if one.id == number), None)

    def _keep(self, letters: Sequence[DeadLetter]) -> None:
        self._ledger.set_meta(_DEAD, _LETTERS.dump_json(tuple(letters)).decode())

    def _changing(self) -> AbstractContextManager[None]:
        return self._ledger.exclusive(CURSOR)  # the name of no user, but of what is kept
