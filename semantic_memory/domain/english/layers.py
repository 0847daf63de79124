"""Recognise questions that ask for a layer of a user's memory: their work, tone, recent weeks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.profile import Layer

_CUES: Mapping[str, tuple[Layer, ...]] = MappingProxyType(
    {
        phrases("layers.work"): ("work_context", "top_of_mind"),
        phrases("layers.tone"): ("personal_context",),
        phrases("layers.recent"): ("top_of_mind", "recent_months"),
    }
)
_ASKED = tuple((re.compile(rf"\b{cue}\b", re.IGNORECASE), layers) for cue, layers in _CUES.items())


def asked_layers(question: str) -> tuple[Layer, ...]:
    """Return the layers that a question asks for, the first one first; none for most questions.

    >>> asked_layers("What am I working on?")
    ('work_context', 'top_of_mind')
    >>> asked_layers("Where does Maya live?")
    ()
    """
    found = (layer for cue, layers in _ASKED if cue.search(question) for layer in layers)
    return tuple(dict.fromkeys(found))
