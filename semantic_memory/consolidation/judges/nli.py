"""A judge that runs a natural language inference model on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from sentence_transformers import CrossEncoder

from semantic_memory.consolidation.guards import disagreements
from semantic_memory.consolidation.relations import Pair, Relation, Verdict
from semantic_memory.consolidation.statements import read
from semantic_memory.domain.errors import ConfigurationError

_LABELS = ("contradiction", "entailment", "neutral")


class NLIJudge:
    """Judge that classifies each pair in both directions with a cross-encoder trained for NLI.

    Entailment both ways means `same`, one way `refines`, contradiction either way a conflict.
    Models trained on captions call different events contradictions, so a conflict also needs a
    cosine of at least `similarity`. Statements whose guards disagree are never the same.
    """

    def __init__(
        self, model: str | Path, *, threshold: float = 0.8, similarity: float = 0.6
    ) -> None:
        """Load `model`, a directory or a name already in the local cache.

        Raises ConfigurationError if it can't be loaded or has other labels.
        """
        try:
            self._encoder = CrossEncoder(str(model), device="cpu", local_files_only=True)
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"can't load the NLI model {str(model)!r}: {error}; give the directory of a"
                " cross-encoder, for example of cross-encoder/nli-MiniLM2-L6-H768"
            ) from error
        self._name = Path(model).name
        self._columns = _columns(str(model), self._encoder.config.id2label)
        self._threshold = threshold
        self._similarity = similarity

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Return one verdict for each pair."""
        if not pairs:
            return []
        texts = [(pair.older.content, pair.newer.content) for pair in pairs]
        both = texts + [(newer, older) for older, newer in texts]
        logits = np.asarray(self._encoder.predict(both, show_progress_bar=False), dtype=np.float64)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances = (odds / odds.sum(axis=1, keepdims=True))[:, self._columns]
        forth, back = chances[: len(pairs)], chances[len(pairs) :]
        return [
            self._verdict(*row) for row in zip(pairs, forth.tolist(), back.tolist(), strict=True)
        ]

    def _verdict(self, pair: Pair, forth: list[float], back: list[float]) -> Verdict:
        contradiction = max(forth[0], back[0])
        entailed = sorted((forth[1], back[1]))
        if contradiction >= self._threshold and pair.similarity >= self._similarity:
            days = pair.newer.created_at.date() > pair.older.created_at.date()
            relation = Relation.UPDATES if days else Relation.CONTRADICTS
            reasons = (f"NLI: contradiction {contradiction:.2f}",)
            return Verdict(relation, reasons, contradiction, self._name)
        if entailed[1] >= self._threshold:
            apart = disagreements(read(pair.older.content), read(pair.newer.content))
            if entailed[0] >= self._threshold and not apart:
                return Verdict(Relation.SAME, (f"NLI: entailed {entailed[0]:.2f}",), entailed[0])
            return Verdict(Relation.REFINES, (f"NLI: entailed {entailed[1]:.2f}",), entailed[1])
        return Verdict(Relation.UNRELATED, ("NLI: neutral",), max(forth[2], back[2]))


def _columns(model: str, names: Mapping[int, str]) -> list[int]:
    by_name = {name.casefold(): column for column, name in names.items()}
    if not set(_LABELS) <= set(by_name):
        raise ConfigurationError(
            f"the model {model!r} has the labels {sorted(by_name)}; an NLI model has"
            f" {', '.join(_LABELS)}"
        )
    return [by_name[label] for label in _LABELS]
