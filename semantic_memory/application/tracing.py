"""Keep a trace of each search and block, for those who ask later what it was made of.

A trace holds ids and figures; the question only if the settings say so, and until something of the
user is forgotten. Recall writes nothing: traces wait in RAM until enough of them are worth a
transaction, or somebody looks.
"""

from __future__ import annotations

import json
import threading
from array import array
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from semantic_memory.domain.actor import actor
from semantic_memory.domain.errors import NotFoundError, StoreUnavailableError
from semantic_memory.domain.events import Event, MemoriesForgotten
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.laps import Laps
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.ports import Clock
from semantic_memory.domain.ports.traces import TraceRow, Traces
from semantic_memory.domain.recall import Context, Hit, ScoreParts
from semantic_memory.domain.traces import Trace

_CANDIDATES = 20
_MOST_WAITING = 100
_PARTS = tuple(ScoreParts.model_fields)
_FIGURES = 1 + len(_PARTS)
_ID = regex("[0-9a-f]{1,15}")
_encoded = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


class Tracer:
    """Keep the traces of the last days. Thread-safe."""

    def __init__(
        self, traces: Traces, clock: Clock, *, share: float, days: float, most: int, texts: bool
    ) -> None:
        """Keep `share` of all calls, at most `most` and `days`, with questions if `texts`."""
        self._traces = traces
        self._clock = clock
        self._share = share if most else 0.0
        self._days = timedelta(days=days)
        self._most = most
        self._texts = texts
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._waiting: list[TraceRow] = []
        self._number = 0
        self._due = 0.0

    def note_search(
        self, query: str, user_id: str, filters: Filters, k: int, hits: Sequence[Hit], laps: Laps
    ) -> None:
        """Note a search and what it found."""
        if self._takes():
            self._note("search", query, user_id, filters, k, hits, laps, {})

    def note_context(
        self,
        query: str,
        user_id: str,
        session_id: str | None,
        filters: Filters,
        budget: int,
        hits: Sequence[Hit],
        packed: Context,
        laps: Laps,
    ) -> None:
        """Note a block, what it was chosen from, and what it left out."""
        if not self._takes():
            return
        shown = [fact.id for fact in packed.facts]
        block: dict[str, Any] = {
            "shown": shown,
            "left_out": [[one.fact.id, one.reason] for one in packed.left_out],
            "omitted": packed.omitted,
            "tokens": packed.tokens,
            "relevance": packed.relevance,
        }
        if session_id is not None:
            block["session_id"] = session_id
        self._note("context", query, user_id, filters, budget, hits, laps, block)

    def on_event(self, event: Event) -> None:
        """Erase the questions of a user who has something forgotten."""
        if self._texts and isinstance(event, MemoriesForgotten):
            with self._writing:
                with self._lock:
                    self._waiting = [
                        row._replace(words="") if row.user_id == event.user_id else row
                        for row in self._waiting
                    ]
                self._traces.forget_words(event.user_id)

    def latest(self, user_id: str, limit: int) -> list[Trace]:
        """Return a user's traces, the latest first."""
        self.write()
        return [*map(_trace, self._traces.latest(user_id, limit, since=self._oldest()))]

    def one(self, trace_id: str, user_id: str) -> Trace:
        """Return a trace of a user. Raises NotFoundError."""
        self.write()
        row = self._traces.one(_number(trace_id))
        if row is None or row.user_id != user_id or row.number < self._oldest():
            raise NotFoundError(
                f"no trace {trace_id!r}: traces are kept for {self._days.days} days"
            )
        return _trace(row)

    def write(self) -> None:
        """Write the traces that wait. Raises StoreUnavailableError."""
        with self._writing:
            with self._lock:
                waiting, self._waiting = self._waiting, []
            if waiting:
                self._traces.keep(waiting, since=self._oldest(), most=self._most)

    def drop(self, user_id: str) -> None:
        """Erase a user's traces."""
        with self._writing:
            with self._lock:
                self._waiting = [row for row in self._waiting if row.user_id != user_id]
            self._traces.erase(user_id)

    def close(self) -> None:
        """Write what waits, and release the place."""
        with suppress(StoreUnavailableError):
            self.write()
        self._traces.close()

    def _oldest(self) -> int:
        return int((self._clock.now() - self._days).timestamp() * 1e6)

    def _takes(self) -> bool:
        """Return True for the share of calls that is traced, evenly spread."""
        if self._share >= 1.0:
            return True
        with self._lock:
            self._due += self._share
            taken = self._due >= 1.0
            self._due -= taken
        return taken

    def _note(
        self,
        kind: str,
        query: str,
        user_id: str,
        filters: Filters,
        asked_for: int,
        hits: Sequence[Hit],
        laps: Laps,
        block: dict[str, Any],
    ) -> None:
        """Note the row of a trace: strings and bytes, which cost the garbage collector nothing."""
        best = hits[:_CANDIDATES]
        figures: list[float] = []
        for hit in best:
            figures += (hit.score, *hit.parts.__dict__.values())
        head = {
            "kind": kind,
            "caller": actor(),
            "asked_for": asked_for,
            "found": len(hits),
            "steps": {step: round(1e6 * taken) for step, taken in laps.steps.items()},
            "ids": [hit.fact.id for hit in best],
            **block,
        }
        if spaces := {hit.fact.id: hit.space for hit in best if hit.space}:
            head["spaces"] = spaces
        if narrowed := _narrowed(filters):
            head["narrowed"] = narrowed
        if filters.believed_at is not None:
            head["as_of"] = filters.believed_at.isoformat()
        told = _encoded(head)
        scores = array("f", figures).tobytes()
        words = query if self._texts else ""
        with self._lock:
            # By time, as the rows are kept in this order; no two traces have the same.
            self._number = max(self._number + 1, int(self._clock.now().timestamp() * 1e6))
            self._waiting.append(TraceRow(self._number, user_id, told, scores, words))
            full = len(self._waiting) >= _MOST_WAITING
        if full:
            with suppress(StoreUnavailableError):  # the answer is right without it
                self.write()


