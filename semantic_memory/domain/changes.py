"""What can happen to the ledger, as values.

`Ledger.apply` takes any number of them and commits all or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.profile import Line

Matrix = NDArray[np.float32]
"""Row vectors, unit length, shape (n, dimension)."""


@dataclass(frozen=True, slots=True, eq=False)
class FactVectors:
    """The vectors of one memory."""

    windows: Matrix
    """One row for each window of the text: one for most, more for long ones."""
    sentences: Matrix
    """One row for each sentence where there are several; else no rows."""


@dataclass(frozen=True, slots=True)
class Add:
    """A new memory. Does nothing if its id is known, forgotten ones included."""

    fact: Fact
    vectors: FactVectors | None = None
    """None leaves the memory to be embedded in the background."""


@dataclass(frozen=True, slots=True)
class Update:
    """A new state of a known memory; the old one becomes a version of its history.

    `fact.version` is the one that the new state was made from: if the memory has another by now,
    ConcurrentUpdateError is raised.
    """

    fact: Fact
    action: str
    at: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Touch:
    """A memory was used, or has faded: too small a change to be a version of its history."""

    fact_id: str
    confidence: float | None = None
    used_at: datetime | None = None
    """When it helped; counts as one use."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A job has looked at a user's memories up to a revision."""

    job: str
    user_id: str
    revision: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Keyed:
    """By what a fact is found that it may repeat or contradict, in place of its earlier keys."""

    fact_id: str
    keys: frozenset[bytes]


@dataclass(frozen=True, slots=True)
class Forget:
    """Takes a memory out of every answer and leaves a tombstone."""

    fact_id: str
    at: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Embed:
    """Vectors for a memory; ignored if its content has changed since they were made."""

    fact_id: str
    content: str
    vectors: FactVectors | None
    """None: the embedding model refuses the text, which is then found by words only.

    Ignored if the memory has vectors by now.
    """


@dataclass(frozen=True, slots=True)
class Write:
    """A line of a user's profile or history; in a profile it replaces what its field said.

    Does nothing if its id is known, if it rests on a fact that isn't believed any more, or if its
    field has something that prevails over it.
    """

    line: Line


@dataclass(frozen=True, slots=True)
class Retire:
    """A line no longer stands; it goes on answering what stood until now."""

    line_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class EraseLines:
    """Leaves nothing of a user's lines that speak of a time, past ones included."""

    user_id: str
    since: datetime | None = None
    until: datetime | None = None


Stage = Literal["stored", "extracted"]


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a session's log has been taken at one stage."""

    user_id: str
    session_id: str
    stage: Stage
    position: int = 0
    """Number of log records done: the position of the next one."""
    offset: int = 0
    """Byte offset of the next record in the log file."""
    message_id: str | None = None
    """Id of the last message done."""


@dataclass(frozen=True, slots=True)
class Advance:
    """Moves a cursor, in the same transaction as what was made of the messages before it."""

    cursor: Cursor


Change = (
    Add | Update | Touch | Forget | Embed | Advance | Keyed | Mark | Write | Retire | EraseLines
)
