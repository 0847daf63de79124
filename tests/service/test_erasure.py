"""After forgetting and compaction no file of the data directory holds a byte of the text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from semantic_memory import InvalidInputError, Message, SemanticMemory
from semantic_memory.client import Client
from semantic_memory.domain.extraction import Candidate, Extraction, HistoryLine
from semantic_memory.entrypoints.cli import app
from semantic_memory.settings import IndexSettings, Settings
from semantic_memory.testing import FrozenClock, HashEmbedder
from tests.service.conftest import NOW, A, R, Served, W

SECRET = b"xylophobia"
USER = "maya"
S: dict[str, Any] = {"user_id": USER, "session_id": "s1"}
SAID = (
    "I have xylophobia. I love rowing.",
    "My xylophobia got worse.",
    "I live in Oslo.",
    "Please forget what I told you about xylophobia.",
)


class Reading:
    """An extractor that finds a fact, a profile and a history in the first messages."""

    name = "scripted"

    def extract(self, messages: Any, known: Any = ()) -> Extraction:
        """Return them if the first message is among those read."""
        del known
        if not any(message.id == "m0" for message in messages):
            return Extraction()
        fact = Candidate(
            content="Has xylophobia", category="personal", confidence=0.9, message_ids=("m0", "m1")
        )
        return Extraction(
            candidates=(fact,),
            profile={"personal_context": "Lives with xylophobia."},
            history=(HistoryLine(content="Told of xylophobia.", message_ids=("m0",)),),
        )


def holding(directory: Path) -> list[str]:
    return sorted(
        path.relative_to(directory).as_posix()
        for path in directory.rglob("*")
        if path.is_file() and SECRET in path.read_bytes().lower()
    )


@pytest.mark.parametrize(
    "what", [{"query": "xylophobia"}, {"entity": "xylophobia"}, {"everything": True}]
)
def test_no_file_holds_what_was_forgotten_open_or_closed(tmp_path: Path, what: dict[str, Any]):
    directory = tmp_path / "store"
    with SemanticMemory.open(
        directory,
        settings=Settings(index=IndexSettings(sync_threshold=4)),
        embedder=HashEmbedder(),
        extractor=Reading(),
        clock=FrozenClock(NOW),
    ) as memory:
        session = memory.session(**S)
        memory.observe(
            [Message(id=f"m{n}", role="user", content=text) for n, text in enumerate(SAID)], **S
        )
        fact = memory.add("Takes pills for xylophobia", user_id=USER)
        memory.update(fact.id, content="Takes drops for xylophobia")
        memory.flush()
        session.payload("And now?")
        found = holding(directory)
        assert any(name.startswith("sessions/") for name in found)
        assert any(name.startswith("ledger") for name in found)
        assert any(name.startswith("chroma") for name in found)
        memory.maintain(dry_run=True)  # runs of jobs are kept
        memory.forget(user_id=USER, **what)
        memory.flush()
        memory.maintain(["compact"])
        memory.flush()
        assert holding(directory) == []
        session.payload("And now?")
        assert holding(directory) == []
    assert holding(directory) == []


def test_an_answer_that_is_sent_again_holds_nothing_forgotten(service: Served):
    http = service.client(service.token())
    key = {"Idempotency-Key": "drawn-at-random"}
    body = {"user_id": USER, "content": "Has xylophobia"}
    added = http.post("/v1/memories", json=body, headers=key).raise_for_status().json()
    other = {"Idempotency-Key": "another"}
    kept = http.post("/v1/memories", json={**body, "user_id": "kim"}, headers=other).json()
    assert "replies.sqlite3-wal" in holding(service.directory)
    service.memory.forget(user_id="kim", everything=True)
    service.memory.delete(added["id"])
    service.memory.maintain(["compact"])
    for sent, given in ((key, body), (other, {**body, "user_id": "kim"})):
        answer = http.post("/v1/memories", json=given, headers=sent)
        assert answer.status_code == 410
        assert SECRET.decode() not in answer.text
    assert kept["id"] != added["id"]
    assert service.memory.list(user_id=USER) == []
    assert [name for name in holding(service.directory) if name.startswith("replies")] == []


@pytest.fixture
def prover(tmp_path: Path) -> Iterator[SemanticMemory]:
    with SemanticMemory.open(
        tmp_path / "store", embedder=HashEmbedder(), clock=FrozenClock(NOW)
    ) as memory:
        yield memory


def test_a_proof_says_what_was_searched_and_that_nothing_was_found(prover: SemanticMemory):
    fact = prover.add("Takes pills for xylophobia every morning", user_id=USER)
    prover.update(fact.id, content="Takes drops for xylophobia every evening")
    prover.add("Takes pills for something else every morning", user_id="kim")
    proof = prover.forget(user_id=USER, query="xylophobia", proof=True).proof
    assert proof is not None
    assert proof.texts == 2  # of both versions
    assert proof.files > 3
    assert proof.bytes > 10_000
    assert proof.found == ()
    assert holding(prover.settings.data_dir) == []


TEXT = "Spends Sundays in Zürich with “Aurelia”,\nwho plays the theremin"
REMAINS = {
    "whole": TEXT.encode(),
    "a piece of 20 bytes": TEXT.encode()[17:37],
    "in capitals": TEXT.upper().encode()[44:],
    "as JSON": json.dumps(TEXT).encode()[20:60],
    "as JSON, readable": json.dumps(TEXT, ensure_ascii=False).encode()[20:60],
    "across the parts in which a file is read": b"-" * (1024 * 1024 - 15) + TEXT.encode(),
    "deep in a large file": bytes(3_000_000) + TEXT.encode() + bytes(3_000_000),
}


def test_a_proof_names_the_files_in_which_a_text_remains(prover: SemanticMemory):
    prover.add(TEXT, user_id=USER)
    for name, remains in REMAINS.items():
        (prover.settings.data_dir / name).write_bytes(remains)
    proof = prover.forget(user_id=USER, everything=True, proof=True).proof
    assert proof is not None
    assert {trace.file for trace in proof.found if trace.stretches} == REMAINS.keys()


def test_a_proof_finds_short_texts_and_single_words(prover: SemanticMemory):
    prover.add("Has gout", user_id=USER)
    prover.add("Fears xylophones", user_id=USER)
    (prover.settings.data_dir / "sessions").mkdir(exist_ok=True)
    (prover.settings.data_dir / "sessions" / "a").write_text("She has gout, they say")
    (prover.settings.data_dir / "sessions" / "b").write_text("xylophones|forest")
    proof = prover.forget(user_id=USER, everything=True, proof=True).proof
    assert proof is not None
    found = {trace.file: (trace.stretches, trace.words) for trace in proof.found}
    assert found == {"sessions/a": (1, ()), "sessions/b": (0, ("xylophones",))}


def test_a_proof_leaves_out_what_is_kept(prover: SemanticMemory):
    prover.add("Plays the theremin in an orchestra in Zürich", user_id="kim")
    prover.add("Plays the theremin in an orchestra in Zürich", user_id=USER)
    proof = prover.forget(user_id=USER, everything=True, proof=True).proof
    assert proof is not None
    assert (proof.texts, proof.found) == (1, ())


def test_a_dry_run_proves_nothing(prover: SemanticMemory):
    with pytest.raises(InvalidInputError, match="leave proof out"):
        prover.forget(user_id=USER, everything=True, dry_run=True, proof=True)


def test_a_proof_is_for_administrators(service: Served):
    service.memory.add("Has xylophobia", user_id=USER)
    body = {"user_id": USER, "everything": True, "proof": True}
    refused = service.client(service.token([USER], [R, W])).post("/v1/forget", json=body)
    assert refused.status_code == 403
    assert len(service.memory.list(user_id=USER)) == 1
    allowed = service.client(service.token([USER], [R, W, A])).post("/v1/forget", json=body)
    assert allowed.raise_for_status().json()["proof"]["found"] == []
    with Client(service.url, api_key=service.token()) as client:
        client.add("Has xylophobia", user_id=USER)
        proof = client.forget(user_id=USER, everything=True, proof=True).proof
        assert proof is not None
        assert proof.texts == 1


def test_the_command_prints_what_was_searched(tmp_path: Path):
    store = ["--data-dir", str(tmp_path / "store")]
    with SemanticMemory.open(tmp_path / "store") as memory:
        memory.add("Has xylophobia", user_id=USER)
        memory.add("Has a cat", user_id=USER)
    (tmp_path / "store" / "left.txt").write_text("She has xylophobia.")
    forget = ["forget", "-u", USER, "--entity", "xylophobia", "--proof", *store]
    shown = CliRunner().invoke(app, forget)
    assert "nothing was done" in shown.output
    done = CliRunner().invoke(app, [*forget, "--yes"])
    assert "for 1 texts: found in" in done.output
    assert "left.txt: 1 stretches of text" in done.output
