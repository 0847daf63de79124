"""Keep code, commands, paths and links as they were written while rules change the text around.

A span is replaced by a word that no rule changes, and put back in the fact.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from semantic_memory.domain.patterns import regex

_SPAN = regex(
    r"```.*?(?:```|\Z)"
    r"|`[^`\n]{1,300}`"
    r"|https?://[^\s<>\"]+[^\s<>\".,;:!?)]"
    r"|(?<![\w/])(?:~|\.{1,2})?/[\w.-]+(?:/[\w.-]*)*[\w/]"
    r"|(?<![\w.@-])[\w-]+(?:\.[\w-]+)+/[\w./~-]*\w",
    re.DOTALL,
)
_IDENTIFIER = regex(r"\w_\w|\w\(\)|(?<!\w)--?[a-z]\w|\b\w+\.[a-z]{2,4}\b")
_STAND_IN = regex(r"Xq(\d+)q")


def masked(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text with its spans of code and links replaced, and the spans.

    >>> masked("we build with `make -j8` in /srv/app")
    ('we build with Xq0q in Xq1q', ('`make -j8`', '/srv/app'))
    """
    if "`" not in text and "/" not in text:
        return text, ()
    spans: list[str] = []

    def replaced(found: re.Match[str]) -> str:
        if found[0].startswith("```"):
            return found[0]  # a block is no part of a sentence
        spans.append(found[0])
        return f"Xq{len(spans) - 1}q"

    return _SPAN.sub(replaced, text), tuple(spans)


def unmasked(text: str, spans: Sequence[str]) -> str:
    """Return a text with the spans put back.

    >>> unmasked("The user builds with Xq0q.", ["`make -j8`"])
    'The user builds with `make -j8`.'
    """
    return _STAND_IN.sub(lambda found: spans[int(found[1])], text) if spans else text


def holds_verbatim(text: str) -> bool:
    """Return True if a masked text holds a span, or an identifier.

    >>> holds_verbatim("with Xq0q"), holds_verbatim("in APP_HOME"), holds_verbatim("with make")
    (True, True, False)
    """
    return _STAND_IN.search(text) is not None or _IDENTIFIER.search(text) is not None
