"""The server for one agent, over standard input and output."""

from __future__ import annotations

from semantic_memory.client import Client
from semantic_memory.entrypoints.keys import Caller, Right
from semantic_memory.entrypoints.mcp.server import build_server
from semantic_memory.memory import SemanticMemory


def run(memory: SemanticMemory | Client, user: str, rights: frozenset[Right]) -> None:
    """Serve until the agent closes standard input."""
    caller = Caller("stdio", (user,), rights)
    build_server(memory, lambda _: caller).run("stdio")
