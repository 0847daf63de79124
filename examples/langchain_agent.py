"""A LangChain agent that recalls and remembers by a middleware; the model follows a script.

python -m examples.langchain_agent
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import HumanMessage

from semantic_memory import SemanticMemory
from semantic_memory.integrations.langchain import SemanticMemoryMiddleware, SemanticMemoryRetriever


class Scripted(GenericFakeChatModel):
    """Stands in for a model, and prints what it is told."""

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        print("told:", *(f"{message.type}: {message.text}" for message in messages), sep="\n")
        return super()._generate(messages, *args, **kwargs)


def run(directory: Path) -> None:
    model = Scripted(messages=iter(["Noted.", "No peanuts, as you are allergic."]))
    with SemanticMemory.open(directory) as memory:
        remembering = SemanticMemoryMiddleware(memory, user_of="maya")
        agent = create_agent(model, middleware=[remembering], system_prompt="You plan meals.")
        for question in ("I am allergic to peanuts.", "What am I allergic to?"):
            answer = agent.invoke({"messages": [HumanMessage(question)]})
            print("agent:", answer["messages"][-1].content)
            memory.flush()
        retriever = SemanticMemoryRetriever(memory, user_id="maya", k=1)
        print("found:", retriever.invoke("allergies")[0].page_content)


if __name__ == "__main__":
    run(Path(sys.argv[1] if len(sys.argv) > 1 else "memory"))
