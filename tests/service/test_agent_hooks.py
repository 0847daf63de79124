"""Hooks of coding agents, spoken to as each agent does, through the process that owns the store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from semantic_memory.domain.projects import project_of
from semantic_memory.entrypoints.hook import quick_answer
from semantic_memory.entrypoints.shared import SharedStore
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import Settings

U: Any = {"user_id": "maya"}
EVENTS = {
    "claude-code": ("SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"),
    "codex": ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop"),
    "cursor": ("sessionStart", "beforeSubmitPrompt", "preCompact", "sessionEnd"),
    "gemini": ("SessionStart", "BeforeAgent", "PreCompress", "SessionEnd"),
}
ASKED = "How do we deploy the orchard service?"


def event(agent: str, place: int, cwd: Path, **more: Any) -> str:
    """An event in the words of an agent: of the start, a prompt, a compaction, or the end."""
    given: dict[str, Any] = {"hook_event_name": EVENTS[agent][place], **more}
    if agent == "cursor":
        given |= {"conversation_id": "c1", "generation_id": "g1", "workspace_roots": [str(cwd)]}
    else:
        given |= {"session_id": "c1", "cwd": str(cwd), "transcript_path": None}
    return json.dumps(given)


def block_of(answer: Any, agent: str, place: int) -> str:
    """The context that an agent puts before its model."""
    if agent == "cursor":
        assert place == 0 or answer["continue"] is True
        return str(answer.get("additional_context", ""))
    if not answer:
        return ""
    assert answer["hookSpecificOutput"]["hookEventName"] == EVENTS[agent][place]
    return str(answer["hookSpecificOutput"]["additionalContext"])


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "orchard" / ".git").mkdir(parents=True)
    (tmp_path / "orchard" / "src").mkdir()
    return tmp_path / "orchard"


@pytest.fixture
def owner(tmp_path: Path, repository: Path) -> Iterator[SemanticMemory]:
    """The process that has the store open: here, the one that runs the test."""
    settings = Settings(data_dir=tmp_path / "store")
    with SharedStore(settings, "mcp") as shared:
        memory = shared.own()
        own = {**U, "agent_id": project_of(repository)}
        memory.add("The orchard service is deployed on Fridays", **own, category="project")
        memory.add("Deploys the vineyard service at night", **U, agent_id="project:vineyard-1")
        memory.add("Prefers tabs over spaces", **U, category="preference")
        yield memory


@pytest.mark.parametrize("agent", EVENTS)
def test_start_and_prompt_recall_what_is_of_the_repository_and_what_is_shared(
    owner: SemanticMemory, repository: Path, tmp_path: Path, agent: str
):
    options = ["--for", agent, "--user", "maya", "--data-dir", str(tmp_path / "store")]
    started = quick_answer(options, event(agent, 0, repository, source="startup"))
    assert "tabs" in block_of(started, agent, 0)
    asked = quick_answer(options, event(agent, 1, repository / "src", prompt=ASKED))
    block = block_of(asked, agent, 1)
    assert "Fridays" in block
    assert "vineyard" not in block
    elsewhere = quick_answer(options, event(agent, 1, tmp_path, prompt=ASKED))
    assert "Fridays" not in block_of(elsewhere, agent, 1)
    nothing = quick_answer(options, event(agent, 1, repository, prompt=" "))
    assert block_of(nothing, agent, 1) == ""
    owner.flush()  # sessions are listed once their messages are in the ledger
    sessions = {one.session_id for one in owner.sessions.list(**U)}
    assert sessions == (set() if agent == "claude-code" else {"c1"})
    if sessions:
        said = owner.sessions.messages(**U, session_id="c1")
        assert said[0].content == ASKED
        assert {one.agent_id for one in said} == {project_of(repository), project_of(tmp_path)}


@pytest.mark.parametrize("agent", EVENTS)
@pytest.mark.parametrize("place", [2, 3])
def test_other_events_are_left_to_the_command_line(
    owner: SemanticMemory, repository: Path, tmp_path: Path, agent: str, place: int
):
    options = ["--for", agent, "--user", "maya", "--data-dir", str(tmp_path / "store")]
    assert quick_answer(options, event(agent, place, repository)) is None


@pytest.mark.parametrize("agent", EVENTS)
def test_the_command_of_a_hook_answers_as_the_agent_reads_it(
    owner: SemanticMemory, repository: Path, tmp_path: Path, agent: str
):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "semantic_memory.entrypoints.hook", "--for", agent),
            *("--user", "maya", "--data-dir", str(tmp_path / "store")),
        ],
        input=event(agent, 1, repository, prompt=ASKED),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ},
    )
    assert "Fridays" in block_of(json.loads(done.stdout), agent, 1)
    assert done.stderr == ""


def test_without_an_owner_the_command_line_opens_the_store(repository: Path, tmp_path: Path):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "semantic_memory.entrypoints.hook", "--for", "gemini"),
            *("--user", "maya", "--data-dir", str(tmp_path / "store")),
        ],
        input=event("gemini", 1, repository, prompt="I always deploy on Fridays."),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ},
    )
    assert isinstance(json.loads(done.stdout), dict)
    with SemanticMemory.open(tmp_path / "store") as memory:
        (said,) = memory.sessions.messages(**U, session_id="c1")
    assert said.content == "I always deploy on Fridays."
    assert said.agent_id == project_of(repository)


def test_a_hook_at_a_prompt_loads_no_models():
    program = (
        "import sys, semantic_memory.entrypoints.hook;"
        "print([one for one in ('pydantic', 'typer', 'httpx', 'rich') if one in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
