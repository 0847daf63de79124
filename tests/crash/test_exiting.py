"""A process that ends while a stage is within native code exits cleanly, and loses nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from semantic_memory import SemanticMemory
from semantic_memory.testing import HashEmbedder

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("closing", ["open", "closed"])
@pytest.mark.parametrize("model", ["judge", "embedder"])
def test_a_process_exits_cleanly_while_a_stage_calls_a_model(
    tmp_path: Path, model: str, closing: str
) -> None:
    directory = tmp_path / "store"
    ended = subprocess.run(
        [sys.executable, "-m", "tests.crash.exiting", str(directory), model, closing],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    *added, said = ended.stdout.split()
    with SemanticMemory.open(directory, embedder=HashEmbedder()) as memory:
        kept = memory.list(user_id="ana")
        assert len(added) == 3
        assert set(added) <= {fact.id for fact in kept}
        assert said in {message_id for fact in kept for message_id in fact.message_ids}
