"""Messages as the APIs of OpenAI and Anthropic write them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from semantic_memory import InvalidInputError, Message
from semantic_memory.domain.markers import WROTE_MEMORY
from semantic_memory.domain.requests import ObserveRequest


def read(*messages: Any) -> list[Message]:
    return ObserveRequest.of(messages, user_id="maya", session_id="s").messages


def said(*messages: Any) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in read(*messages)]


def block(kind: str, **values: Any) -> dict[str, Any]:
    return {"type": kind, **values}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Hello", "Hello"),
        ([block("text", text="Look"), block("text", text="here")], "Look\nhere"),
        ([block("input_text", text="Look")], "Look"),
        ([block("output_text", text="Look", annotations=[])], "Look"),
        (["Look", "here"], "Look\nhere"),
        ((block("text", text="Look"),), "Look"),
        ([block("image_url", image_url={"url": "https://a"}), block("text", text="A cat")],
         "[image]\nA cat"),
        ([block("image", source={"type": "url", "url": "https://a"})], "[image]"),
        ([block("input_image", image_url="https://a")], "[image]"),
        ([block("input_audio", input_audio={"data": "", "format": "wav"})], "[audio]"),
        ([block("file", file={"filename": "q3.pdf", "file_data": "data:"})], "[document: q3.pdf]"),
        ([block("input_file", filename="q3.pdf", file_data="data:")], "[document: q3.pdf]"),
        ([block("document", title="Terms", source={})], "[document: Terms]"),
        ([block("document", source={})], "[document]"),
        ([block("file", file={"file_id": "f1"})], "[document]"),
    ],
)  # fmt: skip
def test_blocks_become_text(content: Any, text: str):
    assert said({"role": "user", "content": content}) == [("user", text)]


def test_a_loop_with_openai_is_read():
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    assert said(
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "Is it raining?"},
        {"role": "assistant", "content": None, "tool_calls": [call], "refusal": None},
        {"role": "tool", "tool_call_id": "c1", "content": "Rain"},
        {"role": "tool", "tool_call_id": "c2", "content": ""},
        {"role": "assistant", "content": "Yes.", "annotations": [], "audio": None},
        {"role": "assistant", "content": None, "refusal": "I can't say more."},
    ) == [
        ("system", "Be brief."),
        ("user", "Is it raining?"),
        ("tool", "Rain"),
        ("assistant", "Yes."),
        ("assistant", "I can't say more."),
    ]


def test_items_of_responses_are_read():
    assert said(
        {"type": "message", "role": "user", "content": [block("input_text", text="Rain?")]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "Rain"},
    ) == [("user", "Rain?"), ("tool", "Rain")]


def test_a_loop_with_anthropic_is_read():
    assert said(
        {"role": "user", "content": "Is it raining?"},
        {"role": "assistant", "content": [
            block("thinking", thinking="Ask the tool.", signature="x"),
            block("text", text="Let me look."),
            block("tool_use", id="t1", name="weather", input={}),
        ]},
        {"role": "user", "content": [
            block("tool_result", tool_use_id="t1", content=[block("text", text="Rain")]),
            block("tool_result", tool_use_id="t2", content="Wind"),
            block("tool_result", tool_use_id="t3"),
            block("text", text="And tomorrow?"),
        ]},
    ) == [
        ("user", "Is it raining?"),
        ("assistant", "Let me look."),
        ("tool", "Rain"),
        ("tool", "Wind"),
        ("user", "And tomorrow?"),
    ]  # fmt: skip


class _TextBlock(BaseModel):
    """A block as the libraries of the APIs return it."""

    type: str = "text"
    text: str
    citations: list[str] | None = None


class _Reply(BaseModel):
    role: str = "assistant"
    content: list[_TextBlock]
    stop_reason: str | None = None


def test_objects_of_the_libraries_are_read():
    blocks = [_TextBlock(text="Yes.")]
    assert said(_Reply(content=blocks), {"role": "assistant", "content": blocks}) == [
        ("assistant", "Yes."),
        ("assistant", "Yes."),
    ]


def test_fields_of_a_message_are_kept():
    (found,) = read(
        {
            "role": "user",
            "content": [block("text", text="Hi")],
            "id": "m1",
            "name": "Ann",
            "created_at": "2026-01-02T03:04:05Z",
            "trust": "external",
            "agent_id": "travel",
            "metadata": {"channel": "mail"},
        }
    )
    assert (found.id, found.name, found.trust, found.agent_id) == (
        "m1",
        "Ann",
        "external",
        "travel",
    )
    assert found.created_at is not None
    assert found.created_at.year == 2026
    assert found.metadata == {"channel": "mail"}


def test_results_in_one_message_have_ids_of_their_own():
    results = [block("tool_result", tool_use_id=one, content=one) for one in ("a", "b")]
    found = read({"id": "m1", "role": "user", "content": results})
    assert [message.id for message in found] == ["m1:1", "m1:2"]


@pytest.mark.parametrize("form", ["openai", "anthropic"])
def test_a_turn_that_wrote_memories_is_marked(form: str):
    function = {"name": "add_memory", "arguments": "{}"}
    calls: dict[str, list[dict[str, Any]]] = {
        "openai": [
            {"role": "assistant", "tool_calls": [{"id": "1", "function": function}]},
            {"role": "tool", "tool_call_id": "1", "content": ""},
        ],
        "anthropic": [
            {
                "role": "assistant",
                "content": [block("tool_use", id="1", name="mcp__m__add_memory")],
            },
            {"role": "user", "content": [block("tool_result", tool_use_id="1", content="ok")]},
        ],
    }
    found = read(
        {"role": "user", "content": "I moved to Oslo."},
        *calls[form],
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": "Thanks."},
    )
    marks = [one.metadata.get(WROTE_MEMORY) is True for one in found]
    assert sum(marks) == 1
    assert not marks[0]
    assert not marks[-1]


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("Hello", r"messages\.1 must be a valid dictionary or instance of Message"),
        ({"role": "user"}, r"messages\.1\.content is missing"),
        ({"content": "Hi"}, r"messages\.1\.role is missing"),
        ({"role": "bot", "content": "Hi"}, r"messages\.1\.role must be 'user', 'assistant'"),
        ({"role": "user", "contnt": "Hi"}, r"unknown key 'contnt' in messages\.1; did you"),
        ({"role": "user", "content": ""}, r"messages\.1\.content is empty"),
        ({"role": "user", "content": 5}, r"messages\.1\.content must be a text or a list"),
        ({"role": "user", "content": {"type": "text", "text": "Hi"}}, r"messages\.1\.content must"),
        ({"role": "user", "content": [7]}, r"messages\.1\.content\.0 must be an object"),
        ({"role": "user", "content": [{"text": "Hi"}]}, r"messages\.1\.content\.0 must be an"),
        ({"role": "user", "content": [block("text", text=5)]}, r"messages\.1\.content\.0 is a"),
        ({"role": "user", "content": ["Hi", block("hologram")]}, r"messages\.1\.content\.1 is a"),
        ({"role": "user", "content": [block("tool_result", content=[block("hologram")])]},
         r"messages\.1\.content\.0\.content\.0 is a"),
        ({"role": "user", "content": "Hi", "created_at": "soon"}, r"messages\.1\.created_at must"),
        ({"type": "function_call_output", "output": [7]}, r"messages\.1\.output\.0 must be"),
    ],
)  # fmt: skip
def test_an_error_names_the_place(message: Any, error: str):
    with pytest.raises(InvalidInputError, match=f"^observe: {error}"):
        read({"role": "user", "content": "Hi"}, message)


def test_messages_may_name_their_sessions():
    lines = [
        {"role": "user", "content": "Hi", "session_id": "monday"},
        {"role": "assistant", "content": "Hello"},
    ]
    asked = ObserveRequest.of(lines, user_id="maya", session_id="s")
    assert [asked.session_of(message) for message in asked.messages] == ["monday", "s"]
    assert asked.only_session is None


def test_a_message_of_no_session_is_refused():
    with pytest.raises(InvalidInputError, match=r"messages\.1 names no session: give session_id"):
        ObserveRequest.of(
            [
                {"role": "user", "content": "Hi", "session_id": "monday"},
                {"role": "user", "content": "Hello"},
            ],
            user_id="maya",
        )
