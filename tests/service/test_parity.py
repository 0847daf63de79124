"""Every verb is on every face, or is exempted there with a reason; driven by the request types."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from semantic_memory import AsyncSemanticMemory, SemanticMemory
from semantic_memory.client import AsyncClient, Client, tables
from semantic_memory.client.calls import Verb
from semantic_memory.domain.requests import ListQuery, ProfileTexts, Request
from semantic_memory.entrypoints.callers import ANYONE, Caller
from semantic_memory.entrypoints.cli import app as command_line
from semantic_memory.entrypoints.mcp.server import build_server
from tests.service.conftest import Served, served
from tests.support.surface import commands, groups, members

LIFECYCLE = {"open", "connect", "close", "admin.settings", "admin.inspection"}
"""Operations on a store as a whole, in the process that owns it."""
IN_PROCESS = "a session holds its window in the process that talks to the model"
OPERATOR = "for those who operate the store, not for an agent"
FOLLOWED = "a program follows what changes; `list` and `history versions` show it to a person"
ITEM_VERBS = ("put", "get", "delete", "list", "search", "namespaces")
ITEMS = "items are an application's or a framework's own data; `forget` and `export` include them"
REVIEW = "for those who review what is remembered, not for an agent"
REVIEWED = (
    "restore versions explain audit retired undo to_confirm accept reject labels requests".split()
)
EXEMPT: Mapping[str, Mapping[str, str]] = {
    "library": {},
    "async": {"sessions.open": IN_PROCESS},
    "client": {"sessions.open": IN_PROCESS},
    "async client": {"sessions.open": IN_PROCESS},
    "rest": {"sessions.open": IN_PROCESS},
    "mcp": {
        "flush": "an agent never waits for extraction",
        "sessions.open": IN_PROCESS,
        "sessions.pop": "the application takes back what it handed over",
        "sessions.configure": "the application decides what is kept of a session",
        "profile.layout": REVIEW,
        "profile.update": REVIEW,
        "profile.history": REVIEW,
        **{f"history.{verb}": REVIEW for verb in REVIEWED if verb != "retired"},
        "history.settle": "forget settles the request for the same subject",
        "transfer.add_many": "an agent learns one fact at a time",
        "transfer.export": OPERATOR,
        "transfer.load": OPERATOR,
        "transfer.to_dict": OPERATOR,
        "transfer.from_dict": OPERATOR,
        "events.list": OPERATOR,
        "events.subscribe": OPERATOR,
        "jobs.run": OPERATOR,
        "jobs.runs": OPERATOR,
        "admin.users": OPERATOR,
        "admin.ids": OPERATOR,
        "admin.stats": OPERATOR,
        "admin.check": OPERATOR,
        "admin.rebuild": OPERATOR,
        "admin.verify_receipt": OPERATOR,
        **{f"items.{verb}": ITEMS for verb in ITEM_VERBS},
    },
    "command line": {
        "flush": "every command that writes flushes before it ends",
        "update": "single fields are changed by applications; `add` and `delete` do for a person",
        "sessions.open": IN_PROCESS,
        "profile.layout": "shown in the dashboard, as a map",
        "profile.update": "texts are written by applications that have a form for them",
        "profile.history": "`profile get --as-of` shows what a field said at a time",
        "history.explain": "shown in the dashboard, on a memory's page",
        "transfer.add_many": "`ingest` and `import` take many at once, from a file",
        "events.list": FOLLOWED,
        "events.subscribe": FOLLOWED,
        "admin.ids": "every command that takes an id takes the beginning of one",
        "admin.users": "`stats` counts them; their names are for applications",
        **{f"items.{verb}": ITEMS for verb in ITEM_VERBS},
    },
}
NAMED_OTHERWISE: Mapping[str, Mapping[str, str]] = {
    "mcp": {
        "add": "remember",
        "search": "recall",
        "context": "recall",
        "update": "update_memory",
        "list": "list_memories",
        "delete": "forget",
        "get": "memory://memories/{memory_id}",
        "history.retired": "memory://changes",
        "profile.get": "profile",
        "profile.tags": "memory://tags",
        "sessions.list": "memory://sessions",
        "sessions.messages": "memory://sessions/{session_id}",
        "sessions.create": "create_session",
        "sessions.load": "load_session",
        "sessions.close": "close_session",
    },
    "command line": {
        "observe": "ingest",
        "history.to_confirm": "history to-confirm",
        "transfer.load": "transfer import",
        "transfer.to_dict": "transfer export",
        "transfer.from_dict": "transfer import",
        "admin.verify_receipt": "admin verify-receipt",
    },
}


def _requests(kind: type[Request] = Request) -> Iterator[type[Request]]:
    for request in kind.__subclasses__():
        if "verb" in vars(request):
            yield request
        yield from _requests(request)


VERBS = {request.verb: request for request in _requests()}
TABLE = {
    (name.rstrip("_") if group == "memory" else f"{group}.{name.rstrip('_')}"): verb
    for group in (one.name for one in pkgutil.iter_modules(tables.__path__))
    for name, verb in vars(import_module(f"{tables.__name__}.{group}")).items()
    if isinstance(verb, Verb)
}


def public(kind: type) -> set[str]:
    found = groups(kind)
    return members(kind).keys() - found.keys() | {
        f"{group}.{name}" for group, holder in found.items() for name in members(holder)
    }


def method(kind: type, verb: str) -> Any:
    """The method of a face for a verb."""
    group, _, name = verb.rpartition(".")
    return getattr(groups(kind)[group] if group else kind, name)


def routes(service: Served) -> dict[tuple[str, str], dict[str, Any]]:
    """Each operation of the service by method and path, with parameters of paths unnamed."""
    return {
        (method.upper(), unnamed(path)): operation
        for path, operations in service.app.openapi()["paths"].items()
        for method, operation in operations.items()
    }


def unnamed(path: str) -> str:
    return re.sub(r"\{\w+\}", "{}", path)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve a store that no case changes."""
    with served(tmp_path_factory.mktemp("parity") / "store") as service:
        yield service


