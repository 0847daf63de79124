"""After any damage to Chroma's directory, answers stay the same and nothing is embedded again."""

from __future__ import annotations

import os
import random
import shutil
import signal
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from semantic_memory import Fact, SemanticMemory, repair
from semantic_memory.domain.errors import IndexBrokenError, IndexUnavailableError
from semantic_memory.domain.events import IndexSetAside, IndexSynced, WorkerFailed
from semantic_memory.domain.ports import IndexEntry
from semantic_memory.settings import IndexSettings, Settings
from semantic_memory.testing import HashEmbedder
from semantic_memory.vectors.chroma.process import ChromaProcess
from tests.conftest import eventually, make_fact, unit_vectors
from tests.support.effort import rounds
from tests.support.inside import inside
from tests.support.processes import chroma_workers, is_running

pytestmark = pytest.mark.usefixtures("cold_chroma")  # workers are found by their command lines

SETTINGS = Settings(index=IndexSettings(sync_threshold=50, exact_limit=1))
KILLS = rounds(full=50, quick=4)
QUERIES = [f"item {number}" for number in range(0, 120, 11)]


def answers(memory: SemanticMemory) -> list[list[str]]:
    """Return answers for a user in RAM and one who has outgrown RAM and files: Chroma answers."""
    return [
        [hit.fact.id for hit in memory.search(query, user_id=user, k=5)]
        for user in ("small", "large")
        for query in QUERIES
    ]


def add_items(memory: SemanticMemory, number: int, user: str) -> None:
    """Add memories at once: a user who grows one by one has a file before it is too small."""
    memory.transfer.add_many([{"content": f"Knows item {n}"} for n in range(number)], user_id=user)
    memory.flush()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[str]]]:
    directory = tmp_path_factory.mktemp("sound") / "store"
    with SemanticMemory.open(directory, settings=SETTINGS, embedder=HashEmbedder()) as memory:
        add_items(memory, 1, "small")
        add_items(memory, 120, "large")
        found = answers(memory)
        memory.flush()
        assert "large" not in inside(memory).index.held
    assert not (directory / "partitions").exists(), "the large user may be read from a file"
    assert any((directory / "chroma").glob("*/data_level0.bin"))
    return directory, found


def segments(chroma: Path, name: str = "data_level0.bin") -> list[Path]:
    return sorted(chroma.glob(f"*/{name}"))


def gone(chroma: Path) -> None:
    shutil.rmtree(chroma)


def emptied(chroma: Path) -> None:
    shutil.rmtree(chroma)
    chroma.mkdir()


def cut_vectors(chroma: Path) -> None:
    for path in segments(chroma):
        path.write_bytes(path.read_bytes()[:-1_000])


def scribbled_vectors(chroma: Path) -> None:
    for path in segments(chroma):
        data = bytearray(path.read_bytes())
        data[100:5_000] = random.Random(1).randbytes(4_900)
        path.write_bytes(data)


def scribbled_links(chroma: Path) -> None:
    for path in segments(chroma, "link_lists.bin"):
        path.write_bytes(b"\xff" * max(64, path.stat().st_size))


def no_segments(chroma: Path) -> None:
    for path in segments(chroma):
        shutil.rmtree(path.parent)


def no_pickle(chroma: Path) -> None:
    for path in segments(chroma, "index_metadata.pickle"):
        path.unlink()


def no_database(chroma: Path) -> None:
    (chroma / "chroma.sqlite3").unlink()


def cut_database(chroma: Path) -> None:
    path = chroma / "chroma.sqlite3"
    path.write_bytes(path.read_bytes()[:5_000])


def scribbled_database(chroma: Path) -> None:
    path = chroma / "chroma.sqlite3"
    data = bytearray(path.read_bytes())
    for start in range(4_096, len(data), 16_384):
        data[start : start + 2_048] = random.Random(start).randbytes(2_048)
    path.write_bytes(data)


def flipped_position(chroma: Path) -> None:
    flip(chroma / "position", 4)  # a number far ahead of the ledger's


def flipped_seal(chroma: Path) -> None:
    flip(chroma / "seal.json", 30)


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


