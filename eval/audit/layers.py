"""Checks of layers and extraction (rows A)."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import timedelta
from typing import Any

from eval.audit.checks import check, equal, expect
from eval.audit.endpoint import extracted, shown
from eval.audit.site import NOW, Site, eventually, facts, proposing, say, tell, texts
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.events import ExtractionFellBack, FactsExtracted
from semantic_memory.domain.facts import Status
from semantic_memory.domain.markers import WROTE_MEMORY
from semantic_memory.testing import FrozenClock, ScriptedExtractor

WORK = "I work as a nurse at Haukeland hospital."
HOME = "I live in Bergen with my husband Per."


@check("A1", "the texts of the profile are written from facts, and name them")
def profile_texts(site: Site) -> object:
    user, memory = site.user(), site.memory
    tell(memory, user, WORK, HOME, "I'm learning Norwegian for the exam in June.")
    found = memory.profile.get(user_id=user).profile
    ids = {fact.id for fact in facts(memory, user)}
    for text in (found.work_context, found.personal_context, found.top_of_mind):
        expect(text is not None and text.fact_ids and ids.issuperset(text.fact_ids), found)
    expect(found.work_context and "nurse" in found.work_context.text, found.work_context)
    return found.work_context.text if found.work_context else ""


@check("A1", "a text written by hand stays when facts are added")
def profile_by_hand(site: Site) -> object:
    user, memory = site.user(), site.memory
    memory.profile.update({"work_context": "Nurse, on parental leave."}, user_id=user)
    tell(memory, user, WORK)
    found = memory.profile.get(user_id=user).profile.work_context
    expect(found is not None and found.text == "Nurse, on parental leave.", found)
    return "kept, origin " + (found.origin if found else "")


@check("A1", "what was said moves on from recent months to earlier and long-term")
def history_by_age(site: Site) -> object:
    clock = FrozenClock(NOW - timedelta(days=5))
    memory = site.open(clock=clock)
    tell(memory, "maya", "I started the migration to Postgres.", created_at=clock.now())
    tiers = []
    for days in (0, 60, 200):
        clock.moment = NOW + timedelta(days=days)
        memory.jobs.run(["rollup"])
        history = memory.profile.get(user_id="maya").history
        tiers += [name for name in type(history).model_fields if getattr(history, name)]
    equal(tiers, ["recent_months", "earlier_context", "long_term_background"])
    return ", ".join(tiers)


@check("A1", "the whole memory of a user comes back from its document, ids included")
def round_trip(site: Site) -> object:
    user, memory = site.user(), site.memory
    tell(memory, user, WORK, HOME)
    memory.profile.update({"name": "Maya"}, user_id=user)
    memory.items.put(["settings"], "theme", {"dark": True}, user_id=user)
    document = memory.transfer.to_dict(user_id=user)
    other = site.open()
    other.transfer.from_dict(document, user_id=user)
    other.flush()
    equal(
        {fact.id: fact.content for fact in other.list(user_id=user)},
        {fact.id: fact.content for fact in memory.list(user_id=user)},
    )
    again = other.transfer.to_dict(user_id=user)
    for part in ("facts", "items", "messages"):
        equal(again.get(part), document.get(part))
    return f"{len(other.list(user_id=user))} memories under their ids"


@check("A2", "a slow extractor doesn't hold up the caller")
def observe_returns_at_once(site: Site) -> object:
    def slow(_: Any) -> list[Any]:
        time.sleep(1.0)
        return []

    extractor = ScriptedExtractor(slow)
    memory = site.open(extractor=extractor, awake=True, settings={"ingest": {"quiet_seconds": 0}})
    started = time.perf_counter()
    memory.observe(say("I like tea"), user_id="maya", session_id="s")
    seconds = time.perf_counter() - started
    expect(seconds < 0.5, f"observe took {seconds:.2f} s beside an extractor of 1 s")
    expect(eventually(lambda: extractor.calls), "never extracted")
    return f"observe took {1_000 * seconds:.0f} ms, the extractor 1 s"


@check("A2", "a failing extractor never reaches the caller, and the messages are found")
def extraction_failure(site: Site) -> object:
    def fail(_: Any) -> list[Any]:
        raise ProviderError("down")

    extractor = ScriptedExtractor(fail)
    memory = site.open(extractor=extractor, awake=True, settings={"ingest": {"quiet_seconds": 0}})
    memory.observe(say("My kettle is red"), user_id="maya", session_id="s")
    expect(eventually(lambda: extractor.calls), "never tried")
    found = eventually(lambda: memory.search("kettle", user_id="maya"))
    expect(found, "the message isn't found")
    return "tried and failed; the message is found"


@check("A2", "without a model: sentences worth keeping, relative dates made absolute")
def dates_made_absolute(site: Site) -> object:
    user, memory = site.user(), site.memory
    tell(memory, user, "I'm flying to Oslo next Friday.", "Thanks, that's great!")
    found = texts(memory, user)
    expect(len(found) == 1 and "2026-05-15" in found[0], found)
    return found[0]


@check("A2", "a request to a model names gpt-4o-mini, temperature 0.1 and a schema")
def request_to_a_model(site: Site) -> object:
    endpoint = site.endpoint()
    endpoint.answer = lambda _: extracted()
    memory = site.open(settings=endpoint.settings)
    tell(memory, "maya", WORK)
    (asked,) = endpoint.requests
    seen = (asked["model"], asked["temperature"], asked["response_format"]["type"])
    equal(seen, ("gpt-4o-mini", 0.1, "json_schema"))
    return ", ".join(map(str, seen))


@check("A2", "an answer that doesn't validate is not stored")
def invalid_answer(site: Site) -> object:
    events: list[Any] = []
    endpoint = site.endpoint()
    endpoint.answer = lambda _: '{"facts": [{"statement": "The user lives on Mars"}]}'
    memory = site.open(settings=endpoint.settings, observer=events.append)
    with suppress(ProviderError):
        tell(memory, "maya", WORK)
    found = texts(memory, "maya")
    expect(not any("Mars" in one for one in found), found)
    fell = [one.reason for one in events if isinstance(one, ExtractionFellBack)]
    expect(found == ["The user works as a nurse at Haukeland hospital"] and fell, (found, fell))
    return f"{fell[0]}: the packaged judge read the stretch instead"


def _quote(request: Any) -> str:
    return str(shown(request)["messages"][0]["text"])


@check("A2", "a model's statement that its message doesn't say is refused")
def grounded(site: Site) -> object:
    endpoint = site.endpoint()
    endpoint.answer = lambda request: extracted(
        {"statement": "The user lives in Rome.", "messages": [1], "quote": "I live in Rome"},
        {"statement": "The user is a nurse.", "messages": [1], "quote": _quote(request)},
    )
    memory = site.open(settings=endpoint.settings)
    tell(memory, "maya", WORK)
    equal(texts(memory, "maya"), ["The user is a nurse."])
    return "the quote that isn't in the message was refused"


@check("A3", "20 messages cost one call, a session is extracted only after 30 s of quiet")
def one_call_for_a_burst(site: Site) -> object:
    extractor = proposing()
    memory = site.open(extractor=extractor, awake=True)
    for number in range(20):
        memory.observe(say(f"Message {number}"), user_id="maya", session_id="s")
    time.sleep(1.0)
    equal(len(extractor.calls), 0)
    memory.flush()
    expect(1 <= len(extractor.calls) <= 3, f"{len(extractor.calls)} calls")
    return f"no call for a second, then {len(extractor.calls)} for 20 messages"


@check("A3", "a session in which messages keep coming is extracted at 50 of them")
def a_chatty_session(site: Site) -> object:
    extractor = proposing()
    memory = site.open(extractor=extractor, awake=True)
    memory.observe(say(*(f"Message {n}" for n in range(50))), user_id="maya", session_id="s")
    expect(eventually(lambda: extractor.calls, 10), "no call")
    return "extracted without flush"


@check("A4", "a candidate below 0.7 is refused and counted, and its message stays")
def confidence_gate(site: Site) -> object:
    events: list[Any] = []
    memory = site.open(
        extractor=proposing(("The user uses Vim", 0.69), ("The user uses Go", 0.7)),
        observer=events.append,
    )
    tell(memory, "maya", "I use Vim and Go, I think")
    equal(texts(memory, "maya"), ["The user uses Go"])
    refused = [dict(one.refused) for one in events if isinstance(one, FactsExtracted)]
    expect(refused and sum(refused[0].values()) == 1, refused)
    expect(memory.search("Vim", user_id="maya"), "the message isn't found")
    return f"refused {refused[0]}"


@check("A4", "the cap archives the least confident fact, then the oldest")
def eviction_order(site: Site) -> object:
    memory = site.open(settings={"upkeep": {"cap": 3}})
    for content, confidence, days in (
        ("Uses Vim", 0.9, 9),
        ("Uses Go", 0.8, 1),
        ("Uses Emacs", 0.95, 8),
        ("Uses Rust", 0.95, 2),
        ("Uses Nix", 0.95, 3),
    ):
        memory.add(
            content,
            user_id="maya",
            confidence=confidence,
            created_at=NOW - timedelta(days=days),
            category="technical",
        )
    kept = set(texts(memory, "maya"))
    equal(kept, {"Uses Emacs", "Uses Rust", "Uses Nix"})
    memory.add("Uses Zig", user_id="maya", category="technical", confidence=1.0)
    equal(set(texts(memory, "maya")), {"Uses Rust", "Uses Nix", "Uses Zig"})
    archived = texts(memory, "maya", status=Status.ARCHIVED)
    return "archived in turn: " + ", ".join(reversed(archived))


@check("A5", "the cursor moves only after success: a failed stretch is extracted again")
def cursor(site: Site) -> object:
    seen: list[list[str]] = []

    def script(messages: Any) -> list[Any]:
        seen.append([one.content for one in messages])
        if len(seen) == 1:
            raise ProviderError("down")
        return []

    memory = site.open(extractor=ScriptedExtractor(script))
    memory.observe(say("One", "Two"), user_id="maya", session_id="s")
    with suppress(ProviderError):
        memory.flush()
    memory.flush()
    memory.observe(
        say("Three", created_at=NOW + timedelta(hours=1)), user_id="maya", session_id="s"
    )
    memory.flush()
    equal(seen, [["One", "Two"], ["One", "Two"], ["Three"]])
    return "One, Two twice; then Three alone"


@check("A5", "a cursor whose message is gone falls back to the messages that remain")
def cursor_of_a_forgotten_message(site: Site) -> object:
    extractor = proposing()
    memory = site.open(extractor=extractor)
    tell(memory, "maya", "One", "Two")
    memory.sessions.pop(user_id="maya", session_id="s")
    tell(memory, "maya", "Three", created_at=NOW + timedelta(hours=1))
    said = [[one.content for one in call] for call in extractor.calls]
    expect(said[-1][-1] == "Three", said)
    return f"last call {said[-1]}"


@check("A5", "a turn in which the agent wrote memories itself is skipped")
def turn_that_wrote_memory(site: Site) -> object:
    user, memory = site.user(), site.memory
    said = [
        *say(WORK),
        *say("Noted.", role="assistant", metadata={WROTE_MEMORY: True}),
    ]
    memory.observe(said, user_id=user, session_id="s")
    memory.flush()
    equal(texts(memory, user), [])
    return "no fact from the turn"


@check("A6", "equal statements are one fact, with both sources")
def duplicates(site: Site) -> object:
    user, memory = site.user(), site.memory
    for session in ("monday", "tuesday"):
        tell(memory, user, WORK, session=session)
    (fact,) = facts(memory, user)
    expect(len(fact.sources) == 2, fact.sources)
    return f"{fact.content}, {len(fact.sources)} sources"


@check("A6", "a newer statement about one slot ends the older one, which stays in history")
def conflict(site: Site) -> object:
    memory = site.open(clock=(clock := FrozenClock(NOW)))
    tell(memory, "maya", "I live in Bergen.")
    clock.advance(days=30)
    tell(memory, "maya", "I live in Oslo now.", created_at=clock.now(), session="t")
    current = texts(memory, "maya")
    expect(not any("Bergen" in one for one in current), current)
    ended = texts(memory, "maya", status=Status.SUPERSEDED)
    expect(any("Bergen" in one for one in ended), ended)
    return f"now {current}, before {ended}"


@check("A6", "unconfirmed facts lose 0.01 of confidence a week, preferences nothing")
def loss_per_week(site: Site) -> object:
    memory = site.open(clock=(clock := FrozenClock(NOW)))
    fading = memory.add("The cache is cold", user_id="maya", category="finding", confidence=0.9)
    lasting = memory.add("Likes tea", user_id="maya", category="preference", confidence=0.9)
    clock.advance(days=70)
    memory.jobs.run(["decay"])
    left = [round(memory.get(one.id).confidence, 3) for one in (fading, lasting)]
    equal(left, [0.8, 0.9])
    return f"after ten weeks {left[0]} and {left[1]}"


@check("A6", "users never see each other's memories")
def isolation(site: Site) -> object:
    one, other = site.user(), site.user()
    kept = site.memory.add("The code of the garage is on the fridge", user_id=one)
    hits = site.memory.search("code of the garage", user_id=other)
    block = site.memory.context("code of the garage", user_id=other).text
    equal((len(hits), "fridge" in block, len(site.memory.list(user_id=other))), (0, False, 0))
    expect(site.memory.get(kept.id, user_id=one), "the owner doesn't find it")
    return "no hit, no block, no listing for another user"
