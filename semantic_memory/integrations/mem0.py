"""mem0's calls over a memory: changing the import is the migration.

from semantic_memory.integrations.mem0 import Memory

m = Memory()
m.add("I'm vegetarian.", user_id="alice")
print(m.search("What can I cook?", user_id="alice")["results"][0]["memory"])

Calls and results are those of mem0 1.x and 2.x: identifiers and limits are taken as arguments, or
in `filters` and `top_k`. What mem0 has as memories are the facts here; the messages that they were
drawn from are kept beside them, and are no results.
"""

from __future__ import annotations

import asyncio
import hashlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

from semantic_memory.client import Client
from semantic_memory.domain.closing import Closing
from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.facts import Category, Fact, FactVersion, Status
from semantic_memory.domain.feed import NOW, MemoryEvent
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.scope import Scope
from semantic_memory.domain.trust import of_role
from semantic_memory.integrations.identifiers import identifier_of
from semantic_memory.memory import SemanticMemory

Result = dict[str, Any]
Results = dict[str, list[Result]]
_LIMIT = 100
_MESSAGES = frozenset({Category.CONVERSATION})
_SESSION = "mem0"
_OPERATORS = {name: f"${name}" for name in ("eq", "ne", "in", "gt", "gte", "lt", "lte")}
_OWN_METADATA = frozenset({"kept_apart", "other_values"})
"""Keys that consolidation writes."""
_CONFIG = ("data_dir",)


class Owner(NamedTuple):
    """The owner of the memories of a call: a user, or else an agent or a run."""

    user_id: str | None
    agent_id: str | None
    run_id: str | None

    @property
    def user(self) -> str:
        """The user of the store."""
        if self.user_id is not None:
            return identifier_of(self.user_id)
        return identifier_of(f"agent:{self.agent_id}" if self.agent_id else f"run:{self.run_id}")

    @property
    def scope(self) -> Scope:
        """The agent and run of the store."""
        ids = (None if one is None else identifier_of(one) for one in (self.agent_id, self.run_id))
        return Scope(*ids)


