"""Find passwords, PINs, codes and answers that a sentence states, by its structure.

A sentence states a secret if a noun for one is joined with a value: "my password, the old one, is
..." (a link), "pass ..." (beside it), "... as my password" (its role), "the garage keypad takes
..." (a thing that a code opens). How little the value must look like one depends on how close the
join is: right behind the first link any word may be a password; elsewhere it must mix letters with
digits or signs, or be a number. The words of all languages are in ``data/secrets.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib import resources
from itertools import chain, takewhile
from typing import NamedTuple

from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.tables import split
from semantic_memory.domain.english.words import (
    Form,
    can_be_noun,
    forms,
    is_adverb,
    is_quality,
    is_word,
)
from semantic_memory.domain.patterns import deferred, regex
from semantic_memory.domain.text import STOP_WORDS

Span = tuple[int, int]

_BEHIND = 240
"""Characters behind a noun in which its value is looked for."""
_BEFORE = 120
_AROUND = 60
_LONGEST_CODE = 60
_MOST_TOKENS = 24
_MOST = 40
"""Nouns before and behind among which the same one is looked for."""
_MOST_WORDS = 8
"""Words of a password that is a phrase."""
_FEW = 2
"""Words between a noun and a colon."""
_NEAR = 7
"""Words between a noun and its first link, within which any word can be the value."""


def _words(*entries: str) -> str:
    """Return the source of a pattern that matches a phrase of some entries as whole words."""

    def source() -> str:
        return one_of(one for entry in entries for one in split(_data()[entry].lower()))

    return rf"(?<![\w/@#.-])(?:{deferred(source)})(?![\w-])"


@cache
def _data() -> dict[str, str]:
    text = (resources.files(__package__) / "data" / "secrets.toml").read_text(encoding="utf-8")
    found = tomllib.loads(text)
    joined = found.pop("joined")
    return found | {f"joined.{name}": words for name, words in joined.items()}


def _joined(entry: str) -> str:
    return deferred(lambda: "|".join(map(re.escape, _data()[f"joined.{entry}"].split())))


_HEAD = regex(
    rf"(?P<answer>{_words('answer')})|(?P<phrase>{_words('phrase')})|(?P<secret>{_words('secret')})"
    rf"|(?P<watchword>{_words('watchword')})|(?P<access>{_words('access')})|(?P<proof>{_words('proof')})|(?P<open>{_words('open')})|(?P<short>{_words('short')})|(?P<thing>{_words('thing')})",
    re.IGNORECASE,
)
_JOINED_HEAD = regex(rf"(?P<secret>{_joined('secret')})|(?P<answer>{_joined('answer')})")
_JOINED_VALUE = regex(r"[「『“\"](?P<quoted>[^」』”\"\n]{2,60})[」』”\"]|(?P<plain>[!-~]{4,60})")
_JOINED_ANSWER = regex(
    r"\s?(?:は|是|：|:|은|는)\s?(?P<value>[^\s、。,.]{1,20}?)(?=です|だ|[。、]|$)"
)
_JOINED_UNIT = regex(rf"[{deferred(lambda: _data()['joined.unit'])}]")
_THING = regex(_words("thing"), re.IGNORECASE)
_OPENS = regex(rf"(?:{_words('opens', 'with')}|[:—–])\s*", re.IGNORECASE)
_CHANGE = regex(_words("change"), re.IGNORECASE)
_ROLE = regex(rf"(?P<role>{_words('role')})\s(?:\S+\s){{0,3}}$", re.IGNORECASE)
_SENTENCE_END = regex(r"(?<!\?)[.!…]+[\"')]?(?=\s|$)|\n|[。！]")
_TOKEN = regex(
    r"\"(?P<quoted>[^\"\n]{2,80})\"|[“„](?P<curled>[^”“\n]{2,80})[”“]|«\s?(?P<angled>[^»\n]{2,80}?)\s?»"
    r"|`(?P<ticked>[^`\n]{2,80})`|(?<!\w)['‘](?P<single>[^'’\n]{2,80})['’](?!\w)"
    r"|(?P<mark>->|=>|[:=→—–?]|(?<=\s)-(?=\s))|(?P<comma>[,;()])"
    r"|(?P<word>[^\s,;:=→—–\"“„«»`()?]+(?:[:=?!,]+[^\s,;:=\"“”«»`()?.]+)*)"
)
_QUOTES = ("quoted", "curled", "angled", "ticked", "single")
_VALUE_END = ".)]}'’\"”"
_NUMBER = regex(r"\d[\d-]{0,12}[#*]?|\d{4,8}(?:-\d{4,8}){2,9}|[#*]\d{2,8}|\d{3,6}[A-DКВАС]")
_MIXED = regex(
    r"(?=\S*\d)(?=\S*[^\W\d_])\S{4,}|(?=\S*[^\W\d_])\S*[#$%^&*+=@!~][^\s]*[\w#$%^&*+=@!~-]\S*"
)
_STRONG = regex(
    r"(?=\S*[^\W\d_])(?=\S*\d)\S*[#$%^&*+=!~]\S*|\S*[a-z]\S*[#$%^&*+=!~]\S*[A-Za-z]\S*\d"
)
# Other words of mixed characters: dates, times, versions, ordinals, measures, mail, paths, acronyms
_NO_SECRET = regex(
    r"[\[<{*$./•]|\w+://|www\.|\d{4}-\d\d-\d\d|\d{1,2}[-.]\d{1,2}[-.](?:19|20)\d\d|\d+(?:st|nd|rd|th|[ap]m|ms|px|min|kg|km|[kmg]b|x|s|h|%)\b"
    r"|v?\d+(?:\.\d+)+|[^@\s]+@[^@\s]+\.\w+$|[a-z]+'[a-z]+$|\d+%|\d+[gm](?:hz|bps)$|(?:19|20)\d\ds$|\w+\(",
    re.IGNORECASE,
)
_ABBREVIATION = regex(r"[A-Z]{1,6}-?\d{1,5}$|[A-Z]+[a-z]?[A-Z]\w*\d$|\d[A-Z][a-z]+$")
_CODE = regex(r"\d{4,8}[#*]?|\d{3,6}[A-D]|\d{1,4}(?:-\d{1,4}){2,7}")
_LOOSE = frozenset("on is ist est es é è это : — –".split())
"""Joins of a thing and its code behind which many other numbers stand."""
_PRODUCT = regex(r"[A-Z][a-zA-Z]+\d{1,3}|[a-z][A-Z]\w+|(?:19|20)\d\d")
_ANSWERS = regex("answer|antwort|r[eé]p|resp|risp|ответ")
_UNLIKELY = regex(
    r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])\S*[#$%^&*+!~_]\S*|(?=\S{6,40}$)[^\W\d_]{3,}\d{2,6}"
)
_REST = regex(r"\S*")
_FIRST_WORD = regex(r"[^\s]{1,40}")
_LISTED = regex(r"\d{1,2}(?:-\d{1,2}){2,7}|\S+(?:\s\S+){2,9}")
_CODE_DIGITS = regex(r"\d{4,12}[#*]?")
_SIGNED_WORD = regex(  # which no other word is like: "Regenbogen!5"
    r"(?<![^\s\"'“„«‘`(])(?P<value>(?=[^\s=/(]{8,60}(?:[\s)\"'”»’`,;:?.]|$))(?=\S{0,60}[^\W\d_]{4})"
    r"(?=\S{0,60}\d)[^\W_][\w.-]*[!^][\w!^.-]*\w)"
)
_SIGNED_CODE = regex(r"(?<!\S)(?P<value>\d{4,8}#)(?!\w)")
_AND = frozenset("and und et y e en и".split())
_JOINTS = frozenset(
    "every each whenever always never until since enough anymore please btw again already".split()
)


class _Token(NamedTuple):
    kind: str
    """`word`, `quoted`, `mark` or `comma`."""
    text: str
    start: int
    end: int


class _Head(NamedTuple):
    """A noun for a secret in its sentence."""

    kind: str
    said: str
    before: Sequence[_Token]
    behind: Sequence[_Token]
    role: str
    """Word that makes it a role of something else, as in "use it as my password"."""
    changed: bool
    """A change is said before it, so that "to" leads to the new value."""


def stated_secrets(text: str) -> Iterator[Span]:
    """Yield the places of the secrets that sentences state; they may overlap.

    >>> said = "my usual pin, the old one, is 4711"
    >>> [said[start:end] for start, end in stated_secrets(said)]
    ['4711']
    >>> list(stated_secrets("The code review is on Friday"))
    []
    """
    heads = [*_HEAD.finditer(text)]
    for place, found in enumerate(heads):
        kind = str(found.lastgroup)
        if kind == "access":
            yield from _around(_head(text, found, kind, _neighbours(heads, place)))
            continue
        if kind == "thing":
            yield from _opened(text, found)
            continue
        if kind in ("proof", "watchword"):
            opens = _THING.search(_surroundings(text, found, _neighbours(heads, place)))
            kind = {"proof": "answer", "watchword": "secret"}[kind] if opens else "short"
        elif kind == "open":
            kind = _opening(text, found, _neighbours(heads, place))
        if kind:
            head = _head(text, found, kind, _neighbours(heads, place))
            yield from _before(head)
            stated = [*_behind(head)]
            alike = _alike(head, stated[-1]) if stated and kind in ("secret", "open") else ()
            yield from (_whole(text, span) for span in chain(stated, alike, _around(head)))
    for pattern in (_SIGNED_CODE, _SIGNED_WORD):
        yield from (code.span("value") for code in pattern.finditer(text))
    for found in _JOINED_HEAD.finditer(text):
        yield from _in_joined(text, found)


def _whole(text: str, span: Span) -> Span:
    """Return the place of a value with the rest of its word, if it goes beyond what was read."""
    rest = _REST.match(text, span[1]) if span[1] - span[0] > _BEHIND // 2 else None
    return (span[0], rest.end()) if rest else span


def _neighbours(heads: Sequence[re.Match[str]], place: int) -> Span:
    """Return where the same noun stands before and behind: each has its own part of the text.

    So a text that repeats a noun is read once, not once for each.
    """
    said = heads[place][0].lower()
    before = (
        one.end()
        for one in reversed(heads[max(0, place - _MOST) : place])
        if one[0].lower() == said
    )
    behind = (one.start() for one in heads[place + 1 : place + 1 + _MOST] if one[0].lower() == said)
    return next(before, 0), next(behind, len(heads[place].string))


def _head(text: str, found: re.Match[str], kind: str, reach: Span) -> _Head:
    start = max(reach[0], found.start() - _BEFORE)
    for end in _SENTENCE_END.finditer(text, start, found.start()):
        start = end.end()
    before = text[start : found.start()]
    role = _ROLE.search(before)
    return _Head(
        kind,
        found[0].lower(),
        _tokens(text, start, found.start()) if role or kind != "open" else (),
        _tokens(text, found.end(), min(reach[1], _sentence_end(text, found.end()))),
        role["role"].lower() if role else "",
        _CHANGE.search(before) is not None,
    )


def _sentence_end(text: str, start: int) -> int:
    """Return where the sentence ends that continues at `start`, or how far it is read."""
    reach = min(len(text), start + _BEHIND)
    found = _SENTENCE_END.search(text, start, reach)
    while found and text[found.start()] == "!" and _MIXED.match(_last_word(text, found.start())):
        found = _SENTENCE_END.search(text, found.end(), reach)  # a sign of the secret
    if found:
        return found.start() + (text[found.start()] == "!")
    if reach < len(text):  # not in the middle of a word, unless it is endless
        return reach if (last := text.rfind(" ", start + _BEFORE, reach)) < 0 else last
    return reach


def _last_word(text: str, end: int) -> str:
    start = max(0, end - 60)
    return text[start:end].rpartition(" ")[2]


def _tokens(text: str, start: int, end: int) -> list[_Token]:
    found: list[_Token] = []
    for match in _TOKEN.finditer(text, start, end):
        kind = str(match.lastgroup)
        group = 0 if kind in ("mark", "comma") else kind
        said, place = match[group], match.start(group)
        if kind == "word":
            said = said.rstrip(_VALUE_END) if match.end() == end or said[-1] in ")]’”" else said
            said = said.rstrip(".,")
        if said:
            token = _Token("quoted" if kind in _QUOTES else kind, said, place, place + len(said))
            found.append(token)
        if len(found) == _MOST_TOKENS and start < end - _BEFORE:
            break
    return found


@cache
def _entry(name: str) -> re.Pattern[str]:
    return regex(_words(name), re.IGNORECASE)


def _is(name: str, token: _Token) -> bool:
    return token.kind == "word" and _is_in(name, token.text)


@lru_cache(maxsize=65_536)
def _is_in(name: str, phrase: str) -> bool:
    return _entry(name).fullmatch(phrase) is not None


def _opening(text: str, found: re.Match[str], reach: Span) -> str:
    """Return the kind of a code or key: one of a thing that it opens, a short one, or none."""
    start = max(reach[0], found.start() - _AROUND)
    around, before = _surroundings(text, found, reach), text[start : found.start()]
    last = before.rstrip().rpartition(" ")[2]
    of_a_kind = (
        before.endswith(" ") and last.isalpha() and last.islower() and not _is_in("thing", last)
    )
    if of_a_kind and can_be_noun(last) and not _is_plain(last):
        return ""  # a zip code
    if _is_in("other", last):
        return ""
    named = last.istitle() and len(last) > 2 and before.rstrip() != last
    return "open" if named or _THING.search(around) else "combination"


def _surroundings(text: str, found: re.Match[str], reach: Span) -> str:
    """Return the words around a noun, in which a thing that it opens is looked for."""
    start = max(reach[0], found.start() - _AROUND)
    return text[start : min(reach[1], _sentence_end(text, found.end()))][: 3 * _AROUND]


def _is_plain(word: str) -> bool:
    lowered = word.lower()
    return _is_in("possessive", lowered) or lowered in STOP_WORDS or is_quality(lowered)


def _behind(head: _Head) -> Iterator[Span]:
    """Yield the values that follow a noun in its sentence."""
    tokens = head.behind
    if not tokens:
        return
    first = tokens[0]
    beside = first.kind != "mark" and not _is("link", first)
    if beside and head.kind != "answer" and (value := _beside(head)):
        yield value
        return
    compound = _is_compound(first)
    near = not compound and head.kind in ("secret", "phrase", "answer")
    changes = head.changed or any(_is("change", token) for token in tokens)
    changed, place = head.changed, 0
    while place < len(tokens):
        token = tokens[place]
        changed = changed or _is("change", token)
        if not (length := _link(tokens, place, changes=changes)):
            place += 1
            continue
        toward = _is("toward", token)
        link = place
        place = _behind_fillers(tokens, place + length)
        mine = link > 0 and head.kind == "secret" and _is("mine", tokens[link - 1])
        close = mine or (
            near
            and token.kind != "comma"
            and (head.changed or not toward)
            and _leads(tokens[:link], marked=token.kind == "mark")
        )
        value = _value(head, place, near=close, marked=token.kind == "mark", compound=compound)
        dated = toward and _is_year(tokens[place].text if place < len(tokens) else "")
        if value and not (dated and not (changed and token.text in ("to", "auf"))):
            yield value
            near = False
            while place < len(tokens) and tokens[place].end <= value[1]:
                place += 1
            if place and place < len(tokens) and tokens[place - 1].end < value[1]:
                place += 1
        elif token.kind == "word" and not toward and place == link + length:
            near = near and (place < len(tokens) and _is("link", tokens[place]))


def _beside(head: _Head) -> Span | None:
    """Return the place of a value beside a noun, or beside what the noun is for, at a clause's end.

    "pass toor123", "the code to the gate 4471".
    """
    if value := _value(head, 0, near=False):
        return value
    tokens = head.behind
    if head.kind == "phrase":
        words = [*takewhile(_is_content, tokens)]
        return (words[0].start, words[-1].end) if len(words) >= _MOST_WORDS else None
    if head.kind not in ("secret", "open"):
        return None
    begin = 2 if _is("of", tokens[0]) else 1 if _is("thing", tokens[0]) else len(tokens)
    for place in range(begin, min(begin + 3, len(tokens))):
        ends = place + 1 == len(tokens) or tokens[place + 1].kind == "comma"
        product = _PRODUCT.fullmatch(tokens[place].text)
        if ends and not product and (value := _value(head, place, near=False)):
            return value
        if tokens[place].kind != "word" or _is("link", tokens[place]):
            return None
    return None


def _is_content(token: _Token) -> bool:
    return token.kind == "word" and token.text.isalpha() and token.text.lower() not in STOP_WORDS


def _around(head: _Head) -> Iterator[Span]:
    """Yield the words of the sentence that can hardly be anything but secrets."""
    if head.kind in ("secret", "phrase", "access"):
        for token in (*head.before, *head.behind):
            word = token.text.strip("*_")
            unlikely = _UNLIKELY.fullmatch(word) and not _PRODUCT.fullmatch(word)
            quoted = token.kind == "quoted" and head.kind == "access"
            if (unlikely or quoted) and _looks(token):
                yield token.start, token.end


def _alike(head: _Head, stated: Span) -> Iterator[Span]:
    """Yield the words behind a value that have its form: "was ..., and the new one is ..."."""
    text = next((one.text for one in head.behind if one.start == stated[0]), "")
    for place, token in enumerate(head.behind):
        if token.start <= stated[1] or not place or token.kind == "mark":
            continue
        number = text.isdigit() and token.text.isdigit() and len(text) == len(token.text) > 3
        linked = _is("link", head.behind[place - 1]) or head.behind[place - 1].text.endswith("'s")
        if (number and linked) or (_MIXED.fullmatch(text) and _looks(token)):
            yield token.start, token.end


def _is_compound(behind: _Token) -> bool:
    """Return True if the word behind a noun makes it part of another: "password manager"."""
    word = behind.text
    return (
        behind.kind == "word"
        and is_word(word)
        and can_be_noun(word)
        and not forms(word) & {Form.PAST, Form.THIRD, Form.ING}
        and not any(_is(one, behind) for one in ("link", "of", "filler", "change"))
    )


def _link(tokens: Sequence[_Token], place: int, *, changes: bool) -> int:
    """Return the number of words of the link at a place; 0 for none."""
    token = tokens[place]
    two = " ".join(one.text for one in tokens[place : place + 2])
    if _is_in("link", two) and " " in two:
        return 2
    joins = token.kind in ("mark", "comma") or _is("link", token)
    return int(joins or (changes and _is("source", token)))


def _leads(between: Sequence[_Token], *, marked: bool) -> bool:
    """Return True if words between a noun and a link lead to it without another statement."""
    said = [one for one in between if one.kind == "word"]
    return (
        not said
        or (marked and len(said) <= _FEW)
        or between[-1].kind == "comma"
        or (len(said) <= _NEAR and (_is("of", said[0]) or all(_is("filler", o) for o in said)))
        or all(_is("link", one) or _is("filler", one) or one.text == "used" for one in said)
    )


def _behind_fillers(tokens: Sequence[_Token], place: int) -> int:
    while place < len(tokens):
        two = " ".join(one.text for one in tokens[place : place + 2])
        three = " ".join(one.text for one in tokens[place : place + 3])
        if _is_in("filler", three) and three != two:
            place += 3
        elif _is_in("filler", two):
            place += 2
        elif _is("filler", tokens[place]) or _is("pronoun", tokens[place]):
            place += 1
        elif _is("possessive", tokens[place]) and _number(tokens, place + 1):
            place += 1  # "est le 7788"
        else:
            break
    return place


def _before(head: _Head) -> Iterator[Span]:
    """Yield the values that stand before a noun: "use ... as my password"."""
    tokens = [one for one in head.before if one.kind in ("word", "quoted")]
    if head.kind == "combination":
        return
    for place, token in enumerate(tokens):
        if _has_role(head, tokens, place):
            yield token.start, token.end


def _has_role(head: _Head, tokens: Sequence[_Token], place: int) -> bool:
    """Return True if the sentence says of a word before a noun that it is what the noun means."""
    token, rest = tokens[place], tokens[place + 1 :]
    used = place > 0 and _is("use", tokens[place - 1])
    as_one = bool(head.role) and _is_in("as", head.role)
    is_one = _is_told(rest) or (
        1 <= len(rest) <= 4 and _is("link", rest[0]) and _is("possessive", rest[1 % len(rest)])
    )
    if _CODE_DIGITS.fullmatch(token.text) and ((is_one and head.kind == "secret") or as_one):
        return True
    if used and as_one and rest and _is("as", rest[0]) and _is_value(token.text, certain=False):
        return True
    if not (_looks(token) or (token.kind == "quoted" and " " not in token.text)):
        return False
    if as_one or is_one:
        return True
    role = head.role and (used or (rest and _is("role", rest[0])))
    became = head.kind == "secret" and place > 0 and _is("toward", tokens[place - 1])
    became = became and any(_is("change", one) for one in tokens[:place])
    return bool(role or became) and not _PRODUCT.fullmatch(token.text)


def _is_told(rest: Sequence[_Token]) -> bool:
    """Return True if words lead from a value to its noun: "..., that's our"."""
    if len(rest) < 2 or not _is("possessive", rest[-1]):
        return False
    told = rest[-2].text.lower().replace("’", "'")
    return told in ("that's", "which's", "it's") or (
        told == "is" and len(rest) > 2 and rest[-3].text.lower() in ("that", "which", "this")
    )


def _value(
    head: _Head, place: int, *, near: bool, marked: bool = False, compound: bool = False
) -> Span | None:
    """Return the place of the value that begins at a token; None if there is none."""
    tokens = head.behind
    if place >= len(tokens):
        return None
    token = tokens[place]
    span = (token.start, token.end)
    if compound:
        return span if token.kind == "word" and _is_strong(token) else None
    if token.kind == "quoted":
        return span if near or head.kind not in ("short", "combination") or _looks(token) else None
    return _worded(head, place, near=near, marked=marked) if token.kind == "word" else None


def _worded(head: _Head, place: int, *, near: bool, marked: bool) -> Span | None:
    """Return the place of a value that isn't quoted."""
    tokens = head.behind
    token = tokens[place]
    if number := _number(tokens, place):
        return number if _is_code(head, token, tokens[0], marked=marked) else None
    if head.kind in ("short", "open") and (paired := _pair(tokens, place)):
        return paired
    if head.kind == "combination":
        return None
    sure = near or head.kind == "open" or marked
    if _looks(token, sure=sure) and (head.kind != "short" or re.search(r"\d", token.text)):
        return token.start, token.end
    if head.kind == "answer":
        return _answer(head, token, near=near, marked=marked)
    if not near and not (head.kind == "phrase" and marked):
        return None
    return _phrase(tokens, place, marked=marked, whole=head.kind == "phrase")


