"""The shared parts of an open memory, for tests that look at the ledger or hold the background."""

from __future__ import annotations

from pathlib import Path

from ingest.session_log import FileSessionLog
from semantic_memory import SemanticMemory
from semantic_memory.bootstrap import SharedParts, UseCases
from semantic_memory.testing import use_cases


def inside(memory: SemanticMemory | UseCases) -> SharedParts:
    """Return the parts that the use cases of `memory` share."""
    return (memory if isinstance(memory, UseCases) else use_cases(memory)).shared


def log_file(memory: SemanticMemory, user_id: str, session_id: str) -> Path:
    """Return the file of a session's log in a data directory."""
    log = inside(memory).log
    assert isinstance(log, FileSessionLog)
    return log.path(user_id, session_id)
