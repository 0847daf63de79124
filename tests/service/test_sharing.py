"""One store for several processes: finding its owner, taking over, and when that is refused."""

from __future__ import annotations

import json
import math
import os
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from ingest.encryption import new_key
from semantic_memory import AsyncSemanticMemory, Message, SemanticMemory, Settings
from semantic_memory.bootstrap import Parts
from semantic_memory.client import Client
from semantic_memory.domain.errors import (
    ConfigurationError,
    EmbedderMismatchError,
    MissingDependencyError,
    NotFoundError,
    ServiceUnavailableError,
    StoreClosedError,
    StoreLockedError,
    StoreUnavailableError,
)
from semantic_memory.domain.facts import Category
from semantic_memory.domain.ports import Observer
from semantic_memory.entrypoints import shared
from semantic_memory.entrypoints.api.server import serving
from semantic_memory.entrypoints.shared import SharedStore
from semantic_memory.ledger.lock import DirectoryLock
from semantic_memory.settings import EncryptionSettings, IngestSettings, LogSettings
from semantic_memory.sharing.owner import (
    Owner,
    announced,
    announcing,
    own_version,
)
from semantic_memory.sharing.sharing import Sharing
from semantic_memory.sharing.sockets import listening
from semantic_memory.testing import HashEmbedder, InMemoryIndex
from tests.support.command_line import Cli

# httpcore leaves the socket of a refused connection to the garbage collection
pytestmark = pytest.mark.filterwarnings(
    r"ignore:unclosed <socket\.socket fd=\d+, family=1:ResourceWarning"
)
U: Any = {"user_id": "maya"}


def connected(store: Path, **options: Any) -> Client:
    parts: dict[str, Any] = {"embedder": HashEmbedder(), "index": InMemoryIndex(), **options}
    return SemanticMemory.connect(store, **parts)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def short() -> Iterator[Path]:
    """A directory whose path leaves room for a socket's name."""
    with tempfile.TemporaryDirectory(prefix="sm") as directory:
        yield Path(directory)


def is_offering(sharing: Sharing) -> bool:
    assert (sharing.owner is None) == (sharing.listener is None)
    return sharing.owner is not None


def owner_of(store: Path) -> Owner:
    found = announced(store, None)
    assert found is not None
    return found


# ---------------------------------------------------------------- sharing and taking over


def test_the_second_process_talks_to_the_first_and_takes_over_when_it_ends(store):
    first, second = connected(store), connected(store)
    tea = first.add("Likes tea", **U)
    assert second.get(tea.id, **U) == tea
    cat = second.add("Has a cat", **U)
    second.observe([Message(id="m1", role="user", content="Hello")], **U, session_id="s")
    second.items.put(["n"], "k", {"a": 1}, **U)
    before = owner_of(store)
    first.close()
    assert announced(store, None) is None
    assert {fact.id for fact in second.list(**U)} >= {tea.id, cat.id}
    assert owner_of(store).token != before.token
    item = second.items.get(["n"], "k", **U)
    assert item is not None
    assert item.value == {"a": 1}
    assert list(second.transfer.export(**U))
    with pytest.raises(NotFoundError, match="no memory"):
        second.get("nothing", **U)
    with connected(store) as third:
        assert third.get(tea.id, **U) == tea
    assert second.get(tea.id, **U) == tea
    second.close()
    assert not (store / "owner.sock").exists()
    with SemanticMemory.open(store, embedder=HashEmbedder(), index=InMemoryIndex()) as opened:
        assert opened.get(tea.id) == tea


def test_a_subscription_goes_on_when_the_owner_ends(store):
    first, second = connected(store), connected(store)
    with second.events.subscribe() as feed:
        tea = first.add("Likes tea", **U)
        assert next(feed).memory_id == tea.id
        first.close()
        cat = second.add("Has a cat", **U)
        assert next(feed).memory_id == cat.id
    second.close()


def test_an_asynchronous_program_shares_a_store(store):
    async def use() -> None:
        parts: dict[str, Any] = {"embedder": HashEmbedder(), "index": InMemoryIndex()}
        first = await AsyncSemanticMemory.connect(store, **parts)
        second = await AsyncSemanticMemory.connect(store, **parts)
        tea = await first.add("Likes tea", **U)
        assert await second.get(tea.id, **U) == tea
        await first.close()
        assert await second.get(tea.id, **U) == tea
        assert [record async for record in second.transfer.export(**U)]
        await second.close()

    anyio.run(use)


