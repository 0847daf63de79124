"""Real conversations in small windows: python -m eval.windows --data FILE [--window N ...].

For every turn the session builds a payload, then the turn is pushed. The figures are the largest
payload relative to its limit, the tokens saved by each level of compaction, and the share of
dropped messages that a search for their own words still finds.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.table import Table

from eval.datasets.files import read_text
from semantic_memory.domain.errors import PromptTooLongError
from semantic_memory.domain.events import Event, WindowCompacted
from semantic_memory.domain.facts import Category
from semantic_memory.entrypoints.cli import show
from semantic_memory.memory import SemanticMemory

WINDOWS = (4_096, 16_384, 131_072)
_SAMPLED = 40  # number of dropped messages to search for
_DEPTH = 10

Turn = dict[str, str]


def conversation(data: Path) -> list[Turn]:
    """Load the first conversation of a LoCoMo or LongMemEval file, in two roles."""
    document = json.loads(read_text(data))
    turns = _locomo(document[0]) if "conversation" in document[0] else _longmemeval(document[0])
    return [turn for turn in turns if turn["content"].strip()]


def _locomo(sample: dict[str, Any]) -> list[Turn]:
    talk = sample["conversation"]
    numbers = sorted(int(key.split("_")[1]) for key in talk if key.count("_") == 1 and "n_" in key)
    said = [turn for number in numbers for turn in talk[f"session_{number}"]]
    first = said[0]["speaker"]
    return [
        {"role": "user" if turn["speaker"] == first else "assistant", "content": turn["text"]}
        for turn in said
    ]


def _longmemeval(entry: dict[str, Any]) -> list[Turn]:
    return [
        {"role": turn["role"], "content": turn["content"]}
        for session in entry["haystack_sessions"]
        for turn in session
    ]


def push_through(turns: Sequence[Turn], window: int) -> dict[str, Any]:
    """Run a conversation through a window; return the figures."""
    events: list[Event] = []
    fullest, refused, taken = 0.0, 0, []
    with (
        TemporaryDirectory(prefix="semantic-memory-eval-") as directory,
        SemanticMemory.open(Path(directory, "store"), observer=events.append) as memory,
    ):
        session = memory.sessions.open(
            user_id="u1",
            session_id="s1",
            system_prompt="You are a helpful assistant.",
            window=window,
            memory_directories=(),
        )
        effective = window - min(13_000, window // 4)
        for start in range(0, len(turns), 2):
            pair = turns[start : start + 2]
            begun = time.perf_counter()
            try:
                payload = session.payload(pair[0]["content"])
                fullest = max(fullest, payload.tokens / effective)
            except PromptTooLongError:
                refused += 1
            taken.append(1_000 * (time.perf_counter() - begun))
            session.push(pair)
        shown = {message.id for message in session.messages}
        memory.flush()
        said = memory.list(user_id="u1", filters={"categories": ["conversation"]}, limit=None)
        dropped = [fact for fact in said if shown.isdisjoint(fact.message_ids)]
        found = 0
        sample = random.Random(0).sample(dropped, min(_SAMPLED, len(dropped)))
        for fact in sample:
            words = " ".join(fact.content.split()[:12])
            hits = memory.search(words, user_id="u1", k=_DEPTH)
            found += any(not set(fact.message_ids).isdisjoint(h.fact.message_ids) for h in hits)
        promoted = sum(
            fact.category is not Category.CONVERSATION
            for fact in memory.list(user_id="u1", limit=None)
        )
    saved: Counter[str] = Counter()
    for event in events:
        if isinstance(event, WindowCompacted):
            saved[event.step] += event.before - event.tokens
    taken.sort()
    return {
        "window": window,
        "messages": len(turns),
        "fullest": round(fullest, 3),
        "refused": refused,
        "saved": dict(saved),
        "dropped": len(dropped),
        "found": round(found / len(sample), 3) if sample else None,
        "facts": promoted,
        "payload_p50_ms": round(taken[len(taken) // 2], 1),
        "payload_p95_ms": round(taken[int(0.95 * (len(taken) - 1))], 1),
    }


def main(
    data: Annotated[Path, typer.Option("--data", help="A LoCoMo or LongMemEval file.")],
    window: Annotated[
        list[int] | None, typer.Option(help="Size in tokens; can be given several times.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run a conversation through windows of several sizes."""
    turns = conversation(data)
    rows = [push_through(turns, size) for size in window or WINDOWS]
    if as_json:
        print(json.dumps(rows))
        return
    table = Table(*rows[0])
    for row in rows:
        table.add_row(*map(str, row.values()))
    show.out.print(table)


if __name__ == "__main__":
    typer.run(main)
