"""The Protocols that adapters satisfy. Every part of the product can be replaced through one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from semantic_memory.domain.changes import Change, Cursor, FactVectors, Matrix, Stage
from semantic_memory.domain.events import Event
from semantic_memory.domain.extraction import Extraction
from semantic_memory.domain.facts import Fact, FactVersion, Status
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.messages import Message, SessionInfo, SessionKey
from semantic_memory.domain.profile import Layer, Line
from semantic_memory.domain.reports import JobRun

InputType = Literal["query", "document"]

Progress = Callable[[str, int, int], None]
"""Is told the step of something long, how much of it is done, and its total (0: unknown)."""


class Clock(Protocol):
    """Where time comes from; nothing else reads the wall clock."""

    def now(self) -> datetime:
        """The present, timezone-aware."""
        ...


class Observer(Protocol):
    """Is told what happened. Must be quick and must not raise."""

    def __call__(self, event: Event, /) -> None:
        """Take note of `event`."""
        ...


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """What makes two embedders' vectors comparable."""

    model: str
    dimension: int
    pooling: str
    precision: str

    def __str__(self) -> str:
        return f"{self.model} ({self.dimension}d, {self.pooling}, {self.precision})"


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def identity(self) -> EmbedderIdentity:
        """What its vectors can be compared with."""
        ...

    def embed(self, texts: Sequence[str], input_type: InputType) -> Matrix:
        """Unit row vectors, shape (len(texts), dimension), float32.

        A text's vector depends on that text alone, not on its neighbours in the batch.
        Raises ProviderError if a remote model can't be reached.
        """
        ...


class TokenCounter(Protocol):
    """Counts tokens as the model that reads the prompt does."""

    def count(self, text: str) -> int:
        """Exact number of tokens of `text`; special tokens in it are counted as plain text."""
        ...


class Extractor(Protocol):
    """Finds what is worth keeping in a stretch of conversation."""

    @property
    def name(self) -> str:
        """Recorded as the provenance of every fact it proposes."""
        ...

    def extract(self, messages: Sequence[Message], known: Sequence[Fact]) -> Extraction:
        """What is worth keeping, each part naming the messages it came from.

        `known` are the user's facts nearest to what was said, best first: what they say already
        need not be said again. Raises ProviderError if it has to be tried again later.
        """
        ...


class Summarizer(Protocol):
    """Tells the older part of a conversation in fewer words."""

    def summarize(self, transcript: str, *, most_tokens: int) -> str:
        """What matters of `transcript`, in at most `most_tokens` tokens.

        Raises ProviderError on failure.
        """
        ...


class Condensed(NamedTuple):
    """A sentence that stands for several."""

    text: str
    rests_on: tuple[int, ...]
    """Places of the lines whose content it has, from 0."""


class Condenser(Protocol):
    """Tells the older part of a history in fewer words."""

    def condense(self, lines: Sequence[Line], *, most: int) -> list[Condensed]:
        """At most `most` sentences that keep what will still matter, each naming its lines.

        Raises ProviderError if no answer can be used.
        """
        ...


class Match(NamedTuple):
    """An id and how well it matched; higher is better."""

    id: str
    similarity: float


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A memory as an index holds it."""

    fact: Fact
    windows: Matrix


class VectorSearch(Protocol):
    """Finds memories by cosine similarity."""

    def query(
        self, vector: Matrix, *, user_id: str, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """The user's `limit` nearest memories that pass `filters`, best first.

        `vector` has shape (dimension,) and unit length. Similarity is the cosine to the memory's
        nearest window, in [-1, 1].
        """
        ...


class VectorIndex(VectorSearch, Protocol):
    """Holds the vectors of one store, and nothing else. Derived: filled again when in doubt.

    Queries come from several threads, also during a write. Any method raises IndexUnavailableError
    if the index can't be reached at present, IndexBusyError if it is occupied, and IndexBrokenError
    if what it holds can't be trusted: it is then emptied.
    """

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Insert or replace. Idempotent."""
        ...

    def delete(self, fact_ids: Sequence[str]) -> None:
        """Take out; unknown ids are ignored."""
        ...

    def ids(self) -> set[str]:
        """Ids of all memories held."""
        ...

    def count(self) -> int:
        """Number of memories held."""
        ...

    def close(self) -> None:
        """Release files and handles."""
        ...


