"""The base of the parts that run on SQLite alone."""

from __future__ import annotations

from semantic_memory.ledger.sql import part
from semantic_memory.ledger.sqlite.connections import Connections


class Part(part.Part):
    """A part of the ledger on SQLite."""

    _connections: Connections
