"""Three workers over one database, killed at random with their parts under load, keep promises.

A short form of `python -m eval chaos`. Then the store is tampered with, and each check must fail.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from eval.chaos.checks import CHECKS, violations
from eval.chaos.clients import Promises, Visitor, connected
from eval.chaos.cluster import SCHEMA, Cluster, cluster
from eval.chaos.reading import ask, read_tables
from eval.chaos.run import SETTINGS, Outcome, run_chaos, settle
from tests.support import postgres
from tests.support.effort import rounds

postgres.require()

SECONDS = float(rounds(full=40, quick=25))
MOST_ROUNDS = 6
"""Rounds of kills until enough is written: one, where workers start within seconds."""
USERS, CLIENTS = 2, 4
USER = "user-4"
"""A user of the calm time after the kills."""


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    with cluster(SETTINGS) as started:
        yield started


@pytest.fixture(scope="module")
def done(running: Cluster) -> Outcome:
    return run_chaos(running, USERS, CLIENTS, SECONDS, seed=11, least_writes=10, rounds=MOST_ROUNDS)


def test_nothing_acknowledged_is_lost_and_nothing_forgotten_comes_back(done: Outcome):
    assert done.kills.total() >= 2
    broken = {name: cases for name, cases in done.violations.items() if cases}
    broken.pop("not available", None)  # seconds of a busy machine; `eval chaos` asks for it
    assert broken == {}


# ---------------------------------------------------------------- a store that was tampered with


@pytest.fixture(scope="module")
def kept(running: Cluster, done: Outcome) -> Promises:
    """The promises of a time without kills, in which every kind of call was made."""
    del done
    promises = Promises()
    asyncio.run(visit(running, promises, CLIENTS, turns=40))
    settle(running)
    assert promises.failures.total() == 0
    return promises


async def visit(running: Cluster, promises: Promises, first: int, turns: int) -> None:
    """Make calls for two new users, the first of this number."""
    async with connected(running.urls) as clients, asyncio.TaskGroup() as group:
        for number in (first, first + 1):
            visitor = Visitor(number, f"user-{number}", clients, promises)
            group.create_task(take_turns(visitor, turns))


async def take_turns(visitor: Visitor, turns: int) -> None:
    for _ in range(turns):
        await visitor.turn()


def found(running: Cluster, promises: Promises) -> set[str]:
    """Return the checks that fail."""
    tables = read_tables(running.server_url, SCHEMA, running.chroma_url)
    answers = ask("worker-1", running.worker_urls[0], promises, tables)
    return {name for name, cases in violations(promises, tables, [answers]).items() if cases}


def run_sql(running: Cluster, script: str) -> None:
    with psycopg.connect(running.server_url) as connection:
        connection.execute(f"SET search_path TO {SCHEMA}; {script}".encode())


@contextmanager
def tampered(running: Cluster, change: str, back: str) -> Iterator[None]:
    """Change the tables behind the workers' backs, and undo it."""
    run_sql(running, change)
    try:
        yield
    finally:
        run_sql(running, back)


def test_an_untouched_store_passes(running: Cluster, kept: Promises):
    assert found(running, kept) == set()


def test_a_lost_fact_is_found(running: Cluster, kept: Promises):
    fact_id = next(name for added in kept.added.values() for name in added)
    hide = "UPDATE facts SET content = '{}' || substr(content, 2) WHERE id = '{}'"
    with tampered(running, hide.format("J", fact_id), hide.format("I", fact_id)):
        assert found(running, kept) == {"acknowledged and lost"}


def test_a_lost_message_is_found(running: Cluster, kept: Promises):
    (user_id, session_id), said = next(one for one in kept.said.items() if one[1])
    rename = (
        "UPDATE log_lines SET message_id = '{}'"
        f" WHERE user_id = '{user_id}' AND session_id = '{session_id}' AND message_id = '{{}}'"
    )
    name = next(iter(said))
    with tampered(running, rename.format("lost", name), rename.format(name, "lost")):
        assert found(running, kept) == {"acknowledged and lost"}


def test_a_forgotten_memory_that_is_back_is_found(running: Cluster, kept: Promises):
    user_id, mark, name = next(
        (user_id, mark, name)
        for user_id, forgotten in kept.forgotten.items()
        for mark, name in forgotten.items()
        if name
    )
    text = f"I like thing {mark} of {user_id}."
    change = f"UPDATE facts SET status = 'active', content = '{text}' WHERE id = '{name}'"
    back = f"UPDATE facts SET status = 'forgotten', content = '' WHERE id = '{name}'"
    with tampered(running, change, back):
        assert "forgotten and back" in found(running, kept)


def test_a_second_extraction_is_found(running: Cluster, kept: Promises):
    times = "UPDATE events SET messages = messages {} 3 WHERE kind = 'extracted'"
    with tampered(running, times.format("*"), times.format("/")):
        assert found(running, kept) == {"extracted twice"}


def test_a_memory_of_another_user_is_found(running: Cluster, kept: Promises):
    fact_id = next(iter(kept.added[USER]))
    swap = "UPDATE facts SET content = replace(content, '{}', '{}') WHERE id = '{}'"
    change = swap.format(USER, "user-1", fact_id)
    with tampered(running, change, swap.format("user-1", USER, fact_id)):
        assert "of another user" in found(running, kept)


def test_an_answer_that_is_not_in_the_tables_is_found(running: Cluster, kept: Promises):
    tables = read_tables(running.server_url, SCHEMA, running.chroma_url)
    name = min(tables.listed(USER))
    set_status = f"UPDATE facts SET status = '{{}}' WHERE id = '{name}'"
    with tampered(running, set_status.format("archived"), set_status.format("active")):
        answers = ask("worker-1", running.worker_urls[0], kept, tables)
    assert violations(kept, tables, [answers])["unlike the tables"]


def test_messages_that_changed_places_are_found(running: Cluster, kept: Promises):
    (user_id, session_id), first, second = next(
        (key, own[0], own[1]) for key, said in kept.said.items() if len(own := [*said]) > 1
    )
    swap = (
        "UPDATE log_lines a SET line = b.line FROM log_lines b WHERE a.user_id = b.user_id"
        f" AND a.session_id = b.session_id AND a.user_id = '{user_id}'"
        f" AND a.session_id = '{session_id}' AND a.message_id <> b.message_id"
        f" AND a.message_id IN ('{first}', '{second}') AND b.message_id IN ('{first}', '{second}')"
    )
    with tampered(running, swap, swap):
        assert "out of order" in found(running, kept)


def test_a_message_that_the_next_search_misses_is_found(running: Cluster):
    promises = Promises()
    hide = (
        "CREATE FUNCTION hidden() RETURNS TRIGGER LANGUAGE plpgsql AS"
        " $$ BEGIN new.status := 'archived'; RETURN new; END $$;"
        "CREATE TRIGGER hidden BEFORE INSERT ON facts FOR EACH ROW EXECUTE FUNCTION hidden()"
    )
    with tampered(running, hide, "DROP FUNCTION hidden CASCADE"):
        asyncio.run(visit(running, promises, CLIENTS + 2, turns=20))
    assert promises.unseen


def test_every_check_is_tampered_with_here():
    assert len(CHECKS) == 7
