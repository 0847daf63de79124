"""Find the memories, and the sentences of messages, that name an entity or are about a query."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from semantic_memory.application.reach import is_message
from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.english.notation import whole
from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.evidence import pieces, words_of
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.lexical import holds, term, tokens
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.ports import Embedder, Ledger
from semantic_memory.domain.text import stems

_SHARED = 2 / 3  # of the words of a query, from which a sentence is about it
_ALIKE = 0.6  # cosine from which it is, whatever its words
_WORTH_A_LOOK = 0.3  # cosine of a whole memory in which a sentence may be that near
_MOST = 500  # memories looked at for a query
_GOES_ON = regex(rf"\s*{whole(phrases('pronouns.persons'))}", re.IGNORECASE)

Test = Callable[[Sequence[str]], list[bool]]
"""Tells of each sentence whether it is meant."""


@dataclass(frozen=True, slots=True)
class Named:
    """Facts as wholes, and sentences of messages by place."""

    facts: Sequence[Fact] = ()
    sentences: Mapping[str, set[int]] = field(default_factory=dict)


class Naming:
    """Finds what is named. Thread-safe."""

    def __init__(self, ledger: Ledger, embedder: Embedder) -> None:
        self._ledger = ledger
        self._embedder = embedder

    def naming(self, entity: str, user_id: str, filters: Filters) -> Named:
        """Return what names an entity; in a message also the sentences that go on about it."""
        wanted = term(entity)
        words = {"words": (*filters.words, entity)}
        found = self._ledger.ids(user_id, filters.model_copy(update=words))
        return _meant(
            self._ledger.get(found),
            lambda said: _going_on(said, [holds(tokens(one), wanted) for one in said]),
        )

    def about(self, query: str, user_id: str, filters: Filters) -> Named:
        """Return what is about a query, by its words or its meaning."""
        wanted = words_of(query)
        vector = self._vector(query)
        admitted = set(self._ledger.ids(user_id, filters))
        near = [] if vector is None else self._near(vector, user_id)
        matches = self._ledger.words(user_id, stems(query), limit=_MOST, filters=_ANY)
        ids = dict.fromkeys([match.id for match in matches] + near)
        facts = self._ledger.get([one for one in ids if one in admitted])

        def meant(said: Sequence[str]) -> list[bool]:
            shares = [len(wanted & words_of(one)) for one in said]
            by_words = [bool(wanted) and share >= _SHARED * len(wanted) for share in shares]
            alike = [False] * len(said) if vector is None else self._alike(said, vector)
            return _going_on(said, [a or b for a, b in zip(by_words, alike, strict=True)])

        return _meant(facts, meant)

    def _near(self, vector: Matrix, user_id: str) -> list[str]:
        near = [
            match
            for batch in self._ledger.similarities(vector, user_id, _ANY)
            for match in batch
            if match.similarity >= _WORTH_A_LOOK
        ]
        near.sort(key=lambda match: match.similarity, reverse=True)
        return [match.id for match in near[:_MOST]]

    def _vector(self, query: str) -> Matrix | None:
        try:
            vector: Matrix = self._embedder.embed([query], "query")[0]
        except ProviderError:
            return None  # the words alone decide
        return vector

    def _alike(self, said: Sequence[str], vector: Matrix) -> list[bool]:
        try:
            rows = self._embedder.embed([one.strip() or "-" for one in said], "document")
        except ProviderError:
            return [False] * len(said)
        return [bool(score >= _ALIKE) for score in rows @ vector]


_ANY = Filters(statuses=frozenset({"active", "superseded", "quarantined", "archived"}))


def _meant(facts: Sequence[Fact], meant: Test) -> Named:
    whole_facts: list[Fact] = []
    sentences: dict[str, set[int]] = {}
    for fact in facts:
        if not is_message(fact):
            if any(meant([fact.text])):
                whole_facts.append(fact)
            continue
        places = {place for place, one in enumerate(meant(pieces(fact.content))) if one}
        if places:
            sentences[fact.id] = places
    return Named(whole_facts, sentences)


def _going_on(said: Sequence[str], meant: Sequence[bool]) -> list[bool]:
    """Return `meant` with the sentences behind that go on about the same person."""
    found: list[bool] = []
    for sentence, one in zip(said, meant, strict=True):
        found.append(one or (bool(found) and found[-1] and bool(_GOES_ON.match(sentence))))
    return found
