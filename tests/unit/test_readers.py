import contextlib
import gzip
import io
import json
import os
import tracemalloc
import zipfile
from collections.abc import Iterator
from functools import reduce
from itertools import groupby
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.readers import Incoming, Rejected, read
from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.fields import FORMATS
from tests.conftest import DATA
from tests.support import memories
from tests.support.effort import rounds


def written(tmp_path: Path, name: str, text: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def split(path: Path, form="auto"):
    items = list(read(path, form, "file"))
    good = [item for item in items if isinstance(item, Incoming)]
    return good, [item for item in items if isinstance(item, Rejected)]


def test_jsonl_gives_every_field(tmp_path):
    row = {
        "role": "user",
        "content": "Hi",
        "name": "Maya",
        "id": "x1",
        "session_id": "s9",
        "created_at": "2026-01-01T00:00:00Z",
        "metadata": {"a": 1},
    }
    (incoming,), rejected = split(written(tmp_path, "a.jsonl", lines(row)))
    assert rejected == []
    assert (incoming.user_id, incoming.session_id) == (None, "s9")
    given = {k: v for k, v in row.items() if k != "session_id"}
    absent = dict.fromkeys(("expires_at", "trust", "agent_id", "run_id"))
    assert incoming.message.model_dump(mode="json") == given | absent | {"recall": True}


def test_bad_lines_are_reported_by_number_and_the_rest_goes_on(tmp_path):
    text = (
        (
            lines({"role": "user", "content": "One"})
            + "{not json\n"
            + lines(["a list"], {"role": "robot", "content": "x"}, {"role": "user", "content": " "})
            + lines({"role": "user", "content": "x", "mood": "good"})
            + "\n"
            + lines({"role": "user", "content": "Two"})
        ).encode()
        + b"\xff\xfe\n"
        + lines({"role": "user", "content": "Three"}).encode()
    )
    good, rejected = split(written(tmp_path, "a.jsonl", text))
    assert [item.message.content for item in good] == ["One", "Two", "Three"]
    assert [item.place for item in rejected] == [f"line {n}" for n in (2, 3, 4, 5, 6, 9)]
    assert "role must be 'user', 'assistant', 'system' or 'tool'" in rejected[2].reason
    assert "content is empty" in rejected[3].reason
    assert "unknown key 'mood'" in rejected[4].reason


def test_messages_without_an_id_get_the_same_one_at_every_reading(tmp_path):
    rows = [{"role": "user", "content": text} for text in ("Yes", "No", "Yes")]
    path = written(tmp_path, "a.jsonl", lines(*rows))
    first, second = ([item.message.id for item in split(path)[0]] for _ in range(2))
    assert first == second
    assert len(set(first)) == 3


def test_gzip_is_opened_whatever_the_name(tmp_path):
    data = gzip.compress(lines({"role": "user", "content": "Hi"}).encode())
    assert len(split(written(tmp_path, "a.jsonl.gz", data))[0]) == 1
    assert len(split(written(tmp_path, "odd.jsonl", data))[0]) == 1


def test_openai_messages_with_parts_tools_and_developers(tmp_path):
    document = {
        "messages": [
            {"role": "developer", "content": "Be brief"},
            {"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image_url"}]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]},
            {"role": "tool", "content": "42", "tool_call_id": "c1"},
            {"role": "assistant", "content": ""},
        ]
    }
    good, rejected = split(written(tmp_path, "chat.json", json.dumps(document)))
    assert [(i.message.role, i.message.content) for i in good] == [
        ("system", "Be brief"),
        ("user", "Look\n[image]"),
        ("tool", "42"),
    ]
    assert [item.place for item in rejected] == ["message 5"]
    assert len(split(written(tmp_path, "list.json", json.dumps(document["messages"])))[0]) == 3


LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "A",
            "speaker_b": "B",
            "session_2_date_time": "1:05 am on 9 May, 2023",
            "session_2": [{"speaker": "B", "dia_id": "D2:1", "text": "Later"}],
            "session_10_date_time": "nonsense",
            "session_10": [{"speaker": "B", "dia_id": "D10:1", "text": "Lost"}],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {
                    "speaker": "A",
                    "dia_id": "D1:1",
                    "text": "Hi",
                    "blip_caption": "a photo of a dog",
                },
                {"speaker": "A", "text": "No id"},
            ],
        },
        "qa": [],
    }
]


