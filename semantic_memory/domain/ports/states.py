"""The interface to the saved states of windows and tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from semantic_memory.domain.messages import SessionKey


class Saved(NamedTuple):
    """A state: data of a version of its model."""

    version: int
    data: Mapping[str, Any]


class StatePlace(Protocol):
    """Place of one state. Every method raises StoreUnavailableError."""

    @property
    def name(self) -> str:
        """The place, as messages call it."""
        ...

    def load(self) -> Saved | None:
        """Return the state saved last, or None if there is none.

        Raises StoreCorruptError for one that is damaged.
        """
        ...

    def save(self, state: Saved) -> None:
        """Save a state, durably. Raises SchemaTooNewError if a newer version is saved; it stays."""
        ...

    def clear(self) -> None:
        """Delete the state."""
        ...


class States(Protocol):
    """The states of all sessions. Every method raises StoreUnavailableError."""

    def window(self, key: SessionKey) -> StatePlace:
        """Return the place of a session's window."""
        ...

    def task(self, key: SessionKey, name: str) -> StatePlace:
        """Return the place of a task's checkpoint."""
        ...

    def drop_window(self, key: SessionKey) -> None:
        """Delete the window of a session, which is filled from its log again."""
        ...

    def drop(self, user_id: str, session_id: str | None = None) -> None:
        """Delete the windows and checkpoints of a user or of one session."""
        ...


class CopiedStates(States, Protocol):
    """`States` that can be copied to others."""

    def sessions(self) -> Iterable[SessionKey]:
        """Return the sessions that have a state, as far as the place names them."""
        ...

    def unnamed(self, known: Iterable[SessionKey]) -> int:
        """Count the sessions with a state that are not `known`, and whose names it can't tell."""
        ...

    def saved(self, key: SessionKey) -> Iterable[tuple[str, Saved]]:
        """Yield the states of a session, each with its name, the same wherever it is kept."""
        ...

    def restore(self, key: SessionKey, name: str, state: Saved) -> None:
        """Save a state under a name that `saved` gave."""
        ...
