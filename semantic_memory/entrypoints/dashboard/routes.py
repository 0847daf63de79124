"""The routes that only the dashboard needs: who asks, how ranking weighs, figures over time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse
from pydantic import Field

from semantic_memory.domain.facts import Category
from semantic_memory.domain.values import Value
from semantic_memory.entrypoints.api.access import CurrentCaller, documents_key
from semantic_memory.entrypoints.api.bodies import Items
from semantic_memory.entrypoints.api.routes import EVERYWHERE, Opened
from semantic_memory.entrypoints.dashboard.files import PATH
from semantic_memory.entrypoints.dashboard.samples import MOST, SECONDS, Sample, Sampler
from semantic_memory.entrypoints.rights import Right
from semantic_memory.retrieval.ranking import Weights

router = APIRouter(
    prefix="/v1", tags=["dashboard"], responses=EVERYWHERE, dependencies=[Depends(documents_key)]
)
entrance = APIRouter(include_in_schema=False)


class Who(Value):
    """The sender of the request, and what they may do."""

    name: str
    """Of the key."""
    users: list[str]
    """User ids, prefixes that end in `*`, or `*` for every user."""
    rights: list[Right]
    agent_id: str | None = None
    """The agent to which the key is limited."""
    spaces: list[str] = Field(default_factory=list)
    """Further users whose memory it may read and not change."""
    categories: list[Category]
    """The categories that the store takes, the application's own last."""


class Ranking(Value):
    """Weights of the ranking, and half-lives of the decay."""

    weights: Mapping[str, float]
    total: float
    """The highest match before scaling; every weight but `relevance` counts as a share of it."""
    half_life_days: Mapping[Category, float | None]
    """By category; null for what never fades."""


class Samples(Items[Sample]):
    """Samples, oldest first."""

    seconds: float
    """Between two samples."""


@entrance.get("/")
async def enter() -> RedirectResponse:
    """Redirect a browser to the dashboard."""
    return RedirectResponse(f"{PATH}/")


@entrance.get("/docs")
async def document() -> RedirectResponse:
    """Redirect a browser to the page that describes the routes, which loads nothing from elsewhere.

    Other clients read `/openapi.json`.
    """
    return RedirectResponse(f"{PATH}/#/rest")


@router.get("/caller")
async def who(caller: CurrentCaller, memory: Opened) -> Who:
    """Return the sender of this request, its rights, and the categories. Any key will do."""
    return Who(
        name=caller.name,
        users=[*caller.users],
        rights=sorted(caller.rights),
        agent_id=caller.agent_id,
        spaces=[*caller.spaces],
        categories=[Category(name) for name in memory.admin.settings.declared.names],
    )


@router.get("/ranking")
async def ranking(caller: CurrentCaller, memory: Opened) -> Ranking:
    """Return the weights of the ranking and the half-lives of the decay. Any key will do."""
    del caller
    settings = memory.admin.settings
    weights = Weights(**settings.retrieval.model_dump())
    return Ranking(
        weights=asdict(weights),
        total=weights.total,
        half_life_days={
            category: None if math.isinf(days) else days
            for category, days in settings.half_lives.items()
        },
    )


@router.get("/samples")
async def samples(
    request: Request,
    caller: CurrentCaller,
    limit: Annotated[int, Query(ge=1, le=MOST, description="How many, the latest.")] = 240,
) -> Samples:
    """The service's figures over the last hours; no figure is a single user's. Any key will do."""
    del caller
    sampler: Sampler = request.app.state.sampler
    return Samples(items=sampler.latest(limit), seconds=SECONDS)
