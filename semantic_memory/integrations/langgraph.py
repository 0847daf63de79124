"""A LangGraph store over the items of a memory.

from semantic_memory.integrations.langgraph import SemanticMemoryStore

store = SemanticMemoryStore(memory, user_of=lambda namespace: namespace[0])
agent = create_agent(model, tools, store=store)
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from operator import attrgetter
from typing import Any

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        InvalidNamespaceError,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        validate_op_namespace,
    )
except ImportError as error:
    raise ImportError(
        "semantic_memory.integrations.langgraph needs LangGraph:"
        " pip install 'semantic-memory[langgraph]'"
    ) from error

from semantic_memory.client import AsyncClient
from semantic_memory.domain import items as kept
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.requests import Request
from semantic_memory.domain.requests.items import (
    DeleteItemRequest,
    GetItemRequest,
    ListItemsRequest,
    NamespacesRequest,
    PutItemRequest,
    SearchItemsRequest,
)
from semantic_memory.domain.values import MAX_QUERY_BYTES, clipped
from semantic_memory.integrations.identifiers import identifier_of
from semantic_memory.integrations.steps import (
    AnyMemory,
    Steps,
    blocking,
    run,
    run_async,
    underlying,
)

_MINUTE = 60.0
_PAGE = 1_000


class SemanticMemoryStore(BaseStore):
    """A `BaseStore` whose items belong to the users of a memory. Thread-safe.

    `user_of` returns the user that owns a namespace, or is the one user of all: `forget` and
    `export` take the items of a user along. Ids with other characters than a memory's are encoded.
    Search is by meaning, with the embedding model of the memory.

    `fields` are the paths of the texts that items are found by, unless a put names its own; all
    of a value by default. `ttl` is LangGraph's, in minutes; an expired item is gone immediately.
    `root` is the first label of the items' namespaces in the memory, for what else it holds.

    Takes an embedded memory or a client of a service. Synchronous calls on a running event loop
    raise `asyncio.InvalidStateError`, as in LangGraph's own asynchronous stores.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: AnyMemory,
        *,
        user_of: Callable[[tuple[str, ...]], str] | str,
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
        root: str = "langgraph",
    ) -> None:
        super().__init__()
        self._memory = underlying(memory)
        self._user_of = user_of
        self._fields = None if fields is None else list(fields)
        self._root = root
        self.ttl_config = ttl
        self._locks: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = (
            weakref.WeakKeyDictionary()
        )
        self._guard = threading.Lock()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Read, then write; the last put of a key wins. Nothing is written if an op is invalid."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._blocking(*self._planned(ops))
        raise asyncio.InvalidStateError(
            f"Synchronous calls to {type(self).__name__} on a running event loop would block it:"
            " use the asynchronous interface, `await store.aget(...)` for `store.get(...)`"
        )

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Read, then write; the last put of a key wins. Nothing is written if an op is invalid."""
        reads, writes = self._planned(ops)
        async with self._turn() if writes else nullcontext():
            if not isinstance(self._memory, AsyncClient):
                return await asyncio.to_thread(self._blocking, reads, writes)
            results = [await run_async(self._memory, steps) for steps in reads]
            for request in writes:
                await attrgetter(request.verb)(self._memory)(**request.given())
            return results

    def sweep_ttl(self) -> int:
        """Erase the items of the memory that have expired; return how many.

        The memory's own job `expiry` does so by schedule.
        """
        runs = blocking(self._memory).jobs.run(["expiry"])
        return sum(one.counts.get("expired items", 0) for one in runs)

    def _blocking(self, reads: Sequence[Steps[Result]], writes: Sequence[Request]) -> list[Result]:
        memory = blocking(self._memory)
        results = [run(memory, steps) for steps in reads]
        for request in writes:
            attrgetter(request.verb)(memory)(**request.given())
        return results

    def _turn(self) -> asyncio.Lock:
        """Return the lock in whose order the writes of an event loop are done."""
        with self._guard:
            return self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())

    def _planned(self, ops: Iterable[Op]) -> tuple[list[Steps[Result]], list[Request]]:
        """Return the steps of each op, and the writes. Raises InvalidInputError."""
        reads: list[Steps[Result]] = []
        writes: dict[tuple[tuple[str, ...], str], Request] = {}
        for op in ops:
            validate_op_namespace(op)
            if isinstance(op, PutOp):
                if not op.namespace:
                    raise InvalidNamespaceError("Namespace cannot be empty.")
                writes.pop((op.namespace, op.key), None)
                writes[op.namespace, op.key] = self._write(op)
            reads.append(self._read(op))
        return reads, [*writes.values()]

    def _write(self, op: PutOp) -> Request:
        namespace, user_id = self._place(op.namespace), self._owner(op.namespace)
        if op.value is None:
            return DeleteItemRequest.of(namespace, op.key, user_id=user_id)
        return PutItemRequest.of(
            namespace,
            op.key,
            op.value,
            user_id=user_id,
            ttl=None if op.ttl is None else op.ttl * _MINUTE,
            index=self._fields if op.index is None else op.index,
        )

    def _read(self, op: Op) -> Steps[Result]:
        match op:
            case GetOp():
                return self._get(op)
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
            case PutOp():
                return _nothing()
        raise ValueError(f"unknown operation {op!r}")

    def _get(self, op: GetOp) -> Steps[Result]:
        if not op.namespace:
            return None
        owner = self._owner(op.namespace)
        found: kept.Item | None = yield GetItemRequest.of(
            self._place(op.namespace), op.key, user_id=owner, refresh=op.refresh_ttl
        )
        return None if found is None else Item(**self._shown(found))

    def _search(self, op: SearchOp) -> Steps[Result]:
        if op.limit <= 0:
            return []
        asked: dict[str, Any] = {
            "namespace": self._place(op.namespace_prefix),
            "user_id": self._only_user,
            "filters": op.filter or None,
            "refresh": op.refresh_ttl,
        }
        query = clipped((op.query or "").strip(), MAX_QUERY_BYTES)
        found: list[SearchItem] = []
        while size := min(_PAGE, op.limit - len(found)):
            asked |= {"limit": size, "offset": op.offset + len(found)}
            if query:
                hits = yield SearchItemsRequest.of(query, by="meaning", **asked)
                found += [SearchItem(**self._shown(hit.item), score=hit.score) for hit in hits]
            else:
                hits = yield ListItemsRequest.of(**asked)
                found += [SearchItem(**self._shown(item)) for item in hits]
            if len(hits) < size:
                break
        return found

    def _namespaces(self, op: ListNamespacesOp) -> Steps[Result]:
        known: list[tuple[str, ...]] = []
        while True:
            page = yield NamespacesRequest.of(
                user_id=self._only_user, prefix=[self._root], limit=_PAGE, offset=len(known)
            )
            known += page
            if len(page) < _PAGE:
                break
        found = {
            namespace[1:][: op.max_depth]
            for namespace in known
            if all(_matches(one, namespace[1:]) for one in op.match_conditions or ())
        }
        return sorted(found)[op.offset : op.offset + op.limit]

    @property
    def _only_user(self) -> str | None:
        return identifier_of(self._user_of) if isinstance(self._user_of, str) else None

    def _owner(self, namespace: tuple[str, ...]) -> str:
        if isinstance(self._user_of, str):
            return identifier_of(self._user_of)
        try:
            return identifier_of(self._user_of(namespace))
        except (LookupError, InvalidInputError) as error:
            raise InvalidInputError(
                f"user_of names no owner of the namespace {namespace!r}: {error}"
            ) from error

    def _place(self, namespace: tuple[str, ...]) -> tuple[str, ...]:
        return (self._root, *namespace)

    def _shown(self, item: kept.Item) -> dict[str, Any]:
        return {
            "namespace": item.namespace[1:],
            "key": item.key,
            "value": item.value,
            "created_at": item.created_at,
            "updated_at": item.updated_at,
        }


def _nothing() -> Steps[Result]:
    return None
    yield  # which makes it a generator


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Return True if a namespace begins, or ends, with labels of which `*` stands for any one."""
    labels: Sequence[str] = condition.path
    if condition.match_type == "suffix":
        labels, namespace = labels[::-1], namespace[::-1]
    return kept.begins(namespace, labels)
