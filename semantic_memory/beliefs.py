"""The facade of beliefs, `memory.beliefs`: review what newer statements ended or perhaps changed.

for one in memory.beliefs.retired(user_id="maya"):
    print(one.fact.content, one.cause.reason, one.cause.quote)
memory.beliefs.undo(user_id="maya", decision=one.fact.id)
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import TYPE_CHECKING

from semantic_memory.domain import fields
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.requests.beliefs import (
    AcceptRequest,
    LabelsRequest,
    RejectRequest,
    RetiredRequest,
    ToConfirmRequest,
    UndoRequest,
)
from semantic_memory.domain.review import LabelledPair, Retirement, Unconfirmed

if TYPE_CHECKING:  # it would load numpy
    from semantic_memory.application.review import Review


class Beliefs:
    """The beliefs of a memory's users, for those who review them. Thread-safe.

    A newer statement ends a fact where a rule or a model is sure of it, and is linked to it as
    perhaps having changed it where that is only likely.
    """

    def __init__(self, review: Callable[[], Review]) -> None:
        self._review = review

    def retired(
        self,
        *,
        user_id: str,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = fields.PAGE.default,
    ) -> list[Retirement]:
        """Return the facts that newer statements ended, the latest decision first.

        Each with its cause: the reason in words, the quote that ended it, and the rule or model
        that decided. `since` and `until` bound the time of the decision. What a person ended by
        hand isn't among them.
        """
        asked = RetiredRequest.of(user_id=user_id, since=since, until=until, limit=limit)
        return self._review().retired(asked)

    def undo(
        self,
        *,
        user_id: str,
        decision: str | None = None,
        source: str | None = None,
        day: date | None = None,
        dry_run: bool = False,
        reason: str = "",
    ) -> list[Fact]:
        """Restore what one decision retired, or all that a source or the decisions of a day did.

        A decision is named by the id of the memory that it retired. `source` is where the newer
        statements came from: "session:ID", "speaker:NAME", "role:tool", "extractor:NAME" or
        "trust:LEVEL". What is restored is kept apart for good from what had ended it. Returns the
        restored memories; a dry run restores none. Raises InvalidInputError unless one of the three
        is given, NotFoundError for an unknown decision.
        """
        asked = UndoRequest.of(
            user_id=user_id,
            decision=decision,
            source=source,
            day=day,
            dry_run=dry_run,
            reason=reason,
        )
        return self._review().undo(asked)

    def to_confirm(self, *, user_id: str, limit: int = fields.PAGE.default) -> list[Unconfirmed]:
        """Return the facts that a newer statement perhaps changed, the latest decision first.

        A fact comes once for each of these statements. Behind them come facts that refer to one
        that no longer holds, then preferences that nobody has stated for half a year, the oldest
        first.
        """
        return self._review().to_confirm(ToConfirmRequest.of(user_id=user_id, limit=limit))

    def accept(self, older: str, newer: str, *, user_id: str, reason: str = "") -> Fact:
        """Accept that a newer memory changed an older one, which ends the older; return it.

        Raises NotFoundError if there is no such link.
        """
        asked = AcceptRequest.of(older, newer, user_id=user_id, reason=reason)
        return self._review().accept(asked)

    def reject(self, older: str, newer: str, *, user_id: str, reason: str = "") -> Fact:
        """Reject that a newer memory changed an older one: both stay, and are kept apart for good.

        Returns the older memory. Raises NotFoundError if there is no such link.
        """
        asked = RejectRequest.of(older, newer, user_id=user_id, reason=reason)
        return self._review().reject(asked)

    def labels(self, *, user_id: str) -> list[LabelledPair]:
        """Return what was accepted, rejected and restored as pairs of texts with a label.

        "over" where the newer statement ends the older one, "neither" where it doesn't: training
        data for a judge.
        """
        return self._review().labels(LabelsRequest.of(user_id=user_id))
