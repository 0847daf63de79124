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
from semantic_memory.domain.lexical import Term, holds, term, tokens
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.ports import Embedder, InputType, Ledger
from semantic_memory.domain.text import stems
from semantic_memory.language.subjects import (
    Topic,
    introductions,
    is_common,
    neighbours,
    others_topic,
    owner,
    topic,
)

_SHARED = 2 / 3  # of the words of a query, from which a sentence is about it
_ALIKE = 0.6  # cosine from which it is, whatever its words
_LIKE_AN_EXAMPLE = 0.55  # cosine to an example, from which a sentence is on its subject
_WORTH_A_LOOK = 0.3  # cosine of a whole memory in which a sentence may be that near
_MOST = 500  # memories looked at for a query
_GOES_ON = regex(rf"\s*{whole(phrases('pronouns.persons'))}", re.IGNORECASE)

Test = Callable[[Sequence[str]], list[bool]]
"""Returns for each sentence whether it is meant."""


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
        """Return what names an entity; in a message also the sentences that continue about it.

        A person is named by the whole name, and by a first name or surname that nobody else has.
        """
        held = self._holding(entity, user_id, filters)
        test = _Name(entity, [fact.text for fact in held.values()])
        return _meant([*held.values()], lambda said: _going_on(said, [*map(test.is_in, said)]))

    def doubt(self, entity: str, user_id: str) -> str:
        """Return why a word may name more than one thing; empty if it doesn't."""
        if is_common(entity):
            return f"{entity!r} is a common word"
        if entity.islower() or not entity.isalpha():
            return ""
        facts = self._holding(entity, user_id, _ANY).values()
        said = sum(len(re.findall(rf"\b{entity.lower()}\b", fact.text)) for fact in facts)
        return f"{entity!r} is a common word in {said:,} places" if said else ""

    def test(self, subject: str) -> Callable[[str], bool]:
        """Return a test of whether a text names a subject, by its words."""
        wanted = words_of(subject)
        if (found := topic(subject)) is not None:
            return found.is_of
        return lambda text: bool(wanted) and len(wanted & words_of(text)) >= _SHARED * len(wanted)

    def _holding(self, entity: str, user_id: str, filters: Filters) -> dict[str, Fact]:
        """Return the memories that hold a word of an entity, by id."""
        parts = [entity] if entity.endswith("*") else dict.fromkeys((entity, *entity.split()))
        found: dict[str, Fact] = {}
        for part in parts:
            if any(map(str.isalnum, part)):
                found |= self._with_word(part, user_id, filters)
        for surname in _Name(entity, [fact.text for fact in found.values()]).added:
            found |= self._with_word(surname, user_id, filters)
        return found

    def _with_word(self, word: str, user_id: str, filters: Filters) -> dict[str, Fact]:
        words = {"words": (*filters.words, word)}
        ids = self._ledger.ids(user_id, filters.model_copy(update=words))
        return {fact.id: fact for fact in self._ledger.get(ids)}

    def about(self, query: str, user_id: str, filters: Filters) -> Named:
        """Return what is about a query, by its words or its meaning, and of the same owner.

        "where I live" leaves the homes of others; "my job" takes whatever speaks of work.
        """
        if (subject := topic(query)) is not None:
            return self._of_topic(subject, user_id, filters)
        if (named := others_topic(query)) is not None:
            return self._of_topic(named[1], user_id, filters, named[0])
        wanted = words_of(query)
        vector = self._vector(query, "query")  # without it, the words alone decide
        whose = owner(query)
        admitted = set(self._ledger.ids(user_id, filters))
        near = [] if vector is None else self._near(vector, user_id)
        matches = self._ledger.words(user_id, stems(query), limit=_MOST, filters=_ANY)
        ids = dict.fromkeys([match.id for match in matches] + near)
        facts = self._ledger.get([one for one in ids if one in admitted])

        def meant(said: Sequence[str]) -> list[bool]:
            shares = [len(wanted & words_of(one)) for one in said]
            by_words = [bool(wanted) and share >= _SHARED * len(wanted) for share in shares]
            alike = [False] * len(said) if vector is None else self._alike(said, vector)
            found = [a or b for a, b in zip(by_words, alike, strict=True)]
            if whose == "user":
                owned = [owner(one, wanted) != "other" for one in said]
                return [a and b for a, b in zip(found, owned, strict=True)]
            if whose == "other":
                theirs = [share >= len(wanted) for share in shares]
                found = [
                    a and (b or not _OWN.match(c))
                    for a, b, c in zip(found, theirs, said, strict=True)
                ]
            return _going_on(said, found)

        return _meant(facts, meant)

    def _of_topic(
        self, subject: Topic, user_id: str, filters: Filters, whose: str | None = None
    ) -> Named:
        """Return what is said on a subject of the user, or of someone, by words or by examples."""
        found = (self._vector(one, "document") for one in subject.examples)
        vectors = [one for one in found if one is not None]
        facts = self._ledger.get(self._ledger.ids(user_id, filters))

        def meant(said: Sequence[str]) -> list[bool]:
            by_words = [subject.is_of(one) for one in said]
            alike = [self._alike(said, one, _LIKE_AN_EXAMPLE) for one in vectors]
            near = [any(column) for column in zip(*alike, strict=True)] or [False] * len(said)
            if whose is not None:
                owned = [whose in tokens(one) for one in said]
            elif subject.is_of_others:
                owned = [True] * len(said)
            else:
                owned = [owner(one, words_of(" ".join(subject.words))) != "other" for one in said]
            return [(a or b) and c for a, b, c in zip(by_words, near, owned, strict=True)]

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

    def _vector(self, text: str, input_type: InputType) -> Matrix | None:
        try:
            vector: Matrix = self._embedder.embed([text], input_type)[0]
        except ProviderError:
            return None
        return vector

    def _alike(self, said: Sequence[str], vector: Matrix, least: float = _ALIKE) -> list[bool]:
        try:
            rows = self._embedder.embed([one.strip() or "-" for one in said], "document")
        except ProviderError:
            return [False] * len(said)
        return [bool(score >= least) for score in rows @ vector]


