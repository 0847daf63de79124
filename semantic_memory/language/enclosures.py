"""Find what a message encloses: code, quotations, tags, brackets. Each is found in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from semantic_memory.domain.data_files import data_of
from semantic_memory.domain.patterns import regex


class Cut(NamedTuple):
    """A place of a text that isn't its author's own, and the form that says so."""

    start: int
    end: int
    reason: str


@cache
def word_class(*names: str) -> frozenset[str]:
    """Return the words of one or more classes of `own_speech.toml`."""
    table = data_of(__package__, "own_speech")
    return frozenset(word for name in names for word in table[name].split())


_FENCES = ("```", "~~~", '"""', "'''")
_QUOTED_LINES = regex(r"^[ \t|]*>[^\n]*(?:\n[ \t|]*>[^\n]*)*", re.MULTILINE)
_FIGURE = regex(r"[ \t]*>=?[ \t]*[$€£]?\d[^\n]*\Z")
_TAG = regex(r"<(/?)([A-Za-z!?_|][\w:.@+|-]{0,60})((?:[\s/][^<>]{0,400})?)>")
_ADDRESS = regex(r"(?:https?|mailto|ftp|tel):|[\w.+-]+@\w")
_BRACKET = regex(r"\[[^\[\]\n]{0,200}\]?|【[^】\n]{0,200}】?")
_LINK = regex(r"\([^()\s]{1,300}\)")
_BARE = regex(r"\[[\d ,x-]*\]")
_INLINE_CODE = regex(r"(?<!`)(`{1,2})(?!`)([^`\n]{1,4000})\1(?!`)")
_EMPHASISED = regex(r"(?<![\w*_~])([*_]{1,3}|~~)(?=[^\s*_~])([^*_~\n]{1,400})(?<=\S)\1(?![\w*_~])")
_QUOTES = {
    '"': '"',
    "“": "”",
    "«": "»",
    "»": "«",
    "„": "“”",
    "「": "」",
    "『": "』",
    "‹": "›",
    "❝": "❞",
    "”": "”",
}
_OPENING = regex("[" + "".join(_QUOTES) + "]")
_SINGLE_OPENING = regex(r"(?<![\w'’‘])['‘‚](?=[\w…])")
_SINGLE_CLOSING = regex(r"(?<=[\w.,!?…*)])['’](?!\w)")
_FIRST_PERSON = regex(
    r"\b(?:I|my|me|mine|we|our|us|myself|[Ii]m|[Ii]ve)\b|\b[Ii]['’]", re.IGNORECASE
)
_WORD = regex(r"\w[\w'’-]*")
_MOST_MENTIONED = 3  # words of a quotation that names a word or a title
_MOST_TITLE = 8


def enclosures(text: str) -> list[Cut]:
    """Return what a text encloses. What is opened and not closed goes to the end."""
    found = [*_fenced(text)]
    for find in (_quoted_lines, _tagged, _code, _quoted, _bracketed):
        found += find(without(text, found))
    return found


def without(text: str, cuts: Iterable[Cut]) -> str:
    """Return a text of the same length with spaces in place of the cuts, line ends kept."""
    parts: list[str] = []
    reached = 0
    for start, end, _ in sorted(cuts):
        if end <= reached:
            continue
        start = max(start, reached)
        parts += (
            text[reached:start],
            "".join("\n" if one == "\n" else " " for one in text[start:end]),
        )
        reached = end
    return "".join((*parts, text[reached:]))


def speaks(text: str) -> bool:
    """Return whether a text has a word in the first person."""
    return _FIRST_PERSON.search(text) is not None


def _fenced(text: str) -> Iterator[Cut]:
    for mark in _FENCES:
        start = text.find(mark)
        while start >= 0:
            closed = text.find(mark, start + len(mark))
            end = len(text) if closed < 0 else closed + len(mark)
            yield Cut(start, end, "code")
            start = text.find(mark, end)


