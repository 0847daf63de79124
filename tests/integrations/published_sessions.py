"""The OpenAI Agents SDK's own tests of sessions, run over `SemanticMemorySession`.

    pip download --no-deps --no-binary :all: openai-agents
    pip install 'semantic-memory[openai-agents]' pytest-asyncio inline-snapshot
    python tests/integrations/published_sessions.py openai_agents-0.24.0.tar.gz

The suites are unpacked and run with the session below in place of `SQLiteSession`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from semantic_memory import SemanticMemory
from semantic_memory.integrations.openai_agents import SemanticMemorySession
from semantic_memory.testing import HashEmbedder, InMemoryIndex

_SUITES = (
    "memory/test_session.py",
    "memory/test_session_limit.py",
    "test_hitl_session_scenario.py",
)
_REPLACED = f"\nfrom {Path(__file__).stem} import OwnSession as SQLiteSession  # noqa: E402\n"
_opened: dict[str, SemanticMemory] = {}


class OwnSession(SemanticMemorySession):
    """A session that is opened as SQLite's, one memory a path."""

    def __init__(self, session_id: str, db_path: Any = ":memory:", **given: Any) -> None:
        if (path := str(db_path)) not in _opened or path == ":memory:":
            _opened[path] = SemanticMemory.open(
                tempfile.mkdtemp(), embedder=HashEmbedder(), index=InMemoryIndex()
            )
        super().__init__(session_id, _opened[path], user_id="tests", **given)

    def close(self) -> None:
        """Do nothing: a memory stays open for other sessions of its path."""


def main(archives: Sequence[str]) -> int:
    """Unpack the suites of source distributions and run them; return how many fail."""
    failing = 0
    for archive in map(Path, archives):
        with tempfile.TemporaryDirectory() as directory, tarfile.open(archive) as packed:
            packed.extractall(directory, filter="data")
            (root,) = Path(directory).iterdir()
            shutil.copy(__file__, root)
            for suite in _SUITES:
                path = root / "tests" / suite
                head, found, rest = path.read_text(encoding="utf-8").partition("\n\n\n")
                path.write_text(head + _REPLACED + found + rest, encoding="utf-8")
                command = [
                    sys.executable,
                    "-m",
                    "pytest",
                    "-q",
                    "-p",
                    "no:cacheprovider",
                    str(path),
                ]
                here = str(Path(__file__).parents[2])
                environment = os.environ | {"PYTHONPATH": here}
                print(archive.name, suite, flush=True)
                done = subprocess.run(command, cwd=root, env=environment, check=False)
                failing += done.returncode != 0
    return failing


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
