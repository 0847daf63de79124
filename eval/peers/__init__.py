"""Other memory systems beside this one, each in an environment of its own.

What runs in a peer's environment imports the standard library, numpy and the peer alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

Texts: TypeAlias = Sequence[tuple[str, str]]
"""Pairs of a user and a text."""


class Peer(Protocol):
    """A system that holds texts of users on disk, opened in a directory."""

    def add(self, user: str, texts: Sequence[str]) -> None:
        """Add texts of a user by what the system has for many at once; they are found then."""

    def search(self, user: str, question: str, k: int) -> int:
        """Search a user's texts; return the number of results."""

    def settle(self) -> None:
        """Wait for work in the background, and write what is in RAM alone."""

    def close(self) -> None:
        """Close the store."""
