"""Check that this commit can be released: `make release`, which then builds the wheels into dist/.

Version, changelog and tag must agree, and the wheels must hold what they should and nothing else.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_LINES = 60
"""Most lines of a version in the changelog: it tells users what changed, not everything."""
PACKAGES = {
    "semantic_memory": {"semantic_memory", "ingest"},
    "semantic_memory_client": {"semantic_memory_client"},
}
"""Top-level packages of each wheel."""


def version_of(root: Path) -> str:
    """Return the version, which the client's package takes over."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(text)["project"]["version"])


def faults(root: Path) -> Iterator[str]:
    """List what keeps the commit that is checked out from being released, and what to do."""
    version = version_of(root)
    if re.fullmatch(r"\d+\.\d+\.\d+", version) is None:
        yield f"version {version!r} isn't of the form 1.2.3"
    yield from _changelog((root / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    yield from _tag(root, f"v{version}")


def _changelog(text: str, version: str) -> Iterator[str]:
    parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    sections = {part.partition("\n")[0]: part.partition("\n")[2].strip() for part in parts}
    if sections.get("[Unreleased]"):
        yield f"CHANGELOG.md has unreleased changes: move them below {version}"
    dated = [title for title in sections if title.startswith(f"[{version}]")]
    if not dated:
        yield f"CHANGELOG.md has no section [{version}]"
        return
    if re.fullmatch(r"\[[\d.]+\] - \d{4}-\d\d-\d\d", dated[0]) is None:
        yield f"CHANGELOG.md: write the date as ## [{version}] - 2026-12-01, not {dated[0]!r}"
    lines = len(sections[dated[0]].splitlines())
    if not 0 < lines <= MOST_LINES:
        yield f"CHANGELOG.md: [{version}] has {lines} lines; 1 to {MOST_LINES} are allowed"


def _tag(root: Path, tag: str) -> Iterator[str]:
    if _git(root, "status", "--porcelain"):
        yield "there are uncommitted changes: commit them, or take them out"
    if _git(root, "tag", "--list", tag) != tag:
        yield f"there is no tag {tag}: git tag -a {tag} -m {tag}"
    elif _git(root, "rev-list", "-1", tag) != _git(root, "rev-parse", "HEAD"):
        yield f"tag {tag} is of another commit: raise the version, or check that commit out"


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def wheel_faults(wheel: Path, version: str) -> Iterator[str]:
    """List what is wrong with a wheel."""
    name, built, *_ = wheel.stem.split("-")
    if built != version:
        yield f"{wheel.name} isn't of version {version}"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    top = {one.partition("/")[0] for one in names if ".dist-info/" not in one}
    if top != PACKAGES[name]:
        yield f"{wheel.name} installs {', '.join(sorted(top))}, not {', '.join(PACKAGES[name])}"
    if not any(one.endswith("/py.typed") for one in names):
        yield f"{wheel.name} has no py.typed"
    if not any("LICENSE" in one for one in names):
        yield f"{wheel.name} has no license"


def main(wheels: list[str]) -> int:
    """Check the wheels if any are named, else the commit; return 1 for a fault."""
    version = version_of(ROOT)
    found = [fault for wheel in wheels for fault in wheel_faults(Path(wheel), version)]
    if not wheels:
        found = list(faults(ROOT))
    for fault in found:
        sys.stderr.write(f"{fault}\n")
    if not found:
        sys.stdout.write(f"{version}: {'wheels' if wheels else 'version, changelog and tag'} ok\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
