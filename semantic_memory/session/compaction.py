"""Compaction of a conversation in levels, the cheapest first: pure functions on messages.

Each level takes the older messages and returns their shortened form and the messages it dropped. It
works from the oldest message on until `enough` tokens are saved, and never separates a call from
its result.

    results    cut long tool results to their beginning and end
    snip       drop repeated calls, failed calls, thinking and courtesies
    micro      replace old tool results by a line
    memory     replace the oldest messages by the facts extracted from them
    summary    replace the older half, or more, by a summary that has read all of it
    drop       drop the oldest messages
    recent     drop and cut recent messages too
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from semantic_memory.domain.patterns import regex
from semantic_memory.session.pairs import Unit, units
from semantic_memory.session.parts import (
    ChatMessage,
    Part,
    Text,
    Thinking,
    ToolResult,
    readable,
    without_pictures,
)

Level = Literal["results", "snip", "micro", "memory", "summary", "drop", "recent"]
Tokens = Callable[[ChatMessage], int]

_COURTESY_WORDS = 8
_MICRO_CHARACTERS = 200  # length up to which a result stays as it is
_BEGINNING = 0.7  # share of the beginning in a cut result; the rest is its end
_SAYS_SOMETHING = regex(r"[\d?@/\\_`{}=<>]")


@dataclass(frozen=True, slots=True)
class Shortened:
    """Result of a compaction level."""

    messages: tuple[ChatMessage, ...]
    saved: int
    """Tokens saved."""
    dropped: tuple[ChatMessage, ...] = field(default=())


def cap_results(
    messages: Sequence[ChatMessage], limit: int, enough: int, tokens: Tokens
) -> Shortened:
    """Cut each tool result of more than `limit` characters to its beginning and end."""

    def cap(part: Part) -> Part:
        if not isinstance(part, ToolResult):
            return part
        content = tuple(
            Text(text=_cut(inner.text, limit)) if isinstance(inner, Text) else inner
            for inner in part.content
        )
        return part if content == part.content else part.model_copy(update={"content": content})

    return _rewritten(messages, cap, enough, tokens)


def micro_compact(messages: Sequence[ChatMessage], enough: int, tokens: Tokens) -> Shortened:
    """Replace each tool result by a line with its size; the call stays and shows its subject."""

    def clear(part: Part) -> Part:
        if not isinstance(part, ToolResult):
            return part
        size = len(readable(ChatMessage(role="tool", parts=part.content)))
        if size <= _MICRO_CHARACTERS and part.content == without_pictures(part.content):
            return part
        line = f"[result of {size:,} characters, no longer shown]"
        return part.model_copy(update={"content": (Text(text=line),)})

    return _rewritten(messages, clear, enough, tokens)


def snip(messages: Sequence[ChatMessage], enough: int, tokens: Tokens) -> Shortened:
    """Drop thinking, and units that are repeated or failed calls or courtesies."""
    later: set[tuple[str, str]] = set()
    idle: set[int] = set()
    parted = units(messages)
    for place in range(len(parted) - 1, -1, -1):
        if _is_idle(parted[place], later):
            idle.add(place)
        later.update((call.name, call.arguments) for m in parted[place] for call in m.calls)
    kept: list[ChatMessage] = []
    dropped: list[ChatMessage] = []
    saved = 0
    for place, unit in enumerate(parted):
        if saved >= enough:
            kept += unit
        elif place in idle:
            dropped += unit
            saved += sum(map(tokens, unit))
        else:
            bare = [_without_thoughts(message) for message in unit]
            saved += sum(map(tokens, unit)) - sum(map(tokens, bare))
            kept += bare
    return Shortened(tuple(kept), saved, tuple(dropped))


def drop_oldest(messages: Sequence[ChatMessage], enough: int, tokens: Tokens) -> Shortened:
    """Drop whole units from the oldest on, until `enough` tokens are saved."""
    dropped: list[ChatMessage] = []
    saved = 0
    for unit in units(messages):
        if saved >= enough:
            break
        dropped += unit
        saved += sum(map(tokens, unit))
    return Shortened(tuple(messages[len(dropped) :]), saved, tuple(dropped))


def older_half(messages: Sequence[ChatMessage], tokens: Tokens) -> Shortened:
    """Drop whole units from the oldest on, until half of the tokens are saved."""
    return drop_oldest(messages, -(-sum(map(tokens, messages)) // 2), tokens)


def split_recent(messages: Sequence[ChatMessage], number: int) -> tuple[Unit, Unit]:
    """Split off the last `number` messages with the rest of their units; return older, recent."""
    recent = 0
    for unit in reversed(units(messages)):
        if recent >= number:
            break
        recent += len(unit)
    border = len(messages) - recent
    return tuple(messages[:border]), tuple(messages[border:])


def transcript(messages: Sequence[ChatMessage]) -> str:
    """Return messages as input of a summary: names and text, without pictures or thinking."""
    return "\n\n".join(
        f"{message.name or message.role}: {readable(message)}" for message in messages
    )


def _rewritten(
    messages: Sequence[ChatMessage], change: Callable[[Part], Part], enough: int, tokens: Tokens
) -> Shortened:
    rewritten: list[ChatMessage] = []
    saved = 0
    for message in messages:
        parts = tuple(map(change, message.parts)) if saved < enough else message.parts
        if parts == message.parts:
            rewritten.append(message)
            continue
        shorter = message.model_copy(update={"parts": parts})
        gain = tokens(message) - tokens(shorter)
        rewritten.append(shorter if gain > 0 else message)
        saved += max(0, gain)
    return Shortened(tuple(rewritten), saved)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    gone = f"\n[... {len(text) - limit:,} characters left out ...]\n"
    beginning = int(limit * _BEGINNING)
    return text[:beginning] + gone + text[len(text) - (limit - beginning) :]


def _is_idle(unit: Unit, later: set[tuple[str, str]]) -> bool:
    calls = [call for message in unit for call in message.calls]
    results = [result for message in unit for result in message.results]
    if calls:
        repeated = all((call.name, call.arguments) in later for call in calls)
        failed = len(results) == len(calls) and all(result.failed for result in results)
        return repeated or failed
    return all(_is_courtesy(message) for message in unit)


def _is_courtesy(message: ChatMessage) -> bool:
    if not all(isinstance(part, Text | Thinking) for part in message.parts):
        return False
    text = message.text
    return len(text.split()) <= _COURTESY_WORDS and not _SAYS_SOMETHING.search(text)


def _without_thoughts(message: ChatMessage) -> ChatMessage:
    parts = tuple(part for part in message.parts if not isinstance(part, Thinking))
    if not parts or len(parts) == len(message.parts):
        return message
    return message.model_copy(update={"parts": parts})
