"""Ids of other systems, of users and sessions, as ids of a memory."""

from __future__ import annotations

import hashlib
from urllib.parse import quote

from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.patterns import regex

_MARK = "esc:"
_PLAIN = regex(r"[A-Za-z0-9_.@:+-]{1,128}")
_LONGEST = 128


def identifier_of(name: str) -> str:
    """Return a text as an id: itself, or encoded where it has other characters.

    Different texts get different ids; a long one ends in its digest. Raises InvalidInputError for
    an empty one.

    >>> identifier_of("maya@example.com"), identifier_of("Zoë B")
    ('maya@example.com', 'esc:Zo+C3+AB+20B')
    """
    if not isinstance(name, str) or not name:
        raise InvalidInputError(f"an id must be a text, and not empty (got {name!r})")
    if _PLAIN.fullmatch(name) and not name.startswith(_MARK):
        return name
    written = name.encode("utf-8", "surrogatepass")
    encoded = _MARK + quote(written, safe="@:").replace("~", "%7E").replace("%", "+")
    if len(encoded) <= _LONGEST:
        return encoded
    digest = hashlib.blake2b(written, digest_size=16).hexdigest()
    return f"{encoded[: _LONGEST - len(digest) - 1]}:{digest}"
