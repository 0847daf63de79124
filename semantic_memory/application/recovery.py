"""Refuse a ledger that is gone, or continue with an older one: forget again what the logs forgot.

An older ledger has memories that were forgotten since. The session logs tell: a forgotten message
left its id in its session's log, one that lost sentences what was left of it, and a session that
was forgotten as a whole has no log any more, or one that begins after that.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from semantic_memory.application.erasing import Erasing
from semantic_memory.application.reach import reach
from semantic_memory.domain.changes import STAGES, Advance, Cursor
from semantic_memory.domain.errors import LedgerBehindError
from semantic_memory.domain.evidence import pieces
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Ledger, SessionLog
from semantic_memory.ledger.remedies import HOW_TO_RECOVER
from semantic_memory.ledger.watermark import WATERMARK
from semantic_memory.pipeline.facts import verbatim_id

REASON = "forgotten before the ledger was recovered"


def refuse_lost(path: Path) -> None:
    """Raise LedgerBehindError if there is no ledger at `path`, though a store is around it."""
    if path.exists() and path.stat().st_size:
        return
    logs = sum(1 for file in path.parent.glob("sessions/*/*.jsonl") if file.stat().st_size)
    beside = [
        f"{logs:,} session log{'s' if logs > 1 else ''}" if logs else "",
        "an index" if any(path.parent.glob("chroma/*")) else "",
        f"the {WATERMARK} of a ledger" if path.with_name(WATERMARK).exists() else "",
    ]
    if found := " and ".join(filter(None, beside)):
        raise LedgerBehindError(
            f"the ledger {path} is missing or empty, but beside it stands {found}; {HOW_TO_RECOVER}"
        )


class Recovery:
    """Brings a ledger to what its session logs know. Thread-safe."""

    def __init__(self, ledger: Ledger, log: SessionLog, erasing: Erasing) -> None:
        self._ledger = ledger
        self._log = log
        self._erasing = erasing

    def run(self) -> None:
        """Forget again what the logs record as forgotten; then accept the ledger."""
        if not self._log.is_new:  # where no log has ever been, a missing one says nothing
            self._erase_again()
        self._ledger.accept()

    def _erase_again(self) -> None:
        logged = list(self._log.sessions())
        for key in logged:
            self._erase_messages(key)
            self._erase_earlier(key)
        known = {SessionKey(one.user_id, one.session_id) for one in self._ledger.cursors("stored")}
        for key in sorted(known - set(logged)):
            if self._ledger.cursor(*key, "stored").position:
                self._erase_session(key)

    def _erase_messages(self, key: SessionKey) -> None:
        erased = self._log.erased(*key)
        ids = {verbatim_id(key, message_id): left for message_id, left in erased.items()}
        known = self._ledger.get(list(ids), key.user_id)
        seeds = [fact for fact in known if ids[fact.id] is None]
        cut = {fact.id: lost for fact in known if (lost := _lost(fact, ids[fact.id]))}
        if seeds or cut:
            found = partial(reach, self._ledger, key.user_id, seeds, cut, sources=False)
            self._erasing.erase(key.user_id, found, REASON)

    def _erase_earlier(self, key: SessionKey) -> None:
        """Erase what was said in a session before it was forgotten and begun again."""
        known, last = self._log.ids(*key), self._ledger.cursor(*key, "stored").message_id
        if last is None or last in known:
            return
        self._ledger.apply([Advance(Cursor(*key, stage)) for stage in STAGES])
        ids = self._ledger.ids(key.user_id, Filters(session_id=key.session_id))
        facts = self._ledger.get(ids, key.user_id)
        seeds = [fact for fact in facts if known.isdisjoint(fact.message_ids)]
        found = partial(reach, self._ledger, key.user_id, seeds, sources=False)
        self._erasing.erase(key.user_id, found, REASON)

    def _erase_session(self, key: SessionKey) -> None:
        said_in = Filters(session_id=key.session_id)
        ids = self._ledger.ids(key.user_id, said_in)
        seeds = self._ledger.get(ids, key.user_id)
        found = partial(reach, self._ledger, key.user_id, seeds, sources=False)
        self._erasing.erase(key.user_id, found, REASON, whole=[key])


def _lost(fact: Fact, left: str | None) -> list[int]:
    """Return the numbers of the sentences that a message has in the ledger and not in the log."""
    if left is None:
        return []
    kept = {piece.strip() for piece in pieces(left)}
    said = (piece.strip() for piece in pieces(fact.content))
    return [number for number, piece in enumerate(said) if piece and piece not in kept]
