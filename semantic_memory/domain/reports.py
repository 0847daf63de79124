"""Reports about a store: statistics, checks, runs of jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self

from pydantic import Field

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.values import Count, Identifier, Timestamp, Value


class Trace(Value):
    """A file in which texts that were forgotten were found."""

    file: str
    """Path below the data directory."""
    stretches: int
    """Stretches of forgotten texts that no kept memory has; none if only words were found."""
    words: tuple[str, ...] = ()
    """Words of forgotten texts that no kept memory has; they may be words of the file's format."""


class ForgetReceipt(Value):
    """A record of what was forgotten, when, and where it was searched for; it holds no text."""

    user_id: Identifier
    at: Timestamp
    forgotten: tuple[Identifier, ...]
    """Ids of the memories that are gone."""
    cut: tuple[Identifier, ...]
    """Ids of the memories of messages that lost sentences."""
    texts: Count
    """Texts that were searched for, all versions included."""
    searched: Mapping[str, Count]
    """Number of files searched, by the first part of their path, or rows by table."""
    digest: str
    """HMAC-SHA256 of all this, by a key of the store."""


class Verified(Value):
    """Outcome of verifying a receipt."""

    issued: bool
    """True if this store issued the receipt, and nothing in it has been changed."""
    back: tuple[Identifier, ...]
    """Ids of memories that it names as forgotten, and that the store holds again."""

    @property
    def stands(self) -> bool:
        """True if the receipt is genuine and what it names is still gone."""
        return self.issued and not self.back


class Proof(Value):
    """Outcome of a search for the texts of what was forgotten, in every file of a store."""

    files: int
    bytes: int
    texts: int
    """Texts that were searched for: of all versions, with the sentences that messages lost."""
    found: tuple[Trace, ...]
    receipt: ForgetReceipt | None = None
    """The receipt to show and verify later; None if something was found."""


class Forgotten(int):
    """The number of memories forgotten, or that would be, with those of a dry run."""

    memories: tuple[Fact, ...]
    """The newest of those that a dry run would forget."""
    sentences: tuple[str, ...]
    """Those that messages lose which are kept."""
    proof: Proof | None
    """The outcome of a search for what was forgotten, if that was asked for."""
    items: int
    """The number of items that go with everything of the user."""
    warning: str
    """Why a dry run would be refused without `force`; empty if it wouldn't."""
    kept_in: tuple[str, ...]
    """Profile fields and items, written by hand, that hold the subject and stay."""

    def __new__(
        cls,
        number: int,
        memories: Iterable[Fact] = (),
        sentences: Iterable[str] = (),
        proof: Proof | None = None,
        items: int = 0,
        warning: str = "",
        kept_in: Iterable[str] = (),
    ) -> Self:
        """Make the number, with the memories of a dry run and the sentences of messages."""
        made = super().__new__(cls, number)
        made.memories = tuple(memories)
        made.sentences = tuple(sentences)
        made.proof = proof
        made.items = items
        made.warning = warning
        made.kept_in = tuple(kept_in)
        return made


class Loaded(int):
    """The number of memories that were new, with the ids that couldn't be kept."""

    renamed: Mapping[str, str]
    """Ids in the records that weren't free here, each with the id in its place."""

    def __new__(cls, number: int, renamed: Mapping[str, str] | None = None) -> Self:
        """Make the number, with the ids."""
        made = super().__new__(cls, number)
        made.renamed = dict(renamed or {})
        return made


class Spend(Value):
    """Cost of one user's calls of language models for one task, since the store began."""

    user_id: str
    """Empty for calls on behalf of no user, and for the sum of users who aren't listed."""
    task: str
    """`extraction`, `condensing`, `summary`, `beliefs`, ..."""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    """By the prices in the settings; calls of models without a price add nothing."""

    def plus(self, other: Spend) -> Spend:
        """Return the sum with another user's spending for the same task, with no user."""
        return Spend(
            user_id="",
            task=self.task,
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=self.cost_usd + other.cost_usd,
        )


class BudgetState(Value):
    """The amount that a task has spent today, UTC, of its daily budget."""

    task: str
    tokens: int
    most_tokens: int | None = None
    cost_usd: float
    most_usd: float | None = None
    reached_until: Timestamp | None = None
    """Time at which the budget begins again; None while some of it is left."""


class DeadLetter(Value):
    """An event that the endpoint of the webhook didn't take, and that was given up."""

    event_id: int
    """Number of the event in the feed."""
    error: str
    attempts: int
    at: Timestamp
    """The time of the last attempt."""


class WebhookState(Value):
    """State of the deliveries to the webhook."""

    delivered: int | None
    """The place behind what was delivered or given up; None before the first start."""
    latest: int
    """The number of the latest event."""
    disabled: bool
    """True since the endpoint answered 410: nothing is delivered until the job `redeliver`."""
    dead: tuple[DeadLetter, ...]
    """Events that were given up, oldest first."""


class Stats(Value):
    """Contents of a store in numbers."""

    users: int
    sessions: int
    memories: int
    by_category_and_status: Mapping[str, int]
    unembedded: int
    """Number of memories without vectors."""
    log_bytes: int
    store_bytes: int
    embedder: str
    deleted: int = 0
    """Number of memories that were deleted or forgotten."""
    corrupt_lines: int = 0
    """Number of lines of session logs that can't be read."""
    items: int = 0
    """Number of items: JSON values under exact keys."""
    spending: tuple[Spend, ...] = ()
    """Cost of language models by user and task, for the users who cost most."""
    budgets: tuple[BudgetState, ...] = ()
    """Daily budgets of tasks, and what is left of them."""
    webhook: WebhookState | None = None
    """The deliveries; None if there never was a webhook."""


class TagCount(Value):
    """A tag, and the number of a user's memories that a query for it finds."""

    tag: str
    memories: int
    """Memories with this tag or one below it."""


class JobRun(Value):
    """One run of an upkeep job, ended or under way."""

    job: str
    started_at: Timestamp
    seconds: float
    dry_run: bool = False
    running: bool = False
    """True while it is under way."""
    users: int
    """Number of users examined so far; of `compact`, of sessions, and one for the ledger."""
    total: int | None = None
    """Number to examine in all; None for a job, or a run of an earlier version, without it."""
    seconds_left: float | None = None
    """Estimated from the pace so far; None before the first user, and once the run has ended."""
    counts: Mapping[str, int] = Field(default_factory=dict)
    """Number of changes made, or planned by a dry run, by kind."""
    planned: tuple[str, ...] = ()
    """Changes planned by a dry run, each in words."""
    error: str | None = None


class Finding(Value):
    """Outcome of one check."""

    check: str
    ok: bool
    detail: str
    remedy: str = ""
