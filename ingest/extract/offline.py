"""Extraction without a model: statements people make about themselves, found by rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import sentencex

from ingest.extract.third_person import third_person
from semantic_memory.models import Candidate, Category, Extraction, Fact, Message

_SELF = re.compile(r"\b(?:I|I'\w+|my|mine|we|we'\w+|our)\b", re.IGNORECASE)
_HEDGE = re.compile(
    r"\b(?:might|maybe|perhaps|possibly|thinking (?:of|about)|not sure|i guess|i suppose|probably"
    r"|kind of|sort of|wish|if i)\b",
    re.IGNORECASE,
)
_EXPLICIT = re.compile(
    r"\b(?:remember that|please note|for the record|keep in mind)\b", re.IGNORECASE
)


class _Cue(NamedTuple):
    category: Category
    confidence: float
    pattern: re.Pattern[str]


def _cue(category: Category, confidence: float, pattern: str) -> _Cue:
    return _Cue(category, confidence, re.compile(pattern, re.IGNORECASE | re.VERBOSE))


# In this order: the first that fits decides. White space in patterns doesn't count; [ ] is a space.
_CUES = (
    _cue(
        Category.FEEDBACK,
        0.85,
        r"""^(?: no, | actually, | that(?:'s|[ ]is)[ ](?:wrong|not[ ]right|right|correct|perfect)\b
        | please[ ](?:don't|always|never|stop)\b
        | (?:always|never|stop|don't)[ ]\w+[ ](?:me|my|the|when|in|with)\b )""",
    ),
    _cue(
        Category.DECISION,
        0.85,
        r"""\b (?:i|we)(?:'ve|[ ]have)?[ ](?:decided|chose|agreed|settled) \b
        | \b we(?:'re|[ ]are)[ ]going[ ]with \b""",
    ),
    _cue(
        Category.PREFERENCE,
        0.85,
        r"""\b (?:i|we)(?:[ ]\w+)?[ ]
            (?:prefer|like|love|enjoy|hate|dislike|can't[ ]stand|adore|don't[ ]like) \b
        | \b my[ ]favou?rite \b | \b i'm[ ](?:a[ ]fan[ ]of|into|allergic) \b""",
    ),
    _cue(
        Category.PERSONAL,
        0.85,
        r"""\b i(?:'m|[ ]am)[ ](?:a|an|the|from|\d+|married|single|engaged|vegan|vegetarian) \b
        | \b my[ ]name[ ]is \b
        | \b i[ ](?:live|grew[ ]up|was[ ]born|work[ ](?:as|at|for|in)|moved) \b
        | \b i[ ]have[ ](?:a|an|two|three|\d+) \b
        | \b my[ ](?:wife|husband|partner|girlfriend|boyfriend|family|son|daughter|kids?|children
            |sister|brother|mom|mum|mother|dad|father|dog|cat|birthday|job|boss|team|home) \b""",
    ),
    _cue(
        Category.TECHNICAL,
        0.85,
        r"""\b (?:we|i|our|my) \b .* \b (?:use|using|run|running|deploy|database|server|api|python
            |rust|java|postgres|kubernetes|docker|linux|stack|framework|library|version|repo
            |cluster) \b""",
    ),
    _cue(
        Category.PROJECT,
        0.8,
        r"""\b (?:i|we)(?:'m|[ ]am|'re|[ ]are)[ ](?:\w+[ ])?(?:working|building|planning|preparing
            |writing|launching|learning|training|studying|trying|starting|going|moving
            |organi[sz]ing) \b
        | \b my[ ](?:project|goal|plan|deadline|thesis|book|startup|company) \b
        | \b (?:i|we)[ ](?:need|plan|want|hope)[ ]to \b""",
    ),
    _cue(
        Category.FINDING,
        0.8,
        r"""\b (?:i|we)(?:[ ]just)?[ ]
            (?:found[ ]out|learned|learnt|discovered|realised|realized|noticed) \b""",
    ),
    _cue(
        Category.PERSONAL,
        0.75,
        r"""\b i(?:'ve|[ ]have|[ ]just|[ ]recently|[ ]finally|[ ]also)?[ ](?:went|started|joined
            |finished|won|bought|got|met|visited|made|painted|signed|took|adopted|graduated|quit
            |lost|been) \b""",
    ),
)


class OfflineExtractor:
    """Proposes each sentence in which someone but the assistant says something of themselves.

    Questions are left out. Hedged statements ("might", "thinking of") get a low confidence.
    """

    name = "offline-1"

    def extract(self, messages: Sequence[Message], known: Sequence[Fact] = ()) -> Extraction:
        """Candidates in the third person, each with its one source message."""
        del known  # the pipeline tells a repetition by its text
        candidates = (
            candidate
            for message in messages
            if message.role == "user"
            for sentence in sentencex.segment("en", message.content.replace("’", "'"))
            if (candidate := _candidate(sentence.strip(), message)) is not None
        )
        return Extraction(candidates=tuple(candidates))


def _candidate(sentence: str, message: Message) -> Candidate | None:
    if sentence.endswith("?") or not 3 < len(sentence.split()) <= 60:
        return None
    for category, confidence, pattern in _CUES:
        if not pattern.search(sentence):
            continue
        if category is not Category.FEEDBACK and not _SELF.search(sentence):
            continue
        if _HEDGE.search(sentence):
            confidence = 0.5
        elif _EXPLICIT.search(sentence):
            confidence = 0.95
        return Candidate(
            content=third_person(sentence, message.name or "The user"),
            category=category,
            confidence=confidence,
            message_ids=(message.id,),
        )
    return None