def test_locomo_sessions_come_in_order_with_user_time_and_caption(tmp_path):
    good, rejected = split(written(tmp_path, "locomo.json", json.dumps(LOCOMO)))
    assert [(i.user_id, i.session_id, i.message.id, i.message.name) for i in good] == [
        ("conv-1", "session_1", "D1:1", "A"),
        ("conv-1", "session_2", "D2:1", "B"),
    ]
    assert good[0].message.content == "Hi\n[image: a photo of a dog]"
    assert good[0].message.created_at.isoformat() == "2023-05-08T13:56:00+00:00"
    assert [item.place for item in rejected] == [
        "conv-1 session_1 turn 2",
        "conv-1 session_10 turn 1",
    ]


def test_files_that_can_not_be_read_are_said(tmp_path):
    with pytest.raises(NotFoundError, match="no file"):
        split(tmp_path / "nothing.jsonl")
    for text in ("{", '{"a": 1}', "[]", "[1, 2]", "[" * 1_000, "", "words", b"\0\1"):
        with pytest.raises(InvalidInputError, match=r"can't tell the format .* jsonl, openai"):
            split(written(tmp_path, "a.json", text))
    of_lines = ("claude-code", "mcp-memory")
    documents = [form for form in FORMATS[2:-2] if form not in of_lines]
    for document in documents:
        with pytest.raises(InvalidInputError, match="damaged"):
            split(written(tmp_path, "b.json", "{nonsense"), document)
    for form in FORMATS[1:]:
        with pytest.raises(InvalidInputError, match=f"nothing of the format {form}"):
            split(written(tmp_path, "b.json", "[]" if form in documents else ""), form)
    cut = gzip.compress(b"[]" * 1000)[:-10]
    with pytest.raises(InvalidInputError, match="damaged"):
        split(written(tmp_path, "c.json.gz", cut))
    with pytest.raises(InvalidInputError, match=r"has no conversations\.json"):
        split(written(tmp_path, "c.zip", zipped({"chat.html": ""})))


def test_the_sample_conversations_can_be_read():
    for path in sorted((DATA / "conversations").glob("*.jsonl")):
        good, rejected = split(path)
        assert good
        assert rejected == []


# ---------------------------------------------------------------- chats of APIs


def said(items) -> list[tuple[str, str]]:
    return [(item.message.role, item.message.content) for item in items]


def test_anthropic_messages_with_blocks_tools_and_thoughts(tmp_path):
    document = {
        "model": "claude",
        "system": "Be brief",
        "messages": [
            {"role": "user", "content": "What is on it?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm", "signature": "x"},
                    {"type": "text", "text": "Let me look."},
                    {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t1",
                        "content": [{"type": "text", "text": "A cat"}, {"type": "image"}],
                    },
                    {"type": "image", "source": {"data": "..."}},
                    {"type": "document"},
                    {"type": "text", "text": "And here?"},
                ],
            },
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t2", "name": "x"}]},
        ],
    }
    good, rejected = split(written(tmp_path, "chat.json", json.dumps(document)))
    assert said(good) == [
        ("user", "What is on it?"),
        ("assistant", "Let me look."),
        ("tool", "A cat\n[image]"),
        ("user", "[image]\n[document]\nAnd here?"),
    ]
    assert rejected == []


def test_a_turn_in_which_a_tool_wrote_memories_is_marked(tmp_path):
    openai = [
        {"role": "user", "content": "Remember it"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "function": {"name": "mcp__memory__add_memory"}}],
        },
        {"role": "tool", "content": "ok", "tool_call_id": "c"},
        {"role": "assistant", "content": "Done"},
        {"role": "assistant", "tool_calls": [{"id": "d", "function": {"name": "add_memory"}}]},
        {"role": "user", "content": "Next"},
    ]
    good, _ = split(written(tmp_path, "openai.json", json.dumps(openai)))
    assert [dict(item.message.metadata) for item in good] == [{}, {"memory_write": True}, {}, {}]
    anthropic = [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I note it"},
                {"type": "tool_use", "name": "update_memory"},
            ],
        }
    ]
    (item,), _ = split(written(tmp_path, "anthropic.json", json.dumps(anthropic)))
    assert item.message.metadata == {"memory_write": True}


# ---------------------------------------------------------------- exports


