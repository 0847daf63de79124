"""Routes that answer questions about the memory itself, for the dashboard and for scripts.

They see everything of a user, so a key that is limited to an agent is refused.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response

from semantic_memory.domain import fields
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.inspection import (
    Absence,
    Activity,
    Backlog,
    Deliveries,
    RecentChanges,
    Timelines,
)
from semantic_memory.domain.requests.inspection import WhyNotRequest
from semantic_memory.domain.traces import Trace
from semantic_memory.domain.values import Identifier, Value
from semantic_memory.entrypoints.api.access import Admin, CurrentCaller, Reader, documents_key
from semantic_memory.entrypoints.api.bodies import Items
from semantic_memory.entrypoints.api.problems import documented
from semantic_memory.entrypoints.api.routes import EVERYWHERE, UNKNOWN, Opened
from semantic_memory.entrypoints.rights import Right

_MOST_DAYS = 366.0
_MOST_FACTS = 5_000  # that are laid out at once
_MOST_SESSIONS = 50  # that are named
_MOST_EVENT = 2**53 - 1

router = APIRouter(
    prefix="/v1/inspection",
    tags=["inspection"],
    responses=EVERYWHERE,
    dependencies=[Depends(documents_key)],
)

Days = Annotated[float, Query(gt=0, le=_MOST_DAYS, description="Days until now.")]


class Traces(Items[Trace]):
    """Traces, the latest first."""


class ShownTrace(Value):
    """A trace, with the memories that it names as they are now."""

    trace: Trace
    facts: tuple[Fact, ...]
    """Those that aren't forgotten, in no order."""


@router.get("/activity")
def activity(admin: Admin, memory: Opened, days: Days = 7.0) -> Items[Activity]:
    """List the users of the key, those whose memory changed last first."""
    users = [user_id for user_id in memory.admin.users() if admin.covers(user_id)]
    since = memory.admin.inspection.now() - timedelta(days=days)
    return Items(items=memory.admin.inspection.recent.activity(users, since))


@router.get("/backlog")
def backlog(admin: Admin, memory: Opened) -> Backlog:
    """Tell how many messages of the users of the key wait to be read, and in which sessions."""
    return memory.admin.inspection.backlog(admin.covers, _MOST_SESSIONS)


@router.get("/webhook")
def webhook(admin: Admin, memory: Opened) -> Deliveries:
    """Return how far the deliveries to the webhook are, and the events that were given up.

    The job `redeliver` sends those again.
    """
    admin.require_user(Right.ADMIN, None)
    letters = memory.admin.inspection.dead_letters
    state = letters.state()
    settings = memory.admin.settings.webhook
    return Deliveries(
        configured=settings.url is not None,
        kinds=settings.kinds,
        delivered=state.delivered,
        latest=state.latest,
        disabled=state.disabled,
        replaying=len(letters.replayed()),
        dead=letters.undelivered(),
    )


@router.delete("/webhook/dead/{event_id}", status_code=204, response_class=Response)
def remove_dead(
    event_id: Annotated[int, Path(ge=1, le=_MOST_EVENT, description="The number of the event.")],
    admin: Admin,
    memory: Opened,
) -> None:
    """Remove an event from the dead letters, so that it isn't sent again."""
    admin.require_user(Right.ADMIN, None)
    memory.admin.inspection.dead_letters.remove([event_id])


@router.get("/changes")
def changes(
    user_id: Reader,
    memory: Opened,
    days: Days = 7.0,
    limit: Annotated[int, Query(ge=1, le=200, description="Of each group.")] = 25,
) -> RecentChanges:
    """List what changed in a user's memory of late: learnt, changed, ended, marked, forgotten."""
    since = memory.admin.inspection.now() - timedelta(days=days)
    return memory.admin.inspection.recent.changes(user_id, since, limit)


@router.get("/timelines", responses=UNKNOWN)
def timelines(
    user_id: Reader,
    memory: Opened,
    behind: Annotated[Identifier | None, Query(description=fields.BEHIND)] = None,
    limit: Annotated[
        int, Query(ge=1, le=_MOST_FACTS, description="Statements to lay out, the newest first.")
    ] = _MOST_FACTS,
) -> Timelines:
    """List what was believed when: by attribute of the user, by replacement, by name."""
    return memory.admin.inspection.timelines.timelines(user_id, limit, behind)


@router.post("/why-not", responses=documented(502))
def why_not(body: WhyNotRequest, caller: CurrentCaller, memory: Opened) -> Absence:
    """Explain why a memory isn't in the answer to a query, or in a context block."""
    for owner in body.owners:
        caller.require(Right.READ, owner)
    return memory.admin.inspection.why_not.explain(body)


@router.get("/traces")
def traces(
    user_id: Reader,
    memory: Opened,
    limit: Annotated[int, Query(ge=1, le=200, description="Most traces to return.")] = 50,
) -> Traces:
    """List how a user's latest searches and blocks came about, in ids and figures."""
    return Traces(items=memory.admin.inspection.tracer.latest(user_id, limit))


@router.get("/traces/{trace_id}", responses=UNKNOWN)
def trace(trace_id: str, user_id: Reader, memory: Opened) -> ShownTrace:
    """Return how a search or a block came about, with its memories."""
    found = memory.admin.inspection.tracer.one(trace_id, user_id)
    ids = [*(one.id for one in found.candidates), *found.shown, *(x.id for x in found.left_out)]
    return ShownTrace(trace=found, facts=tuple(memory.admin.inspection.facts(ids, user_id)))
