"""The messages that a memory has observed, by session."""

from __future__ import annotations

from semantic_memory import SemanticMemory


def said(memory: SemanticMemory, user_id: str = "maya") -> dict[str, list[str]]:
    """Return the messages of a user's sessions, each as `role: text`."""
    memory.flush()
    return {
        session.session_id: [
            f"{message.role}: {message.content}"
            for message in memory.sessions.messages(user_id=user_id, session_id=session.session_id)
        ]
        for session in memory.sessions.list(user_id=user_id)
    }
