"""Rendering of memories as entries of a context block.

Stored text may be hostile and is rendered as data. Line breaks, code and lists stay as they were
said, but every line of a memory except its first, which starts with its number, is indented, and
tags that would open or close a part of the block, or speak in another's name, are escaped. So
stored text can't start a line at the margin, imitate a heading, or leave its section.
"""

from __future__ import annotations

import html
import json
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from importlib import resources
from itertools import groupby, pairwise
from typing import Literal, NamedTuple

from semantic_memory.domain.english.calendar import written
from semantic_memory.domain.english.relative_dates import dated_in_place
from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.facts import Category, Fact, Source
from semantic_memory.domain.language import is_english
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.trust import Trust

MOST_CHARACTERS = 4_000
"""Length of a rendered memory, in characters; a longer one is cut and ends in `[...]`."""

SECTIONS = ("core", "instructions", "facts", "history", "messages", "material")
"""Sections in the order of the block; those that change least come first."""
DATED = frozenset({"core", "instructions"})
"""Sections whose lines carry their own dates, without headings of days."""

_SECTIONS = {
    Category.FEEDBACK: "instructions",
    Category.DECISION: "history",
    Category.FINDING: "history",
    Category.CONVERSATION: "messages",
}
MATERIAL = "material"
"""The section of what tools returned and of what users quoted."""

