"""Compile a trained judge to ONNX with int8 weights, and check that it decides the same."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic

from training.model import SpansModel, encoded, tokenizer

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
LEAST_AGREEMENT = 0.97
"""Share of texts whose most probable class int8 must leave as it is."""


def compile_int8(model: SpansModel, target: Path, samples: list[tuple[str, str]]) -> float:
    """Write `target` (model.onnx) and return the share of samples that it decides alike.

    Weights are quantised per channel to 7 bits, as full-range products saturate on x86 processors
    without VNNI. Raises ValueError below LEAST_AGREEMENT.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
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
            output_names=["logits"],
            dynamic_axes={
                **{name: {0: "batch", 1: "tokens"} for name in INPUTS},
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
    alike = []
    for older, newer in samples:
        inputs = encoded(reader, [older], [newer])
        with torch.no_grad():
            wanted = model(**inputs).float().numpy()
        found = session.run(None, {name: inputs[name].numpy() for name in INPUTS})[0]
        size = model.sizes[0]
        alike.append(int(np.argmax(wanted[0, :size]) == np.argmax(found[0, :size])))
    share = float(np.mean(alike))
    if share < LEAST_AGREEMENT:
        raise ValueError(f"int8 decides only {share:.1%} of the samples as fp32 does")
    return share
