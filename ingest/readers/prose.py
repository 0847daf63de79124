"""Facts in the memories that assistants write as prose: a line or a point of a list each."""

from __future__ import annotations

from collections.abc import Iterator

from semantic_memory.domain.patterns import regex

_MARK = regex(r"^(?:[-*+•]|\d+[.)])\s+")
_TITLE = regex(r"^(?:#{1,6}\s+(?P<hashed>.+?)|\*\*(?P<bold>[^*]+?):?\*\*:?)$")
_WORD = regex(r"\w")


def told(text: str) -> Iterator[tuple[str, str]]:
    r"""Yield each line with words, without its mark, behind the title that it stands below.

    >>> [*told("**Work context**\n\nMaya is a nurse.\n\n# Other\n- Likes tea\n---")]
    [('Work context', 'Maya is a nurse.'), ('Other', 'Likes tea')]
    """
    title = ""
    for line in map(str.strip, text.splitlines()):
        if found := _TITLE.match(line):
            title = found["hashed"] or found["bold"]
        elif _WORD.search(line):
            yield title, _MARK.sub("", line)
