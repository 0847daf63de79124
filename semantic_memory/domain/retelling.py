"""Statements that carry the question before them, as they don't stand alone."""

from __future__ import annotations

from semantic_memory.domain.patterns import regex

_RETOLD = regex(r", (?:asked|told) “")  # "told" in facts of earlier versions


def retold(name: str, question: str, text: str) -> str:
    """Return a statement with the question that it answers.

    >>> retold("Ana", "How many dogs do you have?", "Two")
    'Ana, asked “How many dogs do you have?”: Two'
    """
    return f"{name}, asked “{question}”: {text}"


def retells(statement: str) -> bool:
    """Return True if a statement carries words that it answers.

    >>> retells("Ana, asked “How many dogs do you have?”: Two"), retells("Ana has two dogs")
    (True, False)
    """
    return _RETOLD.search(statement) is not None
