"""The server for one agent, over standard input and output."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from semantic_memory.domain.categories import BUILT_IN, Declared
from semantic_memory.domain.errors import SemanticMemoryError
from semantic_memory.entrypoints.callers import Caller
from semantic_memory.entrypoints.mcp.server import build_server
from semantic_memory.entrypoints.rights import Toolset

if TYPE_CHECKING:
    from semantic_memory.client import Client
    from semantic_memory.entrypoints.shared import SharedStore
    from semantic_memory.memory import SemanticMemory


def run(
    share: Callable[[], SharedStore],
    caller: Caller,
    tools: Toolset = "five",
    declared: Declared = BUILT_IN,
) -> None:
    """Serve a caller until it closes standard input; the tools name the `declared` categories.

    The store is opened in the background, so that an agent needn't wait for it to learn what tools
    there are, nor its first question or the hooks of its sessions for the store. A call that can't
    open it answers with the reason, and the next one tries again.
    """
    # what an optional import of a library lacks is nothing to an agent, whose log this is
    warnings.filterwarnings("ignore", message="SOCKS support")
    with ExitStack() as stack:
        opening = threading.Lock()
        shared: list[SharedStore] = []

        def memory() -> SemanticMemory | Client:
            with opening:
                if not shared:
                    shared.append(stack.enter_context(share()))
                return shared[0].memory()

        def warm() -> None:
            try:
                memory().search("ready", user_id=caller.users[0], k=1)
            except SemanticMemoryError:
                return  # the first call says why, if it still can't be opened

        thread = threading.Thread(target=warm, name="semantic-memory-opening", daemon=True)
        thread.start()
        try:
            build_server(memory, lambda _: caller, tools, declared).run("stdio")
        finally:
            thread.join()
