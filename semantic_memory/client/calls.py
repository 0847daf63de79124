"""The verbs as requests, without any I/O: each yields requests, is sent answers, returns a value.

Names, arguments and results are those of `SemanticMemory`.
"""

from __future__ import annotations

import json as json_format
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, JsonValue, TypeAdapter

from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.facts import Category, Explanation, Fact, FactVersion, Status
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.layout import Layout
from semantic_memory.domain.messages import Message, Receipt, SessionInfo, SessionOptions
from semantic_memory.domain.ports import Progress
from semantic_memory.domain.profile import Line, Overview
from semantic_memory.domain.recall import Context, Hit
from semantic_memory.domain.reports import Finding, JobRun, Stats
from semantic_memory.domain.values import parse

_PAGE = 1_000
LINES = "application/x-ndjson"

T = TypeVar("T")
FilterLike = Filters | Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Call:
    """One request."""

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    json: Any = None
    lines: Iterable[bytes] | None = None
    """A body that can be sent once only."""

    def query(self) -> dict[str, Any]:
        """The parameters that are given."""
        return {name: value for name, value in self.params.items() if value is not None}


Steps = Generator[Call, bytes, T]


class _Items(BaseModel, Generic[T]):
    items: list[T]
    next: str | None = None


_FACTS = TypeAdapter(_Items[Fact])
_HITS = TypeAdapter(_Items[Hit])
_VERSIONS = TypeAdapter(_Items[FactVersion])
_LINES = TypeAdapter(_Items[Line])
_SESSIONS = TypeAdapter(_Items[SessionInfo])
_MESSAGES = TypeAdapter(_Items[Message])
_FINDINGS = TypeAdapter(_Items[Finding])
_RUNS = TypeAdapter(_Items[JobRun])
_NAMES = TypeAdapter(_Items[str])


def observe(messages: Iterable[Message], *, user_id: str, session_id: str) -> Steps[Receipt]:
    """Take in messages of a conversation. They are on the service's disk when this returns."""
    said = [message.model_dump(mode="json", exclude_none=True) for message in messages]
    if not said:
        return Receipt(accepted=0, duplicates=0, session_id=session_id)
    accepted = duplicates = 0
    for start in range(0, len(said), _PAGE):
        body = {
            "user_id": user_id,
            "session_id": session_id,
            "messages": said[start : start + _PAGE],
        }
        receipt = Receipt.model_validate_json((yield Call("POST", "/v1/messages", json=body)))
        accepted += receipt.accepted
        duplicates += receipt.duplicates
    return Receipt(accepted=accepted, duplicates=duplicates, session_id=session_id)


def add(
    content: str,
    *,
    user_id: str,
    category: Category | str = Category.PERSONAL,
    confidence: float = 1.0,
    importance: float = 0.5,
    tags: Sequence[str] = (),
    references: Sequence[str] = (),
    metadata: Mapping[str, JsonValue] | None = None,
    created_at: datetime | None = None,
) -> Steps[Fact]:
    """Add one fact, found by the next search; a known one is confirmed, and returned."""
    body = {
        "user_id": user_id,
        "content": content,
        "category": category,
        "confidence": confidence,
        "importance": importance,
        "tags": [*tags],
        "references": [*references],
        "metadata": {**(metadata or {})},
        "created_at": _time(created_at),
    }
    return Fact.model_validate_json((yield Call("POST", "/v1/memories", json=body)))


def add_many(items: Iterable[Mapping[str, Any]], *, user_id: str) -> Steps[list[Fact]]:
    """Add facts, all or none; each item holds what `add` takes, save the user."""
    given = [
        {**item, "created_at": _time(item.get("created_at"))} if "created_at" in item else {**item}
        for item in items
    ]
    if not given:
        return []
    body = {"user_id": user_id, "items": given}
    return _FACTS.validate_json((yield Call("POST", "/v1/memories/batch", json=body))).items


def flush(progress: Progress | None = None) -> Steps[None]:
    """Wait until everything observed is extracted and indexed."""
    del progress  # the service tells of none
    yield Call("POST", "/v1/flush")


def search(
    query: str,
    *,
    user_id: str,
    k: int = 10,
    filters: FilterLike = None,
    as_of: datetime | None = None,
) -> Steps[list[Hit]]:
    """The user's `k` best memories for `query`, best first, each with why it ranked there."""
    body = {"user_id": user_id, "query": query, "k": k, "filters": _filters(filters, as_of)}
    return _HITS.validate_json((yield Call("POST", "/v1/search", json=body))).items


