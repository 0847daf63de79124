"""The truth of facts: SQLite, every change in a transaction, nothing acknowledged lost."""
