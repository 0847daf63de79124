"""A LangGraph agent whose tools remember in a store over a memory; the model follows a script.

python -m examples.langgraph_agent
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from langchain.agents import create_agent
from langchain.tools import InjectedStore, tool
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.store.base import BaseStore

from semantic_memory import SemanticMemory
from semantic_memory.integrations.langgraph import SemanticMemoryStore

PLACE = ("memories", "maya")


class Scripted(GenericFakeChatModel):
    """Stands in for a model that calls tools."""

    def bind_tools(self, *_: Any, **__: Any) -> Scripted:
        return self


@tool
def remember(text: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
    """Remember something about the user."""
    store.put(PLACE, "note", {"text": text})
    return "remembered"


@tool
def recall(query: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
    """Recall what helps with a question."""
    return str([item.value["text"] for item in store.search(PLACE, query=query)])


def run(directory: Path) -> None:
    said = [
        _calls("remember", text="allergic to peanuts"),
        AIMessage("Noted."),
        _calls("recall", query="allergies"),
        AIMessage("You told me: allergic to peanuts"),
    ]
    with SemanticMemory.open(directory) as memory:
        store = SemanticMemoryStore(memory, user_of=lambda namespace: namespace[1])
        agent = create_agent(Scripted(messages=iter(said)), [remember, recall], store=store)
        for question in ("I'm allergic to peanuts.", "What am I allergic to?"):
            answer = agent.invoke({"messages": [HumanMessage(question)]})
            print("agent:", answer["messages"][-1].content)
        print("kept:", memory.items.list(["langgraph"], user_id="maya")[0].value)


def _calls(name: str, **arguments: str) -> AIMessage:
    call = {"name": name, "args": arguments, "id": name, "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


if __name__ == "__main__":
    run(Path(sys.argv[1] if len(sys.argv) > 1 else "memory"))
