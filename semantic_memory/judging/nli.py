"""A judge that runs a natural language inference model on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from sentence_transformers import CrossEncoder

from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.judging.ports import Pair, Verdict
from semantic_memory.language.identity import disagree

_LABELS = ("contradiction", "entailment", "neutral")


class NLIJudge:
    """Judge that classifies each pair in both directions with a cross-encoder trained for NLI.

    Entailment both ways means `same`, contradiction either way `over`. Models trained on captions
    call different events contradictions, so that also needs a cosine of at least `similarity`.
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
        self._name = f"nli:{Path(model).name}"
        self._columns = _columns(str(model), self._encoder.config.id2label)
        self._threshold = threshold
        self._similarity = similarity

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict | None]:
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
        contradiction, entailed = max(forth[0], back[0]), min(forth[1], back[1])
        if contradiction >= self._threshold and pair.similarity >= self._similarity:
            reason = f"contradiction {contradiction:.2f}"
            return Verdict(contradiction, 0.0, self._name, reason, is_final=True)
        if entailed >= self._threshold and not disagree(pair.older.content, pair.newer.content):
            reason = f"entailed both ways {entailed:.2f}"
            return Verdict(0.0, entailed, self._name, reason, is_final=True)
        return Verdict(0.0, 0.0, self._name, "neutral")


def _columns(model: str, names: Mapping[int, str]) -> list[int]:
    by_name = {name.casefold(): column for column, name in names.items()}
    if not set(_LABELS) <= set(by_name):
        raise ConfigurationError(
            f"the model {model!r} has the labels {sorted(by_name)}; an NLI model has"
            f" {', '.join(_LABELS)}"
        )
    return [by_name[label] for label in _LABELS]
