"""Projects of coding agents: a repository, whose memories are kept apart from those of others.

Plain code without pydantic, as hooks load it at every prompt.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from semantic_memory.domain.patterns import regex

_REMOTE = re.compile(rb'^\s*\[remote "origin"\][^\[]*?^\s*url\s*=\s*(\S+)', re.MULTILINE)
_OTHER = regex(r"[^A-Za-z0-9_.-]+")


def project_of(directory: Path) -> str:
    """Return the id of the project that a directory is in.

    Clones and worktrees of one repository are one project, by the address of its `origin`; a
    repository without one is a project by its path, and so is a directory outside of any.
    """
    at = directory.expanduser().resolve()
    for parent in (at, *at.parents):
        git = parent / ".git"
        if git.exists():
            common = _common(git)
            origin = _origin(common)
            root = common.parent if common.name == ".git" else parent
            return _id(origin or str(root))
    return _id(str(at))


def _common(git: Path) -> Path:
    """Return the directory of a repository that its worktrees share."""
    if git.is_dir():
        return git
    try:
        own = git.parent / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        shared = own / "commondir"
        return (own / shared.read_text().strip()).resolve() if shared.exists() else own.resolve()
    except (OSError, UnicodeDecodeError):
        return git


def _origin(common: Path) -> str:
    """Return the address of the repository that this one is a clone of; empty if there is none.

    The same for all ways to reach it: without protocol, user and ending.
    """
    try:
        found = _REMOTE.search((common / "config").read_bytes())
    except OSError:
        return ""
    if found is None:
        return ""
    address = found[1].decode("utf-8", "replace")
    address = re.sub(r"^[a-z+]+://", "", address).rpartition("@")[2]
    return re.sub(r"(\.git)?/*$", "", address).replace(":", "/", 1).casefold()


def _id(place: str) -> str:
    name = _OTHER.sub("-", place.rstrip("/").rpartition("/")[2])[:60] or "project"
    digest = hashlib.blake2b(place.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()
    return f"project:{name}-{digest}"
