"""Expiry by a time and by periods, pins, and the cap on a user's facts."""

from datetime import timedelta

import pytest

from semantic_memory import Category, Status
from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.extraction import Candidate
from semantic_memory.settings import RetentionSettings, Settings, UpkeepSettings
from semantic_memory.testing import ScriptedExtractor, ScriptedSentenceJudge
from tests.conftest import NOW, say

U = {"user_id": "u1"}
S = {"user_id": "u1", "session_id": "s1"}
TOMORROW = NOW + timedelta(days=1)


def contents(memory, **narrowed):
    return sorted(fact.content for fact in memory.list(**U, limit=None, **narrowed))


def kept_for(**periods):
    return Settings(retention=RetentionSettings(**periods))


def stating(said):
    return [
        Candidate(
            content=f"Maya says: {message.content}",
            category="technical",
            confidence=0.9,
            message_ids=(message.id,),
        )
        for message in said
    ]


# ---------------------------------------------------------------- a time of expiry


def test_an_expired_fact_is_in_no_answer_before_any_job_ran(memory, clock):
    fact = memory.add("The Wi-Fi is down for repair", **U, expires_at=TOMORROW, importance=0.9)
    assert memory.search("Wi-Fi repair", **U)
    assert "Wi-Fi" in memory.context("Wi-Fi repair", **U).text
    assert memory.profile.layout(**U).points
    clock.advance(days=1)
    assert memory.search("Wi-Fi repair", **U) == []
    assert memory.context("Wi-Fi repair", **U).text == ""
    assert memory.list(**U) == []
    assert memory.profile.layout(**U).points == ()
    assert memory.search("Wi-Fi repair", **U, as_of=NOW) == []
    for ask in (memory.get, memory.history.explain, memory.history.restore):
        with pytest.raises(NotFoundError):
            ask(fact.id)
    with pytest.raises(NotFoundError):
        memory.update(fact.id, content="The Wi-Fi works")
    assert [record["kind"] for record in memory.transfer.export(**U)] == ["export"]


def test_a_user_who_outgrew_ram_gets_no_expired_memory_either(open_memory, clock):
    memory = open_memory(settings=Settings(index={"exact_limit": 0}))
    memory.add("The Wi-Fi is down for repair", **U, expires_at=TOMORROW)
    memory.flush()
    assert memory.search("Wi-Fi repair", **U)
    clock.advance(days=1)
    assert memory.search("Wi-Fi repair", **U) == []


def test_a_profile_tells_nothing_that_rests_on_an_expired_fact(open_memory, clock):
    memory = open_memory(sentence_judge=ScriptedSentenceJudge(lambda _: {"slot": "job"}))
    memory.add("Works as a nurse in Bergen", **U, expires_at=TOMORROW)
    memory.flush()
    assert memory.profile.get(**U).profile.work
    clock.advance(days=1)
    assert memory.profile.get(**U).profile.work is None


def test_expiry_erases_with_a_tombstone(memory, clock):
    fact = memory.add("The Wi-Fi is down", **U, expires_at=TOMORROW)
    memory.update(fact.id, content="The Wi-Fi is down again")
    other = memory.add("Likes tea", **U)
    clock.advance(days=1)
    (dry,) = memory.jobs.run(["expiry"], dry_run=True)
    assert dry.counts == {"expired": 1}
    assert dry.planned == ("erase “The Wi-Fi is down again” (expired)",)
    assert memory.history.versions(fact.id)[-1].fact.status is Status.ACTIVE
    (run,) = memory.jobs.run(["expiry"])
    assert (run.counts, run.planned) == ({"expired": 1}, ())
    last = memory.history.versions(fact.id)[-1]
    assert (last.fact.status, last.reason, last.at) == (Status.FORGOTTEN, "expired", clock.now())
    assert memory.get(other.id).content == "Likes tea"
    assert memory.jobs.run(["expiry"])[0].counts == {}
    memory.jobs.run(["compact"])
    assert all("Wi-Fi" not in state.fact.content for state in memory.history.versions(fact.id))


def test_expiry_takes_the_states_before_updates_too(memory, clock):
    fact = memory.add("Lives in Oslo", **U)
    clock.advance(hours=1)
    memory.update(fact.id, content="Lives in Bergen", expires_at=clock.now() + timedelta(days=1))
    assert contents(memory, status="superseded") == ["Lives in Oslo"]
    clock.advance(days=1)
    memory.jobs.run(["expiry"])
    assert contents(memory, status="superseded") == []


