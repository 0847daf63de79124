"""An agent of Microsoft's Agent Framework with a context provider; the model follows a script.

python -m examples.agent_framework_agent
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_framework import Agent, BaseChatClient, ChatResponse, FunctionInvocationLayer, Message

from semantic_memory import SemanticMemory
from semantic_memory.integrations.agent_framework import SemanticMemoryProvider

ANSWERS = iter(["Noted.", "No peanuts, as you are allergic."])


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """Stands in for a model, and prints what it is told."""

    async def _inner_get_response(self, *, options: Mapping[str, Any], **_: Any) -> ChatResponse:
        print("instructions:", options["instructions"])
        return ChatResponse(messages=[Message(role="assistant", contents=[next(ANSWERS)])])


async def run(directory: Path) -> None:
    with SemanticMemory.open(directory) as memory:
        remembering = SemanticMemoryProvider(memory, user_of="maya")
        agent = Agent(Scripted(), "You plan meals.", context_providers=[remembering])
        for question in ("I am allergic to peanuts.", "What am I allergic to?"):
            print("agent:", (await agent.run(question)).text)
            await asyncio.to_thread(memory.flush)


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1] if len(sys.argv) > 1 else "memory")))
