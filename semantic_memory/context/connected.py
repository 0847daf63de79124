"""Leave out hits that have nothing to do with the question or with better hits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import compress

from semantic_memory.domain.english.core import told_of_others
from semantic_memory.domain.english.requests import asks_of_the_talk, only_asks, subjects
from semantic_memory.domain.english.tables import words
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.recall import Hit
from semantic_memory.domain.text import stems

_CLEAR = 0.16  # match of the best hit below which messages need words of the question
_WORDS = 0.05  # share of the question's words, weighed by rarity, that they need then
_FEWEST_WORDS = 3  # content words of an answer that says something by itself
_SHORTEST = 3  # letters of a word that says what a text is about
_NUMBERS = frozenset(stem for number in words("numbers.small") for stem in stems(number))
_STRONG = 0.5  # share of the best match from which on a hit needs no connection


def connected(hits: Sequence[Hit], query: str = "") -> list[Hit]:
    """Return the strong hits, and the weak ones that share something with the question or them.

    A weak one shares words with the question, or a session or a topic with a strong one. Something
    sensitive about other people needs a question that names them, who said it, or what it is.
    """
    asked = frozenset(stems(query))
    hits = [hit for hit in hits if may_be_shown(hit.fact, asked)]
    if query and not asks_of_the_talk(query):
        hits = _without_passing(hits, subjects(query))
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
        return hits
    leading = list(compress(hits, strong))
    sessions = {session for hit in leading for session in hit.fact.sessions}
    topics = {tag for hit in leading for tag in hit.fact.tags}

    def shares(hit: Hit) -> bool:
        return not sessions.isdisjoint(hit.fact.sessions) or not topics.isdisjoint(hit.fact.tags)

    return [hit for hit, known in zip(hits, kept, strict=True) if known or shares(hit)]


def _without_passing(hits: Sequence[Hit], asked: frozenset[str]) -> list[Hit]:
    """Leave out requests that have nothing to do with the question, and the answers to them.

    An answer without a word of the question stays behind a message that stays, unless it is of a
    word or two: "Noted".
    """
    apart = {
        hit.fact.id
        for hit in hits
        if _is_talk(hit) and asked.isdisjoint(subjects(hit.fact.content))
    }
    unasked = {hit.fact.id for hit in hits if hit.fact.id in apart and _only_asks(hit)}
    places = {_place(hit, 1) for hit in hits if hit.fact.id not in unasked}
    return [
        hit
        for hit in hits
        if hit.fact.id not in unasked
        and (
            hit.fact.id not in apart
            or hit.fact.source.role != "assistant"
            or (_place(hit) in places and len(set(stems(hit.fact.content))) >= _FEWEST_WORDS)
        )
    ]


def _is_talk(hit: Hit) -> bool:
    return hit.fact.category is Category.CONVERSATION


def _only_asks(hit: Hit) -> bool:
    return hit.fact.source.role == "user" and only_asks(hit.fact.content)


def _place(hit: Hit, further: int = 0) -> tuple[str, str | None, int] | None:
    """Return a message's place in its session, or one further on; None outside any session."""
    user, source = hit.fact.user_id, hit.fact.source
    return None if source.position is None else (user, source.session_id, source.position + further)


def shares_words(text: str, query: str) -> bool:
    """Return True if a text has a word of the question that is no number and no mere particle."""
    asked = {one for one in stems(query) if len(one) >= _SHORTEST} - _NUMBERS
    return not asked.isdisjoint(stems(text))


def may_be_shown(fact: Fact, asked: Collection[str]) -> bool:
    """Return False for something sensitive about others of which the question has no stem."""
    told = told_of_others(fact.content)
    if not told:  # as of most
        return True
    speakers = [source.speaker for source in fact.sources if source.speaker]
    needed = set(stems(" ".join([*told, *speakers])))
    return not needed or not needed.isdisjoint(asked)
