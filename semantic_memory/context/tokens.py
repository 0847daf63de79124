"""Exact token counts with tiktoken, without a download.

tiktoken fetches its vocabularies at first use, and deletes a cached one that it doubts. The two
that today's models use are part of this package, and encodings are built from them directly.
"""

from __future__ import annotations

import base64
import hashlib
import math
from functools import cached_property, lru_cache
from importlib import resources

import tiktoken

from semantic_memory.domain.errors import ConfigurationError, StoreCorruptError
from semantic_memory.domain.ports import TokenCounter

DEFAULT_ENCODING = "o200k_base"

# Patterns and digests as in tiktoken_ext.openai_public (MIT, see encodings/LICENSE).
_PATTERNS = {
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
    """The encoding of an OpenAI model; models that tiktoken doesn't know get the newest."""
    try:
        name = tiktoken.encoding_name_for_model(model)
    except KeyError:
        return DEFAULT_ENCODING
    return name if name in _PATTERNS else DEFAULT_ENCODING


@lru_cache(maxsize=len(_PATTERNS))
def load_encoding(name: str) -> tiktoken.Encoding:
    """One of the encodings that come with this package; takes about 0.4 s, once."""
    if name not in _PATTERNS:
        known = ", ".join(sorted(_PATTERNS))
        raise ConfigurationError(f"unknown token encoding {name!r}; known: {known}")
    data = resources.files(__package__).joinpath("encodings", f"{name}.tiktoken").read_bytes()
    if hashlib.sha256(data).hexdigest() != _SHA256[name]:
        raise StoreCorruptError(f"{name}.tiktoken is damaged: reinstall semantic-memory")
    ranks = {
        base64.b64decode(token): int(rank)
        for token, rank in (line.split() for line in data.splitlines() if line)
    }
    encoding = tiktoken.Encoding(
        name, pat_str=_PATTERNS[name], mergeable_ranks=ranks, special_tokens={}
    )
    # Its Rust half has a copy; this one, 27 MB, is for pickling only, which nobody does.
    encoding._mergeable_ranks = {}
    return encoding


# How many tokens other providers' tokenizers make of a text at most, for each of o200k_base's. They
# publish no vocabulary that could count offline, so these err upwards: English prose measures 1.0
# to 1.25, code and other scripts more.
_FACTORS = (("claude", 1.5), ("gemini", 1.25), ("gpt", 1.0), ("o1", 1.0), ("o3", 1.0), ("o4", 1.0))
_OTHER_FACTOR = 1.4


def counter_for(model: str) -> TokenCounter:
    """Exact for OpenAI's models; for others o200k_base times a factor that errs upwards."""
    name = model.rpartition("/")[2].casefold()
    known = (factor for prefix, factor in _FACTORS if name.startswith(prefix))
    factor = next(known, _OTHER_FACTOR)
    if name.startswith(("text-embedding", "chatgpt")):
        factor = 1.0
    exact = TiktokenCounter(encoding_name(name))
    return exact if factor == 1.0 else ScaledCounter(exact, factor)


class ScaledCounter:
    """Counts as another counter does, times a factor, rounded up."""

    def __init__(self, counter: TokenCounter, factor: float) -> None:
        self._counter = counter
        self._factor = factor

    def count(self, text: str) -> int:
        """At least the number of tokens of `text`, if the factor is large enough."""
        return math.ceil(self._factor * self._counter.count(text))


class TiktokenCounter:
    """Counts as OpenAI's models do. The vocabulary is loaded at the first count. Thread-safe."""

    def __init__(self, encoding: str = DEFAULT_ENCODING) -> None:
        self._name = encoding

    @cached_property
    def _encoding(self) -> tiktoken.Encoding:
        return load_encoding(self._name)

    def count(self, text: str) -> int:
        """Exact number of tokens; what looks like a special token counts as plain text."""
        return len(self._encoding.encode_ordinary(text))
