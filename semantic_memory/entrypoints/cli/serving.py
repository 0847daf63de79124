"""Commands of the service: serve, mcp, keys, config."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from semantic_memory.domain.categories import BUILT_IN, Declared
from semantic_memory.domain.errors import (
    ConfigurationError,
    InvalidInputError,
    MissingDependencyError,
)
from semantic_memory.entrypoints.cli import work
from semantic_memory.entrypoints.cli.commands import app
from semantic_memory.entrypoints.cli.options import AsJson, DataDir, User
from semantic_memory.entrypoints.rights import TOOLSETS, Right

if TYPE_CHECKING:
    from semantic_memory.entrypoints.keys import ApiKey, Keys

DASHBOARD = "/dashboard"

keys = typer.Typer(no_args_is_help=True, help="API keys of the service.")
app.add_typer(keys, name="keys")

Rights = Annotated[
    Optional[list[Right]], typer.Option("--right", "-r", help="Repeatable; default: read, write.")
]
LimitedTo = Annotated[
    Optional[str],
    typer.Option("--agent", help="Limit it to this agent's memories and, to read, shared ones."),
]
ReadToo = Annotated[
    Optional[list[str]],
    typer.Option(
        "--space",
        help="A user, such as a team, or a prefix*, whose memory it may only read; repeatable.",
    ),
]


@app.command()
def serve(
    host: Annotated[
        Optional[str], typer.Option(help="Address; anything but loopback needs API keys.")
    ] = None,
    port: Annotated[Optional[int], typer.Option(help="0 takes a free one.")] = None,
    workers: Annotated[
        Optional[int], typer.Option(help="Processes that listen; more than one need store.url.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Serve the store over HTTP (REST, MCP, metrics) until interrupted."""
    try:
        from semantic_memory.entrypoints.api.server import serve as run
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    given = {"host": host, "port": port, "workers": workers}
    service = {name: value for name, value in given.items() if value is not None}
    settings = work.settings.located(data_dir, work.settings.load(service=service or None))
    run(settings, work.store.prepared(settings), _say_where)


@app.command()
def mcp(
    user: User,
    right: Rights = None,
    agent: LimitedTo = None,
    space: ReadToo = None,
    tools: Annotated[
        str, typer.Option(help="five: the tools of every agent; all: lists, sessions, ... too.")
    ] = "five",
    by_project: Annotated[
        bool,
        typer.Option(
            "--by-project", help="Limit it to the repository of the working directory, as an agent."
        ),
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Serve the store to one agent over standard input and output (MCP).

    Several agents share a store: the first opens it, the others talk to that one, and one of them
    takes over when it ends.
    """
    try:
        from semantic_memory.entrypoints.mcp.stdio import run
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    from semantic_memory.entrypoints.callers import Caller

    if tools not in TOOLSETS:
        raise InvalidInputError(f"--tools must be {' or '.join(TOOLSETS)} (got {tools!r})")
    if user.endswith("*"):
        raise InvalidInputError(f"--user must be one user (got {user!r})")
    if by_project:
        if agent is not None:
            raise InvalidInputError("give --agent or --by-project")
        from semantic_memory.domain.projects import project_of

        agent = project_of(Path.cwd())
    rights = frozenset(right or (Right.READ, Right.WRITE))
    caller = Caller("stdio", (user,), rights, agent_id=agent, spaces=tuple(space or ()))
    run(lambda: work.store.shared(data_dir), caller, tools, _declared(data_dir))


def _declared(data_dir: str | None) -> Declared:
    """Return the categories of a store; the built-in ones where a call will say what is wrong."""
    try:
        return work.settings.located(data_dir, None).declared
    except ConfigurationError:
        return BUILT_IN


@keys.command("create")
def create(
    name: Annotated[str, typer.Argument(help="A name for the key's holder.")],
    user: Annotated[
        list[str], typer.Option("--user", "-u", help="A user, a prefix*, or *; repeatable.")
    ],
    right: Rights = None,
    agent: LimitedTo = None,
    space: ReadToo = None,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Make a key. It is shown once, and kept hashed; a running service takes it at once."""
    from semantic_memory.concurrency import SystemClock

    rights = right or [Right.READ, Right.WRITE]
    now = SystemClock().now()
    with _keys(data_dir) as kept:
        key, token = kept.create(name, user, rights, now, agent_id=agent, spaces=space or ())
    work.show.as_json({"id": key.id, "key": token}) if json else print(token)


@keys.command("list")
def list_(data_dir: DataDir = None, json: AsJson = False) -> None:
    """List all keys, without their secrets."""
    with _keys(data_dir) as kept:
        found = kept.read()
    if json:
        work.show.as_json([key.model_dump(mode="json", exclude={"digest"}) for key in found])
    for key in () if json else found:
        work.show.out.print(_line(key), markup=False, highlight=False, soft_wrap=True)


def _line(key: ApiKey) -> str:
    rights = ", ".join(sorted(key.rights))
    parts = [key.id, f"{key.created_at:%Y-%m-%d}", key.name, " ".join(key.users), f"({rights})"]
    if key.agent_id is not None:
        parts.append(f"agent {key.agent_id}")
    if key.spaces:
        parts.append(f"reads {' '.join(key.spaces)}")
    return "  ".join(parts)


@keys.command("revoke")
def revoke(
    key_id: Annotated[str, typer.Argument(help="As `keys list` shows it.")],
    data_dir: DataDir = None,
) -> None:
    """Take a key away; a running service refuses it from then on."""
    with _keys(data_dir) as kept:
        key_id = work.ids.chosen(key_id, [key.id for key in kept.read()], "keys")
        kept.revoke(key_id)
    work.show.out.print(f"revoked {key_id}", highlight=False)


@app.command()
def config(
    reference: Annotated[
        bool, typer.Option("--reference", help="Print the reference of all settings, in Markdown.")
    ] = False,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Show every setting with its value and its origin."""
    if reference:
        print(work.reference.reference(), end="")
        return
    rows = work.settings.explained(data_dir)
    if json:
        work.show.as_json({row.name: {"value": row.value, "from": row.origin} for row in rows})
    else:
        work.show.pairs({row.name: f"{row.value}  ({row.origin})" for row in rows})


@contextmanager
def _keys(data_dir: str | None) -> Iterator[Keys]:
    settings = work.settings.located(data_dir, None)
    encryption = work.keyring.make_encryption(settings)
    with work.state.opened(settings.data_dir, encryption, settings.store.plain_url) as state:
        yield state.keys()


def _say_where(url: str) -> None:
    work.show.err.print(
        f"serving at {url}\ndashboard {url}{DASHBOARD}/",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def _missing(error: ModuleNotFoundError) -> MissingDependencyError:
    return MissingDependencyError(
        f"the service needs {error.name}, which isn't installed:"
        " pip install 'semantic-memory[service]'"
    )
