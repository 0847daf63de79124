"""The memory that agents call: eleven verbs, and groups of everything else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypedDict, Unpack

from semantic_memory.domain.closing import Closing
from semantic_memory.domain.errors import StoreLockedError
from semantic_memory.domain.requests import (
    AddRequest,
    ContextRequest,
    DeleteRequest,
    ForgetRequest,
    GetRequest,
    ListRequest,
    ObserveRequest,
    SearchRequest,
    UpdateRequest,
)
from semantic_memory.groups.admin import Admin
from semantic_memory.groups.binding import verb
from semantic_memory.groups.events import Events
from semantic_memory.groups.history import History
from semantic_memory.groups.items import Items
from semantic_memory.groups.jobs import Jobs
from semantic_memory.groups.profile import Profiles
from semantic_memory.groups.sessions import Sessions
from semantic_memory.groups.transfer import Transfers

if TYPE_CHECKING:  # loaded by `open`, so that importing the facade loads none of the parts
    from pydantic import BaseModel

    from semantic_memory.bootstrap import UseCases
    from semantic_memory.client import Client
    from semantic_memory.domain.ports import (
        Clock,
        Embedder,
        Extractor,
        Observer,
        Progress,
        TokenCounter,
        VectorIndex,
    )
    from semantic_memory.judging.ports import PairJudge, SentenceJudge
    from semantic_memory.settings import Settings


class PartsGiven(TypedDict, total=False):
    """Parts of a store that replace the defaults; None keeps the default."""

    embedder: Embedder | None
    extractor: Extractor | None
    index: VectorIndex | None
    token_counter: TokenCounter | None
    clock: Clock | None
    observer: Observer | None
    pair_judge: PairJudge | None
    sentence_judge: SentenceJudge | None
    types: Sequence[type[BaseModel]]


class SemanticMemory(Closing):
    """The memory of an agent's users, in one directory that this process owns, or in a database.

    Thread-safe. Open it with `SemanticMemory.open`, close it with `close` or as a context manager.
    Every method raises InvalidInputError for a value that it can't use, and changes nothing then.
    Arguments are defined and documented by the request types of `semantic_memory.domain.requests`.
    """

    def __init__(self, use_cases: UseCases) -> None:
        self._opened = use_cases
        self._process = os.getpid()

    def _parts(self) -> UseCases:
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
        **parts: Unpack[PartsGiven],
    ) -> Self:
        """Open the store in `data_dir`, creating it if necessary, and resume unfinished work.

        Each part in `PartsGiven` can be replaced; the defaults come from `settings`, and those from
        the environment and `semantic_memory.toml`. A language model that extracts also fills values
        of `types`, pydantic models, where the messages state them; see `Fact.typed`.

        Other processes can't use it meanwhile; `connect` lets them. With the URL of a PostgreSQL
        database in place of `data_dir`, `postgresql://user@host/database?schema=name`, any number
        of processes may have it open.

        Raises StoreLockedError if another process has it open, EmbedderMismatchError if it was
        embedded with another model, LedgerBehindError if the ledger is outdated,
        StoreUnavailableError if it can't be written.
        """
        from semantic_memory.bootstrap import Parts, build
        from semantic_memory.settings import located

        return cls(build(located(data_dir, settings), Parts(**parts)))

    @classmethod
    def connect(
        cls,
        data_dir: str | Path | None = None,
        *,
        settings: Settings | None = None,
        **parts: Unpack[PartsGiven],
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

        return connect(located(data_dir, settings), Parts(**parts))

    observe = verb(ObserveRequest.of, lambda use: use.conversations.observe)
    add = verb(AddRequest.of, lambda use: use.edits.add)
    search = verb(SearchRequest.of, lambda use: use.recall.search)
    context = verb(ContextRequest.of, lambda use: use.recall.context)
    get = verb(GetRequest.of, lambda use: use.lookup.get)
    list = verb(ListRequest.of, lambda use: use.lookup.find)
    update = verb(UpdateRequest.of, lambda use: use.edits.update)
    delete = verb(DeleteRequest.of, lambda use: use.edits.delete)
    forget = verb(ForgetRequest.of, lambda use: use.forgetting.forget)

    def flush(self, progress: Progress | None = None) -> None:
        """Wait until everything observed is extracted and indexed.

        Raises ProviderError if a model couldn't be reached; nothing is lost, and the rest is done.
        """
        self._parts().maintenance.flush(progress)

    def close(self) -> None:
        """Finish the step under way and release the directory.

        The next opening resumes unfinished work; nothing is lost. In a forked child it does
        nothing, as the directory is the parent's.
        """
        if os.getpid() == self._process:
            self._opened.close()

    @property
    def sessions(self) -> Sessions:
        """The sessions of users: options, messages, a model's window."""
        return Sessions(self._parts)

    @property
    def profile(self) -> Profiles:
        """The profile of a user, and the topics of their memories."""
        return Profiles(self._parts)

    @property
    def history(self) -> History:
        """The versions of memories, and the review of changes."""
        return History(self._parts)

    @property
    def transfer(self) -> Transfers:
        """Many memories at once: export, load, add."""
        return Transfers(self._parts)

    @property
    def events(self) -> Events:
        """The feed of changes, in their order."""
        return Events(self._parts)

    @property
    def jobs(self) -> Jobs:
        """Maintenance jobs."""
        return Jobs(self._parts)

    @property
    def admin(self) -> Admin:
        """The store as a whole, for its operator."""
        return Admin(self._parts)

    @property
    def items(self) -> Items:
        """JSON values under exact keys, beside the facts."""
        return Items(self._parts)
