"""Stand-ins for tests of code that uses this library: no model, no clock, no Chroma.

Each satisfies the same Protocol as the part it replaces, and passes the same contract suite.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

import numpy as np

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.conditions import meets
from semantic_memory.domain.extraction import Candidate, Extraction
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.messages import Message
from semantic_memory.domain.ports import EmbedderIdentity, IndexEntry, InputType, Match
from semantic_memory.domain.readings import Reading
from semantic_memory.domain.text import stems
from semantic_memory.judging.ports import Pair, Spoken, Verdict

if TYPE_CHECKING:
    from semantic_memory.bootstrap import UseCases
    from semantic_memory.memory import SemanticMemory

__all__ = [
    "FrozenClock",
    "HashEmbedder",
    "InMemoryIndex",
    "InMemoryLeases",
    "ScriptedExtractor",
    "ScriptedPairJudge",
    "ScriptedSentenceJudge",
    "use_cases",
]


def use_cases(memory: SemanticMemory) -> UseCases:
    """Return the use cases behind the facade of an open memory."""
    return memory._parts()  # noqa: SLF001 - the one place that looks behind it


class FrozenClock:
    """A clock that stands still until it is moved."""

    def __init__(self, moment: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self.moment = moment

    def now(self) -> datetime:
        """Return the moment it stands at."""
        return self.moment

    def advance(self, **duration: float) -> None:
        """Move on by a `timedelta` of these arguments."""
        self.moment += timedelta(**duration)


class HashEmbedder:
    """An embedder that sums a fixed random vector for each word: shared words make texts near."""

    def __init__(self, dimension: int = 64) -> None:
        self._dimension = dimension
        self.embedded = 0
        """Number of texts embedded so far."""

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity, which differs by dimension."""
        return EmbedderIdentity("hash", self._dimension, "sum", "fp32")

    def embed(self, texts: Sequence[str], input_type: InputType) -> Matrix:
        """Return unit row vectors, shape (len(texts), dimension)."""
        del input_type
        self.embedded += len(texts)
        rows = np.array([self._vector(text) for text in texts], dtype=np.float32)
        return rows.reshape(len(texts), self._dimension)

    def _vector(self, text: str) -> Matrix:
        total = np.zeros(self._dimension)
        for word in stems(text) or [text]:
            seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
            total += np.random.default_rng(seed).standard_normal(self._dimension)
        return (total / np.linalg.norm(total)).astype(np.float32)


class ScriptedExtractor:
    """An extractor that proposes what a function returns."""

    name = "scripted"

    def __init__(self, script: Callable[[Sequence[Message]], list[Candidate]]) -> None:
        self._script = script
        self.calls: list[Sequence[Message]] = []
        """The messages of every call."""
        self.known: list[Sequence[Fact]] = []
        """The known facts of every call."""

    def extract(self, messages: Sequence[Message], known: Sequence[Fact]) -> Extraction:
        """Return the script's candidates for the messages."""
        self.calls.append(messages)
        self.known.append(known)
        return Extraction(candidates=tuple(self._script(messages)))


class ScriptedPairJudge:
    """A judge of pairs that says what a function returns: `over`, `same`, or None for neither."""

    def __init__(self, script: Callable[[str, str], Literal["over", "same"] | None]) -> None:
        self._script = script
        self.pairs: list[Pair] = []
        """Every pair that it was asked about."""

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict | None]:
        """Return the script's verdict on each pair, as certain."""
        self.pairs.extend(pairs)
        found = [self._script(pair.older.content, pair.newer.content) for pair in pairs]
        return [
            Verdict(
                over=float(one == "over"),
                same=float(one == "same"),
                decided_by="scripted",
                reason="as scripted",
                is_final=True,
            )
            for one in found
        ]


class ScriptedSentenceJudge:
    """A judge of sentences that says what a function returns, and else that they are worth keeping.

    By default a sentence is the speaker's own statement of a lasting state, of no slot.
    """

    def __init__(self, script: Callable[[str], Mapping[str, object]] = lambda _: {}) -> None:
        self._script = script

    def read(self, sentences: Sequence[Spoken]) -> list[Reading]:
        """Return a reading of each sentence, with the values of the script."""
        return [Reading.model_validate({**_PLAIN, **self._script(one.text)}) for one in sentences]


_PLAIN = {
    "judge": "scripted",
    "keep": 0.95,
    "task": 0.01,
    "alone": 0.95,
    "about": "self",
    "about_self": 0.95,
    "kind": "state",
    "kind_probability": 0.95,
    "standing_order": 0.01,
    "slot": "none",
    "slot_probability": 0.95,
    "category": "personal",
    "category_probability": 0.95,
}


class InMemoryIndex:
    """A `VectorIndex` in a dictionary: exact, and gone with the process."""

    def __init__(self) -> None:
        self._entries: dict[str, IndexEntry] = {}

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Insert or replace memories."""
        self._entries.update((entry.fact.id, entry) for entry in entries)

    def delete(self, fact_ids: Sequence[str]) -> None:
        """Delete memories; unknown ids are ignored."""
        for fact_id in fact_ids:
            self._entries.pop(fact_id, None)

    def query(
        self, vector: Matrix, *, user_id: str, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """Return the nearest memories, exactly."""
        conditions = filters.conditions()
        matches = [
            Match(entry.fact.id, float((entry.windows @ vector).max()))
            for entry in list(self._entries.values())  # another thread may write meanwhile
            if entry.fact.user_id == user_id and meets(entry.fact, conditions)
        ]
        return sorted(matches, key=lambda match: -match.similarity)[:limit]

    def ids(self) -> set[str]:
        """Return the ids of all memories held."""
        return set(self._entries)

    def count(self) -> int:
        """Return the number of memories held."""
        return len(self._entries)

    def close(self) -> None:
        """Release nothing."""


class InMemoryLeases:
    """Leases of several workers in one process."""

    shared = True

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fences = itertools.count(1)
        self._taken: dict[str, _InMemoryLease] = {}

    def take(self, name: str, seconds: float) -> _InMemoryLease | None:
        """Take a name for so many seconds; return None while another lease of it lasts."""
        with self._lock:
            if name in self._taken and self._taken[name].held:
                return None
            lease = _InMemoryLease(next(self._fences), name, seconds, self._lock, self._taken)
            self._taken[name] = lease
            return lease


class _InMemoryLease:
    def __init__(
        self,
        fence: int,
        name: str,
        seconds: float,
        lock: threading.Lock,
        taken: dict[str, _InMemoryLease],
    ) -> None:
        self.fence = fence
        self._name = name
        self._seconds = seconds
        self._lock = lock
        self._taken = taken
        self._until = time.monotonic() + seconds

    @property
    def held(self) -> bool:
        return time.monotonic() < self._until

    def renew(self) -> bool:
        with self._lock:
            stands = self._taken.get(self._name) is self
            self._until = time.monotonic() + self._seconds if stands else -math.inf
        return stands

    def release(self) -> None:
        with self._lock:
            self._until = -math.inf
            if self._taken.get(self._name) is self:
                del self._taken[self._name]
