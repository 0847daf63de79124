"""Reranker that comes with the package: a small cross-encoder on ONNX Runtime, without a key.

It was trained on questions about conversations, and reads a memory behind what was said before it.
`python -m training answers` trains it from `data/gold/talk.jsonl`.
"""

from __future__ import annotations

from collections.abc import Sequence

from semantic_memory.domain.language import is_english
from semantic_memory.judging.packaged import packaged

BLEND = 0.02
"""Weight of its score beside that of the search, which knows time, speaker and session."""
FOR_BLOCKS, FOR_SEARCHES = 8, 20
"""Numbers of the best hits that it reads, about 7 ms of CPU each: of a block the first ones matter,
as the ten best are in it whatever their order."""


class PackagedReranker:
    """Reranker by the packaged model. Thread-safe; loaded at first use."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how surely each text answers a query, as logits; 0 unless the query is English.

        Raises ConfigurationError if the model is damaged.
        """
        if not is_english(query):
            return [0.0] * len(texts)
        model = packaged("answers")
        return [float(model.logits(query, text)[0]) for text in texts]

    def close(self) -> None:
        """Do nothing: the model goes with the process."""
