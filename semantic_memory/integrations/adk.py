"""A memory service of Google's Agent Development Kit.

from semantic_memory.integrations.adk import SemanticMemoryService

runner = Runner(app_name="cook", agent=agent, session_service=sessions,
                memory_service=SemanticMemoryService(memory))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import quote

try:
    from google.adk.events import Event
    from google.adk.memory import BaseMemoryService
    from google.adk.memory.base_memory_service import SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions import Session
    from google.genai import types
except ImportError as error:
    raise ImportError(
        "semantic_memory.integrations.adk needs Google's Agent Development Kit:"
        " pip install 'semantic-memory[adk]'"
    ) from error

from semantic_memory.domain import fields
from semantic_memory.domain.recall import Hit
from semantic_memory.domain.requests import (
    AddManyRequest,
    DeleteRequest,
    RequestsRequest,
    SearchRequest,
)
from semantic_memory.domain.values import MAX_QUERY_BYTES, clipped
from semantic_memory.integrations.identifiers import identifier_of
from semantic_memory.integrations.observing import Utterance, observed
from semantic_memory.integrations.steps import AnyMemory, Steps, answered, run_async, underlying

_NO_SESSION = "__unknown_session_id__"
"""Session that ADK's own services put events in that come without one."""


class SemanticMemoryService(BaseMemoryService):
    """Observes sessions of ADK, and searches what it knows of a user.

    Each user of each app is a user of the memory: `owner` returns its id. What the user and the
    agents say in text is observed, each event once, so that facts are extracted from it. A search
    returns at most `max_results` memories, facts and messages, those below `min_score` left out.
    """

    def __init__(
        self,
        memory: AnyMemory,
        *,
        max_results: int = fields.HITS.default,
        min_score: float = fields.LEAST_SCORE.default,
    ) -> None:
        self._memory = underlying(memory)
        self._max_results = max_results
        self._min_score = min_score

    @staticmethod
    def owner(app_name: str, user_id: str) -> str:
        """Return the id that a user of an app has in the memory, as `forget` takes it."""
        return identifier_of(f"{quote(app_name, safe='')}/{quote(user_id, safe='')}")

    async def add_session_to_memory(self, session: Session) -> None:
        """Observe the events of a session that the memory hasn't got yet."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Observe events; `custom_metadata` is left aside, as in ADK's own services."""
        del custom_metadata
        owner = self.owner(app_name, user_id)
        place = identifier_of(session_id or _NO_SESSION)
        await run_async(self._memory, _observed(events, owner, place))

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add memories as facts, in one transaction; a known one is confirmed.

        The metadata of an entry comes before `custom_metadata`. Raises InvalidInputError for one
        without text, and for metadata that JSON can't hold.
        """
        facts = [
            {
                "content": _text(entry.content),
                "metadata": {**(custom_metadata or {}), **entry.custom_metadata},
                "created_at": entry.timestamp,
            }
            for entry in memories
        ]
        if facts:
            request = AddManyRequest.of(facts, user_id=self.owner(app_name, user_id))
            await run_async(self._memory, answered(request))

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return the user's best memories for a query, the best first."""
        asked = clipped(query, MAX_QUERY_BYTES)
        if not asked.strip():
            return SearchMemoryResponse()
        request = SearchRequest.of(
            asked,
            user_id=self.owner(app_name, user_id),
            k=self._max_results,
            min_score=self._min_score,
        )
        hits: list[Hit] = await run_async(self._memory, answered(request))
        return SearchMemoryResponse(memories=[_entry(hit) for hit in hits])

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Delete a memory by the id that a search gave it; unknown ones are ignored.

        A fact goes with the sentences that it was drawn from, a message with the facts that
        nothing else supports.
        """
        if memory_id:
            request = DeleteRequest.of(memory_id, user_id=self.owner(app_name, user_id))
            await run_async(self._memory, answered(request))


def _observed(events: Sequence[Event], user_id: str, session_id: str) -> Steps[None]:
    yield from observed(_said(events), user_id=user_id, session_id=session_id)
    # The next search finds them, as in ADK's own services: requests are read from stored messages
    yield RequestsRequest.of(user_id=user_id)


def _said(events: Sequence[Event]) -> Iterator[tuple[str, Utterance]]:
    """Yield what the user and the agents said in events, with their ids.

    Thoughts, calls of tools and what they return are left out, and the pieces of a stream, whose
    whole is an event of its own.
    """
    for event in events:
        if event.partial or event.content is None:
            continue
        at = datetime.fromtimestamp(event.timestamp, UTC)
        one = event.id or str(event.timestamp)
        if event.author == "user":
            yield one, Utterance("user", _text(event.content), at=at)
        else:
            yield (
                one,
                Utterance("assistant", _text(event.content), name=event.author or None, at=at),
            )


def _text(content: types.Content) -> str:
    parts = content.parts or ()
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _entry(hit: Hit) -> MemoryEntry:
    fact = hit.fact
    source = fact.source
    return MemoryEntry(
        id=fact.id,
        content=types.Content(
            role="model" if source.role == "assistant" else "user",
            parts=[types.Part(text=fact.content)],
        ),
        author=(source.speaker or source.role) if fact.category == "conversation" else None,
        timestamp=fact.created_at.isoformat(),
        custom_metadata={
            **fact.metadata,
            "category": fact.category.value,
            "confidence": fact.confidence,
            "score": hit.score,
        },
    )
