"""An agent of the OpenAI Agents SDK with a session over a memory; the model follows a script.

python -m examples.openai_agents_session
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from agents import Agent, RunConfig, Runner
from agents.testing import ScriptedModel, assistant_message

from semantic_memory import SemanticMemory
from semantic_memory.integrations.openai_agents import SemanticMemorySession, recall


async def run(directory: Path) -> None:
    model = ScriptedModel(
        [[assistant_message("Noted.")], [assistant_message("No peanuts, as you are allergic.")]]
    )
    agent = Agent(name="cook", instructions="You plan meals.", model=model)
    with SemanticMemory.open(directory) as memory:
        config = RunConfig(
            call_model_input_filter=recall(memory, user_id="maya"), tracing_disabled=True
        )
        for day, question in (
            ("monday", "I am allergic to peanuts."),
            ("tuesday", "What snack may I have? I'm allergic to something."),
        ):
            session = SemanticMemorySession(day, memory, user_id="maya")
            answer = await Runner.run(agent, question, session=session, run_config=config)
            print("agent:", answer.final_output)
            await asyncio.to_thread(memory.flush)
        print("instructions:", model.calls[-1].system_instructions)
        print("items:", len(await session.get_items()))


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1] if len(sys.argv) > 1 else "memory")))
