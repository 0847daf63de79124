"""Check a store from end to end, with a remedy for each problem."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import islice

from semantic_memory.application.items import every_item
from semantic_memory.domain.dating import MOST_AHEAD
from semantic_memory.domain.errors import IndexUnavailableError, StoreCorruptError, StoreError
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.items import BEFORE_ALL, ItemScope
from semantic_memory.domain.ports import Clock, EmbedderIdentity, Ledger, SessionLog
from semantic_memory.domain.reports import Finding
from semantic_memory.ledger.remedies import HOW_TO_MEND
from semantic_memory.pipeline.facts import verbatim_id
from semantic_memory.vectors.keeper import Keeper

_BATCH = 500
_ENGLISH_MODELS = frozenset({"all-MiniLM-L6-v2"})
_MULTILINGUAL = "paraphrase-multilingual-MiniLM-L12-v2"


class Doctor:
    """Check the place, ledger, session logs, embeddings and index of a store. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        log: SessionLog,
        keeper: Keeper,
        embedder: EmbedderIdentity,
        clock: Clock,
        place: Callable[[], Iterable[Finding]],
    ) -> None:
        """Check a store; `place` checks where it is kept."""
        self._ledger = ledger
        self._log = log
        self._keeper = keeper
        self._embedder = embedder
        self._clock = clock
        self._place = place

    def check(self) -> list[Finding]:
        """Run every check. Brings the index level first, which may take a while."""
        return [
            *self._place(),
            _sound(self._ledger),
            _readable(self._log),
            _stored(self._log, self._ledger),
            _dated(self._ledger, self._clock.now()),
            _embedded(self._ledger, self._embedder),
            _items(self._ledger),
            _level(self._keeper),
            understood(self._embedder),
        ]


def _sound(ledger: Ledger) -> Finding:
    damage = ledger.damage()
    if damage:
        return Finding(
            check="ledger",
            ok=False,
            detail="; ".join(damage),
            remedy=HOW_TO_MEND,
        )
    return Finding(check="ledger", ok=True, detail=f"sound, {ledger.count():,} memories")


def _readable(log: SessionLog) -> Finding:
    sessions = messages = corrupt = unreadable = 0
    for summary in log.summaries():
        sessions += summary.session is not None
        messages += summary.messages
        corrupt += summary.corrupt_lines
        # A session's first write that was cut off leaves nothing else, and wasn't acknowledged.
        if summary.session is None and (summary.messages or summary.corrupt_lines):
            unreadable += 1
    if corrupt or unreadable:
        return Finding(
            check="session logs",
            ok=False,
            detail=f"{corrupt} corrupt lines, {unreadable} files of unknown sessions",
            remedy="what the ledger took in before is safe; ingest the lost messages again",
        )
    detail = f"sound, {messages:,} messages in {sessions:,} sessions"
    return Finding(check="session logs", ok=True, detail=detail)


def _stored(log: SessionLog, ledger: Ledger) -> Finding:
    """Check that every message of the logs has reached the ledger."""
    lacking = 0
    for key in log.sessions():
        records = log.read(*key)
        while batch := list(islice(records, _BATCH)):
            ids = [verbatim_id(key, record.message.id) for record in batch]
            lacking += len(ids) - len(ledger.known(ids))
    if lacking:
        return Finding(
            check="messages",
            ok=False,
            detail=f"{lacking:,} messages of the session logs are not in the ledger",
            remedy="close and open the store again, which takes them in from the logs",
        )
    return Finding(check="messages", ok=True, detail="all are in the ledger")


def _dated(ledger: Ledger, now: datetime) -> Finding:
    """Check that no memory is dated ahead of now, as by a clock that was wrong."""
    ahead = Filters(since=now + MOST_AHEAD)
    found = {user_id: len(ledger.ids(user_id, ahead)) for user_id in ledger.users()}
    number = sum(found.values())
    if number:
        users = sum(map(bool, found.values()))
        return Finding(
            check="dates",
            ok=False,
            detail=f"{number:,} memories of {users:,} users are dated more than a day ahead of the"
            f" clock, {now:%Y-%m-%d %H:%M} UTC: a clock was wrong, or is",
            remedy="check the clock of this machine; if it is right, among these memories the order"
            " of the log decides which is newer, and they keep their dates",
        )
    return Finding(check="dates", ok=True, detail="none lies ahead of the clock")


def _embedded(ledger: Ledger, identity: EmbedderIdentity) -> Finding:
    pending = ledger.count_unembedded()
    if pending:
        return Finding(
            check="embeddings",
            ok=False,
            detail=f"{pending:,} memories have no vector yet ({identity})",
            remedy="they are found by words meanwhile; embedding goes on in the background while a"
            " process has the store open",
        )
    return Finding(check="embeddings", ok=True, detail=f"complete, {identity}")


def _items(ledger: Ledger) -> Finding:
    """Check that every item can be read, and has its vectors."""
    try:
        number = sum(1 for _ in every_item(ledger, ItemScope(None, (), BEFORE_ALL)))
    except StoreCorruptError as error:
        return Finding(check="items", ok=False, detail=str(error), remedy=HOW_TO_MEND)
    if ledger.unembedded_items(1):
        return Finding(
            check="items",
            ok=False,
            detail="some have no vectors yet, as the embedding model couldn't be reached",
            remedy="they are embedded by the next search for items by meaning",
        )
    return Finding(check="items", ok=True, detail=f"sound, {number:,} items")


def understood(identity: EmbedderIdentity) -> Finding:
    """Report which languages the embedding model knows, as far as its name shows."""
    if identity.model not in _ENGLISH_MODELS:
        return Finding(check="languages", ok=True, detail=f"as far as {identity.model} knows them")
    return Finding(
        check="languages",
        ok=True,
        detail=f"{identity.model} was trained on English: other languages are found by words, less"
        " well by meaning",
        remedy="for other languages set embedding.provider to sentence-transformers and"
        f" embedding.model to {_MULTILINGUAL}, then run semantic-memory admin reembed",
    )


def _level(keeper: Keeper) -> Finding:
    try:
        lacking, surplus = keeper.differences()
    except IndexUnavailableError as error:
        return Finding(
            check="index",
            ok=False,
            detail=f"{keeper.name}: {error}",
            remedy="mend what is named; it is tried again by itself, searches go on meanwhile",
        )
    except StoreError as error:
        detail = f"{keeper.name}: {error}"
        remedy = "semantic-memory admin rebuild"
        return Finding(check="index", ok=False, detail=detail, remedy=remedy)
    if lacking or surplus:
        return Finding(
            check="index",
            ok=False,
            detail=f"{keeper.name}: lacks {len(lacking):,} memories, has {len(surplus):,} too many",
            remedy="semantic-memory admin rebuild",
        )
    said = "searches read the ledger" if keeper.name == "none" else "level with the ledger"
    return Finding(check="index", ok=True, detail=f"{keeper.name}: {said}")
