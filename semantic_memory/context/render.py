"""Memories as lines of a prompt block.

What is stored may be hostile. It is shown as data: each memory on one line of its own that starts
with its number, angle brackets escaped, so that it can't open or close a section, start a line,
pass for a heading, or say something in another's name.
"""

from __future__ import annotations

import html
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import groupby, pairwise
from typing import NamedTuple

from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.facts import Category, Fact, Source

MOST_CHARACTERS = 4_000
"""Of one memory; a longer one is shown from its beginning and says that it goes on."""

_SECTIONS = {
    Category.PREFERENCE: "profile",
    Category.PERSONAL: "profile",
    Category.FEEDBACK: "profile",
    Category.DECISION: "history",
    Category.PROJECT: "history",
    Category.FINDING: "history",
    Category.TECHNICAL: "facts",
    Category.REFERENCE: "facts",
    Category.CONVERSATION: "messages",
}
SECTIONS = tuple(dict.fromkeys(_SECTIONS.values()))
"""In the order of the block: what changes least comes first."""

_JOINERS = "\u200c\u200d"  # without them Persian and many emoji fall apart
_BRACKETS = str.maketrans(dict.fromkeys("＜﹤", "<") | dict.fromkeys("＞﹥", ">"))
_ROLES = frozenset({"user", "human", "assistant", "system", "developer", "tool", "function"})


@dataclass(frozen=True, slots=True)
class Template:
    """The lines of a block. An empty one is left out."""

    opening: str
    note: str
    section: str
    day: str
    entry: str
    gap: str
    end: str
    left_out: str
    closing: str


@lru_cache
def load_template(name: str) -> Template:
    """A template of this package. Raises ConfigurationError that names the known ones."""
    folder = resources.files(__package__).joinpath("templates")
    known = sorted(file.name.removesuffix(".toml") for file in folder.iterdir())
    if name not in known:
        raise ConfigurationError(f"unknown template {name!r}; known: {', '.join(known)}")
    text = folder.joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return Template(**tomllib.loads(text))


@lru_cache(8_192)
def as_data(text: str) -> str:
    """`text` on one line, without invisible characters, unable to form a tag."""
    text = text.translate(_BRACKETS)
    if not text.isprintable():
        text = "".join(_visible(char) for char in text)
    return html.escape(" ".join(text.split()), quote=False)


def _visible(char: str) -> str:
    if char.isprintable() or char in _JOINERS:
        return char
    return "" if unicodedata.category(char) in ("Cf", "Cn", "Co", "Cs") else " "


class Entry(NamedTuple):
    """A memory as it stands in a block."""

    fact: Fact
    text: str
    """Its line, as `shown`."""
    section: str


def section(fact: Fact) -> str:
    """Where in the block a memory stands, unless it belongs to the user's profile or history."""
    return _SECTIONS[fact.category]


def day(fact: Fact) -> str:
    """The heading that a memory shares with others said on its day."""
    return fact.created_at.date().isoformat()


def shown(fact: Fact) -> str:
    """A memory as one line: who said it for messages, how sure it is for facts that aren't."""
    text = as_data(fact.content[:MOST_CHARACTERS]) or "(no visible text)"
    if len(fact.content) > MOST_CHARACTERS:
        text += " [...]"
    if fact.category is Category.CONVERSATION:
        return f"{_speaker(fact.source)}: {text}"
    return text if fact.confidence >= 0.995 else f"{text} ({fact.confidence:.0%})"


def _speaker(source: Source) -> str:
    """The name, unless it is that of a role which the speaker didn't have."""
    role = source.role or "user"
    name = as_data((source.speaker or "")[:128])
    return role if not name or name.strip(" :").casefold() in _ROLES else name


def block(entries: Sequence[Entry], left_out: int, template: Template) -> str:
    """The block of memories; empty if there are none.

    Expects them in `place` order. The number before each is its place in the block, from 1.
    """
    return "\n".join(_lines(entries, left_out, template)) if entries else ""


def place(entry: Entry) -> tuple[int, str, str, int, str]:
    """Sorts memories as they stand in a block: by section, then by time.

    What is new comes last, so that a block which gains a memory keeps its beginning.
    """
    fact = entry.fact
    source = fact.source
    return (
        SECTIONS.index(entry.section),
        fact.created_at.isoformat() if source.position is None else day(fact),
        source.session_id or "",
        -1 if source.position is None else source.position,
        fact.id,
    )


def follows(fact: Fact, before: Fact) -> bool:
    """Whether a message was said right after another."""
    one, other = before.source, fact.source
    if one.position is None or other.position is None:
        return False
    return one.session_id == other.session_id and one.position + 1 == other.position


def _lines(entries: Sequence[Entry], left_out: int, template: Template) -> Iterator[str]:
    yield template.opening
    yield template.note
    mark = 0
    for name, own in groupby(entries, key=lambda entry: entry.section):
        yield template.section.format(name=name)
        for date, said in groupby(own, key=lambda entry: day(entry.fact)):
            yield template.day.format(day=date)
            group = list(said)
            passages = [
                name == "messages" and not follows(b.fact, a.fact) for a, b in pairwise(group)
            ]
            for entry, parted in zip(group, [False, *passages], strict=True):
                if parted:
                    yield template.gap
                mark += 1
                yield template.entry.format(mark=mark, text=entry.text)
        if template.end:
            yield template.end.format(name=name)
    if left_out:
        yield template.left_out.format(number=left_out)
    if template.closing:
        yield template.closing
