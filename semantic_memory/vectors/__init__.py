"""Embedding models, the vector index on Chroma, and its synchronisation with the ledger."""
