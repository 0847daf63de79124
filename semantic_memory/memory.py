"""The facade: what an agent calls."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import JsonValue, field_validator

from semantic_memory.application.doctor import examine
from semantic_memory.application.explain import explain, layout
from semantic_memory.application.recall import forget_state, make_packer, open_session, recall
from semantic_memory.application.transfer import Record
from semantic_memory.bootstrap import Parts, Service, build
from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.events import ContextPacked, Searched
from semantic_memory.domain.facts import Category, Explanation, Fact, FactVersion, Status
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.layout import Layout
from semantic_memory.domain.messages import (
    Message,
    Receipt,
    SessionInfo,
    SessionKey,
    SessionOptions,
)
from semantic_memory.domain.ports import (
    Clock,
    Embedder,
    Extractor,
    Observer,
    Progress,
    Summarizer,
    TokenCounter,
    VectorIndex,
)
from semantic_memory.domain.profile import Line, Overview, ProfileField, overview
from semantic_memory.domain.recall import Context, Hit
from semantic_memory.domain.reports import Finding, JobRun, Stats
from semantic_memory.domain.values import Content, Identifier, Tag, Timestamp, Value, parse
from semantic_memory.pipeline.facts import VERBATIM, forgotten, said
from semantic_memory.session.parts import Form
from semantic_memory.session.session import Session
from semantic_memory.settings import Settings, load

Facts = list[Fact]
Messages = list[Message]
Sessions = list[SessionInfo]
Runs = list[JobRun]
Hits = list[Hit]
Versions = list[FactVersion]
Lines = list[Line]
Names = list[str]
Findings = list[Finding]
FilterLike = Filters | Mapping[str, Any] | None

_MOST_HITS = 1_000
_MOST_POINTS = 5_000


class _Owner(Value):
    user_id: Identifier


class _Place(_Owner):
    session_id: Identifier

    @property
    def key(self) -> SessionKey:
        """The session's key."""
        return SessionKey(self.user_id, self.session_id)


class _Question(_Owner):
    query: Content


class _Part(_Owner):
    session_id: Identifier | None = None


class _Moment(_Owner):
    as_of: Timestamp | None = None


class _Field(_Owner):
    field: ProfileField


class _Fields(_Owner):
    fields: Mapping[ProfileField, Content | None]


class _Standing(Value):
    status: Status

    @field_validator("status")
    @classmethod
    def _has_content(cls, status: Status) -> Status:
        if status is Status.FORGOTTEN:
            raise ValueError("can't be forgotten: what is forgotten isn't shown")
        return status


class _Forgetting(_Part):
    tag: Tag | None = None
    since: Timestamp | None = None
    until: Timestamp | None = None


