"""An encrypted store: what each of its files leaves readable, its keys, and moving to and fro."""

from __future__ import annotations

import errno
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from ingest.encryption import Cipher, new_key
from semantic_memory import SemanticMemory, repair
from semantic_memory.application.encrypting import INTENT, convert_store
from semantic_memory.application.keyring import make_encryption
from semantic_memory.application.migration import migrate_stores
from semantic_memory.disk import SystemDisk
from semantic_memory.domain.errors import (
    ConfigurationError,
    LedgerBehindError,
    MissingDependencyError,
    NotFoundError,
    StoreCorruptError,
    StoreLockedError,
    StoreUnavailableError,
)
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.entrypoints.api.replies import Reply
from semantic_memory.entrypoints.rights import Right
from semantic_memory.entrypoints.state.file_keys import FileKeys
from semantic_memory.entrypoints.state.file_replies import FileReplies
from semantic_memory.ledger.sqlite import SqliteLedger, database
from semantic_memory.settings import EncryptionSettings, IngestSettings, Settings, load
from semantic_memory.testing import FrozenClock, HashEmbedder, InMemoryIndex
from tests.conftest import NOW, say
from tests.support.command_line import Cli

U: dict[str, Any] = {"user_id": "maya-schmidt"}
S: dict[str, Any] = {**U, "session_id": "kitchen-plans"}
WORDS = (
    "terracotta",  # of a message
    "Ingeborg",  # the name of its speaker
    "bergamot",  # of a fact
    "larchwood",  # of its text before
    "renovation",  # of its tag
    "blueprint",  # of its metadata
    "schmidt",  # of the user's id
    "kitchen",  # of the session's id
    "saxophone",  # of a forgotten fact
    "plumber",  # of a checkpoint
    "veranda",  # of an answer kept for an idempotency key
    "pavilion",  # the name of an API key
)
OLD, NEW = new_key(), new_key()


class Plan(BaseModel):
    step: str = ""


def secret(*keys: str) -> Settings:
    """Return the settings of a store that is encrypted with `keys`, and does nothing by itself."""
    given = EncryptionSettings(key=",".join(keys)) if keys else EncryptionSettings()
    return Settings(encryption=given, ingest=IngestSettings(background=False))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def opened(store: Path) -> Iterator[Callable[..., SemanticMemory]]:
    """Return a function that opens the store by keys; a plain one without Chroma, if not asked."""
    memories: list[SemanticMemory] = []

    def open_it(*keys: str, chroma: bool = False) -> SemanticMemory:
        memories.append(
            SemanticMemory.open(
                store,
                settings=secret(*keys),
                embedder=HashEmbedder(),
                index=None if keys or chroma else InMemoryIndex(),
                clock=FrozenClock(NOW),
            )
        )
        return memories[-1]

    yield open_it
    for memory in memories:
        memory.close()


def fill(memory: SemanticMemory) -> None:
    """Write every kind of content that a store keeps."""
    directory = memory.admin.settings.data_dir
    encryption = make_encryption(memory.admin.settings)
    memory.observe(say("The tiles are terracotta", name="Ingeborg"), **S)
    fact = memory.add("Likes larchwood", tags=["renovation"], metadata={"from": "blueprint"}, **U)
    memory.update(fact.id, content="Likes bergamot")
    memory.delete(memory.add("Plays the saxophone", **U).id)
    session = memory.sessions.open(**S)
    session.payload("Which tiles?")
    session.checkpoint("Call the plumber", Plan).save(Plan(step="Call the plumber"))
    memory.flush()
    memory.search("tiles", **U)
    memory.flush()
    FileKeys(directory, encryption).create("pavilion", ["maya-schmidt"], [Right.READ], NOW)
    keys = () if encryption is None else encryption.database_keys
    replies = FileReplies(directory / "replies.sqlite3", FrozenClock(NOW), keys)
    replies.keep("name", Reply("print", 201, "application/json", b'{"content": "A veranda"}'))
    replies.close()


def readable(directory: Path) -> dict[str, set[str]]:
    """Return the words that files hold in plain text, or have in their names, by file."""
    found: dict[str, set[str]] = {}
    for path in directory.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        held = content.lower() + str(path.relative_to(directory)).encode()
        if words := {word for word in WORDS if word.lower().encode() in held}:
            found[str(path.relative_to(directory))] = words
    return found


