"""Tell conversations to a store in which a language model extracts.

Live, a conversation is observed message by message, and extraction runs in the background at its
own pace: the clock of the conversation stands for that of the machine, and what is still unread at
the end is read as at the end of a session. Imported, all of it is observed at once.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from pydantic import SecretStr

from eval.llm.conversations import Conversation
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.events import Event, ExtractionFailed, FactsExtracted, ModelCalled
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.messages import Message
from semantic_memory.domain.ports import Embedder
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import (
    ExtractionSettings,
    IngestSettings,
    LLMSettings,
    Settings,
    UpkeepSettings,
)
from semantic_memory.testing import FrozenClock, InMemoryIndex

Pace = Literal["live", "imported"]
PACES: tuple[Pace, ...] = ("live", "imported")
_EVERY = 10  # messages of the user, after which the default pace has a session read
_PATIENCE = 120.0
SESSION = "chat"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible endpoint and a model behind it."""

    base_url: str
    model: str
    api_key: str = "none"
    max_retries: int = 4


@dataclass(slots=True)
class Played:
    """The facts that a conversation left, and what extracting them took."""

    conversation: Conversation
    pace: Pace
    facts: list[Fact] = field(default_factory=list)
    """Believed facts and superseded ones."""
    calls: list[ModelCalled] = field(default_factory=list)
    admitted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def believed(self) -> list[Fact]:
        """The facts that are believed at the end."""
        return [fact for fact in self.facts if fact.status is Status.ACTIVE]


def play(conversation: Conversation, pace: Pace, endpoint: Endpoint, embedder: Embedder) -> Played:
    """Tell a conversation to a new store, and return what is left of it."""
    played = Played(conversation, pace)
    watch = _Watch(played)
    clock = FrozenClock(conversation.messages[0].created_at or FrozenClock().now())
    with TemporaryDirectory(prefix="semantic-memory-llm-") as scratch:
        settings = Settings(
            data_dir=Path(scratch),
            extraction=ExtractionSettings(llm="measured"),
            llm={
                "measured": LLMSettings(
                    base_url=endpoint.base_url,
                    model=endpoint.model,
                    api_key=SecretStr(endpoint.api_key),
                    max_retries=endpoint.max_retries,
                )
            },
            ingest=IngestSettings(background=pace == "live"),
            upkeep=UpkeepSettings(schedule=False),
        )
        with SemanticMemory.open(
            settings=settings,
            embedder=embedder,
            index=InMemoryIndex(),
            clock=clock,
            observer=watch.note,
        ) as memory:
            with suppress(ProviderError):  # told by events
                if pace == "live":
                    _live(memory, conversation, clock, watch)
                else:
                    clock.moment = conversation.messages[-1].created_at or clock.moment
                    _observe(memory, conversation, conversation.messages)
                memory.flush()
            memory.jobs.run(user_id=conversation.name)
            played.facts = [
                fact
                for status in (Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED)
                for fact in memory.list(user_id=conversation.name, status=status, limit=None)
                if fact.category is not Category.CONVERSATION
            ]
    return played


def _live(
    memory: SemanticMemory, conversation: Conversation, clock: FrozenClock, watch: _Watch
) -> None:
    own = 0
    for message in conversation.messages:
        clock.moment = message.created_at or clock.moment
        _observe(memory, conversation, [message])
        own += message.role == "user"
        if message.role == "user" and own % _EVERY == 0:
            watch.await_reading(own // _EVERY)
            memory.flush()


def _observe(
    memory: SemanticMemory, conversation: Conversation, messages: Sequence[Message]
) -> None:
    memory.observe(messages, user_id=conversation.name, session_id=SESSION)


class _Watch:
    """Notes what extraction does, and waits for it."""

    def __init__(self, played: Played) -> None:
        self._played = played
        self._changed = threading.Condition()
        self._readings = 0

    def note(self, event: Event) -> None:
        """Note an event."""
        with self._changed:
            match event:
                case ModelCalled():
                    self._played.calls.append(event)
                case FactsExtracted():
                    self._played.admitted += event.admitted
                    self._played.refused.update(event.refused)
                    self._readings += 1
                case ExtractionFailed():
                    self._played.failures.append(event.error)
                case _:
                    return
            self._changed.notify_all()

    def await_reading(self, number: int) -> None:
        """Wait until so many stretches have been read, or reading has failed."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._readings >= number or bool(self._played.failures), _PATIENCE
            )