def zipped(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def node(name: str, parent: str | None, role: str = "user", **values) -> dict[str, Any]:
    message = {
        "id": f"m-{name}",
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": 1_700_000_000.25 + len(name),
        "content": {"content_type": "text", "parts": [f"Text {name}"]},
        "recipient": "all",
        "metadata": {},
        **values,
    }
    return {"id": name, "message": message, "parent": parent, "children": []}


def chatgpt_conversation(number: int = 1, **values) -> dict[str, Any]:
    nodes = {
        "root": {"id": "root", "message": None, "parent": None, "children": ["a"]},
        "a": node("a", "root"),
        "b": node("b", "a", "assistant"),
        "b2": node("b2", "a", "assistant", content={"content_type": "text", "parts": ["Again"]}),
        "c": node("c", "b2"),
    }
    return {
        "title": f"Talk {number}",
        "create_time": 1_700_000_000.0,
        "mapping": nodes,
        "moderation_results": [],
        "current_node": "c",
        "conversation_id": f"c0ffee-{number}",
        **values,
    }


def test_a_chatgpt_export_gives_the_path_to_the_current_node(tmp_path):
    good, rejected = split(written(tmp_path, "x.json", json.dumps([chatgpt_conversation()])))
    assert said(good) == [("user", "Text a"), ("assistant", "Again"), ("user", "Text c")]
    assert {item.session_id for item in good} == {"c0ffee-1"}
    assert [item.message.id for item in good] == ["m-a", "m-b2", "m-c"]
    assert good[0].message.created_at.isoformat() == "2023-11-14T22:13:21.250000+00:00"
    assert rejected == []


@pytest.mark.parametrize("prefix", ["", "export-2026/"])
def test_an_export_is_read_inside_its_zip(tmp_path, prefix):
    conversations = [chatgpt_conversation(number) for number in range(3)]
    files = {
        "chat.html": "<html>",
        "user.json": "{}",
        f"{prefix}conversations-001.json": json.dumps(conversations[2:]),
        f"{prefix}conversations-000.json": json.dumps(conversations[:2]),
    }
    good, _ = split(written(tmp_path, "export.zip", zipped(files)))
    assert list(dict.fromkeys(item.session_id for item in good)) == [
        "c0ffee-0",
        "c0ffee-1",
        "c0ffee-2",
    ]


def test_a_chatgpt_export_leaves_out_what_was_not_said(tmp_path):
    hidden = {"is_visually_hidden_from_conversation": True}
    pictures = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
        {"content_type": "audio_transcription", "text": "Spoken"},
        "What is this?",
    ]
    nodes = [
        node("a", None, "system", content={"content_type": "text", "parts": [""]}),
        node("b", "a", "system", metadata=hidden),
        node("c", "b", content={"content_type": "multimodal_text", "parts": pictures}),
        node("d", "c", "assistant", content={"content_type": "thoughts", "thoughts": []}),
        node("e", "d", "assistant", recipient="python", content={"content_type": "code"}),
        node("f", "e", "tool", content={"content_type": "execution_output", "text": "42"}),
        node("g", "f", "assistant", content=None),
        node("h", "g", "critic"),
        node("i", "h", "assistant", create_time=None),
    ]
    conversation = chatgpt_conversation(
        mapping={item["id"]: item for item in nodes}, current_node="i"
    )
    good, rejected = split(written(tmp_path, "x.json", json.dumps([conversation])))
    assert said(good) == [
        ("user", "[image]\nSpoken\nWhat is this?"),
        ("tool", "42"),
        ("assistant", "Text i"),
    ]
    assert good[-1].message.created_at.isoformat() == "2023-11-14T22:13:20+00:00"
    assert [item.place for item in rejected] == ["conversation 1, message 8"]


def test_a_chatgpt_tree_without_a_sound_current_node_is_read_all_the_same(tmp_path):
    no_current = chatgpt_conversation(1, current_node=None)
    loop = chatgpt_conversation(2, mapping={"a": node("a", "b"), "b": node("b", "a")})
    orphan = chatgpt_conversation(3, mapping={"a": node("a", "gone")}, current_node="gone")
    empty = chatgpt_conversation(4, mapping={})
    bad = [{"mapping": None}, "text", {"mapping": {"a": 1}, "current_node": "a", "id": "x"}]
    conversations = [no_current, loop, orphan, empty, *bad]
    good, rejected = split(written(tmp_path, "x.json", json.dumps(conversations)))
    by_session = {
        session: [item.message.content for item in items]
        for session, items in groupby(good, key=lambda item: item.session_id)
    }
    assert by_session["c0ffee-1"][-1] in ("Text b2", "Again")
    assert len(by_session["c0ffee-2"]) == 2
    assert by_session["c0ffee-3"] == ["Text a"]
    assert [item.place for item in rejected] == [f"conversation {n}" for n in (5, 6, 7)]


