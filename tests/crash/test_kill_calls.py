"""A process killed during model calls ends with the same facts, and pays once for each."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from ingest.session_log import FileSessionLog
from semantic_memory.disk import SystemDisk
from semantic_memory.ledger.sqlite import SqliteLedger
from tests.crash.extracting import conversation
from tests.support.effort import rounds
from tests.support.openai_server import OpenAIServer, Reply, answer, fact, serve, shown

KILLS = rounds(full=20, quick=4)
TURNS = rounds(full=80, quick=20)
BATCH_KILLS = rounds(full=6, quick=3)
ROOT = Path(__file__).parent.parent.parent


def started(*command: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", *command],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, **environment},
        text=True,
    )


def extracting(store: Path, server: OpenAIServer) -> subprocess.Popen[str]:
    return started("tests.crash.extracting", str(store), server.url, str(TURNS))


def finished(process: subprocess.Popen[str]) -> bool:
    process.communicate()
    return process.returncode == 0


def heard(request: dict[str, Any]) -> Reply:
    """Reply with a fact for each message, after a delay."""
    messages = shown(request)["messages"]
    facts = [fact(f"Heard: {m['text']}", m["n"], category="finding") for m in messages]
    delay = 0.03 * (len(messages) % 4)
    return Reply(answer(*facts)(request).body, delay=delay)


def held(store: Path) -> list[tuple[Any, ...]]:
    """Return the contents of a store, except recording times."""
    ledger = SqliteLedger(store / "ledger.sqlite3")
    facts = ledger.get(ledger.ids("u1"))
    ledger.close()
    return sorted((f.id, f.content, f.status.value, f.confidence, f.version) for f in facts)


def done(store: Path) -> set[str]:
    """Return the texts whose facts are stored."""
    if not (store / "ledger.sqlite3").exists():
        return set()
    ledger = SqliteLedger(store / "ledger.sqlite3")
    log = FileSessionLog(store / "sessions", lambda event: None, SystemDisk())
    texts = {
        record.message.content
        for cursor in ledger.cursors("extracted")
        for record in log.read(cursor.user_id, cursor.session_id)
        if record.position < cursor.position
    }
    ledger.close()
    return texts


def test_random_kills_change_no_fact_and_repeat_no_call_whose_answer_was_kept(
    tmp_path: Path,
) -> None:
    dice = random.Random(7)
    straight, killed = tmp_path / "straight", tmp_path / "killed"
    with serve() as server:
        server.script = [heard]
        assert finished(extracting(straight, server))
    with serve() as server:
        server.script = [heard]
        kept: set[str] = set()
        unkept = 0
        for number in range(KILLS):
            process = extracting(killed, server)
            if number % 4:  # amid the calls
                calls = dice.randint(1, 5)
                while len(server.requests) < calls and process.poll() is None:
                    time.sleep(0.005)
                time.sleep(dice.uniform(0.0, 0.15))
            else:
                time.sleep(dice.uniform(0.3, 1.5))
            process.kill()
            process.communicate()
            asked, server.requests = server.texts, []
            assert not kept & {text for texts in asked for text in texts}
            kept = done(killed)
            lost = [texts for texts in asked if not kept.issuperset(texts)]
            assert len(lost) <= 1, "a kill may cost the one call under way"
            unkept += len(lost)
        assert finished(extracting(killed, server))
        assert not kept & {text for texts in server.texts for text in texts}
    assert 0 < len(kept) < len(conversation(TURNS))  # the kills came amid the work
    assert unkept  # and some of them amid a call
    assert held(killed) == held(straight)
    assert len(held(killed)) == 2 * len(conversation(TURNS))


def ingest_by_batch(server: OpenAIServer, file: Path, store: Path) -> subprocess.Popen[str]:
    return started(
        *("semantic_memory.entrypoints.cli", "ingest", str(file), "--user", "u1", "--batch"),
        *("--data-dir", str(store)),
        SEMANTIC_MEMORY_EXTRACTION__LLM="openai",
        SEMANTIC_MEMORY_EXTRACTION__BATCH_POLL_SECONDS="0.1",
        SEMANTIC_MEMORY_LLM__OPENAI__BASE_URL=server.url,
        SEMANTIC_MEMORY_LLM__OPENAI__API_KEY="sk-test",
    )


def test_an_import_by_batch_killed_again_and_again_submits_once(tmp_path: Path) -> None:
    dice = random.Random(7)
    file, store = tmp_path / "messages.jsonl", tmp_path / "store"
    said = conversation(20)
    rows = [
        {**message.model_dump(mode="json", exclude={"metadata", "name"}), "session_id": session}
        for session, message in said
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with serve() as server:
        server.script = [heard]
        server.batch_status = ["in_progress"]
        for _ in range(BATCH_KILLS):
            process = ingest_by_batch(server, file, store)
            until = time.monotonic() + dice.uniform(1.0, 4.0)
            while time.monotonic() < until and not (server.batches and dice.random() < 0.1):
                time.sleep(0.02)
            process.kill()
            process.communicate()
        server.batch_status = ["in_progress", "in_progress", "completed"]
        assert finished(ingest_by_batch(server, file, store))
        assert len(server.batches) == 1
        texts = [text for texts in server.texts for text in texts]
    assert sorted(texts) == sorted(message.content for _, message in said)
    found = [one for one in held(store) if one[1].startswith("Heard: ")]
    assert {one[1] for one in found} == {f"Heard: {message.content}" for _, message in said}
