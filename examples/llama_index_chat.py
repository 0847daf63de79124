"""A chat engine of LlamaIndex with a memory block; the model follows a script.

python -m examples.llama_index_chat
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.memory import Memory

from semantic_memory import SemanticMemory
from semantic_memory.integrations.llama_index import SemanticMemoryBlock

ANSWERS = iter(["Noted.", "No peanuts, as you are allergic."])


class Scripted(CustomLLM):
    """Stands in for a model, and prints what it is told."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        del formatted
        print("told:", prompt)
        return CompletionResponse(text=next(ANSWERS))

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        yield self.complete(prompt, formatted)


async def run(directory: Path) -> None:
    with SemanticMemory.open(directory) as memory:
        block = SemanticMemoryBlock(memory=memory, user_id="maya")
        for day, question in (
            ("monday", "I am allergic to peanuts."),
            ("tuesday", "What am I allergic to?"),
        ):
            history = Memory.from_defaults(session_id=day, memory_blocks=[block])
            engine = SimpleChatEngine.from_defaults(llm=Scripted(), memory=history)
            print("agent:", await engine.achat(question))
            await asyncio.to_thread(memory.flush)


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1] if len(sys.argv) > 1 else "memory")))