def _is_code(head: _Head, number: _Token, first: _Token, *, marked: bool) -> bool:
    """Return True if a number behind a noun is a code: of which noun, or in which form."""
    match head.kind:
        case "combination":  # the code for the shed is 4471; the combination is 3-14-7
            long = not _NUMBER.fullmatch(number.text) or len(number.text) > 3
            return number.text.count("-") > 1 or (long and _is("of", first))
        case "short":
            return marked or number.text.count("-") > 1
    return True


def _is_strong(token: _Token) -> bool:
    return _STRONG.fullmatch(token.text) is not None and _looks(token)


def _answer(head: _Head, token: _Token, *, near: bool, marked: bool) -> Span | None:
    """Return the place of an answer that proves who someone is: a name, or behind "answer" any."""
    any_word = near and _ANSWERS.search(head.said) and _is_value(token.text, certain=False)
    if not any_word and (marked and not _is_in("proof", head.said)):
        return None
    if not any_word and not _is_named(token):
        return None
    tokens = head.behind
    last = tokens.index(token)
    while last + 1 < len(tokens) and _is_named(token) and _is_named(tokens[last + 1]):
        last += 1
    return token.start, tokens[last].end


def _is_named(token: _Token) -> bool:
    if token.kind != "word" or not token.text[0].isupper():
        return False
    return not (_is("description", token) or _is("leading", token))


