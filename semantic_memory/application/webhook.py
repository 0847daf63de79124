"""Delivers the feed of changes to an endpoint, at least once and in each user's order.

The place behind what was delivered is kept in the ledger, and an event is sent again until the
endpoint takes it, or until it has failed so often that it goes to the dead letters. Threads of its
own wait for the endpoint; nothing else does. Of several processes, one delivers; what it was
sending when it was killed or paused, the next one sends again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from http import HTTPStatus

from semantic_memory.application.dead_letters import CURSOR, DeadLetters, delivered
from semantic_memory.application.lanes import Lanes
from semantic_memory.concurrency import Backoff
from semantic_memory.domain.errors import DeliveryError, StoreClosedError, StoreError
from semantic_memory.domain.events import Event, EventsDelivered, WebhookDisabled, WorkerFailed
from semantic_memory.domain.feed import EventKind, MemoryEvent
from semantic_memory.domain.ports import Clock, Delivery, Lease, Ledger
from semantic_memory.pipeline.leasing import Leasing, LocalLeases

_READ_AT_ONCE = 500
_WINDOW = 5_000  # events that are read and not done with: so many may come twice after a kill
_SECONDS = 10.0
_UNKEPT = 1_000  # events that are done with before the place behind them is kept
_KEEP_SECONDS = 0.5
_STEP = "webhook"
_LOOK_SECONDS = 2.0  # for events, and for the lease, of other processes
_PASSING = frozenset({408, 409, 425, 429})  # statuses of 4xx that don't speak of the event


class Webhook:
    """Threads that deliver what happens, from the first start on, until it is closed.

    It closes the delivery then.
    """

    def __init__(
        self,
        ledger: Ledger,
        to: Delivery,
        kinds: Collection[EventKind],
        clock: Clock,
        observe: Callable[[Event], None],
        backoff: Backoff = Backoff(),  # noqa: B008 - immutable
        leasing: Leasing | None = None,
        *,
        senders: int = 8,
        at_once: int = 1,
        attempts: int = 12,
    ) -> None:
        """Without `leasing`, no other process works on the store.

        `senders` messages of different users are under way at a time, of `at_once` events each; an
        event that failed `attempts` times is given up.
        """
        self._ledger = ledger
        self._to = to
        self._kinds = kinds
        self._clock = clock
        self._observe = observe
        self._backoff = backoff
        self._leasing = leasing or Leasing(LocalLeases())
        self._senders = senders
        self._at_once = at_once
        self._attempts = attempts
        self._dead = DeadLetters(ledger)
        self._woken = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="semantic-memory-webhook")
        self._thread.daemon = True
        self._stop: Callable[[], None] | None = None
        self._kept = 0

    def start(self) -> None:
        """Begin, behind what was delivered before."""
        self._stop = self._ledger.on_commit(self._woken.set)
        with self._ledger.exclusive(CURSOR):
            place = delivered(self._ledger)
            if place is None:
                place = self._ledger.last_event()
                self._ledger.set_meta(CURSOR, str(place))
        self._dead.enable(self._to.name)
        if (lost := self._ledger.first_event() - 1 - place) > 0:
            # Nothing was to be delivered meanwhile; from now on, they are kept until they are.
            said = f"{lost:,} events were removed from the feed while webhook.url wasn't set"
            self._observe(WorkerFailed(_STEP, said, retry_seconds=0.0))
        self._thread.start()

    def _run(self) -> None:
        failures = 0
        while not self._closing.is_set():
            try:
                with self._leasing.held(_STEP) as lease:
                    if lease is not None and not self._dead.disabled():
                        self._deliver(lease)
                failures = 0
            except StoreClosedError:
                break
            except Exception as error:  # the thread's outermost loop: told, and tried again
                failures += 1
                pause = self._backoff.pause(failures)
                self._observe(WorkerFailed(_STEP, _said(error), pause, repeated=failures > 1))
                self._closing.wait(pause)
            else:
                self._closing.wait(_LOOK_SECONDS)

    def _deliver(self, lease: Lease) -> None:
        """Deliver events as they come, until the lease is lost or this is closed."""
        read = self._kept = delivered(self._ledger) or 0
        look = _LOOK_SECONDS if self._leasing.shared else None
        kept_at = time.monotonic()
        with self._sending() as lanes:
            lanes.put([], read)
            while lease.held and not self._closing.is_set() and not self._dead.disabled():
                self._woken.clear()
                self._replay()
                busy = False
                if len(lanes) < _WINDOW:
                    page = self._ledger.events(read, _READ_AT_ONCE, kinds=self._kinds)
                    busy = bool(page)
                    read = page.next
                    lanes.put(page, read)
                if lanes.place() - self._kept >= _UNKEPT or (
                    len(lanes) and time.monotonic() - kept_at >= _KEEP_SECONDS
                ):
                    self._keep(lanes.place())
                    kept_at = time.monotonic()
                if not busy:
                    if not len(lanes):
                        self._keep(lanes.place(), least=bool(self._kinds) and _UNKEPT)
                    self._woken.wait(_KEEP_SECONDS if len(lanes) else look)

    @contextmanager
    def _sending(self) -> Iterator[Lanes]:
        """Run the threads that send; keep what they have done in the end."""
        lanes = Lanes(self._at_once, self._backoff)
        threads = [
            threading.Thread(target=self._send, args=(lanes,), name=f"webhook {n}", daemon=True)
            for n in range(self._senders)
        ]
        for thread in threads:
            thread.start()
        try:
            yield lanes
        finally:
            lanes.end()
            end = time.monotonic() + _SECONDS
            for thread in threads:
                thread.join(max(0.0, end - time.monotonic()))
            with suppress(StoreError):  # what isn't kept is sent again
                self._keep(lanes.place())

    def _send(self, lanes: Lanes) -> None:
        while (taken := lanes.take()) is not None:
            user_id, events = taken
            try:
                self._to.send(events, self._clock.now())
            except Exception as error:  # the thread's outermost loop: told, and tried again
                try:
                    self._failed(lanes, user_id, events, error)
                except StoreError:  # it can't be listed now
                    lanes.wait(user_id, 1)
            else:
                lanes.done(user_id, len(events))
                self._observe(EventsDelivered("delivered", len(events)))
            if not len(lanes):
                self._woken.set()

    def _failed(
        self, lanes: Lanes, user_id: str, events: Sequence[MemoryEvent], error: Exception
    ) -> None:
        status = error.status if isinstance(error, DeliveryError) else None
        failures, others_taken = lanes.failed(user_id)
        self._observe(EventsDelivered("failed", len(events)))
        if status == HTTPStatus.GONE:
            self._dead.disable(self._to.name)
            self._observe(WebhookDisabled())
            self._woken.set()
        # While the endpoint takes nothing at all, it is away; an event is at fault otherwise.
        at_fault = others_taken or (status is not None and 400 <= status < 500)
        if failures >= self._attempts and at_fault and status not in (*_PASSING, HTTPStatus.GONE):
            numbers = [event.id for event in events]
            if self._dead.add(numbers, _said(error), failures, self._clock.now()):
                lanes.done(user_id, len(events), delivered=False)
                self._observe(EventsDelivered("dead", len(events)))
                return
        pause = lanes.wait(user_id, failures)
        self._observe(WorkerFailed(_STEP, _said(error), pause, repeated=failures > 1))

    def _replay(self) -> None:
        """Send the dead letters again that are to be; those that fail stay dead."""
        for number in self._dead.replayed():
            if self._closing.is_set():
                return
            events = [one for one in self._ledger.events(number - 1, 1) if one.id == number]
            try:
                if events:  # else it was removed from the feed
                    self._to.send(events, self._clock.now())
            except DeliveryError as error:
                self._dead.remove([number])
                self._dead.add([number], _said(error), self._attempts + 1, self._clock.now())
                self._observe(EventsDelivered("failed", 1))
            else:
                self._dead.remove([number])
                self._observe(EventsDelivered("delivered", len(events)))

    def _keep(self, place: int, least: int = 1) -> None:
        """Keep the place behind what was dealt with, unless another process has come further."""
        if place - self._kept < max(1, least):
            return
        with self._ledger.exclusive(CURSOR):  # the name of no user, but of what is kept
            if place > (delivered(self._ledger) or 0):
                self._ledger.set_meta(CURSOR, str(place))
        self._kept = place

    def close(self) -> None:
        """Wait for the deliveries under way, for 10 s at most, and start no other."""
        self._closing.set()
        self._woken.set()
        if self._stop is not None:
            self._stop()
        if self._thread.is_alive():
            self._thread.join(_SECONDS)
        self._to.close()


def _said(error: Exception) -> str:
    """Describe a failure; the text of an unforeseen one may hold what is secret."""
    known = isinstance(error, DeliveryError | StoreError)
    return str(error) if known else type(error).__name__
