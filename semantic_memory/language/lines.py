"""Find lines whose form shows a paste: time stamps, headers, code, tables, letters, verse."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from semantic_memory.domain.english.commands import is_command
from semantic_memory.domain.patterns import regex
from semantic_memory.language.enclosures import Cut, speaks, word_class

# What a whole sentence has and a heading lacks: a pronoun as its subject, or a finite auxiliary
_CLAUSE = regex(
    r"\b(?:i|we|he|she|it|they|you|am|is|are|was|were|has|have|had|do|does|did|can|could|will|would"
    r"|should|must|may|might)\b|['’](?:m|s|re|ve|ll|d)\b",
    re.IGNORECASE,
)


class Line(NamedTuple):
    """A line that isn't blank, with its place and that of its paragraph."""

    start: int
    text: str
    paragraph: int
    """The start of the first line of its paragraph."""

    @property
    def words(self) -> list[str]:
        """Its words as they are written."""
        return _WORD.findall(self.text)


_WORD = regex(r"[^\W_][\w'’.-]*")
_CLOCK = r"\d{1,2}[:.h]\d\d(?::\d\d)?(?:[.,]\d{1,3})?(?:\s?(?i:[ap]\.?m)\b\.?)?"
_DATE = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})"
_STAMP = rf"(?:{_DATE}(?:[,\sT]{{1,3}}(?:at )?{_CLOCK}Z?)?|{_CLOCK.replace('[:.h]', ':')})"
_STAMPED = regex(
    rf"[ \t]*(?:[A-Z]{{3,8}}[ \t]+)?[(*_]{{0,3}}{_STAMP}[)*_]{{0,3}}"
    r"(?:\s*[-–—|>,;\])]|\s*:(?!\d)|[ \t]{2,}|\t"
    r"|[ \t]+(?=(?i:i|we|my|i'm|i've|im|ive)\b|[A-Z<@*]))",
)
_STAMP_ALONE = regex(rf"\W*{_STAMP}\W*\Z")
_STAMP_BEHIND = regex(rf"[A-Z@\"(*_][^.!?\n]{{0,60}}?(?:{_STAMP}|\b\d{{1,2}}\s?(?i:[ap]m))\W*\Z")
_STAMP_LAST = regex(rf"\w[^.!?\n]{{0,60}}?\s{_STAMP}\W*\Z")
_SUBTITLE = regex(r"\s*\d{1,5}\s*\Z|.*-->")
_MARKED = regex(
    r"[ \t]*(?://|/\*|\*/|#!|#{1,6}[ \t]|--[ \t]|;[ \t]|%[ \t]|REM |[{}]|@@|\+\+\+|\+[ \t]|\$[ \t]"
    r"|[=\-_*~#+]{3,}[^\w]*\Z|[=\-_*~#+]{3,}[ \t]*\w|[—–―]{1,2}[ \t]*\w|@\w+[ \t]|RT @|\\\w+[{[]"
    r"|[QA]\d{0,3}[.):]\s|([^\w\s.!?])\1+[^\n]*\1\1\W*\Z"
    r"|[─-▟■-◥◧-◻★☆][^\n]*\w"
    r"|\*[^*\n]{1,40}\*\s*\S|\([A-Z][^()\n]{0,30}\)\s*\S"
    r"|[♪♫🎵🎶📎🎤🎙📷📸🖼📄📃📧✉📩📨☎📞🔊🗣📝💬🎬🎧📑📰🔁🔗▶►•◦]️?\s*(?=[A-Z♪♫\"“]))"
)
_EMPHASISED = regex(r"[ \t]*#[\w-]+[ \t]*\Z|[ \t]*([*_]{1,3})[^*_\n]{1,60}\1:?[ \t]*\Z")
_BULLET = regex(r"[ \t]*[•◦]")
_CODE = regex(
    r".*(?:[;{}]\s*\Z|=>|:=|&&|\|\||\\n|\w\([^()\n]{0,80}\)[ \t]*\Z|\w\[\w*\]|::|==|!=)"
    r"|\s*(?:def|class|import|func|function|const|let|var|public|private|static|return|package"
    r"|from \w+ import|SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|GRANT|select|insert|update"
    r"|delete|create)\b.*[({;=*]"
)
_ASSIGNED = regex(r"[ \t]*[\w.\[\]\"'$-]{1,60}[ \t]*(?:=|\+=)[ \t]*\S")
_ROW = regex(r"[ \t]*\|.*\|[ \t]*\Z|[ \t]*[^,;\t\n]{0,200}([,;\t])(?=\S)[^,;\t\n]{1,200}\1(?=\S)")
_FILE = regex(r"(?<![\w@/])(?:[\w.~-]*[/\\])*[\w.-]*\w?\.[A-Za-z][A-Za-z0-9]{0,4}(?![\w.@/-])")
_SALUTATION = regex(
    r"[ \t]*(?P<greeting>[A-Za-z]+(?: (?:morning|evening|afternoon|day))?)[ ,]+"
    r"(?P<name>[^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*){0,3})[ \t]*[,:!.–-]*[ \t]*\Z"
)
_ENDED = regex(r".*[.!?…,;][\"'”’)*_]*\s*\Z")
_HEADED = regex(
    r"\s[·•|]\s|\b\d+ ?(?:s|m|h|d|w|min|hrs?|hours?|days?|weeks?|years?)(?: ago)?\W*\Z|\w/\w+\d"
    r"|\S@\w[\w-]*\.\w"
)
_NAME = r"(?:[A-Z][\w.'’-]*\s?)"
_ATTRIBUTED = regex(
    rf"\S\s+(?:[—–―]|--)\s*{_NAME}{{1,4}}\Z"
    rf"|\S\s+(?:[—–―]|--)\s*{_NAME}{{2,4}},\s*['‘“\"(*_]?(?:[A-Z0-9]\S*\s?){{1,6}}\Z"
    rf"|[.!?…][\"”'’]?\s+[-–~]\s*{_NAME}{{1,3}}\Z"
    rf"|(?:\A|(?<=[.!?] ))\W*\w+(?:ed|en) by {_NAME}{{1,4}}(?:[,:;—–-]|\Z)"
    rf"|(?:\A|(?<=[.!?] ))\W*\w+(?:ed|en) by [A-Z][\w'’-]+(?: [A-Z][\w'’-]*){{0,2}}\.(?=\s|\Z)"
)
_CODED = regex(  # "SPEAKER_01 I'm ..."
    r"[ \t]*(?=[^\s]*[_\d])[A-Za-z][\w#-]{1,30}[ \t]+(?:I|we|my|We|My)(?:['’]\w+)?[ \t]"
)
_CAPITALS = regex(r"[ \t]*[A-Z][A-Z0-9_'’-]{2,30}[ \t]+(?=[A-Z])")
_HANDED_FILE = regex(r"\.(?P<kind>[a-z0-9]{2,4})\s+\w+ed\W*\Z", re.IGNORECASE)
_ASIDE = regex(r"[ \t]*\((?P<aside>[^()\n]{1,80})\)[ \t]*\S")
_SMALL = frozenset(
    "of and the a an in on for to with by from at de la von van der & - vs no".split()
)
_MOST_OF_TITLE = 8
_MOST_OF_NAME = 5
_SIGNED = 2
"""Lines of which the last may be a signature."""
_VERSE = 4
"""Lines of one stanza."""


