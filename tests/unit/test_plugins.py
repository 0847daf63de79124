"""Plugins of coding agents: merged into the agents' own files, and taken out again."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from semantic_memory.application.plugins import AGENTS, MODULE, NAME, Launch, changes
from semantic_memory.domain.agent_hooks import EVENTS
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.projects import project_of
from tests.support.command_line import Cli

LAUNCH = Launch("/usr/bin/python3", "maya", Path("/home/maya/my memory"))
OTHERS: dict[str, dict[str, Any]] = {
    "claude-code": {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]},
        "model": "opus",
    },
    "codex": {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "date"}]}]}},
    "cursor": {"version": 1, "hooks": {"sessionEnd": [{"command": "date"}], "stop": []}},
    "gemini": {"theme": "dark", "mcpServers": {"files": {"command": "files"}}},
}
FILES = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "cursor": ".cursor/hooks.json",
    "gemini": ".gemini/settings.json",
}


def apply(agent: str, home: Path, launch: Launch | None) -> int:
    found = changes(agent, home, launch)
    for one in found:
        one.file.parent.mkdir(parents=True, exist_ok=True)
        one.file.write_text(one.after or "")
    return len(found)


def contents(home: Path) -> dict[str, str]:
    return {str(one.relative_to(home)): one.read_text() for one in home.rglob("*") if one.is_file()}


@pytest.mark.parametrize("agent", AGENTS)
def test_installing_keeps_what_others_wrote_and_removing_leaves_only_that(tmp_path, agent):
    file = tmp_path / FILES[agent]
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(OTHERS[agent]))
    assert apply(agent, tmp_path, LAUNCH) >= 1
    installed = contents(tmp_path)
    assert apply(agent, tmp_path, LAUNCH) == 0  # again changes nothing
    hooks = json.loads(file.read_text())["hooks"]
    ours = {event for event, entries in hooks.items() if MODULE in json.dumps(entries)}
    assert ours == set(EVENTS[agent]) - ({"Stop"} if agent == "claude-code" else set())
    assert "'/home/maya/my memory'" in json.dumps(hooks)
    assert any(NAME in text for name, text in installed.items())
    apply(agent, tmp_path, None)
    assert json.loads(file.read_text()) == OTHERS[agent]
    assert not any(NAME in text or MODULE in text for text in contents(tmp_path).values())


@pytest.mark.parametrize(
    "written", ["", 'model = "gpt-5"\n', "[features]\nweb = true\n", "[mcp_servers.x]\ncommand='x'"]
)
def test_the_configuration_of_codex_stays_valid_toml(tmp_path, written):
    file = tmp_path / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text(written)
    apply("codex", tmp_path, LAUNCH)
    document = tomllib.loads(file.read_text())
    assert document["mcp_servers"][NAME]["command"] == LAUNCH.python
    assert "--by-project" in document["mcp_servers"][NAME]["args"]
    assert document["features"] == {"web": True} or document["features"]["codex_hooks"]
    apply("codex", tmp_path, LAUNCH)
    apply("codex", tmp_path, None)
    assert tomllib.loads(file.read_text()) == tomllib.loads(written)


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": []}'])
def test_a_file_that_the_agent_could_not_read_is_left_alone(tmp_path, text):
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(text)
    with pytest.raises(InvalidInputError, match="fix it first"):
        changes("claude-code", tmp_path, LAUNCH)


def test_the_command_line_installs_shows_and_removes(tmp_path):
    command, home = Cli(tmp_path / "store"), tmp_path / "home"
    options = ("claude-code", "--user", "maya", "--home", str(home))
    shown = command("install", *options, "--dry-run").stdout
    assert "+++" in shown
    assert not home.exists()
    command("install", *options)
    assert NAME in (home / ".claude.json").read_text()
    (server,) = json.loads((home / ".claude.json").read_text())["mcpServers"].values()
    assert str(tmp_path / "store") in server["args"]
    command("uninstall", "claude-code", "--home", str(home))
    assert MODULE not in (home / ".claude" / "settings.json").read_text()
    assert "unknown agent" in command("install", "vim", "--user", "maya", code=2).stderr


def git(path: Path, origin: str | None = None) -> Path:
    (path / ".git").mkdir(parents=True)
    remote = f'[remote "origin"]\n\tfetch = x\n\turl = {origin}\n' if origin else ""
    (path / ".git" / "config").write_text(f"[core]\n\tbare = false\n{remote}")
    return path


def test_clones_and_worktrees_are_one_project_and_others_are_not(tmp_path):
    one = git(tmp_path / "a" / "orchard", "git@github.com:maya/orchard.git")
    (one / "src").mkdir()
    same = git(tmp_path / "b" / "copy", "https://token@github.com/Maya/orchard")
    fork = git(tmp_path / "c" / "orchard", "git@github.com:bo/orchard.git")
    local = git(tmp_path / "d" / "orchard")
    worktree = tmp_path / "e"
    worktree.mkdir()
    own = one / ".git" / "worktrees" / "e"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    (worktree / ".git").write_text(f"gitdir: {own}\n")
    same_project = {project_of(path) for path in (one, one / "src", same, worktree)}
    assert len(same_project) == 1
    others = [project_of(path) for path in (fork, local, tmp_path, tmp_path / "a")]
    assert len({*same_project, *others}) == 5
    assert all(one.startswith("project:") and len(one) <= 128 for one in others)
