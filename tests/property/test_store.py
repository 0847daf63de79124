"""Ledger, exact scan and index against a dictionary, over any course of writes and restarts.

Chroma runs in its own process as in service; `u1` outgrows the scan after a few memories, so that
Chroma answers for it.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from semantic_memory import Fact, SemanticMemory, repair
from semantic_memory.domain.ports import VectorIndex
from semantic_memory.settings import IndexSettings, Settings, UpkeepSettings
from semantic_memory.testing import FrozenClock, HashEmbedder, InMemoryIndex
from tests.support.effort import rounds
from tests.support.inside import inside
from tests.support.processes import chroma_workers

pytestmark = pytest.mark.usefixtures("cold_chroma")  # workers are found by their command lines

WORDS = ("tea", "coffee", "berlin", "oslo", "rust", "python")
USERS = ("u1", "u2")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
EMBEDDER = HashEmbedder()
VECTORS = {word: EMBEDDER.embed([word], "query")[0] for word in WORDS}


class Store(RuleBasedStateMachine):
    """A store with Chroma."""

    index: VectorIndex | None = None

    @initialize()
    def open_first(self) -> None:
        self.directory = Path(tempfile.mkdtemp())
        self.ledger = self.directory / "store" / "ledger.sqlite3"
        self.clock = FrozenClock()
        self.known: dict[str, Fact] = {}
        self.unembedded: set[str] = set()
        self.added = 0
        self.backup: dict[str, Fact] | None = None
        self.open()

    def open(self) -> None:
        self.memory = SemanticMemory.open(
            self.directory / "store",
            settings=Settings(
                index=IndexSettings(exact_limit=3, sync_threshold=10),
                upkeep=UpkeepSettings(schedule=False),
            ),
            embedder=HashEmbedder(),
            index=self.index,
            clock=self.clock,
        )

    def expected(self, user: str, word: str) -> dict[str, float]:
        """Return the answer of a synced index."""
        own = [fact for fact in self.known.values() if fact.user_id == user]
        rows = EMBEDDER.embed([fact.content for fact in own], "document")
        return dict(zip([fact.id for fact in own], (rows @ VECTORS[word]).tolist(), strict=True))

    # ---------------------------------------------------------------- writing

    @rule(user=st.sampled_from(USERS), texts=st.lists(TEXTS, min_size=1, max_size=4))
    def add(self, user: str, texts: list[str]) -> None:
        for text in texts:
            self.added += 1  # a number of its own, so that no two are taken for the same
            fact = self.memory.add(f"{text} {self.added}", user_id=user)
            self.known[fact.id] = fact

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def change(self, data: st.DataObject) -> None:
        if data.draw(st.booleans()):
            self.memory.flush()  # so that the index has it
        ids = [*self.known]  # by age: they are random, and a failure must be the same again
        chosen = st.sets(st.integers(0, len(ids) - 1), min_size=1, max_size=3)
        for fact_id in [ids[place] for place in sorted(data.draw(chosen))]:
            match data.draw(st.sampled_from(["content", "metadata", "delete"])):
                case "content":
                    changed = f"{self.known[fact_id].content} {data.draw(st.sampled_from(WORDS))}"
                    self.known[fact_id] = self.memory.update(fact_id, content=changed)
                    self.unembedded.add(fact_id)
                case "metadata":
                    confidence = data.draw(st.floats(0, 1))
                    self.known[fact_id] = self.memory.update(fact_id, confidence=confidence)
                case "delete":
                    self.memory.delete(fact_id)
                    del self.known[fact_id]

    # ---------------------------------------------------------------- ends and returns

    @rule(what=st.sampled_from(["restart", "backup", "restore", "kill", "crash"]))
    def interrupt(self, what: str) -> None:
        match what:
            case "restart":
                self.memory.close()
                self.open()
            case "backup":
                self.memory.close()
                shutil.copy(self.ledger, self.directory / "backup")
                self.backup = dict(self.known)
                self.open()
            case "restore":
                self.restore()
            case "kill":
                self.end_the_worker(signal.SIGKILL)
            case "crash":
                self.end_the_worker(signal.SIGSEGV)

    def restore(self) -> None:
        if self.backup is not None:
            self.memory.close()
            shutil.copy(self.directory / "backup", self.ledger)
            self.unembedded |= {i for i, fact in self.backup.items() if self.known.get(i) != fact}
            self.known = dict(self.backup)
            self.recover()
            self.open()

    def recover(self) -> None:
        repair.recover(
            self.directory / "store",
            settings=Settings(upkeep=UpkeepSettings(schedule=False)),
            embedder=HashEmbedder(),
            index=self.index,
        )

    def end_the_worker(self, way: int) -> None:
        for worker in chroma_workers(self.directory):
            os.kill(worker, way)

    # ---------------------------------------------------------------- asking

    @rule()
    def the_index_holds_what_is_known(self) -> None:
        self.memory.flush()
        self.unembedded.clear()
        parts = inside(self.memory)
        assert parts.keeper.differences() == (set(), set())
        assert parts.ledger.embedded_ids() == set(self.known)
        for user in USERS:
            for word in WORDS[:3]:
                found = dict(parts.keeper.query(VECTORS[word], user_id=user, limit=100))
                assert found == pytest.approx(self.expected(user, word), abs=1e-5)

    @rule(user=st.sampled_from(USERS), word=st.sampled_from(WORDS))
    def what_was_written_is_found_at_once(self, user: str, word: str) -> None:
        service = inside(self.memory)
        found = dict(service.index.query(VECTORS[word], user_id=user, limit=100))
        expected = self.expected(user, word)
        assert found.keys() <= expected.keys()
        settled = expected.keys() - self.unembedded
        assert {i: found.get(i) for i in settled} == pytest.approx(
            {i: expected[i] for i in settled}, abs=1e-5
        )

    @rule(user=st.sampled_from(USERS), word=st.sampled_from(WORDS))
    def search(self, user: str, word: str) -> None:
        found = {hit.fact.id for hit in self.memory.search(word, user_id=user, k=100)}
        own = {fact.id for fact in self.known.values() if fact.user_id == user}
        assert found <= own
        holding = {self.known[i].content for i in own if word in self.known[i].content.split()}
        assert holding <= {self.known[fact_id].content for fact_id in found}

    @invariant()
    def the_ledger_says_what_was_done(self) -> None:
        if hasattr(self, "memory"):
            for user in USERS:
                listed = {fact.id: fact for fact in self.memory.list(user_id=user, limit=None)}
                assert listed == {i: fact for i, fact in self.known.items() if fact.user_id == user}

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            self.the_index_holds_what_is_known()
            self.memory.close()
            shutil.rmtree(self.directory)


class GivenStore(Store):
    """A store with an index passed by the caller, which outlives it or is lost."""

    def open(self) -> None:
        self.index = self.index or InMemoryIndex()
        super().open()

    def restore(self) -> None:
        """A restored ledger can't be told from the index's own; it needs a `rebuild`."""
        super().restore()
        self.memory.admin.rebuild()

    @rule()
    def lose_the_index(self) -> None:
        self.memory.close()
        self.index = None
        self.open()


TestStore = Store.TestCase
TestStore.settings = settings(
    max_examples=rounds(full=12, quick=2), stateful_step_count=25, deadline=None
)
TestGivenStore = GivenStore.TestCase
TestGivenStore.settings = settings(
    max_examples=rounds(full=30, quick=8), stateful_step_count=40, deadline=None
)
