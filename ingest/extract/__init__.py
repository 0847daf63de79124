"""Extractors: what in a conversation is worth keeping."""