def _quoted_lines(text: str) -> Iterator[Cut]:
    """Yield runs of lines behind `>`; a line by itself that compares figures is no quotation."""
    for found in _QUOTED_LINES.finditer(text):
        if not _FIGURE.match(found[0]):
            yield Cut(found.start(), found.end(), "quoted lines")


def _tagged(text: str) -> Iterator[Cut]:
    """Yield what tags enclose, up to the last closing tag of the name, or else to the end."""
    found = [*_TAG.finditer(text)]
    last = {one[2].casefold(): one.end() for one in found if one[1]}
    inline = word_class("inline_tags")
    for one in found:
        name = one[2].casefold()
        if name in inline or one[1]:
            continue
        if _ADDRESS.match(one[0][1:]):
            yield Cut(one.start(), one.end(), "address")
            continue
        end = last.get(name, 0)
        yield Cut(one.start(), end if end > one.start() else len(text), "tag")


def _code(text: str) -> Iterator[Cut]:
    for found in _INLINE_CODE.finditer(text):
        if not _is_mention(found[2]):
            yield Cut(found.start(), found.end(), "code")
    for found in _EMPHASISED.finditer(text):
        if not _is_mention(found[2]):
            yield Cut(found.start(), found.end(), "quotation")


def _quoted(text: str) -> Iterator[Cut]:
    """Yield quotations; a word or a title in quotation marks is none."""
    reached = 0
    for found in _OPENING.finditer(text):
        if found.start() < reached or _is_inch(text, found.start()):
            continue
        closing = _QUOTES[found[0]]
        ends = [place for one in closing if (place := text.find(one, found.end())) >= 0]
        end = min(ends) + 1 if ends else len(text)
        if not ends or not _is_mention(text[found.end() : end - 1]):
            yield Cut(found.start(), end, "quotation")
        reached = end
    yield from _quoted_singly(text)


def _quoted_singly(text: str) -> Iterator[Cut]:
    reached = 0
    closings = [one.start() for one in _SINGLE_CLOSING.finditer(text)]
    place = 0
    for found in _SINGLE_OPENING.finditer(text):
        start = found.start()
        word = _WORD.match(text, found.end())
        elided = word is not None and (
            word[0].casefold().split("'")[0] in word_class("elisions") or word[0][0].isdigit()
        )
        if start < reached or elided:
            continue
        while place < len(closings) and closings[place] <= start:
            place += 1
        if place == len(closings):
            if word is not None and word[0].islower() and not speaks(word[0]):
                continue  # "'preciate it"
            yield Cut(start, len(text), "quotation")
            return
        reached = closings[place] + 1
        if not _is_mention(text[start + 1 : reached - 1]):
            yield Cut(start, reached, "quotation")


def _is_inch(text: str, place: int) -> bool:
    """Return True for the mark behind a figure: 27" is a size."""
    return text[place] in '"”' and text[place - 1 : place].isdigit()


def _is_mention(quoted: str) -> bool:
    """Return True for a quotation of a word or a title, which says nothing."""
    spoken = _WORD.findall(quoted)
    capital = [one for one in spoken if one[0].isupper() or one[0].isdigit()]
    long = [one for one in spoken if len(one) > 3]
    if len(spoken) <= _MOST_TITLE and {*long} <= {*capital}:
        if len(capital) > 1 and "I" not in capital:
            return True  # "Lord of the Flies"
        if len(capital) > len(spoken) // 2:
            return len(capital) > 1 or not speaks(quoted)
    return len(spoken) <= _MOST_MENTIONED and not speaks(quoted)


def _bracketed(text: str) -> Iterator[Cut]:
    """Yield text in square brackets; for an attachment, with everything after it."""
    for found in _BRACKET.finditer(text):
        inner = found[0].strip("[]【】").strip()
        if _LINK.match(text, found.end()):
            continue
        begins = not text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip(" \t-*")
        if _BARE.fullmatch(found[0]) and not (begins and any(map(str.isdigit, inner))):
            continue
        if inner.casefold() in word_class("placeholders") and found[0].endswith("]"):
            continue
        yield Cut(found.start(), len(text), "marker in brackets")
        return
