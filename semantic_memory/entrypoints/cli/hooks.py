"""The command that coding agents call at the events of a session: hook."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from semantic_memory.domain import fields
from semantic_memory.domain.errors import SemanticMemoryError
from semantic_memory.entrypoints.cli import work
from semantic_memory.entrypoints.cli.commands import app
from semantic_memory.entrypoints.cli.options import DataDir, User

__all__ = ["app"]

_BUDGET = 1_000
_FAILED = 1  # 2 would keep the agent from continuing


@app.command()
def hook(
    user: User,
    budget: Annotated[
        int, typer.Option("--budget", "-b", help=fields.BUDGET.description)
    ] = _BUDGET,
    data_dir: DataDir = None,
) -> None:
    """Recall when a coding agent's session starts, and observe it when it ends.

    Reads the event from standard input, as Claude Code hands it over: SessionStart prints a context
    block for the model; Stop, PreCompact and SessionEnd take in the transcript's new messages.
    """
    hooks = work.hooks
    try:
        event = hooks.read_event(sys.stdin.read())
        recalls = event.hook_event_name in hooks.RECALLING
        with work.store.opened(data_dir, embeds=recalls) as memory:
            if recalls:
                work.show.as_json(hooks.recalled(memory, event, user, budget))
                return
            for refused in hooks.observed(memory, event, user).rejections:
                work.show.warn(f"semantic-memory: {refused.place}: {refused.reason}")
            if event.hook_event_name == "SessionEnd":
                memory.flush()
    except SemanticMemoryError as error:
        work.show.warn(f"semantic-memory: {error}")
        raise typer.Exit(_FAILED) from None
