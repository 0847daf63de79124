"""An import killed at any moment and run again ends as a single run would."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ingest.session_log import FileSessionLog
from semantic_memory.disk import SystemDisk
from semantic_memory.domain.filters import Filters
from semantic_memory.ledger.sqlite import SqliteLedger
from tests.support.effort import rounds

KILLS = rounds(full=4, quick=1)
ROOT = Path(__file__).parent.parent.parent
CONVERSATIONS, TURNS = rounds(full=25, quick=8), 12


def conversation(number: int) -> dict[str, Any]:
    """Return a conversation of ChatGPT's export."""
    nodes = {
        f"n{turn}": {
            "id": f"n{turn}",
            "parent": f"n{turn - 1}" if turn else None,
            "message": {
                "id": f"{number}-{turn}",
                "author": {"role": "assistant" if turn % 2 else "user"},
                "create_time": 1_700_000_000 + 1_000 * number + turn,
                "content": {"content_type": "text", "parts": [f"I like item {number} {turn}."]},
            },
        }
        for turn in range(TURNS)
    }
    return {"id": f"c{number}", "mapping": nodes, "current_node": f"n{TURNS - 1}"}


@pytest.fixture(params=["chatgpt", "jsonl without ids", "mem0"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "chatgpt":
        path = tmp_path / "conversations.json"
        path.write_text(json.dumps([conversation(number) for number in range(CONVERSATIONS)]))
    elif request.param == "mem0":
        path = tmp_path / "mem0.json"
        facts = [
            {
                "id": f"m{number}",
                "memory": f"Likes item {number}",
                "created_at": "2025-01-01T00:00:00Z",
            }
            for number in range(CONVERSATIONS * TURNS)
        ]
        path.write_text(json.dumps({"results": facts}))
    else:
        path = tmp_path / "messages.jsonl"
        rows = [
            {
                "role": "user",
                "content": f"I like item {number % 100}.",
                "session_id": f"s{number // 60}",
            }
            for number in range(CONVERSATIONS * TURNS)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def importing(file: Path, store: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "semantic_memory.entrypoints.cli", "ingest", str(file)),
            *("--user", "u1", "--data-dir", str(store), "--json"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )


def imported(file: Path, store: Path) -> Any:
    process = importing(file, store)
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    return json.loads(output)


def held(store: Path) -> set[tuple[Any, ...]]:
    """Return the contents of a store, except recording times."""
    ledger = SqliteLedger(store / "ledger.sqlite3")
    facts = ledger.find("u1", Filters())
    assert ledger.count_unembedded() == 0
    ledger.close()
    log = FileSessionLog(store / "sessions", lambda event: None, SystemDisk())
    said = [(one.session, one.messages, one.corrupt_lines) for one in log.summaries()]
    return {
        *said,
        *((f.id, f.content, f.category, f.source, f.corroborations, f.confidence) for f in facts),
    }


def test_an_import_killed_and_run_again_doubles_and_loses_nothing(file, tmp_path):
    straight = tmp_path / "straight"
    start = time.monotonic()
    assert imported(file, straight)["accepted"] == CONVERSATIONS * TURNS
    seconds = time.monotonic() - start

    dice = random.Random(7)
    store = tmp_path / "killed"
    for _ in range(KILLS):
        process = importing(file, store)
        time.sleep(dice.uniform(0.3, 1.0) * seconds)
        process.kill()
        process.communicate()
    summary = imported(file, store)
    assert summary["accepted"] + summary["duplicates"] == CONVERSATIONS * TURNS
    assert held(store) == held(straight)
    assert imported(file, store)["accepted"] == 0
    assert held(store) == held(straight)
