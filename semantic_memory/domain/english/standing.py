"""Tell statements that stand alone from those that need what was said or seen before."""

from __future__ import annotations

import re

from semantic_memory.domain.english.notation import whole
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import WORD

_OPENS = re.compile(rf"^{phrases('standing.openings')}\b", re.IGNORECASE)
_POINTS = re.compile(whole(phrases("standing.pointing")), re.IGNORECASE)
_RELATIVE = re.compile(r"\w (?:that|which|who|whom|where|what)\b|\w \b(?:I|we|my|they|he|she)\b")
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
    last, before = spoken[-1], spoken[-2] if len(spoken) > 1 else ""
    if statement.rstrip()[-1:] in ",:;-–":
        return False
    if _ENDS_A_CLAUSE.search(statement) and len(spoken) > 4:
        return True  # "as often as I can", "a place to be"
    if last in ("may", "will") and (before in _PREPOSITIONS or WORD.findall(statement)[-1][:1].isupper()):
        return True  # a month, a name
    if last in _PARTICLES and before in _DETERMINED:
        return False
    return last not in _ENDS or (last in _PREPOSITIONS and _RELATIVE.search(statement) is not None)


_DETERMINED = words("predications.determiners", "standing.no_particle_behind")
