"""Derivation of a user's profile from their facts, without a language model.

    work_context        facts nearer to work than to private life, favouring work categories
    personal_context    personal facts and preferences that aren't about work
    top_of_mind         facts stated in the last two weeks, favouring repeated ones

A fact is about work if its vector is nearer to a few sentences about work than to a few about
private life.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from semantic_memory.consolidation.merging import stated_at
from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.decay import HALF_LIFE_DAYS, age_days, retention
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.ports import Belief
from semantic_memory.domain.profile import ProfileField
from semantic_memory.profile.central import lasting, most_central, sentence, telling

WORK = (
    "Works as an engineer at a company, in a team.",
    "The project's deadline, the customers and what the team decided.",
    "The software, tools and systems used at work.",
    "A job, a profession, a career, colleagues and an employer.",
)
LIFE = (
    "Family, partner, children, parents and pets.",
    "Lives in a city, in a flat; moved house.",
    "Hobbies, sport, music, food and holidays with friends.",
    "Health, feelings and personal values.",
)
LATELY = timedelta(days=14)
"""Age up to which a fact is eligible for `top_of_mind`."""

_OF_WORK = frozenset({Category.TECHNICAL, Category.DECISION, Category.FINDING, Category.REFERENCE})
_PRIVATE = frozenset({Category.PERSONAL, Category.PREFERENCE})
_LEAST_NEAR = 0.18  # least cosine to `WORK` of a fact about work
_MARGIN = 0.1  # by which facts of other categories than `_OF_WORK` must be nearer to work
_LEAST = 0.15  # weight below which a fact is in no field
_HALF_LIFE_LATELY_DAYS = 7.0


@dataclass(frozen=True, slots=True)
class Kinds:
    """Vectors of `WORK` and `LIFE`, as rows of unit length."""

    work: Matrix
    life: Matrix

    def of_work(self, facts: Sequence[Fact], vectors: Sequence[Matrix]) -> list[bool]:
        """Return for each fact whether it is about work."""
        if not facts:
            return []
        rows = np.asarray(vectors)
        near = rows @ _mean(self.work)
        nearer = near - rows @ _mean(self.life)
        margins = np.array([0.0 if fact.category in _OF_WORK else _MARGIN for fact in facts])
        eligible = np.array([fact.category is not Category.FEEDBACK for fact in facts])
        return [bool(one) for one in (near >= _LEAST_NEAR) & (nearer >= margins) & eligible]


@dataclass(frozen=True, slots=True)
class Extent:
    """Limits on the length of a profile field or a history tier."""

    sentences: int
    tokens: int


def derive_profile(
    beliefs: Sequence[Belief],
    costs: Sequence[int],
    kinds: Kinds,
    now: datetime,
    extent: Extent,
    half_lives: Mapping[Category, float] = HALF_LIFE_DAYS,
    written: Collection[ProfileField] = (),
) -> dict[ProfileField, tuple[Fact, ...]]:
    """Return the facts that make up each field, in the order of its sentences.

    A fact is in at most one field. `costs` are the facts' tokens; fields in `written` are left out.
    The result doesn't depend on the order of `beliefs`.
    """
    order = sorted(range(len(beliefs)), key=lambda place: beliefs[place].fact.id)
    facts = [beliefs[place].fact for place in order]
    tokens = [costs[place] for place in order]
    vectors = [beliefs[place].vector for place in order]
    at_work = kinds.of_work(facts, vectors)
    taken: set[int] = set()

    def field(weights: Sequence[float]) -> tuple[Fact, ...]:
        rows = [row for row, weight in enumerate(weights) if weight >= _LEAST and row not in taken]
        chosen = most_central(
            [vectors[row] for row in rows],
            [weights[row] for row in rows],
            [tokens[row] for row in rows],
            most=extent.sentences,
            room=extent.tokens,
        )
        taken.update(rows[place] for place in chosen)
        selected = (facts[rows[place]] for place in chosen)
        return tuple(sorted(selected, key=_by_time))

    informative = [telling(fact) for fact in facts]
    descriptive = [
        weight * lasting(fact) * _freshness(fact, now, half_lives)
        for weight, fact in zip(informative, facts, strict=True)
    ]
    weights: dict[ProfileField, list[float]] = {
        "work_context": [
            weight if work else 0.0 for weight, work in zip(descriptive, at_work, strict=True)
        ],
        "personal_context": [
            weight if fact.category in _PRIVATE and not work else 0.0
            for fact, weight, work in zip(facts, descriptive, at_work, strict=True)
        ],
        "top_of_mind": [
            weight * _topicality(fact, now) for weight, fact in zip(informative, facts, strict=True)
        ],
    }
    return {name: field(own) for name, own in weights.items() if name not in written}


def profile_text(facts: Sequence[Fact]) -> str:
    """Return the text of a field made of `facts`."""
    return " ".join(sentence(fact.content) for fact in facts)


def is_lately(fact: Fact, now: datetime) -> bool:
    """Return True if the fact was stated or confirmed in the last two weeks."""
    return timedelta(0) <= now - stated_at(fact) < LATELY


def _by_time(fact: Fact) -> tuple[datetime, int]:
    return fact.created_at, fact.source.position or 0


def _freshness(fact: Fact, now: datetime, half_lives: Mapping[Category, float]) -> float:
    """Return the freshness, in (0.5, 1]: old facts may still describe the user best."""
    age = age_days(stated_at(fact).timestamp(), now.timestamp())
    return 0.5 + 0.5 * float(retention(age, half_lives[fact.category]))


def _topicality(fact: Fact, now: datetime) -> float:
    """Return how much a fact is on the user's mind, in [0, 1].

    Fades within days and grows with the number of messages that state it, up to four.
    """
    if not is_lately(fact, now) or fact.category is Category.FEEDBACK:
        return 0.0
    age = float(age_days(stated_at(fact).timestamp(), now.timestamp()))
    said = min(1.0, (1.0 + math.log2(max(1, len(fact.message_ids)))) / 3.0)
    return said * float(2.0 ** (-age / _HALF_LIFE_LATELY_DAYS))


def _mean(rows: Matrix) -> Matrix:
    middle = rows.mean(axis=0)
    mean: Matrix = middle / max(float(np.linalg.norm(middle)), 1e-9)
    return mean
