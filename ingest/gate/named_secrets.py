"""Find the value that is joined with a noun for a secret: "Passwort: Blume7", "мой пин 8841".

The judge of sentences reads what is told in other words. This needs no reading, in languages of
which it knows little: a noun, a join, and a token that is quoted, a number, or letters mixed with
digits or signs. The words are in ``data/secrets.toml``.

    noun [of what] join value [now value]        "PIN for the shed is now 4417"
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from semantic_memory.domain.data_files import data_of
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.tables import split
from semantic_memory.domain.language import is_english
from semantic_memory.domain.patterns import deferred, regex

Span = tuple[int, int]


def _data() -> dict[str, str]:
    return data_of(__package__, "secrets")


def _any_of(entry: str) -> str:
    return rf"(?:{deferred(lambda: one_of(split(_data()[entry].lower())))})"


def _words(entry: str) -> str:
    """Return the source of a pattern that matches a phrase of an entry as whole words."""
    return rf"(?<![\w/@#.-]){_any_of(entry)}(?![\w-])"


def _joined(entry: str) -> str:
    return deferred(lambda: "|".join(map(re.escape, _data()[entry].split())))


_OF = rf"(?:[^\S\n]+{_any_of('of')}(?:[^\S\n]+[^\s,;:.!?]+){{1,3}}?)?"
_NOUN = (
    rf"(?:{_words('secret')}{_OF}"
    rf"|{_words('code')}(?=[^.!?,;\n]{{1,40}}?{_words('lock')})(?:[^\S\n]+[^\s,;:.!?]+){{1,5}}?)"
)
_SAYING = (
    r"[\"'”*_`]{0,2}(?:[^\S\n]*(?:[:=：?](?!//)|[-–—=]>|→|[–—-](?=\s|\d))[\s*_]{0,3}#?"
    rf"|(?:['’]s|[^\S\n]+{_any_of('link')})[^\S\n]+(?:{_any_of('filler')}[^\S\n]+)?)"
)
_JOIN = rf"(?:{_SAYING}|(?P<loose>[^\S\n]+(?:{_any_of('towards')}[^\S\n]+)?#?))"
"""Joins; a loose one is often none, as in "to pin 100" or "my passwords to Notion"."""
_JOINED = rf"(?:{_joined('joined')})\s?(?:(?:{_joined('joint')}|[:：])\s?){{0,2}}"
_UNITS = deferred(lambda: _data()["joined_unit"])
_NO_UNIT = rf"(?!\s?(?:{_any_of('unit')}\b|[{_UNITS}%€$£°]))"
_WORD = r"[^\W_぀-ヿ㐀-鿿가-힣]"
"""A letter or digit, of scripts with spaces between words."""
_LETTER, _SIGN = "[A-Za-zÀ-ɏͰ-ӿ]", "[!-~¡-ɏͰ-ӿ]"
_VALUE = (
    r"(?:\"(?P<q1>[^\"\n]{2,80})\"|“(?P<q2>[^”\n]{2,80})”|„(?P<q3>[^“”\n]{2,80})[“”]"
    r"|«\s?(?P<q4>[^»\n]{2,80}?)\s?»|[「『](?P<q5>[^」』\n]{2,80})[」』]|`(?P<q6>[^`\n]{2,80})`"
    r"|['‘](?P<q7>[^'’\n]{2,80})['’](?!\w)"
    rf"|(?P<number>\d{{1,12}}(?:[ -]\d{{1,12}}){{0,11}}[#*]?)(?!{_WORD}|[^\s\w,;)\]}}]\w){_NO_UNIT}"
    rf"|(?P<spoken>{_any_of('digit')}(?:[ ,-]{{1,2}}{_any_of('digit')}){{2,12}})\b"
    rf"|(?P<token>(?={_SIGN}{{0,200}}?{_LETTER})"
    rf"(?={_SIGN}{{0,200}}?(?:\d|[#$&+=!~^@%]{_SIGN}{{0,200}}?\w)){_SIGN}{{4,200}}))"
)
_STATED = regex(rf"(?:{_NOUN}{_JOIN}|{_JOINED}){_VALUE}", re.IGNORECASE)
_NAMES = regex(rf"{_words('secret')}|{_joined('joined')}", re.IGNORECASE)
_MAY_NAME = regex(rf"{_words('perhaps')}|{_words('secret')}|{_joined('joined')}", re.IGNORECASE)
_JOINS = regex(
    rf"(?:(?:{_words('secret')}|{_words('perhaps')}){_OF}{_JOIN}|{_JOINED})[\"'“„«`]?\Z",
    re.IGNORECASE,
)
_THEN = regex(
    rf"[\s,;、，]{{0,3}}(?:{_any_of('then')})\s?(?:{_any_of('link')}\s)?{_VALUE}", re.IGNORECASE
)
_END = ".,;:!?)]}>\"'*`"
"""Signs behind a token that don't belong to it."""
_RUN = regex(rf"{_SIGN}*")
_FEW = 400
"""Signs of a token that tell whether it can be a secret."""
_BEFORE = 60
"""Characters before a value that tell its language."""
_FEWEST = 3
"""Digits of a number that can be a secret."""
_HALVES = regex(r"(\d+)-\1")  # 50-50
# placeholders, addresses, dates, times, versions, measures, calls, comparisons
_NO_VALUE = regex(
    r"[\[<{(]|\$(?-i:[{(A-Z])|\w*\(|.*(?:://|==(?!\Z))|[^@\s]+@[^@\s]+\.\w+$"
    r"|\d{4}-\d\d-\d\d|v?\d+(?:\.\d+)+$|v\d+$|\d+(?:st|nd|rd|th|[ap]m|ms|px|min|kg|km|[kmg]b|x|s|h|%)$|(?:19|20)\d\ds$",
    re.IGNORECASE,
)


