"""Whatever becomes of Chroma's directory, answers stay the same and nothing is embedded again."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from semantic_memory import SemanticMemory
from semantic_memory.errors import IndexBrokenError
from semantic_memory.events import IndexSetAside
from semantic_memory.index.process import ChromaProcess
from semantic_memory.ports import IndexEntry
from semantic_memory.settings import IndexSettings, Settings
from semantic_memory.testing import HashEmbedder
from tests.conftest import make_fact, unit_vectors

SETTINGS = Settings(index=IndexSettings(sync_threshold=50, exact_limit=40))
QUERIES = [f"item {number}" for number in range(0, 120, 11)]


def answers(memory: SemanticMemory) -> list[list[str]]:
    """Of a user held in RAM and of one who has outgrown it, so that Chroma is asked too."""
    return [
        [hit.fact.id for hit in memory.search(query, user_id=user, k=5)]
        for user in ("small", "large")
        for query in QUERIES
    ]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[str]]]:
    directory = tmp_path_factory.mktemp("sound") / "store"
    with SemanticMemory.open(directory, settings=SETTINGS, embedder=HashEmbedder()) as memory:
        for number in range(120):
            memory.add(f"Knows item {number}", user_id="large")
            if number < 30:
                memory.add(f"Knows item {number}", user_id="small")
        memory.flush()
        found = answers(memory)
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


DAMAGES: list[Callable[[Path], None]] = [
    gone, emptied, cut_vectors, scribbled_vectors, scribbled_links, no_segments, no_pickle,
    no_database, cut_database, scribbled_database,
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damage_is_said_and_repaired_without_embedding(sound, tmp_path, damage) -> None:
    original, expected = sound
    directory = tmp_path / "store"
    shutil.copytree(original, directory)
    damage(directory / "chroma")
    embedder, events = HashEmbedder(), []
    with SemanticMemory.open(
        directory, settings=SETTINGS, embedder=embedder, observer=events.append
    ) as memory:
        assert answers(memory) == expected
        memory.flush()
        memory.add("Knows one more", user_id="small")  # wakes what has been opened by nothing yet
        memory.flush()
        assert [finding for finding in memory.check() if not finding.ok] == []
        assert answers(memory) == expected
    said = [event.reason for event in events if isinstance(event, IndexSetAside)]
    assert said
    assert embedder.embedded == 2 * len(expected) + 1


def write_until_it_dies(
    index: ChromaProcess, fresh: list[IndexEntry], acknowledged: list[IndexEntry]
) -> None:
    while True:
        for start in range(0, len(fresh), 10):
            index.upsert(fresh[start : start + 10])
            acknowledged.extend(fresh[start : start + 10])


@pytest.mark.timeout(900)
def test_kills_during_the_flush_are_noticed_or_harmless(tmp_path: Path) -> None:
    """The worker is killed while it writes; what opens afterwards must hold all that it says."""
    directory = tmp_path / "chroma"
    dice = random.Random(3)
    entries: list[IndexEntry] = []
    outcomes: Counter[str] = Counter()
    for kill in range(50):
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
        killer = threading.Timer(dice.uniform(0.0, 0.6), index._process.kill)
        killer.start()
        with pytest.raises(IndexBrokenError, match="SIGKILL"):
            write_until_it_dies(index, fresh, entries)
        killer.join()
        index.close()
    assert outcomes.keys() == {"noticed", "opened"}


def test_a_worker_that_dies_is_replaced_and_the_service_goes_on(tmp_path: Path) -> None:
    events: list[object] = []
    with SemanticMemory.open(
        tmp_path, settings=SETTINGS, embedder=HashEmbedder(), observer=events.append
    ) as memory:
        for number in range(60):
            memory.add(f"Knows item {number}", user_id="large")
        memory.flush()
        before = answers(memory)
        worker = memory._service.keeper._index
        assert isinstance(worker, ChromaProcess)
        worker._process.kill()
        time.sleep(0.1)
        assert answers(memory) == before
        memory.add("Knows one more", user_id="large")
        memory.flush()
        assert [finding for finding in memory.check() if not finding.ok] == []
    assert any("SIGKILL" in event.reason for event in events if isinstance(event, IndexSetAside))
