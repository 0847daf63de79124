"""Files of words and tables: TOML in the directory `data` of a package."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any


@cache
def data_of(package: str, name: str) -> dict[str, Any]:
    """Return what a data file of a package holds; each is read once."""
    text = (resources.files(package) / "data" / f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
