"""The ledger of facts: on SQLite, or on PostgreSQL."""
