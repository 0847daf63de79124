"""The checks of a run with kills: each passes on a store that kept its promises, and fails else."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from eval.chaos.checks import CHECKS, violations
from eval.chaos.clients import Promises, Visitor, is_stray, mark, marks_in
from eval.chaos.faults import Fault, draw_faults
from eval.chaos.programs import Program
from eval.chaos.reading import Answers, Found, Question, Row, Tables
from eval.chaos.run import availability, outages
from semantic_memory.client import AsyncClient
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.recall import Hit, ScoreParts
from tests.conftest import NOW, eventually

USER, SESSION = "user-1", "s0"
SAID = "I keep box bacedifogu of user-1 in the cellar."
NEXT = "I like thing bacedifoha of user-1."
DRAWN = "The user keeps box bacedifogu of user-1 in the cellar."
ADDED = "I visited castle bacedifoke with user-1."
GONE = "bacedifonu"

PARTS = ["worker-1", "worker-2", "worker-3", "postgres", "chroma"]


def row(content: str, category: str = "conversation", *said_in: str, status: str = "active") -> Row:
    return Row(USER, content, category, status, said_in)


def promises() -> Promises:
    kept = Promises()
    kept.said[USER, SESSION] = {"c0-1": SAID, "c0-2": NEXT}
    kept.added[USER] = {"added": ADDED}
    kept.forgotten[USER] = {GONE: "gone"}
    return kept


def tables() -> Tables:
    return Tables(
        memories={
            "said": row(SAID, "conversation", f"{SESSION}/c0-1"),
            "next": row(NEXT, "conversation", f"{SESSION}/c0-2"),
            "drawn": row(DRAWN, "personal", f"{SESSION}/c0-1"),
            "added": row(ADDED, "finding"),
            "gone": row("", "finding", status="forgotten"),
        },
        logged={
            (USER, SESSION, name): frozenset(marks_in(text))
            for name, text in (("c0-1", SAID), ("c0-2", NEXT), ("c1-1", NEXT))
        },
        extracted={(USER, SESSION): 2},
        reached={(USER, SESSION): 2},
        marks={"facts": frozenset({"bacedifogu", "bacedifoha", "bacedifoke"})},
    )


def answers(worker: str = "worker-1") -> Answers:
    hits = [Found("said", SAID, 0.9), Found("drawn", DRAWN, 0.8)]
    return Answers(
        worker=worker,
        listed={USER: tables().listed(USER)},
        found={Question(USER, SAID, "conversation"): hits},
        messages={(USER, SESSION): {"c0-1": SAID, "c0-2": NEXT}},
        strays=[],
    )


def without(held: Tables, *names: str) -> Tables:
    return replace(held, memories={n: r for n, r in held.memories.items() if n not in names})


def altered(held: Tables, **rows: Row) -> Tables:
    return replace(held, memories={**held.memories, **rows})


def with_hits(one: Answers, *hits: Found) -> Answers:
    return replace(one, found={Question(USER, SAID, "conversation"): hits})


def failing(
    kept: Promises | None = None, held: Tables | None = None, *answered: Answers
) -> set[str]:
    """Return the names of the checks that fail."""
    given = answered or (answers("worker-1"), answers("worker-2"))
    found = violations(kept or promises(), held or tables(), given)
    return {name for name, cases in found.items() if cases}


def test_a_store_that_kept_its_promises_passes_every_check():
    assert failing() == set()


def test_the_loss_of_a_message_its_line_its_memory_or_a_fact_is_found():
    cut = replace(answers(), messages={(USER, SESSION): {"c0-2": NEXT}})
    assert failing(None, None, cut) == {"acknowledged and lost"}
    assert failing(None, replace(tables(), logged={})) == {"acknowledged and lost"}
    for name in ("said", "added"):
        held = without(tables(), name)
        kept = replace(answers(), listed={USER: held.listed(USER)}, found={})
        assert failing(None, held, kept) == {"acknowledged and lost"}
    other = altered(tables(), added=row("Something else", "finding"))
    assert "acknowledged and lost" in failing(None, other)


@pytest.mark.parametrize("table", ["facts", "log_lines", "Chroma"])
def test_a_forgotten_text_in_any_table_is_found(table: str):
    held = replace(tables(), marks={**tables().marks, table: frozenset({GONE})})
    assert failing(None, held) == {"forgotten and back"}


def test_a_forgotten_memory_that_is_answered_is_found():
    assert "forgotten and back" in failing(None, altered(tables(), gone=row("Back", "finding")))
    listed = {USER: {**tables().listed(USER), "gone": "Back"}}
    assert "forgotten and back" in failing(None, None, replace(answers(), listed=listed))
    hit = with_hits(answers(), Found("said", SAID, 0.9), Found("x", f"I like {GONE}", 0.1))
    assert "forgotten and back" in failing(None, None, hit)
    said = {(USER, SESSION): {"c0-1": SAID, "c0-2": NEXT, "c0-3": f"I like {GONE}"}}
    assert "forgotten and back" in failing(None, None, replace(answers(), messages=said))


def test_a_second_extraction_is_found_by_its_facts_and_by_its_event():
    again = altered(tables(), again=row(DRAWN, "personal", f"{SESSION}/c0-1"))
    assert "extracted twice" in failing(None, again)
    assert failing(None, replace(tables(), extracted={(USER, SESSION): 3})) == {"extracted twice"}


def test_a_session_that_was_forgotten_may_be_read_from_its_beginning():
    held = replace(
        tables(),
        extracted={(USER, SESSION): 2, (USER, "forgotten"): 1},
        reached={(USER, SESSION): 2, (USER, "forgotten"): 0},
    )
    assert failing(None, held) == set()


def test_a_memory_of_another_user_is_found_under_load_and_after_it():
    kept = promises()
    kept.strays.append("user-2's")
    assert failing(kept) == {"of another user"}
    assert failing(None, None, replace(answers(), strays=["user-2's"])) == {"of another user"}


@pytest.mark.parametrize(
    ("content", "user_id", "stray"),
    [(SAID, USER, False), (SAID, "user-2", True), (f"{SAID} And user-2.", USER, True)],
)
def test_a_stray_is_told_by_its_owner_and_by_the_user_it_names(content, user_id, stray):
    assert is_stray(fact(content), user_id) is stray


def test_answers_that_differ_from_the_tables_or_among_workers_are_found():
    name = {"unlike the tables"}
    assert failing(None, None, replace(answers(), listed={USER: {"said": SAID}})) == name
    assert failing(None, None, with_hits(answers(), Found("said", "Other", 0.9))) == name
    assert failing(None, None, with_hits(answers(), Found("drawn", DRAWN, 0.8))) == name
    one = with_hits(answers("worker-1"), Found("said", SAID, 0.9), Found("next", NEXT, 0.7))
    two = with_hits(answers("worker-2"), Found("said", SAID, 0.9), Found("drawn", DRAWN, 0.6))
    assert failing(None, None, one, two) == name


def test_the_last_hits_of_two_answers_may_differ_if_they_are_tied():
    one = with_hits(answers("worker-1"), Found("said", SAID, 0.9), Found("next", NEXT, 0.6))
    two = with_hits(answers("worker-2"), Found("said", SAID, 0.9), Found("drawn", DRAWN, 0.6))
    assert failing(None, None, one, two) == set()


def test_a_message_may_stand_for_its_fact_only_in_a_search_of_all_memories():
    hits = [Found("said", SAID, 0.9)]
    for category, failed in ((None, set[str]()), ("personal", {"unlike the tables"})):
        one = replace(answers(), found={Question(USER, DRAWN, category): hits})
        assert failing(None, None, one) == failed


def test_messages_out_of_a_clients_order_are_found():
    said = {(USER, SESSION): {"c0-2": NEXT, "c0-1": SAID}}
    assert failing(None, None, replace(answers(), messages=said)) == {"out of order"}


def test_messages_of_two_clients_may_stand_in_any_order():
    kept = promises()
    kept.said[USER, SESSION] = {"c0-1": SAID, "c1-1": NEXT}
    held = altered(tables(), next=row(NEXT, "conversation", f"{SESSION}/c1-1"))
    said = {(USER, SESSION): {"c1-1": NEXT, "c0-1": SAID}}
    assert failing(kept, held, replace(answers(), messages=said)) == set()


def test_a_write_that_the_next_search_missed_is_found():
    kept = promises()
    kept.unseen.append(SAID)
    assert failing(kept) == {"not found at once"}


def test_every_check_is_covered_here():
    assert set(CHECKS) == {
        "acknowledged and lost",
        "forgotten and back",
        "extracted twice",
        "of another user",
        "unlike the tables",
        "out of order",
        "not found at once",
    }


# ---------------------------------------------------------------- clients


def visited(handler: Callable[[httpx.Request], httpx.Response]) -> Promises:
    """Return the promises of a client after fifty calls to a service that `handler` is."""
    kept = Promises()

    async def visit() -> None:
        async with AsyncClient(
            "http://service", attempts=1, transport=httpx.MockTransport(handler)
        ) as client:
            visitor = Visitor(0, USER, [client], kept)
            for _ in range(50):
                await visitor.turn()

    asyncio.run(visit())
    return kept


def fact(content: str) -> Fact:
    return Fact(
        user_id=USER,
        content=content,
        category=Category.FINDING,
        created_at=NOW,
        recorded_at=NOW,
        valid_from=NOW,
    )


def answering(*hits: Fact) -> Callable[[httpx.Request], httpx.Response]:
    def answer(request: httpx.Request) -> httpx.Response:
        match request.url.path:
            case "/v1/messages":
                return httpx.Response(
                    202, json={"accepted": 1, "duplicates": 0, "session_id": SESSION}
                )
            case "/v1/search":
                return httpx.Response(200, json={"items": [hit(one) for one in hits]})
        return httpx.Response(500, json={"type": "/problems/internal", "detail": "an error"})

    return answer


def hit(one: Fact) -> dict[str, object]:
    parts = {name: 0.5 for name, kind in ScoreParts.model_fields.items() if kind.is_required()}
    return Hit(fact=one, score=0.5, parts=ScoreParts(**parts)).model_dump(mode="json")


def test_a_client_notes_another_users_memory():
    kept = visited(answering(fact("I like thing of user-2.")))
    assert len(kept.strays) >= kept.requests["search"] > 0


def test_a_client_notes_what_it_was_promised_and_what_a_search_missed():
    kept = visited(answering())
    assert kept.said
    assert kept.unseen
    assert kept.strays == []
    assert not any(kept.added.values())
    assert kept.failures["add"] == kept.requests["add"] > 0


def test_marks_are_found_in_any_text():
    drawn = mark(random.Random(1))
    assert marks_in(f'{{"content": "I like thing {drawn} of user-1."}}') == {drawn}
    assert marks_in("2026-11-23 user-1 c0-12 a1b2c3d4e5") == set()


# ---------------------------------------------------------------- faults


def test_the_same_seed_draws_the_same_faults_and_every_part_is_killed():
    faults = draw_faults(random.Random(3), PARTS, 60.0)
    assert faults == draw_faults(random.Random(3), PARTS, 60.0)
    assert {fault.part for fault in faults} == set(PARTS)
    assert all(0 < fault.at < fault.back_at <= 60.0 for fault in faults)
    for part in PARTS:
        own = [fault for fault in faults if fault.part == part]
        assert all(one.back_at <= other.at for one, other in pairwise(own))


def test_faults_that_are_further_apart_are_fewer():
    often, seldom = (draw_faults(random.Random(3), PARTS, 300.0, apart) for apart in (5.0, 15.0))
    assert 45 <= len(often) <= 75
    assert 15 <= len(seldom) <= 25


def test_workers_alone_are_frozen_and_the_first_fault_of_them_is_a_freeze():
    faults = draw_faults(random.Random(3), PARTS, 300.0)
    frozen = [fault for fault in faults if fault.frozen]
    assert {fault.part for fault in frozen} <= {"worker-1", "worker-2", "worker-3"}
    assert next(fault for fault in faults if fault.part.startswith("worker")).frozen
    assert 3 <= len(frozen) < len(faults) / 2


def test_a_frozen_program_goes_on_where_it_was(tmp_path: Path):
    program = Program("sleeper", ["sleep", "600"], tmp_path / "log", lambda: True)
    program.start()

    def state() -> str:
        return Path(f"/proc/{program.pid}/stat").read_text().rpartition(") ")[2][0]

    program.freeze()
    assert eventually(lambda: state() == "T")
    program.thaw()
    assert eventually(lambda: state() == "S")
    program.kill()


def test_calls_that_fail_or_take_long_outside_outages_count_against_availability():
    kept = promises()
    kept.calls = [(0.0, 1.0, True), (1.0, 2.0, False), (2.0, 90.0, True), (5.0, 6.0, True)]
    assert availability(kept, []) == 0.5
    assert availability(kept, [(1.5, 3.0)]) == 1.0
    assert availability(kept, [(0.0, 99.0)]) == 0.0


def test_outages_are_those_of_the_database_with_its_return():
    faults = [Fault(1.0, "worker-1", 2.0), Fault(3.0, "postgres", 4.0)]
    assert outages(faults, 100.0, 10.0, 30.0) == [(103.0, 109.0), (110.0, 145.0)]


def test_a_program_that_ends_by_itself_is_told_from_one_that_was_killed(tmp_path: Path):
    program = Program("short", ["true"], tmp_path / "log", lambda: False)
    program.start()
    with pytest.raises(RuntimeError, match="short didn't start"):
        program.wait()
    assert program.has_ended
    program.kill()
    assert not program.has_ended
