"""The ledger in memory: nothing is kept after the process. For tests."""

from semantic_memory.ledger.memory.ledger import MemoryLedger

__all__ = ["MemoryLedger"]
