"""Requests about a whole store, and about moving a user's memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, Field, SkipValidation, StrictBool

from semantic_memory.domain import fields
from semantic_memory.domain.fields import ALL_JOBS, JOBS, ON_DEMAND
from semantic_memory.domain.filters import FilterLike, Filters, FiltersField
from semantic_memory.domain.reports import ForgetReceipt
from semantic_memory.domain.requests.base import OfUser, Request, Watched, example, number, several
from semantic_memory.domain.scope import Scope
from semantic_memory.domain.values import Count, Identifier


class _Exported(OfUser):
    session_id: Identifier | None = Field(None, description=fields.OF_SESSION)
    agent_id: Identifier | None = Field(None, description=fields.OF_AGENT)
    run_id: Identifier | None = Field(None, description=fields.OF_RUN)


class ExportRequest(_Exported):
    """Yield a user's memory, one session's or what passes `filters`, as JSON-like records.

    Memories of every status, unless `filters` name some; with `agent_id` or `run_id`, only
    those of that agent or run. `transfer.load` reads the records.
    """

    verb: ClassVar[str] = "transfer.export"

    filters: FiltersField = Field(Filters(), description=fields.FILTERS)

    @classmethod
    def of(
        cls,
        *,
        user_id: str,
        session_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: FilterLike = None,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        found = Filters.of(filters)
        found.unordered(cls.verb)
        asked = cls.parsed(
            user_id=user_id, session_id=session_id, agent_id=agent_id, run_id=run_id, filters=found
        )
        asked.joined()
        return asked

    def joined(self) -> Filters:
        """Return all conditions as filters. Raises InvalidInputError for one given twice."""
        own = Scope(self.agent_id, self.run_id).own
        return Filters.joined(self.filters, {"session_id": self.session_id, **own})


class LoadRequest(OfUser):
    """Load records that `export` made, as memories of `user_id`; return the number of new ones.

    Ids are kept where they are free; `renamed` of the result has the others, each with the id in
    its place. Loading them again adds nothing. Raises RecordRefusedError that names the record;
    those before it are kept.
    """

    verb: ClassVar[str] = "transfer.load"

    records: SkipValidation[Iterable[Mapping[str, Any]]] = Field(exclude=True)
    """May be of any number: each is checked when it is loaded."""

    @classmethod
    def of(cls, records: Iterable[Mapping[str, Any]], *, user_id: str) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(records=several(records, f"{cls.verb}: records"), user_id=user_id)


class ToDictRequest(_Exported):
    """Return a user's memory, or one session's, as one document that JSON can hold.

    `from_dict` reads it; `agent_id` and `run_id` as for `export`. Of a long memory, `export`
    yields one record after the other.
    """

    verb: ClassVar[str] = "transfer.to_dict"

    @classmethod
    def of(
        cls,
        *,
        user_id: str,
        session_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id, session_id=session_id, agent_id=agent_id, run_id=run_id)


class FromDictRequest(OfUser):
    """Load a document that `to_dict` made, as memories of `user_id`; as `load` does.

    Returns the number of new memories, with `renamed` as `load`. Raises InvalidInputError that
    names the wrong part.
    """

    verb: ClassVar[str] = "transfer.from_dict"

    document: Mapping[str, Any]
    """Checked when it is loaded."""

    @classmethod
    def of(cls, document: Mapping[str, Any], *, user_id: str) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(document=document, user_id=user_id)


class UsersRequest(Request):
    """List the users with a memory."""

    verb: ClassVar[str] = "admin.users"


class IdsRequest(Request):
    """Return the ids of memories that begin with `prefix`, at most ten, in their order.

    Those of deleted memories too; without `user_id`, those of all users.
    """

    verb: ClassVar[str] = "admin.ids"

    prefix: Identifier = Field(description=fields.PREFIX)
    user_id: Identifier | None = Field(None, description=fields.ONE_USER)

    @classmethod
    def of(cls, prefix: str, *, user_id: str | None = None) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(prefix=prefix, user_id=user_id)


class StatsRequest(Request):
    """Count the contents of the store."""

    verb: ClassVar[str] = "admin.stats"


class CheckRequest(Request):
    """Check the store from end to end, with a remedy for each problem."""

    verb: ClassVar[str] = "admin.check"


def _known(name: str) -> str:
    if name not in (*JOBS, *ON_DEMAND, ALL_JOBS):
        raise ValueError(f"must be {', '.join((*JOBS, *ON_DEMAND))} or {ALL_JOBS}")
    return name


JobName = Annotated[
    str, AfterValidator(_known), Field(json_schema_extra={"enum": [*JOBS, *ON_DEMAND, ALL_JOBS]})
]


class MaintainRequest(Request):
    """Run maintenance jobs now: those of `semantic_memory.domain.fields.JOBS`, or all.

    A dry run reports the changes without making them.
    """

    verb: ClassVar[str] = "jobs.run"
    model_config = example(jobs=["dedup", "decay"], dry_run=True)

    jobs: list[JobName] = Field(
        default=[ALL_JOBS],
        min_length=1,
        max_length=len(JOBS) + len(ON_DEMAND) + 1,
        description=fields.JOB_NAMES,
    )
    user_id: Identifier | None = Field(None, description=fields.ONE_USER)
    dry_run: StrictBool = Field(False, description=fields.DRY_RUN)

    @classmethod
    def of(
        cls, jobs: Sequence[str] = (ALL_JOBS,), *, user_id: str | None = None, dry_run: bool = False
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(
            jobs=[*several(jobs, f"{cls.verb}: jobs")], user_id=user_id, dry_run=dry_run
        )


class VerifyRequest(Request):
    """Return whether this store issued a receipt, and whether what it names is still gone."""

    verb: ClassVar[str] = "admin.verify_receipt"

    receipt: ForgetReceipt = Field(description=fields.RECEIPT)

    @classmethod
    def of(cls, receipt: ForgetReceipt | Mapping[str, Any]) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(receipt=receipt)


class RunsRequest(Request):
    """Return the latest runs of maintenance jobs, the latest first.

    A run under way comes first, with the number of users done and left.
    """

    verb: ClassVar[str] = "jobs.runs"

    limit: Count = number(fields.RUNS)

    @classmethod
    def of(cls, limit: int = fields.RUNS.default) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(limit=limit)


class AuditRequest(OfUser):
    """Return which memories entered the user's prompts, the latest block first.

    Each with time, session, API key, and for each memory why it was there and its score; no
    texts. Of the latest `context.audit` blocks; of those with `memory_id`, if that is given.
    """

    verb: ClassVar[str] = "history.audit"

    memory_id: Identifier | None = Field(None, description=fields.WITH_MEMORY)
    limit: Count = number(fields.RECORDS)

    @classmethod
    def of(
        cls, *, user_id: str, memory_id: str | None = None, limit: int = fields.RECORDS.default
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id, memory_id=memory_id, limit=limit)


class RebuildRequest(Watched):
    """Fill the vector index again from the ledger, embedding nothing."""

    verb: ClassVar[str] = "admin.rebuild"
