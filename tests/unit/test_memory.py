"""The facade, without model and Chroma."""

import dataclasses
import os
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from semantic_memory import Candidate, Category, Message, SemanticMemory, Status, repair
from semantic_memory.domain.changes import Forget
from semantic_memory.domain.errors import (
    EmbedderMismatchError,
    InvalidInputError,
    NotFoundError,
    ProviderError,
    StoreClosedError,
    StoreLockedError,
)
from semantic_memory.domain.events import Event, ExtractionFailed, FactsExtracted, MessagesObserved
from semantic_memory.domain.reports import Finding
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.settings import IngestSettings, Settings
from semantic_memory.testing import HashEmbedder, ScriptedExtractor
from tests.conftest import NOW, eventually, say

U = {"user_id": "u1"}
S = {"user_id": "u1", "session_id": "s1"}


def contents(facts) -> list[str]:
    return [fact.content for fact in facts]


def found(memory, query, **options) -> list[str]:
    return [hit.fact.content for hit in memory.search(query, **{**U, **options})]


# ---------------------------------------------------------------- taking in


def test_what_is_observed_is_found_and_points_to_its_message(memory):
    receipt = memory.observe(say("I painted a sunrise", name="Maya"), **S)
    assert (receipt.accepted, receipt.duplicates, receipt.session_id) == (1, 0, "s1")
    memory.flush()
    (hit,) = memory.search("sunrise", **U)
    assert hit.fact.source.message_ids == ("m1",)
    assert hit.fact.source.session_id == "s1"
    assert hit.fact.created_at == NOW


def test_messages_are_found_without_a_flush(memory):
    memory.observe(say("The talk is on Tuesday"), **S)
    assert eventually(lambda: found(memory, "talk") == ["The talk is on Tuesday"])


def test_observing_again_doubles_nothing(memory):
    memory.observe(say("One thing", "Another thing"), **S)
    assert memory.observe(say("One thing", "Another thing"), **S).duplicates == 2
    memory.flush()
    assert len(memory.list(**U)) == 2


def test_facts_are_extracted_and_a_fact_hides_its_message(memory):
    memory.observe(say("I prefer tea over coffee in the morning.", name="Maya"), **S)
    memory.flush()
    categories = {fact.category for fact in memory.list(**U)}
    assert categories == {Category.CONVERSATION, Category.PREFERENCE}
    assert len(memory.search("tea", **U)) == 1


def test_only_extracted_facts_pass_the_gate(open_memory):
    def script(messages):
        return [
            Candidate(
                content=f"Sure {m.id}", category="personal", confidence=0.9, message_ids=(m.id,)
            )
            for m in messages
        ] + [Candidate(content="Unsure", category="personal", confidence=0.5, message_ids=("m1",))]

    events: list[Event] = []
    memory = open_memory(extractor=ScriptedExtractor(script), observer=events.append)
    memory.observe(say("a b c", "d e f"), **S)
    memory.flush()
    facts = memory.list(**U, filters={"categories": ["personal"]})
    assert sorted(contents(facts)) == ["Sure m1", "Sure m2"]
    assert facts[0].source.extractor == "scripted"
    (extracted,) = [event for event in events if isinstance(event, FactsExtracted)]
    assert (extracted.messages, extracted.admitted, extracted.refused) == (2, 2, {"confidence": 1})


def test_the_same_said_twice_is_one_fact_with_both_sources(memory, clock):
    memory.observe(say("I prefer tea over coffee."), **S)
    memory.flush()
    (once,) = memory.list(**U, filters={"categories": ["preference"]})
    clock.advance(days=3)
    memory.observe(say("I prefer tea over coffee!"), user_id="u1", session_id="s2")
    memory.flush()
    (fact,) = memory.list(**U, filters={"categories": ["preference"]})
    assert [source.session_id for source in fact.corroborations] == ["s2"]
    assert fact.confirmed_at == NOW + timedelta(days=3)
    assert fact.created_at == NOW
    assert fact.confidence == pytest.approx(once.confidence + 0.02)
    assert [version.action for version in memory.history.versions(fact.id)] == [
        "added",
        "confirmed",
    ]


