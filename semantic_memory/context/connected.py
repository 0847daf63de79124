"""Leave out hits that have nothing to do with the question or with better hits."""

from __future__ import annotations

from collections.abc import Sequence

from semantic_memory.domain.english.core import told_of_others
from semantic_memory.domain.english.tables import words
from semantic_memory.domain.facts import Category
from semantic_memory.domain.recall import Hit
from semantic_memory.domain.text import stems

_CLEAR = 0.16  # match of the best hit below which messages need words of the question
_WORDS = 0.05  # share of the question's words, weighed by rarity, that they need then
_SHORTEST = 3  # letters of a word that says what a text is about
_NUMBERS = frozenset(stem for number in words("numbers.small") for stem in stems(number))
_STRONG = 0.5  # share of the best match from which on a hit needs no connection


def connected(hits: Sequence[Hit], query: str = "") -> list[Hit]:
    """Return the strong hits, and the weak ones that share something with the question or them.

    A weak one shares words with the question, or a session or a topic with a strong one. Something
    sensitive about other people needs a question that names them, who said it, or what it is.
    """
    asked = frozenset(stems(query))
    hits = [hit for hit in hits if asked.intersection(private := _private(hit)) or not private]
    best = max((hit.parts.match for hit in hits), default=0.0)
    least = 0.0 if best >= _CLEAR else _WORDS

    def is_near(hit: Hit) -> bool:
        """Return True if a message has words of the question that say what it is about."""
        if hit.fact.category is not Category.CONVERSATION:
            return True
        return hit.parts.lexical > least and shares_words(hit.fact.content, query)

    def is_strong(hit: Hit) -> bool:
        if best < _CLEAR and not is_near(hit):
            return False
        return hit.parts.match >= _STRONG * best

    strong = [hit for hit in hits if is_strong(hit)]
    sessions = {source.session_id for hit in strong for source in hit.fact.sources} - {None}
    topics = {tag for hit in strong for tag in hit.fact.tags}

    def shares(hit: Hit) -> bool:
        own = {source.session_id for source in hit.fact.sources}
        return not sessions.isdisjoint(own) or not topics.isdisjoint(hit.fact.tags)

    clear = best >= _CLEAR
    return [
        hit
        for hit in hits
        if (hit.parts.lexical > least and (clear or is_near(hit))) or is_strong(hit) or shares(hit)
    ]


def shares_words(text: str, query: str) -> bool:
    """Return True if a text has a word of the question that is no number and no mere particle."""
    asked = {one for one in stems(query) if len(one) >= _SHORTEST} - _NUMBERS
    return not asked.isdisjoint(stems(text))


def _private(hit: Hit) -> frozenset[str]:
    """Return the stems of which a question must have one to be shown a hit; none for most."""
    told = told_of_others(hit.fact.content)
    if not told:
        return frozenset()
    speakers = [source.speaker for source in hit.fact.sources if source.speaker]
    return frozenset(stems(" ".join([*told, *speakers])))
