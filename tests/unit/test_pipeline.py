"""Failures in the background: they stay apart, and nothing is lost."""

import shutil
import threading
import time
from datetime import timedelta

import numpy as np
import pytest

from semantic_memory import Candidate, repair
from semantic_memory.domain.changes import Keyed
from semantic_memory.domain.errors import (
    InputRefusedError,
    ProviderError,
    StoreUnavailableError,
)
from semantic_memory.domain.events import (
    EmbeddingFailed,
    EmbeddingRefused,
    FactsExtracted,
    WorkerFailed,
)
from semantic_memory.settings import IngestSettings, Settings
from semantic_memory.testing import HashEmbedder, ScriptedExtractor
from tests.conftest import NOW, eventually, say
from tests.support.inside import inside

U = {"user_id": "u1"}
S = {"user_id": "u1", "session_id": "s1"}
UNATTENDED = Settings(ingest=IngestSettings(background=False))
AT_ONCE = Settings(ingest=IngestSettings(quiet_seconds=0.05, retry_seconds=0.05))


class Moody(HashEmbedder):
    """Embedder that fails while set to, and refuses texts with a word."""

    down = False
    refuses = "poison"

    def embed(self, texts, input_type):
        if self.down:
            raise ProviderError("the endpoint is down")
        if any(self.refuses in text for text in texts):
            raise InputRefusedError("the endpoint refuses a text")
        return super().embed(texts, input_type)


def remark(messages):
    return [
        Candidate(
            content=f"Said {m.content}", category="finding", confidence=1, message_ids=(m.id,)
        )
        for m in messages
    ]


def facts(memory):
    return [fact.content for fact in memory.list(**U, filters={"categories": ["finding"]})]


def contents(memory, query):
    return [hit.fact.content for hit in memory.search(query, **U)]


def test_without_the_embedding_model_words_find_and_facts_are_extracted(open_memory, events):
    embedder = Moody()
    memory = open_memory(embedder=embedder, extractor=ScriptedExtractor(remark), settings=AT_ONCE)
    embedder.down = True
    memory.observe(say("The lake was cold"), **S)
    assert eventually(lambda: facts(memory) == ["Said The lake was cold"])
    assert contents(memory, "lake")
    fact = memory.add("Likes the lake", **U)
    assert fact.content in contents(memory, "likes lakes")
    assert memory.context("lake", **U).hits
    assert EmbeddingFailed("the endpoint is down") in events
    embedder.down = False
    assert eventually(lambda: memory.admin.stats().unembedded == 0)


def test_flush_does_what_it_can_and_says_what_failed(open_memory):
    embedder = Moody()
    memory = open_memory(embedder=embedder, extractor=ScriptedExtractor(remark))
    embedder.down = True
    memory.observe(say("One"), **S)
    with pytest.raises(ProviderError, match=r"the endpoint is down.*all messages are kept"):
        memory.flush()
    assert contents(memory, "said one")[0] in ("One", "Said One")
    embedder.down = False
    memory.flush()
    assert memory.admin.stats().unembedded == 0


def test_flush_reads_the_other_sessions_when_one_fails(open_memory):
    def script(messages):
        if messages[0].content == "Bad":
            raise KeyError("a mistake of the extractor's own")
        return remark(messages)

    memory = open_memory(extractor=ScriptedExtractor(script))
    memory.observe(say("Bad"), user_id="u1", session_id="s1")
    memory.observe(say("Good"), user_id="u1", session_id="s2")
    with pytest.raises(ProviderError, match="a mistake of the extractor's own"):
        memory.flush()
    assert facts(memory) == ["Said Good"]
    assert contents(memory, "bad")[0] == "Bad"


def test_a_text_that_the_model_refuses_holds_up_no_other(open_memory, events):
    memory = open_memory(embedder=Moody(), extractor=ScriptedExtractor(lambda _: []))
    memory.observe(say("One", "poison", "Three", "Four"), **S)
    memory.flush()
    assert memory.admin.stats().unembedded == 0
    refused = [event for event in events if isinstance(event, EmbeddingRefused)]
    assert [len(event.fact_ids) for event in refused] == [1]
    assert contents(memory, "poison")[0] == "poison"  # by its words


@pytest.mark.parametrize("spoil", [np.nan, np.inf, 0.0])
def test_vectors_that_are_no_directions_are_put_aside(open_memory, events, spoil):
    class Spoilt(HashEmbedder):
        def embed(self, texts, input_type):
            rows = super().embed(texts, input_type)
            rows[[number for number, text in enumerate(texts) if "bad" in text]] = spoil
            return rows

    memory = open_memory(embedder=Spoilt())
    memory.observe(say("Something bad", "Something good"), **S)
    memory.flush()
    assert [event for event in events if isinstance(event, EmbeddingRefused)]
    assert set(contents(memory, "something")) == {"Something bad", "Something good"}
    assert contents(memory, "bad")[0] == "Something bad"


