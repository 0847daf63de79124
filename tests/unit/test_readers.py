import gzip
import json
from pathlib import Path

import pytest

from ingest.readers import Incoming, Rejected, read
from semantic_memory.errors import InvalidInputError, NotFoundError
from tests.conftest import DATA


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
    assert incoming.message.model_dump(mode="json") == {
        k: v for k, v in row.items() if k != "session_id"
    }


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
    assert "role Input should be 'user', 'assistant', 'system' or 'tool'" in rejected[2].reason
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
        ("user", "Look"),
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
    with pytest.raises(InvalidInputError, match="not a JSON document"):
        split(written(tmp_path, "a.json", "{"))
    with pytest.raises(InvalidInputError, match="expected a list of chat messages"):
        split(written(tmp_path, "b.json", '{"a": 1}'))
    cut = gzip.compress(b"[]" * 1000)[:-10]
    with pytest.raises(InvalidInputError, match="damaged gzip"):
        split(written(tmp_path, "c.json.gz", cut))


def test_the_sample_conversations_can_be_read():
    for path in sorted((DATA / "conversations").glob("*.jsonl")):
        good, rejected = split(path)
        assert good
        assert rejected == []
