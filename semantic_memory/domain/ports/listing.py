"""Reading a user's facts page by page, and along their references."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.fields import Sort
from semantic_memory.domain.filters import Filters


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a listing, behind which it continues."""

    key: float
    """Its value that the listing is sorted by: a number, or microseconds since 1970."""
    num: int
    """Its number in the order written."""
    revision: int | None = None
    """Revision of the user at the first page: the facts are in the order that they had then."""
    last: int | None = None
    """The latest number at the first page: facts written later are left out."""


class Listed(NamedTuple):
    """A page of facts."""

    facts: list[Fact]
    next: Position | None
    """The place of its last fact; None at the end."""


class Listing(Protocol):
    """Lists facts page by page, and follows references."""

    def page(
        self,
        user_id: str,
        filters: Filters,
        *,
        status: Status | None = None,
        order: Sort = "time",
        limit: int | None = None,
        behind: Position | None = None,
    ) -> Listed:
        """Return the user's facts that pass `filters`, sorted, behind a position.

        Highest first; equal ones by the order written, latest first. Relevance is as the latest
        `Weigh` left it, and a new fact has the highest retention.

        With a `status`, facts that have it now, instead of active ones. Pages that continue a first
        one repeat and skip no fact, whatever is written meanwhile: the order is that of the first
        page, except for a fact whose place changed more than eight times since, and that by
        relevance follows what the sweep does meanwhile. A fact that no longer passes is left out.
        """
        ...

    def position(self, fact_id: str, user_id: str, order: Sort) -> Position:
        """Return the present place of a fact. Raises NotFoundError if the user has none such."""
        ...

    def tags(self, user_id: str, filters: Filters) -> dict[str, int]:
        """Return the number of the user's active facts by tag, of those that pass `filters`.

        A fact counts for each of its tags and for the topics above them, once each.
        """
        ...

    def linked(
        self, user_id: str, start: str, *, depth: int, backwards: bool = False
    ) -> frozenset[str]:
        """Return the ids at most `depth` references away from `start`, itself aside.

        Along the references of the user's facts of any status, or `backwards` to the facts that
        refer to it. Ids may be those of unknown facts.
        """
        ...
