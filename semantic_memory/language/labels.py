"""Find labels: a speaker, a document or a request before a colon or another separator.

A label is its author's own if it says so: "quick update: ...", "I count calories: ...", "my new
address: ...", or a note of a thing and its value. Any other may name somebody else.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import islice

from semantic_memory.domain.english.tables import words
from semantic_memory.domain.english.words import is_word
from semantic_memory.domain.patterns import regex
from semantic_memory.language.clauses import is_clause
from semantic_memory.language.enclosures import Cut, speaks, word_class
from semantic_memory.language.lines import Line, is_file_name, lines_of, pasted_lines

_COLON = regex(r"(?<=[^\s:]) ?(?:[:：](?=\s|\Z)|：|(?<!\d):(?=[A-Z\"“'*]|I\b))")
_SENTENCE_END = regex(r"[.!?…](?=\s)|[;,](?=\s)")
_PREFIX = regex(r"[ \t]*(?:[-*•◦][ \t]+|\d{1,2}[.)][ \t]+)?[*_#>(\s]{0,4}")
_HARD = regex(
    r"[ \t]*(?P<label>[^\s<>«»|]+(?: [^\s<>«»|]+){0,2}?)(?<![-=])[ ]?(?:>|»|\||\t)(?=\s*\S)"
    r"(?![\d=])"
)
_SOFT = regex(
    r"[ \t]*[*_]{0,2}(?P<label>[^\W_][\w.'’@-]{0,30}(?: [\w.'’@-]{1,30}){0,2})[*_]{0,2}"
    r"(?:[ ]+[-–—~→⇒·/]+[ ]+|[ ]?(?:→|⇒|—|::)[ ]*)(?=\S)"
)
_DASHED = regex(r"[ \t]*(?P<label>[^-–—.!?,:;\n]{2,50}?)[ ]+[-–—]+[ ]+(?=(?:I|We|My|Our)\b)")
_PICTURED = regex(
    r"[ \t]*(?P<label>[A-Z][\w.'’-]{1,30})[ ]?[\U0001F300-\U0001FAFF☀-➿️‍]+[ ]+(?=[A-Z])"
)
_WORD = regex(r"[^\W_][\w'’.-]*")
_SUBJECT = regex(
    r"^(?:(?:and|so|but|well|ok|okay|btw|also|anyway|oh|yes|no|then)[, ]+){0,3}"
    r"(?:(?:i|we|i['’]\w+|we['’]\w+|im|ive)\b|(?:my|our) .*\b(?:me|us)\b|you (?!are|were)\w+"
    r"|(?:here|that)['’]?s (?:what|why|how|where) (?:i|we|my)\b)",
    re.IGNORECASE,
)
_ADDRESSED = regex(r"\A(?:\w+ ){0,2}(?:to|so|for|as) (?:\w+ ){0,3}you(?:r \w+)?\Z", re.IGNORECASE)
_STAMPED = regex(
    r"\d[-./]\d{1,2}[-./]\d{2,4}\b.*\d{1,2}[:.h]\d\d|\d{1,2}:\d\d.*\d[-./]\d{1,2}[-./]\d{2,4}"
)
_FIRST = regex(r"\W*(?:i|we|my|our|i['’]\w+|we['’]\w+|im|ive)\b", re.IGNORECASE)
_FORWARD = regex(r"\b(?:(?:this|these)\W*\Z|the following|following|below|as follows)", re.I)
_PREDICATE = regex(
    r"\b(?:I|we|you|he|she|they|it|is|are|was|were|am|has|have|had|will|always|never|don['’]?t"
    r"|isn['’]t|not|no longer|any ?more|again|can|must"
    r"|should|would|do|does|did|ignore|forget|remember|moved)\b"
    r"|['’](?:m|ve|s|re|ll|d)\b",
    re.IGNORECASE,
)
_FUNCTION_WORDS = words("words.function_words", "words.determiners")
_PAIRS = regex(
    r"[ \t]*(?:[-*•][ \t]+)?(?:[\w./-]+(?: [\w./-]+){0,2}(?:: | ?= ?|=)[^\s,;|=:][^,;|=:]{0,40}?"
    r"(?:[,;|]\s+|\s+(?=[\w./-]+=)|\s*\Z)){2,8}"
)
_CELLS = regex(r"[ \t]*\|[^|\n]{1,40}\|[^|\n]{1,60}\|[ \t]*\Z")
_CUT = " " * 4
_MOST_OF_LABEL = 80
NOTES = "notes"
"""The reason of several lines of things and values: no speech, but legible."""
_NOTE = regex(
    r"[ \t]*(?:[-*•][ \t]+)?(?P<key>\w[\w' /()-]{0,40}?)(?::[ \t]+|[ \t]+(?:=|->|→)[ \t]+)"
    r"(?P<value>\S[^:\n]{0,80}?)[ \t]*$"
)


def labels(text: str) -> list[Cut]:
    """Return the cut of what stands behind a label that isn't the author's own, or of a paste."""
    lines = lines_of(text)
    if is_note(text):
        return []
    if lines and all(_is_note(line) or _is_table(line) for line in lines):
        return [Cut(0, len(text), NOTES)]
    found = [*pasted_lines(text, lines)]
    found += islice(filter(None, (_labelled(text, line) for line in lines)), 1)
    return found


def is_note(text: str) -> bool:
    """Return True for a message that is one thing and its value: "editor: helix"."""
    lines = lines_of(text)
    return len(lines) == 1 and _is_note(lines[0])


def _is_table(line: Line) -> bool:
    """Return True for values beside things on one line: "db: postgres, queue: nats"."""
    if not (_PAIRS.match(line.text) or _CELLS.match(line.text)):
        return False
    return not (_PREDICATE.search(line.text) or is_file_name(line.text))


def _is_note(line: Line) -> bool:
    """Return True for a thing and its value, by themselves on a line: "editor: helix"."""
    found = _NOTE.match(line.text)
    if found is None or _PREDICATE.search(found["value"]) or is_file_name(found["key"]):
        return False
    spoken = _WORD.findall(found["key"])
    plain = {one.casefold() for one in spoken}
    if not word_class("texts", "fiction", "roles", "rework").isdisjoint(plain):
        return False
    if not word_class("keys").isdisjoint(plain):
        return True
    if spoken[-1][0].isupper() or not spoken[0][0].isalpha():
        return False
    return spoken[0][0].islower() or (len(spoken) > 1 and all(map(_is_common, plain)))


def _labelled(text: str, line: Line) -> Cut | None:
    """Return the cut that the label of a line makes, or that of a sentence within it."""
    is_last = line.start + len(line.text) >= len(text.rstrip())
    ends = [0, *(one.end() for one in _SENTENCE_END.finditer(line.text))]
    for found in _COLON.finditer(line.text):
        start = ends[bisect_right(ends, found.start()) - 1]
        label, rest = line.text[start : found.start()], line.text[found.end() :]
        if (is_last and not rest.strip()) or is_own_label(label, rest):
            continue
        if rest.startswith(_CUT) and not is_name(label):
            continue  # it leads a quotation in
        if start:
            return Cut(line.start + start, len(text), "label")
        return Cut(line.paragraph if is_name(label) else line.start, len(text), "label")
    return _prefixed(text, line)


def _prefixed(text: str, line: Line) -> Cut | None:
    """Return the cut of a line with a name before another separator than a colon."""
    if (hard := _HARD.match(line.text)) and not speaks(hard["label"]):
        return Cut(line.paragraph, len(text), "speaker prefix")
    if (dashed := _DASHED.match(line.text)) and not word_class(
        "texts", "fiction", "roles", "rework"
    ).isdisjoint(one.casefold() for one in _WORD.findall(dashed["label"])):
        return Cut(line.paragraph, len(text), "label")
    if (pictured := _PICTURED.match(line.text)) and not is_word(pictured["label"].casefold()):
        return Cut(line.paragraph, len(text), "speaker prefix")
    if (soft := _SOFT.match(line.text)) and is_name(soft["label"]):
        return Cut(line.paragraph, len(text), "speaker prefix")
    return None


def is_own_label(label: str, rest: str) -> bool:
    """Return whether a label shows that what follows is its author's own.

    >>> is_own_label("quick update", "I moved"), is_own_label("Bob", "I moved")
    (True, False)
    >>> is_own_label("my new address", "3 Mill Lane"), is_own_label("my sister", "I moved out")
    (True, False)
    """
    label = label[_PREFIX.match(label).end() :].strip("*_ ")  # type: ignore[union-attr]
    spoken = [one.casefold() for one in _WORD.findall(label)]
    if not spoken or is_file_name(label) or _STAMPED.search(label):
        return False
    if len(label) > _MOST_OF_LABEL:  # prose, which names no speaker
        behind = label[-_MOST_OF_LABEL:]
        return not _leads_in(behind, [one.casefold() for one in _WORD.findall(behind)])
    if _heads_document(label, rest, spoken):
        return False
    if _announces(spoken) or (rest.strip() and _is_led_to(label, spoken)):
        return True
    if spoken[0] in word_class("keeping") and word_class("texts").isdisjoint(spoken):
        return bool(rest.strip())
    if _leads_in(label, spoken):
        return False
    if not word_class("texts", "fiction", "roles").isdisjoint(spoken):
        return False
    if _SUBJECT.match(label):
        return True
    return not _FIRST.match(rest) and _is_plain(label, spoken)


def _heads_document(label: str, rest: str, spoken: Sequence[str]) -> bool:
    """Return True for the heading of what stands on the lines below: "rules:", "about: |"."""
    if rest.strip():
        return not any(map(str.isalnum, rest))
    return not (speaks(label) or word_class("headings").isdisjoint(spoken))


def _is_led_to(label: str, spoken: Sequence[str]) -> bool:
    """Return True for an announcement of a matter, or one to the assistant: "to update you"."""
    if _ADDRESSED.search(label):
        return not _leads_in(label, spoken)
    place = next((place for place, one in enumerate(spoken) if one in word_class("about")), 0)
    if not (place and _announces(spoken[:place])):
        return False
    return label.split()[-1].islower() and all(map(_is_common, spoken[place:]))


def _leads_in(label: str, spoken: Sequence[str]) -> bool:
    """Return True for a label that leads in a text to work on, or the words of another."""
    return bool(_FORWARD.search(label)) or not word_class("telling", "rework").isdisjoint(spoken)


def _announces(spoken: Sequence[str]) -> bool:
    """Return True for words that announce one's own words: "good news", "heads up for ..."."""
    if spoken[0] == "heads":
        return True
    known = set(spoken)
    return known <= word_class("discourse") and known.isdisjoint(word_class("no_discourse"))


def _is_plain(label: str, spoken: Sequence[str]) -> bool:
    """Return True for a clause, a circumstance ("for the delivery") or a thing ("my address")."""
    if speaks(label) or (len(spoken) > 2 and is_clause(label)):
        return True
    if spoken[0] in word_class("about"):
        return all(one.islower() or one.isdigit() for one in label.split()[1:])
    return spoken[0] in ("my", "our", "the") and all(map(_is_common, spoken[1:]))


def _is_common(word: str) -> bool:
    return word in _FUNCTION_WORDS or word.isdigit() or is_word(word)


def is_name(label: str) -> bool:
    """Return whether a label can be the name of a speaker: capitals, a handle, an unknown word.

    >>> is_name("Bob"), is_name("dr_who77"), is_name("quick update"), is_name("Update")
    (True, True, False, False)
    """
    spoken = _WORD.findall(label)
    if (
        not spoken
        or len(spoken) > 4
        or spoken[0].casefold() in word_class("discourse", "greetings")
    ):
        return False
    if any(one.isdigit() or one == "_" or one == "@" for one in label) or is_file_name(label):
        return True
    if all(one[0].isupper() for one in spoken):
        return True
    return not all(map(_is_common, spoken))