def test_messages_that_were_never_said_are_no_sources(open_memory, events):
    def script(messages):
        return [
            Candidate(content="Real", category="finding", confidence=1, message_ids=("x", "m1")),
            Candidate(content="Made up", category="finding", confidence=1, message_ids=("x",)),
        ]

    memory = open_memory(extractor=ScriptedExtractor(script))
    memory.observe(say("One"), **S)
    memory.flush()
    (fact,) = memory.list(**U, filters={"categories": ["finding"]})
    assert (fact.content, fact.source.message_ids) == ("Real", ("m1",))
    (event,) = [event for event in events if isinstance(event, FactsExtracted)]
    assert event.refused == {"unknown message": 1}


def test_a_ledger_older_than_the_logs_takes_in_what_it_lacks(open_memory, tmp_path):
    memory = open_memory()
    memory.observe(say("One"), **S)
    memory.flush()
    memory.close()
    shutil.copy(tmp_path / "store/ledger.sqlite3", tmp_path / "backup")
    memory = open_memory()
    memory.observe(say("Two", start=2), **S)
    memory.flush()
    memory.close()
    shutil.copy(tmp_path / "backup", tmp_path / "store/ledger.sqlite3")
    repair.recover(tmp_path / "store", embedder=HashEmbedder())
    memory = open_memory()
    assert set(contents(memory, "one two")) == {"One", "Two"}
    assert all(finding.ok for finding in memory.admin.check() if finding.check == "messages")


