"""The ledger on SQLite: every change in a transaction, nothing acknowledged lost."""

from semantic_memory.ledger.sqlite.ledger import SqliteLedger

__all__ = ["SqliteLedger"]
