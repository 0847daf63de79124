"""Read two statements of one person as words and signs to hash: whether one ends the other.

Words of both are told apart from words of one alone. Signs say what the two have in common, and
what only one of them has: a cue of a change, another person, another figure, a day in the past.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from semantic_memory.domain.english import renewals
from semantic_memory.domain.english.folding import folded
from semantic_memory.domain.english.names import names
from semantic_memory.domain.english.negation import NEGATIONS
from semantic_memory.domain.english.persons import OTHERS, USER
from semantic_memory.domain.english.renewals import KIN
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import figures, stem, stems

READ = 1_500
"""Characters read of a statement."""
_WORDS = regex(r"[a-z']+|\d+|[^\w\s]")
_SENTENCES = regex(r"(?<=[.!?])\s+")
_SHARED = "@"
_LEVELS = 12  # steps of the cosine, from 0 to 1
_SHARES = 6  # steps of the share of the stems that both have
_MOST = 3  # things counted of a kind
_CUES: Mapping[str, Callable[[str], bool]] = {
    "now": renewals.is_now,
    "replaces": renewals.replaces,
    "perhaps": renewals.may_have_changed,
}
_SIGNS: Mapping[str, Callable[[str], bool]] = {
    **_CUES,
    "no claim": renewals.claims_nothing,
    "besides": renewals.is_besides,
    "past": renewals.is_of_the_past,
    "event": renewals.is_one_event,
    "to come": renewals.is_to_come,
    "lasting": renewals.is_lasting,
}


class Statement(NamedTuple):
    """A statement as pairs of them are compared."""

    words: tuple[str, ...]
    stems: frozenset[str]
    kinds: Mapping[str, frozenset[str]]
    """Names, figures and words for people."""
    signs: frozenset[str]
    cued: frozenset[str]
    """Stems of the clauses that carry a cue of a change."""
    ended: frozenset[str]
    """Stems of what it says has ended."""


@lru_cache(maxsize=16_384)
def read(text: str) -> Statement:
    """Read a statement, without its questions if it is more than these.

    >>> sorted(read("I moved to Bergen. Any tips?").kinds["names"])
    ['bergen']
    """
    told = _without_questions(text[:READ])
    spoken = words(told)
    clauses = renewals.clauses(told)
    plain = set(spoken)
    signs = {name for name, holds in _SIGNS.items() if any(holds(one.plain) for one in clauses)}
    people = {"first person": USER, "others": OTHERS, "denies": NEGATIONS}
    signs |= {name for name, among in people.items() if not among.isdisjoint(plain)}
    cued = (one for one in clauses if any(is_cue(one.plain) for is_cue in _CUES.values()))
    ends = (ending.stems for one in clauses for ending in renewals.endings(one))
    return Statement(
        words=tuple("0" if one.isdigit() else one for one in spoken),
        stems=frozenset(stems(told)),
        kinds={
            "names": frozenset(part for name in names(told) for part in stems(name)),
            "figures": frozenset(figures(told)),
            "people": frozenset(one.removesuffix("'s") for one in plain) & KIN,
        },
        signs=frozenset(signs),
        cued=frozenset().union(*(one.content for one in cued)),
        ended=frozenset().union(*ends),
    )


def words(text: str) -> list[str]:
    """Return the words, numbers and marks of a text, folded."""
    return _WORDS.findall(folded(text))


def grams(older: Statement, newer: Statement) -> set[str]:
    """Return the words that one has alone and those that both have, and what surrounds the latter.

    >>> sorted(grams(read("I use vim"), read("I use helix")))[:3]
    ['+helix', '-vim', '=i']
    """
    shared = older.stems & newer.stems
    before, after = set(older.words), set(newer.words)
    return {
        *(f"-{one}" for one in before - after),
        *(f"+{one}" for one in after - before),
        *(f"={one}" for one in before & after),
        *(f"older {gram}" for gram in _around(older.words, shared)),
        *(f"newer {gram}" for gram in _around(newer.words, shared)),
    }


def signs(older: Statement, newer: Statement, cosine: float) -> set[str]:
    """Return what speaks for a succession or against it, also beside how near both are."""
    shared = older.stems & newer.stems
    near = f"near {int(max(0.0, cosine) * _LEVELS)} {_counted(shared)}"
    found = {f"older {one}" for one in older.signs}
    telling = {f"newer {one}" for one in newer.signs}
    telling |= {f"{one} in one alone" for one in older.signs ^ newer.signs}
    for kind, own in older.kinds.items():
        other = newer.kinds[kind]
        telling |= {
            f"{kind}: {_counted(own & other)} shared",
            f"{kind}: {_counted(own - other)} gone, {_counted(other - own)} new",
        }
    telling |= {
        f"{_counted(newer.cued & older.stems)} with a cue",
        f"{_counted(newer.ended & older.stems)} ended",
    }
    return {
        near,
        f"share of the older: {_share(shared, older.stems)}",
        f"share of the newer: {_share(shared, newer.stems)}",
        *found,
        *telling,
        *(f"{one}, {near}" for one in telling),
    }


def _without_questions(text: str) -> str:
    parts = [one for one in _SENTENCES.split(text) if not one.rstrip().endswith("?")]
    return " ".join(parts) or text


def _around(spoken: Sequence[str], shared: frozenset[str]) -> Iterator[str]:
    """Yield the pairs and triples of words with a shared one, which is left unnamed."""
    row = ["^", *(_SHARED if stem(one) in shared else one for one in spoken), "$"]
    for gram in (*pairwise(row), *zip(row, row[1:], row[2:], strict=False)):
        if _SHARED in gram:
            yield " ".join(gram)


def _counted(found: Iterable[str]) -> int:
    return min(_MOST, len(frozenset(found)))


def _share(shared: frozenset[str], own: frozenset[str]) -> int:
    return int(_SHARES * len(shared) / (len(own) + 1))
