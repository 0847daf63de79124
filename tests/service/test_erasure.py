"""After forgetting and compaction no file of the data directory holds a byte of the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from semantic_memory import Message, SemanticMemory
from semantic_memory.domain.extraction import Candidate, Extraction, HistoryLine
from semantic_memory.settings import IndexSettings, Settings
from semantic_memory.testing import FrozenClock, HashEmbedder
from tests.service.conftest import NOW, Served

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


@pytest.mark.timeout(300)
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
