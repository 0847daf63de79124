"""A capability of pydantic-ai agents: recall as instructions, tools, and observing after a run.

from semantic_memory.integrations.pydantic_ai import SemanticMemoryCapability

remembering = SemanticMemoryCapability(memory, user_of=lambda ctx: ctx.deps.user_id)
agent = Agent("openai:gpt-5", deps_type=Deps, capabilities=[remembering])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

try:
    from pydantic_ai import RunContext, Tool
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import (
        ModelMessage,
        ModelResponse,
        TextContent,
        TextPart,
        UserContent,
        UserPromptPart,
    )
    from pydantic_ai.run import AgentRunResult
    from pydantic_ai.toolsets import FunctionToolset
except ImportError as error:
    raise ImportError(
        "semantic_memory.integrations.pydantic_ai needs pydantic-ai:"
        " pip install 'semantic-memory[pydantic-ai]'"
    ) from error

from semantic_memory.domain import fields
from semantic_memory.integrations.identifiers import identifier_of
from semantic_memory.integrations.observing import Utterance, observed
from semantic_memory.integrations.recalling import owner_in, packed
from semantic_memory.integrations.steps import AnyMemory, blocking, run_async
from semantic_memory.integrations.tools import memory_tools

_OF_TOOLS = ("tool-return", "retry-prompt")


@dataclass
class SemanticMemoryCapability(AbstractCapability[Any]):
    """Recalls before each request to the model, and observes after each run of the agent."""

    memory: AnyMemory = field(repr=False)
    """An embedded memory, or a client of a service."""
    _: KW_ONLY
    user_of: Callable[[RunContext[Any]], str] | str
    """Names the user of a run, or is the one user of all."""
    budget: int = fields.BUDGET.default
    """Most tokens of the context block, which is packed for the user's last prompt."""
    observe: bool = True
    """Observe what the user and the agent said in a run, in a session of its conversation."""
    tools: bool = False
    """Give the agent the tools of `tools.memory_tools`, for the user of the run."""

    def get_instructions(self) -> Callable[[RunContext[Any]], Any]:
        """Return the instruction that packs the block for each request."""
        return self._block

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return the tools, if they are asked for."""
        if not self.tools:
            return None
        known = memory_tools(blocking(self.memory), "any", form="responses").definitions
        return FunctionToolset([self._tool(definition) for definition in known])

    async def after_run(
        self, ctx: RunContext[Any], *, result: AgentRunResult[Any]
    ) -> AgentRunResult[Any]:
        """Observe what was said; return the result as it is."""
        if self.observe:
            said = _said(result.new_messages(), ctx.prompt)
            turn = [(f"{ctx.run_id}/{number}", one) for number, one in enumerate(said)]
            session_id = identifier_of(ctx.conversation_id or str(ctx.run_id))
            steps = observed(turn, user_id=self._user(ctx), session_id=session_id)
            await run_async(self.memory, steps)
        return result

    def _user(self, ctx: RunContext[Any]) -> str:
        return owner_in(self.user_of, ctx)

    async def _block(self, ctx: RunContext[Any]) -> str | None:
        question = _text(ctx.prompt) or _last_prompt(ctx.messages)
        steps = packed(question, user_id=self._user(ctx), budget=self.budget)
        return await run_async(self.memory, steps) or None

    def _tool(self, definition: dict[str, Any]) -> Tool[Any]:
        memory, name = blocking(self.memory), definition["name"]

        async def call(ctx: RunContext[Any], **arguments: Any) -> str:
            return await memory_tools(memory, self._user(ctx)).acall(name, arguments)

        return Tool.from_schema(
            call,
            name,
            description=definition["description"],
            json_schema=definition["parameters"],
            takes_ctx=True,
        )


def _text(content: str | Sequence[UserContent] | None) -> str:
    """Return the texts of a prompt."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = (one.content if isinstance(one, TextContent) else one for one in content)
    return "\n".join(one for one in texts if isinstance(one, str))


def _last_prompt(messages: Sequence[ModelMessage]) -> str:
    for message in reversed(messages):
        for part in reversed(message.parts):
            if isinstance(part, UserPromptPart):
                return _text(part.content)
    return ""


def _said(
    messages: Sequence[ModelMessage], prompt: str | Sequence[UserContent] | None
) -> Iterator[Utterance]:
    """Yield what the user and the model said in messages.

    Tools can put prompts beside what they return; there only the user's own prompt counts.
    """
    for message in messages:
        if isinstance(message, ModelResponse):
            texts = [part.content for part in message.parts if isinstance(part, TextPart)]
            yield Utterance("assistant", "\n".join(texts))
            continue
        prompts = [part for part in message.parts if isinstance(part, UserPromptPart)]
        beside = any(part.part_kind in _OF_TOOLS for part in message.parts)
        for part in prompts:
            if part.content == prompt or not beside:
                yield Utterance("user", _text(part.content))
