"""Read claims from a sentence: (subject, attribute, value), found by rules.

Two kinds. An *attribute* has one value at a time (home, employer, hair colour, "the deadline is"):
another value is a conflict. A *stance* is for or against one thing (likes jazz, has no pets): only
the opposite stance on the same thing is a conflict, so lists never are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from semantic_memory.consolidation.attributes import NAMED, attributes
from semantic_memory.consolidation.stances import owned, stances
from semantic_memory.consolidation.statements import read
from semantic_memory.domain.english.arguments import content
from semantic_memory.domain.english.clauses import parts
from semantic_memory.domain.english.negation import denies
from semantic_memory.domain.english.persons import OTHERS
from semantic_memory.domain.english.renewals import is_hearsay
from semantic_memory.domain.language import is_english
from semantic_memory.language.own_speech import MOST_OWN


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement about one subject. `value` is a set of stems or numbers."""

    kind: Literal["attribute", "stance"]
    subject: str
    attribute: str
    value: frozenset[str]
    positive: bool = True

    @property
    def key(self) -> tuple[str, ...]:
        """Claims with different keys can't conflict."""
        thing = () if self.kind == "attribute" else tuple(sorted(self.value))
        return (self.kind, self.subject, self.attribute, *thing)

    def __str__(self) -> str:
        value = " ".join(sorted(self.value))
        return f"{self.subject} {self.attribute} {'' if self.positive else 'not '}{value}"


@lru_cache(maxsize=16_384)
def claims(text: str) -> frozenset[Claim]:
    """Return the claims of an English text; empty if no rule reads anything in it.

    A text longer than people type is a document, which claims nothing.
    """
    if len(text) > MOST_OWN or not is_english(text):
        return frozenset()
    statement = read(text)
    proper = frozenset[str]().union(*map(content, statement.names))
    cased = any(letter.isupper() for letter in text[1:])
    return frozenset(
        claim
        for clause, asserted in parts(statement.plain)
        for claim in (
            _of_clause(clause) if asserted and not is_hearsay(clause) else _presupposed(clause)
        )
        # who "he" is can't be told from the sentence alone
        if claim.value
        and claim.subject.split()[0] not in OTHERS
        # "joined the community" names no employer; where capitals are used, a place has one
        and (claim.attribute not in NAMED or not cased or claim.value & proper)
    )


def _of_clause(clause: str) -> Iterator[Claim]:
    negated = denies(clause.split())
    yield from (Claim("attribute", *found) for found in attributes(clause, negated))
    yield from (Claim("stance", *found) for found in stances(clause, negated))


def _presupposed(clause: str) -> Iterator[Claim]:
    """Yield what a question or a wish takes for granted: "would my dog like it?"."""
    yield from (Claim("stance", *found) for found in owned(clause))


def conflicting(a: frozenset[Claim], b: frozenset[Claim]) -> tuple[Claim, Claim] | None:
    """Return a claim of `a` and one of `b` that can't both hold, if there are any."""
    found = [(left, right) for left in a for right in b if _conflict(left, right)]
    return min(found, key=lambda pair: (str(pair[0]), str(pair[1])), default=None)


def _conflict(a: Claim, b: Claim) -> bool:
    if a.key != b.key:
        return False
    if a.kind == "stance":
        return a.positive != b.positive
    alike = a.value <= b.value or b.value <= a.value
    # "not in Berlin" and "not in Rome" agree; so do "not in Berlin" and "in Rome"
    return alike if a.positive != b.positive else a.positive and not alike