_PARTS = "|".join(("memory", *SECTIONS, "profile", "earlier", "summary"))
_SPEAKERS = "system|assistant|user|developer|tool|function|human|instruction|prompt|inst"
_RESERVED = regex(rf"<(?=\s*/?\s*(?:{_PARTS}|{_SPEAKERS})\b|\s*\||\s*!)", re.IGNORECASE)
"""The beginning of a tag that stored text must not have."""
_OF_MESSAGES = ("messages", MATERIAL)
_ENDS_LINE = regex("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_BLANKS = regex(r"\n{3,}")
_JOINERS = "\u200c\u200d"  # needed by Persian and many emoji
_BRACKETS = str.maketrans(dict.fromkeys("＜﹤", "<") | dict.fromkeys("＞﹥", ">"))
_UNVETTED = frozenset({Trust.EXTERNAL, Trust.TOOL, Trust.ASSISTANT})
_LONGEST_NAME = 128  # characters
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
    indent: str
    """Before every line of an entry after its first."""
    form: Literal["lines", "json"] = "lines"

    def line(self, mark: int, text: str) -> str:
        """Return an entry."""
        return self.entry.format(mark=mark, text=text.replace("\n", f"\n{self.indent}"))

    def shown(
        self,
        fact: Fact,
        changed: datetime | None = None,
        section: str | None = None,
        content: str | None = None,
        space: str | None = None,
        doubted: datetime | None = None,
    ) -> str:
        """Render a memory as its entry shows it; see the functions `shown` and `members`."""
        if self.form == "json":
            return members(fact, changed, content, space, doubted)
        return shown(fact, changed, section, content, space, doubted)


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


@lru_cache(8_192)
def as_said(text: str) -> str:
    """Return `text` with its line breaks and indents, without invisible characters.

    Only tags of the block's own parts and of chat roles are escaped.
    """
    lines = _ENDS_LINE.split(text) if _ENDS_LINE.search(text) else [text]
    lines = [
        line.rstrip() if line.isprintable() else "".join(map(_visible, line)).rstrip()
        for line in lines
    ]
    said = _BLANKS.sub("\n\n", "\n".join(lines)).strip()
    plain = said.translate(_BRACKETS)
    return _RESERVED.sub("&lt;", plain) if _RESERVED.search(plain) else said


def _visible(char: str) -> str:
    if char.isprintable() or char in _JOINERS or char == "\t":
        return char
    return "" if unicodedata.category(char) in ("Cf", "Cn", "Co", "Cs") else " "


class Entry(NamedTuple):
    """Entry of a block."""

    fact: Fact
    text: str
    """Line of the memory, from `shown`."""
    section: str
    rank: int = 0
    """Order in the section, before time."""


def section(fact: Fact) -> str:
    """Return the section of a memory, unless it is shown as part of the profile or history.

    Facts that no longer hold are history.
    """
    if is_material(fact):
        return MATERIAL
    if fact.valid_to is not None and fact.category is not Category.CONVERSATION:
        return "history"
    return _SECTIONS.get(fact.category, "facts")


def is_material(fact: Fact) -> bool:
    """Return True for a message of a tool, or one that is quoted text throughout."""
    is_message = fact.category is Category.CONVERSATION
    return is_message and (fact.source.role == "tool" or fact.trust is Trust.EXTERNAL)


def heading(day: date) -> str:
    """Return a day as its heading shows it, with the month's name, by which people ask for it."""
    return written(day)


def _day(fact: Fact) -> str:
    return fact.created_at.date().isoformat()


def shown(
    fact: Fact,
    changed: datetime | None = None,
    section: str | None = None,
    content: str | None = None,
    space: str | None = None,
    doubted: datetime | None = None,
) -> str:
    """Render a memory, with the speaker of a message or the confidence of a fact.

    A typed body follows the content. A confidence that rounds to 100 % is left out, in sections of
    `DATED` every one, and so is the trust in what the user, the application or an agent said.
    `changed` is the time from which a message no longer holds; lines of the sections in `DATED`
    end in their day. `content` is the part of the memory to show instead of all of it, `space` the
    owner to name. `doubted` is the time of a later statement by which it may no longer hold.
    """
    text = _told(fact, content)
    marks = [f"of {space}"] if space else []
    perhaps = [f"perhaps changed: see {doubted.date().isoformat()}"] if doubted else []
    if fact.category is Category.CONVERSATION:
        marks += [f"since changed: {changed.date().isoformat()}"] if changed else perhaps
        return f"{_speaker_of(fact.source)}: {_marked(text, marks)}"
    certain = fact.confidence >= 0.995 or section in DATED
    marks += [] if certain else [f"{fact.confidence:.0%}"]
    marks += [fact.trust.value] if fact.trust in _UNVETTED else []
    marks += ["contested"] if fact.contested_by else []
    marks += [_day(fact)] if section in DATED else []
    marks += perhaps
    return _marked(text, marks)


def _marked(text: str, marks: Sequence[str]) -> str:
    return f"{text} ({', '.join(marks)})" if marks else text


def members(
    fact: Fact,
    changed: datetime | None = None,
    content: str | None = None,
    space: str | None = None,
    doubted: datetime | None = None,
) -> str:
    """Render a memory as the members of a JSON object, without its braces.

    Its date, id, owner if that is a `space`, source (session and message), trust and text; of a
    message the speaker, of a fact its confidence if that isn't 1; the day from which it no longer
    holds, or that of a later statement by which it may no longer hold.
    """
    source = fact.source
    place = "/".join(filter(None, (source.session_id, *source.message_ids[:1])))
    is_message = fact.category is Category.CONVERSATION
    known = {
        "date": _day(fact),
        "id": fact.id,
        "space": space or "",
        "source": place,
        "trust": fact.trust.value,
        "speaker": _speaker_of(source) if is_message else "",
        "confidence": 0.0 if is_message or fact.confidence >= 0.995 else round(fact.confidence, 2),
        "contested": bool(fact.contested_by),
        "changed": changed.date().isoformat() if changed else "",
        "perhaps changed": doubted.date().isoformat() if doubted and not changed else "",
        "text": _told(fact, content),
    }
    return json.dumps({name: told for name, told in known.items() if told}, ensure_ascii=False)[
        1:-1
    ]


def _told(fact: Fact, content: str | None) -> str:
    """Return the text of a memory, or the part `content` of it, with a typed body behind it."""
    text = as_said(content or fact.content) or "(no visible text)"
    if fact.category is Category.CONVERSATION:
        text = _dated(text, fact.created_at)
    if fact.body is not None:
        text += f" — {as_said(fact.body.text)}"
    return f"{text[:MOST_CHARACTERS]} [...]" if len(text) > MOST_CHARACTERS else text


@lru_cache(8_192)
def _dated(text: str, said: datetime) -> str:
    return dated_in_place(text, said) if is_english(text) else text


def _speaker_of(source: Source) -> str:
    return _speaker(source.role or "user", (source.speaker or "")[:_LONGEST_NAME])


@lru_cache(1_024)
def _speaker(role: str, speaker: str) -> str:
    """Return the speaker's name, or the role if the name is empty or that of a role.

    A tool's name stands behind its role, so that it can't be taken for a person's.
    """
    name = as_data(speaker)
    if role == "tool" and name:
        return f"{role} ({name.strip(' :()')})"
    return role if not name or name.strip(" :").casefold() in _ROLES else name


def block(entries: Sequence[Entry], left_out: int, template: Template) -> str:
    """Render a block of entries; an empty text if there are none.

    Expects the entries in the order of `place`, and numbers them from 1.
    """
    lines = _json_lines if template.form == "json" else _lines
    return "\n".join(lines(entries, left_out, template)) if entries else ""


def place(entry: Entry) -> tuple[int, int, str, str, str, int, str]:
    """Return the sort key of entries in a block: by section, by rank there, then by time.

    New memories come last in their section, so that a growing block keeps its prefix.
    """
    fact = entry.fact
    source = fact.source
    return (
        SECTIONS.index(entry.section),
        entry.rank,
        fact.created_at.isoformat() if source.position is None else _day(fact),
        fact.user_id,
        source.session_id or "",
        -1 if source.position is None else source.position,
        fact.id,
    )


def follows(fact: Fact, before: Fact) -> bool:
    """Return True if a message comes right after another in their session."""
    one, other = before.source, fact.source
    if one.position is None or other.position is None or before.user_id != fact.user_id:
        return False
    return one.session_id == other.session_id and one.position + 1 == other.position


def _lines(entries: Sequence[Entry], left_out: int, template: Template) -> Iterator[str]:
    yield template.opening
    yield template.note
    mark = 0
    for name, own in groupby(entries, key=lambda entry: entry.section):
        yield template.section.format(name=name)
        for day, said in groupby(own, key=lambda entry: entry.fact.created_at.date()):
            if name not in DATED:
                yield template.day.format(day=heading(day))
            group = list(said)
            passages = [
                name in _OF_MESSAGES and not follows(b.fact, a.fact) for a, b in pairwise(group)
            ]
            for entry, parted in zip(group, [False, *passages], strict=True):
                if parted:
                    yield template.gap
                mark += 1
                yield template.line(mark, entry.text)
        if template.end:
            yield template.end.format(name=name)
    if left_out:
        yield template.left_out.format(number=left_out)
    if template.closing:
        yield template.closing


def _json_lines(entries: Sequence[Entry], left_out: int, template: Template) -> Iterator[str]:
    """Yield the lines of one JSON document; no comma stands behind the last part of a list."""
    yield template.opening.format()
    yield template.note
    mark = 0
    sections = [(name, list(own)) for name, own in groupby(entries, lambda entry: entry.section)]
    for name, own in sections:
        yield template.section.format(name=name)
        for entry in own:
            mark += 1
            line = template.line(mark, entry.text)
            yield line.removesuffix(",") if entry is own[-1] else line
        end = template.end.format()
        yield end.removesuffix(",") if own is sections[-1][1] else end
    yield template.left_out.format(number=left_out)
    yield template.closing.format()
