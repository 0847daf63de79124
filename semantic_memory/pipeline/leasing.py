"""Hold leases while work continues, however they are granted.

A lease keeps several workers from doing the same at once, above all from paying for it twice. It
doesn't make results right: a worker may be paused, continue when another has taken over, and learn
of it too late. What is committed is checked against the ledger's cursors, marks and revisions.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from semantic_memory.domain.errors import StoreError
from semantic_memory.domain.ports import Lease, Leases

_SECONDS = 30.0
_BEATS = 3  # renewals within a lease's time, so that one may fail


class _Granted:
    """A lease of the only process, or of what all may do at once."""

    fence = 0
    held = True

    def renew(self) -> bool:
        return True

    def release(self) -> None:
        pass


GRANTED = _Granted()


class LocalLeases:
    """The leases of a store that one process has to itself: each is granted, and never lost."""

    shared = False

    def take(self, name: str, seconds: float) -> Lease:
        """Grant it."""
        del name, seconds
        return GRANTED


class Leasing:
    """Hold leases, renewed by one thread for all of them if there are other processes."""

    def __init__(self, leases: Leases, seconds: float = _SECONDS) -> None:
        """Take each lease for `seconds`, in which others can't take over from a killed process."""
        self._leases = leases
        self._seconds = seconds
        self.shared = leases.shared
        """Other processes work on the same store."""
        self._changed = threading.Condition()
        self._held: set[Lease] = set()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    @contextmanager
    def held(self, name: str) -> Iterator[Lease | None]:
        """Hold the lease of a name while the context lasts; None while another worker has it.

        Raises StoreError.
        """
        lease = self._leases.take(name, self._seconds)
        if lease is None or not self.shared:
            yield lease
            return
        self._keep(lease)
        try:
            yield lease
        finally:
            with self._changed:
                self._held.discard(lease)
            with suppress(StoreError):  # its time will be over
                lease.release()

    def close(self) -> None:
        """Renew nothing any more."""
        self._closed.set()
        with self._changed:
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(self._seconds)

    def _keep(self, lease: Lease) -> None:
        with self._changed:
            self._held.add(lease)
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat, name="leases", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _beat(self) -> None:
        while not self._closed.is_set():
            with self._changed:
                self._changed.wait_for(lambda: self._held or self._closed.is_set())
            self._closed.wait(self._seconds / _BEATS)
            with self._changed:
                held = [*self._held]
            for lease in held:
                if lease.held:  # what may have been lost is left to the new holder
                    with suppress(StoreError):  # it is tried again until its time is over
                        lease.renew()