def _pair(tokens: Sequence[_Token], place: int) -> Span | None:
    """Return the password of a pair: "admin / ...", "maya:..."."""
    token = tokens[place]
    if len(tokens) > place + 2 and tokens[place + 1].text in ("/", "|"):
        behind = tokens[place + 2]
        return (behind.start, behind.end) if _looks(behind, sure=True) else None
    name, colon, password = token.text.partition(":")
    if colon and name and not password.isdigit() and len(password) > 2 and "/" not in password:
        return token.end - len(password), token.end
    return None


def _looks(token: _Token, *, sure: bool = False) -> bool:
    """Return True if a word mixes letters with digits or signs, as secrets do."""
    word = token.text.strip("*_")  # emphasis
    if _NO_SECRET.match(word):
        return False
    if not _MIXED.fullmatch(word):
        return sure and bool(re.fullmatch(r"[A-Z]{1,6}\d{3,6}", word))
    if "/" in word and "://" not in word and word.count("/") > 1:
        return False
    return sure or not _ABBREVIATION.match(word)


def _number(tokens: Sequence[_Token], place: int) -> Span | None:
    """Return the place of a number that can be a code, in digits or in words."""
    digits = words = 0
    end = place
    for at in range(place, len(tokens)):
        token = tokens[at]
        if token.kind == "comma" and token.text == "," and at > place:
            continue
        if token.kind != "word":
            break
        parts = token.text.rstrip(".!").split("-")
        if _NUMBER.fullmatch(token.text.rstrip(".!")):
            digits += sum(char.isdigit() for char in token.text)
            words += 1
        elif _is("digit", token) or all(_is_in("digit", part) for part in parts):
            words += len(parts)
        else:
            break
        end = at + 1
    while end > place and tokens[end - 1].text.lower() == "then":
        end -= 1
    if end == place or (end < len(tokens) and _is("unit", tokens[end])):
        return None
    first, last = tokens[place], tokens[end - 1]
    if _NO_SECRET.match(first.text):
        return None
    if digits >= 3 and (words == 1 or digits >= 4 or words > digits):
        return first.start, last.end
    return (first.start, last.end) if words - (digits > 0) >= 3 else None


