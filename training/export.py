"""Compile a trained judge to ONNX with int8 weights, and check that it decides the same."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic

from training.model import SpansModel, encoded, tokenizer

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
LEAST_AGREEMENT = 0.97
"""Share of decisions, of all heads and of the marks of tokens, that int8 must leave as they are."""
MOST_LOST = 0.01
"""MRR of a reranker that int8 may lose."""
Outputs = list[NDArray[np.float32]]


def compile_int8(model: SpansModel, target: Path, samples: list[tuple[str, str]]) -> float:
    """Write `target` (model.onnx) and return the share of samples that it decides alike.

    Weights are quantised per channel to 7 bits, as full-range products saturate on x86 processors
    without VNNI. Raises ValueError below LEAST_AGREEMENT.
    """
    compared = _Compared(model, target, *samples[0])
    alike: list[bool] = []
    for older, newer in samples:
        wanted, found = compared.outputs(older, newer)
        alike += (_decisions(wanted, model.sizes) == _decisions(found, model.sizes)).tolist()
    share = float(np.mean(alike))
    if share < LEAST_AGREEMENT:
        raise ValueError(f"int8 decides only {share:.1%} of the samples as fp32 does")
    return share


def compile_ranker(
    model: SpansModel, target: Path, samples: list[tuple[str, list[str]]]
) -> dict[str, float]:
    """Write `target` as `compile_int8`; return the MRR of the answers in full precision and in it.

    Each sample is a query with its texts, the answer first. Raises ValueError if int8 loses more
    than MOST_LOST.
    """
    compared = _Compared(model, target, samples[0][0], samples[0][1][0])
    ranks: list[tuple[float, float]] = []
    for query, texts in samples:
        scores = [
            (float(whole[0][0]), float(small[0][0]))
            for text in texts
            for whole, small in [compared.outputs(query, text)]
        ]
        ranks.append(
            (
                _reciprocal_rank([one for one, _ in scores]),
                _reciprocal_rank([one for _, one in scores]),
            )
        )
    full, int8 = (round(float(one), 3) for one in np.mean(ranks, axis=0))
    if int8 < full - MOST_LOST:
        raise ValueError(f"int8 ranks answers with an MRR of {int8}, full precision of {full}")
    return {"full": full, "int8": int8}


def _reciprocal_rank(scores: Sequence[float]) -> float:
    """Return that of the first of some scores."""
    return 1 / (1 + sum(score > scores[0] for score in scores[1:]))


def _quantise(model: SpansModel, target: Path, query: str, text: str) -> None:
    whole = target.with_suffix(".fp32")
    first = encoded(tokenizer(), [query], [text])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter's own, about its successor
        torch.onnx.export(
            model.eval(),
            tuple(first[name] for name in INPUTS),
            str(whole),
            input_names=list(INPUTS),
            output_names=["logits"] if model.marks is None else ["logits", "marks"],
            dynamic_axes={
                **{name: {0: "batch", 1: "tokens"} for name in (*INPUTS, "marks")},
                "logits": {0: "batch"},
            },
            opset_version=17,
            dynamo=False,
        )
    quantize_dynamic(
        whole, target, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True
    )
    whole.unlink()


class _Compared:
    """A model in full precision beside what it is compiled to."""

    def __init__(self, model: SpansModel, target: Path, first: str, second: str) -> None:
        """Compile `model` to `target`, traced with a pair of texts."""
        _quantise(model, target, first, second)
        self._model, self._reader = model, tokenizer()
        self._session = onnxruntime.InferenceSession(
            str(target), providers=["CPUExecutionProvider"]
        )

    def outputs(self, first: str, second: str) -> tuple[Outputs, Outputs]:
        """Return the outputs for a pair of texts in full precision and in int8."""
        inputs = encoded(self._reader, [first], [second])
        with torch.no_grad():
            wanted = [part.float().numpy()[0] for part in self._model(**inputs)]
        found = self._session.run(None, {name: inputs[name].numpy() for name in INPUTS})
        return wanted, [part[0] for part in found]


def _decisions(parts: Sequence[NDArray[np.float32]], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return the likeliest class of each head, and of each token."""
    logits, *marks = parts
    heads = np.split(logits, np.cumsum(sizes)[:-1])
    chosen = [int(one.argmax()) for one in heads]
    return np.array([*chosen, *(place for one in marks for place in one.argmax(-1))])
