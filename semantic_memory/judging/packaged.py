"""The packaged judges: fine-tuned encoders on ONNX Runtime, one text at a time."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semantic_memory.concurrency import check_stopped
from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.language import language, other_script
from semantic_memory.domain.readings import Reading
from semantic_memory.judging.first_person import in_first_person
from semantic_memory.judging.ports import Pair, Spoken, Verdict

MODELS = Path(__file__).parent / "models"
_TOKENIZER = (
    Path(__file__).parent.parent / "vectors" / "embedders" / "all-MiniLM-L6-v2" / "tokenizer.json"
)
MAX_TOKENS = 96
_ALSO = 0.05
"""Probability from which a sentence may state an attribute beside the likeliest one."""
_ORDER = 0.75
"""Probability from which a sentence is an order for all answers to come."""
_CACHED = 4_096  # texts whose scores are kept: a sentence is read more than once

Scores = NDArray[np.float32]


class Encoder:
    """A trained encoder with heads over two spans of text. Thread-safe; loaded at first use.

    Texts are run one at a time: int8 takes its scale over the whole input, so that in a batch a
    verdict would depend on the other pairs.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._loading = threading.Lock()

    @cached_property
    def card(self) -> Mapping[str, Any]:
        """The model's card: name, labels, thresholds, data, figures."""
        try:
            card: dict[str, Any] = json.loads((self._directory / "card.json").read_bytes())
        except (OSError, ValueError) as error:
            raise self._damaged("card.json") from error
        return card

    def scores(self, first: str, second: str) -> Scores:
        """Return the logits of all heads for two spans. Raises ConfigurationError if damaged."""
        check_stopped()
        with self._loading:
            run = self._run
        return run(first, second)

    def heads(self, first: str, second: str) -> dict[str, dict[str, float]]:
        """Return the probability of each value of each head."""
        scores, start, found = self.scores(first, second), 0, {}
        for name, values in self.card["labels"].items():
            part = scores[start : start + len(values)]
            exponents = np.exp(part - part.max())
            found[name] = dict(zip(values, (exponents / exponents.sum()).tolist(), strict=True))
            start += len(values)
        return found

    @cached_property
    def _run(self) -> Callable[[str, str], Scores]:
        import onnxruntime
        from tokenizers import Tokenizer

        model = self._directory / "model.onnx"
        try:
            content = model.read_bytes()
        except OSError as error:
            raise self._damaged(model.name) from error
        if hashlib.sha256(content).hexdigest() != self.card["sha256"]:
            raise self._damaged(model.name)
        tokenizer = Tokenizer.from_file(str(_TOKENIZER))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS, strategy="longest_first")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

        @lru_cache(maxsize=_CACHED)
        def run(first: str, second: str) -> Scores:
            read = tokenizer.encode(first, second)
            (logits,) = session.run(
                None,
                {
                    "input_ids": np.array([read.ids], dtype=np.int64),
                    "attention_mask": np.ones((1, len(read.ids)), dtype=np.int64),
                    "token_type_ids": np.array([read.type_ids], dtype=np.int64),
                },
            )
            scores: Scores = logits[0]
            return scores

        return run

    def _damaged(self, name: str) -> ConfigurationError:
        return ConfigurationError(
            f"a packaged judge is damaged: {self._directory / name} is missing or incomplete;"
            " install semantic-memory again (pip install --force-reinstall --no-deps; in a"
            " checkout: git checkout -- semantic_memory/judging). Nothing in the store is lost"
        )


@cache
def packaged(name: str) -> Encoder:
    """Return a packaged encoder, which all stores of a process share."""
    return Encoder(MODELS / name)


class PackagedPairJudge:
    """Judge pairs of English statements by the packaged model.

    A language that the model wasn't trained on gets no verdict: both statements stand.
    """

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder or packaged("pairs")

    @property
    def name(self) -> str:
        """The model's name with its version."""
        return str(self._encoder.card["name"])

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict | None]:
        """Return the verdict on each pair, None on those in other languages."""
        return [self._verdict(pair) for pair in pairs]

    def _verdict(self, pair: Pair) -> Verdict | None:
        if not (is_readable(pair.older) and is_readable(pair.newer)):
            return None
        return self.verdict(in_first_person(pair.older), in_first_person(pair.newer))

    def verdict(self, older: str, newer: str) -> Verdict:
        """Return the verdict on two English statements."""
        found = self._encoder.heads(older, newer)["relation"]
        return Verdict(found["over"], found["same"], self.name)


class PackagedSentenceJudge:
    """Read English sentences by the packaged model."""

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder or packaged("sentences")

    @property
    def name(self) -> str:
        """The model's name with its version."""
        return str(self._encoder.card["name"])

    def read(self, sentences: Sequence[Spoken]) -> list[Reading]:
        """Return a reading of each sentence."""
        return [self._reading(one) for one in sentences]

    def _reading(self, sentence: Spoken) -> Reading:
        found = self._encoder.heads(sentence.before, sentence.text)
        about, kind = _best(found["about"]), _kind(found["kind"])
        slot, category = _best(found["slot"]), _best(found["category"])
        return Reading.model_validate(
            {
                "judge": self.name,
                "keep": found["worth"]["keep"],
                "task": found["worth"]["task"],
                "alone": found["alone"]["yes"],
                "about": about,
                "about_self": found["about"]["self"],
                "kind": kind,
                "kind_probability": found["kind"][kind],
                "standing_order": found["kind"]["standing_order"],
                "slot": slot,
                "slot_probability": found["slot"][slot],
                "other_slots": {
                    other: probability
                    for other, probability in found["slot"].items()
                    if other not in (slot, "none") and probability >= _ALSO
                },
                "category": category,
                "category_probability": found["category"][category],
            }
        )


def is_readable(fact: Fact) -> bool:
    """Return True if the packaged model was trained on the language of a fact."""
    return not other_script(fact.content) and language(fact.content) in (None, "en")


def _kind(values: Mapping[str, float]) -> str:
    """Return the likeliest kind; an order only if it is sure, for it binds all answers to come."""
    kind = _best(values)
    if kind == "standing_order" and values[kind] < _ORDER:
        return _best({other: value for other, value in values.items() if other != kind})
    return kind


def _best(values: Mapping[str, float]) -> str:
    return max(values, key=lambda value: values[value])
