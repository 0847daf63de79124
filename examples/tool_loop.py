"""A plain tool loop with a memory's tools, and Anthropic's memory tool; the model follows a script.

python -m examples.tool_loop
"""

from __future__ import annotations

import sys
from pathlib import Path

from semantic_memory import SemanticMemory
from semantic_memory.integrations.memory_tool import MemoryTool
from semantic_memory.integrations.tools import memory_tools

CALLS = [  # as a model sends them
    (
        "add_memory",
        '{"content": "Maya is allergic to peanuts", "category": "personal", "tags": []}',
    ),
    ("get_context", '{"query": "Is Maya allergic to peanuts?", "budget": 400}'),
    ("search_memory", '{"query": "peanuts", "limit": 1, "categories": null}'),
]
COMMANDS = [
    {"command": "create", "path": "/memories/cake.md", "file_text": "Cake for Maya\nno peanuts"},
    {"command": "str_replace", "path": "/memories/cake.md", "old_str": "no", "new_str": "never"},
    {"command": "view", "path": "/memories"},
]


def run(directory: Path) -> None:
    with SemanticMemory.open(directory) as memory:
        tools = memory_tools(memory, "maya", form="openai")
        print("tools:", [one["function"]["name"] for one in tools.definitions])
        for name, arguments in CALLS:
            print(f"{name}: {tools.call(name, arguments)}")
        files = MemoryTool(memory, "maya")
        for command in COMMANDS:
            print(files.call(command))


if __name__ == "__main__":
    run(Path(sys.argv[1] if len(sys.argv) > 1 else "memory"))
