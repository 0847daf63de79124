"""Times of statements that lie ahead of the clock: they would win over all that is said later."""

from __future__ import annotations

from datetime import datetime, timedelta

from semantic_memory.domain.errors import InvalidInputError

MOST_AHEAD = timedelta(days=1)
"""Most that a statement may be dated ahead: clocks and time zones differ by less."""


def is_ahead(at: datetime | None, now: datetime) -> bool:
    """Return True if a time is more than a day ahead of `now`."""
    return at is not None and at - now > MOST_AHEAD


def refuse_ahead(at: datetime | None, now: datetime, place: str) -> None:
    """Raise InvalidInputError, which names the `place`, for a time more than a day ahead."""
    if at is not None and is_ahead(at, now):
        raise InvalidInputError(
            f"{place}: created_at {at.isoformat()} is more than a day ahead of the store's clock,"
            f" {now.isoformat(timespec='seconds')}: give the time when it was said, or leave it out"
        )
