"""The facade that agents call: each method builds a request and hands it to one use case.

Longer than other modules, because all verbs are documented here, for people and editors.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import JsonValue

from semantic_memory.beliefs import Beliefs
from semantic_memory.domain import fields
from semantic_memory.domain.bodies import Body
from semantic_memory.domain.chat import MessageLike
from semantic_memory.domain.errors import StoreLockedError
from semantic_memory.domain.facts import Category, Explanation, Fact, FactVersion, Page, Status
from semantic_memory.domain.feed import NOW, EventKind, EventPage
from semantic_memory.domain.filters import FilterLike
from semantic_memory.domain.forget_requests import RequestToForget
from semantic_memory.domain.layout import Layout
from semantic_memory.domain.messages import (
    Message,
    Receipt,
    SessionInfo,
    SessionOptions,
    Verbosity,
)
from semantic_memory.domain.profile import Line, Overview
from semantic_memory.domain.prompts import PromptRecord
from semantic_memory.domain.recall import Context, Hit
from semantic_memory.domain.reports import (
    Finding,
    ForgetReceipt,
    Forgotten,
    JobRun,
    Stats,
    TagCount,
    Verified,
)
from semantic_memory.domain.requests import (
    AddManyRequest,
    AddRequest,
    AuditRequest,
    CloseSessionRequest,
    ConfigureSessionRequest,
    ContextRequest,
    CreateSessionRequest,
    DeleteRequest,
    EventsRequest,
    ExplainRequest,
    ExportRequest,
    ForgetRequest,
    FromDictRequest,
    GetRequest,
    HistoryRequest,
    LayoutRequest,
    ListRequest,
    LoadRequest,
    LoadSessionRequest,
    MaintainRequest,
    MessagesRequest,
    ObserveRequest,
    OpenSessionRequest,
    PopRequest,
    ProfileHistoryRequest,
    ProfileRequest,
    RequestsRequest,
    RestoreRequest,
    RunsRequest,
    SearchRequest,
    SessionsRequest,
    SettleRequest,
    SubscribeRequest,
    TagsRequest,
    ToDictRequest,
    UpdateProfileRequest,
    UpdateRequest,
    VerifyRequest,
)
from semantic_memory.domain.trust import Trust
from semantic_memory.items import Items

if TYPE_CHECKING:  # loaded by `open`, so that importing the facade loads none of the parts
    from semantic_memory.application.document import Document
    from semantic_memory.application.feed import Subscription
    from semantic_memory.application.inspection import Inspection
    from semantic_memory.application.transfer import Record
    from semantic_memory.bootstrap import UseCases
    from semantic_memory.client import Client
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
    from semantic_memory.judging.ports import PairJudge, SentenceJudge
    from semantic_memory.session.parts import Form
    from semantic_memory.session.session import Session
    from semantic_memory.settings import Settings

# In a class with a method `list`, `list[Fact]` would mean that method.
Facts = list[Fact]
Messages = list[Message]
Sessions = list[SessionInfo]
Runs = list[JobRun]
Hits = list[Hit]
Versions = list[FactVersion]
Lines = list[Line]
Names = list[str]
Findings = list[Finding]
Requests = list[RequestToForget]
Records = list[PromptRecord]
TagCounts = list[TagCount]


class SemanticMemory:
    """The memory of an agent's users, in one directory that this process owns, or in a database.

    Thread-safe. Open it with `SemanticMemory.open`, close it with `close` or as a context manager.
    Every method raises InvalidInputError for a value that it can't use, and changes nothing then.
    """

    def __init__(self, use_cases: UseCases) -> None:
        self._opened = use_cases
        self._process = os.getpid()

    @property
    def _use_cases(self) -> UseCases:
        """The use cases. Raises StoreLockedError in a forked child."""
        # A child has no background threads, and locks that nobody frees; its files are the parent's
        if os.getpid() != self._process:
            raise StoreLockedError(
                f"this memory was opened by process {self._process}, of which this one is a fork:"
                " open the store after forking, in one process, or talk to a running service"
            )
        return self._opened

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
        pair_judge: PairJudge | None = None,
        sentence_judge: SentenceJudge | None = None,
    ) -> Self:
        """Open the store in `data_dir`, creating it if need be, and resume unfinished work.

        Each part can be replaced; the defaults come from `settings`, and those from the environment
        and `semantic_memory.toml`.

        Other processes can't use it meanwhile; `connect` lets them. With the URL of a PostgreSQL
        database in place of `data_dir`, `postgresql://user@host/database?schema=name`, any number
        of processes may have it open.

        Raises StoreLockedError if another process has it open, EmbedderMismatchError if it was
        embedded with another model, LedgerBehindError if the ledger is older than it was,
        StoreUnavailableError if it can't be written.
        """
        from semantic_memory.bootstrap import Parts, build
        from semantic_memory.settings import located

        parts = Parts(
            embedder,
            extractor,
            index,
            token_counter,
            clock,
            observer,
            pair_judge,
            sentence_judge,
        )
        return cls(build(located(data_dir, settings), parts))

    @classmethod
    def connect(
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
        pair_judge: PairJudge | None = None,
        sentence_judge: SentenceJudge | None = None,
    ) -> Client:
        """Return a client of the store in `data_dir`, which other processes use at the same time.

        One of them has it open and serves it on a local socket: this one if no other does, with
        these parts, and as soon as that one ends. Settings that are given must be those of the
        owner. Sharing needs `pip install 'semantic-memory[service]'`.

        Raises StoreLockedError if a process has it open that doesn't share it or is of another
        version, ConfigurationError if it has other settings, and what `open` raises.
        """
        from semantic_memory.bootstrap import Parts
        from semantic_memory.entrypoints.shared import connect
        from semantic_memory.settings import located

        parts = Parts(
            embedder,
            extractor,
            index,
            token_counter,
            clock,
            observer,
            pair_judge,
            sentence_judge,
        )
        return connect(located(data_dir, settings), parts)

    @classmethod
    def reembed(
        cls,
        data_dir: str | Path | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Embed every memory of a store anew with the configured model; return their number.

        If it is interrupted, the next opening resumes it.
        """
        from semantic_memory.bootstrap import Parts, build
        from semantic_memory.settings import located

        parts = Parts(embedder=embedder)
        with closing(build(located(data_dir, settings), parts, reembedding=True)) as use_cases:
            return use_cases.maintenance.embed(progress)

    @classmethod
    def recover(
        cls,
        data_dir: str | Path | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        index: VectorIndex | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Go on with a ledger that is older than it was, or gone; return the number of memories.

        Reads the session logs again, forgets again what they know as forgotten, and fills the index
        anew. What the logs don't have is lost: facts, edits and deletions of facts that were made
        without a message since then.
        """
        from semantic_memory.bootstrap import Parts, build
        from semantic_memory.settings import located

        parts = Parts(embedder=embedder, index=index)
        with closing(build(located(data_dir, settings), parts, recovering=True)) as use_cases:
            return use_cases.maintenance.take_in(progress)

    @property
    def settings(self) -> Settings:
        """The settings of the store."""
        return self._use_cases.settings

    @property
    def inspection(self) -> Inspection:
        """The use cases of those who look into the store, such as its dashboard."""
        return self._use_cases.inspection

    @property
    def items(self) -> Items:
        """The items: JSON values under exact keys, beside the facts."""
        return Items(lambda: self._use_cases.items)

    @property
    def beliefs(self) -> Beliefs:
        """The review of what newer statements ended, or perhaps changed."""
        return Beliefs(lambda: self._use_cases.review)

    # ---------------------------------------------------------------- taking in

    def observe(
        self,
        messages: Iterable[MessageLike],
        *,
        user_id: str,
        session_id: str,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Receipt:
        """Take in messages of a conversation. They are on disk when this returns.

        A message is a `Message`, or one of OpenAI's or Anthropic's APIs, as a mapping or an object
        of their libraries: texts are joined, images and files leave a placeholder, tool results
        become messages of role `tool`, tool calls and thinking are left out.

        Each becomes a memory of category `conversation` moments later; facts are extracted from
        them once the session has gone quiet, or by `flush`. A message whose id the session already
        has is skipped. With `agent_id` or `run_id`, the messages and what is extracted from them
        belong to that agent or run, as for `add`; a message may name its own.

        Raises InvalidInputError if an id is used for another text, SessionClosedError if the
        session was closed, StoreUnavailableError if the disk refuses; nothing of the call is kept
        then.
        """
        asked = ObserveRequest.of(
            messages, user_id=user_id, session_id=session_id, agent_id=agent_id, run_id=run_id
        )
        return self._use_cases.conversations.observe(asked)

    def add(
        self,
        content: str,
        *,
        user_id: str,
        agent_id: str | None = None,
        run_id: str | None = None,
        category: Category | str = fields.DEFAULT_CATEGORY,
        confidence: float = fields.CONFIDENCE.default,
        importance: float = fields.IMPORTANCE.default,
        tags: Sequence[str] = (),
        references: Sequence[str] = (),
        metadata: Mapping[str, JsonValue] | None = None,
        created_at: datetime | None = None,
        expires_at: datetime | None = None,
        body: Body | Mapping[str, Any] | None = None,
        trust: Trust | str = Trust.USER,
    ) -> Fact:
        """Add one fact. It is on disk, and found by the next search, when this returns.

        A known fact is confirmed instead: its confidence rises a little, and it is returned. From
        `expires_at` on, the fact is in no answer; the job `expiry` erases it, unless it is pinned
        with the tag `pinned`. A `body` holds a decision, reference or procedure in fields; it is
        searched and shown with the content. Say less with `trust` for what isn't the user's or the
        application's own knowledge: it can't end what is trusted more.

        A fact with `agent_id` or `run_id` belongs to that agent of the user, or to that run;
        without them it is shared. Facts of different scopes are never one, and neither ends the
        other.
        """
        asked = AddRequest.of(
            content,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            category=category,
            confidence=confidence,
            importance=importance,
            tags=tags,
            references=references,
            metadata=metadata,
            created_at=created_at,
            expires_at=expires_at,
            body=body,
            trust=trust,
        )
        return self._use_cases.edits.add(asked)

    def add_many(
        self,
        items: Iterable[Mapping[str, Any]],
        *,
        user_id: str,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Facts:
        """Add facts in one transaction; each item holds the arguments of `add`, save the user.

        `agent_id` and `run_id` are those of the items that name none.

        Returns the memory that says each, in order. Raises InvalidInputError that names the item;
        nothing is added then.
        """
        asked = AddManyRequest.of(items, user_id=user_id, agent_id=agent_id, run_id=run_id)
        return self._use_cases.edits.add_many(asked)

    def flush(self, progress: Progress | None = None) -> None:
        """Wait until everything observed is extracted and indexed.

        Raises ProviderError if a model couldn't be reached; nothing is lost, and the rest is done.
        """
        self._use_cases.maintenance.flush(progress)

    # ---------------------------------------------------------------- recalling

    def search(
        self,
        query: str,
        *,
        user_id: str,
        agent_id: str | None = None,
        run_id: str | None = None,
        spaces: Iterable[str] = (),
        k: int = fields.HITS.default,
        filters: FilterLike = None,
        as_of: datetime | None = None,
        min_score: float = fields.LEAST_SCORE.default,
    ) -> Hits:
        """Return the user's `k` best memories for `query`, best first, with their scores' parts.

        `filters` is a `Filters`, a mapping of its fields, or a query in text form, like
        `tag:work.* -tag:old since:"last month" "web apps" auth*`; unknown keys are errors. `as_of`
        searches the memories that were believed then. Hits below `min_score` are left out; what
        score is good depends on the embedder, so look at a few first.

        All memories of the user are searched, whichever agent they belong to. With `agent_id`, only
        that agent's and the shared ones; with `run_id`, only that run's and those of no run.

        `spaces` are further users, such as a team, whose memories are ranked among the user's; the
        `space` of such a hit names its owner.
        """
        asked = SearchRequest.of(
            query,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            spaces=spaces,
            k=k,
            filters=filters,
            as_of=as_of,
            min_score=min_score,
        )
        return self._use_cases.recall.search(asked)

    def context(
        self,
        query: str,
        *,
        user_id: str,
        agent_id: str | None = None,
        run_id: str | None = None,
        spaces: Iterable[str] = (),
        budget: int = fields.BUDGET.default,
        filters: FilterLike = None,
        as_of: datetime | None = None,
        memory_files: bool = False,
        min_trust: Trust | str | None = None,
    ) -> Context:
        """Pack a block for a prompt, at most `budget` tokens: profile, history, facts, messages.

        The count is exact for the model in the settings. Memories that match but don't fit are
        counted; unrelated ones are left out, save facts of great importance. With `memory_files`,
        the text begins with AGENT.md, MEMORY.md and .agent-context.md, within the budget.
        `min_trust` leaves out what is trusted less: "agent" all that no one vouches for. `agent_id`
        and `run_id` as in `search`. Memories of `spaces` compete for the same budget, and say whose
        they are; profile, history and facts of great importance are the user's alone.
        """
        asked = ContextRequest.of(
            query,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            spaces=spaces,
            budget=budget,
            filters=filters,
            as_of=as_of,
            memory_files=memory_files,
            min_trust=min_trust,
        )
        return self._use_cases.recall.context(asked)

    def session(
        self,
        *,
        user_id: str,
        session_id: str,
        agent_id: str | None = None,
        run_id: str | None = None,
        system_prompt: str = "",
        model: str | None = None,
        window: int | None = None,
        form: Form | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
        summarizer: Summarizer | None = None,
        memory_directories: Sequence[Path] | None = None,
    ) -> Session:
        """Open a conversation with a model, which fits its messages into the model's window.

        `model` decides how tokens are counted, how long the window is and which API's messages it
        takes; `window` and `form` override that. `summarizer` replaces that of the settings for
        messages that leave the window. Memory files are read from `memory_directories`,
        by default those of the settings. With `agent_id` or `run_id` it observes and recalls as
        that agent and in that run. A session that is opened again continues where it was. Raises
        ConfigurationError, and SessionClosedError after `close_session`.
        """
        asked = OpenSessionRequest.of(
            user_id=user_id, session_id=session_id, agent_id=agent_id, run_id=run_id
        )
        return self._use_cases.open_session.open(
            asked.key,
            scope=asked.scope,
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
        """Return a memory by its id. Raises NotFoundError, also for a deleted one.

        With `user_id`, here and below, also for a memory of another user.
        """
        return self._use_cases.lookup.get(GetRequest.of(fact_id, user_id=user_id))

    def list(
        self,
        *,
        user_id: str,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: FilterLike = None,
        status: Status | str | None = None,
        limit: int | None = fields.PAGE.default,
        after: str | None = None,
        sort: fields.Sort = "time",
    ) -> Page:
        """Return a user's memories, newest first unless `sort` or the filters' sort say otherwise.

        The `next` of a page as `after` gives the page behind it, which repeats and skips no memory,
        whatever is written meanwhile; the id of a memory continues from where it is now. Relevance
        is as the hourly sweep left it. With `agent_id` or `run_id`, only memories of that agent or
        run.

        `status` lists those that are active, superseded, quarantined, archived or forgotten,
        instead of those believed now. Of a forgotten one it shows id, times and `tombstone`: when,
        why and with which API key it was forgotten, and never a text. Without a `limit` all are
        returned.
        """
        asked = ListRequest.of(
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            filters=filters,
            status=status,
            limit=limit,
            after=after,
            sort=sort,
        )
        return self._use_cases.lookup.find(asked)

    def tags(self, *, user_id: str) -> TagCounts:
        """Return the tags of a user's memories, by name, each with the number that have it.

        Memories count for the topics above their tags too: `work` has those of `work.deadlines`.
        """
        return self._use_cases.lookup.tags(TagsRequest.of(user_id=user_id))

    def explain(self, fact_id: str, *, user_id: str | None = None) -> Explanation:
        """Return a memory's retention, and the memories it replaced or that replaced it.

        Raises NotFoundError.
        """
        return self._use_cases.explain.explain(ExplainRequest.of(fact_id, user_id=user_id))

    def layout(self, *, user_id: str, limit: int = fields.POINTS.default) -> Layout:
        """Lay a user's memories out in two dimensions, near in meaning near in place.

        The newest `limit` of those believed, facts before messages.
        """
        return self._use_cases.map.layout(LayoutRequest.of(user_id=user_id, limit=limit))

    def update(
        self, fact_id: str, *, user_id: str | None = None, reason: str = "", **changes: Any
    ) -> Fact:
        """Change a memory: the fields that `add` takes, save `created_at`.

        A field that is None stays; `expires_at="never"` lifts the expiry. The state before stays in
        the history, and a replaced content goes on answering questions `as_of` a time before now.
        Raises NotFoundError.
        """
        asked = UpdateRequest.of(fact_id, user_id=user_id, reason=reason, **changes)
        return self._use_cases.edits.update(asked)

    def delete(
        self,
        fact_id: str,
        *,
        user_id: str | None = None,
        keep_source: bool = False,
        reason: str = "",
    ) -> None:
        """Delete a memory for good: no answer holds it any more. Raises NotFoundError.

        A fact takes along the sentences that it was drawn from, unless another fact needs them; the
        message keeps what else it said. A message takes the facts that nothing else says. Both take
        the lines of the profile that rest on them. With `keep_source`, only the memory goes.
        """
        asked = DeleteRequest.of(fact_id, user_id=user_id, keep_source=keep_source, reason=reason)
        self._use_cases.edits.delete(asked)

    def restore(self, fact_id: str, *, user_id: str | None = None, reason: str = "") -> Fact:
        """Restore a memory that was superseded, archived or quarantined.

        Raises NotFoundError, also for a deleted one.
        """
        asked = RestoreRequest.of(fact_id, user_id=user_id, reason=reason)
        return self._use_cases.edits.restore(asked)

    def history(self, fact_id: str, *, user_id: str | None = None) -> Versions:
        """Return every state of a memory, oldest first, also of a deleted one.

        Raises NotFoundError.
        """
        return self._use_cases.lookup.history(HistoryRequest.of(fact_id, user_id=user_id))

    def audit(
        self, *, user_id: str, memory_id: str | None = None, limit: int = fields.RECORDS.default
    ) -> Records:
        """Return which memories entered the user's prompts, the latest block first.

        Each with time, session, API key, and for each memory why it was there and its score; no
        texts. Of the latest `context.audit` blocks; of those with `memory_id`, if that is given.
        """
        asked = AuditRequest.of(user_id=user_id, memory_id=memory_id, limit=limit)
        return self._use_cases.trail.audit(asked)

    # ---------------------------------------------------------------- profile and history

    def profile(
        self, *, user_id: str, as_of: datetime | None = None, agent_id: str | None = None
    ) -> Overview:
        """Return a user's profile and history, now or as they stood at `as_of`.

        They follow new messages and facts moments later. With `agent_id`, only what rests on the
        memories of that agent and on shared ones.
        """
        asked = ProfileRequest.of(user_id=user_id, as_of=as_of, agent_id=agent_id)
        return self._use_cases.profiles.get(asked)

    def update_profile(self, fields: Mapping[str, str | None], *, user_id: str) -> Overview:
        """Write fields of a profile by hand, like `work_context` or `diet`.

        A written text stays until it is written again; None returns a field to the text derived
        from facts.
        """
        return self._use_cases.profiles.update(UpdateProfileRequest.of(fields, user_id=user_id))

    def profile_history(self, field: str, *, user_id: str) -> Lines:
        """Return the texts that a field of a profile has had, in order."""
        return self._use_cases.profiles.history(ProfileHistoryRequest.of(field, user_id=user_id))

    # ---------------------------------------------------------------- sessions and users

    def sessions(self, *, user_id: str, agent_id: str | None = None) -> Sessions:
        """Return a user's sessions, the one with the latest message first.

        With `agent_id`, those of that agent alone: all of their messages are its, and they were
        created by `observe` or for it. Their logs are read for that.
        """
        asked = SessionsRequest.of(user_id=user_id, agent_id=agent_id)
        return self._use_cases.conversations.sessions(asked)

    def create_session(
        self,
        *,
        user_id: str,
        session_id: str | None = None,
        agent_id: str | None = None,
        extract: bool | None = None,
        fades: bool | None = None,
        compact: bool | None = None,
        half_life_days: Mapping[Category, float] | None = None,
        floor: float | None = None,
        language: str | None = None,
        verbosity: Verbosity | None = None,
    ) -> SessionInfo:
        """Create a session without messages, with the options of `configure_session`.

        With `agent_id`, it is that agent's as long as nobody else's messages are in it.
        `observe` creates a session too, with its first message. Raises SessionExistsError if there
        is one of this id.
        """
        asked = CreateSessionRequest.of(
            user_id=user_id,
            session_id=session_id,
            agent_id=agent_id,
            extract=extract,
            fades=fades,
            compact=compact,
            half_life_days=half_life_days,
            floor=floor,
            language=language,
            verbosity=verbosity,
        )
        return self._use_cases.conversations.create(asked)

    def load_session(
        self, *, user_id: str, session_id: str, agent_id: str | None = None
    ) -> SessionInfo:
        """Return a session with its statistics and options, and open it again if it was closed.

        Raises NotFoundError if there is none; with `agent_id`, also if it isn't one of that agent
        alone.
        """
        asked = LoadSessionRequest.of(user_id=user_id, session_id=session_id, agent_id=agent_id)
        return self._use_cases.conversations.load(asked)

    def close_session(
        self, *, user_id: str, session_id: str, agent_id: str | None = None
    ) -> SessionInfo:
        """Close a session: extract its facts, and refuse further messages until `load_session`.

        If a model can't be reached, the facts are extracted later. Raises NotFoundError if there is
        no such session, with `agent_id` as in `load_session`.
        """
        asked = CloseSessionRequest.of(user_id=user_id, session_id=session_id, agent_id=agent_id)
        return self._use_cases.conversations.close(asked)

    def configure_session(
        self,
        *,
        user_id: str,
        session_id: str,
        agent_id: str | None = None,
        extract: bool | None = None,
        fades: bool | None = None,
        compact: bool | None = None,
        half_life_days: Mapping[Category, float] | None = None,
        floor: float | None = None,
        language: str | None = None,
        verbosity: Verbosity | None = None,
    ) -> SessionOptions:
        """Override the options of a session from now on; an option that isn't given stays.

        With `extract` off, no facts are extracted from the messages said until it is on again; they
        are kept and found all the same. With `fades` off, the session's facts are pinned. With
        `compact` off, its window and log are never shortened. `half_life_days` and `floor` replace
        those of the settings in ranking. `language` and `verbosity` become part of the system
        prompt of `session`. A session can be configured before its first message. Returns the
        options that hold now. `agent_id` as in `load_session`.
        """
        asked = ConfigureSessionRequest.of(
            user_id=user_id,
            session_id=session_id,
            agent_id=agent_id,
            extract=extract,
            fades=fades,
            compact=compact,
            half_life_days=half_life_days,
            floor=floor,
            language=language,
            verbosity=verbosity,
        )
        return self._use_cases.conversations.configure(asked)

    def messages(
        self,
        *,
        user_id: str,
        session_id: str,
        agent_id: str | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> Messages:
        """Return a session's messages in order, without the forgotten ones.

        With `newest`, the latest comes first. `limit` returns the first ones of that order: with
        `newest`, the last page of the conversation. With `agent_id`, only that agent's messages and
        the shared ones.

        Raises NotFoundError if there is none.
        """
        asked = MessagesRequest.of(
            user_id=user_id,
            session_id=session_id,
            agent_id=agent_id,
            limit=limit,
            newest=newest,
        )
        return self._use_cases.conversations.messages(asked)

    def pop(
        self,
        *,
        user_id: str,
        session_id: str,
        message_id: str | None = None,
        agent_id: str | None = None,
    ) -> Message:
        """Take back the latest message of a session, or another of it, and return it.

        It is erased for good, with the facts that nothing else says; what it alone had superseded
        is current again. Messages that were just observed can be taken back too, before anything
        is extracted from them. With `agent_id`, only a message of that agent.

        Raises NotFoundError if there is none.
        """
        asked = PopRequest.of(
            user_id=user_id, session_id=session_id, message_id=message_id, agent_id=agent_id
        )
        return self._use_cases.conversations.pop(asked)

    def forget(
        self,
        *,
        user_id: str,
        entity: str | None = None,
        query: str | None = None,
        tag: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        source: str | None = None,
        filters: FilterLike = None,
        everything: bool = False,
        keep_source: bool = False,
        withdraw: bool = False,
        dry_run: bool = False,
        proof: bool = False,
        now: bool = False,
        force: bool = False,
        reason: str = "",
    ) -> Forgotten:
        """Forget what meets all conditions, or, with `everything` alone, all of a user's memory.

        `entity` names a person, place or thing, `query` a subject, like "Anna's divorce": facts
        that name it or are about it go, and of messages the sentences that do. "where I live"
        leaves the homes of others, and "my job", "health" or "money" take all that the user said of
        it. Without `force`, an entity that is a common word is refused, and what takes more than a
        third of the user's memories; a dry run says so as `warning`. Profile fields and items that
        were written by hand stay, and are listed as `kept_in`.

        `agent_id` and `run_id` take only what is of that agent or run, not what is shared.

        `source` rolls back what came from one source alone: "session:ID", "speaker:NAME",
        "role:tool", "extractor:NAME" or "trust:LEVEL"; facts that it retired are current again,
        unless others retired them too. With `withdraw`, its memories are quarantined instead, and
        `restore` brings them back; facts still to be extracted are extracted first.

        Memories of every status leave all answers for good, and leave tombstones with the reason. A
        session or user that is forgotten as a whole also loses its session logs, windows and
        checkpoints. As with `delete`, facts go with the sentences that they were drawn from, and
        messages with the facts that nothing else says, unless `keep_source`. Returns the number of
        memories forgotten, with the sentences that other messages lose as `sentences`; a dry run
        forgets nothing, and returns the newest 100 memories as `memories` too.

        With `now`, the texts are erased from all files before this returns, as the job `compact`
        does. With `proof`, every file of the data directory is searched for them as well; the
        outcome is `proof` of the result, with a receipt that `verify_receipt` takes.
        """
        asked = ForgetRequest.of(
            user_id=user_id,
            entity=entity,
            query=query,
            tag=tag,
            since=since,
            until=until,
            session_id=session_id,
            agent_id=agent_id,
            run_id=run_id,
            source=source,
            filters=filters,
            everything=everything,
            keep_source=keep_source,
            withdraw=withdraw,
            dry_run=dry_run,
            proof=proof,
            now=now,
            force=force,
            reason=reason,
        )
        return self._use_cases.forgetting.forget(asked)

    def verify_receipt(self, receipt: ForgetReceipt | Mapping[str, Any]) -> Verified:
        """Return whether this store issued a receipt, and whether what it names is still gone."""
        return self._use_cases.receipts.verify(VerifyRequest.of(receipt))

    def requests(self, *, user_id: str) -> Requests:
        """Return the user's requests to forget, said in conversations, the latest first.

        A request changes nothing until it is settled: by the application, or by the user's second
        clear word in the conversation.
        """
        return self._use_cases.asking.requests(RequestsRequest.of(user_id=user_id))

    def settle_request(
        self, request_id: str, *, user_id: str, answer: fields.Answer
    ) -> RequestToForget:
        """Settle a request to forget, which erases its subject; return it.

        The answer "forget" forgets what the request names, as `forget(query=subject)` or
        `forget(everything=True)` do; "done" says that the application has; "decline" that nothing
        is forgotten. `forget` with the same subject settles it too. A request that is settled stays
        as it is. Raises NotFoundError.
        """
        asked = SettleRequest.of(request_id, user_id=user_id, answer=answer)
        return self._use_cases.asking.settle(asked)

    def export(
        self,
        *,
        user_id: str,
        session_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: FilterLike = None,
    ) -> Iterator[Record]:
        """Yield a user's memory, one session's or what passes `filters`, as JSON-like records.

        Memories of every status, unless `filters` name some; with `agent_id` or `run_id`, only
        those of that agent or run. `load` reads the records.
        """
        asked = ExportRequest.of(
            user_id=user_id,
            session_id=session_id,
            agent_id=agent_id,
            run_id=run_id,
            filters=filters,
        )
        return self._use_cases.transfer.export(asked)

    def load(self, records: Iterable[Mapping[str, Any]], *, user_id: str) -> int:
        """Load records that `export` made, as memories of `user_id`; return the number of new ones.

        Loading them again adds nothing. Raises RecordRefusedError that names the record; those
        before it are kept.
        """
        return self._use_cases.transfer.load(LoadRequest.of(records, user_id=user_id))

    def to_dict(
        self,
        *,
        user_id: str,
        session_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Document:
        """Return a user's memory, or one session's, as one document that JSON can hold.

        `from_dict` reads it; `agent_id` and `run_id` as for `export`. Of a long memory, `export`
        yields one record after the other.
        """
        asked = ToDictRequest.of(
            user_id=user_id, session_id=session_id, agent_id=agent_id, run_id=run_id
        )
        return self._use_cases.transfer.to_dict(asked)

    def from_dict(self, document: Mapping[str, Any], *, user_id: str) -> int:
        """Load a document that `to_dict` made, as memories of `user_id`; as `load` does.

        Returns the number of new memories. Raises InvalidInputError that names the wrong part.
        """
        return self._use_cases.transfer.from_dict(FromDictRequest.of(document, user_id=user_id))

    # ---------------------------------------------------------------- what changed

    def events(
        self,
        *,
        after: int | Literal["now"] = 0,
        user_id: str | None = None,
        kinds: Sequence[EventKind | str] = (),
        limit: int = fields.EVENTS.default,
    ) -> EventPage:
        """Return what changed in the memory, in its order: ids, kinds and actions, and no texts.

        Kinds are observed, added, updated, superseded, forgotten and extracted. The `next` of the
        page as `after` continues behind it, also after a restart; a page without events is the end.
        With `after="now"` it holds none, and `next` is where later ones begin. Raises
        InvalidInputError for an `after` that this store hasn't reached.
        """
        asked = EventsRequest.of(after=after, user_id=user_id, kinds=kinds, limit=limit)
        return self._use_cases.feed.events(asked)

    def subscribe(
        self,
        *,
        after: int | Literal["now"] = NOW,
        user_id: str | None = None,
        kinds: Sequence[EventKind | str] = (),
    ) -> Subscription:
        """Follow what changes in the memory: an iterator that waits for the next event.

        Begins with the call, or behind the event `after`: the `id` of the last one that was dealt
        with, for a reader that was away. Ends when it or the memory is closed; it is a context
        manager. Nothing is lost however slowly it is read, as the events wait in the ledger.
        """
        asked = SubscribeRequest.of(after=after, user_id=user_id, kinds=kinds)
        return self._use_cases.feed.subscribe(asked)

    # ---------------------------------------------------------------- upkeep

    def users(self) -> Names:
        """Return every user with a memory."""
        return self._use_cases.statistics.users()

    def stats(self) -> Stats:
        """Count the contents of the store."""
        return self._use_cases.statistics.stats()

    def check(self) -> Findings:
        """Check the store from end to end, with a remedy for each problem."""
        return self._use_cases.doctor.check()

    def maintain(
        self,
        jobs: Sequence[str] = (fields.ALL_JOBS,),
        *,
        user_id: str | None = None,
        dry_run: bool = False,
    ) -> Runs:
        """Run maintenance jobs now: those of `semantic_memory.domain.fields.JOBS`, or all.

        A dry run reports the changes without making them.
        """
        asked = MaintainRequest.of(jobs, user_id=user_id, dry_run=dry_run)
        return self._use_cases.maintenance.maintain(asked)

    def runs(self, limit: int = fields.RUNS.default) -> Runs:
        """Return the latest runs of maintenance jobs, the latest first."""
        return self._use_cases.maintenance.runs(RunsRequest.of(limit))

    def rebuild(self, progress: Progress | None = None) -> int:
        """Fill the vector index anew from the ledger, embedding nothing; return its size."""
        return self._use_cases.maintenance.rebuild(progress)

    def close(self) -> None:
        """Finish the step under way and release the directory.

        The next opening resumes unfinished work; nothing is lost. In a forked child it does
        nothing, as the directory is the parent's.
        """
        if os.getpid() == self._process:
            self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