def test_expiry_is_changed_and_lifted_by_update(memory, clock):
    fact = memory.add("Lives in Oslo", **U, expires_at=TOMORROW)
    later = TOMORROW + timedelta(days=1)
    assert memory.update(fact.id, expires_at=later).expires_at == later
    assert memory.update(fact.id, content="Lives in Bergen").expires_at == later
    assert memory.update(fact.id, expires_at="never").expires_at is None
    clock.advance(days=9)
    assert contents(memory) == ["Lives in Bergen"]
    with pytest.raises(InvalidInputError, match="expires_at"):
        memory.update(fact.id, expires_at="soon")


def test_a_fact_stated_again_after_its_expiry_is_a_new_one(memory, clock):
    old = memory.add("Lives in Oslo", **U, expires_at=TOMORROW, tags=["private"])
    clock.advance(days=2)
    new = memory.add("Lives in Oslo", **U)
    assert new.id != old.id
    assert new.tags == ()
    again = memory.add("Lives in Oslo", **U)
    assert again.id == new.id
    memory.jobs.run(["expiry"])
    assert [fact.id for fact in memory.list(**U)] == [new.id]


def test_a_fact_stated_again_expires_with_its_last_statement(memory):
    memory.add("Lives in Oslo", **U, expires_at=TOMORROW)
    later = TOMORROW + timedelta(days=1)
    assert memory.add("Lives in Oslo", **U, expires_at=later).expires_at == later
    assert memory.add("Lives in Oslo", **U, expires_at=TOMORROW).expires_at == later
    assert memory.add("Lives in Oslo", **U).expires_at is None


def test_duplicates_expire_with_the_last_of_them(memory, clock):
    memory.add("I use PostgreSQL for the billing database", **U, expires_at=TOMORROW)
    clock.advance(hours=2)
    later = TOMORROW + timedelta(days=1)
    memory.add("For the billing database I use PostgreSQL", **U, expires_at=later)
    memory.flush()
    (kept,) = memory.list(**U)
    assert kept.expires_at == later


def test_messages_expire_with_what_was_drawn_from_them(open_memory, clock):
    memory = open_memory(extractor=ScriptedExtractor(stating))
    memory.observe(say("The code word is heron", expires_at=TOMORROW), **S)
    memory.observe(say("Tea is fine", start=2), **S)
    memory.flush()
    assert len(memory.list(**U)) == 4
    clock.advance(days=1)
    assert contents(memory) == ["Maya says: Tea is fine", "Tea is fine"]
    assert [message.id for message in memory.sessions.messages(**S)] == ["m2"]
    assert memory.jobs.run(["expiry"])[0].counts == {"expired": 2}
    memory.jobs.run(["compact"])
    log = inside_log(memory)
    assert b"heron" not in log
    assert b"Tea is fine" in log


def inside_log(memory):
    (path,) = (memory.admin.settings.data_dir / "sessions").rglob("*.jsonl")
    return path.read_bytes()


def test_a_message_that_expired_is_not_extracted_any_more(open_memory, clock):
    extractor = ScriptedExtractor(stating)
    memory = open_memory(extractor=extractor, settings=Settings(ingest={"background": False}))
    memory.observe(say("The code word is heron", expires_at=TOMORROW), **S)
    clock.advance(days=1)
    memory.flush()
    assert extractor.calls == []
    assert contents(memory) == []


# ---------------------------------------------------------------- periods


def test_the_period_of_a_category_counts_from_the_last_statement(open_memory, clock):
    memory = open_memory(settings=kept_for(categories={"finding": 30}))
    memory.add("The cache is cold at night", **U, category="finding")
    memory.add("Likes tea", **U, category="preference")
    clock.advance(days=20)
    memory.add("The cache is cold at night", **U, category="finding")
    clock.advance(days=20)
    assert len(contents(memory)) == 2
    clock.advance(days=10)
    assert contents(memory) == ["Likes tea"]
    assert [hit.fact.content for hit in memory.search("cache", **U)] == ["Likes tea"]
    assert memory.jobs.run(["expiry"])[0].counts == {"expired": 1}


