"""Read wishes about the assistant's answers: "I'd appreciate it if you skipped the jokes"."""

from __future__ import annotations

import re

from ingest.extract.orders import is_of_manners
from semantic_memory.domain.english.persons import third_person
from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.patterns import regex

_WISH = regex(
    rf"^(?P<wish>{phrases('wishes.wishing')}) (?P<of>you (?:\w+ly )?\w+ .+)$", re.IGNORECASE
)
_ANSWERS = regex(
    rf"^your (?P<told>(?:\w+ )?{phrases('orders.replies')} {phrases('wishes.judged')} .+)$",
    re.IGNORECASE,
)
_OF_NOW = regex(rf"\b{phrases('wishes.of_now')}\b", re.IGNORECASE)
_FOR_GOOD = regex(rf"\b(?:always|never|{phrases('orders.for_good')})\b", re.IGNORECASE)
_YOUR = regex(r"\byour\b", re.IGNORECASE)
_YOU = regex(r"\byou\b", re.IGNORECASE)
_ASSISTANT = "The assistant"


def wish(sentence: str, name: str) -> str | None:
    """Return a lasting wish about the assistant's answers as a fact; None if it is none.

    >>> wish("I'd appreciate it if you skipped the introductions", "The user")
    'The user would appreciate it if the assistant skipped the introductions.'
    >>> wish("It would be great if you found me a flight", "The user")
    >>> wish("your answers are too long", "The user")
    'The answers of the assistant are too long.'
    """
    if _OF_NOW.search(sentence):
        return None
    if judged := _ANSWERS.match(sentence):
        topic, _, told = judged["told"].partition(" ")
        return f"The {topic} of the assistant {told}."
    found = _WISH.match(sentence)
    if found is None or not (_FOR_GOOD.search(sentence) or is_of_manners(found["of"])):
        return None
    wishes = third_person(found["wish"], name)
    wished = third_person(_YOU.sub("I", _YOUR.sub("its", found["of"])), _ASSISTANT)
    return f"{wishes} {wished[:1].lower()}{wished[1:]}."
