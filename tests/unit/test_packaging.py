"""What an installed package holds."""

import fnmatch
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PACKAGE_DATA = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "setuptools"
]["package-data"]


@pytest.mark.parametrize("package", sorted(PACKAGE_DATA))
def test_every_data_file_is_listed_as_package_data(package):
    files = {
        str(file.relative_to(ROOT / package))
        for file in (ROOT / package).rglob("*")
        if file.is_file() and file.suffix not in (".py", ".pyc")
    }
    assert {name for name in files if not _listed(name, PACKAGE_DATA[package])} == set()
    for pattern in PACKAGE_DATA[package]:
        assert any(_listed(name, [pattern]) for name in files), f"{pattern} names no file"


def _listed(name: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern.replace("**/", "")) for pattern in patterns)
