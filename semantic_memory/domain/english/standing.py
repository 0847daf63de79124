"""Tell statements that stand alone from those that need what was said or seen before."""

from __future__ import annotations

import re

from semantic_memory.domain.english.notation import whole
from semantic_memory.domain.english.predications import is_name
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import WORD, noun

_OPENS = re.compile(rf"^{phrases('standing.openings')}\b", re.IGNORECASE)
_POINTS = re.compile(whole(phrases("standing.pointing")), re.IGNORECASE)
_RELATIVE = re.compile(r"\w (?:that|which|who|whom|where|what)\b|\w \b(?:I|we|my|they|he|she)\b")
_BARE = re.compile(
    rf"\bthe {phrases('standing.bare')}(?=\s*(?:$|[,.;]|and\b|but\b|because\b|is\b|was\b|has\b))",
    re.IGNORECASE,
)
_VERBLESS = re.compile(
    r"^(?:from|of|by|with|like|via|for|on|in)\s(?:my|our|the)\b(?!.*,)(?!.*\b(?:I|we)\b)"
    r"|\bfeels? like [\w' ]{2,20}$",
    re.IGNORECASE,
)
_PERSON = re.compile(r"\b(?:he|she|him|her|his|hers)\b", re.IGNORECASE)
_IT = re.compile(r"\bits?\b", re.IGNORECASE)
_PEOPLE = words(
    "possessions.kin", "spelling.roles", "antecedents.people", "antecedents.male",
    "antecedents.female", "possessions.animals", "standing.someone",
)  # fmt: skip
_ENDS_A_CLAUSE = re.compile(
    r"\b(?:as|than|like|when|where|whenever|if|what|how|who|because|that|which)\b.*\s(?:\w+s|I|we|he|she|"
    r"they|it|you)\s(?:am|is|are|was|were|do|does|did|can|could|have|has|had|will|would)\W*$"
    r"|\bto (?:be|do|have)\W*$|\bto \w+ (?:with|to|for|in|at|on|about|from)\W*$",
    re.IGNORECASE,
)
_PREPOSITIONS = words("predications.prepositions")
_ENDS = words("standing.endings")
_PARTICLES = words("standing.particles")


def stands(statement: str) -> bool:
    """Return True if nothing at its ends, and no phrase in it, points outside a statement.

    >>> stands("I thought about becoming a"), stands("here's a photo of my dog")
    (False, False)
    >>> stands("I joined a travel club and"), stands("I moved in with my aunt")
    (False, True)
    """
    spoken = [word.lower() for word in WORD.findall(statement)]
    if not spoken or _OPENS.match(statement) or _POINTS.search(statement):
        return False
    if statement.count("(") != statement.count(")"):
        return False
    last, before = spoken[-1], spoken[-2] if len(spoken) > 1 else ""
    if statement.rstrip()[-1:] in ",:;-–":
        return False
    if _ENDS_A_CLAUSE.search(statement) and len(spoken) > 4:
        return True  # "as often as I can", "a place to be"
    if last in ("may", "will") and (
        before in _PREPOSITIONS or WORD.findall(statement)[-1][:1].isupper()
    ):
        return True  # a month, a name
    if last in _PARTICLES and before in _DETERMINED:
        return False
    return last not in _ENDS or (last in _PREPOSITIONS and _RELATIVE.search(statement) is not None)


def is_bound(statement: str) -> bool:
    """Return True if every "he" and "it" has something before it, and no bare noun points away.

    >>> is_bound("we go to the beach and he waits"), is_bound("my dog and I swim, he waits")
    (False, True)
    >>> is_bound("I like the plot"), is_bound("I like the plot of Dune")
    (False, True)
    """
    if _BARE.search(statement) or _VERBLESS.search(statement):
        return False
    if person := _PERSON.search(statement):
        before = WORD.findall(statement[: person.start()])
        if not any(_is_someone(word, place) for place, word in enumerate(before)):
            return False
    if thing := _IT.search(statement):
        before = WORD.findall(statement[: thing.start()])
        return any(
            (noun(word) is not None or word[:1].isupper() or word.endswith("ing"))
            and not _is_someone(word, place)
            for place, word in enumerate(before)
            if word not in ("I", "My", "We")
        )
    return True


def _is_someone(word: str, place: int) -> bool:
    lowered = word.lower().removesuffix("'s")
    return (noun(lowered) or lowered) in _PEOPLE or (place > 0 and is_name(word))


_DETERMINED = words("predications.determiners", "standing.no_particle_behind")
