"""Exact token counts with tiktoken, without a download.

tiktoken downloads its vocabularies at first use, and again if a cached one fails its check. The two
that today's models use are part of this package, which builds the encodings from them.
"""

from __future__ import annotations

import hashlib
import math
from binascii import a2b_base64
from functools import cached_property, lru_cache
from importlib import resources

import tiktoken

from semantic_memory.domain.errors import ConfigurationError, StoreCorruptError
from semantic_memory.domain.ports import TokenCounter

DEFAULT_ENCODING = "o200k_base"

# Patterns and digests as in tiktoken_ext.openai_public (MIT, see encodings/LICENSE).
PATTERNS = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "o200k_base": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}
_SHA256 = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}


def encoding_name(model: str) -> str:
    """Return the encoding of an OpenAI model; o200k_base for models unknown to tiktoken."""
    try:
        name = tiktoken.encoding_name_for_model(model)
    except KeyError:
        return DEFAULT_ENCODING
    return name if name in PATTERNS else DEFAULT_ENCODING


@lru_cache(maxsize=len(PATTERNS))
def load_encoding(name: str) -> tiktoken.Encoding:
    """Load one of the encodings in this package; takes about 0.2 s, once a process."""
    if name not in PATTERNS:
        known = ", ".join(sorted(PATTERNS))
        raise ConfigurationError(f"unknown token encoding {name!r}; known: {known}")
    data = resources.files(__package__).joinpath("encodings", f"{name}.tiktoken").read_bytes()
    if hashlib.sha256(data).hexdigest() != _SHA256[name]:
        raise StoreCorruptError(f"{name}.tiktoken is damaged: reinstall semantic-memory")
    columns = data.split()  # a token and its rank in turn
    ranks = dict(zip(map(a2b_base64, columns[::2]), map(int, columns[1::2]), strict=True))
    encoding = tiktoken.Encoding(
        name, pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens={}
    )
    # The Rust half has a copy; this one, 27 MB, serves pickling only, which isn't needed.
    encoding._mergeable_ranks = {}  # noqa: SLF001
    return encoding


# Factors from o200k_base's tokens to those of other providers, which publish no vocabulary to count
# with offline. They err upwards: English prose measures 1.0 to 1.25, code and other scripts more.
_FACTORS = (("claude", 1.5), ("gemini", 1.25), ("gpt", 1.0), ("o1", 1.0), ("o3", 1.0), ("o4", 1.0))
_OTHER_FACTOR = 1.4


def counter_for(model: str) -> TokenCounter:
    """Return an exact counter for OpenAI's models, and one that errs upwards for others."""
    name = model.rpartition("/")[2].casefold()
    known = (factor for prefix, factor in _FACTORS if name.startswith(prefix))
    factor = next(known, _OTHER_FACTOR)
    if name.startswith(("text-embedding", "chatgpt")):
        factor = 1.0
    exact = TiktokenCounter(encoding_name(name))
    return exact if factor == 1.0 else ScaledCounter(exact, factor)


class ScaledCounter:
    """Counter that multiplies another counter's result by a factor, rounded up."""

    def __init__(self, counter: TokenCounter, factor: float) -> None:
        self._counter = counter
        self._factor = factor

    def count(self, text: str) -> int:
        """Return an upper estimate of the number of tokens of `text`."""
        return math.ceil(self._factor * self._counter.count(text))


class TiktokenCounter:
    """Counter of OpenAI's tokens; loads the vocabulary at the first count. Thread-safe."""

    def __init__(self, encoding: str = DEFAULT_ENCODING) -> None:
        self._name = encoding

    @cached_property
    def _encoding(self) -> tiktoken.Encoding:
        return load_encoding(self._name)

    def count(self, text: str) -> int:
        """Return the exact number of tokens; special tokens in the text count as plain text."""
        return len(self._encoding.encode_ordinary(text))
