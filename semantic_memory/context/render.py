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
from datetime import datetime
from functools import lru_cache
from importlib import resources
from itertools import groupby
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

NOTES = "notes"
"""The section of what was chosen for the question, by topic."""
SECTIONS = ("core", "instructions", "profile", "history", NOTES)
"""Sections in the order of the block; those that change least come first."""
DATED = frozenset({"core", "instructions"})
"""Sections whose lines end in their dates; those of others begin with them."""

_OF_OLDER_BLOCKS = ("facts", "messages", "material")
_PARTS = "|".join(("memory", *SECTIONS, *_OF_OLDER_BLOCKS, "earlier", "summary"))
_SPEAKERS = "system|assistant|user|developer|tool|function|human|instruction|prompt|inst"
_RESERVED = regex(rf"<(?=\s*/?\s*(?:{_PARTS}|{_SPEAKERS})\b|\s*\||\s*!)", re.IGNORECASE)
"""The beginning of a tag that stored text must not have."""
_ENDS_LINE = regex("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_BLANKS = regex(r"\n{3,}")
_JOINERS = "\u200c\u200d"  # needed by Persian and many emoji
_BRACKETS = str.maketrans(dict.fromkeys("＜﹤", "<") | dict.fromkeys("＞﹥", ">"))
_UNVETTED = frozenset({Trust.EXTERNAL, Trust.TOOL, Trust.ASSISTANT})
_LONGEST_NAME = 128  # characters
_ROLES = frozenset({"user", "human", "assistant", "system", "developer", "tool", "function"})


@dataclass(frozen=True, slots=True)
class Ending:
    """The time from which a memory no longer holds, or perhaps no longer does, and what says so."""

    at: datetime
    by: frozenset[str] = frozenset()
    """The id of the newer memory, and `session/message` of the messages that say it."""
    is_certain: bool = True


@dataclass(frozen=True, slots=True)
class Template:
    """Lines of a block. Empty ones are left out."""

    opening: str
    note: str
    section: str
    entry: str
    gap: str
    """Between two topics."""
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
        section: str = NOTES,
        content: str | None = None,
        space: str | None = None,
        ending: Ending | None = None,
        *,
        see: int = 0,
        topic: int = 0,
    ) -> str:
        """Render a memory as its entry shows it; see the functions `shown` and `members`."""
        if self.form == "json":
            return members(fact, content, space, ending, see=see, topic=topic)
        text = shown(fact, section, content, space, ending, see=see)
        return text if section in DATED else f"[{written(fact.created_at.date())}] {text}"


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
    """Line of the memory, from `Template.shown`."""
    section: str
    topic: int = 0
    """Number of its topic among the notes; 0 elsewhere."""


def is_material(fact: Fact) -> bool:
    """Return True for a message of a tool, or one that is quoted text throughout."""
    is_message = fact.category is Category.CONVERSATION
    return is_message and (fact.source.role == "tool" or fact.trust is Trust.EXTERNAL)


def _day(fact: Fact) -> str:
    return fact.created_at.date().isoformat()


def shown(
    fact: Fact,
    section: str = NOTES,
    content: str | None = None,
    space: str | None = None,
    ending: Ending | None = None,
    *,
    see: int = 0,
) -> str:
    """Render a memory, with its speaker, unless it names the speaker itself.

    A typed body follows the content. The trust in what the user, the application or an agent said
    is left out. Lines of the sections in `DATED` end in their day. `content` is the text to show
    instead of the memory's own, `space` the owner to name; `see` is the number of the entry that
    ended this one.
    """
    text = _told(fact, content)
    teller = _teller(fact, text)
    marks = [f"of {space}"] if space else []
    marks += [fact.trust.value] if _is_unvetted(fact) else []
    marks += ["contested"] if fact.contested_by else []
    marks += [_ended(ending, see)] if ending else []
    marks += [_day(fact)] if section in DATED else []
    return f"{teller}: {_marked(text, marks)}" if teller else _marked(text, marks)