class Trait(NamedTuple):
    """The columns of a memory that ranking and filtering read; times are Unix seconds."""

    num: int
    id: str
    session_id: str | None
    position: int | None
    role: str | None
    speaker: str | None
    category: str
    status: str
    content: str
    confidence: float
    importance: float
    created_at: float
    stated_at: float
    valid_from: float
    valid_to: float
    """Infinity while still believed."""
    tags: tuple[str, ...]
    said_in: tuple[str, ...]
    """`session/message` for every message that says this."""
    endurance: float
    """How many times its category's half-life it lasts: see `semantic_memory.domain.decay`."""


class TraitRow(NamedTuple):
    """A memory's columns with its vectors; None while it isn't embedded yet."""

    trait: Trait
    vectors: FactVectors | None


class Belief(NamedTuple):
    """A fact that is believed, with what it is compared by."""

    fact: Fact
    vector: Matrix
    """Of its (first) window, shape (dimension,)."""
    revision: int
    """Of its latest change."""


class Pending(NamedTuple):
    """A user with something that a job hasn't looked at."""

    user_id: str
    revision: int
    """The latest change of the user's memories."""
    seen: int
    """The one that the job has seen; 0 if it never has."""
    seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class Delta:
    """What changed for a user after a revision."""

    revision: int
    """A partition is level with this revision once it has taken this over."""
    rows: Sequence[TraitRow]
    removed: Sequence[int]
    """Numbers of memories that are gone."""


@dataclass(frozen=True, slots=True)
class Outbox:
    """A batch of changes for an index."""

    revision: int
    """The index is level with this revision once the batch is applied."""
    entries: Sequence[IndexEntry]
    removed: Sequence[str]


