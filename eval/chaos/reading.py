"""The state of the database and the answers of each worker, as values to be checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import chromadb
import psycopg
from psycopg import sql

from eval.chaos.clients import Promises, is_stray, marks_in
from semantic_memory.client import Client
from semantic_memory.domain.errors import NotFoundError

_PROBES = 6  # searches of each user
_PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Row:
    """A memory as the table has it."""

    user_id: str
    content: str
    category: str
    status: str
    said_in: tuple[str, ...]
    """The messages it was drawn from, as session/message."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The state of the database."""

    memories: Mapping[str, Row]
    """All memories by id, tombstones included."""
    logged: Mapping[tuple[str, str, str], frozenset[str]]
    """Marks of the lines of session logs, by user, session and message."""
    extracted: Mapping[tuple[str, str], int]
    """Messages whose extraction was committed, by user and session, each time counted."""
    reached: Mapping[tuple[str, str], int]
    """Messages behind which extraction stands, by user and session."""
    marks: Mapping[str, frozenset[str]]
    """Marks of texts that are anywhere in a table, or in Chroma's collections, by their name."""

    def believed(self, user_id: str) -> dict[str, Row]:
        """Return a user's memories that are believed now, by id."""
        return {
            name: row
            for name, row in self.memories.items()
            if row.user_id == user_id and row.status == "active"
        }

    def listed(self, user_id: str) -> dict[str, str]:
        """Return the texts of a user's memories that are believed now, by id."""
        return {name: row.content for name, row in self.believed(user_id).items()}


@dataclass(frozen=True, slots=True)
class Found:
    """A hit: a memory's id and text, and its score."""

    memory_id: str
    content: str
    score: float


class Question(NamedTuple):
    """A search of a user's memories for one of their texts."""

    user_id: str
    text: str
    category: str | None
    """The category of the memory, if the search is among those of its category.

    Among all, a message may stand for the fact drawn from it, and the other way round.
    """


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of one worker."""

    worker: str
    listed: Mapping[str, Mapping[str, str]]
    """Texts of memories by user and id."""
    found: Mapping[Question, Sequence[Found]]
    """Hits of each question."""
    messages: Mapping[tuple[str, str], Mapping[str, str]]
    """Texts of messages by user and session, and by id, in their order."""
    strays: Sequence[str]
    """Memories of another user, in any answer."""


def read_tables(url: str, schema: str, chroma_url: str) -> Tables:
    """Read what a schema and a Chroma server hold."""
    with psycopg.connect(url) as connection:
        connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(schema)))
        memories = {
            name: Row(user_id, content, category, status, tuple(said_in.split()))
            for name, user_id, content, category, status, said_in in connection.execute(
                "SELECT id, user_id, content, category, status, said_in FROM facts"
            )
        }
        logged = connection.execute("SELECT user_id, session_id, message_id, line FROM log_lines")
        lines = {tuple(key): frozenset(marks_in(line.decode())) for *key, line in logged}
        extracted = connection.execute(
            "SELECT user_id, session_id, sum(messages)::bigint FROM events"
            " WHERE kind = 'extracted' GROUP BY 1, 2"
        )
        reached = connection.execute(
            "SELECT user_id, session_id, position FROM cursors WHERE stage = 'extracted'"
        )
        return Tables(
            memories=memories,
            logged=lines,
            extracted={(user, session): number for user, session, number in extracted},
            reached={(user, session): number for user, session, number in reached},
            marks=dict(_marks_of_tables(connection, schema)) | {"Chroma": _marks_of(chroma_url)},
        )


def _marks_of_tables(
    connection: psycopg.Connection, schema: str
) -> Iterator[tuple[str, frozenset[str]]]:
    names = connection.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace"
        " AND relkind IN ('r', 'p') AND NOT relispartition",
        (schema,),
    ).fetchall()
    for (name,) in names:
        marks: set[str] = set()
        for row in connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(name))):
            for value in row:
                marks |= marks_in(
                    value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
                )
        yield name, frozenset(marks)


def _marks_of(chroma_url: str) -> frozenset[str]:
    host, _, port = chroma_url.removeprefix("http://").partition(":")
    client = chromadb.HttpClient(host=host, port=int(port))
    texts = [
        text
        for collection in client.list_collections()
        for text in collection.get(include=["documents"])["documents"] or []
        if text  # a collection's own notes have none
    ]
    return frozenset(mark for text in texts for mark in marks_in(text))


def ask(worker: str, url: str, promises: Promises, tables: Tables) -> Answers:
    """Ask one worker for the listing, messages and some searches of each user."""
    users = sorted({row.user_id for row in tables.memories.values()})
    strays: list[str] = []
    listed: dict[str, dict[str, str]] = {}
    found: dict[Question, list[Found]] = {}
    with Client(url, seconds=_PATIENCE_SECONDS, attempts=100) as client:
        for user_id in users:
            facts = client.list(user_id=user_id, limit=None)
            listed[user_id] = {fact.id: fact.content for fact in facts}
            for question in _questions(user_id, tables):
                filters = question.category and {"categories": [question.category]}
                hits = client.search(question.text, user_id=user_id, k=10, filters=filters)
                facts += [hit.fact for hit in hits]
                found[question] = [Found(hit.fact.id, hit.fact.content, hit.score) for hit in hits]
            strays += [
                f"{worker}, {user_id}: {fact.user_id} {fact.content}"
                for fact in facts
                if is_stray(fact, user_id)
            ]
        messages = {key: _messages(client, *key) for key in promises.said}
    return Answers(worker, listed, found, messages, strays)


def _questions(user_id: str, tables: Tables) -> Iterator[Question]:
    """Yield questions for some of a user's memories, each among all and among its category."""
    texts = sorted((row.content, row.category) for row in tables.believed(user_id).values())
    for text, category in texts[:: max(1, len(texts) // _PROBES)]:
        yield Question(user_id, text, None)
        yield Question(user_id, text, category)


def _messages(client: Client, user_id: str, session_id: str) -> dict[str, str]:
    try:
        said = client.sessions.messages(user_id=user_id, session_id=session_id)
    except NotFoundError:
        return {}
    return {message.id: str(message.content) for message in said}
