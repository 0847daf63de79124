"""Arguments and results of the tools, with the descriptions that a model reads."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from semantic_memory.domain import fields
from semantic_memory.domain.bodies import Body
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.markers import WROTE_MEMORY
from semantic_memory.domain.messages import Message
from semantic_memory.domain.query_text import LONGEST_QUERY
from semantic_memory.domain.recall import Hit
from semantic_memory.domain.refusals import parse
from semantic_memory.domain.trust import Trust

MOST_HITS = 100  # what an agent reads competes with its own window

UserId = Annotated[
    str | None, Field(description=f"{fields.USER} Leave it out unless told otherwise.")
]
AgentId = Annotated[str | None, Field(description=fields.AGENT)]
RunId = Annotated[str | None, Field(description=fields.RUN)]
AsAgent = Annotated[str | None, Field(description=fields.AS_AGENT)]
AsRun = Annotated[str | None, Field(description=fields.AS_RUN)]
Spaces = Annotated[
    list[str] | None,
    Field(description=f"{fields.SPACES} Those of the key if left out; [] for none."),
]
OfAgent = Annotated[str | None, Field(description=fields.OF_AGENT)]
OfRun = Annotated[str | None, Field(description=fields.OF_RUN)]
Query = Annotated[str, Field(description=fields.QUERY)]
Limit = Annotated[
    int, Field(ge=fields.HITS.least, le=MOST_HITS, description=fields.HITS.description)
]
Categories = Annotated[list[Category] | None, Field(description=fields.CATEGORIES)]
Tags = Annotated[list[str] | None, Field(description=fields.TAGS)]
OwnTags = Annotated[list[str] | None, Field(description=fields.OWN_TAGS)]
Since = Annotated[datetime | None, Field(description=fields.SINCE)]
SessionId = Annotated[str, Field(description=fields.SESSION)]
Until = Annotated[datetime | None, Field(description=fields.UNTIL)]

Where = Annotated[
    str, Field(max_length=LONGEST_QUERY, description=f"{fields.WHERE} See the errors for more.")
]


class Newer(BaseModel):
    """A newer statement that perhaps changed a memory."""

    id: str | None
    quote: str | None


class Remembered(BaseModel):
    """One memory."""

    id: str
    content: str
    category: Category
    said_at: datetime | None = None
    confidence: float
    trust: Trust
    tags: list[str]
    agent_id: str | None = None
    """The agent that it belongs to; null for a shared one."""
    run_id: str | None = None
    body: Body | None = None
    score: float | None = None
    """The score in a search; higher is better."""
    space: str | None = None
    """The further user, such as a team, whose memory it is; null for the user's own."""
    perhaps_changed: list[Newer] = []
    """Newer statements that are likely, but not certain, to have made it untrue, oldest first."""


class Memories(BaseModel):
    """Some memories."""

    memories: list[Remembered]
    next: str | None = None
    """Given as `after`, it continues a listing; null at the end."""


class Block(BaseModel):
    """A block of memories that help with a question."""

    text: str
    tokens: int


class Taken(BaseModel):
    """The number of messages taken in."""

    accepted: int
    duplicates: int


class Forgotten(BaseModel):
    """The number of memories that were forgotten, or that a dry run would forget."""

    forgotten: int
    memories: list[Remembered] = []
    """The newest of them, after a dry run."""
    sentences: list[str] = []
    """Those that messages lose which are kept."""
    items: int = 0
    """The number of items that go with everything of the user."""


class Said(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["user", "assistant", "system", "tool"]
    content: str
    name: str | None = Field(None, description="The speaker, where the role isn't enough.")
    created_at: datetime | None = Field(None, description="When it was said; now if left out.")
    expires_at: datetime | None = Field(
        None, description="When the message is to be erased; never if left out."
    )
    recall: bool = Field(True, description=fields.RECALL)
    wrote_memory: bool = Field(
        False,
        description="True for a message of yours in which you called add_memory or"
        " forget_memories: nothing more is extracted from that turn.",
    )

    def message(self) -> Message:
        """Build the message that the memory takes."""
        metadata = {WROTE_MEMORY: True} if self.wrote_memory else {}
        return parse(
            Message, "message", {**self.model_dump(exclude={"wrote_memory"}), "metadata": metadata}
        )


def filters_of(
    where: str,
    categories: list[Category] | None,
    tags: list[str] | None,
    since: datetime | None,
    until: datetime | None,
) -> Filters:
    """Return the filters of a query's text and of the arguments beside it."""
    beside = {"categories": categories, "tags": tags, "since": since, "until": until}
    return Filters.joined(where or None, beside)


def remembered(fact: Fact, hit: Hit | None = None) -> Remembered:
    """Return a fact, or the fact of a hit, as agents see it."""
    return Remembered(
        id=fact.id,
        content=fact.content,
        category=fact.category,
        said_at=fact.created_at,
        confidence=fact.confidence,
        trust=fact.trust,
        tags=[*fact.tags],
        agent_id=fact.agent_id,
        run_id=fact.run_id,
        body=fact.body,
        score=hit and round(hit.score, 4),
        space=hit and hit.space,
        perhaps_changed=[Newer(id=one.newer, quote=one.quote) for one in fact.perhaps_changed],
    )
