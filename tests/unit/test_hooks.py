"""Hooks of coding agents: recall at the start of a session, observe at its end."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from ingest.readers import Incoming, Rejected, read
from semantic_memory import SemanticMemory
from tests.support.command_line import Cli, Done

SESSION = "95e6f011-ec33-4b37-91ad-5d242b40ae3d"
U: Any = {"user_id": "maya"}


def entry(kind: str, number: int, content: Any, **more: Any) -> dict[str, Any]:
    """An entry of a transcript, as Claude Code 2.1 writes it."""
    said: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        said |= {
            "id": "msg_01Gv",
            "model": "claude-opus-4-5",
            "type": "message",
            "stop_reason": None,
        }
    return {
        "parentUuid": None if number == 0 else f"{number - 1:08}-0000-4000-8000-000000000000",
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/maya/orchard",
        "sessionId": SESSION,
        "version": "2.1.12",
        "gitBranch": "main",
        "type": kind,
        "message": said,
        "uuid": f"{number:08}-0000-4000-8000-000000000000",
        "timestamp": f"2026-01-20T11:57:{number:02}.716Z",
        **more,
    }


def block(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}]


def uses(tool: str) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": "toolu_1", "name": tool, "input": {"file_path": "/x.py"}}]


RESULT = [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "     1→SECRET = 1"}]
SAID = [
    entry("user", 1, "I always use pytest, never unittest."),
    entry("assistant", 3, block("I'll read the tests first.")),
    entry("assistant", 6, block("Done: the tests use pytest now.")),
    entry(
        "user",
        7,
        [
            *block("<system-reminder>\nTodo list is empty\n</system-reminder>"),
            *block("We deploy the orchard service on Fridays."),
            {"type": "image", "source": {"type": "base64", "data": "iVBO"}},
        ],
    ),
]
BY_PROGRAM = [
    {
        "type": "queue-operation",
        "operation": "dequeue",
        "timestamp": "2026-01-20T11:57:17.716Z",
        "sessionId": SESSION,
    },
    {"type": "summary", "summary": "Tests of the orchard", "leafUuid": "a"},
    {"type": "file-history-snapshot", "messageId": "b", "snapshot": {}, "isSnapshotUpdate": False},
    entry("user", 0, "Caveat: the messages below were generated", isMeta=True),
    entry("user", 10, "<command-name>/clear</command-name>\n<command-args></command-args>"),
    entry("user", 11, "<local-command-stdout>Bye!</local-command-stdout>"),
    entry("user", 12, block("[Request interrupted by user for tool use]")),
    entry(
        "user", 13, "This session is being continued from one that ran out", isCompactSummary=True
    ),
    entry("user", 14, "Search the code for callers", isSidechain=True),
    entry("assistant", 2, [{"type": "thinking", "thinking": "Hm.", "signature": "x"}]),
    entry("assistant", 4, uses("Read")),
    entry("user", 5, RESULT, toolUseResult={"type": "text"}),
    entry("assistant", 15, block("API Error: 529"), isApiErrorMessage=True),
    {
        **entry("assistant", 16, block("No response requested.")),
        "message": {"role": "assistant", "model": "<synthetic>", "content": block("No response")},
    },
    {"type": "system", "subtype": "local_command", "content": "x", "sessionId": SESSION},
]
TEXTS = [
    "I always use pytest, never unittest.",
    "I'll read the tests first.",
    "Done: the tests use pytest now.",
    "We deploy the orchard service on Fridays.\n[image]",
]


def transcript(directory: Path, *entries: Any) -> Path:
    file = directory / f"{SESSION}.jsonl"
    lines = (one if isinstance(one, str) else json.dumps(one) for one in entries)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file


def event(name: str, **more: Any) -> dict[str, Any]:
    return {
        "session_id": SESSION,
        "cwd": "/home/maya/orchard",
        "permission_mode": "default",
        "hook_event_name": name,
        **more,
    }


def run(store: Path, given: Any, code: int = 0, agent: str = "claude-code") -> Done:
    with pytest.MonkeyPatch.context() as patch:
        text = given if isinstance(given, str) else json.dumps(given)
        patch.setattr("sys.stdin", io.StringIO(text))
        return Cli(store)("hook", "--user", "maya", "--for", agent, code=code)


@pytest.mark.parametrize("first", range(len(BY_PROGRAM)))
def test_a_transcript_gives_what_user_and_model_said(tmp_path, first):
    around = [*BY_PROGRAM[first:], *SAID, *BY_PROGRAM[:first]]
    found = list(read(transcript(tmp_path, *around), "claude-code", "other"))
    assert [one.message.content for one in found if isinstance(one, Incoming)] == TEXTS
    assert all(isinstance(one, Incoming) and one.session_id == SESSION for one in found)


@pytest.mark.parametrize("first", [BY_PROGRAM[0], BY_PROGRAM[1], BY_PROGRAM[2], SAID[0]])
def test_a_transcript_is_told_from_other_lines_of_json(tmp_path, first):
    file = transcript(tmp_path, first, *SAID)
    found = [one for one in read(file, "auto", "other") if isinstance(one, Incoming)]
    assert TEXTS[1] in [one.message.content for one in found]
    (tmp_path / "plain").mkdir()
    plain = transcript(tmp_path / "plain", {"role": "user", "content": "Hi", "metadata": {}})
    (one,) = read(plain, "auto", "other")
    assert isinstance(one, Incoming)
    assert one.session_id == "other"


def test_messages_keep_id_time_and_role_of_their_entry(tmp_path):
    first, second, *_ = read(transcript(tmp_path, *SAID), "claude-code", "other")
    assert isinstance(first, Incoming)
    assert isinstance(second, Incoming)
    assert first.message.id == SAID[0]["uuid"]
    assert first.message.created_at is not None
    assert first.message.created_at.isoformat() == "2026-01-20T11:57:01.716000+00:00"
    assert [first.message.role, second.message.role] == ["user", "assistant"]


def test_what_the_model_says_after_it_wrote_memories_is_marked(tmp_path):
    wrote = entry("assistant", 2, uses("mcp__semantic-memory__remember"))
    found = read(transcript(tmp_path, SAID[0], wrote, *SAID[1:]), "claude-code", "other")
    marks = [bool(one.message.metadata) for one in found if isinstance(one, Incoming)]
    assert marks == [False, True, False, False]


@pytest.mark.parametrize(
    "line",
    [
        '{"type": "user", "message"',
        "[]",
        "17",
        '{"role": "user", "content": "of another format"}',
        json.dumps(entry("user", 1, "No session", sessionId=None)),
        json.dumps(entry("user", 1, "No time", timestamp="yesterday")),
        "[" * 100_000,
    ],
)
def test_a_line_that_cannot_be_used_costs_none_of_the_others(tmp_path, line):
    found = list(read(transcript(tmp_path, line, *SAID), "claude-code", "other"))
    assert isinstance(found[0], Rejected)
    assert found[0].place == "line 1"
    assert len(found) == 1 + len(SAID)


def test_a_session_is_observed_at_its_end_and_recalled_at_the_next_start(tmp_path):
    store = tmp_path / "store"
    file = transcript(tmp_path, *BY_PROGRAM, *SAID)
    stopped = event("Stop", transcript_path=str(file), stop_hook_active=False)
    assert run(store, stopped).stdout == ""
    with file.open("a", encoding="utf-8") as more:
        more.write(json.dumps(entry("user", 20, "I prefer tabs over spaces.")) + "\n")
    run(store, event("SessionEnd", transcript_path=str(file), reason="exit"))
    with SemanticMemory.open(store) as memory:
        said = memory.sessions.messages(**U, session_id=SESSION)
        assert [one.content for one in said] == [*TEXTS, "I prefer tabs over spaces."]
        facts = memory.list(**U, filters={"categories": ["preference"]})
        assert any("tabs" in fact.content for fact in facts)

    answer = json.loads(run(store, event("SessionStart", source="startup")).stdout)
    added = answer["hookSpecificOutput"]
    assert added["hookEventName"] == "SessionStart"
    assert "orchard" in added["additionalContext"]


def test_a_message_that_is_refused_costs_none_of_the_others(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMANTIC_MEMORY_INGEST__SECRETS", "refuse")
    told = entry("user", 30, "The bank password is hunter2hunter2.")
    ended = event("SessionEnd", transcript_path=str(transcript(tmp_path, *SAID, told)))
    refused = run(tmp_path / "store", ended)
    assert "holds a secret" in " ".join(refused.stderr.split())
    with SemanticMemory.open(tmp_path / "store") as memory:
        assert [one.content for one in memory.sessions.messages(**U, session_id=SESSION)] == TEXTS


def test_a_new_store_adds_nothing_to_the_prompt(tmp_path):
    assert json.loads(run(tmp_path / "store", event("SessionStart")).stdout) == {}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("", "no event of a hook"),
        ("[]", "not a JSON object"),
        (event("PreToolUse"), "no hook for 'PreToolUse'"),
        (event("SessionEnd"), "names no transcript_path"),
        (event("SessionEnd", transcript_path="/nowhere/x.jsonl"), "/nowhere/x.jsonl"),
        ({"hook_event_name": "SessionStart"}, "session_id"),
        (event("UserPromptSubmit", prompt="x") | {"session_id": 7}, "session_id"),
    ],
)
def test_a_hook_that_fails_says_why_and_never_keeps_the_agent_from_going_on(
    tmp_path, given, reason
):
    failed = run(tmp_path / "store", given, code=1)  # 2 would
    assert reason in " ".join(failed.stderr.split())
    assert failed.stdout == ""


def test_an_unknown_agent_is_refused_by_name(tmp_path):
    failed = run(tmp_path / "store", event("SessionStart"), code=1, agent="copilot")
    assert "unknown agent 'copilot'" in failed.stderr