def test_extraction_waits_for_quiet(open_memory):
    extractor = ScriptedExtractor(lambda messages: [])
    settings = Settings(ingest=IngestSettings(quiet_seconds=0.3))
    memory = open_memory(extractor=extractor, settings=settings)
    for number in range(1, 6):
        memory.observe(say(f"Message {number}", start=number), **S)
    assert eventually(lambda: bool(extractor.calls))
    assert [len(call) for call in extractor.calls] == [5]


def test_a_failed_extraction_is_told_and_tried_again(open_memory, events):
    class Failing(ScriptedExtractor):
        def extract(self, messages, known):
            extraction = super().extract(messages, known)
            if len(self.calls) < 3:
                raise ProviderError("the endpoint is down")
            return extraction

    extractor = Failing(
        lambda messages: [
            Candidate(content="At last", category="personal", confidence=1, message_ids=("m1",))
        ]
    )
    settings = Settings(ingest=IngestSettings(quiet_seconds=0.05, retry_seconds=0.05))
    memory = open_memory(extractor=extractor, settings=settings)
    memory.observe(say("Something"), **S)
    assert eventually(lambda: found(memory, "at last")[:1] == ["At last"])
    failures = [event for event in events if isinstance(event, ExtractionFailed)]
    assert [event.error for event in failures] == ["ProviderError: the endpoint is down"] * 2


def test_what_was_not_extracted_is_taken_up_at_the_next_opening(open_memory):
    memory = open_memory()
    memory.observe(say("I prefer tea over coffee."), **S)
    memory.close()
    memory = open_memory()
    assert contents(memory.list(**U)) == ["I prefer tea over coffee."]
    memory.flush()
    assert len(memory.list(**U)) == 2


def test_an_observer_is_told_without_the_text(memory, events):
    memory.observe(say("A secret"), **S)
    memory.flush()
    assert any(isinstance(event, MessagesObserved) and event.accepted == 1 for event in events)
    assert "secret" not in " ".join(map(str, map(dataclasses.asdict, events)))


def test_what_was_observed_is_found_at_once(memory):
    memory.observe(say("My sister lives in Bergen"), **S)
    (hit,) = memory.search("sister Bergen", **U)
    assert hit.fact.content == "My sister lives in Bergen"
    memory.observe(say("Her boat is called Heron"), **U, session_id="s2")
    assert "Heron" in memory.context("sister Bergen boat Heron", **U).text


# ---------------------------------------------------------------- adding and changing


def test_an_added_fact_is_found_at_once(memory):
    fact = memory.add("Prefers Python over Java", **U, category="preference", confidence=0.95)
    assert memory.search("which language: python or java?", **U)[0].fact == fact
    assert fact.confidence == 0.95
    assert fact.status is Status.ACTIVE


def test_adding_the_same_again_confirms_it(memory, clock):
    first = memory.add("Prefers Python", **U, confidence=0.8, tags=["a"])
    at_once = memory.add("Prefers Python", **U, confidence=0.8)
    assert (at_once.id, at_once.confidence) == (first.id, 0.8)  # a retry confirms nothing
    clock.advance(hours=24)
    again = memory.add(
        "prefers  python.",
        **U,
        confidence=0.9,
        importance=0.7,
        tags=["b"],
        references=["ref"],
        metadata={"x": 1},
    )
    assert again.id == first.id
    assert again.confidence == pytest.approx(0.92)
    assert again.tags == ("a", "b")
    assert (again.importance, again.references, again.metadata) == (0.7, ("ref",), {"x": 1})
    assert again.confirmed_at == clock.now()
    assert len(memory.list(**U)) == 1


