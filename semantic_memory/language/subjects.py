"""Read the subject of a request to forget: its owner, and whether it is a whole subject.

"where I live"  ->  the user's own; "my mother's diabetes"  ->  hers; "my job"  ->  all about work
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from semantic_memory.domain.data_files import data_of
from semantic_memory.domain.english.tables import split
from semantic_memory.domain.english.words import Form, forms, is_adverb, is_verb
from semantic_memory.domain.evidence import words_of
from semantic_memory.domain.languages import function_words
from semantic_memory.domain.lexical import tokens
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS

Owner = Literal["user", "other", "unknown"]

_LOOKED_AT = 4  # words at the beginning of a statement, among which its subject is
_WORD = regex(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ABOUT = regex(r"^(?:(?:all|everything|anything|what)\s)?(?:about|on)\s", re.IGNORECASE)
_POSSESSED = regex(r"^(?:(?:my|our)\s)?(?P<whose>[\w-]+)['’]s\s(?P<rest>.+)$", re.IGNORECASE)
_NAMED = regex(
    r"^(?P<name>[A-ZÀ-Þ][\w-]*(?:\s[A-ZÀ-Þ][\w-]*){0,2})(?:['’]s\b|\s(?P<verb>[a-zà-ÿ]+)\b)"
)


@dataclass(frozen=True, slots=True)
class Topic:
    """A subject that is named as a whole: words that speak of it, and sentences that do."""

    name: str
    words: frozenset[str]
    examples: tuple[str, ...]

    @property
    def is_of_others(self) -> bool:
        """True if what is said of others is about it too."""
        return self.name in ("family", "love")

    def is_of(self, statement: str) -> bool:
        """Return True if a statement has a word that speaks of the subject."""
        return not self.words.isdisjoint(tokens(statement))


def owner(statement: str, besides: frozenset[str] = frozenset()) -> Owner:
    """Return whose a statement is: by its subject, or by the possessive of a query.

    A first word with one of the stems `besides` names a thing, not a person.

    >>> owner("where I live"), owner("My sister lives in Bergen."), owner("the lake")
    ('user', 'other', 'unknown')
    """
    said = [one.casefold().replace("’", "'") for one in _WORD.findall(statement)][:_LOOKED_AT]
    for place, word in enumerate(said):
        if word in _words("others"):
            return "other"
        if word in _words("self"):
            rest = [one.removesuffix("'s") for one in said[place + 1 : place + 3]]
            possessed = word not in _SUBJECTS and not _words("kin").isdisjoint(rest)
            return "other" if possessed else "user"
    return (
        "other" if _has_named_subject(statement) and not words_of(said[0]) & besides else "unknown"
    )


def _has_named_subject(statement: str) -> bool:
    """Return True if a name or a noun with a verb in the third person begins a statement."""
    found = _NAMED.match(statement)
    if found is None or found["verb"] is None:
        return found is not None
    verb = found["verb"]
    return verb in ("will", "has", "had") or bool(forms(verb) & {Form.THIRD, Form.PAST})


def others_topic(query: str) -> tuple[str, Topic] | None:
    """Return whose subject a query names as a whole; None if it is nobody else's, or no subject.

    >>> whose, about = others_topic("my sister's job")
    >>> whose, about.name
    ('sister', 'job')
    """
    if (found := _POSSESSED.match(query.strip())) and (about := topic(found["rest"])) is not None:
        return found["whose"].casefold(), about
    return None


def topic(query: str) -> Topic | None:
    """Return the subject that a query names as a whole; None if it names something else.

    >>> topic("my job").name, topic("where I live").name, topic("my job interview")
    ('job', 'home', None)
    """
    plain = " ".join(tokens(_ABOUT.sub("", query.strip(" .?!"))))
    for possessive in ("my ", "mein ", "meine ", "mon ", "ma ", "mes ", "mi ", "mis "):
        plain = plain.removeprefix(possessive)
    return _named().get(plain)


def is_common(entity: str) -> bool:
    """Return True if an entity is no name: of function words alone, for example.

    A verb or adverb in lower case, like "like", is common too.

    >>> is_common("the"), is_common("Anna"), is_common("like")
    (True, False, True)
    """
    spoken = tokens(entity)
    if not words_of(entity) or all(one in _function_words() for one in spoken):
        return True
    return len(spoken) == 1 and entity.islower() and (is_verb(entity) or is_adverb(entity))


class Neighbours(NamedTuple):
    """The names that stand right before and right behind another name."""

    before: frozenset[str]
    behind: frozenset[str]


def neighbours(name: str, texts: Iterable[str]) -> Neighbours:
    """Return the capitalised words beside a name in texts.

    >>> neighbours("Berg", ["Anna Berg called.", "I met Berg."])
    Neighbours(before=frozenset({'Anna'}), behind=frozenset())
    """
    word = re.escape(name)
    before = regex(rf"(?<![\w-])([A-ZÀ-Þ][\w'’-]+) {word}(?![\w-])")
    behind = regex(rf"(?<![\w-]){word} ([A-ZÀ-Þ][\w-]+)")
    read = list(texts)
    return Neighbours(*(_names(pattern, read) for pattern in (before, behind)))


def introductions(name: str, texts: Iterable[str]) -> frozenset[str]:
    """Return as what a name is introduced in texts, unless another name stands beside it.

    >>> introductions("Mark", ["My ex is called Mark.", "My boss is Mark Twain."])
    frozenset({'ex'})
    """
    word = re.escape(name)
    pattern = regex(
        rf"\b(?:[Mm]y|[Oo]ur|user['’]s)\s(?:[a-z-]+\s)?(?P<whom>[a-z-]+)"
        rf"(?:\s(?:is|was)(?:\s(?:called|named))?|,|['’]s\sname\sis)?\s{word}(?!\s[A-ZÀ-Þ]|[\w-])"
    )
    return frozenset(found["whom"] for text in texts for found in pattern.finditer(text))


def _names(pattern: re.Pattern[str], texts: Iterable[str]) -> frozenset[str]:
    found = (one for text in texts for one in pattern.findall(text))
    return frozenset(one for one in found if one.casefold() not in _function_words())


_SUBJECTS = frozenset(
    {"i", "i'm", "i've", "i'd", "i'll", "we", "ich", "wir", "je", "j'ai", "yo", "user"}
)


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(split(data_of(__package__, "subjects")["owners"][name]))


@cache
def _function_words() -> frozenset[str]:
    others = (one for code in ("de", "fr", "es") for one in function_words(code))
    return STOP_WORDS.union(others)


@cache
def _named() -> Mapping[str, Topic]:
    found = {}
    for name, table in data_of(__package__, "subjects")["topics"].items():
        spoken = frozenset(one for word in split(table["words"]) for one in tokens(word))
        made = Topic(name, spoken, tuple(table["examples"]))
        for one in split(table["names"]):
            found[" ".join(tokens(one))] = made
    return found
