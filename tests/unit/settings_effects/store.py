"""Effects of the settings of files: directories, the lock, the ledger, session logs."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from ingest.encryption import new_key
from semantic_memory.domain.errors import LogFullError, StoreLockedError, StoreUnavailableError
from semantic_memory.domain.events import LogNearlyFull
from tests.conftest import say
from tests.unit.settings_effects.case import S, Trial, U, effect


@effect("data_dir", lambda run: run.directory / "elsewhere", was=["store"], becomes=["elsewhere"])
def directories_with_a_ledger(run: Trial) -> list[str]:
    run.open()
    return [path.parent.name for path in run.directory.rglob("ledger.sqlite3")]


@effect(
    "cache_dir",
    lambda run: occupied(run.directory / "cache"),
    was="found",
    becomes="refused cache",
    embedding__precision="fp32",
)
def embedding_with_the_cache(run: Trial) -> str:
    memory = run.open(embedder=None)
    try:
        memory.add("Likes tea", **U)
    except StoreUnavailableError as error:
        return f"refused {Path(str(error).split(' in ')[1].split(':')[0]).parent.name}"
    return "found" if memory.search("a hot beverage", **U) else "lost"


@effect("lock_seconds", 0, was=("1", True), becomes=("0", True))
def wait_for_a_store_in_use(run: Trial) -> tuple[str, bool]:
    run.open()
    began = time.monotonic()
    with pytest.raises(StoreLockedError) as caught:
        run.open()
    said = re.findall(r"after a wait of ([\d.]+) s", str(caught.value))[0]
    return said, time.monotonic() - began >= float(said)


@effect(
    "store.url",
    "postgresql://nobody@127.0.0.1:1/memories",
    was="in a directory",
    becomes="127.0.0.1:1/memories can't be reached",
)
def place_of_the_store(run: Trial) -> str:
    try:
        run.open()
    except StoreUnavailableError as error:
        name, _, problem = str(error).removeprefix("ledger ").partition(": it ")
        return f"{name} {problem.partition(':')[0]}"
    return "in a directory" if any(run.directory.rglob("ledger.sqlite3")) else "nowhere"


def readable(run: Trial) -> bool:
    """Return True if the session log contains a message's words."""
    run.open().observe(say("The tiles are terracotta"), **S)
    (log,) = run.directory.rglob("sessions/**/*.jsonl")
    return b"terracotta" in log.read_bytes()


effect("encryption.key", new_key(), was=True, becomes=False)(readable)
effect(
    "encryption.key_file", lambda run: with_a_key(run.directory / "key"), was=True, becomes=False
)(readable)


@effect("log.most_bytes", 10_000, was=False, becomes=True)
def nearly_full_with_a_long_message(run: Trial) -> bool:
    memory = run.open()
    memory.observe(say("x" * 9_500), **S)
    memory.flush()
    return run.seen(LogNearlyFull) != []


@effect("log.refuse_at", 3, was="refused", becomes="accepted", log__most_bytes=10_000)
def after_a_message_of_the_limits_length(run: Trial) -> str:
    memory = run.open()
    memory.observe(say("x" * 9_500), **S)
    try:
        memory.observe(say("One more" + "." * 1_000, start=2), **S)
    except LogFullError:
        return "refused"
    return "accepted"


def observed_despite(run: Trial, failures: int, text: str) -> bool:
    """Return True if a message is accepted though the disk fails so many times."""
    memory = run.open()
    fsync, left = os.fsync, [failures]

    def moody(descriptor: int) -> None:
        if left[0]:
            left[0] -= 1
            raise OSError(5, "Input/output error")
        fsync(descriptor)

    run.patch.setattr(os, "fsync", moody)
    try:
        return memory.observe(say(text), **S).accepted == 1
    except StoreUnavailableError:
        return False


effect("log.patience_seconds", 0, was=True, becomes=False)(
    lambda run: observed_despite(run, 3, "Brief")
)
effect("log.patience_bytes", 100, was=True, becomes=False)(
    lambda run: observed_despite(run, 3, "x" * 200)
)


def occupied(path: Path) -> Path:
    """Return a directory that can't be made, for a file is in its place."""
    path.touch()
    return path


def with_a_key(path: Path) -> Path:
    """Return a file with a new key, readable by its owner alone."""
    path.touch(mode=0o600)
    path.write_text(new_key(), encoding="ascii")
    return path
