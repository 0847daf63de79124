"""Tell whole clauses from fragments: "my old dog", "when I was young", "tell me"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from semantic_memory.domain.english.commands import is_command
from semantic_memory.domain.english.statements import ends_in_noun_phrase
from semantic_memory.domain.english.subjects import head
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import WORD, Form, can_be_noun, forms, is_adverb, is_verb
from semantic_memory.domain.patterns import regex

_NO_VERBS = words("fragments.no_verbs")
_PLURALS = words("fragments.plurals")
_BEHIND_COMMANDS = words("commands.behind", "predications.determiners")
_LINKING = words("fragments.linking")
_TIMES = words("fragments.times")

_AS_IF = regex(r"\b(?:like|as if|as though) I(?:'m| am| was| were)\b", re.IGNORECASE)
_I = regex(r"\b(?:I|we)(?:'\w+)?\s")
# "I homeschool my three", whose verb the dictionary lacks
_DOES_UNKNOWN = regex(r"^(?:I|we) (?P<verb>[a-z]{4,}) (?:my|our|the|an?|at|for|in|on|with) \w")
_SUBORDINATOR = regex(rf"{phrases('clauses.needs_main_clause')}\b", re.IGNORECASE)
_WHOSE = regex(r"\bmine (?:is|are|was|were|has|have)\b", re.IGNORECASE)
# "When I am not driving": a subordinate clause whose main clause is missing.
_PERSON = r"\b(?:I|we|it|my|he|she|they)\b"
_OPENING = rf"(?:{phrases('clauses.needs_main_clause', 'clauses.fragments')}|as(?!\s(?:a|an)\b))"
_THING_FIRST = r"\s(?:an?|the|my|our|any|no)\s[^,]*"
_FRAGMENT = regex(
    rf"{_OPENING}\b(?!.*(?:,|{_PERSON}.*{_PERSON})|{_THING_FIRST}{_PERSON})", re.IGNORECASE
)


def is_clause(statement: str) -> bool:
    """Return whether a statement has a subject and a finite verb that the dictionary knows.

    >>> is_clause("my dog barks"), is_clause("my old dog")
    (True, False)
    >>> is_clause("when I was young"), is_clause("tell me more"), is_clause("mine is green")
    (False, False, False)
    """
    if _FRAGMENT.match(statement) or _WHOSE.search(statement):
        return False
    if _SUBORDINATOR.match(statement):
        return True
    spoken = [word for word in WORD.findall(statement) if not is_adverb(word)]
    if len(spoken) < 2 or _asks(spoken):
        return False
    if (found := _DOES_UNKNOWN.match(statement)) and not forms(found["verb"]):
        return True
    own = head(statement)
    if own is not None:
        if own.form is not None or own.auxiliary:
            return True
        return any(map(is_verb, WORD.findall(statement[own.end :])))
    if told := _I.search(statement):
        return not _is_relative_clause(statement[: told.start()].strip(), statement[told.end() :])
    return any(_are_subject_and_verb(one, two) for one, two in pairwise(spoken))


def _asks(spoken: Sequence[str]) -> bool:
    """Return True for "tell me", "explain tides like I'm five", but not "find soups I can eat"."""
    said = " ".join(spoken)
    if not is_command(said):
        return False
    return spoken[1].lower() in _BEHIND_COMMANDS or _AS_IF.search(said) is not None


def _are_subject_and_verb(one: str, two: str) -> bool:
    lowered = two.lower()
    if "'" in two or lowered in _LINKING or forms(two) & {Form.THIRD, Form.PAST}:
        return True
    if lowered in _NO_VERBS or Form.BASE not in forms(two):
        return False
    return one.endswith("s") or one.lower() in _PLURALS or not can_be_noun(two)


def _is_relative_clause(before: str, after: str) -> bool:
    """Return whether "I" and its verb only tell which thing is meant: "the ones I choose"."""
    spoken = WORD.findall(before)
    return (
        len(spoken) > 1
        and len(after.split()) < 3
        and spoken[-1].lower() not in _TIMES
        and ends_in_noun_phrase(before)
        and not any(
            "'" in word or word.lower() in _LINKING or Form.PAST in forms(word) for word in spoken
        )
    )