def context(
    query: str,
    *,
    user_id: str,
    budget: int = 2_000,
    filters: FilterLike = None,
    as_of: datetime | None = None,
) -> Steps[Context]:
    """A block for a prompt of at most `budget` tokens: profile, recent history, facts."""
    body = {
        "user_id": user_id,
        "query": query,
        "budget": budget,
        "filters": _filters(filters, as_of),
    }
    return Context.model_validate_json((yield Call("POST", "/v1/context", json=body)))


def get(fact_id: str, *, user_id: str | None = None) -> Steps[Fact]:
    """A memory by its id; without `user_id` only with a key for every user."""
    return Fact.model_validate_json((yield Call("GET", _memory(fact_id), {"user_id": user_id})))


def list_(
    *,
    user_id: str,
    filters: FilterLike = None,
    status: Status | str | None = None,
    limit: int | None = 100,
    after: str | None = None,
) -> Steps[list[Fact]]:
    """A user's memories, newest first; for the next page give the last id as `after`."""
    if limit is not None and limit < 1:
        raise InvalidInputError(f"list: limit must be at least 1 (got {limit})")
    narrowed = _filters(filters, None)
    asked = {
        "category": narrowed.pop("categories", None),
        "tag": narrowed.pop("tags", None),
        **narrowed,
        "user_id": user_id,
        "status": status,
    }
    found: list[Fact] = []
    while limit is None or len(found) < limit:
        size = _PAGE if limit is None else min(_PAGE, limit - len(found))
        page = _FACTS.validate_json(
            (yield Call("GET", "/v1/memories", {**asked, "limit": size, "cursor": after}))
        )
        found += page.items
        after = page.next
        if after is None:
            break
    return found


def update(
    fact_id: str, *, user_id: str | None = None, reason: str = "", **changes: Any
) -> Steps[Fact]:
    """Change a memory: content, category, confidence, importance, tags, references, metadata."""
    call = Call("PATCH", _memory(fact_id), {"user_id": user_id}, {**changes, "reason": reason})
    return Fact.model_validate_json((yield call))


def delete(fact_id: str, *, user_id: str | None = None, reason: str = "") -> Steps[None]:
    """Take a memory out of every answer, for good."""
    yield Call("DELETE", _memory(fact_id), {"user_id": user_id, "reason": reason or None})


def restore(fact_id: str, *, user_id: str | None = None, reason: str = "") -> Steps[Fact]:
    """Believe a memory again that was superseded, archived or quarantined."""
    path = f"{_memory(fact_id)}/restore"
    call = Call("POST", path, {"user_id": user_id}, {"reason": reason})
    return Fact.model_validate_json((yield call))


def history(fact_id: str, *, user_id: str | None = None) -> Steps[list[FactVersion]]:
    """Every state a memory has been in, oldest first, a deleted one's too."""
    call = Call("GET", f"{_memory(fact_id)}/history", {"user_id": user_id})
    return _VERSIONS.validate_json((yield call)).items


def profile(*, user_id: str, as_of: datetime | None = None) -> Steps[Overview]:
    """A user at a glance: who they are, and what happened; `as_of` tells what stood then."""
    call = Call("GET", "/v1/profile", {"user_id": user_id, "as_of": _time(as_of)})
    return Overview.model_validate_json((yield call))


def update_profile(fields: Mapping[str, str | None], *, user_id: str) -> Steps[Overview]:
    """Write fields of a profile by hand; None gives one back to what facts say."""
    call = Call("PATCH", "/v1/profile", {"user_id": user_id}, {**fields})
    return Overview.model_validate_json((yield call))


def profile_history(field: str, *, user_id: str) -> Steps[list[Line]]:
    """Everything that a field of a profile has said, in order."""
    call = Call("GET", "/v1/profile/history", {"user_id": user_id, "field": field})
    return _LINES.validate_json((yield call)).items


def explain(fact_id: str, *, user_id: str | None = None) -> Steps[Explanation]:
    """How firmly a memory still stands, and what took whose place."""
    call = Call("GET", f"{_memory(fact_id)}/explanation", {"user_id": user_id})
    return Explanation.model_validate_json((yield call))


