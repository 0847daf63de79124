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


def compile_int8(model: SpansModel, target: Path, samples: list[tuple[str, str]]) -> float:
    """Write `target` (model.onnx) and return the share of samples that it decides alike.

    Weights are quantised per channel to 7 bits, as full-range products saturate on x86 processors
    without VNNI. Raises ValueError below LEAST_AGREEMENT.
    """
    whole = target.with_suffix(".fp32")
    reader = tokenizer()
    first = encoded(reader, [samples[0][0]], [samples[0][1]])
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
    return _agreement(model, target, samples)


def _agreement(model: SpansModel, target: Path, samples: list[tuple[str, str]]) -> float:
    session = onnxruntime.InferenceSession(str(target), providers=["CPUExecutionProvider"])
    reader = tokenizer()
    alike: list[bool] = []
    for older, newer in samples:
        inputs = encoded(reader, [older], [newer])
        with torch.no_grad():
            wanted = [part.float().numpy()[0] for part in model(**inputs)]
        found = session.run(None, {name: inputs[name].numpy() for name in INPUTS})
        small = [part[0] for part in found]
        alike += (_decisions(wanted, model.sizes) == _decisions(small, model.sizes)).tolist()
    share = float(np.mean(alike))
    if share < LEAST_AGREEMENT:
        raise ValueError(f"int8 decides only {share:.1%} of the samples as fp32 does")
    return share


def _decisions(parts: Sequence[NDArray[np.float32]], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return the likeliest class of each head, and of each token."""
    logits, *marks = parts
    heads = np.split(logits, np.cumsum(sizes)[:-1])
    chosen = [int(one.argmax()) for one in heads]
    return np.array([*chosen, *(place for one in marks for place in one.argmax(-1))])
