"""Statements that carry what was said before them, as they don't stand alone."""

from __future__ import annotations

from semantic_memory.domain.patterns import regex

_RETOLD = regex(r", (?:asked|told) “")


def retold(name: str, before: str, text: str, *, is_asked: bool) -> str:
    """Return a statement with the words that it answers.

    >>> retold("Ana", "How many dogs do you have?", "Two", is_asked=True)
    'Ana, asked “How many dogs do you have?”: Two'
    """
    return f"{name}, {'asked' if is_asked else 'told'} “{before}”: {text}"


def retells(statement: str) -> bool:
    """Return True if a statement carries words that it answers.

    >>> retells("Ana, asked “How many dogs do you have?”: Two"), retells("Ana has two dogs")
    (True, False)
    """
    return _RETOLD.search(statement) is not None
