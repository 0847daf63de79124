"""Find sensitive statements about other people in a text."""

from __future__ import annotations

import re
from functools import lru_cache

from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.patterns import regex

_SENSITIVE = regex(
    rf"(?<![\w'-]){phrases('confidences.sensitive')}(?:'s)?(?![\w'-])", re.IGNORECASE
)
_SENTENCE = regex(r"(?<=[a-z\d]{3}[.!?])\s+(?=[A-Z])")  # not behind "Dr."
_ADVERBS = r"(?:(?:also|now|still|really|just|currently|actually|\w+ly) )?"
_HEARD = regex(
    rf"^(?:between (?:us|we|you and me)\b|(?:I|we) {_ADVERBS}{phrases('confidences.heard')}\b)[,:]?"
    r" (?:that )?",
    re.IGNORECASE,
)
_OWN = regex(r"^(?:(?:\w+,? ){0,2}(?:I|we)\b|my\b|our\b|the user\b)", re.IGNORECASE)
_PERSON = regex(
    r"^(?:one of )?(?:my|our|the user's|the|a|an) (?:[\w-]+ ){0,2}?"
    rf"(?P<who>{phrases('confidences.others', 'confidences.family')})\b",
    re.IGNORECASE,
)
_NAME = (
    r"(?!(?:The|My|Our|An|One|He|She|They|It|You|We|This|That|What|There)\b)"
    r"[A-ZÀ-Þ][^\W\dA-Z_][\w-]*"
)
_OF_NAMED = regex(rf"^(?i:my|our|the user's) (?:[a-z-]+ ){{1,3}}(?P<who>{_NAME})\b(?!'s)")
_VERB = r"(?:is|was|has|had|got|told|said|and|who|does|did|came|\w+ed|\w+s)"
_NAMED = regex(rf"(?<=[a-z,:] ){_NAME}|^{_NAME}(?=(?:'s \w+|,)? {_VERB}\b)")
_THIRD = regex(r"\b(?:he|she|him|her|his)\b", re.IGNORECASE)


@lru_cache(maxsize=16_384)
def told_of_others(text: str) -> tuple[str, ...]:
    """Return the sensitive word of a text about somebody else, with the name and the relation.

    >>> told_of_others("The user's friend Anna is getting divorced")
    ('divorced', 'Anna', 'friend')
    >>> told_of_others("The user is getting divorced")
    ()
    """
    if _SENSITIVE.search(text) is None:
        return ()
    words: list[str] = []
    for sentence in _SENTENCE.split(" ".join(text.replace("’", "'").split())):
        told = _HEARD.sub("", sentence)
        found = [match[0] for match in _SENSITIVE.finditer(sentence)]
        people = [name for name in _NAMED.findall(told) if name not in found]
        head = _PERSON.match(told) or _OF_NAMED.match(told)
        if head:
            people.append(head["who"])
        if head is None and _OWN.match(told):
            continue
        if found and (people or _THIRD.search(told)):
            words += [*found, *people]
    return tuple(words)