CLAUDE = [
    {
        "uuid": "conv-1",
        "name": "Talk",
        "created_at": "2026-01-01T10:00:00.000000Z",
        "account": {"uuid": "x"},
        "chat_messages": [
            {
                "uuid": "m1",
                "text": "Old field",
                "content": [{"type": "text", "text": "I like tea", "citations": []}],
                "sender": "human",
                "created_at": "2026-01-01T10:00:01.5Z",
                "attachments": [{"file_name": "notes.txt", "extracted_content": "long"}],
                "files": [{"file_name": "cat.png"}],
            },
            {
                "uuid": "m2",
                "text": "",
                "content": [
                    {"type": "thinking", "thinking": "Hm"},
                    {"type": "tool_use", "name": "mcp__memory__add_memory", "input": {}},
                    {"type": "tool_result", "name": "x", "content": []},
                    {"type": "text", "text": "Noted"},
                ],
                "sender": "assistant",
                "created_at": "2026-01-01T10:00:02Z",
                "attachments": [],
                "files": [],
            },
            {"uuid": "m3", "text": "Only this", "sender": "human"},
            {"uuid": "m4", "text": "", "sender": "assistant", "content": []},
            {"uuid": "m5", "text": "Who?", "sender": "robot"},
        ],
    },
    {"uuid": "conv-2", "chat_messages": None},
]


def test_a_claude_export_gives_texts_and_names_files(tmp_path):
    good, rejected = split(written(tmp_path, "x.json", json.dumps(CLAUDE)))
    assert said(good) == [
        ("user", "I like tea\n[document: notes.txt]\n[document: cat.png]"),
        ("assistant", "Noted"),
        ("user", "Only this"),
    ]
    assert [item.message.id for item in good] == ["m1", "m2", "m3"]
    assert good[0].session_id == "conv-1"
    assert good[1].message.metadata == {"memory_write": True}
    assert [item.place for item in rejected] == ["conversation 1, message 5", "conversation 2"]
    inside = split(written(tmp_path, "x.zip", zipped({"conversations.json": json.dumps(CLAUDE)})))
    assert inside == (good, rejected)


def test_a_damaged_export_is_read_up_to_the_damage(tmp_path):
    text = json.dumps([chatgpt_conversation(number) for number in range(3)])
    path = written(tmp_path, "x.json", text[: len(text) - 100])
    good, rejected = split(path)
    assert len(good) == 6
    assert [item.place for item in rejected] == ["after part 6"]
    assert "damaged" in rejected[0].reason


