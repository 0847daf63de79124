"""Size and speed of a store in PostgreSQL that grows to a number of memories.

Vectors are drawn, as embedding a million texts takes hours and no database cares. One user has
outgrown the exact scan. One small user is written through the library, and its rows are copied for
all others by SQL, with name, ids and numbers replaced, so that the indexes see what is usual.
Events aren't copied. The index is pgvector in the same database, which doesn't wait for its disk.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import psycopg
from pydantic import SecretStr

from eval.chaos.postgres import PostgresServer, reachable_directory
from eval.processes import seconds_of
from eval.vectors import CentredEmbedder, question, statement
from semantic_memory.domain.changes import Add, FactVectors
from semantic_memory.domain.errors import StoreError
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.messages import Message
from semantic_memory.ledger.postgres import PostgresLedger
from semantic_memory.ledger.sql.owners import owner_token
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import IndexSettings, IngestSettings, Settings, StoreSettings

LARGE = "large"
"""The user who has outgrown the exact scan."""
_NOW = datetime(2026, 5, 10, 12, tzinfo=UTC)
_BATCH = 500
_SEARCHES = 200
_FIRST_SEARCHES = 40
_SPEAKERS, _SAID = 10, 10  # of the measure of extraction
_JOBS = ("decay",)
_EXACT_LIMIT = 5_000
_SCHEMA = "scale"
_APART = 10_000_000  # between the numbers of two users' memories
_MODEL = "user-0"
_SIZES = """
    SELECT regexp_replace(c.relname, '_[0-9]+$', ''), sum(pg_total_relation_size(c.oid))::bigint
    FROM pg_class c WHERE c.relnamespace = %s::regnamespace AND c.relkind = 'r' GROUP BY 1
"""
_COLUMNS = """
    SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = %s::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND a.attnum > 0 AND NOT a.attisdropped AND c.relname <> 'events'
    ORDER BY c.relname, a.attnum
"""
_TEXTS = {"text", "text[]", "tsvector"}


@dataclass(frozen=True, slots=True)
class Searches:
    """Searches of one kind, in milliseconds."""

    p50: float
    p95: float
    cpu: float
    """CPU of a search, of the library and of PostgreSQL."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Figures of the store once it has grown to a number of memories."""

    memories: int
    copied: float
    """Memories copied a second."""
    kilobytes: dict[str, float]
    """Disk of a memory, by table with its indexes."""
    searches: dict[str, Searches]
    seconds: dict[str, float]
    """Of other calls: statistics, jobs."""
    extracted: float
    """Messages a second from observing to extracted and indexed facts."""
    extraction_cpu: float
    """CPU ms of a message until then, of the library and of PostgreSQL."""


