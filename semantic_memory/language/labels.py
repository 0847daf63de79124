"""Find labels: a speaker, a document or a request before a colon or another separator.

A label is its author's own if it says so: "quick update: ...", "I count calories: ...", "my new
address: ...", or a note of a thing and its value. Any other may name somebody else.
"""

from __future__ import annotations

import re

from semantic_memory.domain.english.fragments import is_clause
from semantic_memory.domain.english.tables import words
from semantic_memory.domain.english.words import is_word
from semantic_memory.domain.patterns import regex
from semantic_memory.language.enclosures import Cut, speaks, word_class
from semantic_memory.language.lines import Line, is_file_name, lines_of, pasted_lines

_COLON = regex(r"(?<=[^\s:]) ?(?:[:：](?=\s|\Z)|：|(?<!\d):(?=[A-Z\"“'*]|I\b))")
_SENTENCE_END = regex(r"[.!?…](?=\s)|[;,](?=\s)")
_PREFIX = regex(r"[ \t]*(?:[-*•◦][ \t]+|\d{1,2}[.)][ \t]+)?[*_#>(\s]{0,4}")
_HARD = regex(r"[ \t]*(?P<label>[^\s>»|\t][^>»|\t\n]{0,40}?)[ ]?(?:>|»|\||\t)(?=\s*\S)(?![\d=])")
_SOFT = regex(
    r"[ \t]*[*_]{0,2}(?P<label>[^\W_][\w.'’@-]{0,30}(?: [\w.'’@-]{1,30}){0,2})[*_]{0,2}"
    r"(?:[ ]+[-–—~→⇒·]+[ ]+|[ ]?(?:→|⇒|;|—|::)[ ]*)(?=(?P<first>\S+))"
)
_WORD = regex(r"[^\W_][\w'’.-]*")
_SUBJECT = regex(
    r"^(?:(?:and|so|but|well|ok|okay|btw|also|anyway|oh|yes|no|then)[, ]+){0,3}"
    r"(?:(?:i|we|i['’]\w+|we['’]\w+|im|ive)\b|(?:my|our) .*\b(?:me|us)\b|you (?!are|were)\w+)",
    re.IGNORECASE,
)
_FORWARD = regex(r"\b(?:this|these|the following|following|below|as follows)\b", re.IGNORECASE)
_PREDICATE = regex(
    r"\b(?:I|we|you|he|she|they|it|is|are|was|were|am|has|have|had|will|always|never|don['’]?t"
    r"|isn['’]t|not|no longer|can|must|should|would|do|does|did|ignore|forget|remember|moved)\b"
    r"|['’](?:m|ve|s|re|ll|d)\b",
    re.IGNORECASE,
)
_MOST_OF_LABEL = 80
_MOST_OF_NOTE = 60
_KNOWN_KEYS = words(
    "entries.of_user", "entries.preferred", "entries.decided", "entries.personal",
    "entries.planned", "entries.people", "entries.numbered", "entries.identified",
)  # fmt: skip


def labels(text: str) -> list[Cut]:
    """Return the cut of what stands behind a label that isn't the author's own, or of a paste."""
    lines = lines_of(text)
    if lines and all(map(_is_note, lines)):
        return []
    found = [*pasted_lines(text, lines)]
    for line in lines:
        if cut := _labelled(text, line, is_first=line is lines[0]):
            found.append(cut)
            break
    return found


def _is_note(line: Line) -> bool:
    """Return True for a thing and its value, by themselves on a line: "editor: helix"."""
    body = line.text[_PREFIX.match(line.text).end() :]  # type: ignore[union-attr]
    key, mark, value = body.partition(": ")
    if not mark:
        key, mark, value = body.partition(" = ")
    if not mark or not value.strip() or len(value) > _MOST_OF_NOTE or _PREDICATE.search(value):
        return False
    spoken = [one.casefold() for one in _WORD.findall(key)]
    if not spoken or len(spoken) > 6 or ":" in value.rstrip() or is_file_name(key):
        return False
    if not word_class("texts").isdisjoint(spoken) or not word_class("fiction").isdisjoint(spoken):
        return False
    if not _KNOWN_KEYS.isdisjoint(spoken):
        return True
    return key[:1].islower() and all(map(is_word, spoken))


def _labelled(text: str, line: Line, *, is_first: bool) -> Cut | None:
    """Return the cut that the label of a line makes, or that of a sentence within it."""
    for found in _COLON.finditer(line.text):
        before = line.text[: found.start()]
        start = 0
        for end in _SENTENCE_END.finditer(before):
            start = end.end()
        own_start = _PREFIX.match(line.text, start).end()  # type: ignore[union-attr]
        label, rest = line.text[own_start : found.start()], line.text[found.end() :]
        if not rest.strip() and line.start + len(line.text) >= len(text.rstrip()):
            continue
        if is_own_label(label, rest):
            continue
        if start == 0:
            speaker = is_name(label)
            return Cut(line.paragraph if speaker else line.start, len(text), "label")
        return Cut(line.start + start, len(text), "label")
    return _prefixed(text, line)


def _prefixed(text: str, line: Line) -> Cut | None:
    """Return the cut of a line with a name before another separator than a colon."""
    if hard := _HARD.match(line.text):
        if not speaks(hard["label"]):
            return Cut(line.paragraph, len(text), "speaker prefix")
    if (soft := _SOFT.match(line.text)) and is_name(soft["label"]):
        first = soft["first"]
        if first[:1].isupper() or speaks(first):
            return Cut(line.paragraph, len(text), "speaker prefix")
    return None


def is_own_label(label: str, rest: str) -> bool:
    """Return whether a label shows that what follows is its author's own.

    >>> is_own_label("quick update", "I moved"), is_own_label("Bob", "I moved")
    (True, False)
    >>> is_own_label("my new address", "3 Mill Lane"), is_own_label("my sister", "I moved out")
    (True, False)
    """
    label = label.strip().strip("*_ ")
    spoken = [one.casefold() for one in _WORD.findall(label)]
    if not spoken or len(label) > _MOST_OF_LABEL or is_file_name(label):
        return False
    known = set(spoken)
    if not known & word_class("no_discourse") and known <= word_class("discourse"):
        return True
    if spoken[0] == "heads" or _FORWARD.search(label):
        return spoken[0] == "heads"
    if known & (word_class("telling") | word_class("rework")):
        return False
    if _SUBJECT.match(label):
        return True
    if known & (word_class("texts") | word_class("fiction") | word_class("roles")):
        return False
    if speaks(rest):
        return False
    if len(spoken) > 2 and is_clause(label):
        return True
    if spoken[0] in ("my", "our", "the") or spoken[0] in word_class("about"):
        return all(map(is_word, spoken[1:]))
    return False


def is_name(label: str) -> bool:
    """Return whether a label can be the name of a speaker: capitals, a handle, an unknown word.

    >>> is_name("Bob"), is_name("dr_who77"), is_name("quick update"), is_name("Update")
    (True, True, False, False)
    """
    spoken = _WORD.findall(label)
    if not spoken or len(spoken) > 4 or spoken[0].casefold() in word_class("discourse"):
        return False
    if any(one.isdigit() or one == "_" or one == "@" for one in label) or is_file_name(label):
        return True
    if all(one[0].isupper() for one in spoken):
        return True
    return not all(map(is_word, spoken))
