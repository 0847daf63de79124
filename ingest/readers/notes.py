"""Readers of notes in Markdown or plain text: a section or a paragraph becomes a message."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from io import BufferedReader
from itertools import pairwise

from markdown_it import MarkdownIt

from ingest.readers.values import Builder, Incoming, Rejected

_FENCE = "---"


def read_markdown(
    file: BufferedReader, session_id: str, written: datetime
) -> Iterator[Incoming | Rejected]:
    """Read each section as a message, with its headings, `Travel > Japan`, on the first line."""
    lines, rejected = _lines(file)
    yield from rejected
    yield from _messages(_sections(lines), session_id, written)


def read_text(
    file: BufferedReader, session_id: str, written: datetime
) -> Iterator[Incoming | Rejected]:
    """Read each paragraph as a message; a blank line ends a paragraph."""
    lines, rejected = _lines(file)
    yield from rejected
    yield from _messages(_paragraphs(lines), session_id, written)


def _lines(file: BufferedReader) -> tuple[list[str], list[Rejected]]:
    """Return the lines of a file; a line that isn't UTF-8 becomes empty and is rejected."""
    lines: list[str] = []
    rejected: list[Rejected] = []
    for number, line in enumerate(file, start=1):
        try:
            lines.append(line.decode("utf-8").rstrip())
        except UnicodeDecodeError as error:
            lines.append("")
            rejected.append(Rejected(f"line {number}", str(error)))
    return lines, rejected


def _messages(
    texts: Iterator[tuple[int, str]], session_id: str, written: datetime
) -> Iterator[Incoming | Rejected]:
    builder = Builder()
    for line, text in texts:
        values = {"role": "user", "content": text}
        try:
            incoming = builder.incoming(None, session_id, values)
        except ValueError as error:
            yield Rejected(f"line {line}", str(error))
            continue
        # The id doesn't depend on the date, so a file that was only touched has no new messages.
        message = incoming.message.model_copy(update={"created_at": written})
        yield incoming._replace(message=message)


def _sections(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the line number and text of every section with text, front matter included."""
    start = 0
    if lines[:1] == [_FENCE] and _FENCE in lines[1:]:
        start = lines.index(_FENCE, 1) + 1
        yield from _section(1, [], lines[1 : start - 1])
    tokens = MarkdownIt("commonmark").parse("\n".join(lines[start:]))
    above: dict[int, str] = {}
    begin = start
    for opening, title in pairwise(tokens):
        if opening.type != "heading_open" or opening.level or opening.map is None:
            continue
        first, behind = (start + line for line in opening.map)
        yield from _section(begin + 1, list(above.values()), lines[begin:first])
        level = int(opening.tag[1:])
        above = {depth: text for depth, text in above.items() if depth < level}
        above[level] = title.content
        begin = behind
    yield from _section(begin + 1, list(above.values()), lines[begin:])


def _section(number: int, above: list[str], lines: list[str]) -> Iterator[tuple[int, str]]:
    body = "\n".join(lines).strip("\n")
    if body.strip():
        heading = " > ".join(title for title in above if title)
        yield number, f"{heading}\n\n{body}" if heading else body


def _paragraphs(lines: list[str]) -> Iterator[tuple[int, str]]:
    paragraph: list[str] = []
    for number, line in enumerate([*lines, ""], start=1):
        if line:
            paragraph.append(line)
        elif paragraph:
            yield number - len(paragraph), "\n".join(paragraph)
            paragraph = []
