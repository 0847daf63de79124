"""Read the parts of a clause that claims are made of: its subject, its verb, its objects.

Clauses are those of a folded text (see `clauses.parts`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from semantic_memory.domain.english.lexicon import GENERAL
from semantic_memory.domain.english.negation import NEGATIONS
from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.persons import OTHERS, USER
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS, stems

_NO_SUBJECT = NEGATIONS | words("arguments.no_subject")
_WORD = regex(r"[\w'-]+")
_END = regex(rf"\s{phrases('arguments.ends')}\b")
_BEFORE_OBJECT = regex(
    rf"^(?:{phrases('arguments.before_object')}\s+|{phrases('arguments.measures')} of\s+)+"
)
_AND = regex(r"\s(?:and|or|nor)\s|,|/|&")
# "likes fishing" and "likes to fish" say nothing of fish
_DOING = regex(r"\w+ing\b")
_TO_DO = regex(rf"to (?!{phrases('arguments.no_activity')}\b)")


def verb(*patterns: str) -> re.Pattern[str]:
    """Return a pattern for a clause with one of these verbs (`verb`) and its objects (`rest`).

    >>> verb("likes?").search("maya likes jazz and rock")["rest"]
    'jazz and rock'
    """
    return regex(rf"(?:^|\s)(?P<verb>{any_of(*patterns)})\s+(?P<rest>\S.*)")


def subject(before: str) -> str:
    """Return whom the words before a verb speak of.

    >>> subject("i really"), subject("maya"), subject("maya's sister"), subject("he")
    ('user', 'maya', 'maya sister', 'he')
    """
    spoken = [word for word in _WORD.findall(before) if word not in _NO_SUBJECT]
    if not spoken or spoken[-1] in USER or spoken[-1] in STOP_WORDS - OTHERS:
        return "user"
    if spoken[-1] in OTHERS:
        return str(spoken[-1])
    owners = [word for word in spoken if word in ("my", "our") or word.endswith("'s")]
    if owners and spoken[-1] != owners[-1]:
        return f"{owner(owners[-1])} {spoken[-1]}"
    if not USER.isdisjoint(spoken[-3:]):
        return "user"
    return str(spoken[-1]).removesuffix("'s")


def person(before: str) -> str:
    """Return whom the words before a verb or a thing speak of, by the last word for them.

    >>> person("my brother sem"), person("sem's"), person("my"), person("maya's sister")
    ('sem', 'sem', 'user', 'maya sister')
    """
    last = before.split()[-1:]
    if last and last[0].endswith("'s"):
        return last[0].removesuffix("'s")
    return subject(before).removeprefix("user ")


def owner(possessive: str) -> str:
    """Return whom a possessive speaks of.

    >>> owner("my"), owner("the"), owner("maya's")
    ('user', 'user', 'maya')
    """
    word = possessive.split()[-1].removesuffix("'s")
    return "user" if word in USER or possessive == "the" else word


def possessor(clause: str) -> str:
    """Return whose looks or favourites a clause is about.

    >>> possessor("maya's hair is red"), possessor("blond hair")
    ('maya', 'user')
    """
    for word in clause.split():
        if word in USER:
            return "user"
        if word.endswith("'s"):
            return owner(word)
        if word in OTHERS:
            return word
    return "user"


def object_of(rest: str) -> str:
    """Return the words behind a verb up to the next preposition or conjunction.

    >>> object_of("blue mountain coffee in the morning")
    'blue mountain coffee'
    """
    end = _END.search(rest)
    return rest[: end.start()] if end else rest


def items(rest: str) -> Iterator[frozenset[str]]:
    """Yield the stems of each thing in a list, without those that only tell its kind.

    >>> [sorted(item) for item in items("the taste of coffee, jazz music and to go fishing")]
    [['coffe'], ['jazz'], ['doing', 'fish']]
    """
    for part in _AND.split(rest):
        thing = object_of(_BEFORE_OBJECT.sub("", part.strip()))
        item = content(thing)
        named = item - GENERAL or item
        if 0 < len(named) <= 3:
            yield named | {"doing"} if _DOING.match(thing) or _TO_DO.match(part.strip()) else named


def ordered(text: str) -> list[str]:
    """Return the stems of a text without negations, in order."""
    return [stem for stem in stems(text) if stem and stem not in NEGATIONS]


def content(text: str) -> frozenset[str]:
    """Return the stems of a text without negations.

    >>> sorted(content("not the old dogs"))
    ['dog', 'old']
    """
    return frozenset(ordered(text))
