"""The audit trail of what entered prompts.

Packing a block writes nothing: records wait in RAM until the job `usage` runs, the trail is read,
the store is closed, or enough of them wait to be worth a transaction.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from semantic_memory.context.overview import Overview
from semantic_memory.domain.actor import actor
from semantic_memory.domain.errors import StoreError, StoreUnavailableError
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.ports import Ledger
from semantic_memory.domain.prompts import PromptRecord, Reason
from semantic_memory.domain.recall import Context, Hit
from semantic_memory.domain.requests import AuditRequest

_MOST_WAITING = 200
_MOST_HELD = 2_000  # while they can't be written


class _Entry(NamedTuple):
    """A block, as it waits in RAM."""

    at: datetime
    user_id: str
    session_id: str | None
    caller: str | None
    tokens: int
    relevance: float
    memories: list[dict[str, str | float]]
    """As `PromptMemory` has them, which isn't built: a block may have 100."""

    def as_json(self) -> str:
        """Return its `PromptRecord` as JSON."""
        record = {
            "at": self.at.isoformat(),
            "user_id": self.user_id,
            "session_id": self.session_id,
            "caller": self.caller,
            "tokens": self.tokens,
            "relevance": round(self.relevance, 4),
            "memories": self.memories,
        }
        return json.dumps(record, separators=(",", ":"))


class Trail:
    """Keep the records of the latest blocks of each user, at most `most`. Thread-safe."""

    def __init__(self, ledger: Ledger, most: int) -> None:
        self._ledger = ledger
        self._most = most
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        """Held from taking records to having written them, and taken before the other."""
        self._waiting: list[_Entry] = []

    def note(
        self,
        at: datetime,
        user_id: str,
        session_id: str | None,
        packed: Context,
        overview: Overview,
        standing: Iterable[Fact],
    ) -> None:
        """Note a block that was packed, with the parts that weren't recalled for the question."""
        if not self._most:
            return
        reasons: dict[str, Reason] = {fact.id: "important" for fact in standing}
        for placed in (*overview.asked, *overview.history, *overview.events):
            reasons[placed.fact.id] = "history"
        reasons |= {placed.fact.id: "core" for placed in overview.core}
        reasons |= {placed.fact.id: "profile" for placed in (*overview.written, *overview.texts)}
        reasons |= {hit.fact.id: "recalled" for hit in packed.hits}
        recalled = {hit.fact.id: _recalled(hit) for hit in packed.hits}
        memories = [
            {"id": fact.id, "reason": reasons.get(fact.id, "recalled"), **recalled.get(fact.id, {})}
            for fact in packed.facts
        ]
        entry = _Entry(at, user_id, session_id, actor(), packed.tokens, packed.relevance, memories)
        with self._lock:
            self._waiting.append(entry)
            del self._waiting[:-_MOST_HELD]
            full = len(self._waiting) % _MOST_WAITING == 0
        if full:
            with suppress(StoreUnavailableError):  # the block was read, and can be used
                self.write()

    def write(self) -> None:
        """Write the records that wait, while others are noted. Raises StoreError."""
        with self._writing:
            with self._lock:
                waiting, self._waiting = self._waiting, []
            if not waiting:
                return
            try:
                self._ledger.record_prompts(
                    [(entry.user_id, entry.as_json()) for entry in waiting], self._most
                )
            except StoreError:
                with self._lock:
                    self._waiting[:0] = waiting
                raise

    def audit(self, asked: AuditRequest) -> list[PromptRecord]:
        """Return the records of a user's blocks, the latest first."""
        self.write()
        found = self._ledger.prompts(asked.user_id)
        if asked.memory_id is not None:
            found = [
                one for one in found if any(part.id == asked.memory_id for part in one.memories)
            ]
        return found[: asked.limit]

    def drop(self, user_id: str) -> None:
        """Delete the records of a user."""
        with self._writing:
            with self._lock:
                self._waiting = [entry for entry in self._waiting if entry.user_id != user_id]
            self._ledger.erase_prompts(user_id)


def _recalled(hit: Hit) -> dict[str, str | float]:
    space = {} if hit.space is None else {"space": hit.space}
    return {"score": round(hit.score, 4), **space}
