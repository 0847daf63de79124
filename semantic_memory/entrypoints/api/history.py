"""Routes of `memory.history`: versions of memories, and the review of changes."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from semantic_memory.domain.facts import Explanation, Fact
from semantic_memory.domain.forget_requests import RequestToForget
from semantic_memory.domain.requests import (
    AcceptRequest,
    AuditRequest,
    Reasoned,
    RejectRequest,
    RetiredRequest,
    SettleRequest,
    ToConfirmRequest,
    UndoRequest,
)
from semantic_memory.domain.review import LabelledPair, Retirement, Unconfirmed
from semantic_memory.entrypoints.agent_limits import shown
from semantic_memory.entrypoints.api import bodies
from semantic_memory.entrypoints.api.access import AnyReader, AnyWriter, CurrentCaller, Reader
from semantic_memory.entrypoints.api.routes import (
    UNKNOWN,
    MemoryId,
    Opened,
    reading,
    require_owned,
    writing,
)
from semantic_memory.entrypoints.rights import Right

reads = reading("/v1/history", "history")
writes = writing("/v1/history", "history")


class Retirements(bodies.Items[Retirement]):
    """Retired facts, the latest decision first."""


class ToConfirm(bodies.Items[Unconfirmed]):
    """Facts that perhaps changed, the latest decision first; then preferences of long ago."""


class Restored(bodies.Items[Fact]):
    """The restored memories."""


class Labels(bodies.Items[LabelledPair]):
    """Pairs of statements with a person's answer."""


@reads.get("/versions/{memory_id}", responses=UNKNOWN)
def versions(
    memory_id: MemoryId, user_id: AnyReader, caller: CurrentCaller, memory: Opened
) -> bodies.History:
    """List the states of a memory, oldest first, also of a deleted one."""
    found = memory.history.versions(memory_id, user_id=user_id)
    shown(caller, found[-1].fact)
    return bodies.History(items=found)


@reads.get("/explain/{memory_id}", responses=UNKNOWN)
def explain(
    memory_id: MemoryId, user_id: AnyReader, caller: CurrentCaller, memory: Opened
) -> Explanation:
    """Return a memory with its retention and the memories it replaced or that replaced it."""
    found = memory.history.explain(memory_id, user_id=user_id)
    shown(caller, found.fact)
    return found


@writes.post("/restore/{memory_id}", responses=UNKNOWN)
def restore(
    memory_id: MemoryId,
    body: Reasoned,
    user_id: AnyWriter,
    caller: CurrentCaller,
    memory: Opened,
) -> Fact | bodies.Written:
    """Restore a memory that was superseded, archived or quarantined."""
    require_owned(memory_id, user_id, caller, memory)
    fact = memory.history.restore(memory_id, user_id=user_id, reason=body.reason)
    return fact if caller.reads(user_id) else bodies.Written(id=fact.id)


@reads.get("/audit")
def audit(
    asked: Annotated[AuditRequest, Query()], caller: CurrentCaller, memory: Opened
) -> bodies.Prompts:
    """List which memories entered a user's prompts, when and why, the latest block first."""
    caller.require(Right.READ, asked.user_id)
    return bodies.Prompts(items=memory.history.audit(**asked.given()))


@reads.get("/retired")
def retired(
    asked: Annotated[RetiredRequest, Query()], caller: CurrentCaller, memory: Opened
) -> Retirements:
    """List the facts that newer statements ended, the latest decision first."""
    caller.require(Right.READ, asked.user_id)
    return Retirements(items=memory.history.retired(**asked.given()))


@writes.post("/undo", responses=UNKNOWN)
def undo(
    body: UndoRequest, caller: CurrentCaller, memory: Opened
) -> Restored | bodies.WrittenItems:
    """Restore the facts that one decision ended, or all decisions of one source or one day.

    A dry run shows what would be restored, which needs the right to read.
    """
    caller.require(Right.WRITE, body.user_id)
    if body.dry_run:
        caller.require(Right.READ, body.user_id)
    found = memory.history.undo(**body.given())
    if caller.reads(body.user_id):
        return Restored(items=found)
    return bodies.WrittenItems(items=[bodies.Written(id=fact.id) for fact in found])


@reads.get("/to-confirm")
def to_confirm(
    asked: Annotated[ToConfirmRequest, Query()], caller: CurrentCaller, memory: Opened
) -> ToConfirm:
    """List the facts that a newer statement perhaps changed, then preferences of long ago."""
    caller.require(Right.READ, asked.user_id)
    return ToConfirm(items=memory.history.to_confirm(**asked.given()))


@writes.post("/accept", responses=UNKNOWN)
def accept(body: AcceptRequest, caller: CurrentCaller, memory: Opened) -> Fact | bodies.Written:
    """Accept that a newer memory changed an older one, which ends the older."""
    caller.require(Right.WRITE, body.user_id)
    fact = memory.history.accept(**body.given())
    return fact if caller.reads(body.user_id) else bodies.Written(id=fact.id)


@writes.post("/reject", responses=UNKNOWN)
def reject(body: RejectRequest, caller: CurrentCaller, memory: Opened) -> Fact | bodies.Written:
    """Reject that a newer memory changed an older one; the two are kept apart permanently."""
    caller.require(Right.WRITE, body.user_id)
    fact = memory.history.reject(**body.given())
    return fact if caller.reads(body.user_id) else bodies.Written(id=fact.id)


@reads.get("/labels")
def labels(user_id: Reader, memory: Opened) -> Labels:
    """List what was accepted, rejected and restored, as labelled pairs of texts."""
    return Labels(items=memory.history.labels(user_id=user_id))


@reads.get("/requests")
def requests(user_id: Reader, memory: Opened) -> bodies.Requests:
    """List a user's requests to forget, said in conversations, the latest first."""
    return bodies.Requests(items=memory.history.requests(user_id=user_id))


@writes.post("/settle", responses=UNKNOWN)
def settle(
    body: SettleRequest, caller: CurrentCaller, memory: Opened
) -> RequestToForget | bodies.Written:
    """Settle a request to forget: forget what it names, say that it is done, or decline."""
    caller.require(Right.WRITE, body.user_id)
    found = memory.history.settle(body.request_id, user_id=body.user_id, answer=body.answer)
    return found if caller.reads(body.user_id) else bodies.Written(id=found.id)