def test_a_large_export_is_read_in_bounded_memory(tmp_path):
    path = tmp_path / "conversations.json"
    filler = "word " * 2_000
    with path.open("w", encoding="utf-8") as file:
        for number in range(600):
            mapping = {"a": node("a", None, content={"content_type": "text", "parts": [filler]})}
            conversation = chatgpt_conversation(number, mapping=mapping, current_node="a")
            file.write(("," if number else "[") + json.dumps(conversation))
        file.write("]")
    assert path.stat().st_size > 6_000_000
    told = []
    tracemalloc.start()
    number = sum(1 for _ in read(path, "auto", "x", lambda *step: told.append(step)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert number == 600
    assert peak < 2_000_000
    assert told[-1][2] == path.stat().st_size
    assert 0 < told[0][1] < told[-1][1] <= told[-1][2]


# ---------------------------------------------------------------- research sets


LONGMEMEVAL = {
    "question_id": "q1_abs",
    "question": "?",
    "answer": 3,
    "haystack_session_ids": ["b", "a", "b"],
    "haystack_dates": [
        "2023/05/21 (Sun) 02:14",
        "2023/05/20 (Sat) 02:02",
        "2023/05/22 (Mon) 00:31",
    ],
    "haystack_sessions": [
        [{"role": "user", "content": "Second", "has_answer": True}],
        [{"role": "user", "content": "First"}, {"role": "assistant", "content": ""}],
        [{"role": "user", "content": "Third"}],
    ],
}


def test_longmemeval_sessions_come_by_date_with_ids_of_their_own(tmp_path):
    broken = {"question_id": "q2", "haystack_session_ids": ["a"], "haystack_dates": []}
    broken["haystack_sessions"] = []
    good, rejected = split(written(tmp_path, "x.json", json.dumps([LONGMEMEVAL, broken])))
    assert [(i.user_id, i.session_id, i.message.content) for i in good] == [
        ("q1_abs", "a", "First"),
        ("q1_abs", "b", "Second"),
        ("q1_abs", "b-2", "Third"),
    ]
    assert good[0].message.created_at.isoformat() == "2023-05-20T02:02:00+00:00"
    assert [item.place for item in rejected] == ["q1_abs a turn 2", "question 2"]


REALTALK = {
    "name": {"speaker_1": "A", "speaker_2": "B"},
    "session_1": [
        {
            "clean_text": "Hi",
            "speaker": "A",
            "date_time": "29.12.2023, 00:51:12",
            "img_file": [],
            "dia_id": "D1:1",
        },
        {
            "clean_text": "",
            "speaker": "B",
            "date_time": "29.12.2023, 00:57:17",
            "img_file": ["1.jpg"],
            "dia_id": "D1:2",
        },
        {"clean_text": "No time", "speaker": "B", "dia_id": "D1:3"},
    ],
    "session_1_date_time": "29.12.2023, 00:51:12",
}


def test_realtalk_gives_every_message_its_own_time(tmp_path):
    good, rejected = split(written(tmp_path, "chat.json", json.dumps(REALTALK)))
    assert [(i.user_id, i.session_id, i.message.name, i.message.content) for i in good] == [
        (None, "session_1", "A", "Hi"),
        (None, "session_1", "B", "[image]"),
    ]
    assert good[1].message.created_at.isoformat() == "2023-12-29T00:57:17+00:00"
    assert [item.place for item in rejected] == ["chat 1 session_1 turn 3"]
    named = [{**REALTALK, "sample_id": "Chat_1"}]
    assert split(written(tmp_path, "chats.json", json.dumps(named)))[0][0].user_id == "Chat_1"


# ---------------------------------------------------------------- notes


NOTES = """---
title: Travels
---
Before all.

# Travel

I love trains.

## Japan *again*

Stay in Kyoto.
```
# not a heading
```

Empty
-----

# Work
Storage team.
"""


def test_a_markdown_section_is_a_message_with_its_headings(tmp_path):
    path = written(tmp_path, "notes.md", NOTES)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    good, rejected = split(path)
    assert [item.message.content for item in good] == [
        "title: Travels",
        "Before all.",
        "Travel\n\nI love trains.",
        "Travel > Japan *again*\n\nStay in Kyoto.\n```\n# not a heading\n```",
        "Work\n\nStorage team.",
    ]
    assert good[0].message.created_at.isoformat() == "2023-11-14T22:13:20+00:00"
    assert rejected == []


def test_a_paragraph_of_plain_text_is_a_message(tmp_path):
    text = b"One\ntwo\n\n\n# Three\n\n{\n" + b"\xff\xfe bad\n\nFour"
    good, rejected = split(written(tmp_path, "notes.txt", text))
    assert [item.message.content for item in good] == ["One\ntwo", "# Three", "{", "Four"]
    assert [item.place for item in rejected] == ["line 8"]


def test_notes_that_were_only_touched_keep_their_ids(tmp_path):
    path = written(tmp_path, "notes.md", NOTES)
    before = [item.message.id for item in split(path)[0]]
    os.utime(path, (1, 1))
    assert [item.message.id for item in split(path)[0]] == before


# ---------------------------------------------------------------- any format


def test_the_format_is_told_by_content(tmp_path):
    message = {"role": "user", "content": "Hi"}
    for text in (lines(message), lines(message, message), "\ufeff \n" + lines(message)):
        assert len(split(written(tmp_path, "any", text))[0]) == text.count("role")
    assert len(split(written(tmp_path, "any", json.dumps([message], indent=1)))[0]) == 1


@pytest.mark.parametrize(
    ("name", "line"),
    [("session_id", {"session_id": "a b"}), ("is nested too deeply", {"metadata": "DEEP"})],
)
def test_a_line_that_no_store_can_take_is_reported(tmp_path, name, line):
    row = json.dumps({"role": "user", "content": "Hi", **line})
    row = row.replace('"DEEP"', "[" * 100_000 + "]" * 100_000)
    good, rejected = split(
        written(tmp_path, "a.jsonl", row + "\n" + lines({"role": "user", "content": "Good"}))
    )
    assert len(good) == 1
    assert rejected[0].place == "line 1"
    assert name in rejected[0].reason


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("1" * 5_000, "a number has too many digits"),
        ("1e99999999999999999999", "a number has too many digits"),
        ("[" * 200_000, "nested deeper than 500 levels"),
    ],
)
def test_a_document_is_read_up_to_what_no_parser_takes(tmp_path, bad, reason):
    hello = json.dumps({"role": "user", "content": "Hello"})
    path = written(tmp_path, "a.json", f'[{hello}, {{"role": "user", "content": {bad}')
    assert [one.message.content for one in split(path)[0]] == ["Hello"]
    assert reason in split(path)[1][0].reason
    with pytest.raises(InvalidInputError, match=reason):
        split(written(tmp_path, "b.json", f"[{bad}"), "openai")


