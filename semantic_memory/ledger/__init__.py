"""The ledger of facts: on SQLite, or in memory."""