def lines_of(text: str) -> list[Line]:
    """Return the lines of a text that aren't blank."""
    found: list[Line] = []
    reached, paragraph = 0, -1
    for line in text.splitlines(keepends=True):
        if line.strip():
            paragraph = reached if paragraph < 0 else paragraph
            found.append(Line(reached, line.rstrip("\r\n"), paragraph))
        else:
            paragraph = -1
        reached += len(line)
    return found


def pasted_lines(text: str, lines: Sequence[Line]) -> Iterator[Cut]:
    """Yield the cut from the first line that shows a paste, or its paragraph, to the end."""
    if _is_signed(lines):
        yield Cut(0, len(text), "signature")
        return
    for place, line in enumerate(lines):
        for reason, shows, whole in _FORMS:
            if shows(line, lines[place + 1 :][:_VERSE]):
                yield Cut(line.paragraph if whole else line.start, len(text), reason)
                return


def is_file_name(text: str) -> bool:
    """Return whether a text is the name of a file, with at most three words around it.

    >>> is_file_name("README.md"), is_file_name("see notes.txt"), is_file_name("we use it")
    (True, True, False)
    """
    found = _FILE.search(text)
    if found is None or found[0].count(".") == len(found[0]):
        return False
    return len(_WORD.findall(text[: found.start()] + text[found.end() :])) <= 3


def _is_signed(lines: Sequence[Line]) -> bool:
    """Return True if below sentences stands a line that is none, as a signature or a footer is."""
    if len(lines) < _SIGNED:
        return False
    above, last = lines[-2], lines[-1]
    if _STAMP_BEHIND.match(last.text) and not _CLAUSE.search(last.text):
        return True
    spoken = last.words
    if not spoken or len(spoken) > _MOST_OF_NAME + 1 or _ENDED.match(last.text):
        return False
    first = spoken[0].casefold().strip(".")
    if first in word_class("discourse", "greetings") or not (
        last.text[0].isupper() or last.text[0].isdigit()
    ):
        return False
    if len(lines) == _SIGNED and not all(one[0].isupper() for one in spoken):
        return False  # a remark of one's own
    return _ENDED.match(above.text) is not None and not _CLAUSE.search(last.text)


