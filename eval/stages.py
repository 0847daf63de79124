"""CPU milliseconds of each stage of reading and writing, beside the floor that none can go below.

The embedder remembers the vectors of the questions, so that `search`, `context` and the service are
measured without the embedding, which is measured by itself. Only CPU time is taken, of the whole
process and all its threads; the median of several rounds is reported.
"""

from __future__ import annotations

import json
import random
import shutil
import socket
import sqlite3
import statistics
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from eval.bench import sentence
from eval.load import QUESTIONS, fill, service
from eval.processes import cpu_ms, seconds_of
from eval.starts import Drawn
from ingest.readers import Incoming
from ingest.readers import read as read_messages
from semantic_memory.application.private_files import PARTITIONS
from semantic_memory.domain.filters import NO_FILTERS
from semantic_memory.domain.laps import Laps
from semantic_memory.domain.messages import Message
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import ADDRESS_FILE
from semantic_memory.vectors.embedders.onnx import OnnxEmbedder

USER = "user-0"
"""The user of the store that `eval.load.fill` builds."""
_SAMPLES = Path(__file__).parent.parent / "data" / "conversations"
"""Conversations of 47 messages."""
_HITS = 10
_BUDGET = 1_000
_MESSAGES = 300
_FACTS = 1_000
_REQUESTS = 200
_TRACES = 500  # so many that writing them, which they wait for, is counted
_PATIENCE = 60.0  # seconds until a server answers
_SAID = datetime(2026, 1, 1, tzinfo=UTC)


def measure_stages(directory: Path | None, memories: int, rounds: int) -> dict[str, float]:
    """Measure all stages on the store in `directory`, of a user with so many memories.

    The store is built if it doesn't exist; without a directory it is deleted in the end.
    """
    with TemporaryDirectory(prefix="semantic-memory-stages-") as scratch:
        store = directory or Path(scratch, "store")
        if not store.exists():
            # In a process of its own, so that the first search finds no text read before.
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
                apart.submit(fill, store, 1, memories).result()
        return {
            **_reading(store, rounds),
            **_serving(store, rounds),
            **_writing(Path(scratch)),
            "first messages of a process, all of them": _beginning(Path(scratch)),
        }


def _reading(store: Path, rounds: int) -> dict[str, float]:
    model = OnnxEmbedder()
    turns = iter(range(10**9))

    def asked() -> str:
        return QUESTIONS[next(turns) % len(QUESTIONS)]

    def embed() -> None:
        model.embed([f"{asked()} {next(turns)}"], "query")

    model.embed(QUESTIONS, "query")
    shutil.rmtree(store / PARTITIONS, ignore_errors=True)
    with SemanticMemory.open(store, embedder=model) as memory:

        def search() -> None:
            memory.search(asked(), user_id=USER, k=_HITS)

        def context() -> None:
            memory.context(asked(), user_id=USER, budget=_BUDGET)

        memory.search(QUESTIONS[0], user_id="nobody")  # what is loaded once is loaded
        first_ms = cpu_ms(search)
        memory.flush()  # the user's partition is in its file
    with SemanticMemory.open(store, embedder=model) as memory:
        memory.search(QUESTIONS[0], user_id="nobody")
        again_ms = cpu_ms(search)
        hits = memory.search(QUESTIONS[0], user_id=USER, k=_HITS)
        ids = [hit.fact.id for hit in hits]
        search_ms, context_ms = median_cpu(search, rounds), median_cpu(context, rounds)
        tracer = memory.admin.inspection.tracer

        def trace() -> None:
            tracer.note_search(QUESTIONS[0], USER, NO_FILTERS, _HITS, hits, Laps())

        trace_ms = median_cpu(trace, rounds, times=_TRACES)
    with closing(sqlite3.connect(store / "ledger.sqlite3", isolation_level=None)) as db:
        query = f"SELECT * FROM facts WHERE id IN ({','.join('?' * len(ids))})"  # noqa: S608

        def read() -> None:
            db.execute("BEGIN")
            db.execute(query, ids).fetchall()
            db.execute("COMMIT")

        return {
            "floor: embedding a question": median_cpu(embed, rounds),
            "floor: reading 10 rows from SQLite": median_cpu(read, rounds),
            "first search of the user, from the ledger": first_ms,
            "first search of the user, from the file": again_ms,
            "search, without the embedding": search_ms,
            "of it, to note and write its trace": trace_ms,
            "context of 1,000 tokens, without the embedding": context_ms,
        }


