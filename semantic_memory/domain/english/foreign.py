"""Split a message into its author's own words and text that was pasted or quoted, by its form.

Forms: code fences and triple quotes, quoted lines and mails, tags, texts to work on, what others
wrote, play, long quotations, and lines too long to be typed. Every form is found in one pass. A
form that needs a certain character isn't looked for, nor its pattern compiled, without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.tables import phrase_of, phrases, words
from semantic_memory.domain.patterns import regex

Place = tuple[int, int]


class Parted(NamedTuple):
    """A message in two parts."""

    own: str
    """The author's words, with a line break in place of each text of others."""
    foreign: tuple[str, ...]
    """The texts of others, in their order."""


_LONGEST_LINE = 2_000
_FENCES = ("```", "~~~", '"""', "'''")
_QUOTED_LINE = regex(  # "> ...", and lines of a log: a time, then a level
    r"^[ \t]*(?:>|\|[ \t]*>|[\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\n]{0,40}?"
    r"\b(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b)[^\n]*",
    re.MULTILINE,
)
_FIGURE = regex(r"[ \t]*>=?[ \t]*[$€£]?\d")
_TAG = regex(r"<(/?)([A-Za-z][\w:-]{0,40})(?:[ \t\n][^<>]{0,400})?(/?)>")
_BRACKETED = regex(r"\[(/?)([A-Z]{2,20})\]")
_HEADER = regex(
    rf"^[ \t]*[*_]{{0,2}}{phrases('foreign.headers')}[*_]{{0,2}}[ \t]*:[*_]{{0,2}}[ \t]*\S",
    re.IGNORECASE,
)
_TELLING = regex(r"\s*[*_]*(?:subject|sent|betreff|gesendet|asunto|objet|message-id)\b", re.I)
_SALUTATION = regex(r"\s*(?:dear|hi|hello|hey|good (?:morning|evening|day))\b", re.IGNORECASE)
_FORWARDED = regex(
    any_of(
        rf"^[ \t]*-{{2,}}[ \t]*{phrases('foreign.forwarded')}[^\n]*",
        rf"^[ \t]*{phrases('foreign.forwarded')}[^\n]{{0,80}}:[ \t]*$",
        r"^[ \t]*(?:On|Am|Le|El) [^\n]{4,160}(?:\n[^\n]{0,80})?(?:wrote|schrieb[^\n:]{0,60}"
        r"|a écrit|escribió) ?:[ \t]*$",
    ),
    re.IGNORECASE | re.MULTILINE,
)
_START = r"(?:^|(?<=[\n.!?;,:(—–]))[ \t]*(?:[-*][ \t])?"
_POLITE = (
    r"(?:(?:please|pls|ok|okay|so|now|and|then|hey|hi|hello|next|just|could you|can you|would you"
    r"|will you|i need you to|i want you to|i'd like you to|help me|quickly|kindly|chatgpt|claude"
    r"|assistant),?\s+){0,4}"
)
_REQUEST = rf"{_START}{_POLITE}"
_WORKED_ON = regex(
    rf"{_REQUEST}{phrases('foreign.worked_on')}\b[^\n:]{{0,80}}?(?::|\n|$)", re.IGNORECASE
)
_TEXT = rf"(?:\s[\w']+){{0,3}}?\s{phrases('foreign.texts')}\b[^\n:]{{0,80}}?"
_NAMED = regex(
    any_of(
        rf"{_REQUEST}{phrases('foreign.looked_at')}(?:\s(?:over|through))?"
        rf"(?:\s{phrases('foreign.follows')}\b[^\n:]{{0,80}}?|{_TEXT}):",
        rf"{_REQUEST}{phrases('foreign.made')}\b[^\n:]{{0,80}}?:",
        rf"{_START}{phrases('foreign.copied')}\b[^\n:]{{0,80}}?:",
        rf"{_START}{phrases('foreign.leads')}{_TEXT}(?::|\n)",
        rf"{_START}{phrases('foreign.leads')}\s(?:what|how)\s(?!(?:I|we|you|to)\b)\w[^\n:]{{0,80}}?"
        r"(?::|\n)",
    ),
    re.IGNORECASE,
)
_ASKED_ABOUT = regex(
    r"\A[^\n]{0,200}\b(?:this|these|the following)\s(?:[\w']+\s){0,2}?"
    rf"{phrases('foreign.texts')}\b"
    r"[^\n]{0,120}\n[ \t]*\n",
    re.IGNORECASE,
)
_WROTE = regex(
    rf"\b{phrases('foreign.wrote')}\b(?:[ \t][^\n:.!?]{{0,60}})?[ \t]*:(?=\s)", re.IGNORECASE
)
_CLAUSE_END = regex(r"[\n.!?:;]")
# Only the place where one begins matters. `phrases` puts the longest first, which takes 30 ms to
# compile.
_PLAY = regex(rf"{_REQUEST}{any_of(*phrase_of('foreign.play'))}(?!\w)", re.IGNORECASE)
_SAID_IN = regex(rf"{_START}(?:\w+\s){{0,3}}?{phrases('foreign.said_in')}\b[^\n.!?]*", re.I)
_ABOVE = regex(rf"{_REQUEST}{any_of(*phrase_of('foreign.above'))}\b", re.IGNORECASE)
_SPEECH = regex(r"\"([^\"\n]{1,4000})\"|“([^”]{1,4000})”|«([^»]{1,4000})»|„([^“”]{1,4000})[“”]")
_OPENING = regex(r"\s*([\"“«„])")
_CLOSING = {'"': '"', "“": "”", "«": "»", "„": "“"}
_FIRST_PERSON = regex(r"\b(?:I|my|me|mine|we|our|us)\b|\bI'", re.IGNORECASE)
_HOLDERS = words("foreign.holders")
_INLINE = words("foreign.inline_tags")
_BETWEEN = words("foreign.between")
_MOST_NAMED = 80  # characters in front of "wrote:"
_WORDS_SPOKEN = 4  # of a quotation with "I" in it
_WORDS_QUOTED = 14  # of any other