def layout(*, user_id: str, limit: int = 2_000) -> Steps[Layout]:
    """A user's memories in two dimensions; what is near in meaning lies near."""
    call = Call("GET", "/v1/layout", {"user_id": user_id, "limit": limit})
    return Layout.model_validate_json((yield call))


def sessions(*, user_id: str) -> Steps[list[SessionInfo]]:
    """What is known of each of a user's sessions, the one with the latest message first."""
    return _SESSIONS.validate_json((yield Call("GET", "/v1/sessions", {"user_id": user_id}))).items


def configure_session(
    *,
    user_id: str,
    session_id: str,
    extract: bool | None = None,
    fades: bool | None = None,
) -> Steps[SessionOptions]:
    """Do otherwise with a session than with others, from now on; what isn't given stays."""
    body = {"user_id": user_id, "session_id": session_id, "extract": extract, "fades": fades}
    return SessionOptions.model_validate_json((yield Call("PATCH", "/v1/sessions", json=body)))


def messages(*, user_id: str, session_id: str) -> Steps[list[Message]]:
    """What was said in a session, in order."""
    call = Call("GET", "/v1/messages", {"user_id": user_id, "session_id": session_id})
    return _MESSAGES.validate_json((yield call)).items


def forget(
    *,
    user_id: str,
    tag: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    session_id: str | None = None,
    reason: str = "",
) -> Steps[int]:
    """Forget a topic, a time, a session, or, if none is given, everything of a user."""
    narrowed = {
        "tag": tag,
        "since": _time(since),
        "until": _time(until),
        "session_id": session_id,
    }
    body = {
        **narrowed,
        "user_id": user_id,
        "everything": all(value is None for value in narrowed.values()),
        "reason": reason,
    }
    return int(json_format.loads((yield Call("POST", "/v1/forget", json=body)))["forgotten"])


def load(records: Iterable[Mapping[str, Any]], *, user_id: str) -> Steps[int]:
    """Take back what `export` gave, as memories of `user_id`; returns how many were new."""
    lines = (json_format.dumps(record).encode() + b"\n" for record in records)
    call = Call("POST", "/v1/import", {"user_id": user_id}, lines=lines)
    return int(json_format.loads((yield call))["new"])


def users() -> Steps[list[str]]:
    """The users with a memory that the key covers."""
    return _NAMES.validate_json((yield Call("GET", "/v1/users"))).items


def stats() -> Steps[Stats]:
    """What the store holds."""
    return Stats.model_validate_json((yield Call("GET", "/v1/stats")))


def check() -> Steps[list[Finding]]:
    """Check everything, and say what to do about what is wrong."""
    return _FINDINGS.validate_json((yield Call("GET", "/v1/check"))).items


def maintain(
    jobs: Sequence[str] = ("all",), *, user_id: str | None = None, dry_run: bool = False
) -> Steps[list[JobRun]]:
    """Run jobs of upkeep now; a dry run changes nothing and tells what would be done."""
    body = {"jobs": [*jobs], "user_id": user_id, "dry_run": dry_run}
    return _RUNS.validate_json((yield Call("POST", "/v1/maintenance", json=body))).items


def runs(limit: int = 50) -> Steps[list[JobRun]]:
    """What jobs of upkeep did, the latest first."""
    asked = {"limit": max(1, min(limit, _PAGE))}
    return _RUNS.validate_json((yield Call("GET", "/v1/maintenance", asked))).items


def rebuild(progress: Progress | None = None) -> Steps[int]:
    """Fill the vector index anew from the ledger; embeds nothing. Returns its size."""
    del progress  # the service tells of none
    return int(json_format.loads((yield Call("POST", "/v1/rebuild")))["indexed"])


def _memory(fact_id: str) -> str:
    # What an id can't be, a path mustn't become.
    if not fact_id or set("/?#%\\") & set(fact_id) or fact_id in (".", ".."):
        raise InvalidInputError(f"no id of a memory: {fact_id!r}")
    return f"/v1/memories/{fact_id}"


def _filters(filters: FilterLike, as_of: datetime | None) -> dict[str, Any]:
    match filters:
        case None:
            narrowed = NO_FILTERS
        case Filters():
            narrowed = filters
        case _:
            narrowed = parse(Filters, "filters", filters)
    if as_of is not None:
        narrowed = parse(Filters, "filters", {**narrowed.model_dump(), "as_of": as_of})
    return narrowed.model_dump(mode="json", exclude_defaults=True)


def _time(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