def test_many_that_start_at_once_agree_on_one_owner(store):
    facts: list[str] = []
    barrier = threading.Barrier(4)

    def use(name: str) -> None:
        barrier.wait()
        with connected(store) as memory:
            facts.append(memory.add(f"Knows {name}", **U).id)
            barrier.wait()

    threads = [threading.Thread(target=use, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with connected(store) as memory:
        assert {fact.id for fact in memory.list(**U)} == {*facts}
        assert len(facts) == 4


def test_a_request_waits_until_the_owner_has_opened_the_store(store):
    class Slow(HashEmbedder):
        @property
        def identity(self) -> Any:
            time.sleep(0.5)
            return super().identity

    first: list[Client] = []
    opening = threading.Thread(target=lambda: first.append(connected(store, embedder=Slow())))
    opening.start()
    while announced(store, None) is None:
        time.sleep(0.01)
    assert not first
    with connected(store, settings=Settings(data_dir=store, lock_seconds=0)) as second:
        assert second.list(**U) == []
    opening.join()
    first[0].close()


def test_whoever_opens_the_store_itself_calls_it_without_a_socket(store):
    settings = Settings(data_dir=store)
    parts = Parts(embedder=HashEmbedder(), index=InMemoryIndex())
    with (
        SharedStore(settings, "command", lambda: parts) as first,
        SharedStore(settings, "mcp", lambda: parts) as second,
    ):
        assert isinstance(first.memory(), SemanticMemory)
        tea = first.memory().add("Likes tea", **U)
        client = second.memory()
        assert isinstance(client, Client)
        assert client.get(tea.id, **U) == tea
        with pytest.raises(StoreLockedError):
            second.own()
        first.close()
        assert client.get(tea.id, **U) == tea
        assert isinstance(second.memory(), SemanticMemory)
    with pytest.raises(StoreClosedError):
        second.memory()


def test_nothing_of_the_service_is_loaded_until_another_process_comes(store):
    program = (
        "import sys; from semantic_memory.entrypoints.cli.store import opened\n"
        "from pathlib import Path\n"
        "with opened(Path(sys.argv[1])) as memory:\n"
        "    memory.admin.stats()\n"
        "    print((Path(sys.argv[1]) / 'owner.sock').exists())\n"
        "print(sorted({'fastapi', 'uvicorn', 'httpx', 'starlette'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(store)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:2] == ["True", "[]"]


def test_a_request_that_the_owner_left_unanswered_is_sent_again_or_reported(store):
    store.mkdir(mode=0o700)
    lock = DirectoryLock(store)
    received = threading.Event()
    with listening(store) as found:
        owner = Owner(
            pid=os.getpid(),
            role="mcp",
            version=own_version(),
            token="t",
            settings=Settings(data_dir=store).model_dump(mode="json"),
            socket=str(found.path),
        )

        def fail() -> None:
            for _ in range(2):
                connection, _ = found.socket.accept()
                connection.recv(1 << 16)
                connection.close()
                received.set()
            found.socket.close()
            lock.release()

        thread = threading.Thread(target=fail)
        with announcing(store, owner, None):
            thread.start()
            memory = connected(store)
            with pytest.raises(ServiceUnavailableError, match=r"process \d+ \(mcp\).* ended"):
                memory.transfer.load([], **U)  # a stream can be sent once only
            assert received.is_set()
            fact = memory.add("Likes tea", **U)
            thread.join()
    assert [one.id for one in memory.list(**U)] == [fact.id]
    assert len(memory.history.versions(fact.id, **U)) == 1
    memory.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_is_refused_and_takes_nothing_from_its_parent(store):
    with connected(store) as owner, connected(store) as other:
        tea = owner.add("Likes tea", **U)
        assert other.get(tea.id, **U) == tea
        child = os.fork()
        if child == 0:  # an exit code tells how it went
            try:
                owner.get(tea.id, **U)
            except StoreLockedError as error:
                refused = "fork" in str(error)
            reached = other.get(tea.id, **U) == tea
            owner.close()
            other.close()
            os._exit(2 * refused + reached)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
        assert other.get(tea.id, **U) == owner.get(tea.id, **U) == tea


# ---------------------------------------------------------------- who gets in


def test_the_socket_is_private_and_asks_for_the_token(store):
    before = os.umask(0)
    try:
        memory = connected(store)
        modes = {path.name: stat.S_IMODE(path.lstat().st_mode) for path in store.iterdir()}
    finally:
        os.umask(before)
    assert modes["owner.sock"] == modes["service.json"] == 0o600
    assert stat.S_IMODE(store.stat().st_mode) == 0o700
    owner = owner_of(store)
    transport = httpx.HTTPTransport(uds=owner.socket)
    with httpx.Client(transport=transport, base_url="http://localhost") as http:
        assert http.get("/v1/admin/stats").status_code == 401
        token = {"Authorization": f"Bearer {owner.token}"}
        assert http.get("/v1/admin/stats", headers=token).status_code == 200
    memory.close()


def test_a_path_too_long_for_a_socket_is_replaced_by_one_in_the_runtime_directory(
    store, short, monkeypatch
):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short))
    deep = store / ("long" * 30)
    with connected(deep) as first, connected(deep) as second:
        path = owner_of(deep).socket
        assert path is not None
        assert Path(path).parent.parent == short
        assert stat.S_IMODE(Path(path).parent.stat().st_mode) == 0o700
        assert second.get(first.add("Likes tea", **U).id, **U).content == "Likes tea"
    assert not Path(path).exists()
    assert not (deep / "owner.sock").exists()


def test_a_runtime_directory_of_others_is_not_used_and_loopback_asks_for_the_token(
    store, short, monkeypatch
):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short))
    (short / f"semantic-memory-{os.getuid()}").mkdir(mode=0o700)
    (short / f"semantic-memory-{os.getuid()}").chmod(0o777)
    deep = store / ("long" * 30)
    with connected(deep) as first, connected(deep) as second:
        owner = owner_of(deep)
        assert owner.socket is None
        assert owner.url is not None
        assert owner.url.startswith("http://127.0.0.1:")
        assert second.get(first.add("Likes tea", **U).id, **U).content == "Likes tea"
        assert httpx.get(f"{owner.url}/v1/admin/stats").status_code == 401
        first.close()
        assert len(second.list(**U)) == 1


