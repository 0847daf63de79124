"""Leave out hits that have nothing to do with the question or with better hits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import compress

from semantic_memory.domain.english.tables import words
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.recall import Hit
from semantic_memory.domain.text import stem_set
from semantic_memory.language.confidences import told_of_others

_CLEAR = 0.16  # match of the best hit below which messages need words of the question
_WORDS = 0.05  # share of the question's words, weighed by rarity, that they need then
_SHORTEST = 3  # letters of a word that says what a text is about
_NUMBERS = frozenset(stem for number in words("numbers.small") for stem in stem_set(number))
_NEEDS = frozenset({"allergy", "diet", "health", "medication"})  # slots that any plan may touch
_STRONG = 0.5  # share of the best match from which on a hit needs no connection


def connected(hits: Sequence[Hit], query: str = "") -> list[Hit]:
    """Return the strong hits, and the weak ones that share something with the question or them.

    A weak one shares words with the question, or a session or a topic with a strong one.
    """
    best = max([hit.parts.match for hit in hits], default=0.0)
    clear = best >= _CLEAR
    least = 0.0 if clear else _WORDS

    def is_near(hit: Hit) -> bool:
        """Return True if a message has words of the question that say what it is about."""
        if hit.fact.category is not Category.CONVERSATION:
            return True
        return hit.parts.lexical > least and shares_words(hit.fact.content, query)

    def is_strong(hit: Hit) -> bool:
        return hit.parts.match >= _STRONG * best and (clear or is_near(hit))

    def matches(hit: Hit) -> bool:
        return hit.parts.lexical > least and (clear or is_near(hit))

    strong = [*map(is_strong, hits)]
    kept = [leads or matches(hit) for hit, leads in zip(hits, strong, strict=True)]
    if all(kept):
        return [*hits]
    leading = list(compress(hits, strong))
    sessions = {session for hit in leading for session in hit.fact.sessions}
    topics = {tag for hit in leading for tag in hit.fact.tags}

    def shares(hit: Hit) -> bool:
        return not sessions.isdisjoint(hit.fact.sessions) or not topics.isdisjoint(hit.fact.tags)

    return [hit for hit, known in zip(hits, kept, strict=True) if known or shares(hit)]


def shares_words(text: str, query: str) -> bool:
    """Return True if a text has a word of the question that is no number and no mere particle."""
    asked = {one for one in stem_set(query) if len(one) >= _SHORTEST} - _NUMBERS
    return not asked.isdisjoint(stem_set(text))


def may_be_shown(memory: Fact, asked: Collection[str]) -> bool:
    """Return False for something sensitive about others of which the question has no stem.

    It needs a question that names them, who said it, or what it is.
    """
    told = told_of_others(memory.content)
    if not told:  # as of most
        return True
    speakers = [source.speaker for source in memory.sources if source.speaker]
    return not stem_set(" ".join([*told, *speakers])).isdisjoint(asked)


def is_need(fact: Fact) -> bool:
    """Return True for what somebody can't or mustn't have, by the slot of its reading."""
    return fact.reading is not None and fact.reading.slot in _NEEDS
