"""Ids as people read and type them: short where printed, and completed where given, as by git."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING

from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.patterns import regex

if TYPE_CHECKING:
    from semantic_memory.client import Client
    from semantic_memory.memory import SemanticMemory

SHORT = 8
"""Digits of an id that are printed, if no other printed one begins with them."""
_LEAST = 4
"""Characters that an id is completed from; fewer would reach another memory by a slip."""
_MADE = regex(r"[0-9a-f]{24}")  # by this product; an application's own ids stay whole
_SHOWN = 60  # characters of a candidate's text


def shortened(ids: Iterable[str]) -> dict[str, str]:
    """Return the shortest form of each id that tells it from the others."""
    ordered = sorted(set(ids))
    found = {}
    for place, one in enumerate(ordered):
        beside = ordered[max(0, place - 1) : place] + ordered[place + 1 : place + 2]
        shared = max((_shared(one, other) for other in beside), default=0)
        found[one] = one[: max(SHORT, shared + 1)] if _MADE.fullmatch(one) else one
    return found


def _shared(one: str, other: str) -> int:
    """Return the number of characters that both begin with."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def completed(memory: SemanticMemory | Client, given: str, user: str | None = None) -> str:
    """Return the id of the memory that begins with `given`.

    Raises InvalidInputError that lists the memories if several do, NotFoundError if none does.
    """
    found = memory.admin.ids(given, user_id=user)
    if found[:1] == [given]:
        return given
    if not found or len(given) < _LEAST:
        how = (
            "`list` shows the ids"
            if len(given) >= _LEAST
            else f"give at least its first {_LEAST} characters"
        )
        raise NotFoundError(f"no memory {given!r}{f' of {user!r}' if user else ''}: {how}")
    if len(found) > 1:
        shown = {one: _text(memory, one, user) for one in found}
        raise _ambiguous(given, "memories", shown)
    return found[0]


def chosen(given: str, known: Sequence[str], kind: str) -> str:
    """Return the one of the `known` ids that begins with `given`; `given` itself if none does.

    Raises InvalidInputError that lists them if several do; `kind` names them.
    """
    found = [one for one in known if one.startswith(given)]
    if given in found or not found:
        return given
    if len(found) > 1:
        raise _ambiguous(given, kind, dict.fromkeys(found, ""))
    return found[0]


def _text(memory: SemanticMemory | Client, memory_id: str, user: str | None) -> str:
    try:
        return shorten(memory.get(memory_id, user_id=user).content, _SHOWN, placeholder=" ...")
    except NotFoundError:
        return "(deleted)"


def _ambiguous(given: str, kind: str, found: dict[str, str]) -> InvalidInputError:
    short = shortened(found)
    lines = [f"  {short[one]}  {text}".rstrip() for one, text in found.items()]
    return InvalidInputError(
        "\n".join([f"several {kind} begin with {given!r}: give more of one of these", *lines])
    )
