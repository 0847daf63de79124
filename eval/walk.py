"""The way of one message and of one query through the rooms of the code.

A room is a package of `semantic_memory`, a module beside them, or `ingest`. A hand-off is a call
from one module or room to another; each pair counts once. The domain's values and rules, which all
rooms share, are left out, but for the number of all modules and functions; so are the fakes of the
embedding model and of Chroma.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any

from rich.table import Table

import semantic_memory
from semantic_memory import Message, SemanticMemory
from semantic_memory.testing import HashEmbedder, InMemoryIndex

_ROOT = Path(semantic_memory.__file__).parent.parent
_SHARED = "semantic_memory/domain/"
_FAKES = "semantic_memory/testing.py"
_USER = "someone"


@dataclass
class Walk:
    """Modules called between two points in time, in the order of their first call."""

    modules: dict[str, None] = field(default_factory=dict)
    hand_offs: dict[tuple[str, str], None] = field(default_factory=dict)
    functions: set[tuple[str, str]] = field(default_factory=set)
    """All functions, as modules and names, those of the domain among them."""

    @property
    def rooms(self) -> list[str]:
        """Return the rooms in the order of their first call."""
        return list(dict.fromkeys(room(module) for module in self.modules))

    @property
    def between_rooms(self) -> list[tuple[str, str]]:
        """Return the hand-offs between rooms in the order of their first call."""
        pairs = ((room(caller), room(called)) for caller, called in self.hand_offs)
        return list(dict.fromkeys((caller, called) for caller, called in pairs if caller != called))

    def note(self, frame: FrameType, event: str, argument: Any) -> None:
        """Note a call; a profile function of `sys.setprofile`."""
        del argument
        module = _module(frame.f_code) if event == "call" else None
        if module is None:
            return
        self.functions.add((module, frame.f_code.co_qualname))
        if module.startswith(_SHARED):
            return
        self.modules.setdefault(module)
        caller, back = None, frame.f_back
        while back is not None and _is_shared(caller := _module(back.f_code)):
            back = back.f_back
        if caller is not None and not _is_shared(caller) and caller != module:
            self.hand_offs.setdefault((caller, module))


def room(module: str) -> str:
    """Return the room of a module, given its path.

    >>> room("semantic_memory/ledger/sqlite/facts.py"), room("ingest/gate/secrets.py")
    ('ledger', 'ingest')
    """
    first, *rest = Path(module).with_suffix("").parts
    return first if first == "ingest" else rest[0]


def walks() -> tuple[Walk, Walk]:
    """Walk with a message that replaces a fact, and with a query; return both walks."""
    message, query = Walk(), Walk()
    with TemporaryDirectory(prefix="semantic-memory-walk-") as directory:
        path = Path(directory)
        with SemanticMemory.open(path, embedder=HashEmbedder(), index=InMemoryIndex()) as memory:
            _tell(memory, "I live in Oslo.", "first")
        threading.setprofile(message.note)  # the threads of the next store
        try:
            with SemanticMemory.open(
                path, embedder=HashEmbedder(), index=InMemoryIndex()
            ) as memory:
                message.modules.clear()
                message.hand_offs.clear()
                message.functions.clear()
                _traced(message, lambda: _tell(memory, "I moved to Bergen.", "second"))
                _traced(query, lambda: memory.search("Where do I live?", user_id=_USER))
        finally:
            threading.setprofile(None)
    return message, query


def table() -> Table:
    """Return a table of both walks: rooms, modules and hand-offs."""
    figures = Table(
        "of one",
        "rooms",
        "hand-offs between rooms",
        "modules",
        "between modules",
        "all modules",
        "functions",
    )
    for name, walk in zip(("message", "query"), walks(), strict=True):
        figures.add_row(
            name,
            f"{len(walk.rooms)}: {', '.join(walk.rooms)}",
            str(len(walk.between_rooms)),
            str(len(walk.modules)),
            str(len(walk.hand_offs)),
            str(len({module for module, _ in walk.functions})),
            str(len(walk.functions)),
        )
    return figures


def _tell(memory: SemanticMemory, text: str, session_id: str) -> None:
    message = Message(role="user", content=text)
    memory.observe([message], user_id=_USER, session_id=session_id)
    memory.flush()


def _traced(walk: Walk, work: Callable[[], object]) -> None:
    sys.setprofile(walk.note)
    try:
        work()
    finally:
        sys.setprofile(None)


def _module(code: CodeType) -> str | None:
    try:
        module = Path(code.co_filename).relative_to(_ROOT).as_posix()
    except ValueError:
        return None
    ours = module.startswith(("semantic_memory/", "ingest/")) and module != _FAKES
    return module if ours else None


def _is_shared(module: str | None) -> bool:
    return module is None or module.startswith(_SHARED)
