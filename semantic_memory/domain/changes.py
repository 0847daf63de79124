"""Changes to the ledger, as values.

`Ledger.apply` takes any number of them and commits all or none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.items import Item
from semantic_memory.domain.profile import Line

Matrix = NDArray[np.float32]
"""Row vectors, unit length, shape (n, dimension)."""


@dataclass(frozen=True, slots=True, eq=False)
class FactVectors:
    """Vectors of one memory."""

    windows: Matrix
    """One row for each window of the text; a short text has one window."""
    sentences: Matrix
    """One row for each sentence; no rows for a text of a single sentence."""


@dataclass(frozen=True, slots=True)
class Add:
    """Add a memory. Has no effect if its id has been used before, even by a forgotten memory."""

    fact: Fact
    vectors: FactVectors | None = None
    """None leaves the memory to be embedded in the background."""


@dataclass(frozen=True, slots=True)
class Update:
    """Replace the state of a memory; the previous state becomes a version of its history.

    `fact.version` is the version that the new state was made from. Raises ConcurrentUpdateError
    if the memory has another version by now.
    """

    fact: Fact
    action: str
    at: datetime
    reason: str = ""
    by: str | None = None
    """The name of the API key, where there is one."""


@dataclass(frozen=True, slots=True)
class Touch:
    """Record a use or a new confidence, without adding a version to the history."""

    fact_id: str
    confidence: float | None = None
    used_at: datetime | None = None
    """Time of the use; None records no use."""


@dataclass(frozen=True, slots=True)
class Weigh:
    """Record the factors of a memory's relevance that depend on time, for listings by relevance.

    Isn't a change of the memory: it takes no revision and reaches no index.
    """

    fact_id: str
    retention: float
    recency: float


@dataclass(frozen=True, slots=True)
class Mark:
    """Record that a job has processed a user's memories up to a revision."""

    job: str
    user_id: str
    revision: int | None
    """The user's; None for that of the latest change before this one in its transaction."""
    at: datetime


@dataclass(frozen=True, slots=True)
class Keyed:
    """Replace the keys by which facts that may repeat or contradict each other are looked up."""

    fact_id: str
    keys: frozenset[bytes]


@dataclass(frozen=True, slots=True)
class Forget:
    """Remove a memory from every answer and leave a tombstone."""

    fact_id: str
    at: datetime
    reason: str = ""
    by: str | None = None
    """The name of the API key, where there is one."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Replace the text of a message's memory by what is left of it, permanently.

    No version keeps the text before, and the lines that rest on the message are erased. Has no
    effect on a text that is `content` already.
    """

    fact_id: str
    content: str
    at: datetime
    reason: str = ""
    by: str | None = None
    """The name of the API key, where there is one."""


@dataclass(frozen=True, slots=True)
class Redact:
    """Record that a session's log holds texts that are to be erased, until `Redacted`.

    Belongs to the transaction that forgets them, so that a log that wasn't rewritten before a kill
    is rewritten at the next opening.
    """

    user_id: str
    session_id: str
    message_ids: frozenset[str] = frozenset()
    """Messages that were forgotten or cut; none for a log that is to be deleted as a whole."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """Record that a session's log holds no text any more that was to be erased."""

    user_id: str
    session_id: str


@dataclass(frozen=True, slots=True)
class Evict:
    """Archive a user's facts over a cap: those of lowest confidence, then the oldest.

    Belongs behind the changes that add facts. Pinned facts and verbatim messages stay. It isn't
    counted as an effect.
    """

    user_id: str
    cap: int
    at: datetime
    sparing: str | None = None
    """The id of a fact that stays too."""


@dataclass(frozen=True, slots=True)
class Embed:
    """Store the vectors of a memory; ignored if its text is no longer `text`."""

    fact_id: str
    text: str
    vectors: FactVectors | None
    """None if the embedding model refuses the text; the memory is then found by words only.

    Ignored if the memory has vectors by now.
    """


@dataclass(frozen=True, slots=True)
class Write:
    """Add a line to a user's profile or history; a profile line replaces that of its field.

    Has no effect if its id is known, if the field's present line prevails over it (`prevails`), or
    if it rests on a fact that is forgotten or, for a derived line, no longer active.
    """

    line: Line


@dataclass(frozen=True, slots=True)
class Retire:
    """End a line's validity at a time; it still answers `as_of` questions about earlier times."""

    line_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class EraseLines:
    """Delete a user's lines dated in [since, until), ended ones included."""

    user_id: str
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Unquote:
    """Erase what a user's facts quote of newer statements that are forgotten, permanently.

    Present and past states keep who decided and when; links to these statements go.
    """

    user_id: str
    newer: frozenset[str]
    """Ids of the statements."""


@dataclass(frozen=True, slots=True)
class EraseReasons:
    """Blank the reasons that were given for forgetting a user's memories."""

    user_id: str


CursorStage = Literal["stored", "extracted"]
STAGES: tuple[CursorStage, ...] = get_args(CursorStage)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Position up to which one stage has processed a session's log."""

    user_id: str
    session_id: str
    stage: CursorStage
    position: int = 0
    """Number of log records processed, which is the position of the next one."""
    offset: int = 0
    """Byte offset of the next record in the log file."""
    message_id: str | None = None
    """Id of the last message processed."""


@dataclass(frozen=True, slots=True)
class Advance:
    """Move a cursor, in the same transaction as the results of the messages before it."""

    cursor: Cursor


@dataclass(frozen=True, slots=True)
class Extracted:
    """Record in the feed of events that messages of a session were read."""

    user_id: str
    session_id: str
    messages: int
    """Number of messages read."""
    facts: int
    """Number of facts that were drawn from them."""
    at: datetime


@dataclass(frozen=True, slots=True, eq=False)
class PutItem:
    """Keep an item in place of the one under its key, which leaves it its `created_at`."""

    item: Item
    at: datetime
    terms: frozenset[str] = frozenset()
    """The stemmed words that it is found by."""
    vectors: Mapping[str, Matrix] | None = None
    """By path; None leaves the item to be embedded later."""
    fresh: bool = False
    """Have no effect if there is an item under the key."""


@dataclass(frozen=True, slots=True)
class DropItem:
    """Delete the item under a key, if there is one."""

    user_id: str
    namespace: tuple[str, ...]
    key: str


@dataclass(frozen=True, slots=True)
class RefreshItems:
    """Begin the time to live of items again; ignored for those without one."""

    nums: Sequence[int]
    at: datetime


@dataclass(frozen=True, slots=True, eq=False)
class EmbedItem:
    """Store the vectors of an item by path; ignored if it is gone or was put again."""

    num: int
    vectors: Mapping[str, Matrix] = field(default_factory=dict)
    """None at all if the embedding model refuses its texts."""


@dataclass(frozen=True, slots=True)
class EraseItems:
    """Delete a user's items, or those of every user; only the expired ones, if a time is given."""

    user_id: str | None
    expired_by: datetime | None = None


ItemChange = PutItem | DropItem | RefreshItems | EmbedItem | EraseItems
Change = (
    Add
    | Update
    | Touch
    | Forget
    | Cut
    | Redact
    | Redacted
    | Evict
    | Embed
    | Advance
    | Extracted
    | Keyed
    | Weigh
    | Mark
    | Write
    | Retire
    | EraseLines
    | EraseReasons
    | Unquote
    | ItemChange
)
