"""Cases of forgetting: words that go and words that stay; and a program that is killed at it.

python -m tests.crash.matrix DIRECTORY KILLS
"""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from semantic_memory import Category, Message, SemanticMemory
from tests.crash.forgetting import opened
from tests.crash.steps import count_calls

WORDS = {"divorced", "pasta", "juniper", "Oslo", "ferry", "cello", "window", "Ruben"}
"""One of each thing that was said or added."""
MATRIX: Mapping[str, tuple[Mapping[str, Any], set[str]]] = {
    "fact": ({"fact": "divorced"}, {"divorced"}),
    "message": ({"message": "divorced"}, {"divorced", "pasta"}),
    "entity": ({"entity": "Anna"}, {"divorced", "Ruben"}),
    "query": ({"query": "Anna divorced"}, {"divorced"}),
    "tag": ({"tag": "music"}, {"cello"}),
    "session": ({"session_id": "s1"}, {"divorced", "pasta", "juniper", "Oslo"}),
    "time": ({"since": datetime(2026, 5, 1, tzinfo=UTC)}, {"ferry"}),
    "filters": ({"filters": "min_importance:0.9"}, {"cello"}),
    "source": ({"source": "speaker:browser"}, {"ferry"}),
    "withdrawn": ({"source": "trust:agent", "withdraw": True}, {"window"}),
    "everything": ({"everything": True}, WORDS),
}
"""By name: what `forget` is given, or a word of the memory that is deleted; and the words that go.
All others stay."""
_APRIL, _MAY = (datetime(2026, month, 5, tzinfo=UTC) for month in (4, 5))
_SAID = ("My sister Anna is getting divorced. We had pasta.", "I like juniper", "I live in Oslo")
_WATCHED = ("session_log.py", "log_file.py", "sessions.py", "erasing.py", "changes.py")


def fill(memory: SemanticMemory, user_id: str) -> None:
    """Give a user something of each kind."""
    said = [
        Message(id=f"m{n}", role="user", content=text, created_at=_APRIL)
        for n, text in enumerate(_SAID)
    ]
    memory.observe(said, user_id=user_id, session_id="s1")
    told = Message(
        id="t0", role="tool", name="browser", content="The ferry leaves at nine", created_at=_MAY
    )
    memory.observe([told], user_id=user_id, session_id="s2")
    by_hand: dict[str, Any] = {"user_id": user_id, "created_at": _APRIL}
    memory.add("Ruben is a lawyer of Anna", **by_hand)
    memory.add("Plays the cello", tags=["music.strings"], importance=0.9, **by_hand)
    memory.add("Prefers window seats", trust="agent", **by_hand)
    memory.flush()


def deleted(facts: list[Any], given: Mapping[str, Any]) -> str | None:
    """Return the id of the memory that is to be deleted; None if `given` is for `forget`."""
    for name, is_message in (("fact", False), ("message", True)):
        if name in given:
            return next(
                str(fact.id)
                for fact in facts
                if given[name] in fact.content
                and (fact.category is Category.CONVERSATION) is is_message
            )
    return None


def words_left(memory: Any, user_id: str) -> set[str]:
    """Return the words that are in an answer of a store or of a client."""
    told = [fact.content for fact in memory.list(user_id=user_id, limit=None)]
    told += [hit.fact.content for hit in memory.search("Anna", user_id=user_id, k=50)]
    told.append(memory.context("Anna, the ferry and Oslo", user_id=user_id).text)
    return {word for word in WORDS if any(word in one for one in told)}


def forget(memory: SemanticMemory, what: str) -> None:
    """Forget by a row of the matrix."""
    given, _ = MATRIX[what]
    one = deleted(memory.list(user_id="u1", limit=None), given)
    if one is not None:
        memory.delete(one, user_id="u1")
    else:
        memory.forget(user_id="u1", **given)


def _run(directory: Path, what: str, step: int) -> int:
    """Forget, and kill this process as it enters a watched module for the `step`th time."""
    with opened(directory) as memory:
        return count_calls(partial(forget, memory, what), _WATCHED, step)


def _count(directory: Path, what: str, steps: Path) -> None:
    steps.write_text(str(_run(directory, what, 0)))


def _in_child(work: Callable[[], object]) -> None:
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def main(directory: Path, kills: int) -> None:
    """Fill a store, and leave a copy that was killed for each row and each of `kills` steps."""
    fresh = directory / "fresh"

    with opened(fresh) as memory:  # in this process, so that no child loads the modules again
        for user_id in ("u1", "u2"):
            fill(memory, user_id)
    dice = random.Random(11)
    for what in MATRIX:
        whole = directory / f"{what}-whole"
        shutil.copytree(fresh, whole)
        steps = directory / f"{what}.steps"
        _in_child(partial(_count, whole, what, steps))
        number = int(steps.read_text())
        for step in sorted(dice.sample(range(1, number + 1), min(kills, number))):
            killed = directory / f"{what}-{step}"
            shutil.copytree(fresh, killed)
            _in_child(partial(_run, killed, what, step))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
