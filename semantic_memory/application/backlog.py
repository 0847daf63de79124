"""Tell how much is left to do between what was taken in and what can be found."""

from __future__ import annotations

from collections.abc import Callable

from semantic_memory.domain.inspection import Backlog, SessionBacklog
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Ledger


def backlog(ledger: Ledger, covers: Callable[[str], bool], most: int) -> Backlog:
    """Return the work left for the users that `covers` admits, with `most` sessions by name.

    Memories without vectors are counted for the whole store.
    """
    waiting = [_session(ledger, key) for key in ledger.unextracted() if covers(key.user_id)]
    waiting.sort(key=lambda one: (-one.left, one.user_id, one.session_id))
    return Backlog(
        messages=sum(one.messages for one in waiting),
        left=sum(one.left for one in waiting),
        waiting=len(waiting),
        sessions=tuple(waiting[:most]),
        unembedded=ledger.count_unembedded(),
    )


def _session(ledger: Ledger, key: SessionKey) -> SessionBacklog:
    # First the place that only moves towards the other one, so that what is left isn't negative.
    read = ledger.cursor(*key, "extracted").position
    stored = ledger.cursor(*key, "stored").position
    return SessionBacklog(
        user_id=key.user_id, session_id=key.session_id, messages=stored, left=stored - read
    )
