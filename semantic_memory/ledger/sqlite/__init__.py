"""The ledger on SQLite: changes are durable once `apply` returns."""

from semantic_memory.ledger.sqlite.ledger import SqliteLedger

__all__ = ["SqliteLedger"]