def own_words(text: str) -> str:
    r"""Return the author's own words of a message.

    >>> own_words("I moved to Oslo.\n> I live in Rome.\nIt is cold.").split("\n")
    ['I moved to Oslo.', '', '', 'It is cold.']
    """
    return parted(text).own


@lru_cache(maxsize=1_024)
def parted(text: str) -> Parted:
    """Split a message into its author's own words and the words of others.

    >>> parted("Translate this: I am a pilot").foreign
    (' I am a pilot',)
    """
    places = _joined(sorted(place for place in _places(text) if text[place[0] : place[1]].strip()))
    if not places:
        return Parted(text, ())
    own, reached = [], 0
    for start, end in places:
        own.append(text[reached:start])
        reached = end
    own.append(text[reached:])
    return Parted("\n".join(own), tuple(text[start:end] for start, end in places))


def _places(text: str) -> Iterator[Place]:
    yield from _fenced(text)
    yield from _quoted_lines(text)
    yield from _tagged(text)
    yield from _mailed(text)
    yield from _handed_over(text)
    if "\n" in text and (found := _ASKED_ABOUT.match(text)):
        yield found.end(), len(text)
    yield from _written_by_others(text)
    yield from _spoken(text)
    yield from _long_lines(text)
    if found := _PLAY.search(text):
        yield found.start(), len(text)
    yield from ((found.start(), found.end()) for found in _SAID_IN.finditer(text))
    above = [found.start() for found in _ABOVE.finditer(text)]
    if above:
        yield 0, above[-1]


def _fenced(text: str) -> Iterator[Place]:
    for mark in _FENCES:
        start = text.find(mark)
        while start >= 0:
            closed = text.find(mark, start + len(mark))
            end = len(text) if closed < 0 else closed + len(mark)
            if closed >= 0 or _opens_a_block(text, start):
                yield start, end
            start = text.find(mark, end)


