"""Importing a file, into anything that observes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from semantic_memory import InvalidInputError, Message, SemanticMemory
from semantic_memory.application.importing import import_file, known_format
from semantic_memory.domain.messages import Receipt


def written(tmp_path: Path, *rows: dict[str, object]) -> Path:
    file = tmp_path / "notes of may.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def said(content: str, **values: object) -> dict[str, object]:
    return {"role": "user", "content": content, **values}


class Recording:
    """Observes nothing but the size and place of each call."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, int]] = []

    def observe(self, messages: Iterable[Message], *, user_id: str, session_id: str) -> Receipt:
        number = len([*messages])
        self.calls.append((user_id, session_id, number))
        return Receipt(accepted=number, duplicates=0, session_id=session_id)

    def flush(self) -> None:
        """Extract nothing."""

    @property
    def transfer(self) -> Recording:
        """Load nothing."""
        return self

    def load(self, records: Iterable[Mapping[str, Any]], *, user_id: str) -> int:
        """Load nothing."""
        del user_id
        return len([*records])


def test_messages_are_observed_in_runs_of_one_session(tmp_path):
    rows = [said(f"Line {n}", session_id="a" if n < 250 else "b") for n in range(300)]
    memory = Recording()
    imported = import_file(memory, written(tmp_path, *rows), user_id="maya")
    assert memory.calls == [("maya", "a", 200), ("maya", "a", 50), ("maya", "b", 50)]
    assert (imported.accepted, imported.rejected, imported.is_empty) == (300, 0, False)


def test_messages_of_no_session_go_to_one_named_after_the_file(tmp_path):
    memory = Recording()
    import_file(memory, written(tmp_path, said("Hello")), user_id="maya")
    import_file(memory, written(tmp_path, said("Hello")), user_id="maya", session_id="monday")
    assert [session for _, session, _ in memory.calls] == ["notes-of-may", "monday"]


def test_importing_again_adds_nothing(tmp_path, memory: SemanticMemory):
    file = written(tmp_path, said("I live in Oslo"), said("I like tea"))
    assert import_file(memory, file, user_id="maya").accepted == 2
    again = import_file(memory, file, user_id="maya")
    assert (again.accepted, again.duplicates, again.is_empty) == (0, 2, False)


def test_a_refused_message_costs_none_of_the_others(tmp_path, memory: SemanticMemory):
    rows = [said("One", id="a"), said("Two", id="b"), said("Three", id="a"), said("Four", id="c")]
    imported = import_file(memory, written(tmp_path, *rows), user_id="maya")
    assert (imported.accepted, imported.rejected) == (3, 1)
    assert imported.rejections[0].place == "message a"
    assert [
        m.content for m in memory.sessions.messages(user_id="maya", session_id="notes-of-may")
    ] == [
        "One",
        "Two",
        "Four",
    ]


def test_only_the_first_rejections_are_kept_and_all_are_counted(tmp_path):
    imported = import_file(Recording(), written(tmp_path, said("One"), *[{}] * 150), user_id="maya")
    assert (imported.accepted, imported.rejected, len(imported.rejections)) == (1, 150, 100)


def test_a_file_without_users_needs_one(tmp_path):
    with pytest.raises(InvalidInputError, match="give --user"):
        import_file(Recording(), written(tmp_path, said("Hello")))


def test_an_unknown_format_is_named():
    assert known_format("chatgpt") == "chatgpt"
    with pytest.raises(InvalidInputError, match="unknown format 'xml'; known: auto, jsonl"):
        known_format("xml")
