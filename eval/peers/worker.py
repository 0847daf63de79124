"""Fill or search one peer; run in its environment: python -m eval.peers.worker.

The last line printed is a JSON object of figures.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

from eval.peers import Peer, Texts
from eval.peers.vectors import KnownVectors
from eval.processes import family, megabytes_on_disk, milliseconds, resident_megabytes, seconds_of

PEERS = {
    "semantic-memory": ("eval.peers.ours", "Ours", "semantic-memory"),
    "chroma": ("eval.peers.chroma", "Chroma", "chromadb"),
    "langgraph": ("eval.peers.langgraph", "LangGraph", "langgraph-checkpoint-sqlite"),
    "mem0": ("eval.peers.mem0", "Mem0", "mem0ai"),
    "mempalace": ("eval.peers.mempalace", "MemPalace", "mempalace"),
    "txtai": ("eval.peers.txtai", "Txtai", "txtai"),
}
"""Module, class and distribution of each."""
_BATCH = 1_000
_HITS = 10
_ROUNDS = 2


def fill(peer: Peer, texts: Texts, singles: Texts, store: Path) -> dict[str, float]:
    """Add texts in batches, then some one by one. Times are in milliseconds a text."""
    start, used = time.perf_counter(), seconds_of(os.getpid())
    for user, batch in _batches(texts):
        peer.add(user, batch)
    added = time.perf_counter()
    peer.settle()
    settled, spent = time.perf_counter(), seconds_of(os.getpid())
    alone = [milliseconds(partial(peer.add, user, [text])) for user, text in singles]
    peer.settle()
    return {
        "bulk add, ms": 1_000 * (added - start) / len(texts),
        "bulk add, all work done, ms": 1_000 * (settled - start) / len(texts),
        "bulk add, CPU ms": 1_000 * (spent - used) / len(texts),
        "add, p50 ms": statistics.median(alone),
        "disk, MB": megabytes_on_disk(store),
    }


def search(peer: Peer, questions: Texts, started: float) -> dict[str, float]:
    """Search after a start at the monotonic time `started`, then again and again."""
    user, question = questions[0]
    if not peer.search(user, question, _HITS):
        raise RuntimeError(f"nothing is found for {question!r}")
    cold = time.monotonic() - started
    for user, question in questions:  # every user once
        peer.search(user, question, _HITS)
    used = seconds_of(os.getpid())
    taken = sorted(
        milliseconds(partial(peer.search, user, question, _HITS))
        for _ in range(_ROUNDS)
        for user, question in questions
    )
    spent = seconds_of(os.getpid()) - used
    return {
        "start to first result, ms": 1_000 * cold,
        "search p50, ms": statistics.median(taken),
        "search p95, ms": taken[int(0.95 * (len(taken) - 1))],
        "search CPU, ms": 1_000 * spent / len(taken),
        "resident, MB": sum(map(resident_megabytes, family(os.getpid()))),
    }


def main(arguments: Sequence[str]) -> None:
    """Run one step, and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m eval.peers.worker")
    parser.add_argument("name", choices=PEERS)
    parser.add_argument("step", choices=("fill", "search"))
    parser.add_argument("corpus", type=Path, help="directory that eval.peers.bench wrote")
    parser.add_argument("store", type=Path)
    parser.add_argument("started", type=float, help="monotonic time at which the process started")
    asked = parser.parse_args(arguments)
    corpus = json.loads((asked.corpus / "texts.json").read_text(encoding="utf-8"))
    module, kind, package = PEERS[asked.name]
    parts = ("texts", "singles", "questions")
    known = [text for part in parts for _, text in corpus[part]]
    vectors = KnownVectors.read(known, asked.corpus / "vectors.npy")
    peer: Peer = getattr(importlib.import_module(module), kind)(asked.store, vectors)
    if asked.step == "fill":
        figures = fill(peer, corpus["texts"], corpus["singles"], asked.store)
    else:
        figures = search(peer, corpus["questions"], asked.started)
    peer.close()
    print(json.dumps({"version": version(package), "figures": figures}))


def _batches(texts: Texts) -> Iterator[tuple[str, list[str]]]:
    for user, own in groupby(texts, key=lambda pair: pair[0]):
        said = [text for _, text in own]
        for start in range(0, len(said), _BATCH):
            yield user, said[start : start + _BATCH]


if __name__ == "__main__":
    main(sys.argv[1:])
