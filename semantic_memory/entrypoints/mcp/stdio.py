"""The server for one agent, over standard input and output."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from semantic_memory.entrypoints.callers import Caller
from semantic_memory.entrypoints.mcp.server import build_server

if TYPE_CHECKING:
    from semantic_memory.client import Client
    from semantic_memory.entrypoints.shared import SharedStore
    from semantic_memory.memory import SemanticMemory


def run(share: Callable[[], SharedStore], caller: Caller) -> None:
    """Serve a caller until it closes standard input.

    The store is opened by the first call of a tool, so that an agent needn't wait for it to learn
    what tools there are; a call that can't open it answers with the reason, and the next one tries
    again.
    """
    with ExitStack() as stack:
        opening = threading.Lock()
        shared: list[SharedStore] = []

        def memory() -> SemanticMemory | Client:
            with opening:
                if not shared:
                    shared.append(stack.enter_context(share()))
            return shared[0].memory()

        build_server(memory, lambda _: caller).run("stdio")
