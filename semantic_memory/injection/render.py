"""Memories as lines of a prompt block.

What is stored may be hostile. It is shown as data: each memory on one line of its own, behind a
dash, with angle brackets escaped, so that it can't open or close a section, start a line of its
own, or pass for a role.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence

from semantic_memory.marks import CLOSING, NOTE, OPENING
from semantic_memory.models import Category, Fact

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def as_data(text: str) -> str:
    """`text` on one line, without control characters, unable to form a tag."""
    return html.escape(" ".join(_CONTROL.sub(" ", text).split()), quote=False)


def line(fact: Fact) -> str:
    """A memory with its date: `- [2026-03-02] Maya: ...`; who said it only for messages."""
    speaker = ""
    if fact.category is Category.CONVERSATION:
        speaker = f"{as_data(fact.source.speaker or fact.source.role or 'user')}: "
    return f"- [{fact.created_at:%Y-%m-%d}] {speaker}{as_data(fact.content)}"


def block(sections: Mapping[str, Sequence[str]]) -> str:
    """The block of all non-empty sections, in their order; empty if there are none."""
    body = [
        f"<{name}>\n" + "\n".join(lines) + f"\n</{name}>"
        for name, lines in sections.items()
        if lines
    ]
    return "\n".join([OPENING, NOTE, *body, CLOSING]) if body else ""