def _opens_a_block(text: str, start: int) -> bool:
    """Return True if a fence begins its line, and more lines follow."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return not before.strip() and "\n" in text[start:].rstrip()


def _quoted_lines(text: str) -> Iterator[Place]:
    """Yield runs of lines behind `>`; a line by itself that compares figures is no quotation."""
    run: list[re.Match[str]] = []
    for found in [*_QUOTED_LINE.finditer(text), None]:
        if run and (found is None or found.start() > run[-1].end() + 1):
            if len(run) > 1 or not _FIGURE.match(run[0][0]):
                yield run[0].start(), run[-1].end()
            run = []
        if found is not None:
            run.append(found)


def _tagged(text: str) -> Iterator[Place]:
    """Yield what tags enclose, up to the last closing tag of the name, whatever stands between."""
    tags = [*_TAG.finditer(text)]
    found = [*tags, *_BRACKETED.finditer(text)]
    last = {one[2].casefold(): one.end() for one in found if one[1]}
    for number, one in enumerate(found):
        name, is_tag = one[2].casefold(), number < len(tags)
        if one[1] or name in _INLINE or (is_tag and one[3]):
            continue
        end = last.get(name, 0)
        if end > one.start():
            yield one.start(), end
        elif is_tag and name in _HOLDERS:
            yield one.start(), len(text)


def _mailed(text: str) -> Iterator[Place]:
    """Yield mails from their first header on, or from the line above a mail that is passed on."""
    if (":" in text or "--" in text) and (found := _FORWARDED.search(text)):
        yield found.start(), len(text)
    headers = start = reached = 0
    telling = False
    for line in text.splitlines(keepends=True):
        is_header = ":" in line and _HEADER.match(line) is not None
        if is_header:
            start = start if headers else reached
            headers += 1
            telling |= "@" in line or _TELLING.match(line) is not None
        if telling and (headers > 1 or (headers and _SALUTATION.match(line))):
            yield start, len(text)
            return
        if not is_header and line.strip():
            headers, telling = 0, False
        reached += len(line)


def _handed_over(text: str) -> Iterator[Place]:
    if ":" not in text and "\n" not in text:  # one of them ends what leads a text in
        return
    for pattern in (_WORKED_ON, _NAMED):
        for found in pattern.finditer(text):
            if found.end() < len(text):
                yield _behind(text, found.end())
                break


def _written_by_others(text: str) -> Iterator[Place]:
    """Yield what stands behind "Bob wrote:"; what the author wrote is the author's own."""
    if ":" not in text:
        return
    for found in _WROTE.finditer(text):
        before = _CLAUSE_END.split(text[max(0, found.start() - _MOST_NAMED) : found.start()])[-1]
        said = re.findall(r"\w+", before.casefold().replace("'", " "))
        while said and said[-1] in _BETWEEN:
            said.pop()
        if said and said[-1] not in ("i", "we"):
            yield _behind(text, found.end())
            return


def _behind(text: str, start: int) -> Place:
    """Return the place of a text that is led in: a quotation, or else all that follows."""
    opening = _OPENING.match(text, start)
    if opening:
        closed = text.find(_CLOSING[opening[1]], opening.end())
        if closed >= 0:
            return start, closed + 1
    return start, len(text)


def _spoken(text: str) -> Iterator[Place]:
    """Yield quotations of someone's speech; a word or a title in quotation marks is none."""
    for found in _SPEECH.finditer(text):
        said = next(filter(None, found.groups()), "")
        spoken = said.split()
        titled = sum(word[:1].isupper() for word in spoken) > 0.6 * len(spoken)
        limit = _WORDS_SPOKEN if _FIRST_PERSON.search(said) else _WORDS_QUOTED
        if len(spoken) >= limit and not titled:
            yield found.start(), found.end()


def _long_lines(text: str) -> Iterator[Place]:
    reached = 0
    for line in text.splitlines(keepends=True):
        if len(line) > _LONGEST_LINE:
            yield reached, reached + len(line)
        reached += len(line)


def _joined(places: list[Place]) -> list[Place]:
    joined: list[Place] = []
    for start, end in places:
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined
