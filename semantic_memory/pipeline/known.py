"""Find what an extractor may know beside the messages of a stretch.

Known facts are those that a message may touch: the nearest of each sentence by vectors, since what
is said again shares few words with what was said before, and those that share words, since a short
answer has a vector of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta

from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.extraction import Conversation
from semantic_memory.domain.facts import Category
from semantic_memory.domain.filters import FACTS, Filters
from semantic_memory.domain.logs import Record
from semantic_memory.domain.messages import Message, SessionKey
from semantic_memory.domain.ports import Embedder, Ledger, VectorSearch
from semantic_memory.domain.profile import WRITTEN_FIELDS, WrittenField
from semantic_memory.domain.scope import Scope
from semantic_memory.domain.segments import segments
from semantic_memory.domain.text import stems
from semantic_memory.language.own_speech import own_speech_of
from semantic_memory.pipeline.facts import said

_BY_WORDS = 20
_TERMS = 200  # by which they are found; about 10 ms
_MOST_KNOWN = 40
_NEAREST = 5  # of each sentence
_MOST_SENTENCES = 80
_BEFORE = 8
_TIES = 16  # messages of the same moment as the first one
_MOMENT = timedelta(microseconds=1)
_SPOKEN = frozenset({"user", "assistant"})


class Surroundings:
    """Finds the known facts of a stretch by their words."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def of(self, key: SessionKey, first: Record, messages: Sequence[Message]) -> Conversation:
        """Return messages of a session, which begin at a record, with what is known beside them."""
        known = self._ledger.get(self._by_words(key.user_id, first.message.scope, messages))
        return Conversation(messages, known)

    def _by_words(self, user_id: str, scope: Scope, messages: Sequence[Message]) -> list[str]:
        """Return the ids of the facts that share most with the words of messages, best first."""
        told = Counter(stem for message in messages for stem in stems(message.content))
        terms = [term for term, _ in told.most_common(_TERMS)]
        matches = self._ledger.words(user_id, terms, limit=_BY_WORDS, filters=_seen(scope))
        return [match.id for match in matches]


class WideSurroundings(Surroundings):
    """Finds what a language model is shown: facts by words and vectors, messages, profile."""

    def __init__(self, ledger: Ledger, embedder: Embedder, index: VectorSearch) -> None:
        super().__init__(ledger)
        self._embedder = embedder
        self._index = index

    def of(self, key: SessionKey, first: Record, messages: Sequence[Message]) -> Conversation:
        """Return messages with the known facts, the messages before them, and the profile.

        At most 40 facts, in order of time. They are those by words alone while the embedding model
        can't be reached.
        """
        if not any(message.role in _SPOKEN for message in messages):
            return Conversation(messages)
        scope = first.message.scope
        rankings = [self._by_words(key.user_id, scope, messages)]
        with suppress(ProviderError):  # the answer is worth more than the nearest facts
            rankings += self._by_sentence(key.user_id, scope, messages)
        known = self._ledger.get(_best(rankings), key.user_id)
        return Conversation(
            messages,
            sorted(known, key=lambda fact: (fact.valid_from, fact.recorded_at, fact.id)),
            self._before(key, first),
            self._profile(key.user_id),
        )

    def _by_sentence(
        self, user_id: str, scope: Scope, messages: Sequence[Message]
    ) -> Iterator[list[str]]:
        """Yield the ids of the nearest facts of each sentence. Raises ProviderError."""
        sentences = list(dict.fromkeys(_sentences(messages)))[-_MOST_SENTENCES:]
        seen = _seen(scope)
        for vector in self._embedder.embed(sentences, "query") if sentences else ():
            near = self._index.query(vector, user_id=user_id, limit=_NEAREST, filters=seen)
            yield [match.id for match in near]

    def _before(self, key: SessionKey, first: Record) -> list[Message]:
        """Return the last messages of the session before a record, of its scope."""
        message = first.message
        spoken = Filters(
            session_id=key.session_id,
            categories=frozenset({Category.CONVERSATION}),
            until=None if message.created_at is None else message.created_at + _MOMENT,
            **message.scope.exact,
        )
        newest = self._ledger.newest(key.user_id, spoken, _BEFORE + _TIES)
        placed = sorted(
            (place, fact.id, fact)
            for fact in newest
            if (place := fact.source.position) is not None and place < first.position
        )
        told = [said(fact) for _, _, fact in placed]
        return [one for one in told if one.role in _SPOKEN][-_BEFORE:]

    def _profile(self, user_id: str) -> dict[WrittenField, str]:
        """Return the written texts; derived ones are facts, which are known by themselves."""
        lines = self._ledger.lines(user_id)
        texts = {line.layer: line.text for line in lines if line.origin != "derived"}
        return {name: texts[name] for name in WRITTEN_FIELDS if name in texts}


def _seen(scope: Scope) -> Filters:
    return Filters.joined(FACTS, scope.seen)


def _best(rankings: Iterable[Sequence[str]]) -> list[str]:
    """Return the first of every ranking, then the second ones, and so on, each once."""
    placed = sorted(
        (place, number, one)
        for number, ranking in enumerate(rankings)
        for place, one in enumerate(ranking)
    )
    return list(dict.fromkeys(one for _, _, one in placed))[:_MOST_KNOWN]


def _sentences(messages: Sequence[Message]) -> Iterator[str]:
    """Yield the sentences of the user, and the final question of an assistant."""
    for message in messages:
        if message.role not in _SPOKEN:
            continue
        found = [one.strip() for one in segments(own_speech_of(message).own) if one.strip()]
        yield from found if message.role == "user" else found[-1:]
