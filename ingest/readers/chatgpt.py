"""Reader of ChatGPT's data export: `conversations.json`, a list of trees of messages.

A conversation is a `mapping` of nodes, each with its parent; regenerated answers and edited
questions are branches. The path to `current_node` is the conversation that the user saw last.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader
from typing import Any

from ingest.readers.chatgpt_memory import SavedMemories
from ingest.readers.documents import items
from ingest.readers.records import Found
from ingest.readers.values import Builder, Rejected, moment
from semantic_memory.domain.blocks import text_of
from semantic_memory.domain.values import derived_id

# Reasoning of a model, and settings repeated in every conversation.
_UNSAID = frozenset(
    {"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context"}
)


def read_chatgpt(file: BufferedReader, saved: SavedMemories) -> Iterator[Found]:
    """Read the messages on each conversation's current path; `saved` takes note of the memories.

    A conversation is a session.
    """
    builder = Builder()
    for number, conversation in enumerate(items(file), start=1):
        place = f"conversation {number}"
        try:
            session_id, messages = _conversation(conversation)
        except (ValueError, AttributeError, KeyError, TypeError):
            yield Rejected(place, "is not a conversation with a `mapping` of messages")
            continue
        for position, message in enumerate(messages, start=1):
            try:
                saved.note(message, conversation.get("create_time"))
                if values := _values(message, conversation.get("create_time")):
                    yield builder.incoming(None, session_id, values)
            except (ValueError, AttributeError, KeyError, TypeError) as error:
                yield Rejected(f"{place}, message {position}", str(error))


def _conversation(conversation: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """Return the session's id, and the messages from the first to the current one."""
    nodes: dict[str, dict[str, Any]] = conversation["mapping"]
    session_id = conversation.get("conversation_id") or conversation.get("id")
    if session_id is None:
        session_id = derived_id(str(conversation.get("create_time")), *nodes)
    current = conversation.get("current_node")
    if current not in nodes:  # take the latest message
        said = [key for key, node in nodes.items() if node.get("message")]
        current = max(said, key=lambda key: _time(nodes[key]["message"]), default=None)
    path: dict[str, dict[str, Any]] = {}
    while current in nodes and current not in path:
        path[current] = nodes[current]
        current = nodes[current].get("parent")
    messages = [node["message"] for node in reversed(path.values()) if node.get("message")]
    return str(session_id), messages


def _values(message: dict[str, Any], conversation_time: Any) -> dict[str, Any] | None:
    """Return the fields of a message; None for one that isn't part of the conversation."""
    content = message.get("content") or {}
    hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
    to_a_tool = message.get("recipient") not in (None, "all")
    if hidden or to_a_tool or content.get("content_type") in _UNSAID:
        return None
    text = text_of(content.get("parts")) or text_of(content.get("text") or content.get("result"))
    if not text.strip():
        return None
    time = message.get("create_time") or conversation_time
    return {
        "id": message["id"],
        "role": message["author"]["role"],
        "content": text,
        "created_at": moment(time) if time else None,
    }


def _time(message: dict[str, Any]) -> float:
    return float(message.get("create_time") or 0)
