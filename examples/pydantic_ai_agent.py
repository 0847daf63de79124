"""A pydantic-ai agent that recalls and remembers by a capability; the model follows a script.

python -m examples.pydantic_ai_agent
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from semantic_memory import SemanticMemory
from semantic_memory.integrations.pydantic_ai import SemanticMemoryCapability

ANSWERS = iter(["Noted.", "No peanuts, as you are allergic."])


def answer(_: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Stand in for a model, and print what it is told."""
    print("instructions:", info.instructions)
    return ModelResponse([TextPart(next(ANSWERS))])


async def run(directory: Path) -> None:
    with SemanticMemory.open(directory) as memory:
        remembering = SemanticMemoryCapability(memory, user_of="maya")
        agent = Agent(
            FunctionModel(answer), instructions="You plan meals.", capabilities=[remembering]
        )
        for question in ("I am allergic to peanuts.", "What am I allergic to?"):
            print("agent:", (await agent.run(question)).output)
            await asyncio.to_thread(memory.flush)


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1] if len(sys.argv) > 1 else "memory")))
