"""Read the claim of a statement whatever its wording: "I own a Honda", "my car is a Honda"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from semantic_memory.domain.english.negation import denies
from semantic_memory.domain.english.notation import phrase, spellings
from semantic_memory.domain.english.renewals import clauses
from semantic_memory.domain.english.tables import keys, phrase_list, words
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import stems

_THING = r"[\w'&./-]+(?: [\w'&./-]+){0,4}"
_ONE = r"[\w'-]+"
_LEAD = regex(r"^(?:(?:the|a|an|my|our|own|playing|doing|to)\s)+")
_TAIL = regex(
    r"\s(?:of an evening|a lot|most|best|the most|of the user's|originaly|originally|these days|now"
    r"|so|because|in the evenings?|please|pls|lol|btw)(?:\s.*)?$"
)
_IS = regex(r"'s(?= (?:a|an)\b)")
_IST = regex(r"(?<=\w{4})ist$")  # a physicist's field is physics
_OPEN = regex(r"^(?:(?:and|so|but|well|yes|btw|fyi)\s)+")
_OTHERS = words("persons.others")


class Paraphrase(NamedTuple):
    """A relation and the stems of the things in it, in order."""

    relation: str
    things: tuple[tuple[str, ...], ...]


class _Wording(NamedTuple):
    relation: str
    pattern: re.Pattern[str]
    needed: frozenset[str]
    """Words that every spelling of the phrase has."""


def _wordings() -> Iterator[_Wording]:
    for relation in keys("paraphrases"):
        for written in phrase_list(f"paraphrases.{relation}"):
            source = phrase(written, x=_THING, y=_THING, v=_ONE, w=_ONE)
            spelled = [
                frozenset(word for word in one.split() if word.isalpha())
                for one in spellings(written)
            ]
            yield _Wording(relation, regex(source), frozenset.intersection(*spelled))


_WORDINGS = tuple(_wordings())


@lru_cache(maxsize=16_384)
def paraphrases(text: str) -> frozenset[Paraphrase]:
    """Return the claims of the first clause of a statement; none if it denies something.

    >>> paraphrases("I own a Honda.") <= paraphrases("My car's a Honda.")
    True
    >>> paraphrases("I own a Honda.") == paraphrases("I own a Ford.")
    False
    """
    first = next(iter(clauses(text)), None)
    if first is None or denies(first.words):
        return frozenset()
    plain = _IS.sub(" is", _TAIL.sub("", _OPEN.sub("", first.plain)))
    spoken = frozenset(plain.split())
    found = set()
    for relation, pattern, needed in _WORDINGS:
        if needed <= spoken and (match := pattern.fullmatch(plain)):
            things = tuple(_thing(match[name]) for name in sorted(pattern.groupindex))
            if all(things) and all(
                _OTHERS.isdisjoint(match[name].split()) for name in match.groupdict()
            ):
                found.add(Paraphrase(relation, things))
    return frozenset(found)


def _thing(text: str) -> tuple[str, ...]:
    return tuple(_IST.sub("", one) for one in stems(_LEAD.sub("", text)) if one)