def test_without_unix_sockets_a_port_on_loopback_is_used(store, monkeypatch):
    monkeypatch.delattr(socket, "AF_UNIX")
    with listening(store) as found:
        assert found.path is None
        assert found.url == f"http://127.0.0.1:{found.socket.getsockname()[1]}"


def test_what_a_killed_owner_left_behind_is_replaced(store):
    store.mkdir(mode=0o700)
    with listening(store) as left:
        assert left.path is not None
        os.link(left.path, store / "kept")
    (store / "kept").rename(store / "owner.sock")
    settings = Settings(data_dir=store)
    owner = Owner(
        pid=os.getpid(),
        role="mcp",
        version="0.0.1",
        token="t",
        settings={},
        socket=str(store / "owner.sock"),
    )
    (store / "owner.pid").write_text(str(os.getpid()))
    with announcing(store, owner, None):
        (store / "service.json").rename(store / "copy")
    (store / "copy").rename(store / "service.json")
    assert announced(store, None) == owner
    with connected(store, settings=settings) as first, connected(store) as second:
        assert second.get(first.add("Likes tea", **U).id, **U).content == "Likes tea"


# ---------------------------------------------------------------- what is refused


def test_a_process_that_does_not_share_is_named_after_the_wait(store):
    settings = Settings(data_dir=store, lock_seconds=0.1)
    with (
        SemanticMemory.open(store, embedder=HashEmbedder(), index=InMemoryIndex()) as opened,
        pytest.raises(StoreLockedError, match=rf"in use by process {os.getpid()}.*0\.1 s"),
    ):
        connected(store, settings=settings)
    del opened


def test_a_service_names_the_process_that_has_to_end_before_it_can_start(store):
    with connected(store) as memory:
        refused = Cli(store).process("serve", "--port", "0", code=1).stderr
        assert f"in use by process {os.getpid()} (library), which shares it" in refused
        assert memory.list(**U) == []


def test_an_owner_of_another_version_is_named_with_both(store, monkeypatch):
    with connected(store):
        monkeypatch.setattr("semantic_memory.sharing.owner.version", lambda _: "9.9.9")
        with pytest.raises(StoreLockedError, match=r"\(library\) of semantic-memory \d.*9\.9\.9"):
            connected(store)


def test_an_owner_of_a_version_that_announces_more_is_named_too(store):
    with connected(store):
        said = json.loads((store / "service.json").read_bytes())
        (store / "service.json").write_text(json.dumps({**said, "version": "9.9.9", "more": 1}))
        with pytest.raises(StoreLockedError, match=r"of semantic-memory 9\.9\.9"):
            connected(store)


def test_the_token_of_an_owner_is_not_printed(store):
    with connected(store):
        owner = owner_of(store)
        assert owner.token not in f"{owner!r} {owner}"


def test_an_offer_that_ended_has_no_owner_and_no_socket(store):
    store.mkdir(mode=0o700)
    sharing = Sharing(Settings(data_dir=store), "library", None)
    (store / "owner.pid").write_text(str(os.getpid()))
    with sharing.offered():
        assert sharing.owner == owner_of(store)
        assert is_offering(sharing)
    assert not is_offering(sharing)
    (store / "service.json.new").mkdir()  # it can't be announced
    with pytest.raises(StoreUnavailableError), sharing.offered():
        pass
    assert not is_offering(sharing)
    assert not (store / "owner.sock").exists()


