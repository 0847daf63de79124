"""Packers as a store makes them."""

from __future__ import annotations

from semantic_memory.bootstrap.read_path import make_packer
from semantic_memory.context.pack import Packer
from semantic_memory.domain.ports import TokenCounter
from semantic_memory.settings import ContextSettings


def packer_of(counter: TokenCounter, template: str = "xml") -> Packer:
    """A packer with the default settings."""
    return make_packer(ContextSettings(template=template), counter)
