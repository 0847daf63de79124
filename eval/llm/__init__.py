"""Extraction by a language model, replayed from recorded answers or asked of a real endpoint."""
