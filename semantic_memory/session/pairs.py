"""Units of a conversation: messages that must be kept or dropped together.

APIs reject a call without a result and a result without its call, so a window is cut between units
only. A unit is the smallest stretch that holds a call, its results, and all messages of its group.
"""

from __future__ import annotations

from collections.abc import Sequence

from semantic_memory.session.parts import ChatMessage, Text, ToolResult

Unit = tuple[ChatMessage, ...]

NO_RESULT = "[no result: the call was cut off]"


def units(messages: Sequence[ChatMessage]) -> list[Unit]:
    """Split `messages` into units."""
    reach = list(range(len(messages)))  # place of the last message that must stay with each
    calling: dict[str, int] = {}
    groups: dict[str, int] = {}
    for place, message in enumerate(messages):
        for result in message.results:
            if result.call_id in calling:
                reach[calling[result.call_id]] = place
        if message.group is not None:
            reach[groups.setdefault(message.group, place)] = place
        calling.update((call.id, place) for call in message.calls)
    found: list[Unit] = []
    start = end = 0
    for place in range(len(messages)):
        end = max(end, reach[place])
        if place == end:
            found.append(tuple(messages[start : place + 1]))
            start = end = place + 1
    return found


def complete(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Pair calls with results as APIs require: one result after each call, no result alone.

    Merges assistant messages of one group. A call without a result gets one that says so; a result
    without its call is left out, and so are all results of a call but the first.
    """
    merged = _merged(messages)
    answers = _answers(merged)
    whole: list[ChatMessage] = []
    for place, message in enumerate(merged):
        rest = tuple(part for part in message.parts if not isinstance(part, ToolResult))
        if rest:
            whole.append(
                message
                if len(rest) == len(message.parts)
                else message.model_copy(update={"parts": rest})
            )
        if message.calls:
            results = tuple(
                answers.get((place, call.id))
                or ToolResult(call_id=call.id, content=(Text(text=NO_RESULT),), failed=True)
                for call in message.calls
            )
            whole.append(ChatMessage(id=message.id, role="tool", parts=results))
    return whole


def _merged(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    first: dict[str, int] = {}
    merged: list[ChatMessage] = []
    for message in messages:
        key = message.group if message.role == "assistant" else None
        if key is not None and key in first:
            place = first[key]
            parts = merged[place].parts + message.parts
            merged[place] = merged[place].model_copy(update={"parts": parts})
            continue
        if key is not None:
            first[key] = len(merged)
        merged.append(message)
    return merged


def _answers(messages: Sequence[ChatMessage]) -> dict[tuple[int, str], ToolResult]:
    """Return the results by place of the calling message and call id, as ids may be reused."""
    calling: dict[str, int] = {}
    answers: dict[tuple[int, str], ToolResult] = {}
    for place, message in enumerate(messages):
        for call in message.calls:
            calling[call.id] = place
        for result in message.results:
            if result.call_id in calling:
                answers.setdefault((calling[result.call_id], result.call_id), result)
    return answers
