"""Checks a store from end to end, and says what to do about what it finds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from semantic_memory.bootstrap import Service
from semantic_memory.domain.errors import IndexUnavailableError, StoreError
from semantic_memory.domain.reports import Finding
from semantic_memory.pipeline.facts import verbatim_id

_BATCH = 500


def examine(service: Service) -> Iterator[Finding]:
    """Run every check. Brings the index level first, so it may take a while on a large store."""
    yield _permissions(service.settings.data_dir)
    yield _ledger(service)
    yield _logs(service)
    yield _stored(service)
    yield _embedded(service)
    yield _index(service)


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


def _ledger(service: Service) -> Finding:
    damage = service.ledger.damage()
    if damage:
        return Finding(
            check="ledger",
            ok=False,
            detail="; ".join(damage),
            remedy="restore ledger.sqlite3 from a backup, or move it away and ingest again",
        )
    return Finding(check="ledger", ok=True, detail=f"sound, {service.ledger.count():,} memories")


def _logs(service: Service) -> Finding:
    sessions = messages = 0
    unreadable: list[str] = []
    corrupt = 0
    for path, _ in service.log.files():
        summary = service.log.summary(path)
        sessions += 1
        messages += summary.messages
        corrupt += summary.corrupt_lines
        if summary.session is None:
            unreadable.append(path.name)
    if corrupt or unreadable:
        return Finding(
            check="session logs",
            ok=False,
            detail=f"{corrupt} corrupt lines, {len(unreadable)} files of unknown sessions",
            remedy="what the ledger took in before is safe; ingest the lost messages again",
        )
    detail = f"sound, {messages:,} messages in {sessions:,} sessions"
    return Finding(check="session logs", ok=True, detail=detail)


def _stored(service: Service) -> Finding:
    """Whether everything that the logs hold has reached the ledger."""
    lacking = 0
    for path, _ in service.log.files():
        key = service.log.identify(path)
        if key is None:
            continue
        records = service.log.read(*key)
        while batch := list(islice(records, _BATCH)):
            ids = [verbatim_id(key, record.message.id) for record in batch]
            lacking += len(ids) - len(service.ledger.known(ids))
    if lacking:
        return Finding(
            check="messages",
            ok=False,
            detail=f"{lacking:,} messages of the session logs are not in the ledger",
            remedy="close and open the store again, which takes them in from the logs",
        )
    return Finding(check="messages", ok=True, detail="all are in the ledger")


def _embedded(service: Service) -> Finding:
    pending = service.ledger.count_unembedded()
    identity = service.embedder.identity
    if pending:
        return Finding(
            check="embeddings",
            ok=False,
            detail=f"{pending:,} memories have no vector yet ({identity})",
            remedy="they are found by words meanwhile; embedding goes on in the background while a"
            " process has the store open",
        )
    return Finding(check="embeddings", ok=True, detail=f"complete, {identity}")


def _index(service: Service) -> Finding:
    try:
        lacking, surplus = service.keeper.differences()
    except IndexUnavailableError as error:
        return Finding(
            check="index",
            ok=False,
            detail=str(error),
            remedy="mend what is named; it is tried again by itself, searches go on meanwhile",
        )
    except StoreError as error:
        return Finding(check="index", ok=False, detail=str(error), remedy="semantic-memory rebuild")
    if lacking or surplus:
        return Finding(
            check="index",
            ok=False,
            detail=f"lacks {len(lacking):,} memories, has {len(surplus):,} too many",
            remedy="semantic-memory rebuild",
        )
    return Finding(check="index", ok=True, detail="level with the ledger")
