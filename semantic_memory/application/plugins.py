"""Plugins for coding agents: their hooks and server of tools, merged into the agents' own files."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from semantic_memory.domain.agent_hooks import EVENTS
from semantic_memory.domain.errors import InvalidInputError

NAME = "semantic-memory"
"""Name of the server of tools."""
MODULE = "semantic_memory.entrypoints.hook"
"""Module of the command of hooks, by which its entries are recognised."""
_SECONDS = {"start": 30, "prompt": 10, "turn": 30, "compact": 60, "end": 60}
_LEFT_OUT = {"claude-code": ("Stop",)}
"""Events that needn't be set: others see the same messages."""
_BEGIN, _END = f"# {NAME}: begin", f"# {NAME}: end"
_HOOKS = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "cursor": ".cursor/hooks.json",
    "gemini": ".gemini/settings.json",
}
_SERVERS = {
    "claude-code": ".claude.json",
    "cursor": ".cursor/mcp.json",
    "gemini": ".gemini/settings.json",
}
_CODEX = ".codex/config.toml"
AGENTS = tuple(EVENTS)


class Launch(NamedTuple):
    """Commands that start the programs of a plugin."""

    python: str
    user: str
    data_dir: Path

    def hook(self, agent: str) -> str:
        """Return the command of a hook, for a shell."""
        options = ["--for", agent, "--user", self.user, "--data-dir", str(self.data_dir)]
        return shlex.join([self.python, "-m", MODULE, *options])

    @property
    def server(self) -> Sequence[str]:
        """The command of the server of tools."""
        options = ["--user", self.user, "--data-dir", str(self.data_dir), "--by-project"]
        return [self.python, "-m", "semantic_memory.entrypoints.cli", "mcp", *options]


class Change(NamedTuple):
    """A file before and after; None where there is none."""

    file: Path
    before: str | None
    after: str | None


def changes(agent: str, home: Path, launch: Launch | None) -> list[Change]:
    """Return what installing a plugin changes below `home`; without `launch`, what removing does.

    Entries of others stay as they are. Raises InvalidInputError for an unknown agent, and for a
    file that isn't what the agent reads.
    """
    if agent not in EVENTS:
        raise InvalidInputError(f"unknown agent {agent!r}: there are {', '.join(AGENTS)}")
    texts: dict[Path, str | None] = {}
    before: dict[Path, str | None] = {}

    def edit(name: str, change: Any) -> None:
        file = home / name
        if file not in texts:
            before[file] = texts[file] = _read(file)
        texts[file] = change(file, texts[file])

    edit(_HOOKS[agent], lambda file, text: _with_hooks(file, text, agent, launch))
    if agent in _SERVERS:
        edit(_SERVERS[agent], lambda file, text: _with_server(file, text, launch))
    else:
        edit(_CODEX, lambda file, text: _with_table(file, text, launch))
    found = (Change(file, before[file], text) for file, text in texts.items())
    return [one for one in found if one.before != one.after]


def _with_hooks(file: Path, text: str | None, agent: str, launch: Launch | None) -> str | None:
    document = _document(file, text)
    hooks = document.get("hooks", {})
    if not isinstance(hooks, dict):
        raise InvalidInputError(f"{file}: hooks must be an object: fix it first")
    kept = {event: _without_ours(entries) for event, entries in hooks.items()}
    if launch is not None:
        if agent == "cursor":
            document.setdefault("version", 1)
        for event, kind in EVENTS[agent].items():
            if event in _LEFT_OUT.get(agent, ()):
                continue
            seconds = _SECONDS[kind]
            kept[event] = [*kept.get(event, []), _entry(agent, launch.hook(agent), seconds)]
    # an event whose only entries were ours leaves no empty list behind
    document["hooks"] = {event: one for event, one in kept.items() if one or not hooks.get(event)}
    if not document["hooks"]:
        del document["hooks"]
    return _written(document, text)


def _entry(agent: str, command: str, seconds: int) -> dict[str, Any]:
    match agent:
        case "cursor":
            return {"command": command, "timeout": seconds}
        case "gemini":  # in milliseconds
            hook = {"name": NAME, "type": "command", "command": command, "timeout": seconds * 1_000}
            return {"hooks": [hook]}
        case _:
            return {"hooks": [{"type": "command", "command": command, "timeout": seconds}]}


def _without_ours(entries: Any) -> Any:
    if not isinstance(entries, list):
        return entries
    return [one for one in entries if MODULE not in json.dumps(one)]


def _with_server(file: Path, text: str | None, launch: Launch | None) -> str | None:
    document = _document(file, text)
    servers = document.get("mcpServers", {})
    if not isinstance(servers, dict):
        raise InvalidInputError(f"{file}: mcpServers must be an object: fix it first")
    kept = {name: one for name, one in servers.items() if name != NAME}
    if launch is not None:
        command, *arguments = launch.server
        kept[NAME] = {"command": command, "args": arguments}
    if kept or (servers and NAME not in servers):
        document["mcpServers"] = kept
    else:
        document.pop("mcpServers", None)
    return _written(document, text)


def _with_table(file: Path, text: str | None, launch: Launch | None) -> str | None:
    """Return a TOML file with a block of its own at the end, or without it."""
    kept = text or ""
    if _BEGIN in kept and _END in kept:
        start, end = kept.index(_BEGIN), kept.index(_END) + len(_END)
        kept = kept[:start].rstrip("\n") + "\n" + kept[end:].lstrip("\n")
        kept = kept.lstrip("\n")
    try:
        known = tomllib.loads(kept)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(f"{file} is no TOML: {error}: fix it first") from None
    if launch is None:
        return kept if kept.strip() else (None if text is None else "")
    if NAME in known.get("mcp_servers", {}):
        raise InvalidInputError(f"{file} has a server {NAME!r} already: remove it first")
    command, *arguments = launch.server
    lines = [_BEGIN, f"[mcp_servers.{NAME}]", f"command = {json.dumps(command)}"]
    lines.append(f"args = {json.dumps(arguments)}")
    if "features" not in known:
        lines += ["", "[features]", "codex_hooks = true"]
    above = kept.rstrip("\n") + "\n\n" if kept.strip() else ""
    return above + "\n".join([*lines, _END, ""])


def _read(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"can't read {file}: {error}") from None


def _document(file: Path, text: str | None) -> dict[str, Any]:
    try:
        found = json.loads(text) if text and text.strip() else {}
    except ValueError as error:
        raise InvalidInputError(f"{file} is no JSON: {error}: fix it first") from None
    if not isinstance(found, dict):
        raise InvalidInputError(f"{file} holds no JSON object: fix it first")
    return found


def _written(document: dict[str, Any], text: str | None) -> str | None:
    """Return a document as text: the same text if nothing changed, None for an empty new file."""
    if (text is None and not document) or (text and json.loads(text) == document):
        return text
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
