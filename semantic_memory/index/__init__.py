"""What can be found: one user's memories in RAM, everyone's in Chroma; both follow the ledger."""
