"""Clients of language models: one adaptive client for every endpoint and task."""
