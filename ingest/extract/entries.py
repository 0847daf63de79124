"""Read entries of a key and a value: "editor: helix", "staging = eu-north-1, prod = eu-west-3".

A message gives entries if all of its lines are entries, or all but a heading. In a log, a
configuration or a text to work on, such lines are not what someone tells of themselves.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ingest.extract.orders import is_of_manners
from semantic_memory.domain.english.calendar import ANY_MONTH
from semantic_memory.domain.english.commands import is_command
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.openers import without_opener
from semantic_memory.domain.english.questions import stated_in
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import WORD, is_quality
from semantic_memory.domain.facts import Category
from semantic_memory.domain.patterns import regex

_MARK = r"(?P<mark>\s*(?:=>|->|→|=|:(?=\s))\s*|\s[-–]\s)"
_GREETING = r"(?:(?:hi|hello|hey)\b[!,. ]+)?"
_KEY = r"(?P<key>\d?[^\W\d_][\w./' -]{1,34}?(?: \(\w{1,6}\))?)"
_ENTRY = regex(rf"^\s*{_GREETING}(?:[-*•]\s+)?{_KEY}{_MARK}(?P<value>\S.{{0,120}}?)[\s;,.]*$")
_HEADING = regex(r"^\s*(?:#+\s*)?[\w' /,!()&-]{2,40}:?\s*$")
_NUMBERED = regex(
    r"^(?P<key>[A-Za-z][\w-]*(?: [A-Za-z][\w-]*){0,2}) "
    rf"(?P<value>\d[\d -]+\d|\d{{1,2}}(?:st|nd|rd|th)? {ANY_MONTH}(?: \d{{4}})?"
    r"|#?\d[\w./-]+|\d+(?:[.,]\d+)? [a-z]{1,3}"
    r"|\d[\d.,]*[\w€£$]? (?:per|a|each) \w+(?: (?:max|min|tops|at most))?)$"
)
_IDENTIFIED = regex(
    rf"^(?P<key>(?:[A-Za-z][\w-]* ){{0,2}}{one_of(words('entries.identified'))}) "
    r"(?P<value>(?=[\w -]*[\dA-Z+])(?:[A-Z\d][A-Z\d./+-]*(?: |$)|[a-z]{1,3}[\d-][\w-]*(?: |$)"
    r"|\d[\w/-]*(?: |$)){1,4})$"
)
_IS_VALUE = regex(
    r"^(?:and )?(?:the |our )?(?P<key>(?!(?:it|he|she|that|this|there|what|who|mine|my)\b)"
    r"[A-Za-z][\w-]*(?: [a-z][\w-]*)?) (?:is|are) (?P<value>(?!(?:an?|the|on|in|at|my|our|not)\b)"
    r"[\w.+#/-]+(?: [\w.+#-]+)?)(?: btw| now)?$",
    re.IGNORECASE,
)
_LEAD = regex(rf"^\s*{phrases('entries.leads')}\s*[:,-]\s+", re.IGNORECASE)
_BETWEEN = regex(r"\s*;\s+|,\s+|\s\|\s")
_NEXT_PAIR = regex(r"(?P<pair>=\S+)\s+(?=[\w.-]+=\S)")
_CELLS = regex(r"^\s*\|(?P<key>[^|]+)\|(?P<value>[^|]+)\|\s*$")
_RULED = regex(r"^[\s|:-]*--[\s|:-]*$")
_OWN = regex(r"(?:I|I'\w+|my|we|we'\w+|our|you)\b", re.IGNORECASE)
_OWN_INSIDE = regex(r"\s(?:my|our)\s", re.IGNORECASE)  # "chose my options: drama"
_NO_KEY = words("entries.no_keys")
_NO_KEY_ALONE = words("entries.no_keys_alone")
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
    "entries.numbered", "entries.identified"
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
    lines = _rows([line for line in text.splitlines() if line.strip()])
    if len(lines) > 1 and _HEADING.match(lines[0]) and not _ENTRY.match(lines[0]):
        lines = lines[1:]
    found: list[Entry] = []
    for line in lines:
        told = _line(line)
        if not told:
            return []
        found += told
    return found


def _rows(lines: list[str]) -> list[str]:
    """Return the rows of a table of two columns as lines, without its heading; others as they are.

    >>> _rows(["| what | how |", "|---|---|", "| region | eu-west-2 |"])
    ['region: eu-west-2']
    """
    ruled = next((place for place, line in enumerate(lines[:2]) if _RULED.match(line)), None)
    cells = [_CELLS.match(line) for line in lines[0 if ruled is None else ruled + 1 :]]
    told = [f"{row['key'].strip()}: {row['value'].strip()}" for row in cells if row]
    return told if told and len(told) == len(cells) else lines


def _line(line: str) -> list[Entry]:
    told = _NEXT_PAIR.sub(r"\g<pair>; ", _LEAD.sub("", line.strip()))
    split = [part for part in _BETWEEN.split(told) if part]
    if len(split) > 1 and all(map(_says, split)):
        split = [f"{one['key']}: {one['value']}" for one in filter(None, map(_says, split))]
    parts = [_entry(_read(part)) for part in split]
    found = parts if all(parts) else [_entry(_read(told))]
    return [one for one in found if one]


def _says(part: str) -> re.Match[str] | None:
    """Return a part that only says what something is: "cache is redis"."""
    found = _IS_VALUE.match(part)
    return found if found and not any(map(is_quality, WORD.findall(found["value"]))) else None


def _read(text: str) -> re.Match[str] | None:
    return _ENTRY.match(text) or _NUMBERED.match(text) or _IDENTIFIED.match(text)


def _entry(found: re.Match[str] | None) -> Entry | None:
    if found is None:
        return None
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
        or key.lower() in _NO_KEY_ALONE
        or lowered[0] in _NO_KEY_START
        or (is_command(key) and lowered[-1] not in _KNOWN)
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