def test_a_deleted_fact_is_gone_and_may_be_said_anew(memory):
    fact = memory.add("Prefers Python", **U)
    memory.delete(fact.id, reason="changed my mind")
    assert found(memory, "python") == []
    assert memory.list(**U) == []
    with pytest.raises(NotFoundError):
        memory.get(fact.id)
    memory.delete(fact.id, reason="sent again")
    assert memory.history.versions(fact.id)[-1].reason == "changed my mind"
    assert memory.add("Prefers Python", **U).id != fact.id


def test_a_deleted_message_does_not_come_back_with_its_session(open_memory):
    memory = open_memory()
    memory.observe(say("I live in Oslo now with my cat."), **S)
    memory.flush()
    (message,) = memory.list(**U, filters={"categories": ["conversation"]})
    memory.delete(message.id)
    assert memory.list(**U) == []
    memory.close()
    memory = open_memory()
    memory.observe(say("I live in Oslo now with my cat."), **S)
    memory.flush()
    assert memory.list(**U) == []


def test_an_update_is_found_by_its_new_words_and_keeps_its_history(memory):
    fact = memory.add("Lives in Oslo", **U)
    changed = memory.update(fact.id, content="Lives in Berlin", tags=["home"], reason="moved")
    assert (changed.content, changed.tags, changed.category) == (
        "Lives in Berlin",
        ("home",),
        fact.category,
    )
    memory.flush()
    assert found(memory, "berlin") == ["Lives in Berlin"]
    assert [v.fact.content for v in memory.history.versions(fact.id)] == [
        "Lives in Oslo",
        "Lives in Berlin",
    ]


def test_an_update_that_changes_nothing_is_no_version(memory):
    fact = memory.add("Lives in Oslo", **U)
    memory.update(fact.id, content="Lives in Oslo")
    assert len(memory.history.versions(fact.id)) == 1


# ---------------------------------------------------------------- asking


def test_users_never_find_each_others_memories(memory):
    memory.add("Likes tea", user_id="u1")
    memory.add("Likes tea", user_id="u2")
    for user in ("u1", "u2"):
        hits = memory.search("tea", user_id=user)
        assert [hit.fact.user_id for hit in hits] == [user]
    assert memory.search("tea", user_id="u3") == []
    assert memory.context("tea", user_id="u3").text == ""


def test_filters_narrow_a_search(memory):
    memory.add("Likes green tea", **U, category="preference", tags=["drink.tea"], confidence=0.9)
    memory.add("Tea is stored in the kitchen", **U, category="reference", confidence=0.4)
    assert found(memory, "tea", filters={"categories": ["reference"]}) == [
        "Tea is stored in the kitchen"
    ]
    assert found(memory, "tea", filters={"tags": ["drink"]}) == ["Likes green tea"]
    assert found(memory, "tea", filters={"min_confidence": 0.5}) == ["Likes green tea"]
    assert found(memory, "tea", filters={"since": NOW + timedelta(days=1)}) == []
    assert found(memory, "tea", as_of=NOW - timedelta(days=1)) == []


def test_as_of_asks_for_what_was_believed_then(memory, clock):
    fact = memory.add("Lives in Oslo", **U)
    clock.advance(days=10)
    assert found(memory, "lives", as_of=NOW + timedelta(days=5)) == ["Lives in Oslo"]
    assert memory.get(fact.id).valid_to is None


def test_the_answer_is_found_through_its_question(memory):
    said = ("What is your favourite dish?", "Ramen, always.", "And the weather?", "Rainy.")
    for number, text in enumerate(said, start=1):
        memory.observe(say(text, start=number, name="AB"[number % 2]), **S)
    memory.flush()
    first, *others = found(memory, "favourite dish")
    assert "Ramen, always" in first
    assert not any("dish" in one for one in others)


def test_a_hit_says_why(memory):
    memory.add("Likes tea", **U, confidence=0.5)
    (hit,) = memory.search("tea", **U)
    parts = hit.parts
    assert parts.lexical > 0
    assert parts.relevance == pytest.approx(
        parts.importance * 0.5 * parts.retention * parts.recency * parts.standing
    )
    assert hit.score <= parts.match


