"""Tell statements that stand alone from those that need what was said or seen before."""

from __future__ import annotations

import re

from semantic_memory.domain.english.notation import whole
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import WORD

_OPENS = re.compile(rf"^{phrases('standing.openings')}\b", re.IGNORECASE)
_POINTS = re.compile(whole(phrases("standing.pointing")), re.IGNORECASE)
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
    return last not in _ENDS and (last not in _PARTICLES or before not in _DETERMINED)


_DETERMINED = words("predications.determiners", "standing.no_particle_behind")
