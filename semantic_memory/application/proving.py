"""Prove a forgetting: search every file of the store for what was forgotten.

Files, or the tables of a database, are searched as bytes, whatever their format: for stretches of
the forgotten texts, and for their single words, as word indexes keep them. Stretches and words that
kept memories have too are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from semantic_memory.application.clearing import texts_in
from semantic_memory.application.items import every_item
from semantic_memory.application.maintenance import Maintenance
from semantic_memory.application.reach import Reach
from semantic_memory.application.receipts import Receipts
from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.items import BEFORE_ALL, Item, ItemScope
from semantic_memory.domain.ports import Ledger
from semantic_memory.domain.reports import Proof, Trace
from semantic_memory.domain.requests import MaintainRequest

_STRETCH = 20  # bytes that are compared at once: shorter ones occur by chance
_SHORTEST = 5
_CHUNK = 1 << 20
_BATCH = 500
_MOST_WORDS = 20
_WORD = re.compile(rb"[a-z0-9_\x80-\xff]{%d,64}" % _SHORTEST)
_PRIME = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2^64
_BITS = 20

Contents = Callable[[], Iterable[tuple[str, Iterable[bytes]]]]
"""Returns the files of a store: the name of each, and its bytes in chunks of 1 MiB at most."""

Prints = NDArray[np.uint64]
"""Hashes of stretches of bytes, sorted, each once."""


class Prover:
    """Compact the store and search its files for forgotten texts. Thread-safe."""

    def __init__(
        self, ledger: Ledger, maintenance: Maintenance, contents: Contents, receipts: Receipts
    ) -> None:
        self._ledger = ledger
        self._receipts = receipts
        self._maintenance = maintenance
        self._contents = contents

    def texts(self, lost: Reach) -> list[str]:
        """Return the texts of what was forgotten and isn't erased yet, of all its versions."""
        found = dict.fromkeys(lost.sentences)
        for fact_id in lost.gone:
            for version in self._ledger.history(fact_id):
                found |= dict.fromkeys(_texts(version.fact))
        return [text for text in found if len(text.encode()) >= _SHORTEST]

    def item_texts(self, user_id: str) -> list[str]:
        """Return the texts of a user's items, which are gone once they are erased."""
        found = dict.fromkeys(text for item in self._items(user_id) for text in _item_texts(item))
        return [text for text in found if len(text.encode()) >= _SHORTEST]

    def _items(self, user_id: str) -> Iterator[Item]:
        scope = ItemScope(user_id, (), BEFORE_ALL)
        return (one.item for one in every_item(self._ledger, scope))

    def erase(self, user_id: str) -> None:
        """Erase what a user has forgotten from all files.

        Raises StoreUnavailableError if it can't be; the memories are forgotten even then.
        """
        (run,) = self._maintenance.maintain(MaintainRequest.of(["compact"], user_id=user_id))
        if run.error:
            raise StoreUnavailableError(
                f"the memories are forgotten, but their texts aren't erased yet: {run.error};"
                " `jobs run compact` erases them"
            )

    def prove(self, texts: Sequence[str], lost: Reach, user_id: str, reason: str) -> Proof:
        """Erase what a user has forgotten from all files, and search them for its texts.

        Texts of kept memories, and the `reason` that stays in tombstones, aren't searched for.
        Raises ProviderError and StoreUnavailableError; the memories are forgotten even then.
        """
        self._maintenance.flush()
        self.erase(user_id)
        self._maintenance.flush()
        wanted = _Wanted(texts)
        for kept in (*self._kept(), reason):
            wanted.leave_out(kept)
        traces = []
        files: list[str] = []
        size = 0
        for name, chunks in self._contents():
            stretches, words, length = _searched(chunks, wanted)
            files.append(name)
            size += length
            if stretches or words:
                told = tuple(sorted(words)[:_MOST_WORDS])
                traces.append(Trace(file=name, stretches=stretches, words=told))
        receipt = None
        if not traces:
            receipt = self._receipts.issue(user_id, lost.gone, lost.left, files, len(texts))
        return Proof(
            files=len(files), bytes=size, texts=len(texts), found=tuple(traces), receipt=receipt
        )

    def _kept(self) -> Iterator[str]:
        """Yield the texts that the store still holds, of every user."""
        for user_id in self._ledger.users():
            yield user_id
            ids = self._ledger.ids(user_id)
            for start in range(0, len(ids), _BATCH):
                for fact in self._ledger.get(ids[start : start + _BATCH]):
                    yield from _texts(fact)
                    yield " ".join((*fact.tags, fact.source.session_id or ""))
                    if fact.version > 1:
                        for version in self._ledger.history(fact.id):
                            yield from _texts(version.fact)
            for line in self._ledger.lines(user_id):
                yield line.text
            for item in self._items(user_id):
                yield from _item_texts(item)


