"""Default embedder: a compiled model on ONNX Runtime, without torch."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from semantic_memory.concurrency import check_stopped
from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.ports import EmbedderIdentity, InputType
from semantic_memory.vectors.embedders.model_files import (
    MODEL,
    TOKENIZER,
    Precision,
    shipped_model,
)

DEFAULT_MODEL = "all-MiniLM-L6-v2"
DIMENSION = 384
_CACHED = 2_048  # vectors, 3 MB


class OnnxEmbedder:
    """all-MiniLM-L6-v2 (Reimers & Gurevych 2019; Wang et al. 2020) on ONNX Runtime.

    Each text is run by itself, on as many threads as there are cores, so that its vector doesn't
    depend on other texts and no time goes into padding. `files` returns the directory of the
    compiled model, and is called for the first text, when the model is loaded. Thread-safe.
    """

    def __init__(
        self, files: Callable[[], Path] = shipped_model, precision: Precision = "int8"
    ) -> None:
        self._files = files
        self._precision = precision
        self._loading = threading.Lock()
        self._pool = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="embed")

    @property
    def identity(self) -> EmbedderIdentity:
        """Identity of all-MiniLM-L6-v2 with mean pooling at this precision."""
        return EmbedderIdentity(DEFAULT_MODEL, DIMENSION, "mean", self._precision)

    def embed(self, texts: Sequence[str], input_type: InputType) -> Matrix:
        """Return unit row vectors of shape (len(texts), 384); reads 256 tokens of each text."""
        del input_type  # this model embeds queries and documents alike
        check_stopped()
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

        directory = self._files()
        tokenizer = Tokenizer.from_file(str(directory / TOKENIZER))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(
            directory / MODEL, options, providers=["CPUExecutionProvider"]
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
