"""Write and exit while a stage is within a local model; print what was acknowledged.

python -m tests.crash.exiting DIRECTORY MODEL EXIT
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from semantic_memory import Message, SemanticMemory
from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.ports import InputType
from semantic_memory.judging.packaged import packaged
from semantic_memory.judging.ports import Pair, Verdict
from semantic_memory.testing import HashEmbedder
from semantic_memory.vectors.embedders.onnx import OnnxEmbedder

BUSY = threading.Event()


def never_ending(call: Callable[[str], object]) -> None:
    """Call a model with one text after another, in the background only."""
    if threading.current_thread() is threading.main_thread():
        return
    for number in count():
        call(f"Likes the tea number {number} of the long list")
        BUSY.set()


class Embedding(HashEmbedder):
    """An embedder on ONNX Runtime whose work never ends."""

    def embed(self, texts: Sequence[str], input_type: InputType) -> Matrix:
        """Return the vectors of `HashEmbedder`, in the end."""
        never_ending(lambda text: MODEL.embed([text], input_type))
        return super().embed(texts, input_type)


class Judging:
    """A pair judge on ONNX Runtime whose work never ends."""

    name = "never-ending"

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict | None]:
        """Return no verdicts, in the end."""
        encoder = packaged("pairs")
        never_ending(lambda text: encoder.heads(text, "Likes coffee"))
        return [None for _ in pairs]


MODEL = OnnxEmbedder()


def main(directory: Path, model: str, closing: str) -> None:
    memory = SemanticMemory.open(
        directory,
        embedder=Embedding() if model == "embedder" else HashEmbedder(),
        pair_judge=Judging() if model == "judge" else None,
    )
    for what in ("green tea", "black tea", "white tea"):
        print(memory.add(f"Likes {what}", user_id="ana").id, flush=True)
    message = Message(id="said", role="user", content="I moved to Berlin")
    memory.observe([message], user_id="ana", session_id="monday")
    print(message.id, flush=True)
    if not BUSY.wait(60):
        sys.exit("no stage called the model")
    if closing == "closed":
        memory.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
