"""Two agents, a terminal and a program on one store at once; the one that owns it is killed."""

from __future__ import annotations

import json
import stat
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from semantic_memory import SemanticMemory
from semantic_memory.client import Client
from semantic_memory.sharing.owner import Owner, announced
from tests.conftest import eventually
from tests.support.agents import agent
from tests.support.command_line import Cli
from tests.support.processes import is_running

# httpcore leaves the socket of a refused connection to the garbage collection
pytestmark = pytest.mark.filterwarnings(
    r"ignore:unclosed <socket\.socket fd=\d+, family=1:ResourceWarning"
)
WRITERS = 3


def owner_of(store: Path) -> Owner:
    found = announced(store, None)
    assert found is not None
    return found


def test_claude_desktop_cursor_and_a_terminal_share_a_store_and_one_is_killed(tmp_path):
    store = tmp_path / "store"
    terminal = Cli(store)
    with ExitStack() as stack:
        desktop = stack.enter_context(agent(store))
        desktop.call("remember", content="Maya prefers tea")
        assert owner_of(store).pid == desktop.pid
        cursor = stack.enter_context(agent(store))
        cursor.call("remember", content="Maya has a cat")
        terminal.process("add", "Maya lives in Oslo", "-u", "maya")
        everything = {"Maya prefers tea", "Maya has a cat", "Maya lives in Oslo"}
        assert desktop.contents() == cursor.contents() == everything
        found = json.loads(terminal.process("search", "tea", "-u", "maya", "--json").stdout)
        assert found[0]["fact"]["content"] == "Maya prefers tea"
        checks = {
            one["check"]: one
            for one in json.loads(terminal.process("admin", "check", "--json").stdout)
        }
        assert f"process {desktop.pid} (mcp)" in checks["owner"]["detail"]

        desktop.kill()
        assert (store / "owner.sock").exists()  # left behind
        assert cursor.contents() == everything
        assert owner_of(store).pid == cursor.pid
        assert stat.S_IMODE((store / "owner.sock").lstat().st_mode) == 0o600
        terminal.process("add", "Maya plays chess", "-u", "maya")
        assert cursor.contents() == {*everything, "Maya plays chess"}

        with agent(store) as restarted:
            restarted.call("remember", content="Maya sings")
            assert owner_of(store).pid == cursor.pid
    assert announced(store, None) is None
    assert not (store / "owner.sock").exists()
    assert "Maya sings" in terminal.process("list", "-u", "maya").stdout


def write(memory: Client, name: str, done: list[str], ended: threading.Event) -> None:
    while not ended.is_set():
        text = f"Maya owns thing {name}{len(done)}"
        done.append(memory.add(text, user_id="maya").id)


def test_what_was_under_way_when_the_owner_was_killed_is_done_by_the_next_one(tmp_path):
    store = tmp_path / "store"
    with agent(store) as desktop:
        desktop.call("remember", content="Maya prefers tea")
        ended = threading.Event()
        written: list[list[str]] = [[] for _ in range(WRITERS)]
        with SemanticMemory.connect(store) as memory:
            threads = [
                threading.Thread(target=write, args=(memory, "abc"[place], done, ended))
                for place, done in enumerate(written)
            ]
            for thread in threads:
                thread.start()
            try:
                assert eventually(lambda: all(len(done) > 2 for done in written), 60.0)
                desktop.kill()
                had = [len(done) for done in written]
                assert eventually(
                    lambda: all(len(done) > n + 2 for done, n in zip(written, had, strict=True)),
                    60.0,
                )
            finally:
                ended.set()
                for thread in threads:
                    thread.join()
            assert not is_running(desktop.pid)
            memory.flush()
            for fact_id in (one for done in written for one in done):
                assert memory.history.versions(fact_id)[-1].action != "forgotten"
            assert [finding for finding in memory.admin.check() if not finding.ok] == []
