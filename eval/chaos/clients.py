"""Clients of the service under fault: each writes, reads and forgets, and keeps what was promised.

Every text has a mark of its own and names its user, so that one of another user, one that is lost
and one that came back are told apart. The rules of extraction draw one fact from each.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from stamina.instrumentation import set_on_retry_hooks

from semantic_memory.client import AsyncClient
from semantic_memory.domain.errors import SemanticMemoryError
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.filters import FilterLike, Filters
from semantic_memory.domain.messages import Message

_SENTENCES = (
    "My neighbour {mark} cooks for {user}.",
    "I like the songs of {mark}, as {user} does.",
    "I work with {mark} and {user}.",
    "I work on project {mark} with {user}.",
    "I like thing {mark} of {user}.",
)
_VERBS = {"observe": 40, "add": 15, "search": 30, "forget fact": 6, "forget message": 6}
_VERBS |= {"forget session": 3}
_SESSION_MESSAGES = 12
_MARKS = re.compile(r"\b(?:[bcdfghjklmnpqrstvwxz][aeiou]){5}\b")
_USERS = re.compile(r"\buser-\d+\b")
_ATTEMPTS = 100
_PATIENCE_SECONDS = 45.0
_ANSWER_SECONDS = 8.0  # a frozen worker keeps the requests that it has


@dataclass(slots=True)
class Promises:
    """All that the service acknowledged, and what its answers showed meanwhile."""

    said: dict[tuple[str, str], dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    """Texts of messages by user and session, and by id, each client's in their order."""
    added: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    """Texts of facts, by user and id."""
    forgotten: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    """Ids of the memories that were forgotten, empty for a session's, by user and mark."""
    requests: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    """Calls given up, by verb."""
    errors: list[str] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    """Hits of another user."""
    unseen: list[str] = field(default_factory=list)
    """Writes that the writer's next search didn't find."""
    calls: list[tuple[float, float, bool]] = field(default_factory=list)
    """Begin and end of each call, by the monotonic clock, and whether it succeeded."""

    @property
    def writes(self) -> int:
        """Number of acknowledged writes."""
        said = sum(map(len, self.said.values()))
        return said + sum(len(kept) for kept in (*self.added.values(), *self.forgotten.values()))


def mark(dice: random.Random) -> str:
    """Draw a word that no other text has."""
    pairs = (dice.choice("bcdfghjklmnpqrstvwxz") + dice.choice("aeiou") for _ in range(5))
    return "".join(pairs)


def marks_in(text: str) -> set[str]:
    """Return the marks in a text."""
    return set(_MARKS.findall(text))


def is_stray(fact: Fact, user_id: str) -> bool:
    """Return True if a memory is another user's."""
    return fact.user_id != user_id or bool({*_USERS.findall(fact.content)} - {user_id})


@asynccontextmanager
async def connected(urls: Sequence[str]) -> AsyncIterator[list[AsyncClient]]:
    """Open clients that are patient with a service that loses parts."""
    set_on_retry_hooks([])  # each would log every time it waits
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                AsyncClient(
                    url, attempts=_ATTEMPTS, seconds=_PATIENCE_SECONDS, timeout=_ANSWER_SECONDS
                )
            )
            for url in urls
        ]


class Visitor:
    """One client, which calls for one user, one call after the other."""

    def __init__(
        self, number: int, user_id: str, clients: Sequence[AsyncClient], promises: Promises
    ) -> None:
        """Each call goes to any of `clients`. Clients of one user share the user's sessions."""
        self._name = f"c{number}"
        self._user_id = user_id
        self._clients = clients
        self._promises = promises
        self._dice = random.Random(f"{number} {user_id}")
        self._turn = 0

    async def run(self, over: asyncio.Event) -> None:
        """Call until the load is over."""
        while not over.is_set():
            await self.turn()

    async def turn(self) -> None:
        """Make a call, drawn at random; count it if it fails."""
        self._turn += 1
        verb = self._dice.choices([*_VERBS], [*_VERBS.values()])[0]
        begun, succeeded = time.monotonic(), True
        try:
            await self._call(verb)
        except SemanticMemoryError as error:
            succeeded = False
            self._promises.failures[verb] += 1
            self._promises.errors.append(f"{verb}: {type(error).__name__}: {error}")
        self._promises.requests[verb] += 1
        self._promises.calls.append((begun, time.monotonic(), succeeded))

    @property
    def _client(self) -> AsyncClient:
        return self._dice.choice(self._clients)

    async def _call(self, verb: str) -> None:
        match verb:
            case "observe":
                session_id = f"s{self._turn // _SESSION_MESSAGES}"
                said = await self._observe(session_id)
                self._promises.said[self._user_id, session_id][said.id] = str(said.content)
                if self._turn % 3 == 0:
                    await self._expect(str(said.content))
            case "add":
                text = self._text()
                fact = await self._client.add(
                    text, user_id=self._user_id, category=Category.FINDING
                )
                self._promises.added[self._user_id][fact.id] = text
            case "search":
                await self._search(self._text())
            case "forget fact":
                await self._forget_fact()
            case "forget message":
                await self._forget_message()
            case "forget session":
                session_id = f"{self._name}-{self._turn}"
                said = await self._observe(session_id)
                await self._client.forget(user_id=self._user_id, session_id=session_id)
                self._note_forgotten(str(said.content), "")

    async def _observe(self, session_id: str) -> Message:
        name = f"{self._name}-{self._turn}"
        said = Message(id=name, role="user", content=self._text())
        await self._client.observe([said], user_id=self._user_id, session_id=session_id)
        return said

    async def _search(self, query: str, filters: FilterLike = None) -> list[Fact]:
        hits = await self._client.search(query, user_id=self._user_id, k=10, filters=filters)
        found = [hit.fact for hit in hits]
        self._promises.strays += [
            f"{fact.id} of {fact.user_id} for {self._user_id}: {fact.content}"
            for fact in found
            if is_stray(fact, self._user_id)
        ]
        return found

    async def _expect(self, text: str) -> Fact | None:
        """Search among the messages with its mark for what was just written: it has no vectors.

        Among all memories, the fact drawn from it may stand for it.
        """
        messages = frozenset({Category.CONVERSATION})
        with_mark = Filters(words=tuple(marks_in(text)), categories=messages)
        for fact in await self._search(text, with_mark):
            if fact.content == text:
                return fact
        self._promises.unseen.append(f"{self._user_id}: {text}")
        return None

    async def _forget_fact(self) -> None:
        kept = self._promises.added[self._user_id]
        if kept:
            fact_id = self._dice.choice([*kept])
            text = kept.pop(fact_id)  # if the call fails, it may be there or not
            await self._client.delete(fact_id, user_id=self._user_id)
            self._note_forgotten(text, fact_id)

    async def _forget_message(self) -> None:
        own = [
            (session, name)
            for (user_id, session), texts in self._promises.said.items()
            for name in texts
            if user_id == self._user_id and name.startswith(f"{self._name}-")
        ]
        if own:
            session, name = self._dice.choice(own)
            text = self._promises.said[self._user_id, session].pop(name)
            fact = await self._expect(text)
            if fact is not None:
                await self._client.delete(fact.id, user_id=self._user_id)
                self._note_forgotten(text, fact.id)

    def _note_forgotten(self, text: str, memory_id: str) -> None:
        for one in marks_in(text):
            self._promises.forgotten[self._user_id][one] = memory_id

    def _text(self) -> str:
        sentence = self._dice.choice(_SENTENCES)
        return sentence.format(mark=mark(self._dice), user=self._user_id)