def contents(memory: SemanticMemory) -> list[Any]:
    session = memory.sessions.open(**S)
    return [
        sorted(fact.content for fact in memory.list(**U)),
        [hit.fact.content for hit in memory.search("Which tiles, and what is liked?", **U)],
        [message.content for message in memory.sessions.messages(**S)],
        session.checkpoint("Call the plumber", Plan).load(),
        [
            version.fact.content
            for fact in memory.list(**U)
            for version in memory.history.versions(fact.id)
        ],
        [
            key.name
            for key in FileKeys(
                memory.admin.settings.data_dir, make_encryption(memory.admin.settings)
            ).read()
        ],
    ]


# -------------------------------------------------------------------- what is readable


def test_every_word_is_readable_somewhere_in_a_plain_store(opened, store):
    memory = opened(chroma=True)
    fill(memory)
    memory.close()
    found = readable(store)
    assert set().union(*found.values()) == set(WORDS)
    assert any(name.startswith("chroma") for name in found)


def test_no_word_is_readable_in_an_encrypted_store_open_closed_or_killed(opened, store, tmp_path):
    memory = opened(NEW)
    fill(memory)
    assert readable(store) == {}
    killed = tmp_path / "killed"  # what a process that ends here leaves
    shutil.copytree(store, killed, ignore=shutil.ignore_patterns("lock"))
    assert (killed / "ledger.sqlite3-wal").stat().st_size
    before = contents(memory)
    memory.close()
    assert readable(store) == {}
    assert readable(killed) == {}
    assert contents(opened(NEW)) == before
    with SemanticMemory.open(
        killed, settings=secret(NEW), embedder=HashEmbedder(), clock=FrozenClock(NOW)
    ) as after:
        assert contents(after) == before
    assert readable(killed) == {}


def test_an_encrypted_store_keeps_no_index_and_finds_all_the_same(opened, store):
    memory = opened(NEW)
    fill(memory)
    assert not (store / "chroma").exists()
    assert "The tiles are terracotta" in memory.search("terracotta tiles", **U)[0].fact.content
    listed = [fact.content for fact in memory.list(**U)]
    assert {"The tiles are terracotta", "Likes bergamot"} <= set(listed)
    assert memory.admin.rebuild() == len(listed)


def test_a_user_who_outgrew_the_partitions_is_searched_in_the_ledger(store):
    settings = secret(NEW)
    settings = settings.model_copy(
        update={"index": settings.index.model_copy(update={"exact_limit": 1})}
    )
    with SemanticMemory.open(store, settings=settings, embedder=HashEmbedder()) as memory:
        for content in ("Likes tea", "Plays chess", "Lives in Bonn"):
            memory.add(content, **U)
        memory.flush()
        assert memory.search("plays chess", k=1, **U)[0].fact.content == "Plays chess"
        assert "Plays chess" not in {
            hit.fact.content
            for hit in memory.search("plays chess", filters={"categories": ["finding"]}, **U)
        }


def test_the_table_of_what_is_readable_names_every_file(opened, store):
    for keys in ((), (NEW,)):
        memory = opened(*keys, chroma=True)
        fill(memory)
        found = {path.name for path in store.iterdir()}
        memory.close()
        if keys:
            convert(store, OLD, NEW)
        found |= {path.name for path in store.iterdir()}
        shutil.rmtree(store)
        page = Path(__file__).parents[2] / "docs" / "concepts" / "security.md"
        text = page.read_text(encoding="utf-8")
        rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| ")]
        named = set(re.findall(r"[\w.-]+", " ".join(rows)))
        listed = named | {f"{name}{end}" for name in named for end in ("-wal", "-shm")}
        assert found - listed == set()


def test_forgetting_and_upkeep_work_in_an_encrypted_store(opened, store):
    memory = opened(NEW)
    fill(memory)
    assert memory.forget(user_id="maya-schmidt", everything=True)
    assert not [run.error for run in memory.jobs.run() if run.error]
    memory.flush()
    assert memory.list(**U) == []
    assert memory.sessions.list(**U) == []
    assert all(finding.ok for finding in memory.admin.check())


# -------------------------------------------------------------------- keys


