"""Recognise questions that ask for a tier of a user's history: their work, their recent weeks."""

from __future__ import annotations

import re

from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.profile import HistoryTier

_RECENT = regex(rf"\b{phrases('layers.work', 'layers.recent')}\b", re.IGNORECASE)


def asked_tiers(question: str) -> tuple[HistoryTier, ...]:
    """Return the tiers of the history that a question asks for; none for most questions.

    >>> asked_tiers("What am I working on?")
    ('recent_months',)
    >>> asked_tiers("Where does Maya live?")
    ()
    """
    return ("recent_months",) if _RECENT.search(question) else ()
