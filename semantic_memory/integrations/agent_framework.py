"""A context provider of Microsoft's Agent Framework: recall, observing, and tools.

from semantic_memory.integrations.agent_framework import SemanticMemoryProvider

agent = Agent(client, context_providers=[SemanticMemoryProvider(memory, user_of="maya")])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any

try:
    from agent_framework import (
        AgentSession,
        ContextProvider,
        FunctionTool,
        Message,
        SessionContext,
        SupportsAgentRun,
    )
except ImportError as error:
    raise ImportError(
        "semantic_memory.integrations.agent_framework needs Microsoft's Agent Framework:"
        " pip install 'semantic-memory[agent-framework]'"
    ) from error

from semantic_memory.domain import fields
from semantic_memory.domain.values import new_id
from semantic_memory.integrations.identifiers import identifier_of
from semantic_memory.integrations.observing import Utterance, observed
from semantic_memory.integrations.recalling import owner_in, packed
from semantic_memory.integrations.steps import AnyMemory, blocking, run_async
from semantic_memory.integrations.tools import memory_tools


class SemanticMemoryProvider(ContextProvider):
    """Recalls before each run of an agent, and observes after it.

    `user_of` returns the user of a session, or is the one user of all. The context block, of at
    most `budget` tokens, is packed for the user's last message and stands behind the instructions
    of the agent. What the user and the agent said in text is observed after each turn, in a session
    named for the agent's, unless `observe` is False. With `tools`, the agent has the tools of
    `tools.memory_tools`, for the user of the session; they need a memory or a `Client`.
    """

    after_run_once_per_turn = True
    """In a loop of the framework, only what the user asked at first is the user's."""

    def __init__(
        self,
        memory: AnyMemory,
        *,
        user_of: Callable[[AgentSession], str] | str,
        budget: int = fields.BUDGET.default,
        observe: bool = True,
        tools: bool = False,
        source_id: str = "semantic_memory",
    ) -> None:
        super().__init__(source_id)
        self._memory = blocking(memory) if tools else memory
        self._user_of = user_of
        self._budget = budget
        self._observe = observe
        self._tools = tools

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Add the context block to the instructions, and the tools if they are asked for."""
        del agent, state
        user_id = self._user(session)
        asked = _asked(context.input_messages)
        question = asked[-1].text if asked else ""
        steps = packed(question, user_id=user_id, budget=self._budget)
        if block := await run_async(self._memory, steps):
            context.extend_instructions(self.source_id, block)
        if self._tools:
            context.extend_tools(self.source_id, _tools(self._memory, user_id))

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Observe what was said in the turn."""
        del agent, state
        if not self._observe:
            return
        answers = context.response.messages if context.response else ()
        said = [*_said("user", _asked(context.input_messages)), *_said("assistant", answers)]
        session_id = identifier_of(session.session_id)
        await run_async(
            self._memory, observed(said, user_id=self._user(session), session_id=session_id)
        )

    def _user(self, session: AgentSession) -> str:
        return owner_in(self._user_of, session)


def _asked(messages: Sequence[Message]) -> list[Message]:
    """Return the user's messages at the end; what stands before them was said earlier."""
    return [*takewhile(lambda message: message.role == "user", reversed(messages))][::-1]


def _said(role: Any, messages: Sequence[Message]) -> Iterator[tuple[str, Utterance]]:
    """Yield the texts of a role, each with the id of its message, or a new one."""
    for message in messages:
        if message.role == role:
            texts = (part.text or "" for part in message.contents if part.type == "text")
            yield (
                message.message_id or new_id(),
                Utterance(role, "\n".join(texts), name=message.author_name or None),
            )


def _tools(memory: AnyMemory, user_id: str) -> list[FunctionTool]:
    tools = memory_tools(blocking(memory), user_id, form="responses")

    def tool(definition: dict[str, Any]) -> FunctionTool:
        async def call(**arguments: Any) -> str:
            return await tools.acall(definition["name"], arguments)

        return FunctionTool(
            name=definition["name"],
            description=definition["description"],
            func=call,
            input_model=definition["parameters"],
        )

    return [tool(definition) for definition in tools.definitions]
