"""Build `semantic_memory_client` from the modules that the clients of the checkout import.

They are copied under a name of their own, so that no file of this distribution is one of
`semantic-memory`. Version and ranges of dependencies are those of the checkout's `pyproject.toml`.
"""

from __future__ import annotations

import ast
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

CHECKOUT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGE, NAME = "semantic_memory", "semantic_memory_client"
DEPENDENCIES = ("dateparser", "httpx", "pydantic", "stamina")
EXPORTS = Path(__file__).with_name("exports.py")


class Copied(build_py):
    """Copies the modules, with their data, into the package."""

    def run(self) -> None:
        """Build the package."""
        package = Path(self.build_lib) / NAME
        shutil.rmtree(package, ignore_errors=True)
        for source in sorted(reached(EXPORTS)):
            copy(source, package / source.relative_to(CHECKOUT / PACKAGE))
            if (data := source.parent / "data").is_dir():
                place = package / data.relative_to(CHECKOUT / PACKAGE)
                shutil.copytree(data, place, dirs_exist_ok=True)
        copy(EXPORTS, package / "__init__.py")
        (package / "py.typed").touch()

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:  # noqa: ARG002
        """Return the files of the package."""
        files = (Path(self.build_lib) / NAME).rglob("*")
        return [str(file) for file in files if file.is_file()]


def copy(source: Path, place: Path) -> None:
    """Copy a module under the package's own name."""
    place.parent.mkdir(parents=True, exist_ok=True)
    text = source.read_text(encoding="utf-8")
    place.write_text(re.sub(rf"\b{PACKAGE}\b", NAME, text), encoding="utf-8")


def reached(start: Path) -> set[Path]:
    """Return the modules of the checkout that a module imports, directly or not."""
    found: set[Path] = set()
    waiting = [start]
    while waiting:
        tree = ast.parse(waiting.pop().read_text(encoding="utf-8"))
        for name in imported(tree):
            new = {module for module in modules(name) if module not in found}
            found |= new
            waiting += new
    return found


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module imports when it runs, in functions too."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        yield from imported(node)


def modules(name: str) -> Iterator[Path]:
    """Yield the module of a name, and the packages around it; the checkout's own one aside."""
    parts = name.split(".")
    if parts[0] != PACKAGE:
        return
    for depth in range(2, len(parts) + 1):
        place = CHECKOUT.joinpath(*parts[:depth])
        yield from filter(Path.is_file, (place / "__init__.py", place.with_suffix(".py")))


setup(
    version=PROJECT["version"],
    python_requires=PROJECT["requires-python"],
    install_requires=[
        one for one in PROJECT["dependencies"] if re.split(r"[<>=~]", one)[0] in DEPENDENCIES
    ],
    packages=[NAME],
    package_dir={NAME: "."},
    cmdclass={"build_py": Copied},
)
