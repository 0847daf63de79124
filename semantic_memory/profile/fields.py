"""A user's profile from their facts, without a model: which ones describe the user best.

    work_context        facts nearer to work than to private life, decisions and technology first
    personal_context    who the user is and what they like, apart from work
    top_of_mind         what was said in the last two weeks, above all what was said repeatedly

Whether a fact is about work is told by its vector: it is compared with a few sentences about work
and a few about private life.
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
"""How long something is on top of the mind."""

_OF_WORK = frozenset({Category.TECHNICAL, Category.DECISION, Category.FINDING, Category.REFERENCE})
_PRIVATE = frozenset({Category.PERSONAL, Category.PREFERENCE})
_LEAST_NEAR = 0.18  # cosine to work from which a fact can be about it at all
_MARGIN = 0.1  # by which one that may as well be private must be nearer to work
_LEAST = 0.15  # worth below which a fact is in no field
_HALF_LIFE_LATELY_DAYS = 7.0


@dataclass(frozen=True, slots=True)
class Kinds:
    """The vectors of `WORK` and `LIFE`, rows of unit length."""

    work: Matrix
    life: Matrix

    def of_work(self, facts: Sequence[Fact], vectors: Sequence[Matrix]) -> list[bool]:
        """Which facts are about work."""
        if not facts:
            return []
        rows = np.asarray(vectors)
        near = rows @ _mean(self.work)
        nearer = near - rows @ _mean(self.life)
        margins = np.array([0.0 if fact.category in _OF_WORK else _MARGIN for fact in facts])
        told = [fact.category is not Category.FEEDBACK for fact in facts]
        return [bool(one) for one in (near >= _LEAST_NEAR) & (nearer >= margins) & np.array(told)]


@dataclass(frozen=True, slots=True)
class Extent:
    """How long something may become."""

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
    """The facts that make up each field, in the order of its sentences; a fact is in one field.

    `costs` are the tokens of each; `written` fields are left out. Doesn't depend on the order of
    `beliefs`.
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
        told = [facts[rows[place]] for place in chosen]
        return tuple(sorted(told, key=lambda fact: (fact.created_at, fact.source.position or 0)))

    says = [telling(fact) for fact in facts]
    worth = [
        much * lasting(fact) * _left(fact, now, half_lives)
        for much, fact in zip(says, facts, strict=True)
    ]
    weights: dict[ProfileField, list[float]] = {
        "work_context": [much if work else 0.0 for much, work in zip(worth, at_work, strict=True)],
        "personal_context": [
            much if fact.category in _PRIVATE and not work else 0.0
            for fact, much, work in zip(facts, worth, at_work, strict=True)
        ],
        "top_of_mind": [much * _present(fact, now) for much, fact in zip(says, facts, strict=True)],
    }
    return {name: field(own) for name, own in weights.items() if name not in written}


def profile_text(facts: Sequence[Fact]) -> str:
    """What a field says."""
    return " ".join(sentence(fact.content) for fact in facts)


def is_lately(fact: Fact, now: datetime) -> bool:
    """Whether it was said, or confirmed, in the last two weeks."""
    return timedelta(0) <= now - stated_at(fact) < LATELY


def _left(fact: Fact, now: datetime, half_lives: Mapping[Category, float]) -> float:
    """Freshness, in (0.5, 1]: what was said long ago may still describe the user best."""
    age = age_days(stated_at(fact).timestamp(), now.timestamp())
    return 0.5 + 0.5 * float(retention(age, half_lives[fact.category]))


def _present(fact: Fact, now: datetime) -> float:
    """How much it occupies the user: fading within days, growing with every message that says it.

    1 at most, for what was said four times today.
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
