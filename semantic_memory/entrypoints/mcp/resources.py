"""Resources and a prompt, which an agent's program reads without calling a tool."""

from __future__ import annotations

import json

from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.types import Resource

from semantic_memory.domain.filters import FACTS
from semantic_memory.entrypoints.agent_limits import seen, shown
from semantic_memory.entrypoints.callers import Right
from semantic_memory.entrypoints.mcp import answers
from semantic_memory.entrypoints.mcp.calls import Calls, Ctx
from semantic_memory.entrypoints.mcp.tools import BUDGET

_RECENT = 20
VIEWS = {
    "profile": "The user's profile and history.",
    "changes": "The latest facts, and those that stopped being believed.",
    "tags": "The user's tags, each with the number of memories that have it or one below it.",
    "sessions": "The user's conversations, the latest first.",
}


def listed() -> list[Resource]:
    """Return the resources that have no parameters, to be listed by the server."""
    return [
        Resource(uri=f"memory://{name}", name=name, description=text, mime_type="text/plain")
        for name, text in VIEWS.items()
    ]


class Resources:
    """The resources and the prompt; each checks the caller's rights, then calls the memory."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def view(self, ctx: Ctx, view: str) -> str:
        """The profile, the recent changes, the tags or the conversations of the user."""
        match view:
            case "profile":
                return self._profile(ctx)
            case "changes":
                return self._changes(ctx)
            case "tags":
                return self._tags(ctx)
            case "sessions":
                return self._sessions(ctx)
        known = ", ".join(f"memory://{name}" for name in VIEWS)
        raise ResourceNotFoundError(f"no resource memory://{view}; there are {known}")

    def memory(self, ctx: Ctx, memory_id: str) -> str:
        """One memory in full, with its source and dates."""
        with self._calls.resource(ctx) as (user, caller):
            fact = shown(caller, self._calls.memory.get(memory_id, user_id=user))
        return fact.model_dump_json(exclude_defaults=True)

    def session(self, ctx: Ctx, session_id: str) -> str:
        """The messages of a conversation."""
        with self._calls.resource(ctx) as (user, caller):
            said = self._calls.memory.sessions.messages(
                user_id=user, session_id=session_id, agent_id=caller.agent_id
            )
        return "\n".join(f"{message.speaker}: {message.content}" for message in said)

    def with_memory(self, ctx: Ctx, question: str) -> str:
        """A question, with the memories that help to answer it."""
        with self._calls.tool(ctx, Right.READ) as (user, caller):
            packed = self._calls.memory.context(
                question,
                user_id=user,
                agent_id=caller.agent_id,
                spaces=caller.beside(user),
                budget=BUDGET,
            )
        return f"{packed.text}\n\n{question}".strip()

    def _profile(self, ctx: Ctx) -> str:
        with self._calls.resource(ctx) as (user, caller):
            found = self._calls.memory.profile.get(user_id=user, agent_id=caller.agent_id)
        return answers.profile(found)

    def _changes(self, ctx: Ctx) -> str:
        with self._calls.resource(ctx) as (user, caller):
            filters = seen(caller, FACTS)
            learned = self._calls.memory.list(user_id=user, filters=filters, limit=_RECENT)
            retired = self._calls.memory.history.retired(user_id=user, limit=_RECENT)
        return answers.changes(learned, [one for one in retired if caller.sees(one.fact.agent_id)])

    def _tags(self, ctx: Ctx) -> str:
        with self._calls.resource(ctx) as (user, caller):
            caller.require(Right.READ, user)  # counts of all agents' memories
            found = self._calls.memory.profile.tags(user_id=user)
        return json.dumps({one.tag: one.memories for one in found})

    def _sessions(self, ctx: Ctx) -> str:
        with self._calls.resource(ctx) as (user, caller):
            found = self._calls.memory.sessions.list(user_id=user, agent_id=caller.agent_id)
        return json.dumps([info.model_dump(mode="json") for info in found])
