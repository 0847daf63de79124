"""The ledger in memory, for tests: it ends with the process."""

from semantic_memory.ledger.memory.ledger import MemoryLedger

__all__ = ["MemoryLedger"]
