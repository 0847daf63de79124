"""Sessions shared with other workers, each of which looks for waiting ones every few seconds."""

from __future__ import annotations

from semantic_memory.domain.messages import SessionKey
from semantic_memory.ledger.sql import records

_UNEXTRACTED = """
    SELECT user_id, session_id FROM cursors WHERE stage = 'stored' AND position > extracted
    ORDER BY user_id, session_id
"""


class SessionReader(records.SessionReader):
    """The role `Sessions`."""

    def unextracted(self) -> list[SessionKey]:
        """Return the sessions with stored messages that extraction hasn't come to, sorted."""
        with self._connections.snapshot() as db:
            return [SessionKey(*row) for row in db.execute(_UNEXTRACTED)]
