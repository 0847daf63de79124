"""Reading a user's facts page by page."""

from __future__ import annotations

from semantic_memory.ledger.sql import listing
from semantic_memory.ledger.sql.part import Database


class ListingReader(listing.ListingReader):
    """The role `Listing`."""

    def _state(self, db: Database, user_id: str) -> tuple[int, int | None]:
        found: tuple[int, int] = db.execute(
            "SELECT coalesce((SELECT revision FROM users WHERE user_id = ?), 0),"
            " coalesce((SELECT max(num) FROM facts WHERE user_id = ?), 0)",
            (user_id, user_id),
        ).fetchone()
        return found
