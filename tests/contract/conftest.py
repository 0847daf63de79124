"""The ledgers that satisfy the contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from semantic_memory.domain.changes import FactVectors
from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.events import DatabaseUsed, Event
from semantic_memory.domain.facts import Category, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.items import ItemScope
from semantic_memory.domain.ports import Belief, Delta, Ledger, Outbox, TraitRow
from semantic_memory.domain.profile import PROFILE_FIELDS, TIERS
from semantic_memory.domain.retention import Periods, Unexpired
from semantic_memory.ledger.sqlite import SqliteLedger
from tests.conftest import NOW, unit_vectors
from tests.support import postgres

UNEXPIRED = (
    Unexpired(NOW, Periods()),
    Unexpired(NOW, Periods({Category.PROJECT: timedelta(hours=18)}, {"a": timedelta(days=1)})),
)


def _encrypted(directory: Path, observe: Callable[[Event], None]) -> Ledger:
    directory.mkdir(exist_ok=True)
    return SqliteLedger(directory / "ledger.sqlite3", observe, keys=[bytes(range(32))])


Maker = Callable[[Path, Callable[[Event], None]], Ledger]
EMBEDDED: dict[str, Maker] = {
    "sqlite": lambda path, observe: SqliteLedger(path / "ledger.sqlite3", observe),
    "encrypted": lambda path, observe: _encrypted(path / "encrypted", observe),
}


def makers(request: pytest.FixtureRequest) -> dict[str, Maker]:
    """Makers of an empty ledger of each kind, on PostgreSQL where there is a server for tests."""
    if not postgres.is_installed():
        return EMBEDDED
    from semantic_memory.ledger.postgres import PostgresLedger

    server: postgres.Server = request.getfixturevalue("postgres_server")

    def on_postgres(_: Path, observe: Callable[[Event], None]) -> Ledger:
        def observe_others(event: Event) -> None:
            if not isinstance(event, DatabaseUsed):  # of every transaction there
                observe(event)

        return PostgresLedger(server.emptied("contract"), observe_others)

    return {**EMBEDDED, "postgres": on_postgres}


@pytest.fixture(params=[*EMBEDDED, "postgres"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path, events: list[Event]) -> Iterator[Ledger]:
    if request.param == "postgres":
        postgres.require()
    ledger = makers(request)[request.param](tmp_path, events.append)
    yield ledger
    ledger.close()


def vectors(seed: int = 0, windows: int = 1, sentences: int = 0) -> FactVectors:
    both = unit_vectors(windows + sentences, seed=seed)
    return FactVectors(both[:windows], both[windows:])


def contents(ledger: Ledger) -> dict[str, Any]:
    """All that a ledger answers about `u1`, `u2` and the facts `fact-0` to `fact-9`.

    Without the numbers of facts: a ledger may leave some out.
    """
    ids = [f"fact-{number}" for number in range(10)]
    users = ("u1", "u2")
    statuses = (None, *Status)
    return {
        "get": ledger.get(ids),
        "known": ledger.known(ids),
        "find": [
            [fact.id for fact in ledger.find(user, Filters(), status=status)]
            for user in users
            for status in statuses
        ],
        "by relevance": [
            [f.id for f in ledger.page(user, Filters(), order="relevance").facts] for user in users
        ],
        "as of": [[f.id for f in ledger.find(user, Filters(as_of=NOW))] for user in users],
        "unexpired": [
            [f.id for f in ledger.find(user, Filters().unexpired(one))]
            for user in users
            for one in UNEXPIRED
        ],
        "expired": [ledger.expired(user, one) for user in users for one in UNEXPIRED],
        "ids": [ledger.ids(user) for user in users],
        "same content": [
            ledger.same_content(user, fact.content, fact.scope)
            for user in users
            for fact in ledger.get(ids)
        ],
        "history": [ledger.history(one) for one in sorted(ledger.known(ids))],
        "replaced": [ledger.replaced(one, user) for one in ids for user in users],
        "beliefs": [sorted(map(_belief, ledger.beliefs(user))) for user in users],
        "beliefs by key": [
            sorted(map(_belief, ledger.beliefs_among(user, [], [b"a", b"b", b"key"])))
            for user in users
        ],
        "lines": [ledger.lines(user) for user in users],
        "past lines": [
            ledger.past_lines(user, layer) for user in users for layer in (*PROFILE_FIELDS, *TIERS)
        ],
        "revisions": [ledger.revision(user) for user in users],
        "changed": [ledger.changed(user, 0, 99) for user in users],
        "events": [
            [event.model_dump() for event in ledger.events(after, 99, user)]
            for user in (None, *users)
            for after in (0, 2)
        ],
        "ends of the feed": (ledger.first_event(), ledger.last_event()),
        "outbox": _outbox(ledger.outbox(99)),
        "unindexed": [ledger.unindexed(99, user) for user in (None, *users)],
        "count unindexed": ledger.count_unindexed(),
        "held": ledger.held(),
        "embedded": ledger.embedded_ids(),
        "deltas": [_delta(ledger.delta(user, 0)) for user in users],
        "footprints": [ledger.footprint(user) for user in users],
        "traits": [
            _trait(row) for row in sorted(ledger.traits(ids), key=lambda row: row.trait.num)
        ],
        "neighbours": [sorted(ledger.neighbours([one])) for one in ids],
        "unembedded": [fact.id for fact in ledger.unembedded(99)],
        "count unembedded": ledger.count_unembedded(),
        "pages": [_page(ledger, user, one) for user in users for one in ids],
        "counts": [ledger.count(user) for user in (None, *users)],
        "tallies": [ledger.tally(user) for user in (None, *users)],
        "users": ledger.users(),
        "cursors": [ledger.cursors(stage) for stage in ("stored", "extracted")],
        "sessions": [ledger.session_ids(user) for user in users],
        "session infos": [ledger.session_infos(user) for user in users],
        "pending": [
            ledger.pending("dedup", user, everyone=everyone)
            for user in (None, *users)
            for everyone in (False, True)
        ],
        "meta": ledger.meta("embedder"),
        "forgotten": sorted(ledger.forgotten()),
        "redactions": ledger.redactions(),
        "sessions with forgotten": ledger.sessions_with_forgotten(),
        "frequencies": [ledger.document_frequencies(user, ["thing", "tea"]) for user in users],
        "items": [
            (
                ledger.items(scope, limit=99),
                ledger.namespaces(scope),
                ledger.item_terms(scope, ["tea", "thing"]),
                _item_vectors(ledger, scope),
            )
            for user in (None, *users)
            for prefix in ((), ("a",), ("a%\x1f",))
            for scope in [ItemScope(user, prefix, NOW)]
        ],
        "items to embed": ledger.unembedded_items(99),
        "item counts": [ledger.count_items(user, expired_by=NOW) for user in (None, *users)],
        "words": [{m.id for m in ledger.words(user, ["thing", "tea"], limit=99)} for user in users],
    }


def _item_vectors(ledger: Ledger, scope: ItemScope) -> Any:
    nums, rows = ledger.item_vectors(scope)
    return sorted(zip(nums.tolist(), rows.tolist(), strict=True))


def _page(ledger: Ledger, user_id: str, after: str) -> Any:
    try:
        behind = ledger.position(after, user_id, "time")
        return [fact.id for fact in ledger.page(user_id, Filters(), limit=2, behind=behind).facts]
    except NotFoundError as error:
        return str(error)


def _belief(belief: Belief) -> tuple[int, str, list[float]]:
    return belief.revision, belief.fact.model_dump_json(), belief.vector.tolist()


def _vectors(found: FactVectors | None) -> Any:
    return found and (found.windows.tolist(), found.sentences.tolist())


def _number(row: TraitRow) -> int:
    return row.trait.num


def _trait(row: TraitRow) -> Any:
    return row.trait._replace(num=0), sorted(row.stems), _vectors(row.vectors)


def _delta(delta: Delta) -> Any:
    return delta.revision, [_trait(row) for row in delta.rows], len(delta.removed)


def _outbox(batch: Outbox) -> Any:
    entries = [(entry.fact, entry.windows.tolist()) for entry in batch.entries]
    taken = [one._replace(num=0) for one in batch.taken]
    return entries, list(batch.removed), taken, batch.changes
