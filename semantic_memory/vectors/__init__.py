"""Embeddings: the models that make them, Chroma that holds them, and keeping it level."""
