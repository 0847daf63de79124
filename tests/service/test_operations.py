"""The documents about the service, and its commands, are true."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from fastapi.routing import iter_route_contexts
from mcp import StdioServerParameters
from mcp.client import Client as McpClient

from eval.load import service as run_service
from semantic_memory.client import Client
from semantic_memory.sharing.owner import announced
from tests.service.conftest import Served
from tests.support.command_line import Cli

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "how-to" / "operations.md").read_text(encoding="utf-8")


def blocks(language: str, page: str = PAGE) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def shown(language: str) -> str:
    """Return the page's snippet of using the service, of nine lines at most."""
    (section,) = re.findall(r"## Use it\n.*?(?=\n## )", PAGE, re.DOTALL)
    snippet = blocks(language, section)[-1]
    assert snippet.count("\n") < 10
    return snippet


def run(*command: str, code: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
        timeout=120,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


# ---------------------------------------------------------------- the page


def test_the_shell_snippet_runs(service: Served):
    if shutil.which("curl") is None:
        pytest.skip("no curl")
    snippet = shown("sh").replace("localhost:8321", f"localhost:{service.port}")
    assert run("/bin/sh", "-c", snippet).stdout.count("Prefers tea to coffee") == 2


def test_the_python_snippet_runs(service: Served):
    snippet = shown("python")
    done = run(sys.executable, "-c", snippet.replace("http://127.0.0.1:8321", service.url))
    assert "Prefers tea to coffee" in done.stdout


def test_the_browser_snippet_runs(service: Served):
    if shutil.which("node") is None:
        pytest.skip("no node")
    service.memory.add("Maya prefers tea", user_id="maya")
    (snippet,) = blocks("js")
    code = snippet.replace("http://127.0.0.1:8321", service.url)
    assert "Maya prefers tea" in run("node", "--input-type=module", "-e", code).stdout


def test_the_agents_configuration_works(tmp_path):
    server = json.loads(shown("json"))["mcpServers"]["memory"]
    assert server["command"] == "semantic-memory"

    async def tools() -> int:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "semantic_memory.entrypoints.cli", *server["args"]],
            env={**os.environ, "SEMANTIC_MEMORY_DATA_DIR": str(tmp_path / "store")},
        )
        async with McpClient(parameters) as client:
            return len((await client.list_tools()).tools)

    assert anyio.run(tools) > 0


def test_the_page_lists_every_route(service: Served):
    routes = {
        f"{method} {route.path}"
        for route in iter_route_contexts(service.app.routes)
        if route.path not in ("/mcp", "/dashboard")
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert {*re.findall(r"`((?:GET|POST|PATCH|DELETE) /[^`]*)`", PAGE)} == routes


def test_the_page_lists_every_metric(service: Served):
    text = service.client().get("/metrics").text
    names = {*re.findall(r"^# TYPE semantic_memory_(\w+) (?!unknown)", text, re.MULTILINE)}
    names = {name for name in names if not name.endswith("_created")}
    table = PAGE[PAGE.index("| metric |") :]
    listed = {*re.findall(r"`(\w+)`", table.partition("## Load")[0])}
    assert names - listed == set()


# ---------------------------------------------------------------- the commands


def test_commands_talk_to_the_service_that_has_the_store_open(service: Served):
    service.token(["nobody"])
    cli = Cli(service.directory)
    with service.announced():
        fact = json.loads(cli.process("add", "Prefers tea", "-u", "maya", "--json").stdout)
        assert service.memory.get(fact["id"]).content == "Prefers tea"
        assert "Prefers tea" in cli.process("search", "tea", "-u", "maya").stdout
        assert fact["id"] in cli("get", fact["id"]).stdout
        assert "no memory" in cli("get", "nothing", code=3).stderr
        assert "memories" in cli("admin", "stats").stdout
    assert "in use by process" in cli.process("admin", "stats", code=1).stderr


def test_what_a_killed_service_left_behind_is_not_taken_for_one(service: Served):
    with service.announced():
        assert announced(service.directory, None) is not None
        (service.directory / "owner.pid").write_text("1")
        assert announced(service.directory, None) is None


def test_keys_are_made_shown_and_revoked(tmp_path):
    cli = Cli(tmp_path / "store")
    made = json.loads(cli.process("keys", "create", "bot", "-u", "team-*", "--json").stdout)
    listed = cli("keys", "list").stdout
    assert made["id"] in listed
    assert "team-*  (read, write)" in listed
    assert made["key"].split("_", 2)[2] not in listed
    assert "digest" not in cli("keys", "list", "--json").stdout
    cli("keys", "revoke", made["id"])
    assert cli("keys", "list").stdout == ""
    cli("keys", "create", "kitchen", "-u", "maya", "--agent", "cook", "--space", "team-a")
    assert "maya  (read, write)  agent cook  reads team-a" in cli("keys", "list").stdout
    cli("keys", "revoke", json.loads(cli("keys", "list", "--json").stdout)[0]["id"])
    assert "no key" in cli("keys", "revoke", made["id"], code=3).stderr


def test_the_configuration_says_where_each_value_came_from(tmp_path, monkeypatch):
    Path("semantic_memory.toml").write_text("[service]\nport = 9000\nthreads = 4\n")
    monkeypatch.setenv("SEMANTIC_MEMORY_SERVICE__PORT", "9001")
    monkeypatch.setenv("SEMANTIC_MEMORY_LLM__OPENAI__API_KEY", "sk-secret")
    shown = Cli(tmp_path / "store")("config", "--json").stdout
    found = json.loads(shown)
    assert found["service.port"] == {"value": 9001, "from": "environment"}
    assert found["service.threads"] == {"value": 4, "from": "semantic_memory.toml"}
    assert found["service.body_bytes"] == {"value": 4_000_000, "from": "default"}
    assert "sk-secret" not in shown


def test_the_service_starts_only_where_it_may_and_says_why(tmp_path):
    store = tmp_path / "store"
    refused = Cli(store).process("serve", "--host", "0.0.0.0", "--port", "0", code=2)
    assert "keys create" in refused.stderr
    with run_service(tmp_path / "other") as (_, url):
        port = url.rpartition(":")[2]
        assert "can't listen" in Cli(store).process("serve", "--port", port, code=2).stderr


def test_a_signal_ends_the_service_in_order(tmp_path):
    store = tmp_path / "store"
    with run_service(store) as (process, url), Client(url) as client:
        client.add("Prefers tea", user_id="maya")
    assert process.returncode == 0
    assert not (store / "service.json").exists()
    assert "Prefers tea" in Cli(store)("list", "-u", "maya").stdout


@pytest.mark.parametrize("command", [("serve",), ("mcp", "--user", "maya")])
def test_what_is_missing_is_named_with_the_install(tmp_path, command):
    code = (
        "import sys; sys.modules['fastapi'] = sys.modules['mcp.server.mcpserver'] = None;"
        f"sys.argv = ['semantic-memory', *{command!r}];"
        "from semantic_memory.entrypoints.cli import main; main()"
    )
    done = run(sys.executable, "-c", code, code=2, SEMANTIC_MEMORY_DATA_DIR=str(tmp_path))
    assert "pip install 'semantic-memory[service]'" in " ".join(done.stderr.split())
