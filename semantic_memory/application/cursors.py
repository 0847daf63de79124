"""Cursors of listings: a place in one, sealed into a text that callers hand back."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from datetime import UTC, datetime
from typing import NamedTuple

from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.fields import CURSOR_MARK
from semantic_memory.domain.ports import Position
from semantic_memory.domain.requests import ListRequest


class Cursor(NamedTuple):
    """A place in a listing, and the time of the listing's first page."""

    position: Position
    asked_at: datetime


def sealed(cursor: Cursor, asked: ListRequest) -> str:
    """Return a cursor as text, bound to the listing that it continues."""
    place = cursor.position
    values = [
        place.key,
        place.num,
        place.revision,
        place.last,
        cursor.asked_at.timestamp(),
        _digest(asked),
    ]
    written = json.dumps(values, separators=(",", ":")).encode()
    return CURSOR_MARK + base64.urlsafe_b64encode(written).decode().rstrip("=")


def opened(text: str, asked: ListRequest) -> Cursor:
    """Return the cursor of a text. Raises InvalidInputError if it is of another listing."""
    coded = text.removeprefix(CURSOR_MARK)
    try:
        values = json.loads(base64.urlsafe_b64decode(coded + "=" * (-len(coded) % 4)))
        key, num, revision, last, asked_at, digest = values
        place = Position(key + 0, int(num), int(revision), int(last))
        at = datetime.fromtimestamp(asked_at, UTC)
    except (ValueError, TypeError, OverflowError, OSError, binascii.Error, RecursionError):
        raise InvalidInputError(
            f"list: {text[:40]!r} is no cursor: give the one of the page before, as it was"
        ) from None
    if digest != _digest(asked):
        raise InvalidInputError(
            "list: the cursor is of another listing: give the same user, filters, status and sort"
            " as for its page, or start without it"
        )
    return Cursor(place, at)


def _digest(asked: ListRequest) -> str:
    """Return a digest of everything that makes a listing but the size of its pages."""
    filters = asked.filters.model_dump(mode="json", exclude_defaults=True, exclude={"limit"})
    for name, value in filters.items():
        if isinstance(getattr(asked.filters, name), frozenset):
            filters[name] = sorted(value, key=json.dumps)  # names, and null
    given = json.dumps([asked.user_id, asked.status, filters], sort_keys=True)
    return hashlib.blake2b(given.encode(), digest_size=6).hexdigest()
