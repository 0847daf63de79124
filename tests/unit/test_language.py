"""Docstrings begin with a verb or a noun phrase, not with a question word."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("semantic_memory", "ingest", "eval", "examples", "tests")
TRANSLATED = re.compile(r"(?:What|Whether|How|Who|Whose|Whoever|Where|Told|Of an?)\b")
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def docstrings(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every docstring in a file, those of attributes included."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, _DOCUMENTED):
            continue
        for statement in node.body:
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield statement.lineno, text


def translated(file: Path) -> list[str]:
    return [
        f"{file.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for line, text in docstrings(file)
        if TRANSLATED.match(text.strip())
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_are_plain(room: str):
    files = sorted((ROOT / room).rglob("*.py"))
    assert files
    assert [line for file in files for line in translated(file)] == []


def test_a_translated_docstring_is_found(tmp_path):
    file = tmp_path / "module.py"
    file.write_text(
        '"""What it does."""\n\nWIDTH = 3\n"""Of a row."""\n\n\ndef f():\n    """Fit."""\n'
    )
    assert [line for line, text in docstrings(file) if TRANSLATED.match(text)] == [1, 4]
