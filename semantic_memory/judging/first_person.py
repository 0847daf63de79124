"""Turn a fact about its speaker back into the first person, in which the judges were trained."""

from __future__ import annotations

import re
from functools import lru_cache

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.patterns import regex

_USER = "The user"
_BE = {"is": "am", "was": "was", "has": "have", "does": "do", "isn't": "am not"}
_BE |= {"hasn't": "haven't", "doesn't": "don't", "wasn't": "wasn't"}
_ADVERB = r"(?:(?:also|always|never|usually|just|still|really|recently|often|mostly|now)\s+)*"
_PRONOUNS: dict[str, str] = {
    "they're": "I'm",
    "they've": "I've",
    "they'll": "I'll",
    "they'd": "I'd",
    "they": "I",
    "their": "my",
    "theirs": "mine",
    "them": "me",
    "themselves": "myself",
}
_PLURALS = {
    "they're": "we're",
    "they've": "we've",
    "they'll": "we'll",
    "they'd": "we'd",
    "they": "we",
    "their": "our",
    "theirs": "ours",
    "them": "us",
    "themselves": "ourselves",
}
_DAY = regex(r"\s?\((?:week of )?\d{4}(?:-\d\d){0,2}\)")
_PRONOUN = regex(rf"\b(?:{'|'.join(map(re.escape, _PRONOUNS))})\b", re.IGNORECASE)


def in_first_person(fact: Fact) -> str:
    """Return a fact's content as its speaker would say it, as far as that is plain.

    The days in brackets are left out, as they aren't the speaker's. A fact in the speaker's own
    words, or about somebody else, stays as it is.
    """
    return _spoken(fact.content, fact.source.speaker or _USER)


@lru_cache(maxsize=4_096)
def _spoken(content: str, name: str) -> str:
    """Return what is said of `name` in the first person.

    >>> _spoken("The user uses Vim for all their notes", "The user")
    'I use Vim for all my notes'
    >>> _spoken("Maya's sister lives there", "Maya"), _spoken("Maya: the flat is small", "Maya")
    ('my sister lives there', 'the flat is small')
    >>> _spoken("The lake is cold", "The user")
    'The lake is cold'
    >>> _spoken("The user and others moved to their flat in May (2026-05)", "The user")
    'we moved to our flat in May'
    """
    content = _DAY.sub("", content)
    if content.startswith(f"{name}: "):
        return content[len(name) + 2 :]
    own = re.escape(name)
    many = regex(rf"\b{own} and others\b", re.I)
    if many.search(content):
        told = many.sub(lambda found: "us" if found.start() else "we", content)
        return _PRONOUN.sub(lambda found: _PLURALS[found[0].lower()], told)
    about = regex(rf"\b{own}(?:(?P<owns>['’]s)\b|(?P<gap>\s+{_ADVERB})(?P<verb>[\w'’]+))?", re.I)
    if not about.search(content):
        return content
    told = about.sub(_own, content)
    return _PRONOUN.sub(lambda found: _PRONOUNS[found[0].lower()], told)


def _own(found: re.Match[str]) -> str:
    if found["owns"]:
        return "my"
    if not found["verb"]:
        return "I" if not found.start() else "me"
    return f"I{found['gap']}{_base(found['verb'])}"


def _base(verb: str) -> str:
    plain = verb.replace("’", "'")
    if plain in _BE:
        return _BE[plain]
    if plain.endswith("ies") and len(plain) > 4:
        return f"{plain[:-3]}y"
    if plain.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        return plain[:-2]
    is_third = plain.endswith("s") and not plain.endswith(("ss", "us", "'s"))
    return plain[:-1] if is_third else plain
