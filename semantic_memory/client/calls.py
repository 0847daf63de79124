"""The verbs of a service as HTTP requests: method, path, placing of the fields, and answer.

Nothing here does I/O: a verb yields calls, is sent the bodies of their answers, and returns a
value. `semantic_memory.client.tables` has the verbs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any, Generic, ParamSpec, TypeVar

from pydantic import BaseModel, TypeAdapter

from semantic_memory.domain.errors import AccessDeniedError, InvalidInputError
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.requests import Request
from semantic_memory.domain.requests.base import request_of

LINES = "application/x-ndjson"

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """One HTTP request."""

    method: str
    path: str
    query: Mapping[str, Any]
    json: Any = None
    lines: Iterable[bytes] | None = None
    """A body that can be sent once only."""


Steps = Generator[Call, bytes, T]


@dataclass(frozen=True)
class Verb(Generic[P, T]):
    """A row of the table: how a request is built, placed in a call, and answered."""

    build: Callable[P, Request]
    """Builds the request from a caller's arguments."""
    method: str
    path: str
    """With the fields that go into it in braces."""
    read: Callable[[bytes], T]
    """Reads the answer's body."""
    query: tuple[str, ...] = ()
    """The fields that go into the query; all of them, where a method has no body."""
    body: str | None = None
    """The field that is the whole body; by default the body holds all fields that remain."""
    steps: Callable[[Verb[P, T], Any], Steps[T]] | None = None
    """Carries a request out that may take several calls, or none."""

    @property
    def request(self) -> type[Request]:
        """The type of its requests."""
        return request_of(self.build)

    def carried_out(self, request: Request) -> Steps[T]:
        """Yield the calls of a request, and return its answer."""
        if self.steps is not None:
            return (yield from self.steps(self, request))
        return self.read((yield self.call(request)))

    def call(self, request: Request) -> Call:
        """Place the given fields of a request in a call. Raises InvalidInputError."""
        values = request.model_dump(mode="json", exclude_unset=True)
        if self.method == "GET" and (filters := values.pop("filters", None)):
            values["q"] = json.dumps(filters)
        path = self.path
        for name in _in_braces(path):
            path = path.replace(f"{{{name}}}", _segment(values.pop(name)))
        names = self.query if self.method in ("POST", "PATCH") else tuple(values)
        given = {name: values.pop(name, None) for name in names}
        query = {name: value for name, value in given.items() if value is not None}
        return Call(self.method, path, query, values[self.body] if self.body else values or None)


def _in_braces(path: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(path) if name]


def _segment(value: str) -> str:
    if value in (".", ".."):  # which would lead to another path
        raise InvalidInputError(f"no id of a memory: {value!r}")
    return value


class Items(BaseModel, Generic[T]):
    """An answer with several values."""

    items: list[T]
    next: str | None = None


def one(kind: type[T]) -> Callable[[bytes], T]:
    """Read an answer that is one value."""
    return TypeAdapter(kind).validate_json


def written(kind: type[T]) -> Callable[[bytes], T]:
    """Read an answer that a key without the right to read gets as an id alone."""
    read = one(kind)

    def answer(body: bytes) -> T:
        found = json.loads(body)
        items = found.get("items", [found])
        if any(item.keys() == {"id"} for item in items):
            ids = ", ".join(item["id"] for item in items)
            raise AccessDeniedError(f"{ids} was written, but this key has no right to read it")
        return read(body)

    return answer


def many(kind: type[T]) -> Callable[[bytes], list[T]]:
    """Read the items of an answer."""
    items = Items[kind]  # type: ignore[valid-type]  # made at run time
    return lambda answer: items.model_validate_json(answer).items


def written_items(answer: bytes) -> list[Fact]:
    """Read facts that a key without the right to read gets as ids alone."""
    found: list[Fact] = written(Items[Fact])(answer).items
    return found


def number(name: str) -> Callable[[bytes], int]:
    """Read a number of an answer."""
    return lambda answer: int(json.loads(answer)[name])


def nothing(answer: bytes) -> None:
    """Read an answer without a body."""
    del answer


def record(line: bytes) -> dict[str, Any]:
    """Read one JSON object."""
    found: dict[str, Any] = json.loads(line)
    return found