def _is_stamped(line: Line, after: Sequence[Line]) -> bool:
    if _STAMPED.match(line.text) or _STAMP_ALONE.match(line.text):
        return True
    if not after or speaks(line.text):
        return False
    short = len(line.words) <= _MOST_OF_NAME and not _CLAUSE.search(line.text)
    return bool(_STAMP_BEHIND.match(line.text) or (short and _STAMP_LAST.match(line.text)))


def _is_subtitle(line: Line, after: Sequence[Line]) -> bool:
    return bool(after) and _SUBTITLE.match(line.text) is not None


def _is_attributed(line: Line, after: Sequence[Line]) -> bool:
    """Return True for words with their author's name, or the sign of a speaker, beside them."""
    if _ATTRIBUTED.search(line.text) or _CODED.match(line.text):
        return True
    return bool(after) and all(map(_is_called_out, (line, after[0])))


def _is_called_out(line: Line) -> bool:
    """Return True for a name in capitals before a sentence: "GUEST I quit"."""
    called = _CAPITALS.match(line.text) is not None
    return called and line.words[0].casefold() not in word_class("discourse")


def _is_marked(line: Line, after: Sequence[Line]) -> bool:
    if after and _EMPHASISED.match(line.text):
        return True
    if (found := _ASIDE.match(line.text)) and not speaks(found["aside"]):
        aside = {one.casefold() for one in _WORD.findall(found["aside"])}
        return not aside <= word_class("discourse")
    return _MARKED.match(line.text) is not None and _BULLET.match(line.text) is None


def _is_code(line: Line, after: Sequence[Line]) -> bool:
    del after
    return _CODE.match(line.text) is not None or _ASSIGNED.match(line.text) is not None


def _is_row(line: Line, after: Sequence[Line]) -> bool:
    del after
    return _ROW.match(line.text) is not None


def _is_file(line: Line, after: Sequence[Line]) -> bool:
    end = line.text.rstrip(" \t)]*_")
    if end.rpartition(".")[2].casefold() in word_class("documents") and "." in end:
        return True
    handed = _HANDED_FILE.search(line.text)
    if handed and handed["kind"].casefold() in word_class("documents"):
        return True
    return bool(after) and is_file_name(line.text) and not speaks(line.text)


def _is_salutation(line: Line, after: Sequence[Line]) -> bool:
    found = _SALUTATION.match(line.text)
    if found is None or not after:
        return False
    greeting = found["greeting"].casefold().split()[0]
    name = found["name"].casefold().split()
    if greeting not in word_class("greetings"):
        return False
    return not set(name) & word_class("listeners")


def _is_title(line: Line, after: Sequence[Line]) -> bool:
    """Return True for a heading: a line that names the kind or the speaker of those below."""
    spoken = line.words
    if not after or not spoken or len(spoken) > _MOST_OF_TITLE or _ENDED.match(line.text):
        return False
    if speaks(line.text) or "?" in line.text or line.text.lstrip()[0] in "-*•":
        return False
    plain = [one.casefold().strip(".") for one in spoken]
    if plain[0] in word_class("discourse", "greetings"):
        return False
    if not word_class("texts", "fiction").isdisjoint(plain):
        return True
    if _HEADED.search(line.text) or (
        line.text.lstrip()[0].isupper() and not _CLAUSE.search(line.text)
    ):
        return not is_command(line.text.casefold())
    told = [one for one in spoken if one.casefold() not in _SMALL]
    return len(told) <= _MOST_OF_NAME and all(not one[0].islower() for one in told)


def _is_verse(line: Line, after: Sequence[Line]) -> bool:
    """Return True for the first of four short lines with capitals and without an end."""
    stanza = [line, *takewhile(lambda one: one.paragraph == line.paragraph, after)][:_VERSE]
    if len(stanza) < _VERSE:
        return False
    return all(
        one.text.lstrip()[0].isupper()
        and len(one.words) <= _MOST_OF_TITLE + 1
        and ":" not in one.text
        and not one.text.rstrip().endswith((".", "!", "?"))
        for one in stanza
    )


_FORMS: tuple[tuple[str, Callable[[Line, Sequence[Line]], bool], bool], ...] = (
    ("time stamp", _is_stamped, True),
    ("subtitle", _is_subtitle, True),
    ("mark of a line", _is_marked, False),
    ("attribution", _is_attributed, True),
    ("table", _is_row, True),
    ("code", _is_code, True),
    ("file name", _is_file, False),
    ("letter", _is_salutation, True),
    ("title", _is_title, False),
    ("verse", _is_verse, True),
)