def _is_year(word: str) -> bool:
    return re.fullmatch(r"(?:19|20)\d\d", word) is not None


def _phrase(tokens: Sequence[_Token], place: int, *, marked: bool, whole: bool) -> Span | None:
    """Return the place of a value of plain words: one, or several that are a phrase."""
    words: list[_Token] = []
    joint = ""
    most = len(tokens) if whole else _MOST_WORDS
    for token in tokens[place:]:
        if token.kind != "word" or len(words) == most:
            break
        if words and not whole and _is_joint(token.text):
            joint = token.text.lower()
            break
        words.append(token)
    first = words[0]
    named = first.text[0].isupper() and not first.text.isupper() and len(words) == 1
    if _is("leading", first) and not (whole and marked):
        return None
    if whole:
        told = forms(first.text.lower()) & {Form.PAST, Form.ING} and not marked
        return None if len(words) < 2 or told else (first.start, words[-1].end)
    plain = all(other.text.isalpha() for other in words[1:])
    phrase = (
        len(words) > 2
        and not joint
        and all(is_word(one.text) for one in words)
        and not (is_adverb(first.text) or first.text.lower() in STOP_WORDS)
    )
    explained = marked and (len(words) == 2 or (joint and joint not in _AND))
    if not phrase and (explained or not _is_value(first.text, certain=marked or named)):
        return None
    if not is_word(first.text) and first.text.islower() and len(words) > 1:
        return None  # another language, that continues
    last = words[-1] if plain else first
    return first.start, last.end


