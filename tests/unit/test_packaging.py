"""The wheel contains the data files of the packages."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "setuptools"
]


def test_every_data_file_is_packaged_and_every_pattern_finds_one():
    for package, patterns in SETUPTOOLS["package-data"].items():
        folder = ROOT / package
        found = {pattern: set(folder.glob(pattern)) for pattern in patterns}
        assert all(found.values()), found
        present = {
            path
            for path in folder.rglob("*")
            if path.is_file() and path.suffix != ".py" and path.parent.name != "__pycache__"
        }
        assert present <= set().union(*found.values())
