"""Reranker that comes with the package: a small cross-encoder on ONNX Runtime, without a key.

It was trained on questions about conversations, and reads a memory behind what was said before it.
`python -m training answers` trains it from `data/gold/talk.jsonl`.
"""

from __future__ import annotations

from collections.abc import Sequence

from semantic_memory.domain.language import is_english
from semantic_memory.domain.patterns import regex
from semantic_memory.judging.packaged import packaged

BLEND = 0.02
"""Weight of its score beside that of the search, which knows time, speaker and session."""
FOR_BLOCKS, FOR_SEARCHES = 7, 20
"""Numbers of the best hits that it reads, about 8 ms of CPU each: of a block the first ones matter,
as the ten best are in it whatever their order."""


_LONGEST = 300
"""Characters of a query that are read: that of a session is a whole message."""
_LETTER = regex(r"[^\W\d_]")


class PackagedReranker:
    """Reranker by the packaged model. Thread-safe; loaded at first use."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how surely each text answers a query, as logits; none unless the query is English.

        A text in another language gets the mean of the others. Raises ConfigurationError if the
        model is damaged.
        """
        query = query[:_LONGEST]
        if not _LETTER.search(query) or not is_english(query):
            return []
        model = packaged("answers")
        read = [float(model.logits(query, one)[0]) if is_english(one) else None for one in texts]
        known = [score for score in read if score is not None]
        if not known:
            return []
        mean = sum(known) / len(known)
        return [mean if score is None else score for score in read]

    def close(self) -> None:
        """Do nothing: the model goes with the process."""