def _is_joint(word: str) -> bool:
    lowered = word.lower().rstrip(".")
    return lowered in STOP_WORDS | _JOINTS | _AND or is_adverb(lowered)


def _is_value(word: str, *, certain: bool) -> bool:
    """Return True if `word` can be a password rather than a word about one."""
    lowered = word.lower()
    if len(lowered) < 3 or _NO_SECRET.match(word) or set(lowered) <= {"x"}:
        return False
    if _MIXED.fullmatch(word.strip("*_")) or word.isdigit():
        return True
    if lowered in STOP_WORDS or is_adverb(lowered):
        return False
    if any(_is_in(one, lowered) for one in ("description", "leading", "link")):
        return False
    known = forms(lowered)
    if certain:
        return known != {Form.PAST} and known != {Form.ING}
    return (
        can_be_noun(lowered)
        and not known & {Form.PAST, Form.ING, Form.THIRD}
        and not is_quality(lowered.rpartition("-")[2])
        and (is_word(lowered) or not _is_in("participle", lowered))
    )


def _opened(text: str, thing: re.Match[str]) -> Iterator[Span]:
    """Yield the code or word that opens a thing."""
    start = thing.end()
    end = _sentence_end(text, start)
    for found in _OPENS.finditer(text, start, min(end, start + _AROUND)):
        if not _may_be_number(text, found.end()):
            continue  # most often, and much faster
        tokens = _tokens(text, found.end(), min(end, found.end() + _LONGEST_CODE))
        link = found[0].strip().lower()
        number = _number(tokens, 0) if tokens else None
        if number is None:
            strict = link not in _LOOSE and not _is_in("with", link)
            if strict and tokens and _is_password(tokens[0]):
                yield tokens[0].start, tokens[0].end
        elif _is_opening_code(text[slice(*number)], link, thing[0]) and not any(
            one.kind == "word" and _goes_on(one.text)
            for one in tokens
            if one.start == number[1] + 1
        ):
            yield number