def _number(trace_id: str) -> int:
    """Return the number that an id stands for; one that no trace has for any other text."""
    return int(trace_id, 16) if _ID.fullmatch(trace_id) else 0


def _narrowed(filters: Filters) -> list[str]:
    given = filters.model_fields_set
    return sorted(one for one in given if getattr(filters, one) != getattr(NO_FILTERS, one))


def _trace(row: TraceRow) -> Trace:
    head = json.loads(row.head)
    shown = head.get("shown", [])
    figures = array("f")
    figures.frombytes(row.figures)
    spaces = head.get("spaces", {})
    return Trace.model_validate(
        {
            "id": f"{row.number:x}",
            "at": datetime.fromtimestamp(row.number / 1e6, UTC),
            "user_id": row.user_id,
            **{
                name: head[name]
                for name in (
                    "kind",
                    "caller",
                    "session_id",
                    "asked_for",
                    "found",
                    "narrowed",
                    "as_of",
                    "shown",
                    "omitted",
                    "tokens",
                    "relevance",
                )
                if name in head
            },
            "steps_ms": {step: taken / 1_000 for step, taken in head["steps"].items()},
            "candidates": [
                _candidate(one, place, figures, {*shown}, spaces)
                for place, one in enumerate(head["ids"])
            ],
            "left_out": [{"id": one, "reason": reason} for one, reason in head.get("left_out", [])],
            "query": row.words or None,
        }
    )


def _candidate(
    one: str, place: int, figures: Sequence[float], shown: Iterable[str], spaces: dict[str, str]
) -> dict[str, Any]:
    score, *parts = (round(x, 6) for x in figures[place * _FIGURES : (place + 1) * _FIGURES])
    return {
        "id": one,
        "score": score,
        "parts": dict(zip(_PARTS, parts, strict=True)),
        "space": spaces.get(one),
        "in_block": one in shown,
    }
