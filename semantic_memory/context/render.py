"""Rendering of memories as lines of a context block.

Stored text may be hostile and is rendered as data: each memory takes one line, which starts with
its number, and has its angle brackets escaped. So it can't open or close a section, start a line,
imitate a heading, or speak in another's name.
"""

from __future__ import annotations

import html
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from importlib import resources
from itertools import groupby, pairwise
from typing import NamedTuple

from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.facts import Category, Fact, Source
from semantic_memory.domain.trust import Trust

MOST_CHARACTERS = 4_000
"""Length of a rendered memory, in characters; a longer one is cut and ends in `[...]`."""

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
"""Sections in the order of the block; those that change least come first."""

_JOINERS = "\u200c\u200d"  # needed by Persian and many emoji
_BRACKETS = str.maketrans(dict.fromkeys("＜﹤", "<") | dict.fromkeys("＞﹥", ">"))
_UNVETTED = frozenset({Trust.EXTERNAL, Trust.TOOL, Trust.ASSISTANT})
_ROLES = frozenset({"user", "human", "assistant", "system", "developer", "tool", "function"})


@dataclass(frozen=True, slots=True)
class Template:
    """Lines of a block. Empty ones are left out."""

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
    """Load a template of this package. Raises ConfigurationError, which names the known ones."""
    folder = resources.files(__package__).joinpath("templates")
    known = sorted(file.name.removesuffix(".toml") for file in folder.iterdir())
    if name not in known:
        raise ConfigurationError(f"unknown template {name!r}; known: {', '.join(known)}")
    text = folder.joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return Template(**tomllib.loads(text))


@lru_cache(8_192)
def as_data(text: str) -> str:
    """Return `text` on one line, without invisible characters, with angle brackets escaped."""
    text = text.translate(_BRACKETS)
    if not text.isprintable():
        text = "".join(_visible(char) for char in text)
    return html.escape(" ".join(text.split()), quote=False)


def _visible(char: str) -> str:
    if char.isprintable() or char in _JOINERS:
        return char
    return "" if unicodedata.category(char) in ("Cf", "Cn", "Co", "Cs") else " "


class Entry(NamedTuple):
    """Entry of a block."""

    fact: Fact
    text: str
    """Line of the memory, from `shown`."""
    section: str


def section(fact: Fact) -> str:
    """Return the section of a memory, unless it is shown as part of the profile or history."""
    return _SECTIONS[fact.category]


def day(fact: Fact) -> str:
    """Return the day of a memory, as its heading shows it."""
    return fact.created_at.date().isoformat()


def shown(fact: Fact, changed: datetime | None = None) -> str:
    """Render a memory as one line, with the speaker of a message or the confidence of a fact.

    A typed body follows the content. A confidence that rounds to 100 % is left out, and so is the
    trust in what the user, the application or an agent said. `changed` is the time from which a
    message no longer holds.
    """
    text = as_data(fact.content[:MOST_CHARACTERS]) or "(no visible text)"
    if fact.body is not None:
        text += f" — {as_data(fact.body.text[:MOST_CHARACTERS])}"
    if len(fact.text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]} [...]"
    if fact.category is Category.CONVERSATION:
        mark = f" (since changed: {changed.date().isoformat()})" if changed else ""
        return f"{_speaker(fact.source)}: {text}{mark}"
    marks = [f"{fact.confidence:.0%}"] if fact.confidence < 0.995 else []
    marks += [fact.trust.value] if fact.trust in _UNVETTED else []
    marks += ["contested"] if fact.contested_by else []
    return f"{text} ({', '.join(marks)})" if marks else text


def _speaker(source: Source) -> str:
    """Return the speaker's name, or the role if the name is empty or that of a role."""
    role = source.role or "user"
    name = as_data((source.speaker or "")[:128])
    return role if not name or name.strip(" :").casefold() in _ROLES else name


def block(entries: Sequence[Entry], left_out: int, template: Template) -> str:
    """Render a block of entries; an empty text if there are none.

    Expects the entries in the order of `place`, and numbers them from 1.
    """
    return "\n".join(_lines(entries, left_out, template)) if entries else ""


def place(entry: Entry) -> tuple[int, str, str, int, str]:
    """Return the sort key of entries in a block: by section, then by time.

    New memories come last in their section, so that a growing block keeps its prefix.
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
    """Return True if a message comes right after another in their session."""
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
