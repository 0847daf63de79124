"""A memory block of LlamaIndex: recall in its `Memory`, and observing.

from semantic_memory.integrations.llama_index import SemanticMemoryBlock

block = SemanticMemoryBlock(memory=memory, user_id="maya")
history = Memory.from_defaults(session_id="monday", memory_blocks=[block])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

try:
    from llama_index.core.base.llms.types import ChatMessage, TextBlock
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.memory import BaseMemoryBlock
except ImportError as error:
    raise ImportError(
        "semantic_memory.integrations.llama_index needs LlamaIndex:"
        " pip install 'semantic-memory[llama-index]'"
    ) from error

from semantic_memory.domain import fields
from semantic_memory.domain.messages import Role
from semantic_memory.integrations.identifiers import identifier_of
from semantic_memory.integrations.observing import Utterance, observed
from semantic_memory.integrations.recalling import last_question, packed
from semantic_memory.integrations.steps import AnyMemory, run_async

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_NO_SESSION = "llama_index"
"""Session of messages that a `Memory` didn't give."""


class SemanticMemoryBlock(BaseMemoryBlock[str]):
    """A block that recalls what a memory knows of a user, and observes the conversation.

    LlamaIndex puts into a block only what leaves the chat history. So the block also observes the
    history each time it is read, each text of a session once; what it knows is there in the next
    session, however short this one was.
    """

    name: str = Field(default="semantic_memory", description="The name of the memory block.")
    memory: AnyMemory = Field(
        exclude=True, repr=False, description="An embedded memory, or a client of a service."
    )
    user_id: str = Field(description="The user whose memory it is.")
    budget: int = Field(
        default=fields.BUDGET.default,
        description="Most tokens of the context block, packed for the user's last message.",
    )
    observe: bool = Field(
        default=True, description="Observe what the user and the assistant say in text."
    )
    _known: frozenset[tuple[str, Utterance]] = PrivateAttr(default=frozenset())
    """The history as it was read last, which needn't be observed again."""

    async def _aget(
        self,
        messages: list[ChatMessage] | None = None,
        session_id: str = _NO_SESSION,
        **block_kwargs: Any,
    ) -> str:
        """Observe the history, and return the context block for the user's last message."""
        del block_kwargs
        history = [*_said(messages or ())]
        await self._observe(
            session_id, [one for one in history if (session_id, one) not in self._known]
        )
        self._known = frozenset((session_id, one) for one in history)
        steps = packed(
            last_question(reversed(history)),
            user_id=identifier_of(self.user_id),
            budget=self.budget,
        )
        return await run_async(self.memory, steps)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Observe messages that leave the chat history."""
        for session_id, run in groupby(messages, key=_session):
            await self._observe(session_id, [*_said(run)])

    async def _observe(self, session_id: str, said: Sequence[Utterance]) -> None:
        if self.observe:
            # Messages of LlamaIndex have no ids: a text of a session stands for itself.
            texts = [("llama_index", one) for one in said]
            place = identifier_of(session_id)
            steps = observed(texts, user_id=identifier_of(self.user_id), session_id=place)
            await run_async(self.memory, steps)


def _session(message: ChatMessage) -> str:
    return str(message.additional_kwargs.get("session_id") or _NO_SESSION)


def _said(messages: Iterable[ChatMessage]) -> Iterator[Utterance]:
    """Yield the texts of the user and the assistant."""
    for message in messages:
        if role := _ROLES.get(message.role):
            texts = (block.text for block in message.blocks if isinstance(block, TextBlock))
            yield Utterance(role, "\n".join(texts))
