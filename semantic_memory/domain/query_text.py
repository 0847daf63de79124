r"""The text form of filters: `tag:security.* -tag:old since:"last month" "web apps" auth*`.

    query  = { item }
    item   = [ "-" ] ( key ":" value { "," value } | phrase | word )
    key    = letter { letter | digit | "_" | "." | "-" } | "meta." path
    value  = phrase | word without "," and quotes
    phrase = '"' { character | '\"' | '\\' } '"' [ "*" ]

A regular language, so that one expression reads an item and every error has its position.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NoReturn

from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.patterns import regex

LONGEST_QUERY = 4_000
"""Characters of a query in text form."""

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_KEY = r'meta\.[^\s:",]*|[^\W\d][\w.-]*'
_ITEM = regex(
    rf"(?P<minus>-?)(?:(?P<key>{_KEY}):"
    rf"(?P<values>(?:{_QUOTED}|[^\s,\"]+)(?:,(?:{_QUOTED}|[^\s,\"]+))*)"
    rf'|(?P<phrase>{_QUOTED}\*?)|(?P<word>[^\s"]+))(?=\s|$)'
)
_KEYED = regex(rf"-?({_KEY}):")
_VALUE = regex(rf"{_QUOTED}|[^\s,\"]+")
_SPACE = regex(r"\s*")
_COMPARISON = regex(r"(>=|<=|>|<)(.+)", re.DOTALL)
_NUMBER = regex(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_CONSTANTS = {"true": True, "false": False, "null": None}
_OPERATORS = {">=": "$gte", "<=": "$lte", ">": "$gt", "<": "$lt"}

_SETS = {"category": "categories", "status": "statuses"}
_NAMES = {"agent": "agents", "run": "runs"}
_SINGLE: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "session": ("session_id", str),
    "since": ("since", str),
    "until": ("until", str),
    "when": ("when", str),
    "as_of": ("as_of", str),
    "min_importance": ("min_importance", float),
    "min_confidence": ("min_confidence", float),
    "min_trust": ("min_trust", str.casefold),
    "min_score": ("min_score", float),
    "refers_to": ("refers_to", str),
    "referred_by": ("referred_by", str),
    "depth": ("depth", int),
    "sort": ("sort", str.casefold),
    "limit": ("limit", int),
}
_META = "meta."
KEYS = ("tag", *_SETS, *_NAMES, *_SINGLE, "id", "meta.PATH")
"""The keys of the text form."""

Check = Callable[[Mapping[str, Any]], str | None]
"""Returns the reason why a field's value can't be used; None if it can."""


@dataclass(frozen=True, slots=True)
class _Item:
    position: int
    """Of its first character, from 1."""
    negated: bool
    key: str
    values: list[str]
    quoted: list[bool]

    def fail(self, reason: str) -> NoReturn:
        raise InvalidInputError(f"position {self.position}: {reason}")

    @property
    def only(self) -> str:
        """The value of a key that takes a single one."""
        if len(self.values) > 1:
            self.fail(f"{self.key} takes one value; to use a ',' in it, put it in quotes")
        return self.values[0]


def read_query(text: str, check: Check) -> dict[str, Any]:
    """Return the fields of filters that a query stands for, in text form or as a JSON object.

    Raises InvalidInputError with the position, from 1, and what to write instead.
    """
    if len(text) > LONGEST_QUERY:
        raise InvalidInputError(
            f"the query has {len(text):,} characters; the limit is {LONGEST_QUERY:,}"
        )
    if text.lstrip().startswith("{"):
        return _json(text)
    reading = _Reading(check)
    for item in _items(text):
        reading.take(item)
    return reading.fields()


def _json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"the query begins like a JSON object, but isn't: {error}"
        ) from None
    assert isinstance(found, dict)  # noqa: S101  # what begins with a brace
    return found


def _items(text: str) -> Iterator[_Item]:
    place = _SPACE.match(text).end()  # type: ignore[union-attr]  # matches always
    while place < len(text):
        found = _ITEM.match(text, place)
        if found is None:
            _explain(text, place)
        key = found["key"] or ""
        if found["values"]:
            written = _VALUE.findall(found["values"])
        else:
            written = [found["phrase"] or found["word"]]
        item = _Item(
            place + 1,
            bool(found["minus"]),
            key,
            [_plain(one) for one in written],
            [one.startswith('"') for one in written],
        )
        if found["word"]:
            _check_word(item)
        yield item
        place = _SPACE.match(text, found.end()).end()  # type: ignore[union-attr]


def _plain(written: str) -> str:
    """Return a value without its quotes; a phrase keeps the * behind it."""
    if not written.startswith('"'):
        return written
    end = written.rindex('"')
    return re.sub(r"\\(.)", r"\1", written[1:end], flags=re.DOTALL) + written[end + 1 :]


def _check_word(item: _Item) -> None:
    word = item.values[0]
    keyed = _KEYED.match(word)
    if word in ("AND", "OR", "NOT") or word[0] in "()":
        item.fail(
            f"{word[:20]!r} is no operator here: all conditions must hold, tag:a,b means one of"
            " several, -word leaves out; put it in quotes to look for the word"
        )
    if keyed:
        if keyed[1] in KEYS or keyed[1].startswith(_META):
            item.fail(f"{keyed[1]} needs a value right behind the ':', like {keyed[1]}:value")
        _refuse_key(item, keyed[1])


def _explain(text: str, place: int) -> NoReturn:
    """Raise the error for a place where no item begins."""
    rest = text[place:]
    keyed = _KEYED.match(rest)
    reason = "there is a '-' without anything to leave out behind it"
    if re.match(rf'[^"]*?{_QUOTED}\*?\S', rest):
        reason = "a space or a ',' must follow the quotes"
    elif '"' in rest:
        place = text.index('"', place)
        reason = "the quotes aren't closed"
    elif keyed:
        reason = f"{keyed[1]} needs a value right behind the ':', like {keyed[1]}:value"
    raise InvalidInputError(f"position {place + 1}: {reason}")


def _refuse_key(item: _Item, key: str) -> NoReturn:
    near = get_close_matches(key.casefold(), KEYS, n=1, cutoff=0.6)
    meant = f"; did you mean {near[0]}?" if near else "."
    item.fail(
        f"unknown key {key[:40]!r}{meant} Known: {', '.join(KEYS)}. To look for it as words, put it"
        " in quotes"
    )


@dataclass
class _Reading:
    """The fields read so far."""

    check: Check
    _fields: dict[str, Any] = field(default_factory=dict)
    _metadata: list[dict[str, Any]] = field(default_factory=list)

    def take(self, item: _Item) -> None:
        """Add the field that an item stands for. Raises InvalidInputError."""
        match item.key:
            case "":
                self._extend(item, "not_words" if item.negated else "words", item.values)
            case "tag":
                self._tag(item)
            case key if key in _SETS:
                name = ("not_" if item.negated else "") + _SETS[key]
                self._extend(item, name, [value.casefold() for value in item.values])
            case key if key in _NAMES:
                name = ("not_" if item.negated else "") + _NAMES[key]
                self._extend(item, name, [*map(_name, item.values, item.quoted)])
            case "id":
                self._refuse_minus(item)
                self._extend(item, "ids", item.values)
            case key if key in _SINGLE:
                self._one(item)
            case key if key.startswith(_META):
                self._meta(item)
            case key:
                _refuse_key(item, key)

    def fields(self) -> dict[str, Any]:
        """Return the fields."""
        paths = [path for one in self._metadata for path in one]
        if len(set(paths)) == len(paths):
            merged = {path: value for one in self._metadata for path, value in one.items()}
        else:
            merged = {"$and": self._metadata}
        return {**self._fields, "metadata": merged} if merged else self._fields

    def _tag(self, item: _Item) -> None:
        tags = [tag.removesuffix(".*") for tag in item.values]
        if item.negated:
            self._extend(item, "not_tags", tags)
        elif len(tags) == 1:
            self._extend(item, "tags", tags)
        else:
            if "any_tags" in self._fields:
                item.fail("there is a list of tags already, and one of them must hold: join them")
            self._extend(item, "any_tags", tags)

    def _one(self, item: _Item) -> None:
        self._refuse_minus(item)
        name, kind = _SINGLE[item.key]
        if name in self._fields:
            item.fail(f"{item.key} is given twice")
        try:
            value = kind(item.only)
        except ValueError:
            wanted = "a number like 0.5" if kind is float else "a whole number"
            item.fail(f"{item.key} takes {wanted} (got {item.only[:40]!r})")
        if item.key != "depth":  # which alone says nothing
            self._checked(item, {name: value})
        self._fields[name] = value

    def _meta(self, item: _Item) -> None:
        path = item.key.removeprefix(_META)
        condition: Any
        if len(item.values) > 1:
            condition = {"$in": [*map(_scalar, item.values, item.quoted)]}
        elif item.quoted[0]:
            condition = {"$eq": item.values[0]}
        elif item.values[0] == "*":
            condition = {"$exists": True}
        elif found := _COMPARISON.fullmatch(item.values[0]):
            condition = {_OPERATORS[found[1]]: _scalar(found[2], quoted=False)}
        else:
            condition = {"$eq": _scalar(item.values[0], quoted=False)}
        filtered = {path: {"$not": condition} if item.negated else condition}
        self._checked(item, {"metadata": filtered})
        self._metadata.append(filtered)

    def _extend(self, item: _Item, name: str, values: Sequence[str | None]) -> None:
        self._checked(item, {name: values})
        self._fields[name] = [*self._fields.get(name, []), *values]

    def _checked(self, item: _Item, values: Mapping[str, Any]) -> None:
        reason = self.check(values)
        if reason is not None:
            item.fail(f"{item.key}: {reason}" if item.key else reason)

    def _refuse_minus(self, item: _Item) -> None:
        if item.negated:
            item.fail(f"{item.key} can't be left out: drop the '-'")


def _name(written: str, quoted: bool) -> str | None:
    """Return the name that a word stands for; null stands for none."""
    return None if written == "null" and not quoted else written


def _scalar(written: str, quoted: bool) -> str | float | bool | None:
    """Return the value that a word stands for: a number, true, false, null or else a text."""
    if quoted:
        return written
    if written in _CONSTANTS:
        return _CONSTANTS[written]
    if _NUMBER.fullmatch(written):
        return float(written) if any(mark in written for mark in ".eE") else int(written)
    return written
