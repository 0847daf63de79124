"""Delivers the feed of changes to an endpoint, at least once and in order.

The place behind what was delivered is kept in the ledger, and an event is sent again until the
endpoint takes it. A thread of its own waits for the endpoint; nothing else does. Of several
processes, one delivers; what it was sending when it was killed or paused, the next one sends again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from contextlib import suppress

from semantic_memory.concurrency import Backoff
from semantic_memory.domain.errors import DeliveryError, StoreClosedError, StoreError
from semantic_memory.domain.events import Event, WorkerFailed
from semantic_memory.domain.feed import EventKind
from semantic_memory.domain.ports import Clock, Delivery, KeyValues, Lease, Ledger
from semantic_memory.pipeline.leasing import Leasing, LocalLeases

_CURSOR = "webhook"  # key in the ledger's meta
_AT_ONCE = 100
_SECONDS = 10.0
_UNKEPT = 1_000  # events that are passed over before the place behind them is kept
_STEP = "webhook"
_LOOK_SECONDS = 2.0  # for events, and for the lease, of other processes


def delivered(ledger: KeyValues) -> int | None:
    """Return the place behind what was delivered; None before the first start."""
    place = ledger.meta(_CURSOR)
    return None if place is None else int(place)


class Webhook:
    """A thread that delivers what happens, from its first start on, until it is closed.

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
    ) -> None:
        """Without `leasing`, no other process works on the store."""
        self._ledger = ledger
        self._to = to
        self._kinds = kinds
        self._clock = clock
        self._observe = observe
        self._backoff = backoff
        self._leasing = leasing or Leasing(LocalLeases())
        self._woken = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="semantic-memory-webhook")
        self._thread.daemon = True
        self._stop: Callable[[], None] | None = None
        self._after = self._kept = 0

    def start(self) -> None:
        """Begin, behind what was delivered before."""
        self._stop = self._ledger.on_commit(self._woken.set)
        with self._ledger.exclusive(_CURSOR):
            place = delivered(self._ledger)
            if place is None:
                place = self._ledger.last_event()
                self._ledger.set_meta(_CURSOR, str(place))
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
                    if lease is not None:
                        self._deliver(lease)
                failures = 0
            except StoreClosedError:
                break
            except Exception as error:  # the thread's outermost loop: told, and tried again
                failures += 1
                self._failed(error, failures)
            else:
                self._closing.wait(_LOOK_SECONDS)

    def _deliver(self, lease: Lease) -> None:
        """Deliver events as they come, until the lease is lost or this is closed."""
        self._after = self._kept = delivered(self._ledger) or 0
        look = _LOOK_SECONDS if self._leasing.shared else None
        failures = 0
        try:
            while lease.held:
                self._woken.clear()
                if self._closing.is_set():  # in between, by another thread, whose call was cleared
                    break
                try:
                    if not self._deliver_some(lease):
                        self._woken.wait(look)
                    failures = 0
                except StoreClosedError:
                    raise
                except Exception as error:  # the lease is kept: another process would fail as well
                    failures += 1
                    self._failed(error, failures)
        finally:
            with suppress(StoreError):  # events that were skipped are skipped again
                self._keep()

    def _failed(self, error: Exception, failures: int) -> None:
        pause = self._backoff.pause(failures)
        self._observe(WorkerFailed(_STEP, _said(error), pause, repeated=failures > 1))
        self._closing.wait(pause)

    def _deliver_some(self, lease: Lease) -> bool:
        """Deliver the next events; return False if there are none."""
        page = self._ledger.events(self._after, _AT_ONCE, kinds=self._kinds)
        try:
            for event in page:
                if self._closing.is_set() or not lease.held:
                    return True
                self._to.send(event, self._clock.now())
                self._after = event.id
            self._after = page.next
        finally:
            if page or self._after - self._kept >= _UNKEPT:
                self._keep()
        return bool(page)

    def _keep(self) -> None:
        """Keep the place behind what was dealt with, unless another process has come further."""
        if self._after == self._kept:
            return
        with self._ledger.exclusive(_CURSOR):  # the name of no user, but of what is kept
            if self._after > (delivered(self._ledger) or 0):
                self._ledger.set_meta(_CURSOR, str(self._after))
        self._kept = self._after

    def close(self) -> None:
        """Wait for the delivery under way, for 10 s at most, and start no other."""
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