def test_a_log_that_was_replaced_is_read_again(open_memory, tmp_path):
    memory = open_memory()
    memory.observe(say("One", "Two"), **S)
    memory.flush()
    memory.close()
    (log,) = (tmp_path / "store/sessions").rglob("*.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:2]))
    memory = open_memory()
    memory.observe(say("Three", start=3), **S)
    memory.flush()
    assert set(contents(memory, "one two three")) == {"One", "Two", "Three"}


def test_closing_does_not_wait_for_the_backlog(open_memory):
    class Slow(HashEmbedder):
        def embed(self, texts, input_type):
            started.append(len(texts))
            begun.set()
            go_on.wait(timeout=120)
            return super().embed(texts, input_type)

    started: list[int] = []
    begun, go_on = threading.Event(), threading.Event()
    memory = open_memory(
        embedder=Slow(), settings=Settings(ingest=IngestSettings(quiet_seconds=99))
    )
    memory.observe(say(*(f"Message {n}" for n in range(500))), **S)
    assert begun.wait(timeout=120)
    closing = threading.Thread(target=memory.close)
    closing.start()
    time.sleep(0.1)
    go_on.set()
    closing.join(timeout=120)
    assert sum(started) < 500
    again = open_memory()
    again.flush()
    assert again.admin.stats().unembedded == 0


def test_what_is_said_while_a_model_is_thinking_is_found_at_once(open_memory):
    thinking, done = threading.Event(), threading.Event()

    def think(messages):
        thinking.set()
        done.wait(timeout=120)
        return remark(messages)

    memory = open_memory(extractor=ScriptedExtractor(think), settings=AT_ONCE)
    memory.observe(say("One"), **S)
    assert thinking.wait(timeout=60)
    memory.observe(say("The lake was cold", start=2), **S)
    assert eventually(lambda: "The lake was cold" in contents(memory, "lake"))
    assert facts(memory) == []
    done.set()
    assert eventually(lambda: "Said One" in facts(memory))


def test_forgetting_a_user_reaches_what_was_said_a_moment_ago(open_memory):
    memory = open_memory(settings=UNATTENDED)  # so that nothing is stored yet
    memory.observe(say("One", "Two"), **S)
    assert memory.forget(**U, everything=True) == 2
    memory.flush()
    assert memory.list(**U) == []
    memory.close()
    memory = open_memory()
    memory.flush()
    assert (memory.list(**U), memory.admin.stats().log_bytes) == ([], 0)


def test_what_is_forgotten_before_it_was_read_is_never_read(open_memory):
    extractor = ScriptedExtractor(remark)
    memory = open_memory(extractor=extractor)
    memory.observe(say("Maya is pregnant"), **S)
    assert memory.forget(**U, since=NOW - timedelta(days=1)) == 1
    memory.observe(say("Maya moved", "Maya sings", start=2), **S)
    assert eventually(lambda: memory.admin.stats().memories == 2)
    (sings,) = [one for one in memory.list(**U) if one.content == "Maya sings"]
    memory.delete(sings.id)
    memory.flush()
    assert [[said.content for said in call] for call in extractor.calls] == [["Maya moved"]]
    assert facts(memory) == ["Said Maya moved"]


def test_forgetting_a_time_reaches_what_was_said_a_moment_ago(open_memory):
    memory = open_memory(settings=UNATTENDED)  # so that nothing is stored yet
    memory.observe(say("I like tea"), **S)
    assert memory.forget(**U, since=NOW - timedelta(days=1)) == 1
    memory.flush()
    assert memory.list(**U) == []


def test_what_is_forgotten_while_it_is_read_is_not_learnt(open_memory, events):
    def forgets(messages):
        for fact in memory.list(**U):
            if fact.content == "Maya is pregnant":  # its log is written anew, and read again
                memory.delete(fact.id)
        return remark(messages)

    memory = open_memory(extractor=ScriptedExtractor(forgets))
    memory.observe(say("Maya is pregnant", "Maya moved"), **S)
    memory.flush()
    assert facts(memory) == ["Said Maya moved"]
    (told,) = [event for event in events if isinstance(event, FactsExtracted)]
    assert (told.admitted, told.refused) == (1, {})


def test_a_slow_model_keeps_nobody_from_configuring_or_forgetting_a_session(open_memory):
    thinking, done = threading.Event(), threading.Event()

    def think(messages):
        thinking.set()
        done.wait(timeout=60)
        return remark(messages)

    memory = open_memory(extractor=ScriptedExtractor(think), settings=AT_ONCE)
    for number in range(5):
        memory.observe(say(f"Session {number}"), user_id="u1", session_id=f"s{number}")
    memory.observe(say("Mine"), user_id="u2", session_id="s1")
    assert thinking.wait(timeout=120)
    memory.sessions.configure(user_id="u2", session_id="s1", fades=False)
    memory.sessions.configure(user_id="u1", session_id="s0", fades=False)  # the one being read
    assert memory.forget(user_id="u2", session_id="s1") == 1
    assert memory.forget(user_id="u1", session_id="s4") == 1
    assert not done.is_set()  # none of it waited for the model
    done.set()
    memory.flush()
    assert sorted(facts(memory)) == [f"Said Session {number}" for number in range(4)]
    assert memory.list(user_id="u2") == []


def test_a_session_forgotten_while_the_model_thinks_leaves_nothing(open_memory):
    def forgets(messages):
        if messages[0].content == "A secret":
            memory.forget(**S)
        return remark(messages)

    memory = open_memory(extractor=ScriptedExtractor(forgets))
    memory.observe(say("A secret", "Another secret"), **S)
    memory.flush()
    assert memory.list(**U) == []
    memory.observe(say("Something new", start=3), **S)
    memory.flush()
    assert facts(memory) == ["Said Something new"]


def test_what_is_said_while_extraction_is_turned_off_meanwhile_is_not_learnt(open_memory):
    def turns_off(messages):
        memory.sessions.configure(**S, extract=False)
        return remark(messages)

    memory = open_memory(extractor=ScriptedExtractor(turns_off))
    memory.observe(say("One"), **S)
    memory.flush()
    assert facts(memory) == []
    memory.sessions.configure(**S, extract=True)
    memory.flush()
    assert facts(memory) == []


def test_flush_settles_what_the_background_could_not(open_memory, clock, monkeypatch):
    """A ledger that refuses once, when facts are being settled, leaves them pending."""
    memory = open_memory(settings=UNATTENDED)
    memory.add("I live in Berlin", **U)
    clock.advance(days=30)
    memory.add("I live in Oslo", **U)
    refuse_once(monkeypatch, memory, Keyed)
    with pytest.raises(StoreUnavailableError):
        memory.flush()
    memory.flush()
    assert [fact.content for fact in memory.list(**U)] == ["I live in Oslo"]


def test_the_background_settles_what_it_could_not_at_first(open_memory, clock, events, monkeypatch):
    memory = open_memory()
    refuse_once(monkeypatch, memory, Keyed)
    memory.add("I live in Berlin", **U)
    clock.advance(days=30)
    memory.add("I live in Oslo", **U)
    assert eventually(lambda: [fact.content for fact in memory.list(**U)] == ["I live in Oslo"])
    assert [event.step for event in events if isinstance(event, WorkerFailed)] == ["consolidate"]


def refuse_once(monkeypatch: pytest.MonkeyPatch, memory, kind: type) -> None:
    """Have the ledger refuse the first transaction with a change of this kind."""
    ledger = inside(memory).ledger
    apply = ledger.apply
    refused: list[object] = []

    def refusing(changes):
        if not refused and any(isinstance(change, kind) for change in changes):
            refused.append(changes)
            raise StoreUnavailableError("the disk is full")
        return apply(changes)

    monkeypatch.setattr(ledger, "apply", refusing)
