"""Observers of events: one logs them, one ignores them."""

from __future__ import annotations

import logging

from semantic_memory.domain.events import (
    CheckpointRestored,
    CompactionFailed,
    Event,
    ExtractionBatched,
    ExtractionFailed,
    IndexSetAside,
    JobFinished,
    LogNearlyFull,
    LogRepaired,
    LogShortened,
    MemoryFileSkipped,
    PinnedForgotten,
    WorkerFailed,
)

_logger = logging.getLogger("semantic_memory")


def ignore_event(event: Event) -> None:
    """Do nothing about an event."""
    del event


def log_event(event: Event) -> None:
    """Log failures and damage as warnings, other events at DEBUG. Logs no message text."""
    match event:
        case IndexSetAside(reason, kept_at):
            where = f"; it was moved to {kept_at}" if kept_at else ""
            _logger.warning(
                "the vector index is being rebuilt from the ledger: %s%s", reason, where
            )
        case ExtractionFailed(user_id, session_id, error):
            _logger.warning(
                "extraction from session %s of user %s failed and will be retried: %s",
                session_id,
                user_id,
                error,
            )
        case ExtractionBatched(batch_id, _, _, str(error)):
            _logger.warning("the extraction batch %s failed: %s", batch_id, error)
        case JobFinished(job, _, _, _, str(error)):
            _logger.warning("the job %s failed: %s", job, error)
        case CheckpointRestored(path, reason, kept_at):
            _logger.warning(
                "the checkpoint %s was damaged (%s) and moved to %s; the previous one is in use",
                path,
                reason,
                kept_at,
            )
        case PinnedForgotten() | MemoryFileSkipped():
            _log_left_out(event)
        case CompactionFailed(user_id, session_id, step, error, failures):
            _logger.warning(
                "compacting session %s of user %s: %s failed (%d in a row): %s",
                session_id,
                user_id,
                step,
                failures,
                error,
            )
        case WorkerFailed(step, error, retry_seconds):
            _logger.warning("%s failed, next try in %.0f s: %s", step, retry_seconds, error)
        case LogRepaired() | LogNearlyFull() | LogShortened():
            _log_session_log(event)
        case _:
            _logger.debug("%s", event)


def _log_left_out(event: PinnedForgotten | MemoryFileSkipped) -> None:
    match event:
        case PinnedForgotten(user_id, number):
            _logger.warning("%d pinned memories of user %s were forgotten", number, user_id)
        case MemoryFileSkipped(path, reason):
            _logger.warning("the memory file %s is not used: %s", path, reason)


def _log_session_log(event: LogRepaired | LogNearlyFull | LogShortened) -> None:
    match event:
        case LogRepaired(user_id, session_id, torn_bytes, corrupt_lines):
            _logger.warning(
                "the log of session %s of user %s was damaged: %d bytes of an unfinished line cut"
                " off, %d corrupt lines skipped",
                session_id,
                user_id,
                torn_bytes,
                corrupt_lines,
            )
        case LogNearlyFull(user_id, session_id, size, limit):
            _logger.warning(
                "the log of session %s of user %s takes %d of %d bytes; beyond that it"
                " is shortened",
                session_id,
                user_id,
                size,
                limit,
            )
        case LogShortened(user_id, session_id, number, freed):
            _logger.warning(
                "the log of session %s of user %s was too long: %d messages (%d bytes) were"
                " removed; the ledger keeps their memories",
                session_id,
                user_id,
                number,
                freed,
            )
