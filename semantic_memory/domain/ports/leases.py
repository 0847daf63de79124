"""Leases: one of several workers owns a piece of work for some time."""

from __future__ import annotations

from typing import Protocol


class Lease(Protocol):
    """The right to do what a name stands for, until its time is over. Thread-safe."""

    @property
    def fence(self) -> int:
        """The number of this lease: higher than that of every earlier lease of the name."""
        ...

    @property
    def held(self) -> bool:
        """False once it was released, was lost, or may have been lost."""
        ...

    def renew(self) -> bool:
        """Begin its time again; return False if it was released, or another has the name.

        A lease whose time is over is renewed nevertheless if nobody took the name meanwhile. Raises
        StoreError if that can't be found out.
        """
        ...

    def release(self) -> None:
        """Let others have the name. Raises StoreError."""
        ...


class Leases(Protocol):
    """Grants leases. Thread-safe."""

    @property
    def shared(self) -> bool:
        """Other processes work on the same store, and take leases too."""
        ...

    def take(self, name: str, seconds: float) -> Lease | None:
        """Take a name for so many seconds; return None while another lease of it lasts.

        Raises StoreError.
        """
        ...
