"""Samples of what other memory systems export, written in their formats."""

from __future__ import annotations

import json
from typing import Any

MEMORIES: list[dict[str, Any]] = [
    {
        "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
        "memory": "Lives in Bergen",
        "hash": "1a271c007316c94377175ee80e746a19",
        "metadata": {"source": "onboarding", "score": 0.5},
        "created_at": "2025-02-27T16:33:20.557-07:00",
        "updated_at": "2025-06-01T08:00:00+00:00",
        "user_id": "maya",
        "agent_id": "travel-agent",
        "run_id": "trip-7",
        "actor_id": None,
        "role": "user",
        "categories": ["personal_details", "User Preferences"],
    },
    {
        "id": "0a14d8f0-e364-4f5c-b305-10da1f0d0878",
        "memory": "Prefers window seats",
        "hash": "bf2b4d1e",
        "metadata": None,
        "created_at": "2025-03-01T00:00:00+00:00",
        "updated_at": None,
        "user_id": "maya",
    },
    {"id": "no text", "user_id": "maya"},
]
MEM0 = {
    "results": MEMORIES,
    "relations": [{"source": "maya", "relationship": "lives_in", "target": "bergen"}],
}
BERGEN = MEMORIES[0]["id"]


def event(
    number: int, kind: str, old: str | None, new: str | None, at: str, **more: Any
) -> dict[str, Any]:
    """Return an event as mem0's `history` has it."""
    return {
        "id": f"e{number}",
        "memory_id": BERGEN,
        "old_memory": old,
        "new_memory": new,
        "event": kind,
        "created_at": "2025-01-01T00:00:00+00:00",
        "updated_at": at,
        "is_deleted": False,
        **more,
    }


HISTORY = [
    event(1, "ADD", None, "Lives in Oslo", "2025-01-01T00:00:00+00:00"),
    event(2, "UPDATE", "Lives in Oslo", "Lives in Bergen", "2025-06-01T08:00:00+00:00"),
]

ZEP: list[dict[str, Any]] = [
    {
        "uuid": "6ff0c2f3-4ad0-4b0e-9a4b-27c0ab7ab4f1",
        "group_id": "maya-graph",
        "source_node_uuid": "n1",
        "target_node_uuid": "n2",
        "created_at": "2025-03-02T10:00:00.123456Z",
        "name": "WORKS_AT",
        "fact": "Maya works at Statoil",
        "fact_embedding": None,
        "episodes": ["ep-1", "ep-2"],
        "expired_at": "2025-05-01T09:00:00Z",
        "valid_at": "2020-08-01T00:00:00Z",
        "invalid_at": "2025-04-30T00:00:00Z",
        "attributes": {"position": "analyst"},
    },
    {
        "uuid": "e2",
        "created_at": "2025-05-01T09:00:00Z",
        "name": "WORKS_AT",
        "fact": "Maya works at Equinor",
        "source_node_uuid": "n1",
        "target_node_uuid": "n3",
        "valid_at": "2025-04-30T00:00:00Z",
        "invalid_at": "2999-01-01T00:00:00Z",
        "expired_at": None,
    },
    {
        "uuid": "e3",
        "created_at": "2025-05-01T09:00:00Z",
        "name": "OWNS",
        "fact": "Maya owns a kayak",
        "expired_at": "2025-07-01T00:00:00Z",
    },
]