@pytest.mark.parametrize("keys", [(), (OLD,)])
def test_without_the_right_key_nothing_opens_and_nothing_is_changed(opened, store, keys):
    memory = opened(NEW)
    fill(memory)
    memory.close()
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    with pytest.raises(ConfigurationError, match=r"encryption\.key_file"):
        opened(*keys)
    with pytest.raises(ConfigurationError, match=r"encryption\.key_file"):
        repair.recover(store, settings=secret(*keys), embedder=HashEmbedder())
    with pytest.raises(ConfigurationError, match=r"encryption\.key_file"):
        FileKeys(store, make_encryption(secret(*keys))).read()
    assert {path: path.read_bytes() for path in store.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("keys", [(), (OLD,)])
def test_a_ledger_alone_tells_that_it_is_encrypted(tmp_path, keys, capfd):
    path = tmp_path / "ledger.sqlite3"
    SqliteLedger(path, keys=Cipher([NEW]).database_keys).close()
    with pytest.raises(ConfigurationError, match=r"is encrypted.*encryption\.key_file"):
        SqliteLedger(path, keys=Cipher(keys).database_keys if keys else ())
    assert capfd.readouterr().err == ""  # SQLCipher reports by itself otherwise


def test_a_lost_ledger_is_not_begun_anew_under_another_key(opened, store):
    memory = opened(NEW)
    fill(memory)
    memory.close()
    for path in store.glob("ledger.sqlite3*"):
        path.unlink()
    with pytest.raises(LedgerBehindError):
        opened(NEW)
    with pytest.raises(ConfigurationError, match="another key"):
        repair.recover(store, settings=secret(OLD), embedder=HashEmbedder())
    assert not (store / "ledger.sqlite3").exists()
    repair.recover(store, settings=secret(NEW), embedder=HashEmbedder())
    assert [one.content for one in opened(NEW).list(**U)] == ["The tiles are terracotta"]
    assert readable(store) == {}


def test_a_damaged_page_of_an_encrypted_ledger_is_an_error_that_says_so(opened, store):
    memory = opened(NEW)
    fill(memory)
    memory.close()
    path = store / "ledger.sqlite3"
    pages = bytearray(path.read_bytes())
    for start in range(4_096, len(pages), 4_096):
        pages[start + 100] ^= 1
    path.write_bytes(pages)
    with pytest.raises(StoreCorruptError, match="recover"):
        opened(NEW).list(**U)


@pytest.mark.parametrize("page", [b"\0" * 4_096, b"not a database" * 300])
def test_a_file_that_is_no_database_is_called_damaged_with_a_key_too(tmp_path, page):
    path = tmp_path / "ledger.sqlite3"
    path.write_bytes(page)
    for keys in ((), Cipher([NEW]).database_keys):
        with pytest.raises((StoreCorruptError, ConfigurationError), match=r"damaged|plain text"):
            SqliteLedger(path, keys=keys)


def test_the_former_names_of_the_settings_name_the_present_ones(monkeypatch):
    monkeypatch.setenv("SEMANTIC_MEMORY_LOG__KEY_FILE", "/etc/key")
    with pytest.raises(ConfigurationError, match=r"encryption\.key_file now"):
        load()


def test_without_sqlcipher_its_install_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sqlcipher3.dbapi2", None)
    with pytest.raises(
        MissingDependencyError, match=r"pip install 'semantic-memory\[encryption\]'"
    ):
        SqliteLedger(tmp_path / "ledger.sqlite3", keys=Cipher([NEW]).database_keys)
    assert not (tmp_path / "ledger.sqlite3").exists()


def test_one_key_for_each_store_is_erasure_of_one_store_in_backups_too(tmp_path):
    kept: dict[str, str] = {"maya": new_key(), "kim": new_key()}
    for user, key in kept.items():
        with SemanticMemory.open(
            tmp_path / user, settings=secret(key), embedder=HashEmbedder()
        ) as memory:
            memory.observe(say(f"I am {user}"), user_id=user, session_id="s")
            memory.flush()
    shutil.copytree(tmp_path / "maya", tmp_path / "backup")
    del kept["maya"]
    for settings in (secret(), secret(kept["kim"])):
        with pytest.raises(ConfigurationError):
            SemanticMemory.open(tmp_path / "backup", settings=settings, embedder=HashEmbedder())
    with SemanticMemory.open(
        tmp_path / "kim", settings=secret(kept["kim"]), embedder=HashEmbedder()
    ) as memory:
        assert memory.list(user_id="kim")


# -------------------------------------------------------------------- to and fro


def convert(store: Path, *keys: str, encrypt: bool = True, disk: Disk | None = None) -> Any:
    return convert_store(store, Cipher(keys), 0.0, encrypt=encrypt, disk=disk or SystemDisk())


def test_a_plain_store_is_encrypted_and_decrypted_again(opened, store):
    memory = opened(chroma=True)
    fill(memory)
    memory.flush()
    before = contents(memory)
    memory.close()
    (store / "sessions" / "draft").mkdir()
    (store / "sessions" / "draft" / "left.new").write_text("terracotta")
    assert (store / "chroma").exists()

    assert convert(store, NEW) == (2, 1, 2)
    assert readable(store) == {}
    memory = opened(NEW)
    assert contents(memory) == before
    assert all(finding.ok for finding in memory.admin.check())
    memory.observe(say("And a larchwood floor", start=2), **S)
    memory.flush()
    assert readable(store) == {}
    memory.close()

    convert(store, NEW, encrypt=False)
    memory = opened(chroma=True)
    memory.flush()
    assert len(memory.sessions.messages(**S)) == 2
    assert all(finding.ok for finding in memory.admin.check())
    assert contents(memory)[3] == before[3]
    assert b"terracotta" in b"".join(path.read_bytes() for path in store.rglob("*.jsonl"))


def test_the_pipeline_goes_on_where_it_was_and_reads_no_message_again(opened, store):
    memory = opened()
    memory.observe(say("One", "Two", "Three"), **S)
    memory.flush()
    memory.close()
    convert(store, NEW)
    seen: list[Any] = []
    with SemanticMemory.open(
        store, settings=secret(NEW), embedder=HashEmbedder(), observer=seen.append
    ) as memory:
        memory.observe(say("Four", start=4), **S)
        memory.flush()
        assert len(memory.list(**U)) == 4
    assert "CursorLost" not in {type(event).__name__ for event in seen}


def test_keys_are_rotated_and_the_old_one_opens_nothing_then(opened, store):
    memory = opened(OLD)
    fill(memory)
    before = contents(memory)
    memory.close()
    memory = opened(NEW, OLD)  # both open it meanwhile, and it says what is left to do
    assert contents(memory) == before
    (finding,) = [one for one in memory.admin.check() if one.check == "encryption"]
    assert not finding.ok
    assert "ledger.sqlite3, replies.sqlite3, 1 session logs" in finding.detail
    assert finding.remedy == "close the store and run semantic-memory admin encrypt"
    memory.close()
    convert(store, NEW, OLD)
    with pytest.raises(ConfigurationError):
        opened(OLD)
    memory = opened(NEW)
    assert contents(memory) == before
    assert all(finding.ok for finding in memory.admin.check())
    assert readable(store) == {}


def test_a_store_without_its_key_is_not_converted(opened, store):
    memory = opened(OLD)
    fill(memory)
    memory.close()
    for encrypt in (True, False):
        with pytest.raises(ConfigurationError):
            convert(store, NEW, encrypt=encrypt)
    assert not (store / INTENT).exists()
    assert contents(opened(OLD))


@pytest.mark.parametrize("encrypt", [True, False])
def test_a_damaged_ledger_is_not_converted_and_stays_as_it_is(opened, store, encrypt):
    memory = opened(*(() if encrypt else (NEW,)))
    fill(memory)
    memory.close()
    path = store / "ledger.sqlite3"
    pages = bytearray(path.read_bytes())
    for start in range(4_096, len(pages), 4_096):
        pages[start : start + 4_000] = bytes(4_000)
    path.write_bytes(pages)
    with pytest.raises(StoreCorruptError, match="recover"):
        convert(store, NEW, encrypt=encrypt)
    assert path.read_bytes() == pages
    assert not (store / INTENT).exists()  # so that it can be moved away and recovered
    assert not (store / "ledger.sqlite3.new").exists()


def test_a_store_in_use_or_missing_is_not_converted(opened, store):
    with pytest.raises(NotFoundError):
        convert(store, NEW)
    memory = opened()
    with pytest.raises(StoreLockedError):
        convert(store, NEW)
    memory.close()
    for path in store.glob("ledger.sqlite3*"):
        path.unlink()
    with pytest.raises(LedgerBehindError):
        convert(store, NEW)


def test_copies_are_private(opened, store):
    memory = opened()
    fill(memory)
    memory.close()
    convert(store, NEW)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in store.rglob("*") if path.is_file()}
    assert modes == {0o600}


