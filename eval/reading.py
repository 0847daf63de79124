"""Draw facts that the rules extract from conversations, to be read and graded by hand.

    python -m eval.reading --locomo FILE --realtalk FILE [--count 150] [--seed 41] [--grades FILE]

Prints a number, the key and the fact of each, with what was said. Grades, one JSON object a line
with the `seed` of the draw, `key` and `grade`, are counted with `--grades`. Statements that trained
the judge of what is worth keeping aren't drawn. The grades:

    useful          true, stands alone, and worth knowing a month later
    small talk      true and stands alone, but says nothing that lasts
    not alone       can't be understood without the conversation
    distorted       says something else than the speaker did
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from eval.worth import read_labels
from ingest.extract.judge import judge_for
from ingest.extract.offline import OfflineExtractor
from ingest.gate import Gate
from ingest.readers import Format, Incoming, read
from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.settings import Settings

_SHOWN = 300
"""Characters shown of a message."""


class Drawn(NamedTuple):
    """A fact with the message that it came from."""

    key: str
    """Data set, conversation, session and message, and a hash of the fact."""
    fact: str
    said: str


def facts(path: Path, form: Format) -> Iterator[Drawn]:
    """Yield every fact that passes the gate from the conversations of a file."""
    embedder = make_embedder(Settings())
    judge = judge_for(embedder)

    def of_unread(statements: Sequence[str]) -> list[float]:
        read_before = read_labels(statements)
        return [
            0.0 if one in read_before else likely
            for one, likely in zip(statements, judge(statements), strict=True)
        ]

    extractor, gate = OfflineExtractor(embedder, of_unread), Gate()
    sessions: dict[tuple[str, str], list[Incoming]] = {}
    for item in read(path, form, ""):
        if isinstance(item, Incoming):
            sessions.setdefault((item.user_id or "", item.session_id), []).append(item)
    for (user_id, session_id), own in sessions.items():
        messages = [item.message for item in own]
        said = {message.id: message.content for message in messages}
        for candidate in gate.admit(extractor.extract(messages).candidates, messages).admitted:
            source = candidate.message_ids[0]
            digest = hashlib.sha256(candidate.content.encode()).hexdigest()[:12]
            key = f"{form}/{user_id}/{session_id}/{source}/{digest}"
            yield Drawn(key, candidate.content, said[source])


def main(
    locomo: Annotated[Path, typer.Option(exists=True)],
    realtalk: Annotated[Path, typer.Option(exists=True)],
    count: Annotated[int, typer.Option(help="Facts to draw.")] = 150,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 41,
    grades: Annotated[
        Path | None, typer.Option(help="Only count the grades given to that draw.")
    ] = None,
) -> None:
    """Print facts drawn from both files, or count their grades."""
    if grades is not None:
        _count(grades, seed)
        return
    found = [*facts(locomo, "locomo"), *facts(realtalk, "realtalk")]
    drawn = random.Random(seed).sample(found, min(count, len(found)))
    for number, one in enumerate(drawn):
        said = " ".join(one.said.split())[:_SHOWN]
        print(f"{number}\t{one.key}\n\t{one.fact}\n\t<< {said}")


def _count(grades: Path, seed: int) -> None:
    """Print how many facts of a draw got each grade."""
    rows = map(json.loads, grades.read_text(encoding="utf-8").splitlines())
    counted = Counter(row["grade"] for row in rows if row["seed"] == seed)
    for grade, number in counted.most_common():
        print(f"{grade}: {number} ({number / counted.total():.0%})")


if __name__ == "__main__":
    typer.run(main)