def _is_password(token: _Token) -> bool:
    return _looks(token) and not _PRODUCT.fullmatch(token.text)


def _is_opening_code(said: str, link: str, thing: str) -> bool:
    """Return True if a number behind a link can be the code of a thing, by its form."""
    if _is_in("with", link):
        return _is_in("locked", thing) and _CODE.fullmatch(said) is not None
    if link in (":", "—", "–") and _is_in("locked", thing):
        return len(said) > 2
    if said.rstrip("#*").isdigit():
        return link not in _LOOSE and _CODE.fullmatch(said) is not None
    return link not in _LOOSE or _LISTED.fullmatch(said) is not None


def _may_be_number(text: str, start: int) -> bool:
    first = _FIRST_WORD.match(text, start)
    return first is not None and (
        any(map(str.isdigit, first[0])) or _is_in("digit", re.split(r"[-,]", first[0])[0])
    )


def _goes_on(word: str) -> bool:
    """Return True if a word behind a number is what it counts."""
    return not _is_joint(word) and can_be_noun(word) and forms(word) != {Form.BASE}


def _in_joined(text: str, head: re.Match[str]) -> Iterator[Span]:
    """Yield the values behind a noun of a language that doesn't put spaces between words."""
    end = _sentence_end(text, head.end())
    if head.lastgroup == "answer" and (told := _JOINED_ANSWER.match(text, head.end(), end)):
        yield told.span("value")
    for found in _JOINED_VALUE.finditer(text, head.end(), end):
        group = str(found.lastgroup)
        start, last = found.span(group)
        value = found[group].rstrip(".,;:)")
        unit = _JOINED_UNIT.match(text, last)
        if (
            group == "quoted"
            or _MIXED.fullmatch(value)
            or (_CODE_DIGITS.fullmatch(value) and not unit)
        ):
            yield start, start + len(value)
