"""Export a user's memory as records that any JSON tool reads, and load them again.

One record a line when written as JSONL: first an `export` header, then every session with its
options, if it has any, and the messages of its log, then every fact that isn't just a message, then
the written lines of profile and history (the others are derived again), then the items. Vectors and
past versions are left out; imported texts are embedded again. `to_dict` has the same records in one
document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from pydantic import Field

from ingest.gate import Gate
from semantic_memory.application.clearing import cleared, suspected
from semantic_memory.application.document import (
    Document,
    as_document,
    as_records,
    check_version,
)
from semantic_memory.application.expiring import unexpired_lines
from semantic_memory.application.items import cleared_item, every_item, item_terms
from semantic_memory.application.renaming import Names
from semantic_memory.application.resolving import FilterResolver
from semantic_memory.domain.categories import Declared
from semantic_memory.domain.changes import Add, Change, Evict, PutItem, Write
from semantic_memory.domain.dating import is_ahead
from semantic_memory.domain.errors import InvalidInputError, RecordRefusedError
from semantic_memory.domain.facts import Cause, Fact, Status
from semantic_memory.domain.items import Item, ItemScope
from semantic_memory.domain.messages import Message, SessionKey, SessionOptions, SessionState
from semantic_memory.domain.ports import Clock, Ledger, SessionLog
from semantic_memory.domain.profile import Line, overview
from semantic_memory.domain.refusals import parse
from semantic_memory.domain.reports import Loaded
from semantic_memory.domain.requests import (
    ExportRequest,
    FromDictRequest,
    LoadRequest,
    ToDictRequest,
)
from semantic_memory.domain.retention import Expiry
from semantic_memory.domain.trust import Trust
from semantic_memory.domain.values import SCHEMA_VERSION, Identifier, Timestamp, Value, derived_id
from semantic_memory.pipeline.facts import VERBATIM, said, verbatim_id
from semantic_memory.pipeline.pipeline import Pipeline

_PAGE = 500
_DEFAULT = SessionOptions(), SessionState()

Record = dict[str, Any]
Content = tuple[SessionOptions, SessionState] | Message | Fact | Line | Item


class _SessionRecord(Value):
    kind: str
    session_id: Identifier
    options: SessionOptions = SessionOptions()
    created_at: Timestamp | None = None
    closed_at: Timestamp | None = None


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


class _ItemRecord(Value):
    kind: str
    item: Item


class _Header(Value):
    kind: str
    schema_version: int = Field(ge=1)
    user_id: Identifier


class Transfer:
    """Export users' memories, and load them. Thread-safe.

    `cap` is the largest number of a user's facts.
    """

    def __init__(
        self,
        ledger: Ledger,
        log: SessionLog,
        pipeline: Pipeline,
        resolver: FilterResolver,
        gate: Gate,
        clock: Clock,
        expiry: Expiry,
        cap: int,
        changed: Callable[[str], None],
        declared: Declared,
    ) -> None:
        self._ledger = ledger
        self._gate = gate
        self._clock = clock
        self._expiry = expiry
        self._cap = cap
        self._log = log
        self._pipeline = pipeline
        self._resolver = resolver
        self._changed = changed
        self._declared = declared

    def export(self, asked: ExportRequest) -> Iterator[Record]:
        """Yield everything of a user that passes the filters and is neither forgotten nor expired.

        Of sessions and what was written of profile and history only if no filter but the session's
        is given.
        """
        user_id = asked.user_id
        filters = self._resolver.resolved(asked.joined(), user_id)
        session_id, narrowed = filters.session_id, filters.goes_beyond("session_id")
        ids = self._ledger.ids(user_id, filters)
        wanted = set(ids)
        yield {"kind": "export", "schema_version": SCHEMA_VERSION, "user_id": user_id}
        logged: set[str] = set()
        sessions = self._ledger.session_ids(user_id) if session_id is None else [session_id]
        for session in sessions:
            key = SessionKey(user_id, session)
            if not narrowed:
                yield from self._session(key)
            yield from self._said(key, wanted, logged)
        for start in range(0, len(ids), _PAGE):
            for fact in self._expiry.kept(self._ledger.get(ids[start : start + _PAGE])):
                if fact.source.extractor != VERBATIM:
                    yield _record("fact", fact)
                elif fact.id not in logged and fact.source.session_id is not None:
                    # its log was too long
                    yield _record("message", said(fact), session_id=fact.source.session_id)
        if narrowed:
            return
        lines = self._ledger.lines(user_id)
        for line in unexpired_lines(self._ledger, lines, self._expiry.now):
            if line.origin != "derived" and session_id in (None, *line.session_ids):
                yield _record("line", line)
        yield from self._items(user_id, session_id)

    def _items(self, user_id: str, session_id: str | None) -> Iterator[Record]:
        """Yield the items of a user, which belong to no session."""
        if session_id is not None:
            return
        for _, item in every_item(self._ledger, ItemScope(user_id, (), self._clock.now())):
            written = item.model_dump(mode="json", exclude_defaults=True)
            yield {"kind": "item", "item": {**written, "value": item.value}}

    def _session(self, key: SessionKey) -> Iterator[Record]:
        """Yield a session's record, if there is anything to say of it."""
        options = self._pipeline.options(key).model_dump(mode="json", exclude_defaults=True)
        times = self._pipeline.state(key).model_dump(mode="json", exclude_none=True)
        if options or times:
            held = {"options": options} if options else {}
            yield {"kind": "session", "session_id": key.session_id, **held, **times}

    def _said(self, key: SessionKey, wanted: set[str], logged: set[str]) -> Iterator[Record]:
        """Yield a session's wanted messages; add the ids of their memories to `logged`."""
        for record in self._log.read(*key):
            fact_id = verbatim_id(key, record.message.id)
            if fact_id in wanted and self._expiry.kept(self._ledger.get([fact_id])):
                logged.add(fact_id)
                yield _record("message", record.message, session_id=key.session_id)

    def to_dict(self, asked: ToDictRequest) -> Document:
        """Return everything of a user, or of a session, agent or run, as one JSON document."""
        exported = ExportRequest.of(**asked.model_dump())
        document = as_document(self.export(exported))
        if asked.session_id is asked.agent_id is asked.run_id is None:
            lines = unexpired_lines(
                self._ledger, self._ledger.lines(asked.user_id), self._expiry.now
            )
            document |= overview(lines).model_dump(mode="json", exclude_defaults=True)
        return document

    def from_dict(self, asked: FromDictRequest) -> Loaded:
        """Load a document as memories of a user; return the number of new ones.

        Raises RecordRefusedError.
        """
        return self.load(LoadRequest.of(as_records(asked.document), user_id=asked.user_id))

    def load(self, asked: LoadRequest) -> Loaded:
        """Load records as memories of a user; return the number of new ones.

        Raises RecordRefusedError that names the record; those before it are kept.
        """
        user_id = asked.user_id
        number, names = 0, Names(self._ledger, user_id)
        try:
            for place, batch in _batches(self._read(asked.records, user_id)):
                number += self._take(user_id, place, batch, names)
        except InvalidInputError as error:
            raise RecordRefusedError(str(error), number) from error
        finally:
            self._ledger.apply(names.settled(self._clock.now()))
            self._changed(user_id)
        return Loaded(number, names.renamed)

    def _read(
        self, records: Iterable[Mapping[str, Any]], user_id: str
    ) -> Iterator[tuple[SessionKey | None, Content]]:
        """Yield the items of records, cleared by the gate, each message with its session.

        The gate screens messages later, as they are stored.

        Raises InvalidInputError that names the record by its number, SchemaTooNewError likewise.
        """
        gate = self._gate
        for number, record in enumerate(records, start=1):
            what = f"record {number}"
            if not isinstance(record, Mapping):
                raise InvalidInputError(f"{what} must be an object (got {type(record).__name__})")
            match record.get("kind"):
                case "export":
                    check_version(record, what)
                    parse(_Header, what, record)
                case "session":
                    session = parse(_SessionRecord, what, record)
                    self._declared.check(session.options.half_life_days, f"{what}: half_life_days")
                    state = SessionState(created_at=session.created_at, closed_at=session.closed_at)
                    yield SessionKey(user_id, session.session_id), (session.options, state)
                case "message":
                    one = parse(_MessageRecord, what, record)
                    yield SessionKey(user_id, one.session_id), one.message
                case "fact":
                    fact = parse(_FactRecord, what, record).fact
                    self._declared.check([fact.category], f"{what}: category")
                    yield None, _cleared(fact, user_id, gate, what)
                case "line":
                    line = parse(_LineRecord, what, record).line
                    text = gate.cleared(line.text, f"{what}: text")
                    if gate.suspects([text], Trust.IMPORTED):
                        raise InvalidInputError(
                            f"{what}: text reads like an instruction to a model"
                        )
                    yield None, line.model_copy(update={"text": text, "user_id": user_id})
                case "item":
                    item = parse(_ItemRecord, what, record).item
                    value = cleared_item(gate, item.value, item.index, what)
                    yield None, item.model_copy(update={"user_id": user_id, "value": value})
                case kind:
                    raise InvalidInputError(
                        f"{what}: kind must be export, session, message, fact, line or item"
                        f" (got {kind!r})"
                    )

    def _take(
        self, user_id: str, place: SessionKey | None, batch: Sequence[Content], names: Names
    ) -> int:
        if place is not None:
            for item in batch:
                if isinstance(item, tuple):
                    self._set(place, *item)
            messages = [item for item in batch if isinstance(item, Message)]
            messages = [_no_later(message, self._clock.now()) for message in messages]
            return self._pipeline.take(messages, *place).accepted if messages else 0
        now = self._clock.now()
        changes: list[Change] = []
        for item in batch:
            match item:
                case Fact():
                    dated = _no_later(item, now).model_copy(update={"version": 1})
                    changes.append(Add(names.named(dated)))
                case Line():
                    changes.append(Write(self._own_line(item, names)))
                case Item() if item.holds(now):
                    changes.append(
                        PutItem(_put_by(item, now), now, item_terms(item, self._gate), fresh=True)
                    )
        return self._ledger.apply([*changes, Evict(user_id, self._cap, now)])

    def _set(self, key: SessionKey, options: SessionOptions, state: SessionState) -> None:
        """Set the options and times of a session, unless it has some here."""
        if (self._pipeline.options(key), self._pipeline.state(key)) == _DEFAULT:
            self._pipeline.configure(key, options)
            if state != SessionState():
                self._pipeline.mark(key, state)

    def _own_line(self, line: Line, names: Names) -> Line:
        """Give a line an id of the user's own, and the ids that its facts have here."""
        own = {one.id for one in self._ledger.past_lines(line.user_id, line.layer)}
        places = names.places(line.fact_ids)
        return line.model_copy(
            update={
                "id": line.id if line.id in own else derived_id(line.user_id, line.id),
                "fact_ids": tuple(places.get(one, one) for one in line.fact_ids),
            }
        )


