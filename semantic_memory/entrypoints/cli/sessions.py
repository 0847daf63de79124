"""Commands of `memory.sessions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from semantic_memory.domain import fields
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.entrypoints.cli import work
from semantic_memory.entrypoints.cli.commands import app
from semantic_memory.entrypoints.cli.options import AsAgent, AsJson, DataDir, Session, User

if TYPE_CHECKING:
    from semantic_memory.client import Client
    from semantic_memory.memory import SemanticMemory

sessions = typer.Typer(no_args_is_help=True, help="Sessions: options and messages.")
app.add_typer(sessions, name="sessions")

OnlyOf = Annotated[Optional[str], typer.Option("--agent", help=fields.SESSION_OF)]
Extract = Annotated[Optional[bool], typer.Option("--extract/--no-extract", help=fields.EXTRACT)]
Fades = Annotated[Optional[bool], typer.Option("--fades/--no-fades", help=fields.FADES)]
Compact = Annotated[Optional[bool], typer.Option("--compact/--no-compact", help=fields.COMPACT)]
HalfLives = Annotated[
    Optional[list[str]],
    typer.Option("--half-life", metavar="CATEGORY=DAYS", help=fields.HALF_LIFE_DAYS),
]
Floor = Annotated[Optional[float], typer.Option(help=fields.FLOOR)]
Language = Annotated[Optional[str], typer.Option(help=fields.LANGUAGE)]
Verbosity = Annotated[Optional[str], typer.Option(help=fields.VERBOSITY)]


@sessions.command("list")
def list_(
    user: User,
    agent: Annotated[Optional[str], typer.Option("--agent", help=fields.SESSIONS_OF)] = None,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """List a user's sessions, the one with the latest message first."""
    with work.store.opened(data_dir, user=user) as memory:
        found = memory.sessions.list(user_id=user, agent_id=agent)
    work.show.as_json(found) if json else work.show.sessions(found)


@sessions.command("create")
def create(
    user: User,
    session: Annotated[Optional[str], typer.Argument(help=fields.NEW_SESSION)] = None,
    agent: Annotated[Optional[str], typer.Option("--agent", help=fields.SESSION_AGENT)] = None,
    extract: Extract = None,
    fades: Fades = None,
    compact: Compact = None,
    half_life: HalfLives = None,
    floor: Floor = None,
    language: Language = None,
    verbosity: Verbosity = None,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Create a session without messages, with options of its own."""
    given = _given(extract, fades, compact, half_life, floor, language, verbosity)
    with work.store.opened(data_dir, user=user) as memory:
        info = memory.sessions.create(user_id=user, session_id=session, agent_id=agent, **given)
    work.show.as_json(info) if json else work.show.sessions([info])


@sessions.command("load")
def load(
    session: Session,
    user: User,
    agent: OnlyOf = None,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Show a session, and open it again if it was closed."""
    with work.store.opened(data_dir, user=user) as memory:
        session = _named(memory, session, user)
        info = memory.sessions.load(user_id=user, session_id=session, agent_id=agent)
    work.show.as_json(info) if json else work.show.sessions([info])


@sessions.command("close")
def close(
    session: Session,
    user: User,
    agent: OnlyOf = None,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Extract the facts of a session, and refuse further messages until it is loaded."""
    with work.store.opened(data_dir, user=user, embeds=True) as memory:
        session = _named(memory, session, user)
        info = memory.sessions.close(user_id=user, session_id=session, agent_id=agent)
    work.show.as_json(info) if json else work.show.sessions([info])


@sessions.command("configure")
def configure(
    session: Session,
    user: User,
    agent: OnlyOf = None,
    extract: Extract = None,
    fades: Fades = None,
    compact: Compact = None,
    half_life: HalfLives = None,
    floor: Floor = None,
    language: Language = None,
    verbosity: Verbosity = None,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Override the options of a session from now on, and show them."""
    given = _given(extract, fades, compact, half_life, floor, language, verbosity)
    with work.store.opened(data_dir, user=user) as memory:
        session = _named(memory, session, user)
        options = memory.sessions.configure(
            user_id=user, session_id=session, agent_id=agent, **given
        )
    work.show.as_json(options) if json else work.show.pairs(options.model_dump(mode="json"))


@sessions.command("messages")
def messages(
    session: Session,
    user: User,
    agent: AsAgent = None,
    limit: Annotated[
        Optional[int], typer.Option("--limit", "-n", help=fields.MESSAGES_LIMIT)
    ] = None,
    newest: Annotated[bool, typer.Option("--newest", help=fields.NEWEST)] = False,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Show the messages of a session."""
    with work.store.opened(data_dir, user=user) as memory:
        messages = memory.sessions.messages(
            user_id=user,
            session_id=_named(memory, session, user),
            agent_id=agent,
            limit=limit,
            newest=newest,
        )
    work.show.as_json(messages) if json else work.show.messages(messages)


@sessions.command("pop")
def pop(
    session: Session,
    user: User,
    message: Annotated[Optional[str], typer.Option("--message", help=fields.MESSAGE)] = None,
    agent: Annotated[Optional[str], typer.Option("--agent", help=fields.MESSAGE_OF)] = None,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Take back the latest message of a session, with what it alone said, and show it."""
    with work.store.opened(data_dir, user=user, embeds=True) as memory:
        popped = memory.sessions.pop(
            user_id=user,
            session_id=_named(memory, session, user),
            message_id=message,
            agent_id=agent,
        )
        memory.flush()
    work.show.as_json(popped) if json else work.show.messages([popped])


def _named(memory: SemanticMemory | Client, given: str, user: str) -> str:
    """Return the id of the user's session that begins with `given`."""
    known = [one.session_id for one in memory.sessions.list(user_id=user)]
    return work.ids.chosen(given, known, "sessions")


def _given(
    extract: bool | None,
    fades: bool | None,
    compact: bool | None,
    half_life: list[str] | None,
    floor: float | None,
    language: str | None,
    verbosity: str | None,
) -> dict[str, Any]:
    return {
        "extract": extract,
        "fades": fades,
        "compact": compact,
        "half_life_days": dict(map(_half_life, half_life)) if half_life else None,
        "floor": floor,
        "language": language,
        "verbosity": verbosity,
    }


def _half_life(written: str) -> tuple[str, float]:
    category, _, days = written.partition("=")
    try:
        return category, float(days)
    except ValueError:
        raise InvalidInputError(
            f"--half-life must be CATEGORY=DAYS, like project=30 (got {written!r})"
        ) from None
