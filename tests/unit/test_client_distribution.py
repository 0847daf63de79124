"""The client as a distribution of its own: it runs without the store's libraries, beside the rest.

What is installed is its wheel and what that depends on, linked from this environment, in a
directory that is all an interpreter finds beside the standard library.
"""

from __future__ import annotations

import importlib.metadata as metadata
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.service.conftest import serve as serve  # fixtures
from tests.service.conftest import service as service

ROOT = Path(__file__).parents[2]
TRIP = """
import sys
from semantic_memory_client import Client, Message, NotFoundError

with Client(sys.argv[1]) as memory:
    fact = memory.add("Prefers black tea", user_id="maya", tags=["drinks"])
    said = [Message(role="user", content="I moved to Oslo.")]
    memory.observe(said, user_id="maya", session_id="s")
    memory.flush()
    assert fact.id in [one.fact.id for one in memory.search("tea", user_id="maya")]
    assert memory.list(user_id="maya", filters='tag:drinks since:"last month"')
    assert "black tea" in memory.context("What to drink?", user_id="maya").text
    memory.items.put(["notes"], "k", {"a": 1}, user_id="maya")
    assert memory.items.get(["notes"], "k", user_id="maya").value == {"a": 1}
    try:
        memory.get("0" * 24)
    except NotFoundError as error:
        assert type(error).__module__ == "semantic_memory_client.domain.errors"
    else:
        raise AssertionError
heavy = {"chromadb", "onnxruntime", "numpy", "tokenizers", "semantic_memory"} & sys.modules.keys()
assert not heavy, heavy
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the sources that it needs."""
    place = tmp_path_factory.mktemp("checkout")
    other = shutil.ignore_patterns("__pycache__", "vectors", "entrypoints", "build", "*.egg-info")
    for folder in ("packages", "semantic_memory"):
        shutil.copytree(ROOT / folder, place / folder, ignore=other)
    for file in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / file, place)
    build = ["-m", "pip", "wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
    source = place / "packages" / "client"
    done = subprocess.run(
        [sys.executable, *build, "--wheel-dir", place / "dist", source],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (built,) = (place / "dist").glob("*.whl")
    return built


def required(name: str, extra: str | None = None) -> Iterator[str]:
    """Yield a distribution and those that it requires, directly or not."""
    yield name
    for line in metadata.requires(name) or ():
        one = Requirement(line)
        if one.marker is None or one.marker.evaluate({"extra": extra or ""}):
            yield from required(one.name)


def link(name: str, place: Path) -> None:
    """Link the files of a distribution of this environment."""
    distribution = metadata.distribution(name)
    for top in {file.parts[0] for file in distribution.files or () if file.parts[0] != ".."}:
        target = Path(str(distribution.locate_file(top)))
        if target.exists() and not (place / top).exists():
            (place / top).symlink_to(target)


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Path:
    place = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    (described,) = metadata.distributions(name="semantic-memory-client", path=[str(place)])
    for line in described.requires or ():
        for name in required(Requirement(line).name):
            link(name, place)
    return place


def test_a_round_trip_needs_none_of_the_stores_libraries(installed, service):
    done = subprocess.run(
        [sys.executable, "-S", "-c", TRIP, service.url],
        env={**os.environ, "PYTHONPATH": str(installed)},
        cwd=installed,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (fact,) = service.memory.list(user_id="maya", filters="tag:drinks")
    assert fact.content == "Prefers black tea"
    assert not (installed / "chromadb").exists()
    assert not (installed / "onnxruntime").exists()


def test_no_file_of_it_is_one_of_the_full_distribution(wheel):
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    version = metadata.version("semantic-memory")
    assert tops == {"semantic_memory_client", f"semantic_memory_client-{version}.dist-info"}


def test_it_has_the_version_and_the_ranges_of_the_full_distribution(installed):
    (described,) = metadata.distributions(name="semantic-memory-client", path=[str(installed)])
    full = {Requirement(line) for line in metadata.requires("semantic-memory") or ()}
    own = {Requirement(line) for line in described.requires or ()}
    assert {one.name for one in own} == {"dateparser", "httpx", "pydantic", "stamina"}
    assert own <= full
    assert described.version == metadata.version("semantic-memory")
