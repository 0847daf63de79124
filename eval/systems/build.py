"""Choice of a system by its name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, get_args

from eval.systems import System
from eval.systems.ours import Ours
from eval.systems.plain import Plain
from semantic_memory.domain.errors import MissingDependencyError
from semantic_memory.domain.ports import Embedder

Name = Literal[
    "semantic-memory",
    "dense",
    "bm25",
    "min-max",
    "rrf",
    "chroma",
    "langgraph",
    "mem0",
    "txtai",
    "mempalace",
]
NAMES: tuple[Name, ...] = get_args(Name)
OURS: Name = "semantic-memory"
INCLUDED: tuple[Name, ...] = NAMES[: NAMES.index("langgraph")]
"""Systems that need no further package."""


def build_system(
    name: Name, embedder: Embedder, directory: Path, *, rerank: bool = False
) -> System:
    """Create an empty system by name, with its files in `directory`.

    This product reorders the hits of its searches by its reranker if `rerank`. Raises
    MissingDependencyError if the package of another isn't installed.
    """
    try:
        match name:
            case "semantic-memory":
                return Ours(directory, embedder, rerank=rerank)
            case "dense" | "bm25" | "min-max" | "rrf":
                return Plain(name, embedder)
            case "chroma":
                from eval.systems.chroma import Chroma

                return Chroma(embedder)
            case "langgraph":
                from eval.systems.langgraph import LangGraph

                return LangGraph(embedder)
            case "mem0":
                # Read when mem0 is imported: no telemetry, and no files in the home directory.
                os.environ.setdefault("MEM0_TELEMETRY", "False")
                os.environ.setdefault("MEM0_DIR", str(directory))
                from eval.systems.mem0 import Mem0

                return Mem0(embedder, directory)
            case "txtai":
                from eval.systems.txtai import Txtai

                return Txtai(embedder)
            case "mempalace":
                from eval.systems.mempalace import MemPalace

                return MemPalace(embedder, directory)
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"{name} isn't installed ({error}): pip install 'semantic-memory[eval-{name}]'"
        ) from None
