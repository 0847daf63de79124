"""The manner in which a session is to be answered, as a part of its system prompt."""

from __future__ import annotations

from semantic_memory.domain.messages import SessionOptions

_LENGTH = {"brief": "Answer briefly.", "detailed": "Answer in detail."}


def manner(options: SessionOptions) -> str:
    """Return the instructions for a session's language and verbosity; empty if it has none."""
    language = f"Answer in {options.language}." if options.language else ""
    return " ".join(part for part in (language, _LENGTH.get(options.verbosity, "")) if part)
