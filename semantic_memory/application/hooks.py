"""Events of a coding agent's session: recall at its start and prompts, observe what was said."""

from __future__ import annotations

from itertools import groupby, islice
from pathlib import Path
from typing import Any, Protocol

from ingest.readers import Incoming, read
from semantic_memory.application.importing import Imported, Observing, observe_run
from semantic_memory.domain import agent_hooks
from semantic_memory.domain.agent_hooks import TRANSCRIBED, HookEvent, answer, needed
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.messages import Message
from semantic_memory.domain.projects import project_of
from semantic_memory.domain.recall import Context
from semantic_memory.domain.refusals import parse
from semantic_memory.domain.scope import Scope

_BATCH = 200


class Recalling(Protocol):
    """Packs context blocks: a memory, or the client of one."""

    def context(self, query: str, *, user_id: str, agent_id: str | None, budget: int) -> Context:
        """Pack a block."""
        ...


def read_event(text: str, agent: str) -> HookEvent:
    """Read an event. Raises InvalidInputError."""
    try:
        return agent_hooks.read_event(text, agent)
    except ValueError as error:
        raise InvalidInputError(str(error)) from None


def project(event: HookEvent) -> str:
    """Return the project that an event belongs to."""
    return project_of(event.cwd or Path())


def recalled(
    memory: Recalling, event: HookEvent, user_id: str, budget: int | None
) -> dict[str, Any]:
    """Return the answer that puts what helps before the model: of the project, and shared."""
    if not event.query:
        return answer(event, "")
    found = memory.context(
        event.query,
        user_id=user_id,
        agent_id=project(event),
        budget=budget or agent_hooks.BUDGET[event.kind],
    )
    return answer(event, needed(event, {"text": found.text, "relevance": found.relevance}))


def observed(memory: Observing, event: HookEvent, user_id: str) -> Imported:
    """Observe what the event or the transcript has and the store lacks, as the user's own words.

    A message that is refused costs none of the others; lines that can't be used are left out.
    Raises what reading raises.
    """
    imported, scope = Imported(), Scope(agent_id=project(event))
    if event.observes_prompt:
        said = parse(Message, "prompt", {"role": "user", "content": event.prompt})
        observe_run(memory, [said.within(scope)], user_id, event.session_id, imported)
    if event.recalls or event.agent != TRANSCRIBED:
        return imported
    if event.transcript is None:
        raise InvalidInputError(f"{event.name} names no transcript_path")
    found = read(event.transcript.expanduser(), "claude-code", event.session_id)
    of_sessions = (one for one in found if isinstance(one, Incoming))
    for session_id, run in groupby(of_sessions, key=lambda one: one.session_id):
        while batch := [one.message.within(scope) for one in islice(run, _BATCH)]:
            observe_run(memory, batch, user_id, session_id, imported)
    return imported