def faces(service: Served) -> dict[str, set[str]]:
    caller = Caller("test", ("maya",), ANYONE)
    server = build_server(lambda: service.memory, lambda _: caller, "all")
    tools = {tool.name for tool in anyio.run(server.list_tools)}
    resources = {one.uri_template for one in anyio.run(server.list_resource_templates)}
    resources |= {str(one.uri) for one in anyio.run(server.list_resources)}
    known = routes(service)
    return {
        "library": public(SemanticMemory),
        "async": public(AsyncSemanticMemory),
        "client": public(Client),
        "async client": public(AsyncClient),
        "rest": {name for name, row in TABLE.items() if (row.method, unnamed(row.path)) in known},
        "mcp": tools | resources,
        "command line": {one.replace(" ", ".") for one in commands(command_line)}
        | set(commands(command_line)),
    }


@pytest.mark.parametrize("face", EXEMPT)
def test_every_verb_is_on_the_face_or_exempted_with_a_reason(service: Served, face: str):
    found = faces(service)[face]
    names = NAMED_OTHERWISE.get(face, {})
    for verb in VERBS:
        on_face = names.get(verb, verb) in found
        assert on_face != (verb in EXEMPT[face]), (face, verb)
    assert EXEMPT[face].keys() <= VERBS.keys()


def test_every_method_of_the_library_has_a_request():
    assert public(SemanticMemory) - LIFECYCLE == VERBS.keys()


def test_the_clients_table_holds_every_verb_once():
    assert TABLE.keys() == VERBS.keys() - EXEMPT["client"].keys()
    for name, row in TABLE.items():
        assert row.request is VERBS[name], name


@pytest.mark.parametrize("name", sorted(TABLE))
def test_the_service_takes_every_field_of_the_request(service: Served, name: str):
    row = TABLE[name]
    operation = routes(service)[row.method, unnamed(row.path)]
    taken = {
        parameter["name"]
        for parameter in operation.get("parameters", [])
        if parameter["in"] in ("path", "query")
    }
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None and "$ref" in body["schema"]:
        document = service.app.openapi()
        schema = document["components"]["schemas"][body["schema"]["$ref"].rpartition("/")[2]]
        taken |= schema["properties"].keys()
    assert taken == _on_the_wire(name)


def _on_the_wire(name: str) -> set[str]:
    """The names under which the fields of a request are sent."""
    sent = set(VERBS[name].model_fields)
    match name:
        case "list":
            return set(ListQuery.model_fields)
        case "profile.update":
            return sent - {"fields"} | set(ProfileTexts.model_fields)
        case "events.subscribe":
            return sent | {"limit"}  # of a page, which the same route returns
        case "transfer.load" | "transfer.from_dict":
            return sent - {"records", "document"}
        case "transfer.to_dict":
            return sent | {"format", "q"}
        case "transfer.export":
            return sent - {"filters"} | {"format", "q"}
    return {"memory_id" if field == "fact_id" else field for field in sent}


@pytest.mark.parametrize("name", sorted(TABLE))
def test_signatures_and_defaults_are_those_of_the_request(name: str):
    request = VERBS[name]
    build = inspect.signature(TABLE[name].build).parameters
    own = dict(inspect.signature(method(SemanticMemory, name)).parameters)
    own.pop("self")
    assert {one: (p.kind, p.default) for one, p in own.items()} == {
        one: (p.kind, p.default) for one, p in build.items()
    }
    for one, parameter in own.items():
        field = request.model_fields.get(one)
        if field is not None and not field.is_required():
            assert _plain(parameter.default) == _plain(
                field.get_default(call_default_factory=True)
            ), one


def _plain(default: Any) -> Any:
    """A default in one form: as JSON would have it, and every way of giving nothing alike."""
    if isinstance(default, BaseModel):
        default = default.model_dump(exclude_defaults=True)
    default = [*default] if isinstance(default, tuple) else default
    return None if default in ("", [], {}, False) else default
