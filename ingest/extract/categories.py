"""Tell the category of a statement by its wording, or by the examples it resembles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.facts import Category
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.ports import Embedder


class _Cue(NamedTuple):
    category: Category
    pattern: re.Pattern[str]


def _cue(category: Category, *patterns: str) -> _Cue:
    return _Cue(category, regex(rf"\b{any_of(*patterns)}", re.IGNORECASE))


_WE_HAVE = r"(?:i|we)(?:'ve| have)?"
_I_AM = r"i(?:'m| am)"
_WE_ARE = r"(?:i|we)(?:'m| am|'re| are|'ve been| have been)"
_AUXILIARY = r"(?:'d| would| do| don't| did| didn't)?"
_LIKE = rf"(?:i|we){_AUXILIARY}(?: {phrases('categories.between')})* "
# In this order: the first that fits decides.
_CUES = (
    _cue(Category.PREFERENCE, r"I want (?:the assistant to|to be called)\b"),
    _cue(
        Category.DECISION,
        rf"{_WE_HAVE} (?:\w+ly |just )?{phrases('categories.decided')}\b",
        r"(?:we|I)(?:'re| are|'m| am) (?:going|sticking|staying) (?:with|for)\b",
        r"we(?:'re| are) (?:killing|dropping|cutting|switching to)\b",
        r"we(?:'ll| will) (?:store|use|keep|ship|stick|stay|go with|switch|move)\b",
    ),
    _cue(Category.PERSONAL, rf"{phrases('categories.of_oneself')}\b"),
    _cue(
        Category.TECHNICAL,
        rf"(?:{phrases('categories.technical', 'categories.systems')}|c\+\+)(?![\w-])",
        r"Xq\dq",
        rf"(?:we|our)\b.*\b{phrases('categories.technical_things')}(?![\w-])",
    ),
    _cue(
        Category.PREFERENCE,
        rf"{_LIKE}{phrases('categories.preferring')}\b(?! to know)",
        r"(?:my|our) (?:\w+ ){0,2}favou?rite\b",
        rf"{_I_AM} (?:\w+ )?(?:\w+ )?{phrases('categories.fond')}\b",
        phrases("categories.tasteful") + r"\b",
        rf"I (?:want|need|like|prefer) (?:\w+ ){{0,2}}{phrases('orders.replies')}\b",
    ),
    _cue(
        Category.FINDING,
        rf"{_WE_HAVE}(?: just)? {phrases('categories.found')}\b",
        r"turns out\b",
        r"(?:my|our) (?:\w+ )?(?:measurements|tests|benchmarks|numbers|data) (?:show|say|suggest)",
    ),
    _cue(
        Category.PROJECT,
        rf"{_WE_ARE} (?:\w+ )?{phrases('categories.working_on')}\b",
        rf"(?:my|our) (?:\w+ )?{phrases('categories.projects')}\b",
        rf"(?:i|we) {phrases('categories.intending')} to\b",
        rf"(?:we|our)\b.*\b{phrases('categories.of_work')}\b",
        r"(?:i|we)(?:'ll| will)\b",
    ),
    _cue(
        Category.PERSONAL,
        rf"{_I_AM} (?:{phrases('categories.being')}|\d+)\b",
        r"my name is\b",
        rf"i {phrases('categories.living')}\b",
        rf"my {phrases('categories.own')}\b",
    ),
)

_REPORT_CUES = (
    _cue(Category.PERSONAL, rf"{phrases('categories.of_a_life')}\b"),
    _cue(Category.DECISION, rf"{phrases('categories.reported_decisions')}\b"),
    _cue(Category.PROJECT, r"(?:lead|owner|maintainer|reviewer|manager|cto|ceo) is\b"),
    _cue(Category.FINDING, rf"{phrases('categories.reported_findings')}\b"),
    _cue(
        Category.TECHNICAL,
        rf"(?:{phrases('categories.technical', 'categories.technical_things')}|c\+\+)(?![\w-])",
        r"Xq\dq",
    ),
    _cue(Category.PROJECT, rf"{phrases('categories.of_work')}\b"),
    _cue(Category.PREFERENCE, r"(?:loves|hates|prefers|likes|dislikes|enjoys)\b"),
    _cue(Category.PROJECT, rf"{phrases('categories.dated')}\b"),
)

_EXAMPLES = {
    Category.PREFERENCE: (
        "The user prefers tea to coffee.",
        "The user would rather have short answers.",
        "The user can't stand loud music.",
        "Spicy food is what the user likes best.",
    ),
    Category.PERSONAL: (
        "The user lives in Lisbon with two children.",
        "The user is a nurse and 34 years old.",
        "The user's mother is ill.",
        "The user visited an old friend.",
    ),
    Category.PROJECT: (
        "The user is writing a thesis that is due in June.",
        "The user's team launches the shop next month.",
        "The user is saving for a house.",
        "The user has to finish the report by Friday.",
    ),
    Category.TECHNICAL: (
        "The user's service runs on a Linux server.",
        "The user's code is written in Python.",
        "The build needs version 3 of the compiler.",
        "The user's team deploys containers from continuous integration.",
    ),
    Category.DECISION: (
        "The user decided to rent instead of buying.",
        "The user's team agreed on weekly releases.",
        "The user chose the cheaper plan because of the price.",
    ),
    Category.FINDING: (
        "The user found out that the cache was the cause.",
        "The user's tests showed that reads are slower than writes.",
        "The user noticed that the plants need less water.",
    ),
    Category.REFERENCE: (
        "The user keeps the meeting notes in the team wiki.",
        "The tickets of the user's team are in the issue tracker.",
        "The documentation that the user follows is on the vendor's site.",
    ),
}


def category_by_rule(statement: str) -> Category | None:
    """Return the category that a statement in the first person shows; None if it shows none.

    >>> str(category_by_rule("we decided to rent")), str(category_by_rule("I adore jazz"))
    ('decision', 'preference')
    """
    return next((cue.category for cue in _CUES if cue.pattern.search(statement)), None)


def report_category(statement: str) -> Category:
    """Return the category of a statement about somebody or something else than its speaker.

    >>> str(report_category("The gateway listens on port 9443"))
    'technical'
    >>> str(report_category("Noor is ill"))
    'personal'
    >>> str(report_category("The crash came from a stale cache"))
    'finding'
    """
    return next(
        (cue.category for cue in _REPORT_CUES if cue.pattern.search(statement)), Category.PERSONAL
    )


class CategoryExamples:
    """Classifies facts by the mean cosine to each category's examples."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._centres: Matrix | None = None

    def classify(self, facts: Sequence[str]) -> list[Category]:
        """Return the category of each fact. Raises ProviderError if a remote embedder fails."""
        if not facts:
            return []
        if self._centres is None:
            self._centres = np.stack(
                [
                    self._embedder.embed(examples, "document").mean(axis=0)
                    for examples in _EXAMPLES.values()
                ]
            )
        nearest = (self._embedder.embed(facts, "document") @ self._centres.T).argmax(axis=1)
        categories = list(_EXAMPLES)
        return [categories[number] for number in nearest]