def names_a_secret(text: str) -> bool:
    """Return True if a text has a noun for a secret.

    >>> names_a_secret("das Passwort"), names_a_secret("the shed")
    (True, False)
    """
    return _NAMES.search(text) is not None


def may_name_a_secret(text: str) -> bool:
    """Return True if a text has a noun that is for a secret or often for something else."""
    return _MAY_NAME.search(text) is not None


def joins_a_secret(text: str) -> bool:
    """Return True if a text ends with a noun for a secret and what joins it with its value.

    >>> joins_a_secret("das Passwort ist "), joins_a_secret("das Passwort"), joins_a_secret("PIN:")
    (True, False, True)
    """
    return _JOINS.search(text) is not None


def named_secrets(text: str, *, surely: bool = False) -> Iterator[Span]:
    """Yield the places of values that are joined with nouns for secrets, in order.

    What is joined loosely isn't `surely` one, and is left to the judge in English.

    >>> said = "mein Handy-PIN war 1122, jetzt 3344"
    >>> [said[start:end] for start, end in named_secrets(said)]
    ['1122', '3344']
    >>> list(named_secrets("The password policy asks for 12 characters"))
    []
    """
    found = _STATED.search(text)
    while found:
        end = found.end() if found["token"] is None else found.start("token")
        is_loose = found["loose"] is not None and (
            surely or is_english(text[max(0, found.start() - _BEFORE) : found.start("loose")])
        )
        span = None if is_loose else _value(found)
        while span:
            yield span
            end = span[1]
            following = _THEN.match(text, end)
            span = _value(following) if following else None
        found = _STATED.search(text, end)


def _token(text: str, start: int, stop: int = sys.maxsize) -> str:
    """Return the token that begins at a place, up to `stop`, without the signs behind it."""
    run = _RUN.match(text, start, stop)
    return run[0].rstrip(_END) if run else ""


def _value(found: re.Match[str]) -> Span | None:
    """Return the place of what can be a secret; None if it can't."""
    kind = found.lastgroup or ""
    start, end = found.span(kind)
    if kind == "token":
        if _NO_VALUE.match(_token(found.string, start, end + _FEW)):
            return None  # its rest isn't looked at: behind many nouns that would be slow
        return start, start + len(_token(found.string, start))
    if kind == "number" and (
        sum(map(str.isdigit, found[kind])) < _FEWEST or _HALVES.fullmatch(found[kind])
    ):
        return None
    return start, end
