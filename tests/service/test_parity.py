"""Every verb is on every face, or is exempted there with a reason; driven by the request types."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import anyio
import pytest
import typer
from pydantic import BaseModel

from semantic_memory import AsyncSemanticMemory, SemanticMemory
from semantic_memory.aio import AsyncBeliefs, AsyncItems
from semantic_memory.beliefs import Beliefs
from semantic_memory.client import AsyncClient, Client, belief_verbs, item_verbs, verbs
from semantic_memory.client.beliefs import AsyncClientBeliefs, ClientBeliefs
from semantic_memory.client.items import AsyncClientItems, ClientItems
from semantic_memory.client.verbs import Verb
from semantic_memory.domain.requests import ListQuery, ProfileTexts, Request
from semantic_memory.entrypoints.callers import ANYONE, Caller
from semantic_memory.entrypoints.cli import app as command_line
from semantic_memory.entrypoints.mcp.server import build_server
from semantic_memory.items import Items
from tests.service.conftest import Served, served

BELIEF_VERBS = ("retired", "undo", "to_confirm", "accept", "reject", "labels")
ITEM_VERBS = ("put", "get", "delete", "list", "search", "namespaces")
LIFECYCLE = {"open", "connect", "close", "reembed", "recover", "settings"}
"""Operations on a store as a whole, in the process that owns it."""
IN_PROCESS = "a session holds its window in the process that talks to the model"
OPERATOR = "for those who operate the store, not for an agent"
FOLLOWED = "a program follows what changes; `list` and `history` show it to a person"
ITEMS = "items are an application's or a framework's own data; `forget` and `export` include them"
REVIEW = "for those who review what is remembered, not for an agent"
EXEMPT: Mapping[str, Mapping[str, str]] = {
    "library": {},
    "async": {"session": IN_PROCESS},
    "client": {"session": IN_PROCESS},
    "async client": {"session": IN_PROCESS},
    "rest": {"session": IN_PROCESS},
    "mcp": {
        "session": IN_PROCESS,
        "add_many": "an agent learns one fact at a time",
        "flush": "an agent never waits for extraction",
        "pop": "the application takes back what it handed over",
        "requests": "an agent heard the request, asks the user, and calls `forget`",
        "settle_request": "forget settles the request for the same subject",
        "verify_receipt": OPERATOR,
        "configure_session": "the application decides what is kept of a session",
        "restore": REVIEW,
        "history": REVIEW,
        "explain": REVIEW,
        "audit": REVIEW,
        "layout": REVIEW,
        "update_profile": REVIEW,
        "profile_history": REVIEW,
        "export": OPERATOR,
        "load": OPERATOR,
        "to_dict": OPERATOR,
        "from_dict": OPERATOR,
        "users": OPERATOR,
        "stats": OPERATOR,
        "check": OPERATOR,
        "maintain": OPERATOR,
        "runs": OPERATOR,
        "rebuild": OPERATOR,
        "events": OPERATOR,
        "subscribe": OPERATOR,
        **{f"items.{verb}": ITEMS for verb in ITEM_VERBS},
        **{f"beliefs.{verb}": REVIEW for verb in BELIEF_VERBS},
    },
    "command line": {
        "session": IN_PROCESS,
        "events": FOLLOWED,
        "subscribe": FOLLOWED,
        "add_many": "`ingest` and `import` take many at once, from a file",
        "flush": "every command that writes flushes before it ends",
        "update": "single fields are changed by applications; `add` and `delete` do for a person",
        "explain": "shown in the dashboard, on a memory's page",
        "layout": "shown in the dashboard, as a map",
        "update_profile": "texts are written by applications that have a form for them",
        "profile_history": "`profile --as-of` shows what a field said at a time",
        "users": "`stats` counts them; their names are for applications",
        "runs": "`maintain` shows the runs that it starts; the dashboard shows all",
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
        "tags": "memory://tags",
        "sessions": "memory://sessions",
        "messages": "memory://sessions/{session_id}",
    },
    "command line": {
        "observe": "ingest",
        "load": "import",
        "to_dict": "export",
        "from_dict": "import",
        "check": "doctor",
        "messages": "log",
        "configure_session": "configure",
        "create_session": "create-session",
        "load_session": "load-session",
        "close_session": "close-session",
        "settle_request": "settle-request",
        **{f"beliefs.{verb}": verb.replace("_", "-") for verb in BELIEF_VERBS},
        "verify_receipt": "verify-receipt",
    },
}


def _requests(kind: type[Request] = Request) -> Iterator[type[Request]]:
    for request in kind.__subclasses__():
        if "verb" in vars(request):
            yield request
        yield from _requests(request)


VERBS = {request.verb: request for request in _requests()}
TABLE = {
    prefix + name.rstrip("_"): verb
    for prefix, table in (("", verbs), ("items.", item_verbs), ("beliefs.", belief_verbs))
    for name, verb in vars(table).items()
    if isinstance(verb, Verb)
}


GROUPS: Mapping[type, Mapping[str, type]] = {
    SemanticMemory: {"items": Items, "beliefs": Beliefs},
    AsyncSemanticMemory: {"items": AsyncItems, "beliefs": AsyncBeliefs},
    Client: {"items": ClientItems, "beliefs": ClientBeliefs},
    AsyncClient: {"items": AsyncClientItems, "beliefs": AsyncClientBeliefs},
}


def public(kind: type) -> set[str]:
    groups = GROUPS[kind]
    own = {name for name in vars(kind) if not name.startswith("_")}
    return own - groups.keys() | {
        f"{group}.{name}"
        for group, holder in groups.items()
        for name in vars(holder)
        if not name.startswith("_")
    }


def method(kind: type, verb: str) -> Any:
    """The method of a face for a verb."""
    group, _, name = verb.rpartition(".")
    return getattr(GROUPS[kind][group] if group else kind, name)


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
        "command line": set(getattr(typer.main.get_command(command_line), "commands", ())),
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
        case "update_profile":
            return sent - {"fields"} | set(ProfileTexts.model_fields)
        case "subscribe":
            return sent | {"limit"}  # of a page, which the same route returns
        case "load" | "from_dict":
            return sent - {"records", "document"}
        case "to_dict":
            return sent | {"format", "q"}
        case "export":
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
