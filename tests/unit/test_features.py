"""The page of features names calls and tests that exist."""

import inspect
import re
from pathlib import Path

from semantic_memory.entrypoints.cli.reference import every_setting
from semantic_memory.memory import SemanticMemory
from tests.support.surface import groups

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "features.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| promise")
]
VERBS = {
    f"{group}.{name}".lstrip("."): verb
    for group, kind in {"": SemanticMemory, **groups(SemanticMemory)}.items()
    for name, verb in vars(kind).items()
    if inspect.isfunction(verb)
}


def test_every_row_has_a_call_and_a_test_or_says_that_it_lacks_one():
    for promise, call, tests in ROWS:
        assert (call and tests) or "In part" in promise, promise


def test_the_tests_exist():
    for *_, tests in ROWS:
        for name in re.findall(r"`([^`]+)`", tests):
            assert (ROOT / "tests" / name).is_file(), name


def test_the_calls_exist():
    names = {
        name
        for file in (ROOT / "semantic_memory").rglob("*.py")
        for name in re.findall(r"\w+", file.read_text(encoding="utf-8"))
    }
    for _, call, _ in ROWS:
        for code in re.findall(r"`([a-z_]+)\b[^`]*`", call):
            if code not in ("python", "semantic"):
                assert code in names, code


def test_the_arguments_and_settings_exist():
    settings = {setting.name for setting in every_setting()}
    sections = {name.partition(".")[0] for name in settings}
    for _, call, _ in ROWS:
        for name, given in re.findall(r"`([\w.]+)\(([^`]*)\)", call):
            if name in VERBS:
                known = inspect.signature(VERBS[name]).parameters
                for argument in re.findall(r"(\w+)=", given):
                    assert argument in known, f"{name}({argument}=)"
        for section, name in re.findall(r"`([a-z]+)\.(\w+|\*)`", call):
            if section in sections and f"{section}.{name}" not in VERBS:
                assert name == "*" or f"{section}.{name}" in settings, f"{section}.{name}"
