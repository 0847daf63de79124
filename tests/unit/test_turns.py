"""Documents, docstrings, comments and messages are free of turns that read translated."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TURNS = [
    (re.compile(turn.strip().replace(" ", r"[\s#]+"), re.IGNORECASE), instead.strip())
    for turn, _, instead in (
        line.partition(" => ")
        for line in (ROOT / "tests" / "support" / "turns.txt").read_text("utf-8").splitlines()
        if not line.startswith("#")
    )
]
ROOMS = ("semantic_memory", "ingest")
SHOWN = ("entrypoints/", "client/", "domain/fields.py")
"""Rooms whose texts reach a user: every constant is read, not only docstrings and errors."""


def pages() -> list[Path]:
    top = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
    return [*top, *sorted((ROOT / "docs").rglob("*.md"))]


def prose(source: str, *, shown: bool = False) -> Iterator[tuple[int, str]]:
    """Return the docstrings, comments and messages of a module, each with its line."""
    for node in ast.walk(ast.parse(source)):
        said: list[ast.AST] = []
        if isinstance(node, ast.Expr):
            said = [node.value]
        elif isinstance(node, ast.Raise):
            said = list(ast.walk(node))
        elif shown and isinstance(node, ast.Constant):
            said = [node]
        for one in said:
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                yield one.lineno, one.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def found(text: str) -> Iterator[tuple[int, str]]:
    """Return each turn of a text, with the line it is in and what to write instead."""
    for turn, instead in TURNS:
        for match in turn.finditer(text):
            line = text.count("\n", 0, match.start())
            yield line, f"{' '.join(match[0].split())!r} (rather: {instead})"


def test_the_list_has_fifty_turns_and_a_remedy_for_each():
    assert len(TURNS) >= 50
    assert all(instead for _, instead in TURNS)


def test_the_documents_are_free_of_them():
    wrong = [
        f"{page.relative_to(ROOT)}:{line + 1}: {turn}"
        for page in pages()
        for line, turn in found(page.read_text(encoding="utf-8"))
    ]
    assert wrong == [], "\n".join(wrong)


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_comments_and_messages_are_free_of_them(room):
    wrong = [
        f"{file.relative_to(ROOT)}:{start + line}: {turn}"
        for file in sorted((ROOT / room).rglob("*.py"))
        for start, text in prose(
            file.read_text(encoding="utf-8"),
            shown=any(one in file.as_posix() for one in SHOWN),
        )
        for line, turn in found(text)
    ]
    assert wrong == [], "\n".join(wrong)


def test_a_turn_is_found_across_lines_and_in_messages():
    assert list(found("It is erased for\ngood."))
    assert [text for _, text in prose('raise ValueError("gone for good")')] == ["gone for good"]
    assert not list(found("It is good for that."))
