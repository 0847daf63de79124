"""Events of a coding agent's session: recall when it starts, observe what was said when it ends."""

from __future__ import annotations

import json
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel

from ingest.readers import Incoming, read
from semantic_memory.application.importing import Imported, Observing, observe_run
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.recall import Context
from semantic_memory.domain.refusals import parse
from semantic_memory.domain.values import Identifier

RECALLING = ("SessionStart",)
OBSERVING = ("Stop", "PreCompact", "SessionEnd")
_BATCH = 200


class HookEvent(BaseModel):
    """An event as the agent hands it over on standard input; other fields are left alone."""

    hook_event_name: str
    session_id: Identifier
    transcript_path: Path | None = None
    cwd: Path | None = None


class Recalling(Protocol):
    """Packs context blocks: a memory, or the client of one."""

    def context(self, query: str, *, user_id: str, budget: int) -> Context:
        """Pack a block."""
        ...


def read_event(text: str) -> HookEvent:
    """Read an event. Raises InvalidInputError."""
    try:
        values = json.loads(text)
    except ValueError as error:
        raise InvalidInputError(f"standard input holds no event of a hook: {error}") from None
    if not isinstance(values, dict):
        raise InvalidInputError("standard input holds no event of a hook: not a JSON object")
    known = {name: values[name] for name in HookEvent.model_fields if name in values}
    event = parse(HookEvent, "event", known)
    if event.hook_event_name not in (*RECALLING, *OBSERVING):
        raise InvalidInputError(
            f"no hook for {event.hook_event_name!r}: set it for"
            f" {', '.join((*RECALLING, *OBSERVING))}"
        )
    return event


def recalled(memory: Recalling, event: HookEvent, user_id: str, budget: int) -> dict[str, Any]:
    """Return the answer that puts what is known about user and project before the model."""
    project = event.cwd.name if event.cwd else ""
    query = f"Work on {project}" if project else "Current work"
    block = memory.context(query, user_id=user_id, budget=budget).text
    if not block:
        return {}
    added = {"hookEventName": event.hook_event_name, "additionalContext": block}
    return {"hookSpecificOutput": added}


def observed(memory: Observing, event: HookEvent, user_id: str) -> Imported:
    """Observe what the transcript has and the store lacks, as the user's own words.

    A message that is refused costs none of the others; lines that can't be used are left out.
    Raises what reading raises.
    """
    if event.transcript_path is None:
        raise InvalidInputError(f"{event.hook_event_name} names no transcript_path")
    found = read(event.transcript_path.expanduser(), "claude-code", event.session_id)
    said = (one for one in found if isinstance(one, Incoming))
    imported = Imported()
    for session_id, run in groupby(said, key=lambda one: one.session_id):
        while batch := [one.message for one in islice(run, _BATCH)]:
            observe_run(memory, batch, user_id, session_id, imported)
    return imported