def test_context_stays_within_its_budget_and_tells_what_is_left_out(memory):
    for number in range(40):
        kind = "".join("abcdefghij"[int(digit)] for digit in f"{number:02}")
        memory.add(f"Likes tea of the kind {kind * 3} from the shop", **U, category="reference")
    context = memory.context("tea", **U, budget=200)
    assert 0 < context.tokens <= 200
    assert {one.reason for one in context.left_out} <= {"budget", "weak", "repeats"}
    assert 0 < len(context.left_out) <= 20
    assert context.text.startswith("<memory>")


# ---------------------------------------------------------------- wrong input


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: m.add("", **U), "content is empty"),
        (lambda m: m.add("x\x00", **U), "NUL character"),
        (lambda m: m.add("\ud800", **U), "lone surrogate"),
        (lambda m: m.add("x" * 1_000_001, **U), "1,000,001 bytes; the limit is 1,000,000"),
        (lambda m: m.add("x", user_id="a b"), "user_id"),
        (lambda m: m.add("x", **U, category="mood"), "category.*got 'mood'"),
        (lambda m: m.add("x", **U, confidence=float("nan")), "confidence"),
        (lambda m: m.add("x", **U, tags=["a b"]), "tag 'a b'"),
        (lambda m: m.observe(say("x"), user_id="u1", session_id="../x"), "session_id"),
        (lambda m: m.search("", **U), "query is empty"),
        (lambda m: m.search("x\x00", **U), "NUL"),
        (lambda m: m.search("x", **U, k=0), "k must be 1 to 1,000"),
        (lambda m: m.search("x", **U, filters={"colour": 1}), "unknown key 'colour'"),
        (lambda m: m.context("x", **U, budget=0), "budget must be at least 1"),
        (lambda m: m.list(**U, limit=0), "limit must be at least 1"),
        (lambda m: m.update(m.add("x", **U).id, category="mood"), "category.*got 'mood'"),
        (lambda m: m.update(m.add("x", **U).id, content=""), "content is empty"),
    ],
)  # fmt: skip
def test_wrong_input_is_named_and_nothing_is_written(memory, call, words):
    with pytest.raises(InvalidInputError, match=words):
        call(memory)
    assert contents(memory.list(**U)) in ([], ["x"])


def test_unknown_ids_are_not_found(memory):
    for call in (memory.get, memory.delete, memory.history.versions):
        with pytest.raises(NotFoundError, match="'nothing'"):
            call("nothing")


# ---------------------------------------------------------------- opening and closing


def test_a_second_opening_names_the_owner(open_memory):
    open_memory()
    import os

    with pytest.raises(StoreLockedError, match=str(os.getpid())):
        open_memory()


def test_everything_is_there_after_reopening(open_memory):
    memory = open_memory()
    fact = memory.add("Likes tea", **U)
    memory.close()
    memory = open_memory()
    assert memory.get(fact.id) == fact
    assert found(memory, "tea") == ["Likes tea"]


def test_a_closed_memory_says_so(open_memory):
    memory = open_memory()
    memory.close()
    memory.close()
    for call in (
        lambda: memory.add("x", **U),
        lambda: memory.search("x", **U),
        lambda: memory.observe(say("x"), **S),
        lambda: memory.flush(),
    ):
        with pytest.raises(StoreClosedError):
            call()


def test_another_embedder_is_refused_and_reembedding_accepts_it(open_memory, tmp_path):
    memory = open_memory()
    memory.add("Likes tea", **U)
    memory.close()
    with pytest.raises(EmbedderMismatchError, match="semantic-memory admin reembed"):
        open_memory(embedder=HashEmbedder(32))
    other = HashEmbedder(32)
    assert repair.reembed(tmp_path / "store", embedder=other) == 1
    memory = open_memory(embedder=other)
    assert found(memory, "tea") == ["Likes tea"]
    assert memory.admin.check()[3].ok


class Down(HashEmbedder):
    """Embeds queries alone while it is down."""

    down = True

    def embed(self, texts, input_type):
        if self.down and input_type == "document":
            raise ProviderError("no route")
        return super().embed(texts, input_type)


