"""Hooks of coding agents: their events in one form, and answers in the form of each.

Plain code without other modules, as hooks load it at every prompt.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, NamedTuple

Kind = Literal["start", "prompt", "compact", "turn", "end"]

EVENTS: dict[str, dict[str, Kind]] = {
    "claude-code": {
        "SessionStart": "start",
        "UserPromptSubmit": "prompt",
        "PreCompact": "compact",
        "Stop": "turn",
        "SessionEnd": "end",
    },
    "codex": {
        "SessionStart": "start",
        "UserPromptSubmit": "prompt",
        "PreCompact": "compact",
        "Stop": "turn",
    },
    "cursor": {
        "sessionStart": "start",
        "beforeSubmitPrompt": "prompt",
        "preCompact": "compact",
        "sessionEnd": "end",
    },
    "gemini": {
        "SessionStart": "start",
        "BeforeAgent": "prompt",
        "PreCompress": "compact",
        "SessionEnd": "end",
    },
}
"""The events that each agent's hooks are set for."""
TRANSCRIBED = "claude-code"
"""The agent whose transcripts can be read; of the others, the prompts are observed as they come."""
MOST_QUERY = 2_000  # characters of a prompt that are searched for
BUDGET = {"start": 1_000, "prompt": 500}
"""Tokens of a block."""


class HookEvent(NamedTuple):
    """An event as an agent hands it over on standard input."""

    agent: str
    name: str
    kind: Kind
    session_id: str
    cwd: Path | None
    prompt: str
    transcript: Path | None

    @property
    def recalls(self) -> bool:
        """True if the answer puts memories before the model."""
        return self.kind in ("start", "prompt")

    @property
    def observes_prompt(self) -> bool:
        """True if the prompt is to be observed, as no transcript will have it."""
        return self.kind == "prompt" and self.agent != TRANSCRIBED and bool(self.prompt.strip())

    @property
    def query(self) -> str:
        """The question whose answers help with what follows; empty for an empty prompt."""
        if self.kind == "prompt":
            return self.prompt.strip()[:MOST_QUERY]
        return f"Work on {self.cwd.name}" if self.cwd and self.cwd.name else "Current work"


def read_event(text: str, agent: str) -> HookEvent:
    """Read an event. Raises ValueError that says what is wrong."""
    if agent not in EVENTS:
        raise ValueError(f"unknown agent {agent!r}: there are {', '.join(EVENTS)}")
    try:
        values = json.loads(text)
    except ValueError as error:
        raise ValueError(f"standard input holds no event of a hook: {error}") from None
    if not isinstance(values, dict):
        raise ValueError("standard input holds no event of a hook: not a JSON object")
    name, known = values.get("hook_event_name"), EVENTS[agent]
    if name not in known:
        raise ValueError(f"no hook for {name!r}: set it for {', '.join(known)}")
    session = values.get("session_id") or values.get("conversation_id")
    if not isinstance(session, str):
        raise ValueError("the event names no session_id")
    roots = values.get("workspace_roots")
    cwd = values.get("cwd") or (roots[0] if isinstance(roots, list) and roots else None)
    transcript = values.get("transcript_path")
    return HookEvent(
        agent=agent,
        name=name,
        kind=known[name],
        session_id=session,
        cwd=Path(cwd) if isinstance(cwd, str) else None,
        prompt=str(values.get("prompt") or ""),
        transcript=Path(transcript) if isinstance(transcript, str) else None,
    )


def answer(event: HookEvent, block: str) -> dict[str, Any]:
    """Return the answer that puts a block before the model; an empty one for none."""
    if event.agent == "cursor":
        goes_on = {"continue": True} if event.kind == "prompt" else {}
        return goes_on | ({"additional_context": block} if block else {})
    if not block:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": block}}


def needed(event: HookEvent, block: dict[str, Any]) -> str:
    """Return the text of a block, as the service sends it; empty if nothing in it was asked for.

    The start of a session shows what is always shown, a prompt only what it is about.
    """
    relevant = event.kind == "start" or (block.get("relevance") or 0) > 0
    return str(block.get("text") or "") if relevant else ""
