"""Search for a user whose memories aren't in RAM."""

import threading

import pytest

from semantic_memory.settings import IndexSettings, Settings
from semantic_memory.testing import InMemoryIndex

LARGE = {"user_id": "large"}
SETTINGS = Settings(index=IndexSettings(exact_limit=20))


class Held(InMemoryIndex):
    """Index that blocks writes while it is held."""

    def __init__(self) -> None:
        super().__init__()
        self.free = threading.Event()
        self.free.set()

    def upsert(self, entries):
        assert self.free.wait(120)
        super().upsert(entries)


@pytest.fixture
def index():
    index = Held()
    yield index
    index.free.set()


@pytest.fixture
def memory(open_memory, index):
    memory = open_memory(index=index, settings=SETTINGS)
    for number in range(30):
        memory.add(f"Plants tree {number} in the garden", **LARGE)
    memory.flush()
    return memory


def test_scores_stay_within_bounds_though_others_use_the_words_much_more(memory):
    memory.add("Sold the tractor", **LARGE)
    for number in range(120):
        memory.add(f"A garden with tree {number}", user_id=f"other-{number % 6}")
    hits = memory.search("garden tree tractor", **LARGE, k=40)
    assert len(hits) == 31
    rarest = max(hits, key=lambda hit: hit.parts.lexical)
    assert rarest.fact.content == "Sold the tractor"
    for hit in hits:
        assert 0 < hit.parts.lexical <= 1
        assert 0 < hit.score <= 1


def test_what_was_just_added_changed_or_deleted_shows_at_once(memory, index):
    index.free.clear()
    added = memory.add("Bought a boat", **LARGE)
    assert memory.search("boat", **LARGE, k=1)[0].fact.id == added.id
    gone = memory.search("tree 7", **LARGE, k=1)[0].fact
    memory.delete(gone.id)
    assert gone.id not in [hit.fact.id for hit in memory.search("tree 7", **LARGE, k=40)]
    sure = memory.search("tree 8", **LARGE, k=1)[0].fact
    memory.update(sure.id, confidence=0.2)
    certain = memory.search("tree 8", **LARGE, k=40, filters={"min_confidence": 0.5})
    assert sure.id not in [hit.fact.id for hit in certain]


def test_a_user_who_outgrows_it_is_found_the_same_way_before_and_after(open_memory):
    memory = open_memory(settings=SETTINGS)
    for number in range(20):
        memory.add(f"Plants tree {number} in the garden", **LARGE)
    before = [hit.fact.content for hit in memory.search("tree 7", **LARGE, k=3)]
    memory.add("Bought a boat", **LARGE)
    after = [hit.fact.content for hit in memory.search("tree 7", **LARGE, k=3)]
    assert before[0] == after[0] == "Plants tree 7 in the garden"
