"""Faults of reading: errors that one text causes, and that the next try would cause again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from json import JSONDecodeError

from pydantic import ValidationError

from semantic_memory.domain.extraction import Extraction, joined
from semantic_memory.domain.messages import Message

FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Errors of our own rules for a value that they didn't expect. A model that can't be reached raises
ProviderError, a network or a disk OSError: those are tried again."""
_OF_A_TEXT = (ArithmeticError, IndexError, RecursionError, ValueError)
"""Errors that an extractor, which may be the caller's, raises for a text rather than by mistake."""
_OF_AN_ANSWER = (JSONDecodeError, ValidationError)  # of a model, which may do better next time


def readable(
    messages: Sequence[Message], extract: Callable[[Sequence[Message]], Extraction]
) -> tuple[Extraction, dict[str, str]]:
    """Extract from messages, in halves where that fails; return the reason by id of each that does.

    A message is left out only if it can't be read by itself.
    """
    try:
        return extract(messages), {}
    except _OF_AN_ANSWER:
        raise
    except _OF_A_TEXT as error:
        if len(messages) == 1:
            return Extraction(), {messages[0].id: type(error).__name__}
    half = len(messages) // 2
    (first, bad), (second, worse) = (
        readable(part, extract) for part in (messages[:half], messages[half:])
    )
    return joined([first, second]), bad | worse
