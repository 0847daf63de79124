"""Read entries of a key and a value: "editor: helix", "staging = eu-north-1, prod = eu-west-3".

A message gives entries if all of its lines are entries, or all but a heading. In a log, a
configuration or a text to work on, such lines are not what someone tells of themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ingest.extract.orders import is_of_manners
from semantic_memory.domain.english.commands import is_command
from semantic_memory.domain.english.openers import without_opener
from semantic_memory.domain.english.questions import stated_in
from semantic_memory.domain.english.tables import words
from semantic_memory.domain.facts import Category
from semantic_memory.domain.patterns import regex

_MARK = r"(?P<mark>\s*(?:=>|->|→|=|:(?=\s))\s*|\s[-–]\s)"
_GREETING = r"(?:(?:hi|hello|hey)\b[!,. ]+)?"
_KEY = r"(?P<key>[A-Za-z][\w./' -]{1,34}?)"
_ENTRY = regex(rf"^\s*{_GREETING}(?:[-*•]\s+)?{_KEY}{_MARK}(?P<value>\S.{{0,120}}?)[\s;,.]*$")
_HEADING = regex(r"^\s*(?:#+\s*)?[\w' /-]{2,40}:?\s*$")
_NUMBERED = regex(
    r"^(?P<key>[A-Za-z][\w-]*(?: [A-Za-z][\w-]*){0,2}) "
    r"(?P<value>#?\d[\w./-]+|\d+(?:[.,]\d+)? [a-z]{1,3})$"
)
_OWN = regex(r"(?:I|I'\w+|my|we|we'\w+|our|you)\b", re.IGNORECASE)
_OWN_INSIDE = regex(r"\s(?:my|our)\s", re.IGNORECASE)  # "chose my options: drama"
_NO_KEY = words("entries.no_keys")
_NO_KEY_START = words("entries.no_key_beginnings")
_OF_USER = words("entries.of_user")
_PREFERRED = words("entries.preferred")
_DECIDED = words("entries.decided")
_PERSONAL = words("entries.personal")
_PLANNED = words("entries.planned")
_REFERRED = words("entries.referred")
_PEOPLE = words("entries.people")
_RULES = words("entries.rules")
_KNOWN = (_OF_USER | _PREFERRED | _DECIDED | _PERSONAL | _PLANNED | _REFERRED | _PEOPLE) | words(
    "entries.numbered"
)
_MOST_KEY_WORDS = 4
_MOST_VALUE_WORDS = 16


class Entry(NamedTuple):
    """A key and its value as a statement, with the category that the key shows."""

    statement: str
    category: Category


def entries(text: str) -> list[Entry]:
    r"""Return the entries of a message; empty if it holds anything else.

    >>> [entry.statement for entry in entries("editor: helix\nos: Fedora 41")]
    ['my editor is helix', 'my os is Fedora 41']
    >>> [entry.statement for entry in entries("staging = eu-north-1, prod = eu-west-3")]
    ['staging: eu-north-1', 'prod: eu-west-3']
    >>> entries("Rules: bullets, no intros")[0].category.value
    'feedback'
    >>> entries("look: it rains"), entries("listen 443 ssl;\nserver_name a.example;")
    ([], [])
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and _HEADING.match(lines[0]) and not _ENTRY.match(lines[0]):
        lines = lines[1:]
    found: list[Entry] = []
    for line in lines:
        told = [*_line(line)]
        if not told:
            return []
        found += told
    return found


def _line(line: str) -> Iterator[Entry]:
    parts = re.split(r"[,;]\s+", line.strip())
    if len(parts) > 1 and all(part.count("=") == 1 for part in parts):
        found = [_ENTRY.match(part) for part in parts]
    else:
        found = [_ENTRY.match(line) or _NUMBERED.match(line.strip())]
    for one in found:
        entry = _entry(one) if one else None
        if entry:
            yield entry


def _entry(found: re.Match[str]) -> Entry | None:
    own = found["key"].lower().startswith("my ")
    key, value = found["key"].strip()[3 * own :], found["value"].strip()
    lowered = key.lower().split()
    mark = found.groupdict().get("mark") or ""
    if not mark.strip(" -–") and lowered[-1] not in _KNOWN:
        return None  # "cost centre 7714", "os - linux", but not "chapter 12"
    if (
        len(lowered) > _MOST_KEY_WORDS
        or len(value.split()) > _MOST_VALUE_WORDS
        or not stated_in(value)
        or _OWN.match(value)
        or _OWN_INSIDE.search(key)
        or lowered[0] in _NO_KEY
        or lowered[0] in _NO_KEY_START
        or is_command(key)
        or without_opener(found[0]) != found[0]
    ):
        return None
    head = lowered[-1]
    category = _category(lowered)
    if head in _RULES and is_of_manners(value):
        return Entry(f"{key}: {value}", Category.FEEDBACK)
    if own or key.lower() in _OF_USER or head in _OF_USER:
        named = key if key.isupper() else key[:1].lower() + key[1:]
        verb = "are" if head.endswith("s") and head not in ("os", "address", "status") else "is"
        return Entry(f"my {named} {verb} {value}", category)
    return Entry(f"{key}: {value}" if mark else f"{key} {value}", category)


def _category(key: list[str]) -> Category:
    spoken = {*key}
    for category, known in (
        (Category.PERSONAL, _PERSONAL),
        (Category.DECISION, _DECIDED),
        (Category.PREFERENCE, _PREFERRED),
        (Category.REFERENCE, _REFERRED),
        (Category.PROJECT, _PLANNED | _PEOPLE),
    ):
        if spoken & known:
            return category
    return Category.TECHNICAL