@pytest.mark.parametrize("time", [1e18, -1e18, 1e300])
def test_a_chatgpt_message_of_an_impossible_time_costs_none_of_the_others(tmp_path, time):
    nodes = chatgpt_conversation()["mapping"]
    nodes["a"]["message"]["create_time"] = time
    path = written(tmp_path, "x.json", json.dumps([chatgpt_conversation(mapping=nodes)]))
    good, (place,) = split(path)
    assert said(good) == [("assistant", "Again"), ("user", "Text c")]
    assert "outside the years" in place.reason


def test_a_gzip_that_breaks_off_is_read_up_to_there(tmp_path):
    rows = lines(*({"role": "user", "content": f"{n} {hash(str(n))}"} for n in range(20_000)))
    cut = gzip.compress(rows.encode())[:-5_000]
    good, rejected = split(written(tmp_path, "a.jsonl.gz", cut))
    assert 1_000 < len(good) < 20_000
    assert "damaged" in rejected[-1].reason


@pytest.mark.parametrize("form", FORMATS[1:])
@given(
    data=st.binary(max_size=200) | st.sampled_from(["[1]", "[{}]", "{}", "[[]]"]).map(str.encode)
)
@settings(
    max_examples=rounds(full=30, quick=10),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_no_file_ends_in_a_traceback(tmp_path, form, data):
    with contextlib.suppress(InvalidInputError):
        split(written(tmp_path, "a", data), form)


JUNK = st.sampled_from(
    'null true -1 1.5 1e300 1000000000000000 "" "x" "a/b" [] {} [null] {"a":null} [1]'.split()
).map(json.loads)


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every part of a document."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield (*place, key)
        yield from places(value[key], (*place, key))


@pytest.mark.parametrize(
    ("form", "document"),
    [
        ("openai", [{"role": "user", "content": [{"type": "text", "text": "t"}], "id": "m"}]),
        ("chatgpt", [chatgpt_conversation()]),
        ("claude", CLAUDE[:1]),
        ("locomo", LOCOMO),
        ("longmemeval", [LONGMEMEVAL]),
        ("realtalk", [REALTALK]),
        ("mem0", memories.MEM0),
        ("mem0", memories.HISTORY),
        ("zep", memories.ZEP),
        ("letta", memories.LETTA),
        ("letta", memories.LETTA_V1),
        ("letta", memories.PASSAGES),
        ("claude", memories.CLAUDE),
        ("chatgpt", memories.CHATGPT),
        ("langgraph", [*memories.STORE, memories.ROW]),
    ],
)
@given(data=st.data())
@settings(
    max_examples=rounds(full=150, quick=30),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_no_document_ends_in_a_traceback(tmp_path, form, document, data):
    document = json.loads(json.dumps(document))
    for _ in range(data.draw(st.integers(1, 2))):
        *way, last = data.draw(st.sampled_from([*places(document)] or [(0,)]))
        reduce(getitem, way, document)[last] = data.draw(JUNK)
    with contextlib.suppress(InvalidInputError):
        split(written(tmp_path, "a", json.dumps(document)), form)