def _serving(store: Path, rounds: int) -> dict[str, float]:
    body = {"query": QUESTIONS[0], "user_id": USER, "k": _HITS}
    with service(store) as (process, url):
        token = json.loads((store / ADDRESS_FILE).read_text(encoding="utf-8"))["token"]
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=url, headers=headers, timeout=_PATIENCE) as http:
            found = http.post("/v1/search", json=body).raise_for_status()
            searched = _request(process.pid, lambda: http.post("/v1/search", json=body), rounds)
            checked = _request(process.pid, lambda: http.get("/healthz"), rounds)
    with (
        answering(found.content) as (pid, url),
        httpx.Client(base_url=url, timeout=_PATIENCE) as http,
    ):
        alone = _request(pid, lambda: http.post("/", json=body), rounds)
    return {
        "floor: the same answer by uvicorn alone": alone,
        "/healthz of the service": checked,
        "/v1/search of the service, without the embedding": searched,
    }


def _writing(scratch: Path) -> dict[str, float]:
    dice = random.Random(2)
    texts = [sentence(dice, number) for number in range(2 * _MESSAGES + 2 * _FACTS)]
    first, said = texts[:_MESSAGES], texts[_MESSAGES : 2 * _MESSAGES]
    drawn, added = texts[-2 * _FACTS : -_FACTS], texts[-_FACTS:]
    alone = OnnxEmbedder()
    alone.embed(first, "document")
    embedded = cpu_ms(lambda: alone.embed(said, "document")) / _MESSAGES
    with SemanticMemory.open(scratch / "embedded", embedder=OnnxEmbedder()) as memory:
        _observe(memory, first, 0)  # patterns and vocabularies are loaded
        observed = cpu_ms(lambda: _observe(memory, said, _MESSAGES)) / _MESSAGES
        own = cpu_ms(lambda: _add(memory, added)) / _FACTS
    with SemanticMemory.open(scratch / "drawn", embedder=Drawn()) as memory:
        given = cpu_ms(lambda: _add(memory, drawn)) / _FACTS
    return {
        "floor: embedding a message": embedded,
        "observe, a message, everything done": observed,
        "add_many, a fact, embedded": own,
        "add_many, a fact, vectors given": given,
    }


def _beginning(scratch: Path) -> float:
    """Return what a new process takes for the sample conversations, all models loaded by it."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        return apart.submit(_begun, scratch / "begun").result()


def _begun(directory: Path) -> float:
    with SemanticMemory.open(directory) as memory:

        def observe() -> None:
            for file in sorted(_SAMPLES.glob("*.jsonl")):
                read = read_messages(file, "jsonl", file.stem)
                messages = [one.message for one in read if isinstance(one, Incoming)]
                memory.observe(messages, user_id=USER, session_id=file.stem)
            memory.flush()

        return cpu_ms(observe)


def _add(memory: SemanticMemory, texts: Sequence[str]) -> None:
    memory.transfer.add_many(
        [{"content": text, "category": "finding"} for text in texts], user_id="adds"
    )


def _observe(memory: SemanticMemory, texts: Sequence[str], first: int) -> None:
    messages = [
        Message(
            role="assistant" if place % 2 else "user",
            content=text,
            created_at=_SAID + timedelta(minutes=place),
        )
        for place, text in enumerate(texts, start=first)
    ]
    memory.observe(messages, user_id=USER, session_id="s")
    memory.flush()


def median_cpu(call: Callable[[], object], rounds: int, times: int = 20) -> float:
    """Return the CPU milliseconds of one call, the median of so many rounds of 20 calls."""
    for _ in range(times):
        call()
    return statistics.median(
        cpu_ms(lambda: [call() for _ in range(times)]) / times for _ in range(rounds)
    )


def _request(pid: int, ask: Callable[[], httpx.Response], rounds: int) -> float:
    """Return the CPU milliseconds that a process takes for a request."""
    taken = []
    for _ in range(rounds + 1):  # the first one warms up
        start = seconds_of(pid)
        for _ in range(_REQUESTS):
            ask().raise_for_status()
        taken.append(1_000 * (seconds_of(pid) - start) / _REQUESTS)
    return statistics.median(taken[1:])


@contextmanager
def answering(content: bytes) -> Iterator[tuple[int, str]]:
    """Run a server that answers every request with `content`; yield its process and URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = get_context("spawn").Process(target=_answer, args=(listener, content))
        process.start()
        try:
            yield process.pid or 0, f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            process.terminate()
            process.join()


def _answer(listener: socket.socket, content: bytes) -> None:
    async def answer(request: Request) -> Response:
        await request.body()
        return Response(content, media_type="application/json")

    app = Starlette(routes=[Route("/", answer, methods=["POST"])])
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")
    uvicorn.Server(config).run(sockets=[listener])
