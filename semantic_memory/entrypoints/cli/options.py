"""Options that several commands share, described as the requests' fields are."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from semantic_memory.domain import fields
from semantic_memory.domain.categories import BUILT_IN

if TYPE_CHECKING:
    from semantic_memory.domain.filters import Filters


def time_of(text: str) -> datetime:
    """Read a time that was typed. Raises BadParameter."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"must be a time like 2026-05-03 or 2026-05-03T14:00 (got {text!r})"
        ) from None


def day_of(text: str) -> date:
    """Read a day that was typed. Raises BadParameter."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"must be a day like 2026-05-03 (got {text!r})") from None


BEGINNING = "A unique prefix is enough."
DataDir = Annotated[
    Optional[str],
    typer.Option(
        "--data-dir", help="Directory of the store, or the URL of a database, as in the settings."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
User = Annotated[str, typer.Option("--user", "-u", envvar="SEMANTIC_MEMORY_USER", help=fields.USER)]
OfUser = Annotated[
    Optional[str],
    typer.Option("--user", "-u", envvar="SEMANTIC_MEMORY_USER", help=fields.ONE_USER),
]
OneUser = Annotated[Optional[str], typer.Option("--user", "-u", help=fields.ONE_USER)]
Agent = Annotated[Optional[str], typer.Option("--agent", help=fields.AGENT)]
Run = Annotated[Optional[str], typer.Option("--run", help=fields.RUN)]
AsAgent = Annotated[Optional[str], typer.Option("--agent", help=fields.AS_AGENT)]
AsRun = Annotated[Optional[str], typer.Option("--run", help=fields.AS_RUN)]
Spaces = Annotated[
    Optional[list[str]], typer.Option("--space", help=f"{fields.SPACES} Repeatable.")
]
OfAgent = Annotated[Optional[str], typer.Option("--agent", help=fields.OF_AGENT)]
OfRun = Annotated[Optional[str], typer.Option("--run", help=fields.OF_RUN)]
Query = Annotated[str, typer.Argument(help=fields.QUERY)]
MemoryId = Annotated[str, typer.Argument(help=f"{fields.MEMORY} {BEGINNING}")]
KeepSource = Annotated[bool, typer.Option("--keep-source", help=fields.KEEP_SOURCE)]
Reason = Annotated[str, typer.Option(help=fields.REASON)]
Session = Annotated[str, typer.Argument(help=fields.SESSION)]
OneSession = Annotated[Optional[str], typer.Option("--session", "-s", help=fields.OF_SESSION)]
ExportFormat = Annotated[str, typer.Option("--format", help=fields.EXPORT_FORMAT)]
CATEGORY = f"[{'|'.join(BUILT_IN.names)}|...]"
"""The values of an option that takes a category; the settings may declare more."""
Categories = Annotated[
    Optional[list[str]],
    typer.Option("--category", "-c", metavar=CATEGORY, help=fields.CATEGORIES),
]
Tags = Annotated[Optional[list[str]], typer.Option("--tag", "-t", help=fields.TAGS)]
Since = Annotated[Optional[str], typer.Option(help=f'{fields.SINCE} 2026-05-03, or "last week".')]
Until = Annotated[Optional[str], typer.Option(help=f"{fields.UNTIL} 2026-05-03, or yesterday.")]
LeastConfidence = Annotated[float, typer.Option(help=fields.LEAST_CONFIDENCE.description)]
AsOf = Annotated[Optional[datetime], typer.Option(help=fields.AS_OF, parser=time_of)]
Where = Annotated[str, typer.Option("--where", "-w", help=fields.WHERE)]


def filters(
    where: str,
    categories: list[str] | None,
    tags: list[str] | None,
    since: str | None,
    until: str | None,
    min_confidence: float,
) -> Filters:
    """Return the filters that the options of a command give. Raises InvalidInputError."""
    from semantic_memory.domain.filters import Filters  # loads the models

    beside = {
        "categories": categories,
        "tags": tags,
        "since": since,
        "until": until,
        "min_confidence": min_confidence,
    }
    return Filters.joined(where or None, beside)
