"""Tell statements that have nothing to do with the messages they name.

A statement is near a message if both are about the same by their vectors. An embedding model of
English finds all sentences of another language alike, so a statement that isn't plainly near must
share words with what was said around there, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from semantic_memory.domain.changes import FactVectors
from semantic_memory.domain.errors import InputRefusedError, ProviderError
from semantic_memory.domain.extraction import Candidate, Conversation
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.language import language
from semantic_memory.domain.languages import UNSPACED, function_words
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.ports import Embedder
from semantic_memory.domain.text import STOP_WORDS
from semantic_memory.vectors.passages import embed_facts

_FLOOR = 0.2  # cosine: of 74 wrong citations 48 were below, of 74 right ones none
_PLAIN = 0.5  # cosine from which words needn't be shared
_SHARED = 0.25  # of a statement's words: of 311 right ones none has fewer
_STEM, _LEAST = 0.6, 4  # share and number of a word's letters by which it is known again
_AROUND = 2  # messages before, which a short answer is about
_MOST_CHARACTERS = 2_000  # of a message that are compared
_WORD = regex(r"[^\W_]+")


class Grounding:
    """Compares statements with their messages."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def grounded(
        self, candidates: Sequence[Candidate], conversation: Conversation
    ) -> list[Candidate]:
        """Return the candidates that have to do with a message that they name.

        All of them while the embedding model can't be reached. A statement in another language than
        its message passes: its quote has to do.
        """
        around = _around(conversation)
        known = {fact.id: fact.content for fact in conversation.known}
        evidence = [
            [one.quote or "", *(around[cited] for cited in one.message_ids if cited in around)]
            for one in candidates
        ]
        texts = [one.content for one in candidates]
        texts = list(dict.fromkeys([*texts, *(part for parts in evidence for part in parts)]))
        try:
            rows = self._embedder.embed(texts, "document") if candidates else ()
        except (ProviderError, InputRefusedError):
            return list(candidates)
        vectors = dict(zip(texts, rows, strict=True))
        found = []
        for one, parts in zip(candidates, evidence, strict=True):
            nearest = max(float(vectors[one.content] @ vectors[part]) for part in parts)
            told = " ".join([*parts, *(known[old] for old in one.replaces if old in known)])
            if (
                nearest >= _PLAIN
                or (nearest >= _FLOOR and shared(one.content, told) >= _SHARED)
                or _translates(one.content, told)
            ):
                found.append(one)
        return found

    def vectors(self, facts: Sequence[Fact]) -> dict[str, FactVectors]:
        """Return the vectors of facts by id; none while the embedding model can't be reached."""
        try:
            found = embed_facts(self._embedder, facts) if facts else []
        except (ProviderError, InputRefusedError):
            return {}
        return {fact.id: vectors for fact, vectors in zip(facts, found, strict=True)}


def shared(statement: str, text: str) -> float:
    """Return the share of a statement's words, function words aside, that a text has in some form.

    >>> round(shared("Jonas fährt einen alten Polo.", "mein Auto ist ein alter Polo"), 2)
    0.5
    """
    code = language(statement) or "en"
    idle = STOP_WORDS if code == "en" else function_words(code)
    own = [word for word in dict.fromkeys(_words(statement, code)) if word not in idle]
    there = set(_words(text, code))
    stems = {word[:size] for word in there for size in range(_LEAST, len(word) + 1)}
    known = [
        word in there or word[: max(_LEAST, round(_STEM * len(word)))] in stems for word in own
    ]
    return sum(known) / len(known) if known else 1.0


def _words(text: str, code: str) -> Iterator[str]:
    """Yield the words of a text, or pairs of signs in a script without spaces."""
    for found in _WORD.finditer(text.casefold()):
        word = found[0]
        if code in UNSPACED and len(word) > 1:
            yield from (word[place : place + 2] for place in range(len(word) - 1))
        else:
            yield word


def _around(conversation: Conversation) -> Mapping[str, str]:
    """Return by id the text of each message, after that of the messages before it."""
    told = [*conversation.before, *conversation.messages]
    texts = [message.content[:_MOST_CHARACTERS] for message in told]
    return {
        message.id: " ".join(texts[max(0, place - _AROUND) : place + 1])
        for place, message in enumerate(told)
    }


def _translates(statement: str, text: str) -> bool:
    """Return True if both are in languages that can be told, and these aren't the same."""
    own, other = language(statement), language(text)
    return own is not None and other is not None and own != other