def test_the_shortest_period_counts_unless_a_fact_is_pinned(open_memory, clock):
    periods = {"categories": {"project": 30}, "tags": {"client": 10, "client.acme": 5}}
    memory = open_memory(settings=kept_for(**periods))
    for name, tags in {
        "plain": [],
        "client": ["client.other"],
        "acme": ["client.acme.web"],
        "held": ["client.acme", "pinned"],
    }.items():
        memory.add(f"The {name} project is late", **U, category="project", tags=tags)
    known = {"held", "plain", "client", "acme"}
    for days, gone in ((5, "acme"), (5, "client"), (20, "plain")):
        clock.advance(days=days)
        known.remove(gone)
        assert contents(memory) == sorted(f"The {name} project is late" for name in known)
        assert memory.jobs.run(["expiry"])[0].counts == {"expired": 1}


def test_messages_have_a_period_too(open_memory, clock):
    memory = open_memory(settings=kept_for(categories={Category.CONVERSATION: 7}))
    memory.observe(say("Tea is fine"), **S)
    memory.flush()
    clock.advance(days=7)
    assert contents(memory, filters={"categories": ["conversation"]}) == []
    with pytest.raises(NotFoundError):
        memory.sessions.messages(**S)


def test_expiry_runs_at_its_interval():
    assert UpkeepSettings().intervals["expiry"] == timedelta(hours=1)
    assert UpkeepSettings(expiry_minutes=5).intervals["expiry"] == timedelta(minutes=5)


# ---------------------------------------------------------------- pins


def test_a_pinned_fact_never_expires(memory, clock):
    fact = memory.add("Kept for the court", **U, expires_at=TOMORROW, tags=["pinned"])
    clock.advance(days=400)
    assert memory.search("court", **U)
    memory.jobs.run()
    assert memory.get(fact.id).status is Status.ACTIVE
    memory.update(fact.id, tags=[])
    assert memory.list(**U) == []


# ---------------------------------------------------------------- the cap


def capped(open_memory, cap=2, **parts):
    return open_memory(settings=Settings(upkeep=UpkeepSettings(cap=cap)), **parts)


def active(memory):
    return [fact.content for fact in memory.list(**U) if fact.category != "conversation"][::-1]


def test_the_cap_holds_at_each_addition(open_memory, clock):
    memory = capped(open_memory)
    memory.add("Held for the court", **U, confidence=0.3, tags=["pinned"])
    memory.add("Unsure about Oslo", **U, confidence=0.5)
    clock.advance(hours=1)
    assert memory.add("Likes tea", **U, confidence=0.9).status is Status.ACTIVE
    assert active(memory) == ["Held for the court", "Likes tea"]
    clock.advance(hours=1)
    memory.add("Likes jazz", **U, confidence=0.9)
    assert active(memory) == ["Held for the court", "Likes jazz"]
    assert memory.add("Perhaps likes golf", **U, confidence=0.4).status is Status.ARCHIVED
    (unsure,) = [f for f in memory.list(**U, status="archived") if "Oslo" in f.content]
    last = memory.history.versions(unsure.id)[-1]
    assert (last.action, last.reason) == ("archived", "over the cap of 2 facts")


def test_the_cap_holds_for_additions_of_many_and_imports(open_memory):
    memory = capped(open_memory)
    words = ["Likes tea", "Plays chess", "Owns a boat", "Speaks Norwegian"]
    items = [{"content": word, "confidence": 0.5 + n / 10} for n, word in enumerate(words)]
    found = memory.transfer.add_many(items, **U)
    assert [fact.status for fact in found] == ["archived", "archived", "active", "active"]
    records = list(memory.transfer.export(**U))
    assert memory.transfer.load(records, user_id="u2") == 4
    assert len(memory.list(user_id="u2")) == 2


def test_the_cap_holds_as_facts_are_extracted(open_memory):
    memory = capped(open_memory, extractor=ScriptedExtractor(stating))
    memory.observe(say("Tea is fine", "Boats are slow", "Jazz is loud"), **S)
    memory.flush()
    assert len(active(memory)) == 2
    assert len(memory.list(**U, status="archived")) == 1


def test_a_restored_fact_takes_the_place_of_another(open_memory, clock):
    memory = capped(open_memory)
    for word in ("Likes tea", "Plays chess", "Owns a boat"):
        memory.add(word, **U)
        clock.advance(hours=1)
    (evicted,) = memory.list(**U, status="archived")
    assert memory.history.restore(evicted.id).status is Status.ACTIVE
    assert active(memory) == ["Likes tea", "Owns a boat"]
