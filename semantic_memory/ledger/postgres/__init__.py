"""The ledger on PostgreSQL, for any number of writing processes."""

from semantic_memory.ledger.postgres.ledger import PostgresLedger

__all__ = ["PostgresLedger"]
