"""The truth of facts: on SQLite, or in memory."""
