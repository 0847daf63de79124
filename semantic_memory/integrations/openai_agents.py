"""A session of the OpenAI Agents SDK over a memory, recall before each call of the model, tools.

from semantic_memory.integrations.openai_agents import SemanticMemorySession, recall

session = SemanticMemorySession("monday", memory, user_id="maya")
config = RunConfig(call_model_input_filter=recall(memory, user_id="maya"))
result = await Runner.run(agent, "What do I drink?", session=session, run_config=config)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

try:
    from agents import FunctionTool, SessionABC, SessionSettings, TResponseInputItem
    from agents.memory.session_settings import coerce_session_settings, resolve_session_limit
    from agents.run import CallModelData, ModelInputData
    from agents.tool_context import ToolContext
except ImportError as error:
    raise ImportError(
        "semantic_memory.integrations.openai_agents needs the OpenAI Agents SDK:"
        " pip install 'semantic-memory[openai-agents]'"
    ) from error

from semantic_memory.aio import AsyncSemanticMemory
from semantic_memory.domain import fields
from semantic_memory.integrations.identifiers import identifier_of
from semantic_memory.integrations.observing import Utterance
from semantic_memory.integrations.recalling import last_question, packed
from semantic_memory.integrations.steps import AnyMemory, run_async
from semantic_memory.integrations.tools import Memory, MemoryTools, memory_tools
from semantic_memory.integrations.transcripts import Entry, Transcript

_TEXTS = ("input_text", "output_text", "text")


class SemanticMemorySession(SessionABC):
    """A session whose items are kept exactly, and whose messages a memory observes.

    Items of every kind are items of the user, below the label `root`. What the user and the
    assistant say in text is observed as well, so that facts are extracted from it, unless
    `observe` is False. Ids with other characters than a memory's are encoded.

    `pop_item` also takes the message back from the memory, with the facts that nothing else
    supports. `clear_session` removes the items alone, as a compaction does; the memory keeps what
    was said.
    """

    def __init__(
        self,
        session_id: str,
        memory: AnyMemory,
        *,
        user_id: str,
        session_settings: SessionSettings | dict[str, Any] | None = None,
        observe: bool = True,
        root: str = "openai_agents",
    ) -> None:
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or SessionSettings())
        self._transcript = Transcript(
            memory, user_id=user_id, session_id=session_id, root=root, observe=observe
        )

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the latest `limit` items in order: by default those of the settings, or all."""
        most = resolve_session_limit(limit, self.session_settings)
        return await self._transcript.aread(None if most is None or most < 0 else most)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items behind the others."""
        await self._transcript.aappend(Entry(item, _said(item)) for item in items)

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove and return the latest item; None if there is none."""
        popped: TResponseInputItem | None = await self._transcript.apop()
        return popped

    async def clear_session(self) -> None:
        """Remove every item."""
        await self._transcript.aclear()


def recall(
    memory: AnyMemory, *, user_id: str, budget: int = fields.BUDGET.default
) -> Callable[[CallModelData[Any]], Awaitable[ModelInputData]]:
    """Return a `call_model_input_filter` that adds what the memory knows to the instructions.

    The block is packed for the last message of the user, in at most `budget` tokens. It is in no
    item, so that no session keeps it.
    """
    owner = identifier_of(user_id)

    async def add_block(data: CallModelData[Any]) -> ModelInputData:
        question = last_question(_said(item) for item in reversed(data.model_data.input))
        found = await run_async(memory, packed(question, user_id=owner, budget=budget))
        parts = [part for part in (data.model_data.instructions, found) if part]
        return ModelInputData(data.model_data.input, "\n\n".join(parts) or None)

    return add_block


def function_tools(memory: Memory | AsyncSemanticMemory, *, user_id: str) -> list[FunctionTool]:
    """Return the tools of one user's memory for `Agent(tools=...)`: see `tools.memory_tools`."""
    tools = memory_tools(memory, identifier_of(user_id), form="responses")
    return [
        FunctionTool(
            name=definition["name"],
            description=definition["description"],
            params_json_schema=definition["parameters"],
            on_invoke_tool=partial(_called, tools),
        )
        for definition in tools.definitions
    ]


async def _called(tools: MemoryTools, context: ToolContext[Any], arguments: str) -> str:
    return await tools.acall(context.tool_name, arguments)


def _said(item: Any) -> Utterance | None:
    """Return the text of a message of the user or the assistant; None of another item."""
    role, content = item.get("role"), item.get("content")
    if item.get("type", "message") != "message" or role not in ("user", "assistant"):
        return None
    if isinstance(content, str):
        return Utterance(role, content)
    texts = [part.get("text") or "" for part in content or () if part.get("type") in _TEXTS]
    return Utterance(role, "\n".join(texts)) if texts else None
