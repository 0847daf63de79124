"""Read entries of a key and a value: "editor: helix", "staging = eu-north-1, prod = eu-west-3".

A message gives entries if all of its lines are entries, or all but a heading, or the rows of a
table of two columns. Only the form is read here; a judge reads what each is worth.
"""

from __future__ import annotations

from semantic_memory.domain.patterns import regex

_KEY = r"(?P<key>\d?[^\W\d_][\w./'’ -]{1,34}?(?: \([\w ]{1,12}\))?)"
_MARK = r"(?:\s*(?:=>|->|→|=|:(?=\s))\s*|\s+[-–]\s+)"
_ENTRY = regex(rf"^(?:[-*•]\s+)?{_KEY}{_MARK}(?P<value>\S.{{0,120}}?)[\s;,.]*$")
_HEADING = regex(r"^(?:#+\s*)?[\w' /,!()&-]{2,40}:?$")
_BETWEEN = regex(r"\s*;\s+|,\s+|\s\|\s")
_NEXT_PAIR = regex(r"(?P<pair>=\S+)\s+(?=[\w.-]+=\S)")
_CELLS = regex(r"^\|(?P<key>[^|]+)\|(?P<value>[^|]+)\|$")
_RULED = regex(r"^[\s|:-]*--[\s|:-]*$")
_MOST_KEY_WORDS = 4
_MOST_VALUE_WORDS = 16


def entries(text: str) -> list[str]:
    r"""Return the entries of a message in their words; empty if it holds anything else.

    >>> entries("Setup:\n- editor: helix\n- os: Fedora 41")
    ['editor: helix', 'os: Fedora 41']
    >>> entries("staging = eu-north-1, prod = eu-west-3")
    ['staging: eu-north-1', 'prod: eu-west-3']
    >>> entries("| what | how |\n|---|---|\n| region | eu-west-2 |")
    ['region: eu-west-2']
    >>> entries("editor: helix, what else is there?"), entries("I met two: Ann and Bo")
    ([], [])
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    ruled = next((place for place, line in enumerate(lines[:2]) if _RULED.match(line)), None)
    if ruled is not None:
        lines = lines[ruled + 1 :]
    elif len(lines) > 1 and _HEADING.match(lines[0]):
        lines = lines[1:]
    found: list[str] = []
    for line in lines:
        read = _line(line)
        if not read:
            return []
        found += read
    return found


def _line(line: str) -> list[str]:
    """Return the entries of a line: several, or the line as one."""
    if row := _CELLS.match(line):
        return [f"{row['key'].strip()}: {row['value'].strip()}"]
    parts = [part for part in _BETWEEN.split(_NEXT_PAIR.sub(r"\g<pair>; ", line)) if part]
    found = [_entry(part) for part in parts]
    if not all(found):
        found = [_entry(line)]
    return [one for one in found if one]


def _entry(text: str) -> str | None:
    found = _ENTRY.match(text.strip())
    if found is None:
        return None
    key, value = found["key"].strip(), found["value"].strip()
    spoken = key.lower().split()
    if (
        len(spoken) > _MOST_KEY_WORDS
        or len(value.split()) > _MOST_VALUE_WORDS
        or value.endswith("?")
        or not _OWN.isdisjoint(spoken)
    ):
        return None
    return f"{key}: {value}"


_OWN = frozenset("i we you i'm i’m we're i've".split())
"""Subjects: a line with one before its mark is a sentence."""