def _ended(ending: Ending, see: int) -> str:
    day = ending.at.date().isoformat()
    told = f"until {day}" if ending.is_certain else f"perhaps until {day}"
    return f"{told}, see {see}" if see else told


def _marked(text: str, marks: Sequence[str]) -> str:
    return f"{text} ({', '.join(marks)})" if marks else text


def _is_unvetted(fact: Fact) -> bool:
    """Return True if a line must name its trust: the speaker of a message tells it mostly."""
    if fact.category is Category.CONVERSATION:
        return fact.trust is Trust.EXTERNAL and fact.source.role == "user"
    return fact.trust in _UNVETTED


def _teller(fact: Fact, text: str) -> str:
    """Return the speaker to show before a text; empty if there is none or the text begins so."""
    source = fact.source
    if fact.category is not Category.CONVERSATION and not (source.role or source.speaker):
        return ""
    teller = _speaker_of(source)
    told = text.casefold().removeprefix("the ")
    is_named = fact.category is not Category.CONVERSATION and told.startswith(teller.casefold())
    return "" if is_named else teller


def members(
    fact: Fact,
    content: str | None = None,
    space: str | None = None,
    ending: Ending | None = None,
    *,
    see: int = 0,
    topic: int = 0,
) -> str:
    """Render a memory as the members of a JSON object, without its braces.

    The number of its topic, its date, id, owner if that is a `space`, source (session and message),
    trust, speaker and text; the day until which it held, or perhaps held, and the number of the
    entry that says so.
    """
    source = fact.source
    place = "/".join(filter(None, (source.session_id, *source.message_ids[:1])))
    text = _told(fact, content)
    certain = ending is not None and ending.is_certain
    day = ending.at.date().isoformat() if ending else ""
    known = {
        "topic": topic,
        "date": _day(fact),
        "id": fact.id,
        "space": space or "",
        "source": place,
        "trust": fact.trust.value,
        "speaker": _teller(fact, text),
        "contested": bool(fact.contested_by),
        "until": day if certain else "",
        "perhaps until": "" if certain else day,
        "see": see,
        "text": text,
    }
    return json.dumps({name: told for name, told in known.items() if told}, ensure_ascii=False)[
        1:-1
    ]


def _told(fact: Fact, content: str | None) -> str:
    """Return the text of a memory, or `content` instead of it, with a typed body behind it."""
    text = as_said(content or fact.content) or "(no visible text)"
    if content or fact.category is Category.CONVERSATION:
        text = dated(text, fact.created_at)
    if fact.body is not None:
        text += f" — {as_said(fact.body.text)}"
    return f"{text[:MOST_CHARACTERS]} [...]" if len(text) > MOST_CHARACTERS else text


@lru_cache(8_192)
def dated(text: str, said: datetime) -> str:
    """Return a text said at a time with its relative days resolved in brackets."""
    # in this order, as few texts have any, and telling the language takes longer
    resolved = dated_in_place(text, said)
    return resolved if resolved != text and is_english(text) else text


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
    """Render a block of entries, in their order, numbered from 1; an empty text if there are none.

    Entries of one section stand together, and so do those of one topic.
    """
    lines = _json_lines if template.form == "json" else _lines
    return "\n".join(lines(entries, left_out, template)) if entries else ""


def place(fact: Fact) -> tuple[str, str, str, int, str]:
    """Return the sort key of memories of one topic or section: by time, the latest last."""
    source = fact.source
    return (
        fact.created_at.isoformat() if source.position is None else _day(fact),
        fact.user_id,
        source.session_id or "",
        -1 if source.position is None else source.position,
        fact.id,
    )


def _lines(entries: Sequence[Entry], left_out: int, template: Template) -> Iterator[str]:
    yield template.opening
    yield template.note
    mark = 0
    for name, own in groupby(entries, key=lambda entry: entry.section):
        yield template.section.format(name=name)
        for number, (_, group) in enumerate(groupby(own, key=lambda entry: entry.topic)):
            if number:
                yield template.gap
            for entry in group:
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
    yield template.note.format()
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
