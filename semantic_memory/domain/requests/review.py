"""Requests about beliefs: review what was retired, undo it, settle what perhaps changed."""

from __future__ import annotations

from datetime import date, datetime
from typing import ClassVar, Self

from pydantic import Field, StrictBool, model_validator

from semantic_memory.domain import fields
from semantic_memory.domain.origins import OriginText
from semantic_memory.domain.requests.base import OfUser, OfUserAlone, Reasoned, example, number
from semantic_memory.domain.values import Count, Identifier, Timestamp


class RetiredRequest(OfUser):
    """Return the facts that newer statements ended, the latest decision first.

    Each with its cause: the reason in words, the quote that ended it, and the rule or model
    that decided. `since` and `until` bound the time of the decision. What a person ended by
    hand isn't among them.
    """

    verb: ClassVar[str] = "history.retired"

    since: Timestamp | None = Field(None, description=fields.RETIRED_SINCE)
    until: Timestamp | None = Field(None, description=fields.RETIRED_UNTIL)
    limit: Count = number(fields.PAGE._replace(most=fields.MOST_ITEMS))

    @classmethod
    def of(
        cls,
        *,
        user_id: str,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = fields.PAGE.default,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id, since=since, until=until, limit=limit)


class UndoRequest(Reasoned, OfUser):
    """Restore what one decision retired, or all that a source or the decisions of a day did.

    A decision is named by the id of the memory that it retired. `source` is where the newer
    statements came from: "session:ID", "speaker:NAME", "role:tool", "extractor:NAME" or
    "trust:LEVEL". What is restored is kept apart permanently from what had ended it. Returns the
    restored memories; a dry run restores none. Raises InvalidInputError unless one of the three
    is given, NotFoundError for an unknown decision.
    """

    verb: ClassVar[str] = "history.undo"
    model_config = example(user_id="maya", day="2026-05-03", dry_run=True)

    decision: Identifier | None = Field(None, description=fields.UNDO_DECISION)
    source: OriginText | None = Field(None, description=fields.UNDO_SOURCE)
    day: date | None = Field(None, description=fields.UNDO_DAY)
    dry_run: StrictBool = Field(False, description=fields.UNDO_DRY_RUN)

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if [self.decision, self.source, self.day].count(None) != 2:
            raise ValueError("say what to undo: one of decision, source and day")
        return self

    @classmethod
    def of(
        cls,
        *,
        user_id: str,
        decision: str | None = None,
        source: str | None = None,
        day: date | None = None,
        dry_run: bool = False,
        reason: str = "",
    ) -> Self:
        """Build the request. Raises InvalidInputError unless one of the three is given."""
        return cls.parsed(
            user_id=user_id,
            decision=decision,
            source=source,
            day=day,
            dry_run=dry_run,
            reason=reason,
        )


class ToConfirmRequest(OfUser):
    """Return the facts that a newer statement perhaps changed, the latest decision first.

    A fact comes once for each of these statements. Behind them come facts that refer to one that no
    longer holds, then preferences that nobody has stated for half a year, the oldest first.
    """

    verb: ClassVar[str] = "history.to_confirm"

    limit: Count = number(fields.PAGE._replace(most=fields.MOST_ITEMS))

    @classmethod
    def of(cls, *, user_id: str, limit: int = fields.PAGE.default) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id, limit=limit)


class _OfLink(Reasoned, OfUser):
    older: Identifier = Field(description=fields.LINK_OLDER)
    newer: Identifier = Field(description=fields.LINK_NEWER)

    @classmethod
    def of(cls, older: str, newer: str, *, user_id: str, reason: str = "") -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(older=older, newer=newer, user_id=user_id, reason=reason)


class AcceptRequest(_OfLink):
    """Accept that a newer memory changed an older one, which ends the older; return it.

    Raises NotFoundError if there is no such link.
    """

    verb: ClassVar[str] = "history.accept"
    model_config = example(user_id="maya", older="0c5b01", newer="9a11f2")


class RejectRequest(_OfLink):
    """Reject that a newer memory changed an older one: both stay, and are kept apart permanently.

    Returns the older memory. Raises NotFoundError if there is no such link.
    """

    verb: ClassVar[str] = "history.reject"
    model_config = example(user_id="maya", older="0c5b01", newer="9a11f2")


class LabelsRequest(OfUserAlone):
    """Return what was accepted, rejected and restored as pairs of texts with a label.

    "over" where the newer statement ends the older one, "neither" where it doesn't: training
    data for a judge.
    """

    verb: ClassVar[str] = "history.labels"
