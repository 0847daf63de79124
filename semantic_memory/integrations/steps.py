"""Steps of an operation over a memory of any kind: embedded, or a client, waited for or awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from operator import attrgetter
from typing import Any, TypeVar

from semantic_memory.aio import AsyncSemanticMemory
from semantic_memory.client import AsyncClient, Client
from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.requests import Request
from semantic_memory.memory import SemanticMemory

T = TypeVar("T")
AnyMemory = SemanticMemory | AsyncSemanticMemory | Client | AsyncClient
Steps = Generator[Request, Any, T]
"""Yields requests, is sent their answers, and returns the result of an operation."""


def underlying(memory: AnyMemory) -> SemanticMemory | Client | AsyncClient:
    """Return a memory, or the embedded one that an asynchronous memory runs on threads."""
    return memory.blocking if isinstance(memory, AsyncSemanticMemory) else memory


def blocking(memory: AnyMemory) -> SemanticMemory | Client:
    """Return the memory whose calls can be waited for. Raises InvalidInputError."""
    found = underlying(memory)
    if isinstance(found, AsyncClient):
        raise InvalidInputError(
            "an AsyncClient answers asynchronous methods only: await them, or give a Client"
        )
    return found


def answered(request: Request) -> Steps[Any]:
    """Return the answer to one request."""
    return (yield request)


def run(memory: AnyMemory, steps: Steps[T]) -> T:
    """Carry out the steps of an operation; a request that finds nothing is answered with None."""
    client, answer = blocking(memory), None
    while True:
        try:
            request = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
        try:
            answer = attrgetter(request.verb)(client)(**request.given())
        except NotFoundError:
            answer = None


async def run_async(memory: AnyMemory, steps: Steps[T]) -> T:
    """Carry out the steps of an operation without blocking the event loop."""
    client, answer = underlying(memory), None
    if not isinstance(client, AsyncClient):
        return await asyncio.to_thread(run, client, steps)
    while True:
        try:
            request = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
        try:
            answer = await attrgetter(request.verb)(client)(**request.given())
        except NotFoundError:
            answer = None
