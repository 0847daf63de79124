"""Transcripts: the exact history of a conversation in items, and what was said in it, observed.

Frameworks give histories back as they got them: with tool calls, images and ids of other systems.
Each entry is an item, as JSON text, in parts if it is large. Only the texts of people and models
are observed, as messages whose id is the key of their entry.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from semantic_memory.client import AsyncClient
from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.items import Item
from semantic_memory.domain.messages import Message
from semantic_memory.domain.requests import MessagesRequest, ObserveRequest, PopRequest
from semantic_memory.domain.requests.items import (
    DeleteItemRequest,
    GetItemRequest,
    ListItemsRequest,
    PutItemRequest,
)
from semantic_memory.domain.values import new_id
from semantic_memory.integrations.identifiers import identifier_of
from semantic_memory.integrations.observing import Utterance, storable
from semantic_memory.integrations.steps import AnyMemory, Steps, run, run_async, underlying

T = TypeVar("T")
_PAGE = 1_000
_PART = 400_000  # characters of JSON; twice that as a text in JSON, below the limit of a value


class Entry(NamedTuple):
    """A value that JSON can hold, and what was said with it."""

    value: Any
    said: Utterance | None


class Transcript:
    """The history of one session of a user. Thread-safe.

    Each method waits, or is awaited under its name with an `a`. Entries that are added in one call
    stand together, as long as the calls come through one transcript.
    """

    def __init__(
        self, memory: AnyMemory, *, user_id: str, session_id: str, root: str, observe: bool
    ) -> None:
        self._memory = underlying(memory)
        self._user_id = identifier_of(user_id)
        self._session_id = identifier_of(session_id)
        self._place = (root, self._session_id)
        self._observe = observe
        self._lock = threading.Lock()
        self._turn = asyncio.Lock()

    def read(self, limit: int | None = None) -> list[Any]:
        """Return the latest `limit` values, or all, in order."""
        return self._run(self._read(limit))

    async def aread(self, limit: int | None = None) -> list[Any]:
        """Return the latest `limit` values, or all, in order."""
        return await self._run_async(self._read(limit))

    def append(self, entries: Iterable[Entry]) -> None:
        """Add entries behind the others. Raises TypeError, ValueError for what JSON can't hold."""
        self._run(self._append([*entries]))

    async def aappend(self, entries: Iterable[Entry]) -> None:
        """Add entries behind the others. Raises TypeError, ValueError for what JSON can't hold."""
        await self._run_async(self._append([*entries]))

    def pop(self) -> Any:
        """Remove and return the latest value; None if there is none.

        The memory forgets its message, and the facts that nothing else supports.
        """
        return self._run(self._pop())

    async def apop(self) -> Any:
        """Remove and return the latest value; None if there is none.

        The memory forgets its message, and the facts that nothing else supports.
        """
        return await self._run_async(self._pop())

    def clear(self) -> None:
        """Remove every entry; the memory keeps what was said."""
        self._run(self._clear())

    async def aclear(self) -> None:
        """Remove every entry; the memory keeps what was said."""
        await self._run_async(self._clear())

    def _run(self, steps: Steps[T]) -> T:
        with self._lock:
            return run(self._memory, steps)

    async def _run_async(self, steps: Steps[T]) -> T:
        if not isinstance(self._memory, AsyncClient):
            return await asyncio.to_thread(self._run, steps)
        async with self._turn:
            return await run_async(self._memory, steps)

    @property
    def _entries(self) -> tuple[str, ...]:
        return (*self._place, "entries")

    @property
    def _parts(self) -> tuple[str, ...]:
        return (*self._place, "parts")

    def _read(self, limit: int | None) -> Steps[list[Any]]:
        records = yield from self._records(limit)
        values: list[Any] = []
        for record in reversed(records):
            with suppress(NotFoundError):  # taken back since it was listed
                values += [(yield from self._value(record))]
        return values

    def _records(self, limit: int | None) -> Steps[list[Item]]:
        """Return the latest records, the latest first."""
        found: dict[str, Item] = {}  # by key: a page moves on while others write
        offset = 0
        while size := _PAGE if limit is None else min(_PAGE, limit - len(found)):
            page = yield ListItemsRequest.of(
                self._entries, user_id=self._user_id, limit=size, offset=offset
            )
            found |= {item.key: item for item in page}
            offset += size
            if len(page) < size:
                break
        return [*found.values()]

    def _value(self, record: Item) -> Steps[Any]:
        """Return the value of a record. Raises NotFoundError if another has taken it back."""
        texts = [record.value["json"]]
        for number in range(1, record.value["parts"]):
            part = yield GetItemRequest.of(
                self._parts, f"{record.key}/{number}", user_id=self._user_id
            )
            if part is None:
                raise NotFoundError(f"entry {record.key!r} was taken back meanwhile")
            texts.append(part.value["json"])
        return json.loads("".join(texts))

    def _append(self, entries: Sequence[Entry]) -> Steps[None]:
        texts = [json.dumps(entry.value, separators=(",", ":")) for entry in entries]
        keys = [new_id() for _ in entries]
        ids = yield from self._observed(keys, [entry.said for entry in entries])
        for key, text, said in zip(keys, texts, ids, strict=True):
            first, *rest = [text[at : at + _PART] for at in range(0, len(text), _PART)]
            for number, part in enumerate(rest, 1):
                yield self._put(self._parts, f"{key}/{number}", {"json": part})
            value = {"json": first, "parts": 1 + len(rest), "said": said}
            yield self._put(self._entries, key, value)  # last: with it, the entry is whole

    def _put(self, namespace: tuple[str, ...], key: str, value: dict[str, Any]) -> PutItemRequest:
        return PutItemRequest.of(namespace, key, value, user_id=self._user_id, index=False)

    def _observed(
        self, keys: Sequence[str], said: Sequence[Utterance | None]
    ) -> Steps[list[str | None]]:
        """Observe what was said; return the ids of the messages.

        After a clearing, like that of a compaction, what comes back isn't said again.
        """
        cleaned = [None if one is None or not self._observe else storable(one) for one in said]
        if not any(cleaned):
            return [None] * len(keys)
        known: dict[Utterance, list[str]] = {}
        if not (yield ListItemsRequest.of(self._entries, user_id=self._user_id, limit=1)):
            asked = MessagesRequest.of(user_id=self._user_id, session_id=self._session_id)
            for message in reversed((yield asked) or []):
                known.setdefault(Utterance(message.role, message.content, message.name), []).append(
                    message.id
                )
        ids: list[str | None] = []
        new: list[Message] = []
        for key, one in zip(keys, cleaned, strict=True):
            if one is None:
                ids.append(None)
            elif known.get(one):
                ids.append(known[one].pop())
            else:
                ids.append(key)
                new.append(Message(id=key, role=one.role, content=one.text, name=one.name))
        if new:
            yield ObserveRequest.of(new, user_id=self._user_id, session_id=self._session_id)
        return ids

    def _pop(self) -> Steps[Any]:
        while True:
            records = yield from self._records(1)
            if not records:
                return None
            (record,) = records
            if not (yield self._dropped(self._entries, record.key)):
                continue  # another took it
            with suppress(NotFoundError):  # all is being cleared
                value = yield from self._value(record)
                break
        for number in range(1, record.value["parts"]):
            yield self._dropped(self._parts, f"{record.key}/{number}")
        if said := record.value["said"]:
            yield PopRequest.of(user_id=self._user_id, session_id=self._session_id, message_id=said)
        return value

    def _clear(self) -> Steps[None]:
        while page := (yield ListItemsRequest.of(self._place, user_id=self._user_id, limit=_PAGE)):
            for item in page:
                yield self._dropped(item.namespace, item.key)

    def _dropped(self, namespace: tuple[str, ...], key: str) -> DeleteItemRequest:
        return DeleteItemRequest.of(namespace, key, user_id=self._user_id)
