"""Commands of `memory.profile`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Optional

import typer

from semantic_memory.domain import fields
from semantic_memory.entrypoints.cli import work
from semantic_memory.entrypoints.cli.commands import app
from semantic_memory.entrypoints.cli.options import AsAgent, AsJson, DataDir, User, time_of

profile = typer.Typer(no_args_is_help=True, help="Who a user is; what their memories are about.")
app.add_typer(profile, name="profile")


@profile.command("get")
def get(
    user: User,
    as_of: Annotated[
        Optional[datetime], typer.Option(help=fields.PROFILE_AS_OF, parser=time_of)
    ] = None,
    agent: AsAgent = None,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Show a user's profile and history."""
    with work.store.opened(data_dir, user=user) as memory:
        found = memory.profile.get(user_id=user, as_of=as_of, agent_id=agent)
    work.show.as_json(found) if json else work.show.overview(found)


@profile.command("tags")
def tags(user: User, data_dir: DataDir = None, json: AsJson = False) -> None:
    """List a user's tags, each with the number of memories that have it or one below it."""
    with work.store.opened(data_dir, user=user) as memory:
        found = memory.profile.tags(user_id=user)
    if json:
        work.show.as_json(found)
    else:
        work.show.pairs({one.tag: one.memories for one in found})
