"""Export a user's memory as records that any JSON tool reads, and load them again.

One record a line when written as JSONL: first an `export` header, then every message of the session
logs, then every fact that isn't just a message, then what was written of profile and history (what
is derived is derived again). Vectors and past versions are left out; what is
read back is embedded anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from ingest.session_log import SessionLog
from semantic_memory.application.resolving import FilterResolver
from semantic_memory.domain.changes import Add, Write
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.messages import Message, SessionKey
from semantic_memory.domain.ports import Ledger
from semantic_memory.domain.profile import Line
from semantic_memory.domain.requests import ExportRequest, LoadRequest
from semantic_memory.domain.values import SCHEMA_VERSION, Identifier, Value, derived_id, parse
from semantic_memory.pipeline.facts import VERBATIM, said, verbatim_id
from semantic_memory.pipeline.pipeline import Pipeline

_PAGE = 500

Record = dict[str, Any]
Item = Message | Fact | Line


class _MessageRecord(Value):
    kind: str
    session_id: Identifier
    message: Message


class _FactRecord(Value):
    kind: str
    fact: Fact


class _LineRecord(Value):
    kind: str
    line: Line


class _Header(Value):
    kind: str
    schema_version: int = Field(ge=1, le=SCHEMA_VERSION)
    user_id: Identifier


class Transfer:
    """Export users' memories, and load them. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        log: SessionLog,
        pipeline: Pipeline,
        resolver: FilterResolver,
        changed: Callable[[str], None],
    ) -> None:
        self._ledger = ledger
        self._log = log
        self._pipeline = pipeline
        self._resolver = resolver
        self._changed = changed

    def export(self, asked: ExportRequest) -> Iterator[Record]:
        """Yield everything of a user that passes the filters and isn't forgotten.

        What was written of profile and history only if no filter but the session's is given.
        """
        user_id = asked.user_id
        filters = self._resolver.resolved(asked.joined(), user_id)
        session_id = filters.session_id
        ids = self._ledger.ids(user_id, filters)
        wanted = set(ids)
        yield {"kind": "export", "schema_version": SCHEMA_VERSION, "user_id": user_id}
        logged: set[str] = set()
        for session, message, fact_id in self._said(user_id, session_id):
            if fact_id in wanted:
                logged.add(fact_id)
                yield _message(session, message)
        for start in range(0, len(ids), _PAGE):
            for fact in self._ledger.get(ids[start : start + _PAGE]):
                if fact.source.extractor != VERBATIM:
                    yield {
                        "kind": "fact",
                        "fact": fact.model_dump(mode="json", exclude_defaults=True),
                    }
                elif fact.id not in logged and fact.source.session_id is not None:
                    yield _message(fact.source.session_id, said(fact))  # its log was too long
        if filters.goes_beyond("session_id"):
            return
        for line in self._ledger.lines(user_id):
            if line.origin != "derived" and session_id in (None, *line.session_ids):
                yield {
                    "kind": "line",
                    "line": line.model_dump(mode="json", exclude_defaults=True),
                }

    def _said(self, user_id: str, session_id: str | None) -> Iterator[tuple[str, Message, str]]:
        """Yield the logged messages of a user, each with its session and its memory's id."""
        sessions = self._ledger.session_ids(user_id) if session_id is None else [session_id]
        for session in sessions:
            key = SessionKey(user_id, session)
            for record in self._log.read(*key):
                yield session, record.message, verbatim_id(key, record.message.id)

    def load(self, asked: LoadRequest) -> int:
        """Load records as memories of a user; return the number of new ones.

        Raises InvalidInputError that names the record; those before it are kept.
        """
        user_id = asked.user_id
        number = 0
        try:
            for place, batch in _batches(_read(asked.records, user_id)):
                number += self._take(place, batch)
        finally:
            self._changed(user_id)
        return number

    def _take(self, place: SessionKey | None, batch: Sequence[Item]) -> int:
        if place is not None:
            messages = [item for item in batch if isinstance(item, Message)]
            return self._pipeline.observe(messages, *place).accepted
        return self._ledger.apply(
            [Add(self._owned(item)) for item in batch if isinstance(item, Fact)]
            + [Write(self._own_line(item)) for item in batch if isinstance(item, Line)]
        )

    def _own_line(self, line: Line) -> Line:
        """Give a line ids of the user's own, as `_owned` makes them."""
        own = {one.id for one in self._ledger.past_lines(line.user_id, line.layer)}
        known = {fact.id for fact in self._ledger.get(line.fact_ids, line.user_id)}
        return line.model_copy(
            update={
                "id": line.id if line.id in own else derived_id(line.user_id, line.id),
                "fact_ids": tuple(
                    one if one in known else derived_id(line.user_id, one) for one in line.fact_ids
                ),
            }
        )

    def _owned(self, fact: Fact) -> Fact:
        """Give a fact ids derived from its user's, unless they are the user's already.

        A record may claim any id, also one that another user's memory will have.
        """
        named = [fact.id, *fact.references, *([fact.superseded_by] if fact.superseded_by else [])]
        known = {one.id for one in self._ledger.get(named, fact.user_id)}

        def own(fact_id: str) -> str:
            return fact_id if fact_id in known else derived_id(fact.user_id, fact_id)

        return fact.model_copy(
            update={
                "id": own(fact.id),
                "superseded_by": own(fact.superseded_by) if fact.superseded_by else None,
                "references": tuple(map(own, fact.references)),
                "version": 1,
            }
        )


def _message(session_id: str, message: Message) -> Record:
    return {
        "kind": "message",
        "session_id": session_id,
        "message": message.model_dump(mode="json", exclude_defaults=True),
    }


def _batches(
    items: Iterable[tuple[SessionKey | None, Item]],
) -> Iterator[tuple[SessionKey | None, list[Item]]]:
    """Yield items of one place together; those before a wrong record come before its error."""
    place: SessionKey | None = None
    batch: list[Item] = []
    try:
        for where, item in items:
            if batch and (where != place or len(batch) == _PAGE):
                yield place, batch
                batch = []
            place = where
            batch.append(item)
    except InvalidInputError:
        if batch:
            yield place, batch
        raise
    if batch:
        yield place, batch


def _read(
    records: Iterable[Mapping[str, Any]], user_id: str
) -> Iterator[tuple[SessionKey | None, Item]]:
    """Yield the items of records, each message with its session.

    Raises InvalidInputError that names the record by its number.
    """
    for number, record in enumerate(records, start=1):
        what = f"record {number}"
        match record.get("kind"):
            case "export":
                parse(_Header, what, record)
            case "message":
                one = parse(_MessageRecord, what, record)
                yield SessionKey(user_id, one.session_id), one.message
            case "fact":
                fact = parse(_FactRecord, what, record).fact
                yield None, fact.model_copy(update={"user_id": user_id})
            case "line":
                line = parse(_LineRecord, what, record).line
                yield None, line.model_copy(update={"user_id": user_id})
            case kind:
                raise InvalidInputError(
                    f"{what}: kind must be export, message, fact or line (got {kind!r})"
                )