class _Wanted:
    """The stretches, by length, and the words that are searched for."""

    def __init__(self, texts: Iterable[str]) -> None:
        forms = {form for text in texts for form in _forms(text)}
        by_length: dict[int, list[Prints]] = {}
        for form in forms:
            length = min(len(form), _STRETCH)
            by_length.setdefault(length, []).append(_prints(form, length))
        self.stretches = {
            length: np.unique(np.concatenate(parts)) for length, parts in by_length.items()
        }
        self.words = {word for form in forms for word in _WORD.findall(form)}

    def leave_out(self, text: str) -> None:
        """Search for nothing that this text has too."""
        for form in _forms(text):
            self.words.difference_update(_WORD.findall(form))
            for length, known in self.stretches.items():
                if len(form) >= length and len(known):
                    shared = np.isin(known, _prints(form, length))
                    self.stretches[length] = known[~shared]


def _texts(fact: Fact) -> Iterator[str]:
    """Yield the texts of a memory."""
    yield fact.text
    yield from texts_in(dict(fact.metadata))


def _item_texts(item: Item) -> Iterator[str]:
    """Yield the texts of an item, also those of its place."""
    yield from (*item.namespace, item.key)
    yield from texts_in(item.value)


def _forms(text: str) -> set[bytes]:
    """Return the forms that a text has in files, in lower case: plain and in JSON."""
    return {
        text.encode().lower(),
        json.dumps(text)[1:-1].encode().lower(),
        json.dumps(text, ensure_ascii=False)[1:-1].encode().lower(),
    }


def _searched(chunks: Iterable[bytes], wanted: _Wanted) -> tuple[int, set[str], int]:
    """Return the number of stretches in a file, the words in it, and its size."""
    found: dict[int, set[int]] = {length: set() for length in wanted.stretches}
    words: set[bytes] = set()
    size = 0
    before = b""
    for chunk in chunks:
        size += len(chunk)
        data = (before + chunk).lower()
        words |= wanted.words.intersection(_WORD.findall(data))
        for length, known in wanted.stretches.items():
            if len(known) and len(data) >= length:
                found[length] |= set(_shared(_prints(data, length), known).tolist())
        before = data[-64:]
    told = {word.decode(errors="replace") for word in words}
    return sum(map(len, found.values())), told, size


def _shared(prints: Prints, known: Prints) -> Prints:
    """Return the `prints` that are among `known`."""
    table = np.zeros(1 << _BITS, dtype=bool)
    table[known >> np.uint64(64 - _BITS)] = True
    likely = prints[table[prints >> np.uint64(64 - _BITS)]]
    found: Prints = likely[np.isin(likely, known)]
    return found


def _prints(data: bytes, length: int) -> Prints:
    """Return the hash of each stretch of `length` bytes: polynomial, modulo 2^64."""
    powers, inverses = _powers(len(data) + 1)
    values = np.frombuffer(data, dtype=np.uint8).astype(np.uint64) + np.uint64(1)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values * powers[:-1])])
    hashed: Prints = (sums[length:] - sums[:-length]) * inverses[: len(data) - length + 1]
    return hashed


_tables: tuple[Prints, Prints] = (np.ones(1, np.uint64), np.ones(1, np.uint64))


def _powers(number: int) -> tuple[Prints, Prints]:
    """Return the first powers of the prime, and their inverses, modulo 2^64."""
    global _tables
    if len(_tables[0]) < number:
        size = max(number, _CHUNK + 128)
        inverse = pow(_PRIME, -1, 1 << 64)
        _tables = _geometric(_PRIME, size), _geometric(inverse, size)
    return _tables[0][:number], _tables[1][:number]


def _geometric(base: int, number: int) -> Prints:
    factors = np.full(number, base, dtype=np.uint64)
    factors[0] = 1
    return np.cumprod(factors)