class SemanticMemory:
    """The memory of an agent's users, in one directory that this process owns.

    Thread-safe. Open it with `SemanticMemory.open`, close it with `close` or as a context manager.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._packer = make_packer(service.settings, service.token_counter)

    @classmethod
    def open(
        cls,
        data_dir: str | Path | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        extractor: Extractor | None = None,
        index: VectorIndex | None = None,
        token_counter: TokenCounter | None = None,
        clock: Clock | None = None,
        observer: Observer | None = None,
    ) -> Self:
        """Open the store in `data_dir`, creating it if need be, and take up unfinished work.

        Each part can be replaced; the defaults come from `settings`, and those from the environment
        and `semantic_memory.toml`.

        Raises StoreLockedError if another process has it open, EmbedderMismatchError if it was
        embedded with another model, StoreUnavailableError if it can't be written.
        """
        parts = Parts(embedder, extractor, index, token_counter, clock, observer)
        return cls(build(_settings(data_dir, settings), parts))

    @classmethod
    def reembed(
        cls,
        data_dir: str | Path | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Embed every memory of a store anew with the model now configured; returns how many.

        Cut off, it is taken up where it was at the next opening.
        """
        service = build(_settings(data_dir, settings), Parts(embedder=embedder), reembedding=True)
        try:
            number = service.ledger.count()
            service.pipeline.embed(progress)
        finally:
            service.close()
        return number

    @property
    def settings(self) -> Settings:
        """What it was opened with."""
        return self._service.settings

    # ---------------------------------------------------------------- taking in

    def observe(self, messages: Iterable[Message], *, user_id: str, session_id: str) -> Receipt:
        """Take in messages of a conversation. They are on disk when this returns.

        Each becomes a memory of category `conversation` moments later; facts are extracted from
        them once the session has gone quiet, or by `flush`. A message whose id the session has
        already is skipped.

        Raises InvalidInputError if an id is used for another text, StoreUnavailableError if the
        disk refuses; nothing of the call is kept then.
        """
        place = parse(_Place, "observe", {"user_id": user_id, "session_id": session_id})
        now = self._service.clock.now()
        dated = [
            message if message.created_at else message.model_copy(update={"created_at": now})
            for message in messages
        ]
        return self._service.pipeline.observe(dated, place.user_id, place.session_id)

    def add(
        self,
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
    ) -> Fact:
        """Add one fact. It is on disk, and found by the next search, when this returns.

        If the same is known already it is confirmed instead: its confidence rises a little, and it
        is returned. Raises InvalidInputError.
        """
        item = {
            "content": content,
            "category": category,
            "confidence": confidence,
            "importance": importance,
            "tags": tags,
            "references": references,
            "metadata": metadata or {},
            "created_at": created_at,
        }
        (fact,) = self.add_many([item], user_id=user_id)
        return fact

    def add_many(self, items: Iterable[Mapping[str, Any]], *, user_id: str) -> Facts:
        """Add facts in one transaction; each item holds what `add` takes, save the user.

        Returns the memory that says each, in order. Raises InvalidInputError, which names the item;
        nothing is added then.
        """
        asked = parse(_Owner, "add", {"user_id": user_id})
        return self._service.curation.add([*items], asked.user_id)

    def flush(self, progress: Progress | None = None) -> None:
        """Wait until everything observed is extracted and indexed.

        Raises ProviderError if a model couldn't be reached; nothing is lost, and the rest is done.
        """
        self._service.pipeline.flush(progress)

    # ---------------------------------------------------------------- asking

    def search(
        self,
        query: str,
        *,
        user_id: str,
        k: int = 10,
        filters: FilterLike = None,
        as_of: datetime | None = None,
    ) -> Hits:
        """The user's `k` best memories for `query`, best first, each with why it ranked there.

        `filters` narrows by `categories`, `tags`, `since`, `until`, `min_confidence`, `session_id`;
        unknown keys are errors. `as_of` asks for what was believed then.

        Raises InvalidInputError.
        """
        start = time.perf_counter()
        question = parse(_Question, "search", {"query": query, "user_id": user_id})
        if not 1 <= k <= _MOST_HITS:
            raise InvalidInputError(f"search: k must be 1 to {_MOST_HITS:,} (got {k})")
        narrowed = _filters(filters, as_of)
        hits = self._service.searcher.search(question.query, question.user_id, k, narrowed)
        self._service.observe(Searched(question.user_id, len(hits), time.perf_counter() - start))
        return hits

    def context(
        self,
        query: str,
        *,
        user_id: str,
        budget: int = 2_000,
        filters: FilterLike = None,
        as_of: datetime | None = None,
    ) -> Context:
        """A block for a prompt of at most `budget` tokens: profile, history, facts, messages.

        The count is exact for the model in the settings. What doesn't fit is left out and counted;
        what has nothing to do with the question isn't shown, save facts of great importance.
        Raises InvalidInputError.
        """
        start = time.perf_counter()
        if budget < 1:
            raise InvalidInputError(f"context: budget must be at least 1 token (got {budget})")
        narrowed = _filters(filters, as_of)
        number = self._service.settings.context.candidates
        hits = self.search(query, user_id=user_id, k=number, filters=narrowed)
        packed = recall(self._service, self._packer, hits, user_id, budget, narrowed)
        self._service.uses.note((hit.fact.id for hit in packed.hits), self._service.clock.now())
        seconds = time.perf_counter() - start
        self._service.observe(
            ContextPacked(
                user_id, budget, packed.tokens, len(packed.hits), packed.left_out, seconds
            )
        )
        return packed

    def session(
        self,
        *,
        user_id: str,
        session_id: str,
        system_prompt: str = "",
        model: str | None = None,
        window: int | None = None,
        form: Form | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
        summarizer: Summarizer | None = None,
        memory_directories: Sequence[Path] | None = None,
    ) -> Session:
        """A conversation with a model: what to send it, within its window; what is kept of it.

        `model` decides how tokens are counted, how long the window is and whose messages it takes;
        `window` and `form` say otherwise. Memory files are read from `memory_directories`, by
        default the system's, the user's and the working directory. Opened again it goes on where it
        was. Raises InvalidInputError, ConfigurationError.
        """
        place = parse(_Place, "session", {"user_id": user_id, "session_id": session_id})
        return open_session(
            self._service,
            SessionKey(place.user_id, place.session_id),
            system_prompt=system_prompt,
            model=model,
            window=window,
            form=form,
            tools=tools,
            summarizer=summarizer,
            memory_directories=memory_directories,
        )

    # ---------------------------------------------------------------- single memories

    def get(self, fact_id: str, *, user_id: str | None = None) -> Fact:
        """A memory by its id. Raises NotFoundError, also for a deleted one.

        With `user_id`, here and below, for one of another user too.
        """
        return self._service.curation.get(fact_id, user_id)

    def list(
        self,
        *,
        user_id: str,
        filters: FilterLike = None,
        status: Status | str | None = None,
        limit: int | None = 100,
        after: str | None = None,
    ) -> Facts:
        """A user's memories, newest first; for the next page give the last id as `after`.

        Those believed, or those of a `status`: active, superseded, quarantined, archived.
        Raises InvalidInputError.
        """
        asked = parse(_Owner, "list", {"user_id": user_id})
        if limit is not None and limit < 1:
            raise InvalidInputError(f"list: limit must be at least 1 (got {limit})")
        wanted = None if status is None else parse(_Standing, "list", {"status": status}).status
        return self._service.ledger.find(
            asked.user_id, _filters(filters, None), status=wanted, limit=limit, after=after
        )

    def explain(self, fact_id: str, *, user_id: str | None = None) -> Explanation:
        """How firmly a memory still stands, and what took whose place. Raises NotFoundError."""
        return explain(self._service, fact_id, user_id)

    def layout(self, *, user_id: str, limit: int = 2_000) -> Layout:
        """A user's memories in two dimensions; what is near in meaning lies near.

        The newest `limit` of those believed, facts before messages. Raises InvalidInputError.
        """
        asked = parse(_Owner, "layout", {"user_id": user_id})
        if not 1 <= limit <= _MOST_POINTS:
            raise InvalidInputError(f"layout: limit must be 1 to {_MOST_POINTS:,} (got {limit})")
        return layout(self._service, asked.user_id, limit)

    def update(
        self, fact_id: str, *, user_id: str | None = None, reason: str = "", **changes: Any
    ) -> Fact:
        """Change a memory: content, category, confidence, importance, tags, references, metadata.

        The state before stays in its history, and a content that is replaced goes on answering
        what was believed until now (`as_of`). Raises NotFoundError, InvalidInputError.
        """
        return self._service.curation.update(fact_id, user_id, reason, changes)

    def delete(self, fact_id: str, *, user_id: str | None = None, reason: str = "") -> None:
        """Take a memory out of every answer, for good. Raises NotFoundError."""
        self._service.curation.delete(fact_id, user_id, reason)

    def restore(self, fact_id: str, *, user_id: str | None = None, reason: str = "") -> Fact:
        """Believe a memory again that was superseded, archived or quarantined.

        Raises NotFoundError, also for a deleted one.
        """
        return self._service.curation.restore(fact_id, user_id, reason)

    def history(self, fact_id: str, *, user_id: str | None = None) -> Versions:
        """Every state a memory has been in, oldest first, a deleted one's too.

        Raises NotFoundError.
        """
        return self._service.ledger.history(fact_id, user_id)

    # ---------------------------------------------------------------- profile and history

    def profile(self, *, user_id: str, as_of: datetime | None = None) -> Overview:
        """A user at a glance: who they are, and what happened; `as_of` tells what stood then.

        Follows what was taken in moments later. Raises InvalidInputError.
        """
        asked = parse(_Moment, "profile", {"user_id": user_id, "as_of": as_of})
        return overview(self._service.ledger.lines(asked.user_id, asked.as_of))

    def update_profile(self, fields: Mapping[str, str | None], *, user_id: str) -> Overview:
        """Write fields of a profile by hand: `work_context`, `personal_context`, `top_of_mind`.

        What is written stays until it is written again; None gives a field back to what facts say.
        Raises InvalidInputError.
        """
        asked = parse(_Fields, "update_profile", {"user_id": user_id, "fields": fields})
        self._service.curation.update_profile(asked.user_id, asked.fields)
        return self.profile(user_id=asked.user_id)

    def profile_history(self, field: str, *, user_id: str) -> Lines:
        """Everything that a field of a profile has said, in order. Raises InvalidInputError."""
        asked = parse(_Field, "profile_history", {"user_id": user_id, "field": field})
        return self._service.ledger.past_lines(asked.user_id, asked.field)

    # ---------------------------------------------------------------- sessions and users

    def sessions(self, *, user_id: str) -> Sessions:
        """What is known of each of a user's sessions, the one with the latest message first."""
        asked = parse(_Owner, "sessions", {"user_id": user_id})
        log = self._service.log
        return [
            info.model_copy(
                update={
                    "log_bytes": log.size(asked.user_id, info.session_id),
                    "options": self._service.pipeline.options(
                        SessionKey(asked.user_id, info.session_id)
                    ),
                }
            )
            for info in self._service.ledger.session_infos(asked.user_id)
        ]

    def configure_session(
        self,
        *,
        user_id: str,
        session_id: str,
        extract: bool | None = None,
        fades: bool | None = None,
    ) -> SessionOptions:
        """Do otherwise with a session than with others, from now on; what isn't given stays.

        With `extract` off its messages are kept and found, and what is said until it is on again is
        never read for facts. With `fades` off the facts found in it are pinned. A session can be
        configured before its first message. Returns what holds now. Raises InvalidInputError.
        """
        place = parse(_Place, "configure_session", {"user_id": user_id, "session_id": session_id})
        pipeline = self._service.pipeline
        given = {"extract": extract, "fades": fades}
        changed = {name: value for name, value in given.items() if value is not None}
        options = parse(
            SessionOptions,
            "configure_session",
            {**pipeline.options(place.key).model_dump(), **changed},
        )
        pipeline.configure(place.key, options)
        return options

    def messages(self, *, user_id: str, session_id: str) -> Messages:
        """What was said in a session and isn't forgotten, in order.

        Raises NotFoundError if there is nothing.
        """
        place = parse(_Place, "messages", {"user_id": user_id, "session_id": session_id})
        ledger = self._service.ledger
        records = list(self._service.log.read(*place.key))
        gone = forgotten(ledger, place.key, [record.message.id for record in records])
        found = {one.position: one.message for one in records if one.message.id not in gone}
        for fact in ledger.get(ledger.ids(place.user_id, session_id=place.session_id)):
            # Of a log that was too long, the rest is here.
            if fact.source.extractor == VERBATIM and fact.source.position is not None:
                found.setdefault(fact.source.position, said(fact))
        if not found:
            raise NotFoundError(f"no session {session_id!r} of user {user_id!r}")
        return [found[position] for position in sorted(found)]

    def forget(
        self,
        *,
        user_id: str,
        tag: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        session_id: str | None = None,
        reason: str = "",
    ) -> int:
        """Forget a topic, a time, a session, or, if none is given, everything of a user.

        Memories of every status are taken out of every answer, for good, and leave tombstones with
        the reason. A whole session's or user's messages are deleted from the session logs as well,
        and their windows and checkpoints.
        Returns how many memories were forgotten. Raises InvalidInputError.
        """
        asked = parse(
            _Forgetting,
            "forget",
            {
                "user_id": user_id,
                "tag": tag,
                "since": since,
                "until": until,
                "session_id": session_id,
            },
        )
        if asked.tag is None and asked.since is None and asked.until is None:
            forget_state(self._service, asked.user_id, asked.session_id)
        return self._service.curation.forget(**asked.model_dump(), reason=reason)

    def export(self, *, user_id: str, session_id: str | None = None) -> Iterator[Record]:
        """A user's memory, or what came of one session, as records that JSON can hold.

        `load` takes them back. Raises InvalidInputError.
        """
        part = parse(_Part, "export", {"user_id": user_id, "session_id": session_id})
        return self._service.transfer.export(part.user_id, part.session_id)

    def load(self, records: Iterable[Mapping[str, Any]], *, user_id: str) -> int:
        """Take back what `export` gave, as memories of `user_id`; returns how many were new.

        Doing it again doubles nothing. Raises InvalidInputError, which names the record; what came
        before it is kept.
        """
        asked = parse(_Owner, "load", {"user_id": user_id})
        return self._service.transfer.load(records, asked.user_id)

    # ---------------------------------------------------------------- upkeep

    def users(self) -> Names:
        """Every user with a memory."""
        return self._service.ledger.users()

    def stats(self) -> Stats:
        """What the store holds."""
        ledger = self._service.ledger
        files = list(self._service.log.files())
        return Stats(
            users=len(ledger.users()),
            sessions=len(files),
            memories=ledger.count(),
            by_category_and_status=ledger.tally(),
            unembedded=ledger.count_unembedded(),
            log_bytes=sum(size for _, size in files),
            store_bytes=_bytes_in(self._service.settings.data_dir),
            embedder=str(self._service.embedder.identity),
        )

    def check(self) -> Findings:
        """Check everything, and say what to do about what is wrong."""
        return [*examine(self._service)]

    def maintain(
        self,
        jobs: Sequence[str] = ("all",),
        *,
        user_id: str | None = None,
        dry_run: bool = False,
    ) -> Runs:
        """Run jobs of upkeep now: usage, dedup, conflicts, decay, rollup, compact, or all.

        A dry run changes nothing and tells what would be done. Raises InvalidInputError.
        """
        if user_id is not None:
            user_id = parse(_Owner, "maintain", {"user_id": user_id}).user_id
        runs = self._service.upkeep.run(jobs, user_id, dry_run=dry_run)
        self._service.pipeline.changed()
        return runs

    def runs(self, limit: int = 50) -> Runs:
        """What jobs of upkeep did, the latest first."""
        return self._service.ledger.runs(max(1, min(limit, _MOST_HITS)))

    def rebuild(self, progress: Progress | None = None) -> int:
        """Fill the vector index anew from the ledger; embeds nothing. Returns its size."""
        return self._service.keeper.rebuild(progress)

    def close(self) -> None:
        """Finish the step under way and give the directory up.

        What is unfinished is taken up at the next opening; nothing is lost.
        """
        self._service.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _bytes_in(directory: Path) -> int:
    """Size of all files below a directory, whichever come and go meanwhile."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            with suppress(FileNotFoundError):
                total += Path(folder, name).stat().st_size
    return total


def _settings(data_dir: str | Path | None, settings: Settings | None) -> Settings:
    if settings is None:
        return load(data_dir=data_dir)
    if data_dir is None:
        return settings
    return settings.model_copy(update={"data_dir": Path(data_dir)})


def _filters(filters: FilterLike, as_of: datetime | None) -> Filters:
    if isinstance(filters, Filters):
        narrowed = filters
    elif filters is None:
        narrowed = NO_FILTERS
    else:
        narrowed = parse(Filters, "filters", filters)
    return (
        narrowed
        if as_of is None
        else parse(Filters, "filters", {**narrowed.model_dump(), "as_of": as_of})
    )
