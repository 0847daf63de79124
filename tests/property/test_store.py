"""Ledger, exact scan and Chroma against a dictionary, over any course of writes and restarts."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from semantic_memory import Fact, SemanticMemory
from semantic_memory.index.chroma import ChromaIndex
from semantic_memory.settings import IndexSettings, Settings
from semantic_memory.testing import FrozenClock, HashEmbedder

WORDS = ("tea", "coffee", "berlin", "oslo", "rust", "python")
USERS = ("u1", "u2")


class Store(RuleBasedStateMachine):
    """`limit` makes u1 outgrow the scan after a few memories, so that Chroma answers for it."""

    @initialize()
    def open_first(self) -> None:
        self.directory = Path(tempfile.mkdtemp())
        self.clock = FrozenClock()
        self.known: dict[str, Fact] = {}
        self.open()

    def open(self) -> None:
        # Chroma in this process: the machine restarts too often to wait for another.
        self.index = ChromaIndex(self.directory / "index", sync_threshold=10)
        self.memory = SemanticMemory.open(
            self.directory / "store",
            settings=Settings(index=IndexSettings(exact_limit=6)),
            embedder=HashEmbedder(),
            index=self.index,
            clock=self.clock,
        )

    @rule(
        user=st.sampled_from(USERS), words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)
    )
    def add(self, user: str, words: list[str]) -> None:
        fact = self.memory.add(" ".join(words), user_id=user)
        self.known[fact.id] = fact

    @precondition(lambda self: self.known)
    @rule(data=st.data(), word=st.sampled_from(WORDS))
    def update(self, data: st.DataObject, word: str) -> None:
        fact_id = data.draw(st.sampled_from(sorted(self.known)))
        changed = f"{self.known[fact_id].content} {word}"
        self.known[fact_id] = self.memory.update(fact_id, content=changed)

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        fact_id = data.draw(st.sampled_from(sorted(self.known)))
        self.memory.delete(fact_id)
        del self.known[fact_id]

    @rule()
    def restart(self) -> None:
        self.memory.close()
        self.open()

    @rule()
    def level(self) -> None:
        self.memory.flush()
        assert self.index.ids() == set(self.known)

    @rule(user=st.sampled_from(USERS), word=st.sampled_from(WORDS))
    def search(self, user: str, word: str) -> None:
        self.memory.flush()
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


TestStore = Store.TestCase
TestStore.settings = settings(max_examples=15, stateful_step_count=30, deadline=None)
