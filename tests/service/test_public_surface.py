"""The public interface stays unchanged, unless a change is intended.

`UPDATE_GOLDEN=1 python -m pytest tests/service/test_public_surface.py` writes the files anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from semantic_memory.entrypoints.callers import ANYONE, Caller
from semantic_memory.entrypoints.cli import app as command_line
from semantic_memory.entrypoints.mcp.server import build_server
from tests.service.conftest import Served
from tests.support import surface

GOLDEN = Path(__file__).parent.parent / "golden"


def check(name: str, found: dict[str, Any]) -> None:
    file = GOLDEN / f"{name}.json"
    rows = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items())
    text = "{\n" + ",\n".join(rows) + "\n}\n"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_the_library_keeps_its_names_and_signatures():
    check("library", surface.library())


def test_the_service_keeps_its_routes_and_schemas(service: Served):
    check("openapi", surface.wire(service.app.openapi()))


def test_the_command_line_keeps_its_commands_and_options():
    check("command_line", surface.commands(command_line))


def test_the_mcp_server_keeps_its_tools(service: Served):
    caller = Caller("test", ("maya",), ANYONE)
    server = build_server(lambda: service.memory, lambda _: caller, "all")
    tools = anyio.run(server.list_tools)
    check("mcp_tools", {tool.name: surface.schema(tool.input_schema) for tool in tools})


@pytest.mark.parametrize("name", ["openapi", "mcp_tools"])
def test_the_golden_files_hold_no_unresolved_reference(name: str):
    assert "$ref" not in (GOLDEN / f"{name}.json").read_text(encoding="utf-8")