def test_migrate_brings_encrypted_stores_to_the_newest_schema(opened, store):
    opened(NEW).close()
    (found,) = migrate_stores([store], 0.0, keys=Cipher([NEW]).database_keys)
    assert found.error is None
    (found,) = migrate_stores([store], 0.0, keys=Cipher([OLD]).database_keys)
    assert "another key" in str(found.error)


def test_a_full_disk_leaves_the_store_as_it_was(opened, store):
    memory = opened()
    fill(memory)
    before = contents(memory)
    memory.close()

    class FullDisk(SystemDisk):
        def sync(self, file: int) -> None:
            if (store / "ledger.sqlite3.new").exists():
                raise OSError(errno.ENOSPC, "No space left on device")
            super().sync(file)

    with pytest.raises(StoreUnavailableError, match="No space left"):
        convert(store, NEW, disk=FullDisk())
    assert not (store / "ledger.sqlite3.new").exists()
    assert contents(opened()) == before


class KilledError(BaseException):
    """The process ends here."""


class DeadlyDisk(SystemDisk):
    """A disk that ends the process at the call of number `last`."""

    def __init__(self, last: int) -> None:
        self._left = last

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise KilledError

    def open(self, path: Path, flags: int) -> int:
        self._count()
        return super().open(path, flags)

    def write(self, file: int, data: bytes | memoryview) -> int:
        self._count()
        return super().write(file, data)

    def replace(self, source: Path, target: Path) -> None:
        self._count()
        super().replace(source, target)

    def remove(self, path: Path) -> None:
        self._count()
        super().remove(path)


