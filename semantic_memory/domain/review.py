"""Facts for a person's review: those that a newer statement ended or perhaps changed."""

from __future__ import annotations

from typing import Literal

from semantic_memory.domain.facts import Cause, Fact
from semantic_memory.domain.values import Value


class Retirement(Value):
    """A fact that a newer statement ended by a decision of a rule or model."""

    fact: Fact
    """Its id names the decision."""
    newer: Fact | None
    """The fact or message that ended it; None if that was forgotten since."""
    cause: Cause


class Unconfirmed(Value):
    """A fact of which nobody knows for sure whether it still holds."""

    fact: Fact
    newer: Fact | None = None
    """The statement that perhaps changed it."""
    cause: Cause | None = None
    """Why it perhaps did, or which memory that it refers to fell; None for a preference that nobody
    has confirmed for long."""


class LabelledPair(Value):
    """Two statements with a person's answer to whether the newer one ends the older one."""

    older: str
    newer: str
    label: Literal["over", "neither"]