class _Name:
    """A name, and the parts of it that stand for the same person in some texts."""

    def __init__(self, entity: str, texts: Sequence[str]) -> None:
        self._wanted = term(entity)
        self.added: tuple[str, ...] = ()
        self._parts: tuple[Term, ...] = ()
        parts = entity.split()
        if not all(one[:1].isupper() and one.isalpha() for one in parts) or len(parts) > 2:
            return
        if len(parts) == 1:
            behind = neighbours(entity, texts).behind
            parts = [entity, *behind] if len(behind) == 1 else []
        if len(parts) == 2:
            first, last = parts
            self.added = tuple(
                one
                for one, others in (
                    (first, neighbours(first, texts).behind - {last}),
                    (last, neighbours(last, texts).before - {first}),
                )
                if not others and not self._is_another(one, entity, texts)
            )
            self._parts = tuple(map(term, self.added))

    @staticmethod
    def _is_another(part: str, entity: str, texts: Sequence[str]) -> bool:
        """Return True if a part alone is introduced as someone, and the whole name isn't so."""
        known = introductions(part, texts)
        return " " in entity and bool(known - introductions(entity, texts))

    def is_in(self, sentence: str) -> bool:
        """Return True if a sentence names the person."""
        plain = _HYPHENATED.sub("", sentence)
        said = tokens(plain)
        return holds(said, self._wanted) or any(holds(said, part) for part in self._parts)


_HYPHENATED = regex(r"\w+(?:-\w+)+")
_OWN = regex(r"^\W*(?:I|we|my|our|the user)\b(?!['’]s)", re.IGNORECASE)
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
    """Return `meant` with the sentences behind that continue about the same person."""
    found: list[bool] = []
    for sentence, one in zip(said, meant, strict=True):
        found.append(one or (bool(found) and found[-1] and bool(_GOES_ON.match(sentence))))
    return found
