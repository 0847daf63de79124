"""Packing memories into a prompt: exact tokens, never over budget, data that can't speak."""
