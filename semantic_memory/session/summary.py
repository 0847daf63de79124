"""Summary of dropped messages: read in portions, each folded into the summary so far.

A portion holds whole units and fits the summarizer's input together with the summary before it; a
unit that is longer is read in pieces. So a summary never stands for a message that it hasn't read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.ports import Summarizer
from semantic_memory.session.compaction import transcript
from semantic_memory.session.pairs import units
from semantic_memory.session.parts import ChatMessage

Count = Callable[[str], int]

_INSTRUCTIONS = 400  # tokens of a summarizer's own prompt
_LEAST_ROOM = 200


class Folded(NamedTuple):
    """A summary and the messages that it has read."""

    summary: str
    read: tuple[ChatMessage, ...]
    """The oldest of the messages; all of them without an error."""
    error: ProviderError | None = None


class _Portion(NamedTuple):
    messages: tuple[ChatMessage, ...]
    texts: tuple[str, ...]


def fold(
    summarizer: Summarizer,
    summary: str,
    messages: Sequence[ChatMessage],
    *,
    most_input: int,
    most_tokens: int,
    count: Count,
) -> Folded:
    """Summarize `messages` after what `summary` tells, in at most `most_tokens` tokens.

    The summarizer reads at most `most_input` tokens at once. If it fails, the messages read before
    are summarized nevertheless.
    """
    room = max(_LEAST_ROOM, most_input - most_tokens - _INSTRUCTIONS)
    read: list[ChatMessage] = []
    for portion in _portions(messages, room, count):
        told = summary
        for text in portion.texts:
            try:
                told = summarizer.summarize(
                    f"{told}\n\n{text}" if told else text, most_tokens=most_tokens
                )
            except ProviderError as error:
                return Folded(summary, tuple(read), error)
            told = fitted(told.split("\n"), most_tokens, count)
        summary = told
        read += portion.messages
    return Folded(summary, tuple(read))


def fitted(lines: Sequence[str], most: int, count: Count) -> str:
    """Join as many of the last lines as fit into `most` tokens; cut a last one that is longer."""
    kept: list[str] = []
    left = most
    for line in reversed([line for line in lines if line.strip()]):
        left -= count(f"{line}\n")
        if left < 0:
            if not kept:
                kept.append(next(_pieces(line, most, count)))
            break
        kept.append(line)
    return "\n".join(reversed(kept))


def _portions(messages: Sequence[ChatMessage], room: int, count: Count) -> Iterator[_Portion]:
    held: list[ChatMessage] = []
    texts: list[str] = []
    used = 0
    for unit in units(messages):
        text = transcript(unit)
        tokens = count(f"{text}\n\n")
        if held and used + tokens > room:
            yield _Portion(tuple(held), ("\n\n".join(texts),))
            held, texts, used = [], [], 0
        if tokens > room:
            yield _Portion(unit, tuple(_pieces(text, room, count)))
            continue
        held += unit
        texts.append(text)
        used += tokens
    if held:
        yield _Portion(tuple(held), ("\n\n".join(texts),))


def _pieces(text: str, most: int, count: Count) -> Iterator[str]:
    """Cut a text into pieces of at most `most` tokens, at white space where there is some."""
    if count(text) <= most or len(text) < 2:
        yield text
        return
    middle = len(text) // 2
    border = text.rfind(" ", 1, middle) + 1 or middle
    yield from _pieces(text[:border], most, count)
    yield from _pieces(text[border:], most, count)
