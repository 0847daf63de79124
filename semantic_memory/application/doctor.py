"""Check a store from end to end, with a remedy for each problem."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from ingest.session_log import SessionLog
from semantic_memory.application.items import every_item
from semantic_memory.domain.errors import IndexUnavailableError, StoreCorruptError, StoreError
from semantic_memory.domain.items import BEFORE_ALL, ItemScope
from semantic_memory.domain.ports import EmbedderIdentity, Ledger
from semantic_memory.domain.reports import Finding
from semantic_memory.ledger.remedies import HOW_TO_MEND
from semantic_memory.pipeline.facts import verbatim_id
from semantic_memory.sharing.owner import Owner
from semantic_memory.vectors.home import CHROMA
from semantic_memory.vectors.keeper import Keeper

_BATCH = 500
_ENGLISH_MODELS = frozenset({"all-MiniLM-L6-v2"})
_MULTILINGUAL = "paraphrase-multilingual-MiniLM-L12-v2"


class Doctor:
    """Check the directory, ledger, session logs, embeddings and index of a store. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        log: SessionLog,
        keeper: Keeper,
        embedder: EmbedderIdentity,
        data_dir: Path,
        encrypted: Callable[[], Finding],
        owner: Callable[[], Owner | None],
        reading: str = "",
    ) -> None:
        """Check a store; `reading` says why it is opened to read only."""
        self._ledger = ledger
        self._log = log
        self._keeper = keeper
        self._embedder = embedder
        self._data_dir = data_dir
        self._encrypted = encrypted
        self._owner = owner
        self._reading = reading

    def check(self) -> list[Finding]:
        """Run every check. Brings the index level first, which may take a while."""
        return [
            *_writable(self._reading),
            _permissions(self._data_dir),
            _owned(self._owner()),
            self._encrypted(),
            _sound(self._ledger),
            _readable(self._log),
            _stored(self._log, self._ledger),
            _embedded(self._ledger, self._embedder),
            _items(self._ledger),
            _level(self._keeper),
            *_left_behind(self._keeper, self._data_dir),
            understood(self._embedder),
        ]


def _writable(reading: str) -> list[Finding]:
    if not reading:
        return []
    return [
        Finding(
            check="writing",
            ok=False,
            detail=reading,
            remedy="free some space, or give the owner the right to write",
        )
    ]


def _permissions(directory: Path) -> Finding:
    mode = directory.stat().st_mode & 0o777
    if mode & 0o077:
        return Finding(
            check="directory",
            ok=False,
            detail=f"{directory} can be read by others (mode {mode:o})",
            remedy=f"chmod 700 {directory}",
        )
    return Finding(check="directory", ok=True, detail=f"{directory} is private")


def _owned(owner: Owner | None) -> Finding:
    """Report which process has the store open, and where others reach it."""
    if owner is None:
        detail = f"process {os.getpid()}, which doesn't share it"
        remedy = "for several processes at once open it with `SemanticMemory.connect`"
        return Finding(check="owner", ok=True, detail=detail, remedy=remedy)
    detail = f"{owner.name} of semantic-memory {owner.version}, which shares it at {owner.address}"
    return Finding(check="owner", ok=True, detail=detail)


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
    for path, _ in log.files():
        summary = log.summary(path)
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
    for path, _ in log.files():
        key = log.identify(path)
        if key is None:
            continue
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
        f" embedding.model to {_MULTILINGUAL}, then run semantic-memory reembed",
    )


def _left_behind(keeper: Keeper, data_dir: Path) -> list[Finding]:
    """Report an index of this machine that another provider's has replaced."""
    left = data_dir / CHROMA
    if keeper.name in ("chroma", "given") or not left.exists():
        return []
    return [
        Finding(
            check="index",
            ok=False,
            detail=f"{left} is no longer used, and has texts of memories, forgotten ones too",
            remedy=f"rm -r {left}",
        )
    ]


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
        return Finding(check="index", ok=False, detail=detail, remedy="semantic-memory rebuild")
    if lacking or surplus:
        return Finding(
            check="index",
            ok=False,
            detail=f"{keeper.name}: lacks {len(lacking):,} memories, has {len(surplus):,} too many",
            remedy="semantic-memory rebuild",
        )
    said = "searches read the ledger" if keeper.name == "none" else "level with the ledger"
    return Finding(check="index", ok=True, detail=f"{keeper.name}: {said}")
