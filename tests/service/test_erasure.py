"""Once an erasure returns, no file of the data directory holds a byte of the text."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from semantic_memory import InvalidInputError, Message, SemanticMemory
from semantic_memory.client import Client
from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.extraction import Candidate, Extraction, HistoryLine
from semantic_memory.entrypoints.cli import app
from semantic_memory.ledger.sqlite.connections import Connections
from semantic_memory.settings import IndexSettings, Settings
from semantic_memory.testing import FrozenClock, HashEmbedder
from semantic_memory.vectors.sync import IndexKeeper
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


def filled(directory: Path) -> SemanticMemory:
    """Open a store in which each kind of file holds the secret, set-aside indexes included."""
    memory = SemanticMemory.open(
        directory,
        settings=Settings(index=IndexSettings(sync_threshold=4)),
        embedder=HashEmbedder(),
        extractor=Reading(),
        clock=FrozenClock(NOW),
    )
    memory.observe(
        [Message(id=f"m{n}", role="user", content=text) for n, text in enumerate(SAID)], **S
    )
    fact = memory.add("Takes pills for xylophobia", user_id=USER)
    memory.update(fact.id, content="Takes drops for xylophobia")
    memory.flush()
    memory.sessions.open(**S).payload("And now?")
    shutil.copytree(directory / "chroma", directory / "chroma.broken")
    found = {name.partition("/")[0] for name in holding(directory)}
    assert {"sessions", "chroma", "chroma.broken"} < found
    assert any(name.startswith("ledger") for name in found)
    return memory


WAYS: dict[str, Callable[[SemanticMemory], object]] = {
    "a query": lambda memory: memory.forget(user_id=USER, query="xylophobia", now=True),
    "an entity": lambda memory: memory.forget(user_id=USER, entity="xylophobia", now=True),
    "everything": lambda memory: memory.forget(user_id=USER, everything=True, now=True),
    "a proof": lambda memory: memory.forget(user_id=USER, query="xylophobia", proof=True),
    "the job": lambda memory: (
        memory.forget(user_id=USER, entity="xylophobia"),
        memory.jobs.run(["compact"]),
    ),
    "a settled request": lambda memory: (
        memory.history.settle(
            memory.history.requests(user_id=USER)[0].id, user_id=USER, answer="forget"
        ),
        memory.jobs.run(["compact"]),
    ),
    "deleted one by one": lambda memory: (
        [
            memory.delete(fact.id)
            for fact in memory.list(user_id=USER, limit=None)
            if SECRET.decode() in fact.content.lower()
            and fact.id in {one.id for one in memory.list(user_id=USER, limit=None)}
        ],
        memory.jobs.run(["compact"]),
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("closed", [True, False], ids=["closed at once", "open"])
def test_no_file_holds_what_was_forgotten_once_the_call_returns(tmp_path, way: str, closed: bool):
    directory = tmp_path / "store"
    with filled(directory) as memory:
        WAYS[way](memory)
        if not closed:
            assert holding(directory) == []
            memory.flush()
            memory.sessions.open(**S).payload("And now?")
            assert holding(directory) == []
    assert holding(directory) == []


@pytest.mark.parametrize("step", [(IndexKeeper, "purge"), (Connections, "rebuild")])
def test_an_erasure_that_a_kill_cut_off_is_finished_at_the_next_opening(
    tmp_path, monkeypatch, step: tuple[type, str]
):
    directory = tmp_path / "store"
    with filled(directory) as memory:
        memory.forget(user_id=USER, query="xylophobia")

        def killed(_: Any) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(*step, killed)
            with pytest.raises(KeyboardInterrupt):
                memory.jobs.run(["compact"])
        assert holding(directory) != []
    with SemanticMemory.open(directory, embedder=HashEmbedder(), clock=FrozenClock(NOW)):
        assert holding(directory) == []


def test_an_erasure_that_a_reader_holds_up_says_so_and_can_be_repeated(tmp_path, monkeypatch):
    monkeypatch.setattr("semantic_memory.ledger.sqlite.database.BUSY_SECONDS", 0.0)
    directory = tmp_path / "store"
    with filled(directory) as memory:
        with closing(sqlite3.connect(directory / "ledger.sqlite3")) as reader:
            reader.execute("BEGIN")  # no verb reads for so long
            reader.execute("SELECT count(*) FROM facts").fetchone()
            with pytest.raises(StoreUnavailableError, match="erase them again"):
                memory.forget(user_id=USER, query="xylophobia", now=True)
            assert holding(directory) != []
        memory.jobs.run(["compact"])
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
    service.memory.jobs.run(["compact"])
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
    assert holding(prover.admin.settings.data_dir) == []
    receipt = proof.receipt
    assert receipt is not None
    assert (receipt.user_id, receipt.at, receipt.forgotten[:1]) == (USER, NOW, (fact.id,))
    assert receipt.searched["sessions" if "sessions" in receipt.searched else "ledger.sqlite3"]
    assert SECRET.decode() not in receipt.model_dump_json()
    assert prover.admin.verify_receipt(receipt).stands


def test_a_receipt_that_was_changed_or_is_of_another_store_is_not_genuine(prover, tmp_path):
    prover.add("Takes pills for xylophobia", user_id=USER)
    proof = prover.forget(user_id=USER, query="xylophobia", proof=True).proof
    assert proof is not None
    receipt = proof.receipt
    assert receipt is not None
    for change in ({"texts": 9}, {"forgotten": ()}, {"digest": "0" * 64}, {"user_id": "kim"}):
        assert not prover.admin.verify_receipt(receipt.model_copy(update=change)).issued
    with SemanticMemory.open(tmp_path / "other", embedder=HashEmbedder()) as other:
        assert not other.admin.verify_receipt(receipt).issued


def test_a_receipt_tells_what_is_back(prover: SemanticMemory):
    fact = prover.add("Takes pills for xylophobia", user_id=USER)
    kept = list(prover.transfer.export(user_id=USER))
    proof = prover.forget(user_id=USER, everything=True, proof=True).proof
    assert proof is not None
    assert proof.receipt is not None
    assert prover.admin.verify_receipt(proof.receipt.model_dump(mode="json")).stands
    prover.transfer.load(kept, user_id=USER)
    found = prover.admin.verify_receipt(proof.receipt)
    assert (found.issued, found.stands) == (True, found.back != (fact.id,))


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
        (prover.admin.settings.data_dir / name).write_bytes(remains)
    proof = prover.forget(user_id=USER, everything=True, proof=True).proof
    assert proof is not None
    assert {trace.file for trace in proof.found if trace.stretches} == REMAINS.keys()


def test_a_proof_finds_short_texts_and_single_words(prover: SemanticMemory):
    prover.add("Has gout", user_id=USER)
    prover.add("Fears xylophones", user_id=USER)
    (prover.admin.settings.data_dir / "sessions").mkdir(exist_ok=True)
    (prover.admin.settings.data_dir / "sessions" / "a").write_text("She has gout, they say")
    (prover.admin.settings.data_dir / "sessions" / "b").write_text("xylophones|forest")
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


def test_the_command_verifies_a_receipt_that_it_printed(tmp_path: Path):
    store = ["--data-dir", str(tmp_path / "store")]
    with SemanticMemory.open(tmp_path / "store") as memory:
        memory.add("Has xylophobia", user_id=USER)
        memory.add("Has a cat", user_id=USER)
    forget = ["forget", "-u", USER, "--entity", "xylophobia", "--proof", "--yes", "--json", *store]
    receipt = tmp_path / "receipt.json"
    receipt.write_text(CliRunner().invoke(app, forget).stdout)
    assert SECRET not in receipt.read_bytes()
    verified = CliRunner().invoke(app, ["admin", "verify-receipt", str(receipt), *store])
    assert "still forgotten" in verified.output
    receipt.write_text(receipt.read_text().replace('"texts": 1', '"texts": 2'))
    changed = CliRunner().invoke(app, ["admin", "verify-receipt", str(receipt), *store])
    assert (changed.exit_code, "not issued by this store" in changed.output) == (1, True)
