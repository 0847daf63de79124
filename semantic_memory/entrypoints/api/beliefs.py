"""Routes for the review of beliefs: retirements and their undoing, links and their settling."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.requests import (
    AcceptRequest,
    RejectRequest,
    RetiredRequest,
    ToConfirmRequest,
    UndoRequest,
)
from semantic_memory.domain.review import LabelledPair, Retirement, Unconfirmed
from semantic_memory.entrypoints.api import bodies
from semantic_memory.entrypoints.api.access import CurrentCaller, Reader, documents_key
from semantic_memory.entrypoints.api.idempotency import Once, accepts_idempotency_key
from semantic_memory.entrypoints.api.routes import CONFLICT, EVERYWHERE, UNKNOWN, Opened
from semantic_memory.entrypoints.rights import Right

reads = APIRouter(
    prefix="/v1/beliefs",
    tags=["beliefs"],
    responses=EVERYWHERE,
    dependencies=[Depends(documents_key)],
)
writes = APIRouter(
    prefix="/v1/beliefs",
    tags=["beliefs"],
    route_class=Once,
    responses=EVERYWHERE | CONFLICT,
    dependencies=[Depends(documents_key), Depends(accepts_idempotency_key)],
)


class Retirements(bodies.Items[Retirement]):
    """Retired facts, the latest decision first."""


class ToConfirm(bodies.Items[Unconfirmed]):
    """Facts that perhaps changed, the latest decision first; then preferences of long ago."""


class Restored(bodies.Items[Fact]):
    """The restored memories."""


class Labels(bodies.Items[LabelledPair]):
    """Pairs of statements with a person's answer."""


@reads.get("/retired")
def retired(
    asked: Annotated[RetiredRequest, Query()], caller: CurrentCaller, memory: Opened
) -> Retirements:
    """List the facts that newer statements ended, the latest decision first."""
    caller.require(Right.READ, asked.user_id)
    return Retirements(items=memory.beliefs.retired(**asked.given()))


@writes.post("/undo", responses=UNKNOWN)
def undo(
    body: UndoRequest, caller: CurrentCaller, memory: Opened
) -> Restored | bodies.WrittenItems:
    """Restore what one decision retired, or all that those of one source or one day did.

    A dry run shows what would be restored, which needs the right to read.
    """
    caller.require(Right.WRITE, body.user_id)
    if body.dry_run:
        caller.require(Right.READ, body.user_id)
    found = memory.beliefs.undo(**body.given())
    if caller.reads(body.user_id):
        return Restored(items=found)
    return bodies.WrittenItems(items=[bodies.Written(id=fact.id) for fact in found])


@reads.get("/to-confirm")
def to_confirm(
    asked: Annotated[ToConfirmRequest, Query()], caller: CurrentCaller, memory: Opened
) -> ToConfirm:
    """List the facts that a newer statement perhaps changed, then preferences of long ago."""
    caller.require(Right.READ, asked.user_id)
    return ToConfirm(items=memory.beliefs.to_confirm(**asked.given()))


@writes.post("/accept", responses=UNKNOWN)
def accept(body: AcceptRequest, caller: CurrentCaller, memory: Opened) -> Fact | bodies.Written:
    """Accept that a newer memory changed an older one, which ends the older."""
    caller.require(Right.WRITE, body.user_id)
    fact = memory.beliefs.accept(**body.given())
    return fact if caller.reads(body.user_id) else bodies.Written(id=fact.id)


@writes.post("/reject", responses=UNKNOWN)
def reject(body: RejectRequest, caller: CurrentCaller, memory: Opened) -> Fact | bodies.Written:
    """Reject that a newer memory changed an older one; the two are kept apart for good."""
    caller.require(Right.WRITE, body.user_id)
    fact = memory.beliefs.reject(**body.given())
    return fact if caller.reads(body.user_id) else bodies.Written(id=fact.id)


@reads.get("/labels")
def labels(user_id: Reader, memory: Opened) -> Labels:
    """List what was accepted, rejected and restored, as labelled pairs of texts."""
    return Labels(items=memory.beliefs.labels(user_id=user_id))