DAMAGES: list[Callable[[Path], None]] = [
    gone, emptied, cut_vectors, scribbled_vectors, scribbled_links, no_segments, no_pickle,
    no_database, cut_database, scribbled_database, flipped_position, flipped_seal,
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damage_is_said_and_repaired_without_embedding(sound, tmp_path, damage) -> None:
    original, expected = sound
    directory = tmp_path / "store"
    shutil.copytree(original, directory)
    damage(directory / "chroma")
    embedder = HashEmbedder()
    events: list[object] = []
    with SemanticMemory.open(
        directory, settings=SETTINGS, embedder=embedder, observer=events.append
    ) as memory:
        assert answers(memory) == expected
        memory.flush()
        memory.add("Knows one more", user_id="later")  # wakes what has been opened by nothing yet
        memory.flush()
        assert [finding for finding in memory.admin.check() if not finding.ok] == []
        assert answers(memory) == expected
    said = [event.reason for event in events if isinstance(event, IndexSetAside)]
    assert said
    # the queries twice, what was added, and the sentences by which profiles are read
    assert embedder.embedded == 2 * len(expected) + 1


def write_until_it_dies(
    index: ChromaProcess, fresh: list[IndexEntry], acknowledged: list[IndexEntry]
) -> None:
    while True:
        for start in range(0, len(fresh), 10):
            index.upsert(fresh[start : start + 10])
            acknowledged.extend(fresh[start : start + 10])


def test_kills_during_the_flush_are_noticed_or_harmless(tmp_path: Path) -> None:
    """After a kill during writing, the reopened index must have all that it reports."""
    directory = tmp_path / "chroma"
    dice = random.Random(3)
    entries: list[IndexEntry] = []
    outcomes: Counter[str] = Counter()
    for kill in range(KILLS):
        try:
            index = ChromaProcess(directory, "g", sync_threshold=25)
        except IndexBrokenError as error:
            outcomes["loaded and died" if "SIG" in str(error) else "noticed"] += 1
            shutil.rmtree(directory)
            entries.clear()
            index = ChromaProcess(directory, "g", sync_threshold=25)
        else:
            outcomes["opened"] += 1
            held = index.ids()
            present = [entry for entry in entries if entry.fact.id in held]
            for entry in dice.sample(present, min(20, len(present))):
                (match,) = index.query(entry.windows[0], user_id="u1", limit=1)
                assert match.id == entry.fact.id
                assert match.similarity == pytest.approx(1.0, abs=1e-4)

        fresh = [
            IndexEntry(make_fact(1_000 * kill + n), unit_vectors(1, 64, seed=1_000 * kill + n))
            for n in range(400)
        ]
        killer = threading.Timer(dice.uniform(0.0, 0.6), os.kill, (index.pid, signal.SIGKILL))
        killer.start()
        with pytest.raises(IndexUnavailableError, match="SIGKILL"):
            write_until_it_dies(index, fresh, entries)
        killer.join()
        index.close()
    assert outcomes.keys() <= {"noticed", "opened"}
    assert len(outcomes) == 2 or KILLS < 50, "the kills came too late to say anything"


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGSEGV])
def test_a_worker_that_dies_is_replaced_and_the_service_goes_on(tmp_path: Path, way: int) -> None:
    """After a kill the index is kept; after a crash it is rebuilt."""
    events: list[object] = []
    with SemanticMemory.open(
        tmp_path, settings=SETTINGS, embedder=HashEmbedder(), observer=events.append
    ) as memory:
        add_items(memory, 60, "large")
        before = answers(memory)
        (worker,) = chroma_workers(tmp_path)
        os.kill(worker, way)
        assert eventually(lambda: not is_running(worker))
        assert answers(memory) == before
        memory.add("Knows one more", user_id="large")
        memory.flush()
        assert [finding for finding in memory.admin.check() if not finding.ok] == []
        (successor,) = chroma_workers(tmp_path)
        assert successor != worker
    aside = [event.reason for event in events if isinstance(event, IndexSetAside)]
    failed = [event.error for event in events if isinstance(event, WorkerFailed)]
    if way == signal.SIGSEGV:
        assert len(aside) == 1
        assert "SIGSEGV" in aside[0]
    else:
        assert aside == []
        assert any("SIGKILL" in error for error in failed)
        assert not (tmp_path / "chroma.broken").exists()


