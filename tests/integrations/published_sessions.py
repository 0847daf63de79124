"""The OpenAI Agents SDK's own tests of sessions, run over `SemanticMemorySession`.

    pip download --no-deps --no-binary :all: openai-agents
    pip install 'semantic-memory[openai-agents]' pytest-asyncio inline-snapshot
    python -m tests.integrations.published_sessions openai_agents-0.24.0.tar.gz

The suites are unpacked and run with the session below in place of `SQLiteSession`.
"""

from __future__ import annotations

import os
import shutil
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
_LOOKING_AT = {
    "SQLite's connections": (
        "close_closes_worker_thread_connections",
        "reaps_connections_from_exited_worker_threads",
        "closes_retired_connections_before_the_next_allocation",
        "keeps_connections_of_live_worker_threads",
        "close_retries_quarantined_connection",
        "rollback_failure_evicts_connection",
        "closed_rejects_empty_add_items",
    ),
    "damaged rows of SQLite": (
        "pop_item_skips_corrupt_most_recent",
        "pop_item_returns_none_after_dropping_only_corrupt_rows",
        "get_items_limit_skips_corrupt_newest_rows",
        "get_items_session_settings_limit_skips_corrupt_rows",
    ),
    "SQLite's locks and transactions": (
        "file_lock_is_shared_across_instances",
        "failed_add_items_releases_write_lock",
        "failed_clear_session_rolls_back",
        "failed_pop_item_releases_write_lock",
        "post_commit_cancellation_propagates_after_known_outcome",
    ),
}
_KNOWN = {
    "memory/test_session.py": {
        f"test_sqlite_session_{name}": f"looks at {what}"
        for what, names in _LOOKING_AT.items()
        for name in names
    }
}
"""Tests that fail, by suite, with the reason."""
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
    """Unpack the suites of source distributions and run them; return how many tests surprise."""
    from tests.integrations.suites import count_surprises  # the suites have a package `tests` too

    surprises = 0
    for archive in map(Path, archives):
        with tempfile.TemporaryDirectory() as directory, tarfile.open(archive) as packed:
            packed.extractall(directory, filter="data")
            (root,) = Path(directory).iterdir()
            shutil.copy(__file__, root)
            for suite in _SUITES:
                path = root / "tests" / suite
                head, found, rest = path.read_text(encoding="utf-8").partition("\n\n\n")
                path.write_text(head + _REPLACED + found + rest, encoding="utf-8")
                here = str(Path(__file__).parents[2])
                searched = [here, os.environ.get("PYTHONPATH", "")]
                environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, searched))}
                print(archive.name, end=" ", flush=True)
                known = _KNOWN.get(suite, {})
                surprises += count_surprises(path, known, cwd=root, environment=environment)
    return surprises


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
