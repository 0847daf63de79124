"""Offline evaluation of retrieval quality; run from a checkout: python -m eval."""