class Memory(Closing):
    """A store with mem0's calls. Thread-safe."""

    def __init__(
        self,
        config: Mapping[str, Any] | None = None,
        *,
        memory: SemanticMemory | Client | None = None,
    ) -> None:
        """Open the store of the settings, or `data_dir` of the config; or use an open `memory`.

        mem0's other settings name parts that aren't used here, and are warned about.
        """
        given = dict(config or {})
        if unused := sorted(given.keys() - set(_CONFIG)):
            warnings.warn(
                f"settings of mem0 that are not used: {', '.join(unused)}; semantic-memory has its"
                " own, see docs/reference/settings.md",
                stacklevel=2,
            )
        self._memory = memory or SemanticMemory.open(given.get("data_dir"))

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Open a store as the constructor does."""
        return cls(config_dict)

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> Results:
        """Take messages in, and return what they changed: ADD, UPDATE or DELETE for each memory.

        With `infer` the facts are extracted from them, else each message is a memory. Raises
        ValueError without an identifier, and for `memory_type` and `prompt`, which need mem0's
        model.
        """
        if memory_type is not None or prompt is not None:
            raise ValueError("memory_type and prompt are not supported: leave them out")
        owner, said = _owner(user_id, agent_id, run_id), _messages(messages)
        given = dict(metadata or {})
        if not infer:
            return {"results": [self._kept(one, owner, given) for one in said]}
        before = self._memory.events.list(after=NOW).next
        self._memory.observe(
            said,
            user_id=owner.user,
            session_id=identifier_of(owner.run_id) if owner.run_id else _SESSION,
            agent_id=owner.scope.agent_id,
            run_id=owner.scope.run_id,
        )
        self._memory.flush()
        changed = {one.memory_id: one for one in self._events(before, owner.user)}
        found = (self._changed(id_, event, given) for id_, event in changed.items() if id_)
        return {"results": [one for one in found if one]}

    def _kept(self, said: Mapping[str, Any], owner: Owner, metadata: dict[str, Any]) -> Result:
        role = said.get("role", "user")
        fact = self._memory.add(
            said["content"],
            user_id=owner.user,
            agent_id=owner.scope.agent_id,
            run_id=owner.scope.run_id,
            metadata={"role": role, **metadata},
            trust=of_role(role, None),
        )
        return {"id": fact.id, "memory": fact.content, "event": "ADD", "role": role}

    def _events(self, after: int, user: str) -> Iterator[MemoryEvent]:
        while page := self._memory.events.list(after=after, user_id=user):
            yield from page
            after = page.next

    def _changed(self, id_: str, event: MemoryEvent, metadata: dict[str, Any]) -> Result | None:
        if event.category is Category.CONVERSATION or event.kind == "forgotten":
            return None
        try:
            fact = self._memory.get(id_)
        except NotFoundError:  # archived or forgotten since
            return None
        if fact.status is Status.SUPERSEDED:
            return {"id": id_, "memory": fact.content, "event": "DELETE"}
        if fact.status is not Status.ACTIVE:
            return None
        if metadata and not metadata.items() <= fact.metadata.items():
            self._memory.update(id_, metadata={**fact.metadata, **metadata})
        shown: Result = {"id": id_, "memory": fact.content}
        if metadata:
            shown["metadata"] = metadata
        return {**shown, "event": "ADD" if event.kind == "added" else "UPDATE"}

    def search(
        self,
        query: str,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        *,
        limit: int | None = None,
        top_k: int | None = None,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        rerank: bool = True,
    ) -> Results:
        """Return the best memories for a query, best first, with their scores.

        `rerank` is taken and changes nothing: `rerank.searches` of the settings decides.
        """
        del rerank
        owner, narrowed = _narrowed(user_id, agent_id, run_id, filters)
        most = _most(limit, top_k)
        hits = self._memory.search(
            query, user_id=owner.user, k=max(1, most), filters=narrowed, min_score=threshold or 0.0
        )
        found = [{**_item(hit.fact, owner), "score": hit.score} for hit in hits[:most]]
        return {"results": found}

    def get_all(
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        *,
        filters: Mapping[str, Any] | None = None,
        limit: int | None = None,
        top_k: int | None = None,
    ) -> Results:
        """Return memories, newest first."""
        owner, narrowed = _narrowed(user_id, agent_id, run_id, filters)
        most = _most(limit, top_k)
        page = self._memory.list(user_id=owner.user, filters=narrowed, limit=max(1, most))
        return {"results": [_item(fact, owner) for fact in page[:most]]}

    def get(self, memory_id: str) -> Result | None:
        """Return a memory; None if there is none."""
        try:
            return _item(self._memory.get(memory_id))
        except NotFoundError:
            return None

    def update(
        self, memory_id: str, data: str, metadata: Mapping[str, Any] | None = None
    ) -> dict[str, str]:
        """Replace a memory's text. Raises ValueError if there is none."""
        changes: dict[str, Any] = {} if metadata is None else {"metadata": dict(metadata)}
        with _translated(memory_id):
            self._memory.update(memory_id, content=data, **changes)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Delete a memory permanently. Raises ValueError if there is none."""
        with _translated(memory_id):
            self._memory.delete(memory_id)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Delete all memories of a user, an agent or a run, and the messages behind them."""
        if user_id is agent_id is run_id is None:
            raise ValueError(
                "at least one of user_id, agent_id and run_id is needed; reset() deletes everything"
            )
        owner = _owner(user_id, agent_id, run_id)
        if owner.user_id is None or owner.scope == Scope():
            self._memory.forget(user_id=owner.user, everything=True)
        else:
            scope = owner.scope._asdict()
            self._memory.forget(user_id=owner.user, **scope, force=True)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[Result]:
        """Return the changes of a memory's text, oldest first, also of a deleted one."""
        try:
            versions = self._memory.history.versions(memory_id)
        except NotFoundError:
            return []
        return [*_steps(memory_id, versions)]

    def reset(self) -> None:
        """Delete every memory of every user."""
        for user in self._memory.admin.users():
            self._memory.forget(user_id=user, everything=True)

    def chat(self, query: str) -> None:
        """Raise NotImplementedError, as mem0 does."""
        raise NotImplementedError("chat is not supported")

    def close(self) -> None:
        """Close the store."""
        self._memory.close()


