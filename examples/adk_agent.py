"""An agent of Google's ADK with a memory service; the model follows a script.

python -m examples.adk_agent
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types

from semantic_memory import SemanticMemory
from semantic_memory.integrations.adk import SemanticMemoryService

ANSWERS = iter(["Noted.", "No peanuts, as you are allergic."])


class Scripted(BaseLlm):
    """Stands in for a model, and prints what it is told."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        del stream
        told = [part.text for content in llm_request.contents for part in content.parts or ()]
        print("told:", *told, sep="\n")
        part = types.Part(text=next(ANSWERS))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def remember(callback_context: Any) -> None:
    """Observe the session after each run of the agent."""
    await callback_context.add_session_to_memory()


async def run(directory: Path) -> None:
    agent = LlmAgent(
        name="cook",
        model=Scripted(model="scripted"),
        tools=[PreloadMemoryTool()],
        after_agent_callback=remember,
    )
    with SemanticMemory.open(directory) as memory:
        runner = Runner(
            app_name="kitchen",
            agent=agent,
            session_service=InMemorySessionService(),
            memory_service=SemanticMemoryService(memory, max_results=3),
            auto_create_session=True,
        )
        for day, question in (
            ("monday", "I am allergic to peanuts."),
            ("tuesday", "Am I allergic to anything?"),
        ):
            message = types.Content(role="user", parts=[types.Part(text=question)])
            async for event in runner.run_async(
                user_id="maya", session_id=day, new_message=message
            ):
                if event.is_final_response() and event.content and event.content.parts:
                    print("agent:", event.content.parts[0].text)
            await asyncio.to_thread(memory.flush)


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1] if len(sys.argv) > 1 else "memory")))