def test_a_provider_that_is_down_delays_meaning_and_loses_nothing(open_memory):
    embedder = Down()
    memory = open_memory(embedder=embedder)
    memory.add("Likes tea", **U)
    assert found(memory, "tea") == ["Likes tea"]
    assert memory.admin.stats().unembedded == 1
    embedder.down = False
    memory.flush()
    assert memory.admin.stats().unembedded == 0


def test_what_was_just_written_ranks_by_its_words_until_it_is_embedded(open_memory):
    embedder = Down()
    embedder.down = False
    memory = open_memory(embedder=embedder)
    for tea in ("green", "white", "red"):
        memory.add(f"Drinks {tea} tea for breakfast at work", **U)
    memory.flush()
    embedder.down = True
    memory.add("Assam tea for breakfast", **U)
    first, *_ = memory.search("Assam tea for breakfast", **U)
    assert "Assam" in first.fact.content
    assert first.parts.dense == first.parts.lexical


def test_a_sound_store_passes_every_check(memory):
    memory.observe(say("I prefer tea over coffee."), **S)
    memory.flush()
    assert [(finding.check, finding.ok) for finding in memory.admin.check()] == [
        ("directory", True),
        ("owner", True),
        ("encryption", True),
        ("ledger", True),
        ("session logs", True),
        ("messages", True),
        ("dates", True),
        ("embeddings", True),
        ("items", True),
        ("index", True),
        ("languages", True),
    ]


def first_log(store: Path) -> Path:
    """Return the only session log of a store."""
    (path,) = store.glob("sessions/*/*.jsonl")
    return path


def session_logs(memory: SemanticMemory) -> Finding:
    (finding,) = (finding for finding in memory.admin.check() if finding.check == "session logs")
    return finding


@pytest.mark.parametrize("kept", [0, 1, 20], ids=["empty", "a byte", "half a line"])
def test_a_first_write_that_was_cut_off_lost_nothing(open_memory, tmp_path, kept):
    """It wasn't acknowledged."""
    memory = open_memory()
    memory.observe(say("I prefer tea over coffee."), **S)
    memory.close()
    path = first_log(tmp_path / "store")
    path.write_bytes(path.read_bytes()[:kept])
    finding = session_logs(open_memory())
    assert finding.ok
    assert finding.detail == "sound, 0 messages in 0 sessions"


@pytest.mark.parametrize("header", [b"", b"nonsense\n"], ids=["missing", "unreadable"])
def test_a_log_whose_session_is_unknown_is_reported(open_memory, tmp_path, header):
    memory = open_memory()
    memory.observe(say("I prefer tea over coffee."), **S)
    memory.close()
    path = first_log(tmp_path / "store")
    _, message = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(header + message)
    finding = session_logs(open_memory())
    assert not finding.ok
    assert "1 files of unknown sessions" in finding.detail


def test_stats_count(memory):
    memory.add("Likes tea", **U, category="preference")
    memory.observe([Message(role="user", content="Hello there")], **S)
    memory.flush()
    stats = memory.admin.stats()
    assert (stats.users, stats.sessions, stats.memories) == (1, 1, 2)
    assert stats.by_category_and_status == {"conversation/active": 1, "preference/active": 1}
    assert memory.admin.users() == ["u1"]


def test_a_replaced_content_answers_what_was_believed_before(memory, clock):
    fact = memory.add("Lives in Bergen", **U)
    clock.advance(days=10)
    moved = memory.update(fact.id, content="Lives in Oslo", reason="moved")
    assert (moved.id, moved.valid_from) == (fact.id, clock.now())
    assert found(memory, "lives") == ["Lives in Oslo"]
    then = clock.now() - timedelta(days=1)
    (before,) = memory.search("lives", **U, as_of=then)
    assert before.fact.content == "Lives in Bergen"
    assert before.fact.superseded_by == fact.id
    assert before.parts.dense > 0.5  # it kept its vectors
    assert memory.context("lives", **U, as_of=then).hits[0].fact.content == "Lives in Bergen"
    assert [version.fact.content for version in memory.history.versions(fact.id)] == [
        "Lives in Bergen",
        "Lives in Oslo",
    ]