class AsyncMemory:
    """A `Memory` whose calls are awaited; each runs on a thread."""

    def __init__(
        self,
        config: Mapping[str, Any] | None = None,
        *,
        memory: SemanticMemory | Client | None = None,
    ) -> None:
        self._blocking = Memory(config, memory=memory)

    @classmethod
    async def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Open a store as the constructor does."""
        return cls(config_dict)

    async def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *ids: str | None,
        **given: Any,
    ) -> Results:
        """Take messages in, as `Memory.add` does."""
        return await asyncio.to_thread(self._blocking.add, messages, *ids, **given)

    async def search(self, query: str, *ids: str | None, **given: Any) -> Results:
        """Return the best memories for a query, as `Memory.search` does."""
        return await asyncio.to_thread(self._blocking.search, query, *ids, **given)

    async def get_all(self, *ids: str | None, **given: Any) -> Results:
        """Return memories, as `Memory.get_all` does."""
        return await asyncio.to_thread(self._blocking.get_all, *ids, **given)

    async def get(self, memory_id: str) -> Result | None:
        """Return a memory; None if there is none."""
        return await asyncio.to_thread(self._blocking.get, memory_id)

    async def update(
        self, memory_id: str, data: str, metadata: Mapping[str, Any] | None = None
    ) -> dict[str, str]:
        """Replace a memory's text."""
        return await asyncio.to_thread(self._blocking.update, memory_id, data, metadata)

    async def delete(self, memory_id: str) -> dict[str, str]:
        """Delete a memory permanently."""
        return await asyncio.to_thread(self._blocking.delete, memory_id)

    async def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Delete all memories of a user, an agent or a run."""
        return await asyncio.to_thread(self._blocking.delete_all, user_id, agent_id, run_id)

    async def history(self, memory_id: str) -> list[Result]:
        """Return the changes of a memory's text."""
        return await asyncio.to_thread(self._blocking.history, memory_id)

    async def reset(self) -> None:
        """Delete every memory of every user."""
        await asyncio.to_thread(self._blocking.reset)

    async def chat(self, query: str) -> None:
        """Raise NotImplementedError, as mem0 does."""
        self._blocking.chat(query)

    def close(self) -> None:
        """Close the store."""
        self._blocking.close()


@contextmanager
def _translated(memory_id: str) -> Iterator[None]:
    """Turn the errors of a memory into those that mem0 raises."""
    try:
        yield
    except NotFoundError:
        raise ValueError(f"Memory with id {memory_id} not found") from None


def _owner(user_id: str | None, agent_id: str | None, run_id: str | None) -> Owner:
    """Return whose memories a call is about. Raises ValueError without any identifier."""
    named = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
    given = {name: _whole_number_as_text(value) for name, value in named.items()}
    for name, value in given.items():
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise ValueError(f"Invalid {name}: must be a text that is not empty (got {value!r})")
    ids = [None if value is None else value.strip() for value in given.values()]
    if not any(ids):
        raise ValueError("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.")
    return Owner(*ids)


