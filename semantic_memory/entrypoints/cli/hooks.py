"""The command that coding agents call at the events of a session: hook."""

from __future__ import annotations

import sys
from typing import Annotated, Optional

import typer

from semantic_memory.domain import fields
from semantic_memory.domain.errors import SemanticMemoryError
from semantic_memory.entrypoints.cli import work
from semantic_memory.entrypoints.cli.commands import app
from semantic_memory.entrypoints.cli.options import DataDir, User

_FAILED = 1  # 2 would keep the agent from continuing


@app.command()
def hook(
    user: User,
    agent: Annotated[
        str, typer.Option("--for", help="The agent: claude-code, codex, cursor or gemini.")
    ] = "claude-code",
    budget: Annotated[
        Optional[int], typer.Option("--budget", "-b", help=fields.BUDGET.description)
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Answer an event of a coding agent: recall at start and prompt, observe the rest.

    Reads the event from standard input, as the agent hands it over, and prints the context that the
    agent puts before its model. `install` sets it for all events.
    """
    hooks = work.hooks
    try:
        event = hooks.read_event(sys.stdin.read(), agent)
        with work.store.opened(data_dir, embeds=event.recalls) as memory:
            if event.recalls:
                work.show.as_json(hooks.recalled(memory, event, user, budget))
            for refused in hooks.observed(memory, event, user).rejections:
                work.show.warn(f"semantic-memory: {refused.place}: {refused.reason}")
            if event.kind == "end":
                memory.flush()
    except SemanticMemoryError as error:
        work.show.warn(f"semantic-memory: {error}")
        raise typer.Exit(_FAILED) from None