def changed_store(directory: Path, events: list[object]) -> tuple[SemanticMemory, list[Fact]]:
    """Return a store whose user "large" is searched in Chroma, with its memories."""
    memory = SemanticMemory.open(
        directory, settings=SETTINGS, embedder=HashEmbedder(), observer=events.append
    )
    return memory, memory.list(user_id="large", limit=None)


def found_by_meaning(memory: SemanticMemory) -> list[list[tuple[str, float]]]:
    """Return the answers of the synced index itself."""
    memory.flush()
    embedder, keeper = HashEmbedder(), inside(memory).keeper
    keeper.differences()
    return [
        [
            (match.id, round(match.similarity, 4))
            for match in keeper.query(embedder.embed([query], "query")[0], user_id="large", limit=5)
        ]
        for query in QUERIES
    ]


def test_a_restored_ledger_is_not_answered_from_what_it_does_not_know(sound, tmp_path) -> None:
    """Changes after the backup must have left the index too."""
    original, expected = sound
    directory, backup = tmp_path / "store", tmp_path / "backup.sqlite3"
    shutil.copytree(original, directory)
    shutil.copy(directory / "ledger.sqlite3", backup)
    memory, facts = changed_store(directory, [])
    with memory:
        by_meaning = found_by_meaning(memory)
        for fact in facts[:40]:
            memory.update(fact.id, content=f"Forgot what {fact.content} was")
        for fact in facts[40:60]:
            memory.delete(fact.id)
        for number in range(20):
            memory.add(f"Knows item {11 * number} by now", user_id="large")
        assert found_by_meaning(memory) != by_meaning
    shutil.copy(backup, directory / "ledger.sqlite3")
    repair.recover(directory, settings=SETTINGS, embedder=HashEmbedder())
    memory, _ = changed_store(directory, [])
    with memory:
        assert answers(memory) == expected
        assert found_by_meaning(memory) == by_meaning
        assert [finding for finding in memory.admin.check() if not finding.ok] == []
        assert answers(memory) == expected


def test_an_older_copy_of_the_index_is_told_and_filled_anew(sound, tmp_path) -> None:
    original, _ = sound
    directory = tmp_path / "store"
    shutil.copytree(original, directory)
    memory, facts = changed_store(directory, [])
    with memory:
        for fact in facts[:40]:
            memory.update(fact.id, content=f"Forgot what {fact.content} was")
        for fact in facts[40:60]:
            memory.delete(fact.id)
        by_meaning = found_by_meaning(memory)
    shutil.rmtree(directory / "chroma")
    shutil.copytree(original / "chroma", directory / "chroma")
    events: list[object] = []
    memory, _ = changed_store(directory, events)
    with memory:
        assert found_by_meaning(memory) == by_meaning
        assert [finding for finding in memory.admin.check() if not finding.ok] == []
        held = len(inside(memory).ledger.embedded_ids())
    assert [event.reason for event in events if isinstance(event, IndexSetAside)] == [
        "it is an older copy"
    ]
    assert next(event.upserted for event in events if isinstance(event, IndexSynced)) == held
    assert not (directory / "chroma.broken").exists()


def test_compaction_leaves_no_text_in_chroma(tmp_path) -> None:
    with SemanticMemory.open(tmp_path, settings=SETTINGS, embedder=HashEmbedder()) as memory:
        for number in range(3):
            memory.add(f"Plays the saxophone in band {number}", user_id="a")
            memory.add(f"Plays the viola in band {number}", user_id="b")
        memory.flush()
        memory.forget(user_id="a", everything=True)
        memory.jobs.run(["compact"])
        memory.flush()
        assert [finding for finding in memory.admin.check() if not finding.ok] == []
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if b"saxophone" in path.read_bytes()]
    assert [path for path in files if "chroma" in path.parts and b"viola" in path.read_bytes()]