def measure_scale(
    sizes: Sequence[int], large: int, each: int, searches: int = _SEARCHES
) -> Iterator[Stage]:
    """Fill a database of its own, and yield its figures at each of the growing sizes.

    The first `large` memories are one user's, then each user has `each`. Raises StoreError if a
    search finds nothing, or another user's memory.
    """
    with ExitStack() as stack:
        server = PostgresServer(reachable_directory(), durable=False)
        stack.callback(server.remove)
        server.start()
        stack.callback(server.stop, "immediate")
        url = f"{server.url}&schema={_SCHEMA}"
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sm-scale-")))
        with _open(url, scratch) as memory:
            _write_model(memory, each)
            _write_large(url, large)
            memory.flush()
        users = 1
        for size in sizes:
            more = max(1, (size - large) // each) - users
            took = _seconds(partial(_copy, server.url, users, more))
            users += more
            size, rate = large + users * each, more * each / took
            yield _measured(server, url, scratch, size, rate, users, searches)


def _open(url: str, scratch: Path) -> SemanticMemory:
    settings = Settings(
        data_dir=scratch,
        store=StoreSettings(url=SecretStr(url)),
        index=IndexSettings(provider="pgvector", exact_limit=_EXACT_LIMIT, exact_megabytes=500),
        ingest=IngestSettings(background=False),
    )
    return SemanticMemory.open(settings=settings, embedder=CentredEmbedder())


def _write_model(memory: SemanticMemory, number: int) -> None:
    dice = random.Random(0)
    for first in range(0, number, 50):
        said = [
            Message(role="assistant", content=statement(dice, place))
            for place in range(first, min(first + 50, number))
        ]
        memory.observe(said, user_id=_MODEL, session_id=f"s{first // 50}")


def _write_large(url: str, number: int) -> None:
    dice, embedder = random.Random(1), CentredEmbedder()
    with closing(PostgresLedger(url)) as ledger:
        for first in range(0, number, _BATCH):
            texts = [statement(dice, at) for at in range(first, min(first + _BATCH, number))]
            rows = embedder.embed(texts, "document")
            ledger.apply(
                [
                    Add(
                        _fact(f"large-{first + at}", text), FactVectors(rows[at : at + 1], rows[:0])
                    )
                    for at, text in enumerate(texts)
                ]
            )


def _fact(fact_id: str, text: str) -> Fact:
    return Fact(
        id=fact_id,
        user_id=LARGE,
        content=text,
        category=Category.CONVERSATION,
        created_at=_NOW,
        recorded_at=_NOW,
        valid_from=_NOW,
    )


def _copy(url: str, first: int, number: int) -> None:
    """Copy all rows of the user that was written to `number` more, from user-`first` on."""
    with psycopg.connect(url) as connection:
        connection.execute("SET session_replication_role = replica")  # no triggers
        connection.execute(f"SET search_path TO {_SCHEMA}".encode())
        columns: dict[str, list[tuple[str, str]]] = {}
        for table, name, kind in connection.execute(_COLUMNS, (_SCHEMA,)).fetchall():
            columns.setdefault(table, []).append((name, kind))
        owned = {table: found for table, found in columns.items() if ("user_id", "text") in found}
        for table, found in owned.items():
            names = ", ".join(f'"{name}"' for name, _ in found)
            copied = ", ".join(_replaced(name, kind) for name, kind in found)
            rows = f'SELECT {copied} FROM "{table}" WHERE user_id = %(model)s'  # noqa: S608  # ours
            insert = f'INSERT INTO "{table}" ({names}) OVERRIDING SYSTEM VALUE {rows}'
            for user in range(first, first + number):
                named = {"model": _MODEL, "user": f"user-{user}", "shift": user * _APART}
                named |= {"token": owner_token(_MODEL), "own": owner_token(f"user-{user}")}
                connection.execute(insert.encode(), named)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def _replaced(column: str, kind: str) -> str:
    """Return the expression of a column for another user."""
    match column:
        case "num":
            return "num + %(shift)s"
        case "id":
            return "substr(md5(id || %(user)s::text), 1, length(id))"
        case _ if kind in _TEXTS:
            replaced = f'replace("{column}"::text, %(model)s, %(user)s)'
            return f"replace({replaced}, %(token)s, %(own)s)::{kind}"
        case _:
            return f'"{column}"'


def _measured(
    server: PostgresServer,
    url: str,
    scratch: Path,
    memories: int,
    copied: float,
    users: int,
    number: int,
) -> Stage:
    dice = random.Random(memories)
    with _open(url, scratch) as memory:

        def searches(asked: Sequence[str]) -> Searches:
            return _searches(server, memory, dice, asked)

        some = [f"user-{one}" for one in dice.sample(range(users), min(users, _FIRST_SEARCHES))]
        memory.search("warm up", user_id=LARGE)
        memory.flush()  # opens the index that the search has asked for
        found = {
            "a small user, first": searches(some),
            "a small user, again": searches(dice.choices(some, k=number)),
            "the outgrown user": searches([LARGE] * number),
        }
        seconds = {"statistics": _seconds(memory.admin.stats)}
        for job in _JOBS:
            seconds[f"job {job}"] = _seconds(partial(memory.jobs.run, [job]))
        before, cpu = time.perf_counter(), _cpu(server)
        for speaker in range(_SPEAKERS):
            said = [Message(role="user", content=_own(memories + turn)) for turn in range(_SAID)]
            memory.observe(said, user_id=f"speaker-{speaker}", session_id=f"s{memories}")
        memory.flush()
        took, spent = time.perf_counter() - before, _cpu(server) - cpu
    return Stage(
        memories=memories,
        copied=copied,
        kilobytes=_disk(server.url, memories),
        searches=found,
        seconds=seconds,
        extracted=_SPEAKERS * _SAID / took,
        extraction_cpu=1_000 * spent / (_SPEAKERS * _SAID),
    )


def _own(number: int) -> str:
    """Return a message that holds a fact."""
    return f"I keep box {number} in the cellar."


def _searches(
    server: PostgresServer, memory: SemanticMemory, dice: random.Random, users: Sequence[str]
) -> Searches:
    before = _cpu(server)
    times = sorted(_seconds(partial(_search, memory, dice, user)) for user in users)
    spent = _cpu(server) - before
    return Searches(
        p50=1_000 * times[len(times) // 2],
        p95=1_000 * times[int(0.95 * (len(times) - 1))],
        cpu=1_000 * spent / len(users),
    )


def _search(memory: SemanticMemory, dice: random.Random, user_id: str) -> None:
    hits = memory.search(question(dice), user_id=user_id, k=10)
    if not hits or any(hit.fact.user_id != user_id for hit in hits):
        raise StoreError(f"a search of {user_id} found {hits}: the copied rows are wrong")


def _cpu(server: PostgresServer) -> float:
    return time.process_time() + seconds_of(server.pid)


def _disk(url: str, memories: int) -> dict[str, float]:
    """Return KB of a memory by table, indexes included."""
    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute(_SIZES, (_SCHEMA,)).fetchall()
    return {name: size / 1_000 / memories for name, size in rows}


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
