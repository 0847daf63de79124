"""Embedding models, one backend a module."""
