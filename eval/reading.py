"""Draw facts that the rules extract from conversations, to be read and graded by hand.

    python -m eval.reading --locomo FILE --realtalk FILE [--count 150] [--seed 41] [--grades FILE]

Prints a number, the key and the fact of each, with what was said. A fact keeps its key, so grades,
one JSON object a line with `key` and `grade`, can be counted with `--grades`:

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
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from ingest.extract.offline import OfflineExtractor
from ingest.gate import Gate
from ingest.readers import Format, Incoming, read

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
    extractor, gate = OfflineExtractor(), Gate()
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
    grades: Annotated[Path | None, typer.Option(help="Count the grades of the draw.")] = None,
) -> None:
    """Print facts drawn from both files, or count their grades."""
    found = [*facts(locomo, "locomo"), *facts(realtalk, "realtalk")]
    drawn = random.Random(seed).sample(found, min(count, len(found)))
    if grades is None:
        for number, one in enumerate(drawn):
            said = " ".join(one.said.split())[:_SHOWN]
            print(f"{number}\t{one.key}\n\t{one.fact}\n\t<< {said}")
        return
    known = {
        row["key"]: row["grade"]
        for row in map(json.loads, grades.read_text(encoding="utf-8").splitlines())
    }
    counted = Counter(known.get(one.key, "not graded") for one in drawn)
    print(f"{len(drawn)} of {len(found)} facts")
    for grade, number in counted.most_common():
        print(f"{grade}: {number} ({number / len(drawn):.0%})")


if __name__ == "__main__":
    typer.run(main)
