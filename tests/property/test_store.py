"""Ledger, exact scan and index against a dictionary, over any course of writes, ends and returns.

Chroma runs in its own process as in service; `u1` outgrows the scan after a few memories, so that
it is Chroma's word that is taken for it.
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

from semantic_memory import Fact, SemanticMemory
from semantic_memory.index.process import ChromaProcess
from semantic_memory.ports import VectorIndex
from semantic_memory.settings import IndexSettings, Settings
from semantic_memory.testing import FrozenClock, HashEmbedder, InMemoryIndex

WORDS = ("tea", "coffee", "berlin", "oslo", "rust", "python")
USERS = ("u1", "u2")
EMBEDDER = HashEmbedder()
VECTORS = {word: EMBEDDER.embed([word], "query")[0] for word in WORDS}


class Store(RuleBasedStateMachine):
    """A store with Chroma."""

    index: VectorIndex | None = None

    @initialize()
    def open_first(self) -> None:
        self.directory = Path(tempfile.mkdtemp())
        self.clock = FrozenClock()
        self.known: dict[str, Fact] = {}
        self.unembedded: set[str] = set()
        self.backup: dict[str, Fact] | None = None
        self.open()

    def open(self) -> None:
        self.memory = SemanticMemory.open(
            self.directory / "store",
            settings=Settings(index=IndexSettings(exact_limit=6, sync_threshold=10)),
            embedder=HashEmbedder(),
            index=self.index,
            clock=self.clock,
        )

    def expected(self, user: str, word: str) -> dict[str, float]:
        """What an index that is level answers."""
        own = [fact for fact in self.known.values() if fact.user_id == user]
        rows = EMBEDDER.embed([fact.content for fact in own], "document")
        return dict(zip([fact.id for fact in own], (rows @ VECTORS[word]).tolist(), strict=True))

    # ---------------------------------------------------------------- writing

    @rule(
        user=st.sampled_from(USERS), words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)
    )
    def add(self, user: str, words: list[str]) -> None:
        fact = self.memory.add(" ".join(words), user_id=user)
        self.known[fact.id] = fact

    @precondition(lambda self: self.known)
    @rule(data=st.data(), word=st.sampled_from(WORDS))
    def change_content(self, data: st.DataObject, word: str) -> None:
        fact_id = data.draw(st.sampled_from(sorted(self.known)))
        changed = f"{self.known[fact_id].content} {word}"
        self.known[fact_id] = self.memory.update(fact_id, content=changed)
        self.unembedded.add(fact_id)

    @precondition(lambda self: self.known)
    @rule(data=st.data(), confidence=st.floats(0, 1))
    def change_metadata(self, data: st.DataObject, confidence: float) -> None:
        fact_id = data.draw(st.sampled_from(sorted(self.known)))
        self.known[fact_id] = self.memory.update(fact_id, confidence=confidence)

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        fact_id = data.draw(st.sampled_from(sorted(self.known)))
        self.memory.delete(fact_id)
        del self.known[fact_id]

    # ---------------------------------------------------------------- ends and returns

    @rule()
    def restart(self) -> None:
        self.memory.close()
        self.open()

    @rule()
    def back_up_the_ledger(self) -> None:
        self.memory.close()
        shutil.copy(self.directory / "store" / "ledger.sqlite3", self.directory / "backup")
        self.backup = dict(self.known)
        self.open()

    @precondition(lambda self: self.backup is not None and self.index is None)
    @rule()
    def restore_the_ledger(self) -> None:
        assert self.backup is not None
        self.memory.close()
        shutil.copy(self.directory / "backup", self.directory / "store" / "ledger.sqlite3")
        self.unembedded |= {i for i, fact in self.backup.items() if self.known.get(i) != fact}
        self.known = dict(self.backup)
        self.open()

    @precondition(lambda self: isinstance(self.memory._service.keeper._index, ChromaProcess))
    @rule(way=st.sampled_from([signal.SIGKILL, signal.SIGSEGV]))
    def kill_the_worker(self, way: int) -> None:
        worker = self.memory._service.keeper._index
        assert isinstance(worker, ChromaProcess)
        os.kill(worker.pid, way)

    # ---------------------------------------------------------------- asking

    @rule()
    def the_index_holds_what_is_known(self) -> None:
        self.memory.flush()
        self.unembedded.clear()
        keeper = self.memory._service.keeper
        assert keeper.differences() == (set(), set())
        index = keeper._index
        assert index is not None
        assert index.ids() == set(self.known)
        for user in USERS:
            for word in WORDS[:3]:
                found = dict(index.query(VECTORS[word], user_id=user, limit=100))
                assert found == pytest.approx(self.expected(user, word), abs=1e-5)

    @rule(user=st.sampled_from(USERS), word=st.sampled_from(WORDS))
    def what_was_written_is_found_at_once(self, user: str, word: str) -> None:
        service = self.memory._service
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
            self.memory.close()
            shutil.rmtree(self.directory)


class GivenStore(Store):
    """A store with an index that was given to it, and outlives it or is lost."""

    def open(self) -> None:
        self.index = self.index or InMemoryIndex()
        super().open()

    @rule()
    def lose_the_index(self) -> None:
        self.memory.close()
        self.index = None
        self.open()


TestStore = Store.TestCase
TestStore.settings = settings(max_examples=12, stateful_step_count=30, deadline=None)
TestGivenStore = GivenStore.TestCase
TestGivenStore.settings = settings(max_examples=30, stateful_step_count=40, deadline=None)