LETTA: dict[str, Any] = {
    "agents": [
        {
            "name": "Sam the guide",
            "memory_blocks": [],
            "block_ids": ["block-0", "block-1"],
            "system": "You are helpful.",
            "agent_type": "memgpt_agent",
            "id": "agent-0",
            "in_context_message_ids": ["message-0"],
            "messages": [
                {
                    "role": "system",
                    "content": [{"type": "text", "text": "You are helpful."}],
                    "id": "message-0",
                    "created_at": "2025-10-31T22:56:56.459100+00:00",
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "text",
                            "text": json.dumps({"type": "user_message", "message": "I sail a lot"}),
                        }
                    ],
                    "id": "message-1",
                    "created_at": "2025-10-31T22:57:00+00:00",
                },
                {
                    "role": "assistant",
                    "content": [{"type": "text", "text": "They sail. Note that."}],
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {
                                "name": "send_message",
                                "arguments": json.dumps({"message": "Where do you sail?"}),
                            },
                        }
                    ],
                    "id": "message-2",
                    "created_at": "2025-10-31T22:57:05+00:00",
                },
                {
                    "role": "tool",
                    "content": [{"type": "text", "text": '{"status": "OK"}'}],
                    "tool_call_id": "c1",
                    "id": "message-3",
                    "created_at": "2025-10-31T22:57:06+00:00",
                },
                {
                    "role": "user",
                    "content": [{"type": "text", "text": json.dumps({"type": "heartbeat"})}],
                    "id": "message-4",
                    "created_at": "2025-10-31T22:58:00+00:00",
                },
                {
                    "role": "assistant",
                    "content": [{"type": "text", "text": "Fair winds."}],
                    "tool_calls": None,
                    "id": "message-5",
                    "created_at": "2025-10-31T22:59:00+00:00",
                },
                {"id": "message-6"},
            ],
        },
        {"name": "Second", "block_ids": ["block-1"], "messages": []},
    ],
    "groups": [],
    "blocks": [
        {"id": "block-0", "label": "human", "value": "Name: Chad\n\n- Studies in Berkeley\n"},
        {"id": "block-1", "label": "house", "value": "The cat is called Miso."},
    ],
    "tools": [],
}
LETTA_V1 = {
    "agent_type": "memgpt_agent",
    "core_memory": [
        {
            "created_at": "2025-03-30T02:11:19+00:00",
            "updated_at": "2025-04-01T02:11:19+00:00",
            "label": "human",
            "value": "The human likes jazz.",
            "limit": 5000,
        }
    ],
    "messages": [
        {
            "role": "user",
            "content": [{"type": "text", "text": "Hello"}],
            "created_at": "2025-04-01T02:12:00+00:00",
            "tool_calls": [],
        }
    ],
    "name": "jazz_agent",
    "version": "0.6.47",
}
PASSAGES = [
    {
        "id": "passage-1",
        "text": "Maya keeps bees.",
        "archive_id": "archive-1",
        "created_at": "2025-02-02T00:00:00Z",
        "tags": ["hobby"],
        "metadata": {"by": "agent"},
        "embedding": [0.1, 0.2],
        "is_deleted": False,
    },
    {"id": "passage-2", "text": "Gone", "archive_id": "archive-1", "is_deleted": True},
]

CLAUDE = [
    {
        "conversations_memory": "**Work context**\n\nMaya is a nurse in Bergen.",
        "project_memories": {"0198-aa": "- Plans a garden for 2026"},
        "memory_files": [
            {
                "path": "/profile.md",
                "content": "# Profile\n- Prefers metric units",
                "updated_at": "2026-01-02T03:04:05.000000Z",
            }
        ],
        "account_uuid": "acct",
    }
]

GRAPH = [
    {
        "type": "entity",
        "name": "default_user",
        "entityType": "person",
        "observations": ["Lives in Bergen"],
    },
    {
        "type": "entity",
        "name": "John_Smith",
        "entityType": "person",
        "observations": ["Speaks fluent Spanish", "John Smith graduated in 2019"],
    },
    {"type": "relation", "from": "John_Smith", "to": "Anthropic", "relationType": "works_at"},
    {"type": "relation", "from": "default_user", "to": "John_Smith", "relationType": "knows"},
]

STORE = [
    {
        "namespace": ["memories", "maya"],
        "key": "food",
        "value": {"likes": ["tea"], "weight": 1.5},
        "created_at": "2025-01-01T00:00:00+00:00",
        "updated_at": "2025-02-01T00:00:00+00:00",
        "score": None,
    }
]
ROW = {
    "prefix": "memories.maya",
    "key": "music",
    "value": {"likes": "jazz"},
    "created_at": "2025-01-01T00:00:00+00:00",
    "updated_at": "2025-02-01T00:00:00+00:00",
    "expires_at": None,
    "ttl_minutes": 2,
}


def saved(text: str, at: float, **content: Any) -> dict[str, Any]:
    """Return a conversation of ChatGPT's export, with the list of memories that it began with."""
    nodes = {
        "a": {
            "parent": None,
            "message": {
                "id": "a",
                "author": {"role": "assistant"},
                "create_time": None,
                "content": {
                    "content_type": "model_editable_context",
                    "model_set_context": text,
                    **content,
                },
            },
        },
        "b": {
            "parent": "a",
            "message": {
                "id": "b",
                "author": {"role": "user"},
                "create_time": at,
                "content": {"content_type": "text", "parts": ["Hello"]},
            },
        },
    }
    return {"id": f"c{at}", "create_time": at, "mapping": nodes, "current_node": "b"}


CHATGPT = [
    saved("1. [2024-05-01]. Lives in Lisbon.\n\n2. [2024-06-02]. Likes fado.", 1_720_000_000),
    saved("1. [2024-05-01]. Lived in Porto.", 1_715_000_000),
    saved("", 1_710_000_000),
]