class Ledger(Protocol):
    """The truth of facts: every state, in transactions."""

    def apply(self, changes: Sequence[Change]) -> int:
        """Commit all of `changes`, durably, or none; returns how many had an effect.

        Changes get ascending revision numbers, and become visible in that order: whoever has seen
        revision n has seen all before it. Raises NotFoundError for an update or a forget of an
        unknown or forgotten id, ConcurrentUpdateError for an update of another version.
        """
        ...

    def exclusive(self) -> AbstractContextManager[None]:
        """Held while reading and then writing what follows from it."""
        ...

    def get(self, fact_ids: Sequence[str], user_id: str | None = None) -> list[Fact]:
        """Facts that are known, not forgotten and this user's, in the order asked for."""
        ...

    def known(self, fact_ids: Sequence[str]) -> set[str]:
        """Which of these ids have ever been written, forgotten ones included."""
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
        """Facts that pass `filters`, newest first, from the one behind id `after`.

        With a `status`, those that have it now, instead of those believed now.
        """
        ...

    def replaced(self, fact_id: str, user_id: str) -> list[Fact]:
        """The facts that this one superseded or took in, oldest first."""
        ...

    def ids(
        self,
        user_id: str,
        *,
        tag: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        session_id: str | None = None,
    ) -> list[str]:
        """Ids of every memory of a user that isn't forgotten, whatever its status, narrowed."""
        ...

    def session_ids(self, user_id: str) -> list[str]:
        """The user's sessions of which something has ever been remembered."""
        ...

    def session_infos(self, user_id: str) -> list[SessionInfo]:
        """What is remembered of each of a user's sessions, newest first; sizes left at 0."""
        ...

    def beliefs(self, user_id: str, *, since: int = 0, limit: int | None = None) -> list[Belief]:
        """The user's active facts that have vectors, verbatim messages aside.

        Only those changed after revision `since`, and at most `limit`.
        """
        ...

    def beliefs_among(
        self, user_id: str, fact_ids: Collection[str], keys: Collection[bytes]
    ) -> list[Belief]:
        """Of `beliefs`, those with one of these ids or one of these keys (see `Keyed`)."""
        ...

    def pending(
        self, job: str, user_id: str | None = None, *, everyone: bool = False
    ) -> list[Pending]:
        """Users whose memories changed since the job's mark, or this one if they did.

        All who have memories, if `everyone`.
        """
        ...

    def sessions_with_forgotten(self, user_id: str | None = None) -> list[SessionKey]:
        """Sessions of which a message is forgotten and not erased."""
        ...

    def forgotten(self, user_id: str | None = None) -> list[str]:
        """Ids of memories that are forgotten and not erased."""
        ...

    def erase(self, user_id: str | None = None) -> int:
        """Make forgetting permanent: no text of what was forgotten stays in any page or version.

        Id, time and reason stay. Returns how many memories that were.
        """
        ...

    def lines(self, user_id: str, as_of: datetime | None = None) -> list[Line]:
        """The profile and history that stand, or stood at a time, oldest first in each layer."""
        ...

    def past_lines(self, user_id: str, layer: Layer) -> list[Line]:
        """Every line that stands or stood in a layer, in the order in which they came."""
        ...

    def record_run(self, run: JobRun) -> None:
        """Keep what a job did; old ones make room."""
        ...

    def runs(self, limit: int) -> list[JobRun]:
        """What jobs did, the latest first."""
        ...

    def same_content(self, user_id: str, content: str) -> Fact | None:
        """The active fact with the same normalised content (verbatim messages aside)."""
        ...

    def history(self, fact_id: str, user_id: str | None = None) -> list[FactVersion]:
        """Every state of a fact, oldest first. Raises NotFoundError, also for another user's."""
        ...

    def count(self, user_id: str | None = None) -> int:
        """Facts that are not forgotten."""
        ...

    def users(self) -> list[str]:
        """Every user with a memory that isn't forgotten."""
        ...

    def words(
        self, user_id: str, terms: Sequence[str], *, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """Memories holding any of `terms`, by BM25, best first; similarity is minus FTS5's rank."""
        ...

    def revision(self, user_id: str | None = None) -> int:
        """Number of the latest change, of one user or of all; 0 before any."""
        ...

    def delta(self, user_id: str, since: int, limit: int = ...) -> Delta:
        """The first `limit` changes for a user after revision `since`; all, unless it is given."""
        ...

    def traits(self, fact_ids: Sequence[str]) -> list[TraitRow]:
        """The ranking columns of some memories."""
        ...

    def neighbours(self, fact_ids: Sequence[str]) -> list[str]:
        """Ids of these memories and of those one place away in their sessions."""
        ...

    def similarities(
        self, vector: Matrix, user_id: str, filters: Filters, since: int = 0
    ) -> Iterator[list[Match]]:
        """Cosine of `vector` to the nearest window of every memory that passes, in batches.

        Only of those changed after revision `since`.
        """
        ...

    def changed(self, user_id: str, since: int, limit: int, *, messages: bool = True) -> set[str]:
        """Ids of at most `limit` of a user's memories that changed after revision `since`.

        Forgotten ones are among them; verbatim messages are, or aren't.
        """
        ...

    def document_frequencies(
        self, user_id: str, terms: Sequence[str]
    ) -> tuple[int, dict[str, float]]:
        """How many memories a user has, and about how many hold each of these stemmed words."""
        ...

    def unembedded(self, limit: int) -> list[Fact]:
        """Memories that wait for their vectors, oldest first."""
        ...

    def count_unembedded(self) -> int:
        """Memories that wait for their vectors."""
        ...

    def embedded_ids(self) -> set[str]:
        """Ids of every memory that an index should hold."""
        ...

    def held_at(self, revision: int) -> tuple[int, int]:
        """How many memories an index at `revision` must hold at least, and may hold at most."""
        ...

    def footprint(self, user_id: str) -> tuple[int, int]:
        """How many memories a user has, and the bytes of their texts and vectors."""
        ...

    def outbox(self, since: int, limit: int) -> Outbox:
        """The next changes that an index at revision `since` lacks, in order."""
        ...

    def cursor(self, user_id: str, session_id: str, stage: Stage) -> Cursor:
        """How far a session has been taken."""
        ...

    def cursors(self, stage: Stage) -> list[Cursor]:
        """Every session's cursor at a stage."""
        ...

    def meta(self, key: str) -> str | None:
        """A value that was kept with `set_meta`."""
        ...

    def set_meta(self, key: str, value: str) -> None:
        """Keep a small value."""
        ...

    def drop_vectors(self, key: str, value: str) -> int:
        """Forget every vector and set `key`, in one transaction; returns how many need new ones."""
        ...

    def tally(self, user_id: str | None = None) -> dict[str, int]:
        """How many facts there are by `category/status`."""
        ...

    def damage(self) -> list[str]:
        """What integrity checks find, in words; empty when sound."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...