def test_a_server_that_fails_leaves_no_observer_behind(store):
    observers: list[Observer] = []

    def fail(memory: SemanticMemory) -> None:
        with serving(memory, "token", observers):
            assert len(observers) == 1
            raise OSError("the loop ended")

    with SemanticMemory.open(store, embedder=HashEmbedder(), index=InMemoryIndex()) as memory:
        with pytest.raises(OSError, match="the loop ended"):
            fail(memory)
        assert observers == []


def test_settings_that_are_given_must_be_those_of_the_owner(store):
    kept = Settings(
        data_dir=store,
        ingest=IngestSettings(min_confidence=0.8),
        half_life_days={Category.PROJECT: math.inf},
    )
    with connected(store, settings=kept):
        with connected(store, settings=kept), connected(store):
            pass
        other = Settings(data_dir=store, ingest=IngestSettings(min_confidence=0.5))
        with pytest.raises(
            ConfigurationError, match=r"ingest\.min_confidence is 0\.8 there and 0\.5 here"
        ):
            connected(store, settings=other)
        several = Settings(
            data_dir=store, log=LogSettings(secrets="keep"), lock_seconds=3, half_life_days={}
        )
        with pytest.raises(ConfigurationError, match=r"log\.secrets is 'mask' there"):
            connected(store, settings=several)


def test_a_store_that_was_refused_is_refused_again_and_reached_once_it_may_be(store):
    settings = Settings(data_dir=store, ingest=IngestSettings(min_confidence=0.5))
    parts = Parts(embedder=HashEmbedder(), index=InMemoryIndex())
    with SharedStore(settings, "mcp", lambda: parts) as shared_store:
        with connected(store):
            for _ in range(2):
                with pytest.raises(ConfigurationError, match=r"ingest\.min_confidence"):
                    shared_store.memory()
        assert isinstance(shared_store.memory(), SemanticMemory)


def test_secrets_are_neither_announced_nor_compared(store):
    settings = Settings(data_dir=store, embedding={"api_key": "sk-secret"})
    with connected(store, settings=settings), connected(store):
        other = Settings(data_dir=store, embedding={"api_key": "sk-other"})
        with connected(store, settings=other):
            assert b"sk-" not in (store / "service.json").read_bytes()


def test_the_key_of_an_encrypted_store_is_needed_to_reach_its_owner(store):
    encryption = EncryptionSettings(key=new_key())
    settings = Settings(data_dir=store, encryption=encryption)
    with connected(store, settings=settings) as first:
        content = (store / "service.json").read_bytes()
        assert b"token" not in content
        assert b"owner.sock" not in content
        with connected(store, settings=settings) as second:
            assert second.get(first.add("Likes tea", **U).id, **U).content == "Likes tea"
        with pytest.raises(ConfigurationError, match=r"encryption\.key_file"):
            connected(store)
        wrong = Settings(data_dir=store, encryption=EncryptionSettings(key=new_key()))
        with pytest.raises(ConfigurationError, match="key"):
            connected(store, settings=wrong)


def test_a_store_that_cannot_be_opened_is_given_up(store):
    connected(store).close()
    with pytest.raises(EmbedderMismatchError):
        connected(store, embedder=HashEmbedder(dimension=7))
    assert announced(store, None) is None
    connected(store).close()


def test_without_the_service_a_store_is_opened_and_not_shared(store, monkeypatch):
    monkeypatch.setattr(shared, "can_serve", lambda: False)
    with pytest.raises(MissingDependencyError, match=r"pip install 'semantic-memory\[service\]'"):
        connected(store)
    parts = Parts(embedder=HashEmbedder(), index=InMemoryIndex())
    with SharedStore(Settings(data_dir=store), "command", lambda: parts) as alone:
        assert isinstance(alone.memory(), SemanticMemory)
        assert announced(store, None) is None


def test_the_doctor_names_the_owner_and_its_socket(store):
    with connected(store) as memory:
        found = {one.check: one for one in memory.admin.check()}["owner"]
        assert found.ok
        assert f"process {os.getpid()} (library)" in found.detail
        assert str(store / "owner.sock") in found.detail
    with SemanticMemory.open(store, embedder=HashEmbedder(), index=InMemoryIndex()) as opened:
        found = {one.check: one for one in opened.admin.check()}["owner"]
        assert "doesn't share it" in found.detail
