"""The long-term memory of one session, over the parts of the store that it needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from semantic_memory.domain.changes import Cursor
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.filters import FACTS
from semantic_memory.domain.forget_requests import Asked
from semantic_memory.domain.logs import Record
from semantic_memory.domain.messages import Message, Receipt, SessionKey
from semantic_memory.domain.ports import Facts, SessionLog
from semantic_memory.domain.recall import Context
from semantic_memory.domain.scope import SHARED, Scope
from semantic_memory.session.window import WindowState

_MOST_FACTS = 500


class Observing(Protocol):
    """Takes messages in and extracts their facts."""

    def observe(self, messages: Sequence[Message], user_id: str, session_id: str) -> Receipt:
        """Write messages to the session's log; they are on disk when this returns."""
        ...

    def extract_session(self, key: SessionKey) -> None:
        """Extract facts from all messages of a session. Raises ProviderError."""
        ...


class Recalling(Protocol):
    """Packs recalled memories."""

    def __call__(
        self, query: str, user_id: str, budget: int, *, without: Collection[str]
    ) -> Context:
        """Pack a block of at most `budget` tokens, without the messages with these ids."""
        ...


@dataclass(frozen=True, slots=True)
class BoundMemory:
    """The long-term memory of one session: a `LongTerm`."""

    key: SessionKey
    observing: Observing
    log: SessionLog
    ledger: Facts
    recalling: Recalling
    waiting: Callable[[SessionKey], dict[str, Asked]]
    scope: Scope = SHARED

    def observe(self, messages: Sequence[Message]) -> Receipt:
        """Keep messages of the session, in its scope; they are on disk when this returns."""
        scoped = [message.within(self.scope) for message in messages]
        return self.observing.observe(scoped, *self.key)

    def read(self, state: WindowState) -> Iterator[Record]:
        """Yield the messages of the log behind a window; all of them if it has been rewritten."""
        after = Cursor(*self.key, "stored", state.position, state.offset, state.message_id)
        return self.log.read(*self.key, after)

    def promote(self) -> None:
        """Extract facts from the session's messages, and no other's. Raises ProviderError."""
        self.observing.extract_session(self.key)

    def requests(self) -> dict[str, Asked]:
        """Return the session's requests to forget that aren't settled, by message."""
        return self.waiting(self.key)

    def recall(self, query: str, budget: int, without: frozenset[str]) -> Context:
        """Pack a block about `query` without the messages with these ids."""
        return self.recalling(query, self.key.user_id, budget, without=without)

    def facts(self, message_ids: frozenset[str]) -> list[str]:
        """Return the facts drawn from these messages as dated lines, oldest first."""
        filters = FACTS.model_copy(update={"session_id": self.key.session_id})
        found = self.ledger.find(self.key.user_id, filters, limit=_MOST_FACTS)
        said = [fact for fact in found if not message_ids.isdisjoint(fact.message_ids)]
        return [_line(fact) for fact in sorted(said, key=lambda fact: (fact.created_at, fact.id))]


def _line(fact: Fact) -> str:
    return f"- {fact.created_at.date().isoformat()} {' '.join(fact.text.split())}"
