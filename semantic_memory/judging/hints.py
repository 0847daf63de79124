"""Tell cheaply which texts may ask to forget something, and which may give a secret away.

Two linear models over hashed words, pairs of words, beginnings of words and shapes of tokens. Their
thresholds let nearly all such texts through, and few of the others: the judge of sentences reads
what passes. `python -m training sentences` fits them.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple, get_args
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain.patterns import regex
from semantic_memory.judging.packaged import damaged, packaged

BUCKETS = 1 << 15
CLEAR = 1.0
"""Hint from which a text likely asks or tells: in languages of which the encoder has few words, it
and the judge must agree."""
FILE = Path(__file__).parent / "models" / "sentences" / "hints.npz"
_WORD = regex(r"[^\W\d_]+|\d+|[^\w\s]")
_TOKEN = regex(r"\S+")
_SIGNS = frozenset("#$%^&*+=!~_@")
_BEGINNING = 4  # letters of a word that tell what it is about
_MOST_DIGITS = 6


Matter = Literal["request", "secret"]
"""A matter that a text may hold."""
MATTERS: tuple[Matter, ...] = get_args(Matter)


class Hints(NamedTuple):
    """Weights of the buckets, and the score from which a text is to be read."""

    weights: NDArray[np.float32]
    bias: float
    threshold: float


def may_hold(text: str, matter: Matter) -> bool:
    """Return False for a text that surely holds no such thing.

    Ask for a sentence or a few: in a long text the words around a request drown it.

    >>> may_hold("please delete my address", "request")
    True
    >>> may_hold("We had pasta with mushrooms tonight.", "secret")
    False
    """
    return is_enough(hint(text, matter), matter)


def hint(text: str, matter: Matter) -> float:
    """Return how much a text hints at such a thing."""
    return score(text, _shipped()[matter])


def is_enough(found: float, matter: Matter) -> bool:
    """Return True if what `hint` returned is enough for a text to be read."""
    return found >= _shipped()[matter].threshold


def score(text: str, hints: Hints) -> float:
    """Return the sum of the weights of a text's buckets by the root of their number."""
    found = buckets(text)
    return float(hints.weights[found].sum() / np.sqrt(max(1, len(found))) + hints.bias)


def buckets(text: str) -> NDArray[np.int64]:
    """Return the sorted buckets of a text's features."""
    found = {zlib.crc32(feature.encode()) % BUCKETS for feature in _features(text)}
    return np.array(sorted(found), dtype=np.int64)


def _features(text: str) -> Iterator[str]:
    words = ["^", *map(_plain, _WORD.findall(text))]
    yield from words
    yield from map(" ".join, pairwise(words))
    for word in words:
        if len(word) > _BEGINNING:
            yield f"#{word[:_BEGINNING]}"
        if not word.isascii():  # scripts without spaces
            yield from (f"#{word[place : place + 2]}" for place in range(len(word) - 1))
    yield from map(_shape, _TOKEN.findall(text))


def _plain(word: str) -> str:
    return "0" * min(len(word), _MOST_DIGITS) if word.isdigit() else word.lower()


def _shape(token: str) -> str:
    """Return which kinds of characters a token has."""
    pairs = pairwise(token)
    kinds = (
        ("digit", any(map(str.isdigit, token))),
        ("letter", any(map(str.isalpha, token))),
        ("sign", not _SIGNS.isdisjoint(token)),
        ("mixed", any(one.islower() and other.isupper() for one, other in pairs)),
    )
    return f"<{' '.join(name for name, has in kinds if has)}>"


@cache
def _shipped() -> dict[Matter, Hints]:
    try:
        content = FILE.read_bytes()
        if hashlib.sha256(content).hexdigest() != packaged("sentences").card["hints"]["sha256"]:
            raise damaged(FILE)
        with np.load(BytesIO(content)) as file:
            return {
                matter: Hints(
                    file[f"{matter}_weights"].astype(np.float32) * float(file[f"{matter}_scale"]),
                    float(file[f"{matter}_bias"]),
                    float(file[f"{matter}_threshold"]),
                )
                for matter in MATTERS
            }
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise damaged(FILE) from error
