"""Adapters of `Reranker`: models that reorder the best hits of a search."""
