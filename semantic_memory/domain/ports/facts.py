"""Reading the ledger's facts, their history, the beliefs among them, and profile lines."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.facts import Fact, FactVersion, Status
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.profile import Layer, Line
from semantic_memory.domain.retention import Unexpired
from semantic_memory.domain.scope import SHARED, Scope


class Belief(NamedTuple):
    """An active fact with the vector and the revision that consolidation compares it by."""

    fact: Fact
    vector: Matrix
    """Vector of its (first) window, shape (dimension,)."""
    revision: int
    """Revision of its latest change."""


class Facts(Protocol):
    """Reads facts by id, by filter and by content."""

    def get(self, fact_ids: Sequence[str], user_id: str | None = None) -> list[Fact]:
        """Return the facts with these ids, in their order.

        Unknown and forgotten facts are left out, and those of others than `user_id`.
        """
        ...

    def known(self, fact_ids: Sequence[str]) -> set[str]:
        """Return those of the ids that have ever been written, forgotten ones included."""
        ...

    def beginning(self, prefix: str, user_id: str | None = None) -> list[str]:
        """Return the first ten ids that begin with `prefix`, forgotten facts' included.

        Only those of `user_id`, if it is given.
        """
        ...

    def find(
        self,
        user_id: str,
        filters: Filters,
        *,
        status: Status | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> list[Fact]:
        """Return the user's facts that pass `filters`, the one said last first.

        With a `status`, facts that have it now, instead of active ones; of forgotten ones only the
        tombstones, without texts and sources. A page continues after the
        fact `after`. Raises NotFoundError if the user has no such fact.
        """
        ...

    def newest(self, user_id: str, filters: Filters, limit: int) -> list[Fact]:
        """Return the user's `limit` newest facts that pass `filters`, forgotten ones aside."""
        ...

    def ids(self, user_id: str, filters: Filters = NO_FILTERS) -> list[str]:
        """Return the ids of the user's facts in the order written, forgotten ones aside.

        Of facts that pass `filters`, in any status unless these name statuses.
        """
        ...

    def resting_on(self, user_id: str, messages: Collection[tuple[str, str]]) -> list[Fact]:
        """Return the user's facts, in any status, that have one of these messages as a source.

        `messages` are pairs of session and message; verbatim messages aside, in the order written.
        """
        ...

    def superseded_in(
        self,
        user_id: str,
        session_ids: Collection[str],
        places: Collection[str],
        positions: Collection[tuple[str, int]],
    ) -> list[Fact]:
        """Return the user's superseded facts that were said first in one of these sessions.

        Only those stated at one of `places` (`session/message`), or said first at one of
        `positions`, pairs of a session and a position in it.
        """
        ...

    def doubted(self, user_id: str) -> list[Fact]:
        """Return the user's active facts with links to newer statements, in the order written."""
        ...

    def same_content(self, user_id: str, content: str, scope: Scope = SHARED) -> Fact | None:
        """Return the active fact of a scope with the same normalised content, messages aside.

        Of several, the one that expires last.
        """
        ...

    def expired(self, user_id: str, condition: Unexpired, limit: int | None = None) -> list[Fact]:
        """Return the user's facts of any status, forgotten ones aside, that have expired.

        The first `limit`, in the order written.
        """
        ...


class FactHistory(Protocol):
    """Reads the versions of a fact, and the facts it replaced."""

    def history(self, fact_id: str, user_id: str | None = None) -> list[FactVersion]:
        """Return every version of a fact, oldest first.

        Raises NotFoundError, also for a fact of another than `user_id`.
        """
        ...

    def replaced(self, fact_id: str, user_id: str) -> list[Fact]:
        """Return the facts that this one superseded or absorbed, oldest first."""
        ...


class Beliefs(Protocol):
    """Reads beliefs: active facts that have vectors, verbatim messages aside."""

    def beliefs(self, user_id: str, *, since: int = 0, limit: int | None = None) -> list[Belief]:
        """Return the user's beliefs that changed after revision `since`, at most `limit`."""
        ...

    def beliefs_among(
        self, user_id: str, fact_ids: Collection[str], keys: Collection[bytes]
    ) -> list[Belief]:
        """Return the user's beliefs with one of these ids or one of these keys (see `Keyed`)."""
        ...


class ProfileLines(Protocol):
    """Reads the lines of users' profiles and histories."""

    def lines(self, user_id: str, as_of: datetime | None = None) -> list[Line]:
        """Return the lines that stand, or stood at `as_of`, oldest first in each layer.

        The sources of a line are sorted.
        """
        ...

    def past_lines(self, user_id: str, layer: Layer) -> list[Line]:
        """Return every line that stands or stood in a layer, in the order in which they came."""
        ...
