"""What a statement is about: by what it says, or by which examples it resembles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.facts import Category
from semantic_memory.domain.ports import Embedder


class _Cue(NamedTuple):
    category: Category
    pattern: re.Pattern[str]


def _cue(category: Category, pattern: str) -> _Cue:
    return _Cue(category, re.compile(pattern, re.IGNORECASE | re.VERBOSE))


# In this order: the first that fits decides. White space in patterns doesn't count; [ ] is a space.
_CUES = (
    _cue(
        Category.DECISION,
        r"""\b (?:i|we)(?:'ve|[ ]have)?[ ](?:\w+ly[ ]|just[ ])?
            (?:decided|chose|chosen|agreed|settled|opted|picked) \b
        | \b we(?:'re|[ ]are)[ ]going[ ]with \b""",
    ),
    _cue(
        Category.TECHNICAL,
        r"""\b (?:api|backend|cluster|compiler|cpu|css|database|docker|endpoint|framework
          |frontend|git
            |github|gpu|html|java|javascript|json|kubernetes|laptop|library|linux|macos|node|postgres
            |postgresql|python|react|repo|repository|rust|schema|server|sql|sqlite|stack|typescript
            |ubuntu|vim|vs[ ]code|windows[ ]1?\d|aws|azure|gcp|ci|pipeline|codebase|golang
              |c\+\+) \b""",
    ),
    _cue(
        Category.PREFERENCE,
        r"""\b (?:i|we)(?:'d|[ ]would|[ ]do|[ ]don't|[ ]did|[ ]didn't)?(?:[ ]\w+ly|[ ]just
          |[ ]also|[ ]still|[ ]always)*[ ]
            (?:prefer|like|love|enjoy|hate|dislike|adore|can't[ ]stand
              |loathe)\w* \b (?![ ]to[ ]know)
        | \b (?:my|our)[ ](?:\w+[ ]){0,2}favou?rite \b
        | \b i(?:'m|[ ]am)[ ](?:\w+[ ])?(?:a[ ](?:\w+[ ])?fan[ ]of|into|fond[ ]of|keen[ ]on) \b""",
    ),
    _cue(
        Category.FINDING,
        r"""\b (?:i|we)(?:'ve|[ ]have)?(?:[ ]just)?[ ]
            (?:found[ ]out|learned[ ]that|learnt[ ]that|discovered|realised|realized|noticed) \b
        | \b turns[ ]out \b""",
    ),
    _cue(
        Category.PROJECT,
        r"""\b (?:i|we)(?:'m|[ ]am|'re|[ ]are|'ve[ ]been|[ ]have[ ]been)[ ](?:\w+[ ])?
            (?:working[ ]on|building|planning|preparing|writing|launching|learning|training|studying
            |trying|starting|going[ ]to|moving|organi[sz]ing|saving|researching|designing
              |developing) \b
        | \b (?:my|our)[ ](?:\w+[ ])?(?:project|goal|plan|deadline|thesis|dissertation|startup
          |launch) \b
        | \b (?:i|we)[ ](?:need|plan|want|hope|intend|aim)[ ]to \b | \b (?:i|we)(?:'ll
          |[ ]will) \b""",
    ),
    _cue(
        Category.PERSONAL,
        r"""\b i(?:'m|[ ]am)[ ](?:a|an|the|from|in|\d+|married|single|engaged|divorced|allergic
          |vegan
            |vegetarian) \b
        | \b my[ ]name[ ]is \b
        | \b i[ ](?:live|grew[ ]up|was|work|moved|have|had|own|got|play|speak|studied|graduated) \b
        | \b my[ ](?:wife|husband|partner|girlfriend|boyfriend|family|son|daughter|kids?|children
            |sister|brother|mom|mum|mother|dad|father|parents?|dogs?|cats?|birthday|job|boss|team
              |home) \b""",
    ),
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
    """The category that the wording of a statement in the first person shows, if it does."""
    return next((cue.category for cue in _CUES if cue.pattern.search(statement)), None)


class CategoryExamples:
    """Classifies facts by the mean cosine to each category's examples."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._centres: Matrix | None = None

    def classify(self, facts: Sequence[str]) -> list[Category]:
        """The category of each fact. Raises ProviderError if a remote embedder fails."""
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
