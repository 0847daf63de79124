"""Find the JSON document in a model's text: among thoughts, fences and prose."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Set
from typing import Any

from semantic_memory.domain.patterns import regex

_THOUGHTS = "think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad"
_OPENED = regex(rf"<\s*({_THOUGHTS})\b[^>]*>", re.IGNORECASE)
_CLOSED = regex(
    rf"<\s*/\s*({_THOUGHTS})\s*>|<\|channel\|>\s*final\s*(?:<\|message\|>)?", re.IGNORECASE
)
_FENCE = regex(r"^[ \t]*(```|~~~)[\w-]*[ \t]*$", re.MULTILINE)
_MOST_STARTS = 200  # a text full of brackets isn't searched without end
_DECODER = json.JSONDecoder()


def json_text(text: str, schema: Mapping[str, Any]) -> str:
    r"""Return the part of a text that holds the JSON document asked for, as it stands.

    Of several objects it is the last that has most of the schema's members. Without any, it is the
    text from its first bracket, which may be fixed, or the text itself.

    >>> schema = {"required": ["facts"]}
    >>> json_text('<think>{"facts": 1}?</think>Here:\n```json\n{"facts": []}\n```', schema)
    '{"facts": []}'
    >>> json_text('{"facts": [{"a": 1}, {"a', schema)
    '{"facts": [{"a": 1}, {"a'
    """
    spoken = said(text)
    names = frozenset(schema.get("required", ()))
    found = max(_objects(spoken), key=lambda one: (_shared(one[0], names), one[1]), default=None)
    if found is not None and _shared(found[0], names):
        return spoken[found[1] : found[2]]
    plain = _FENCE.sub("", spoken).strip()
    starts = [place for place in (plain.find("{"), plain.find("[")) if place >= 0]
    return plain[min(starts) :] if starts else plain


def said(text: str) -> str:
    """Return a text without what the model thought aloud before it.

    >>> said("<think>Hm.</think> Yes.")
    'Yes.'
    >>> said("Hm.</think>Yes.")
    'Yes.'
    """
    closed = [match.end() for match in _CLOSED.finditer(text)]
    if closed:
        text = text[closed[-1] :]
    opened = _OPENED.match(text.lstrip())
    return "" if opened else text.strip()


def _objects(text: str) -> list[tuple[Mapping[str, Any], int, int]]:
    """Return the objects in a text that no other encloses, with their places."""
    found = []
    start = text.find("{")
    for _ in range(_MOST_STARTS):
        if start < 0:
            break
        try:
            value, end = _DECODER.raw_decode(text, start)
            found.append((value, start, end))
        except (ValueError, RecursionError):
            end = start + 1
        start = text.find("{", end)
    return found


def _shared(value: Mapping[str, Any], names: Set[str]) -> int:
    return len(names & value.keys())
