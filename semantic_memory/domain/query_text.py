r"""The text form of filters: `tag:security.* -tag:old since:"last month" (auth* OR "log in")`.

    query  = group { "OR" group }
    group  = item { [ "AND" ] item }
    item   = [ "-" | "NOT" ] ( "(" query ")" | key ":" value { "," value } | phrase | word )
    key    = letter { letter | digit | "_" | "." | "-" } | "meta." path
    value  = phrase | word without "," and quotes
    phrase = '"' { character | '\"' | '\\' } '"' [ "*" ]

One expression reads an item, so that every error has its position, and two functions what stands
between brackets. As in SQL, OR parts what AND joins.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, NoReturn

from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.patterns import regex

LONGEST_QUERY = 4_000
"""Characters of a query in text form."""
DEEPEST = 8
"""Brackets within brackets."""

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_KEY = r'meta\.[^\s:",]*|[^\W\d][\w.-]*'
_ITEM = regex(
    rf"(?P<minus>-?)(?:(?P<key>{_KEY}):"
    rf"(?P<values>(?:{_QUOTED}|[^\s,\"()]+)(?:,(?:{_QUOTED}|[^\s,\"()]+))*)"
    rf'|(?P<phrase>{_QUOTED}\*?)|(?P<word>[^\s"()]+))(?=[\s)]|$)'
)
_BRACKET = regex(r"(?P<minus>-?)\(|\)")
_KEYED = regex(rf"-?({_KEY}):")
_VALUE = regex(rf"{_QUOTED}|[^\s,\"()]+")
_SPACE = regex(r"\s*")
_COMPARISON = regex(r"(>=|<=|>|<)(.+)", re.DOTALL)
_NUMBER = regex(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_CONSTANTS = {"true": True, "false": False, "null": None}
_OPERATORS_BETWEEN = ("AND", "OR", "NOT")
_LOWER_CASE = ("or", "and", "not")
"""Words that nobody looks for, and that would leave out every memory without them."""
_FOREIGN = regex(r"[|]|&&")
_OF_ANSWERS = frozenset({"sort", "limit", "min_score", "as_of"})
"""Keys that hold for the whole query; all others for what AND joins them to."""
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
_OUTSIDE = _OF_ANSWERS | {"status", "refers_to", "referred_by", "depth"}
"""Keys that can't stand in brackets, or beside OR."""
_FIELDS_OUTSIDE = {"statuses", "not_statuses", "refers_to", "referred_by", "depth"}
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
    operator: str = ""
    """`(`, `)`, AND, OR or NOT; empty for a condition."""

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
    parts = deque(_items(text))
    found = _alternatives(parts, check, depth=0)
    if parts:
        parts[0].fail("there is no '(' before this ')'; put it in quotes to look for it")
    return found


def _alternatives(parts: deque[_Item], check: Check, depth: int) -> dict[str, Any]:
    """Take a query up to its closing bracket or the end, and return its fields."""
    whole = _Reading(check, {}, depth)
    groups = [_group(parts, check, whole)]
    while parts and parts[0].operator == "OR":
        mark = parts.popleft()
        if not groups[-1] or not parts or parts[0].operator in ("OR", ")"):
            mark.fail("OR needs a condition on both sides; put it in quotes to look for the word")
        groups.append(_group(parts, check, whole))
    if len(groups) == 1:
        return {**whole.fields(), **groups[0]}
    if beside := [name for one in groups for name in one if name in _FIELDS_OUTSIDE]:
        mark.fail(
            f"{beside[0]} holds for the whole query: write what OR joins in brackets beside it,"
            " like status:archived (a OR b)"
        )
    return {**whole.fields(), "either": [groups]}


def _group(parts: deque[_Item], check: Check, whole: _Reading) -> dict[str, Any]:
    """Take items up to the next OR, bracket or end, all of which must hold; return their fields.

    What says how to answer goes to `whole`, wherever it stands.
    """
    reading = _Reading(check, {}, whole.depth)
    joint: _Item | None = None
    while parts and parts[0].operator not in ("OR", ")"):
        item = parts.popleft()
        if item.operator == "AND":
            if joint or not reading.began:
                item.fail("AND needs a condition on both sides; it may as well be left out")
            joint = item
            continue
        joint = None
        if item.operator == "NOT":
            if not parts or parts[0].operator in ("AND", "OR", "NOT", ")") or parts[0].negated:
                item.fail("NOT needs a condition behind it; -word is shorter")
            parts[0] = replace(parts[0], negated=True)
        elif item.operator == "(":
            reading.bracket(item, _bracketed(item, parts, check, whole.depth + 1))
        elif item.key in _OF_ANSWERS and not whole.depth:
            whole.take(item)
        else:
            reading.take(item)
    if joint:
        joint.fail("AND needs a condition on both sides; it may as well be left out")
    return reading.fields()


def _bracketed(start: _Item, parts: deque[_Item], check: Check, depth: int) -> dict[str, Any]:
    if depth > DEEPEST:
        start.fail(f"brackets are nested deeper than {DEEPEST}")
    found = _alternatives(parts, check, depth)
    if not parts:
        start.fail("the bracket isn't closed; put it in quotes to look for it")
    parts.popleft()
    if not found:
        start.fail("there is nothing in the brackets")
    return found


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
        bracket = _BRACKET.match(text, place)
        if bracket is not None:
            mark = bracket[0].removeprefix("-")
            yield _Item(place + 1, bool(bracket["minus"]), "", [], [], operator=mark)
            place = _SPACE.match(text, bracket.end()).end()  # type: ignore[union-attr]
            continue
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
        if found["word"] in _OPERATORS_BETWEEN and not found["minus"]:
            item = replace(item, operator=found["word"])
        elif found["word"]:
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
    if word in (*_OPERATORS_BETWEEN, *_LOWER_CASE) or _FOREIGN.search(word):
        item.fail(
            f"{word[:20]!r} is no operator here: write OR, AND, NOT or -word, in capitals; put it"
            " in quotes to look for it"
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
    if re.match(r'-?[^\s"()]+\(', rest):
        reason = "a space must stand before the '('; put it in quotes to look for it"
    elif re.match(rf'[^"]*?{_QUOTED}\*?\S', rest):
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
    _fields: dict[str, Any]
    depth: int
    """Number of brackets around it."""
    began: bool = False
    """True once it has a condition."""
    _metadata: list[dict[str, Any]] = field(default_factory=list)

    def take(self, item: _Item) -> None:
        """Add the field that an item stands for. Raises InvalidInputError."""
        self.began = True
        if self.depth and item.key in _OUTSIDE:
            item.fail(f"{item.key} holds for the whole query: write it outside of the brackets")
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

    def bracket(self, start: _Item, fields: dict[str, Any]) -> None:
        """Add what stands in brackets. Raises InvalidInputError."""
        self.began = True
        if start.negated:
            self._extend(start, "not_any", [fields])
        elif [*fields] == ["either"]:
            self._extend(start, "either", fields["either"])
        else:
            self._extend(start, "either", [[fields]])

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
        for value, quoted in zip(item.values, item.quoted, strict=True):
            if "*" in value.lstrip("*") and not quoted:
                item.fail(
                    f"{item.key} compares whole values, so {value[:40]!r} can't match: {item.key}:*"
                    " asks if there is one; in quotes, a * is itself"
                )
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

    def _extend(self, item: _Item, name: str, values: Sequence[Any]) -> None:
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
