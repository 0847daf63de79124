"""What belongs together: a tool call and its result, a thought and the call it led to.

An API refuses a call without a result and a result without its call, so a window is only ever cut
between units: the smallest stretches that hold all of a call, of its results, and of whatever else
has the same message id.
"""

from __future__ import annotations

from collections.abc import Sequence

from semantic_memory.session.parts import ChatMessage, Text, ToolResult

Unit = tuple[ChatMessage, ...]

NO_RESULT = "[no result: the call was cut off]"


def units(messages: Sequence[ChatMessage]) -> list[Unit]:
    """`messages` in the smallest stretches that may be kept or dropped."""
    reach = list(range(len(messages)))  # the last message that must stay with each
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
    """`messages` as APIs want them: each call followed by its one result, no result alone.

    Messages of one group become one. A call that was cut off gets a result that says so; a result
    whose call isn't there is left out, and so is all but the first of several for one call.
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
    """The result of each call, by the place of the calling message; ids may be used again."""
    calling: dict[str, int] = {}
    answers: dict[tuple[int, str], ToolResult] = {}
    for place, message in enumerate(messages):
        for call in message.calls:
            calling[call.id] = place
        for result in message.results:
            if result.call_id in calling:
                answers.setdefault((calling[result.call_id], result.call_id), result)
    return answers
