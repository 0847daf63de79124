"""A model of a store: what it must still know, and what it must not, by words that occur once.

Every text is made of words of its own, so that a word tells whose it is, and whether it was kept
or forgotten. What became of a request that failed is open: its words may be there or not.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from pathlib import Path

from pydantic import BaseModel

from semantic_memory import NotFoundError, SemanticMemory, Status

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprtvz" for vowel in "aou"]
_WORD = re.compile(r"\bq[a-z]{8}\b")


class State(Enum):
    KEPT = "kept"
    GONE = "gone"
    OPEN = "open"


@dataclass
class Word:
    user: str
    state: State
    session: str | None = None
    """The session of whose message it is; None for a fact that was added."""


class Task(BaseModel):
    """The state of a task in a checkpoint."""

    word: str


@dataclass
class Model:
    """All words that were ever given to a store."""

    words: dict[str, Word] = field(default_factory=dict)
    tasks: dict[tuple[str, str], set[str | None]] = field(default_factory=dict)
    """The words that the checkpoint of a session may have; None is no state."""
    checked: Counter[str] = field(default_factory=Counter)
    """Comparisons, by kind."""

    def coin(self, user: str, session: str | None = None) -> str:
        """Return a new word, of which it is open yet whether it is kept."""
        for number in count(len(self.words)):
            digits = hashlib.blake2b(b"%d" % number, digest_size=4).digest()
            word = "q" + "".join(_SYLLABLES[digit % len(_SYLLABLES)] for digit in digits)
            if word not in self.words:
                break
        self.words[word] = Word(user, State.OPEN, session)
        return word

    def become(self, words: Iterable[str], state: State) -> None:
        """Note what became of words; what is forgotten stays so."""
        for word in words:
            if self.words[word].state is not State.GONE:
                self.words[word].state = state

    def saving(self, user: str, session: str, word: str | None) -> None:
        """Note a state that the checkpoint of a session may have from now on."""
        self.tasks.setdefault((user, session), {None}).add(word)

    def saved(self, user: str, session: str, word: str | None) -> None:
        """Note the state that the checkpoint of a session has."""
        self.tasks[user, session] = {word}

    def among(self, user: str, session: str | None = None) -> list[str]:
        """Return the words of a user, or of a session."""
        return [
            word
            for word, known in self.words.items()
            if known.user == user and session in (None, known.session)
        ]

    def kept(self, user: str) -> list[str]:
        """Return the words of a user that the store must know."""
        return [word for word in self.among(user) if self.words[word].state is State.KEPT]

    def erased(self, files: Iterable[Path]) -> None:
        """Raise AssertionError if the bytes of a file hold a forgotten word."""
        gone = [word.encode() for word, known in self.words.items() if known.state is State.GONE]
        for file in files:
            self.checked["files searched for forgotten words"] += 1
            content = file.read_bytes()
            for word in gone:
                assert word not in content, f"{word.decode()} is still in {file.name}"

    # ---------------------------------------------------------------- comparing

    def loaded(self, user: str, session: str, word: str | None) -> None:
        """Raise AssertionError if a checkpoint has a state that it must not have."""
        self.checked["checkpoints compared"] += 1
        expected = self.tasks.get((user, session), {None})
        assert word in expected, f"the checkpoint of {user} {session} has {word}, not {expected}"

    def shown(self, texts: Iterable[str], user: str) -> None:
        """Raise AssertionError if a prompt has what was forgotten, or is another user's."""
        self.checked["prompts compared"] += 1
        for word in (word for text in texts for word in in_text(text)):
            known = self.words[word]
            assert known.user == user, f"{word} of {known.user} is in a prompt of {user}"
            assert known.state is not State.GONE, f"{word} is back in a prompt of {user}"

    def compare(
        self, memory: SemanticMemory, users: Iterable[str], *, strict: bool, said: bool = False
    ) -> None:
        """Raise AssertionError if a store lacks what it must know, or has what it must not.

        Unless `strict`, only one user's words with another are an error. With `said`, only words of
        messages count.
        """
        for user in users:
            listed = self._listed(memory, user)
            logged = self._logged(memory, user)
            found = {
                word
                for asked in self.kept(user)[:3]
                for hit in memory.search(asked, user_id=user, k=5)
                for word in in_text(hit.fact.content)
            }
            self.checked["users compared"] += 1
            self.checked["words compared"] += len(listed | logged | found)
            for word in listed | logged | found:
                known = self.words.get(word)
                if known is None:
                    assert not strict, f"{word} was never said"
                    continue
                assert known.user == user, f"{word} of {known.user} is with {user}"
                counts = strict and (known.session is not None or not said)
                assert not counts or known.state is not State.GONE, f"{word} is back"
            if not strict:
                continue
            for word in self.kept(user):
                if self.words[word].session is not None:
                    assert word in logged, f"{word}, acknowledged, is in no log of {user}"
                elif said:
                    continue
                assert word in listed, f"{word}, acknowledged, is in no memory of {user}"

    def _listed(self, memory: SemanticMemory, user: str) -> set[str]:
        facts = list(memory.list(user_id=user, limit=None))
        for status in set(Status) - {Status.FORGOTTEN}:
            facts += memory.list(user_id=user, status=status, limit=None)
        return {word for fact in facts for word in in_text(fact.content)}

    def _logged(self, memory: SemanticMemory, user: str) -> set[str]:
        words: set[str] = set()
        for session in {known.session for known in self.words.values()} - {None}:
            try:
                said = memory.sessions.messages(user_id=user, session_id=str(session))
            except NotFoundError:
                continue
            words.update(word for message in said for word in in_text(message.content))
        return words


def in_text(text: str) -> list[str]:
    """Return the words of the model in a text."""
    return _WORD.findall(text)