def _whole_number_as_text(value: Any) -> Any:
    """Return an id as mem0 has it: those of databases and chats often are numbers."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _narrowed(
    user_id: str | None,
    agent_id: str | None,
    run_id: str | None,
    filters: Mapping[str, Any] | None,
) -> tuple[Owner, Filters]:
    """Return whose memories are meant, and the conditions on them. Raises ValueError."""
    ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
    rest: dict[str, Any] = {}
    parts = dict(filters or {})
    both = [one for one in parts.pop("AND", []) if not _takes_ids(one, ids)]
    for name, value in parts.items():
        if name in ids:
            ids[name] = value
        else:
            rest[name] = value
    if both:
        rest["AND"] = both
    owner = _owner(**ids)
    conditions = {"not_categories": _MESSAGES, **owner.scope.own}
    if rest:
        conditions["metadata"] = _metadata(rest)
    try:
        return owner, Filters.of(conditions)
    except InvalidInputError as error:
        raise ValueError(str(error)) from None


def _takes_ids(part: Any, ids: dict[str, Any]) -> bool:
    """Take identifiers from a part of a conjunction; return True if it has nothing else."""
    if not isinstance(part, Mapping) or not part or not part.keys() <= ids.keys():
        return False
    ids.update(part)
    return True


def _metadata(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return conditions in mem0's operators as those of this memory. Raises ValueError."""
    found: list[dict[str, Any]] = []
    for name, value in filters.items():
        match name:
            case "AND" | "OR":
                found.append({f"${name.lower()}": [_metadata(one) for one in value]})
            case "NOT":
                parts = value if isinstance(value, list) else [value]
                found += [{"$not": _metadata(one)} for one in parts]
            case _:
                found.append({name: _condition(name, value)})
    return found[0] if len(found) == 1 else {"$and": found}


def _condition(name: str, value: Any) -> Any:
    if value == "*":
        return {"$exists": True}
    if not isinstance(value, Mapping):
        return value
    found: dict[str, Any] = {}
    for operator, operand in value.items():
        if operator == "nin":
            found["$not"] = {"$in": operand}
        elif operator in _OPERATORS:
            found[_OPERATORS[operator]] = operand
        else:
            known = ", ".join((*_OPERATORS, "nin"))
            raise ValueError(
                f"filters: {name} has the operator {operator!r}, which is not supported: there are"
                f" {known}, and '*'"
            )
    return found


def _most(limit: int | None, top_k: int | None) -> int:
    most = _LIMIT if limit is None and top_k is None else (top_k if limit is None else limit)
    if not isinstance(most, int) or isinstance(most, bool) or most < 0:
        raise ValueError(f"limit must be a whole number from 0 on (got {most!r})")
    return most


def _messages(
    given: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
) -> list[Mapping[str, Any]]:
    """Return messages as a list. Raises ValueError."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if isinstance(given, Mapping):
        return [_in_blocks(given)]
    said = [one for one in given if isinstance(one, Mapping)] if isinstance(given, Sequence) else []
    if not isinstance(given, Sequence) or len(said) < len(given):
        raise ValueError("messages must be a text, a message, or a list of messages")
    return [_in_blocks(one) for one in said]


def _in_blocks(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message with its content in a list, where mem0 takes a single block."""
    content = message.get("content")
    return {**message, "content": [content]} if isinstance(content, Mapping) else message


def _item(fact: Fact, owner: Owner | None = None) -> Result:
    """Return a memory in mem0's form."""
    metadata = {name: one for name, one in fact.metadata.items() if name not in _OWN_METADATA}
    changed = fact.confirmed_at if fact.version > 1 else None
    ids = {
        "user_id": owner.user_id if owner else fact.user_id,
        "agent_id": fact.agent_id,
        "run_id": fact.run_id,
    }
    return {
        "id": fact.id,
        "memory": fact.content,
        "hash": hashlib.md5(fact.content.encode(), usedforsecurity=False).hexdigest(),
        "metadata": metadata or None,
        "created_at": fact.created_at.isoformat(),
        "updated_at": (changed or fact.valid_from).isoformat() if fact.version > 1 else None,
        **{name: value for name, value in ids.items() if value is not None},
    }


def _steps(memory_id: str, versions: Sequence[FactVersion]) -> Iterator[Result]:
    """Yield the versions in which a memory's text changed, in the form of mem0's history."""
    before: str | None = None
    first = versions[0].at.isoformat() if versions else None
    for place, version in enumerate(versions):
        is_gone = version.fact.status is Status.FORGOTTEN
        text = None if is_gone else version.fact.content
        if text == before:
            continue
        yield {
            "id": f"{memory_id}:{version.version}",
            "memory_id": memory_id,
            "old_memory": before,
            "new_memory": text,
            "event": "DELETE" if is_gone else ("UPDATE" if place else "ADD"),
            "created_at": first,
            "updated_at": version.at.isoformat() if place else None,
            "is_deleted": is_gone,
        }
        before = text
