"""What the ledgers on SQL share: rows, conditions, and the parts whose statements are the same."""
