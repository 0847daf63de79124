"""Patterns of the English rules, which every process compiles at their first use."""

import pkgutil
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from semantic_memory.domain import english

LONGEST = 150_000  # characters; a source of 1,500,000 takes some 10 seconds to compile


@pytest.mark.parametrize("module", [one.name for one in pkgutil.iter_modules(english.__path__)])
def test_no_pattern_takes_long_to_compile(module):
    values = vars(import_module(f"{english.__name__}.{module}")).items()
    sources = {name: getattr(one, "pattern", "") for name, one in values}
    lengths = {name: len(one) for name, one in sources.items() if isinstance(one, str)}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


MOST_SPELLINGS = 100_000  # of one phrase; 30 million take half a minute to write


def spellings(phrase):
    """Return how many spellings a phrase has, as `notation` writes them out."""
    number = 1
    for found in re.finditer(r"\(([^)]*)\)|\[([^\]]*)\]", phrase):
        choices, optional = found.groups()
        if choices is None:
            number *= optional.count("|") + 2
        else:
            number *= (choices.count("|") + 1) * 2 ** choices.count("[")
    return number


def texts(entry):
    if isinstance(entry, str):
        yield entry
    else:
        for one in entry.values() if isinstance(entry, dict) else entry:
            yield from texts(one)


@pytest.mark.parametrize(
    "file", [*(Path(english.__file__).parent / "data").glob("*.toml")], ids=lambda file: file.stem
)
def test_no_phrase_has_millions_of_spellings(file):
    entries = tomllib.loads(file.read_text(encoding="utf-8"))
    phrases = [one for text in texts(entries) for one in re.split(r"[,\n]", text)]
    assert [one for one in phrases if spellings(one) > MOST_SPELLINGS] == []