SaidT = TypeVar("SaidT", Fact, Message)


def _no_later(item: SaidT, now: datetime) -> SaidT:
    """Return what was loaded with the present in place of times more than a day ahead."""
    names = ("created_at", "valid_from", "confirmed_at")
    times = {name: getattr(item, name, None) for name in names}
    ahead = {name: now for name, at in times.items() if is_ahead(at, now)}
    return item.model_copy(update=ahead) if ahead else item


def _put_by(item: Item, now: datetime) -> Item:
    """Return a loaded item with no time of its past ahead of the present."""
    times = {"created_at": min(item.created_at, now), "updated_at": min(item.updated_at, now)}
    return item.model_copy(update=times)


def _record(kind: str, value: Value, **place: str) -> Record:
    """Return the record of a value, behind the place where it belongs."""
    return {"kind": kind, **place, kind: value.model_dump(mode="json", exclude_defaults=True)}


def _batches(
    items: Iterable[tuple[SessionKey | None, Content]],
) -> Iterator[tuple[SessionKey | None, list[Content]]]:
    """Yield items of one place together; those before a wrong record come before its error."""
    place: SessionKey | None = None
    batch: list[Content] = []
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


def _cleared(fact: Fact, user_id: str, gate: Gate, what: str) -> Fact:
    """Return a loaded fact as its user's, cleared by the gate, or quarantined."""
    texts = dict(fact)
    own = {**cleared(gate, texts, what), "user_id": user_id}
    own["perhaps_changed"] = tuple(_heard(link, gate, what) for link in fact.perhaps_changed)
    own["ended_by"] = fact.ended_by and _heard(fact.ended_by, gate, what)
    if fact.status is not Status.FORGOTTEN and suspected(gate, texts, fact.trust):
        own["status"] = Status.QUARANTINED
    return fact.model_copy(update=own)


def _heard(cause: Cause, gate: Gate, what: str) -> Cause:
    """Return a loaded cause cleared by the gate; without a quote that reads like an instruction."""
    quote = None if cause.quote is None else gate.cleared(cause.quote, f"{what}: quote")
    if quote is not None and gate.suspects([quote], Trust.IMPORTED):
        quote = None
    reason = gate.cleared(cause.reason, f"{what}: reason")
    return cause.model_copy(update={"quote": quote, "reason": reason})
