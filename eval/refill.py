"""Speed of refilling the vector index from the ledger, beside what Chroma takes by itself.

One user's 5,000 messages of 2 KB, 10 MB of log. Their vectors are drawn at random, as embedding
them would take ten minutes and neither the ledger nor Chroma cares.
"""

from __future__ import annotations

import random
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import chromadb
import numpy as np
from chromadb.config import Settings as ChromaSettings

from eval.vectors import RandomEmbedder
from semantic_memory.domain.messages import Message
from semantic_memory.domain.ports import IndexEntry
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import IngestSettings, Settings
from semantic_memory.vectors.chroma.index import BATCH, pieces

_MEMORIES = 5_000
_CHARACTERS = 2_000
_USER = "large"
_WORDS = (
    "the a scheduler flat cluster report ticket class bicycle latency talk storage engine milk key"
    " rotation script present team customer manager moved painted deployed bought planned measured"
    " visited lost yesterday week March Tuesday again"
).split()


def measure_refill(memories: int = _MEMORIES) -> dict[str, float]:
    """Fill a store, rebuild its index while searching, and write the same vectors to Chroma alone.

    Times are in milliseconds.
    """
    with tempfile.TemporaryDirectory(prefix="semantic-memory-refill-") as scratch:
        directory = Path(scratch, "store")
        settings = Settings(data_dir=directory, ingest=IngestSettings(background=False))
        with SemanticMemory.open(settings=settings, embedder=RandomEmbedder()) as memory:
            _fill(memory, memories)
            found, took = _rebuilt(memory)
        log = sum(file.stat().st_size for file in directory.rglob("*.jsonl"))
        ledger = SqliteLedger(directory / "ledger.sqlite3")
        ledger.unindex("index", "")
        entries = ledger.outbox(memories).entries
        ledger.close()
        vectors = sum(len(entry.windows) for entry in entries)
        alone = _chroma_alone(Path(scratch, "alone"), entries)
    return {
        "rebuild: memories": memories,
        "rebuild: MB of log": log / 1e6,
        "rebuild: first search ms": 1_000 * found[0],
        "rebuild: slowest search while refilling ms": 1_000 * max(found),
        "rebuild: until refilled ms": 1_000 * took,
        "rebuild: vectors a second": vectors / took,
        "rebuild: vectors a second, Chroma alone": vectors / alone,
    }


def _fill(memory: SemanticMemory, number: int) -> None:
    dice = random.Random(0)
    for first in range(0, number, 50):
        messages = [
            Message(role="assistant", content=_text(dice)) for _ in range(min(50, number - first))
        ]
        memory.observe(messages, user_id=_USER, session_id=f"s{first // 50}")
    memory.flush()


def _text(dice: random.Random) -> str:
    text = ""
    while len(text) < _CHARACTERS:
        text += " ".join(dice.choices(_WORDS, k=12)).capitalize() + ". "
    return text[:_CHARACTERS]


def _rebuilt(memory: SemanticMemory) -> tuple[list[float], float]:
    """Return the seconds that each search took during a rebuild, and those of the rebuild."""
    memory.search("warm up", user_id=_USER)
    start = time.perf_counter()
    rebuilding = threading.Thread(target=memory.admin.rebuild)
    rebuilding.start()
    found = list(_searches(memory, rebuilding))
    rebuilding.join()
    return found, time.perf_counter() - start


def _searches(memory: SemanticMemory, rebuilding: threading.Thread) -> Iterator[float]:
    while rebuilding.is_alive():
        start = time.perf_counter()
        memory.search("the scheduler", user_id=_USER)
        yield time.perf_counter() - start
        rebuilding.join(0.5)  # as the searches themselves slow the rebuild down


def _chroma_alone(directory: Path, entries: Sequence[IndexEntry]) -> float:
    """Return the seconds that Chroma takes for the same vectors, texts and metadata in one loop."""
    held = [piece for entry in entries for piece in pieces(entry)]
    client = chromadb.PersistentClient(
        str(directory), settings=ChromaSettings(anonymized_telemetry=False)
    )
    collection = client.create_collection(
        "memories", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
    )
    start = time.perf_counter()
    for first in range(0, len(held), BATCH):
        part = held[first : first + BATCH]
        collection.upsert(
            ids=[piece.id for piece in part],
            embeddings=np.stack([piece.window for piece in part]),
            documents=[piece.document for piece in part],
            metadatas=[piece.metadata for piece in part],
        )
    return time.perf_counter() - start
