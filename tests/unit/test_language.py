"""Docstrings begin with a verb or a noun phrase, not with a question word."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("semantic_memory", "ingest", "eval", "examples", "tests")
TRANSLATED = re.compile(r"(?:What|Whether|How|Who|Whose|Whoever|Where|Told|Of an?)\b")
# Files that still have such docstrings. The list only ever shrinks.
WAITING = frozenset(
    """
    semantic_memory/domain/ports.py
    semantic_memory/ledger/batch.py
    semantic_memory/ledger/lines.py
    semantic_memory/ledger/rows.py
    semantic_memory/ledger/sqlite.py
    semantic_memory/retrieval/newest.py
    semantic_memory/retrieval/partition.py
    semantic_memory/retrieval/question.py
    semantic_memory/retrieval/ranking.py
    semantic_memory/retrieval/search.py
    semantic_memory/vectors/home.py
    semantic_memory/vectors/sync.py
    """.split()
)
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
    found = {file.relative_to(ROOT).as_posix(): translated(file) for file in files}
    assert [line for name in sorted(found.keys() - WAITING) for line in found[name]] == []
    rewritten = [name for name in sorted(found.keys() & WAITING) if not found[name]]
    assert rewritten == [], "take these files from the list"


def test_a_translated_docstring_is_found(tmp_path):
    file = tmp_path / "module.py"
    file.write_text(
        '"""What it does."""\n\nWIDTH = 3\n"""Of a row."""\n\n\ndef f():\n    """Fit."""\n'
    )
    assert [line for line, text in docstrings(file) if TRANSLATED.match(text)] == [1, 4]