def test_a_memory_can_be_asked_for_as_one_users(memory):
    fact = memory.add("Lives in Bergen", **U)
    assert memory.get(fact.id, user_id="u1") == fact
    for call in (
        lambda: memory.get(fact.id, user_id="u2"),
        lambda: memory.update(fact.id, user_id="u2", content="Lives in Oslo"),
        lambda: memory.delete(fact.id, user_id="u2"),
        lambda: memory.history.versions(fact.id, user_id="u2"),
    ):
        with pytest.raises(NotFoundError):
            call()
    assert memory.get(fact.id) == fact


@pytest.mark.parametrize(
    ("when", "hours"),
    [(datetime.max.replace(tzinfo=UTC), -12), (datetime.min.replace(tzinfo=UTC), 12)],
)
def test_the_ends_of_time_are_no_traceback(memory, clock, when, hours):
    beyond = when.replace(tzinfo=timezone(timedelta(hours=hours)))
    with pytest.raises(InvalidInputError, match="outside the years 1 to 9999"):
        memory.add("x", **U, created_at=beyond)
    clock.moment = max(clock.moment, when)
    memory.add("At the end of time", **U, created_at=when)
    assert found(memory, "end of time") == ["At the end of time"]


def test_a_limit_beyond_all_bounds_lists_everything(memory):
    memory.add("x", **U)
    assert len(memory.list(**U, limit=10**30)) == 1


def test_files_that_vanish_while_they_are_counted_are_not_missed(memory, monkeypatch):
    """The index's files come and go in the background."""
    walk = os.walk

    def vanishing(directory):
        for folder, folders, names in walk(directory):
            yield folder, folders, [*names, "gone.bin"]
        yield str(directory / "gone"), [], ["too.bin"]

    monkeypatch.setattr("semantic_memory.application.place.os.walk", vanishing)
    memory.add("One thing", **U)
    assert memory.admin.stats().store_bytes > 10_000


def test_a_message_that_told_what_no_longer_holds_gives_way(open_memory, clock):
    memory = open_memory()
    for day, said in ((0, "I live in Oslo."), (40, "I live in Berlin now."), (41, "I like tea.")):
        clock.moment = NOW + timedelta(days=day)
        message = Message(role="user", content=said, created_at=clock.now())
        memory.observe([message], user_id="u1", session_id=f"s{day}")
    memory.flush()
    clock.moment = NOW + timedelta(days=60)

    def found(question):
        return {hit.fact.content: hit for hit in memory.search(question, user_id="u1", k=10)}

    now = found("Where do I live?")
    assert now["I live in Oslo."].parts.outdated > 0
    assert now["I live in Oslo."].score < now["I live in Berlin now."].score
    assert found("Where did I live in May 2026?")["I live in Oslo."].parts.outdated == 0
    (old,) = [
        fact for fact in memory.list(user_id="u1", status="superseded") if "Oslo" in fact.content
    ]
    memory.history.restore(old.id)
    assert found("Where do I live?")["I live in Oslo."].parts.outdated == 0


def test_an_update_returns_what_it_wrote_though_that_is_forgotten_at_once(memory, monkeypatch):
    fact = memory.add("Likes tea", user_id="u1")
    exclusive, forget = SqliteLedger.exclusive, [Forget(fact.id, NOW)]
    caller = threading.get_ident()

    @contextmanager
    def left(ledger, *users):
        with exclusive(ledger, *users):
            yield
        if threading.get_ident() == caller:  # and not the background
            monkeypatch.undo()
            ledger.apply(forget)

    monkeypatch.setattr(SqliteLedger, "exclusive", left)
    assert memory.update(fact.id, content="Likes coffee").content == "Likes coffee"