@pytest.mark.parametrize("encrypt", [True, False])
def test_a_conversion_killed_at_any_call_is_finished_by_running_it_again(
    opened, store, tmp_path, encrypt
):
    memory = opened(*(() if encrypt else (NEW,)))
    fill(memory)
    before = contents(memory)
    memory.close()
    original = tmp_path / "original"
    store.rename(original)
    for number in range(1_000):
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(original, store)
        try:
            convert(store, NEW, encrypt=encrypt, disk=DeadlyDisk(number))
        except KilledError:
            if (store / INTENT).exists():
                for keys in ((), (NEW,)):
                    with pytest.raises(ConfigurationError, match="was cut off"):
                        opened(*keys)
        else:
            break
        # Finished in either direction, it is whole.
        convert(store, NEW, encrypt=encrypt if number % 2 else True)
        if encrypt or not number % 2:
            assert readable(store) == {}
        if number % 6 == 0:
            with SemanticMemory.open(
                store, settings=secret(NEW), embedder=HashEmbedder(), clock=FrozenClock(NOW)
            ) as again:
                assert contents(again) == before
    assert number > 15


def test_no_key_is_written_anywhere(opened, store):
    memory = opened(NEW)
    fill(memory)
    memory.close()
    (key,) = Cipher([NEW]).database_keys
    for path in store.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not any(one in content for one in (NEW.encode(), key, key.hex().encode()))
    assert database.is_plain(store / "ledger.sqlite3") is False


# -------------------------------------------------------------------- the command line


def test_a_store_is_run_encrypted_from_the_command_line(tmp_path, monkeypatch):
    store, backup, key = tmp_path / "store", tmp_path / "backup", tmp_path / "key"
    cli = Cli(store)
    cli("add", "Likes bergamot", "--user", "maya")
    assert "no key is set" in cli("admin", "encrypt", code=2).stderr
    cli("admin", "new-key", str(key))
    monkeypatch.setenv("SEMANTIC_MEMORY_ENCRYPTION__KEY_FILE", str(key))
    assert "semantic-memory admin encrypt" in cli("list", "--user", "maya", code=2).stderr
    assert cli.json("admin", "encrypt") == {"databases": 1, "logs": 0, "files": 0}
    cli("keys", "create", "pavilion", "--user", "maya")
    assert readable(store) == {}
    assert all(finding["ok"] for finding in cli.json("admin", "check"))
    shutil.copytree(store, backup)
    cli("add", "Plays the saxophone", "--user", "maya")
    assert "saxophone" in cli("transfer", "export", "--user", "maya").stdout
    assert cli.json("search", "What music?", "--user", "maya")

    (store / "ledger.sqlite3").write_bytes((backup / "ledger.sqlite3").read_bytes())
    assert "recover" in cli("list", "--user", "maya", code=1).stderr
    assert cli.json("admin", "recover")["memories"] == 1
    assert [fact["content"] for fact in cli.json("list", "--user", "maya")] == ["Likes bergamot"]
    assert readable(store) == {}

    monkeypatch.delenv("SEMANTIC_MEMORY_ENCRYPTION__KEY_FILE")
    assert "encryption.key_file" in cli("list", "--user", "maya", code=2).stderr
    monkeypatch.setenv("SEMANTIC_MEMORY_ENCRYPTION__KEY_FILE", str(key))
    cli("admin", "decrypt")
    monkeypatch.delenv("SEMANTIC_MEMORY_ENCRYPTION__KEY_FILE")
    assert "bergamot" in cli("list", "--user", "maya").stdout
    assert "pavilion" in cli("keys", "list").stdout
