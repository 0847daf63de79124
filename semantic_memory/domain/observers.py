"""Observers of events: one logs them, one ignores them.

An event goes to the logger `semantic_memory.<component>`. Its figures are in the text, and under
the names of the event's fields attributes of the record, which a JSON formatter writes as fields.
No message text is logged, and no user id at INFO: it may be an e-mail address.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from logging import DEBUG, INFO, WARNING
from typing import Any, NamedTuple

from semantic_memory.domain.events import (
    BeliefsResolved,
    BreakerOpened,
    BudgetReached,
    CheckpointRestored,
    CompactionFailed,
    CursorLost,
    EmbeddingFailed,
    EmbeddingRefused,
    Event,
    EventsDelivered,
    ExtractionBatched,
    ExtractionFailed,
    ExtractionFellBack,
    FactsExtracted,
    ForgetRequested,
    ForgetSettled,
    IndexSetAside,
    IndexSynced,
    JobFinished,
    JudgingFellBack,
    LogNearlyFull,
    LogRepaired,
    LogShortened,
    MemoriesForgotten,
    MemoryFileSkipped,
    MemoryQuarantined,
    OpenedToRead,
    PinnedForgotten,
    Reranked,
    SessionChanged,
    WebhookDisabled,
    WindowCompacted,
    WorkerFailed,
    WriteDelayed,
)


class _Line(NamedTuple):
    """Level, component and text of an event's log line; the text quotes the event's fields."""

    level: int
    component: str
    text: str
    error: str = ""
    """Text of the line, then a warning, if the event's `error` isn't None."""


_LINES: Mapping[type[Event], _Line] = {
    SessionChanged: _Line(INFO, "session", "session %(session_id)s %(change)s"),
    FactsExtracted: _Line(
        INFO,
        "extraction",
        "session %(session_id)s: %(admitted)d facts from %(messages)d messages, %(quarantined)d"
        " quarantined, refused %(refused)s",
    ),
    ExtractionFailed: _Line(
        WARNING,
        "extraction",
        "extraction from session %(session_id)s of user %(user_id)s failed and will be retried:"
        " %(error)s",
    ),
    MemoryQuarantined: _Line(
        WARNING,
        "pipeline",
        "memory %(memory_id)s of user %(user_id)s can't be read and is quarantined: %(error)s",
    ),
    ExtractionBatched: _Line(
        INFO,
        "extraction",
        "the extraction batch %(batch_id)s was %(status)s, with %(stretches)d stretches",
        error="the extraction batch %(batch_id)s failed: %(error)s",
    ),
    ExtractionFellBack: _Line(
        INFO,
        "extraction",
        "the rules extracted from %(messages)d messages, as the answer of %(extractor)s was"
        " %(reason)s",
    ),
    BudgetReached: _Line(
        WARNING,
        "spending",
        "the daily budget of %(task)s is spent: %(tokens)d tokens, USD %(cost_usd).2f",
    ),
    BreakerOpened: _Line(
        WARNING,
        "extraction",
        "%(extractor)s failed %(failures)d times in a row; requests pause for %(seconds).0f s",
    ),
    JobFinished: _Line(
        INFO,
        "upkeep",
        "the job %(job)s ran for %(users)d users in %(seconds).2f s: %(counts)s",
        error="the job %(job)s failed: %(error)s",
    ),
    BeliefsResolved: _Line(DEBUG, "consolidation", "%(counts)s in %(seconds).3f s"),
    JudgingFellBack: _Line(
        WARNING,
        "consolidation",
        "%(judge)s failed (%(error)s); the rules judged %(pairs)d pairs of facts",
    ),
    Reranked: _Line(
        DEBUG,
        "recall",
        "%(hits)d hits reranked in %(seconds).3f s",
        error="the hits of a search stay in their order: %(error)s",
    ),
    EmbeddingFailed: _Line(
        WARNING, "embedding", "memories are found by words only: the model failed: %(error)s"
    ),
    EmbeddingRefused: _Line(
        WARNING,
        "embedding",
        "the model refuses memories %(fact_ids)s, found by words only: %(error)s",
    ),
    IndexSynced: _Line(
        DEBUG, "index", "%(upserted)d memories indexed, %(deleted)d deleted in %(seconds).2f s"
    ),
    IndexSetAside: _Line(
        WARNING,
        "index",
        "the vector index is being rebuilt from the ledger: %(reason)s; moved to %(kept_at)s",
    ),
    WindowCompacted: _Line(
        INFO,
        "session",
        "window of session %(session_id)s compacted (%(step)s) from %(before)d to %(tokens)d"
        " tokens, without %(dropped)d messages",
    ),
    CompactionFailed: _Line(
        WARNING,
        "session",
        "compacting session %(session_id)s of user %(user_id)s: %(step)s failed (%(failures)d in a"
        " row): %(error)s",
    ),
    CheckpointRestored: _Line(
        WARNING,
        "session",
        "the checkpoint %(path)s was damaged (%(reason)s) and moved to %(kept_at)s; the previous"
        " one is in use",
    ),
    MemoryFileSkipped: _Line(
        WARNING, "session", "the memory file %(path)s is not used: %(reason)s"
    ),
    ForgetRequested: _Line(
        INFO, "pipeline", "a user asked in session %(session_id)s to forget (%(scope)s)"
    ),
    ForgetSettled: _Line(
        INFO, "upkeep", "a request to forget of session %(session_id)s was settled: %(answer)s"
    ),
    MemoriesForgotten: _Line(
        INFO,
        "upkeep",
        "%(number)d memories were forgotten, %(cut)d messages lost sentences",
    ),
    PinnedForgotten: _Line(
        WARNING, "upkeep", "%(number)d pinned memories of user %(user_id)s were forgotten"
    ),
    WorkerFailed: _Line(
        WARNING, "pipeline", "%(step)s failed, next try in %(retry_seconds).0f s: %(error)s"
    ),
    EventsDelivered: _Line(DEBUG, "webhook", "%(number)d events: %(outcome)s"),
    WebhookDisabled: _Line(
        WARNING,
        "webhook",
        "the endpoint answered 410: nothing is delivered until `semantic-memory jobs run redeliver`"
        " or another webhook.url",
    ),
    OpenedToRead: _Line(WARNING, "ledger", "%(reason)s"),
    LogRepaired: _Line(
        WARNING,
        "log",
        "the log of session %(session_id)s of user %(user_id)s was damaged: %(torn_bytes)d bytes of"
        " an unfinished line cut off, %(corrupt_lines)d corrupt lines skipped",
    ),
    WriteDelayed: _Line(
        WARNING,
        "log",
        "the disk took %(size)d bytes of session %(session_id)s of user %(user_id)s at attempt"
        " %(attempts)d, after %(seconds).2f s",
    ),
    LogNearlyFull: _Line(
        WARNING,
        "log",
        "the log of session %(session_id)s of user %(user_id)s takes %(size)d of %(limit)d bytes"
        " and is being shortened",
    ),
    LogShortened: _Line(
        INFO,
        "log",
        "the log of session %(session_id)s was shortened from %(before)d to %(after)d bytes:"
        " %(messages)d messages were removed, %(because)s; the ledger keeps their memories",
    ),
    CursorLost: _Line(
        WARNING,
        "log",
        "the log of session %(session_id)s of user %(user_id)s was replaced; it is read again from"
        " the start",
    ),
}


def ignore_event(event: Event) -> None:
    """Do nothing about an event."""
    del event


def telling(observers: Iterable[Callable[[Event], None]]) -> Callable[[Event], None]:
    """Return an observer that tells all others in turn; more may be added to them later."""

    def tell(event: Event) -> None:
        for observer in observers:
            observer(event)

    return tell


def log_event(event: Event) -> None:
    """Log outcomes at INFO, failures and damage as warnings, repetitions and others at DEBUG."""
    line = _LINES.get(type(event))
    if line is None:
        logging.getLogger("semantic_memory").debug("%s", event)
        return
    figures = _figures(event)
    failed = line.error and figures["error"] is not None
    level = WARNING if failed else line.level
    if figures.get("repeated"):
        level = DEBUG
    logger = logging.getLogger(f"semantic_memory.{line.component}")
    if logger.isEnabledFor(level):
        text = (line.error if failed else line.text) % figures
        if level < WARNING:
            figures.pop("user_id", None)
        logger.log(level, "%s", text, extra=figures)


def _figures(event: Event) -> dict[str, Any]:
    found = {one.name: getattr(event, one.name) for one in fields(event)}
    return {name: dict(one) if isinstance(one, Mapping) else one for name, one in found.items()}
