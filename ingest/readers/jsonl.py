"""Reader of JSONL: `{role, content, name?, created_at?, id?, session_id?, metadata?}` a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from ingest.readers.values import Builder, Incoming, Rejected


def read_jsonl(lines: Iterable[bytes], session_id: str) -> Iterator[Incoming | Rejected]:
    """Read the messages of a JSONL file; skip blank lines."""
    builder = Builder()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            values = json.loads(line.decode("utf-8"))
            if not isinstance(values, dict):
                raise ValueError("is not an object with at least role and content")
            session = values.pop("session_id", None) or session_id
            yield builder.incoming(None, session, values)
        except ValueError as error:
            yield Rejected(f"line {number}", str(error))
        except RecursionError:
            yield Rejected(f"line {number}", "is nested too deeply")
