"""One JSON document of a user's memory, made of the records of an export and read back as them.

    {"schema_version": 1, "user_id": ..., "sessions": [{"session_id": ..., "options": {...},
     "messages": [...]}], "facts": [...], "lines": [...], "items": [...],
     "profile": {...}, "history": {...}}

`profile` and `history` are for readers: their written parts are among the lines, and the rest is
derived again from the facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import Field

from semantic_memory.domain.errors import SchemaTooNewError
from semantic_memory.domain.refusals import parse
from semantic_memory.domain.values import SCHEMA_VERSION, Value

Document = dict[str, Any]


class _Session(Value):
    session_id: str
    options: Mapping[str, Any] | None = None
    created_at: str | None = None
    closed_at: str | None = None
    messages: tuple[Mapping[str, Any], ...] = ()


class _Document(Value):
    schema_version: int = Field(ge=1)
    user_id: str
    sessions: tuple[_Session, ...] = ()
    facts: tuple[Mapping[str, Any], ...] = ()
    lines: tuple[Mapping[str, Any], ...] = ()
    items: tuple[Mapping[str, Any], ...] = ()
    profile: Mapping[str, Any] | None = None
    history: Mapping[str, Any] | None = None


def check_version(record: Mapping[str, Any], what: str) -> None:
    """Raise SchemaTooNewError for a record whose `schema_version` this package doesn't know.

    Older versions need no migration: every field since the first has a default.
    """
    version = record.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise SchemaTooNewError(
            f"{what}: the export has schema {version}, this version of semantic-memory reads"
            f" {SCHEMA_VERSION} at most: upgrade the package (pip install -U semantic-memory)"
        )


def as_document(records: Iterable[Mapping[str, Any]]) -> Document:
    """Build the document of the records of an export."""
    document: Document = {}
    sessions: dict[str, dict[str, Any]] = {}
    items: dict[str, list[Any]] = {"fact": [], "line": [], "item": []}
    for record in records:
        match record["kind"]:
            case "export":
                document = {name: value for name, value in record.items() if name != "kind"}
            case "session" | "message" as kind:
                name = record["session_id"]
                session = sessions.setdefault(name, {"session_id": name, "messages": []})
                if kind == "message":
                    session["messages"].append(record["message"])
                else:
                    session |= {key: value for key, value in record.items() if key != "kind"}
            case kind:
                items[kind].append(record[kind])
    return {
        **document,
        "sessions": [*sessions.values()],
        "facts": items["fact"],
        "lines": items["line"],
        "items": items["item"],
    }


def as_records(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the records of a document, as `load` reads them.

    Raises InvalidInputError for a document of another form, SchemaTooNewError for a newer one.
    """
    check_version(document, "document")
    read = parse(_Document, "document", document)
    yield {"kind": "export", "schema_version": read.schema_version, "user_id": read.user_id}
    for session in read.sessions:
        yield {"kind": "session", **session.model_dump(exclude={"messages"}, exclude_none=True)}
        for message in session.messages:
            yield {"kind": "message", "session_id": session.session_id, "message": message}
    for fact in read.facts:
        yield {"kind": "fact", "fact": fact}
    for line in read.lines:
        yield {"kind": "line", "line": line}
    for item in read.items:
        yield {"kind": "item", "item": item}
