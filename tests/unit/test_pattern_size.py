"""Patterns of the English rules, which every process compiles at their first use."""

import pkgutil
from importlib import import_module

import pytest

from semantic_memory.domain import english

LONGEST = 150_000  # characters; a source of 1,500,000 takes some 10 seconds to compile


@pytest.mark.parametrize("module", [one.name for one in pkgutil.iter_modules(english.__path__)])
def test_no_pattern_takes_long_to_compile(module):
    values = vars(import_module(f"{english.__name__}.{module}")).items()
    sources = {name: getattr(one, "pattern", "") for name, one in values}
    lengths = {name: len(one) for name, one in sources.items() if isinstance(one, str)}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}
