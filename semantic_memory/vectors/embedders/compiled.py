"""Compilation of a sentence-transformers model to ONNX, in a process of its own.

    python -m semantic_memory.vectors.embedders.compiled SOURCE TARGET PRECISION

Loading torch takes seconds and 400 MB, so it is needed once only: afterwards ONNX Runtime and
`tokenizers` run the compiled model in the user's cache. The graph includes pooling and
normalisation.

int8 stands for weights quantised per channel to 7 bits (`reduce_range`), because full-range
products saturate on x86 processors without VNNI. Dynamic quantisation takes its scale over the
whole input, so texts are run one at a time.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from filelock import FileLock

from semantic_memory.domain.errors import ConfigurationError, StoreUnavailableError

Precision = Literal["int8", "fp32"]

MAX_TOKENS = 256
_LAYOUT = 1  # version of the files in the cache; part of their key
_SAMPLES = (
    "The user moved to Berlin in March and works on storage engines.",
    "Likes dark roast coffee.",
    "What did we decide about the schema migration, and why?",
)
_SMALLEST_COSINE = {"fp32": 0.9999, "int8": 0.97}


def is_compiled(name: str, precision: Precision, cache: Path) -> bool:
    """Return True if the cache holds the compiled model."""
    return (_target(name, precision, cache) / "model.onnx").exists()


def compiled_model(
    source: Callable[[], Path], name: str, precision: Precision, cache: Path
) -> Path:
    """Return the directory of the compiled model, with `model.onnx` and `tokenizer.json`.

    Compiles the model if it isn't in the cache, which takes about 10 s. Safe to call from several
    processes at once. Raises ConfigurationError if compiling fails, StoreUnavailableError if the
    cache can't be written.
    """
    target = _target(name, precision, cache)
    if is_compiled(name, precision, cache):
        return target
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(cache / f"{target.name}.lock"):
            if not is_compiled(name, precision, cache):
                _compile_apart(source(), target, precision)
    except OSError as error:
        raise StoreUnavailableError(
            f"can't prepare the embedding model in {cache}: {error.strerror or error}; set"
            " SEMANTIC_MEMORY_CACHE_DIR to a writable directory"
        ) from error
    return target


def _target(name: str, precision: Precision, cache: Path) -> Path:
    return cache / f"{name}-{precision}-{_LAYOUT}"


def _compile_apart(source: Path, target: Path, precision: Precision) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f"{target.name}.") as scratch:
        command = [sys.executable, "-m", __name__, str(source), scratch, precision]
        offline = {**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
        done = subprocess.run(  # noqa: S603 - our own module, our own arguments
            command, env=offline, capture_output=True, text=True, check=False
        )
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["no message"]
            raise ConfigurationError(f"compiling the embedding model {source} failed: {last[0]}")
        finished = Path(scratch, "done")
        if target.exists():
            shutil.rmtree(target)
        finished.rename(target)


def _compile(source: Path, scratch: Path, precision: Precision) -> None:
    import numpy as np
    import onnxruntime
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(
        str(source),
        device="cpu",
        local_files_only=True,
        model_kwargs={"attn_implementation": "eager"},
    ).eval()
    model.max_seq_length = MAX_TOKENS
    names = ["input_ids", "attention_mask", "token_type_ids"]

    class Graph(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            output: torch.Tensor = self.model(dict(zip(names, inputs, strict=True)))[
                "sentence_embedding"
            ]
            return torch.nn.functional.normalize(output, dim=1)

    example = torch.ones(2, 8, dtype=torch.long)
    dynamic = {name: {0: "batch", 1: "sequence"} for name in names}
    full = scratch / "full.onnx"
    torch.onnx.export(
        Graph().eval(),
        (example, example, torch.zeros_like(example)),
        str(full),
        input_names=names,
        output_names=["sentence_embedding"],
        dynamic_axes={**dynamic, "sentence_embedding": {0: "batch"}},
        opset_version=17,
        dynamo=False,
    )
    done = scratch / "done"
    done.mkdir()
    if precision == "int8":
        quantize_dynamic(
            full,
            done / "model.onnx",
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=True,
        )
    else:
        full.rename(done / "model.onnx")
    shutil.copyfile(source / "tokenizer.json", done / "tokenizer.json")

    session = onnxruntime.InferenceSession(done / "model.onnx")
    for text in _SAMPLES:
        encoded = {key: model.tokenizer(text, return_tensors="np")[key] for key in names}
        (ours,) = session.run(None, {key: value.astype(np.int64) for key, value in encoded.items()})
        theirs = model.encode([text], normalize_embeddings=True)
        cosine = float(ours[0] @ theirs[0])
        if cosine < _SMALLEST_COSINE[precision]:
            raise SystemExit(f"the compiled model differs from the original: cosine {cosine:.4f}")
    about = {"source": str(source), "precision": precision, "torch": torch.__version__}
    (done / "about.json").write_text(json.dumps(about), encoding="utf-8")


if __name__ == "__main__":
    _compile(Path(sys.argv[1]), Path(sys.argv[2]), "fp32" if sys.argv[3] == "fp32" else "int8")
