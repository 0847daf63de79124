"""Say a request to forget, or settle one, until killed at a step of the way.

python -m tests.crash.asking DIRECTORY say|settle|confirm STEP
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from semantic_memory import Message, SemanticMemory
from tests.crash.forgetting import KEY, opened
from tests.crash.steps import count_calls

SAID = ("Anna lives in Bergen. We had pasta.", "I like tea", "Please forget what I said about Anna")
CONFIRMED = "Yes, do it."
_WATCHED = (
    "asking.py",
    "changes.py",
    "erasing.py",
    "forget_requests.py",
    "forgetting.py",
    "session_log.py",
    "storing.py",
)


def say(memory: SemanticMemory, *texts: str) -> None:
    """Say texts, the first of which are known already, and wait for all stages."""
    messages = [Message(id=f"m{n}", role="user", content=text) for n, text in enumerate(texts)]
    memory.observe(messages, **KEY)
    memory.flush()


def settle(memory: SemanticMemory) -> None:
    """Settle the request."""
    (request,) = memory.history.requests(user_id=KEY["user_id"])
    memory.history.settle(request.id, user_id=KEY["user_id"], answer="forget")


def main(directory: Path, what: str, step: int) -> None:
    """Do it, and kill this process as it enters a watched module for the `step`th time."""
    with opened(directory) as memory:
        ways = {
            "say": partial(say, memory, *SAID),
            "settle": partial(settle, memory),
            "confirm": partial(say, memory, *SAID, CONFIRMED),
        }
        print(count_calls(ways[what], _WATCHED, step))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
