"""Finds the parts of a statement that are firm by themselves, where the whole is not.

What surrounds them is unsure, addressed to someone, or leans on what was said before.

"I work at the library, maybe that helps"     ->  "I work at the library"
"She left because I can't stand garlic"       ->  "I can't stand garlic"
"""

from __future__ import annotations

import re
from itertools import pairwise

from ingest.extract.lexicon import WORD, is_verb
from ingest.extract.sentences import NOUN_PHRASE
from ingest.extract.statements import (
    dangles,
    is_about_the_speaker,
    is_clause,
    is_hedged,
    mentions_the_speaker,
)

_OWN_SUBJECT = re.compile(
    r"(?:I|we|my|our)\b|(?:when|while|after|before|although|as)\s(?:I|my|we)\b[^,]{3,60},\s"
    r"(?:I|my|we)\b|[\w' ]{3,30}\b(?:is|are|was|were)\s(?:not\s|also\s)?(?:one\sof\s)?my\b",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"""\s*[,;:]\s*(?:(?:and|but|so|because|now|well|as|although|though)\s+)?
    | \s+(?:and|but|so|yet|because|cause|cuz|coz|although|though)\s+
        (?=(?:hopefully|maybe|yes|oh|you|I|I'm|I've|my|we|now|do|how|what)\b)
    | \s+since\s+(?=(?:I|my|we)\s(?:am|have|love|like|hate|work|live|own|get|come|sell
      |study|teach|do)\b)
    | \s+but\s+(?=when\sI\b)
    | \s+(?=(?:maybe|hopefully|do\syou|do\su|what\s(?:do|does|is|are|about|kind)|are\syou|have\syou
        |how\s(?:about|bout|are)|you\s(?:can|should|know|have|could|would|will|need)
          |if\syou|like\syou|and\syou
        |it'?s|that'?s|they|he|she)\b)
    | \s+(?=I\s\w+\s+\S|I'(?:m|ve)\s+\S
        |my\s(?:(?!it\b|that\b|who\b|which\b|I\b)[\w-]+\s){1,3}(?:is|are|was|has|have
          |loves?|likes?|works?|lives?)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
# "I recently got an apartment out there with my best friend" says enough without it.
_BESIDE_THE_POINT = re.compile(
    r"(?<!am)(?<!was)(?<!be)(?<!been)(?<!go)(?<!went)(?<!get)(?<!is)(?<!are)(?<!live)"
    r"(?<!lived)\s(?:(?:over|out|up|down|back|right)\s)?there"
    r"(?=\s(?:with|in|on|at|for|and|but|because|every|when|last|this)\b)",
    re.IGNORECASE,
)
# What comes after one of these isn't stated, and what ends with one isn't finished.
_CONDITION = re.compile(
    r"\b(?:if|when|whenever|unless|until|whether|while|wish|would|could|should|imagine|pretend"
    r"|might)\b",
    re.IGNORECASE,
)
_BEGINS_OPEN = re.compile(
    r"(?:if|when|unless|because|since|although|though|while)\b", re.IGNORECASE
)
_UNFINISHED = frozenset(
    """
    a an the my our your to of for with at in on and or but so because since if that when while as
    like than then is am are was were be do don't have i we what how who which where not very too
    really just think thought know knew hope wish say said tell told guess bet believe feel felt see
    hear understand mean imagine realize realise suppose wonder swear sure make makes let lets
    except between from by into about love hate want before after until till once where whenever
    though although even maybe perhaps possibly probably hopefully every each
    """.split()
)
_TAKES_A_CLAUSE = frozenset(
    """
    think thought know knew hope wish say said says tell told tells guess bet believe feel felt see
    saw hear heard understand mean means imagine realize realise suppose wonder swear dream dreamed
    pretend doubt assume agree love loved glad sure afraid sorry that what who whom which whose how
    where why asked ask everything everyone anything something nothing all one only person place
    time way reason thing things people
    """.split()
)
# No relative clause has both its own object and the noun before it: "any pets I have two dogs".
_WITH_OBJECT = re.compile(
    r"I (?:am|have|own|got|love|like) (?:an?|my|two|three|four|five|\d+)\b", re.IGNORECASE
)
_SOMEONE = frozenset("me us you him her them".split())
_TELLS = frozenset(
    "tell tells told remind reminds reminded reminding telling show shows showed".split()
)
_MOST_CUTS = 12


def firm_parts(statement: str) -> list[str]:
    """The parts of `statement` that are firm, or the whole as it is if it is or none is."""
    if not mentions_the_speaker(statement) or is_firm(statement):
        return [statement]
    there = _BESIDE_THE_POINT.sub("", statement) if "there" in statement else statement
    if there != statement and is_firm(there):
        return [there]
    places = [found.span() for found in _CUT.finditer(statement)][:_MOST_CUTS]
    starts = [(0, 0), *places]
    ends = [*(start for start, _ in places), len(statement)]
    parts: list[str] = []
    reached = 0
    for number, (left, start) in enumerate(starts):
        if start < reached or not _may_begin(statement, left, start):
            continue
        for end in reversed(ends[number:]):
            part = statement[start:end].strip(" ,;:-")
            if (end == len(statement) or _may_end(part)) and is_firm(part):
                parts.append(part)
                reached = end
                break
    return parts or [statement]


def is_firm(statement: str) -> bool:
    """Whether a statement says something of its speaker, for sure, and stands alone."""
    return (
        is_about_the_speaker(statement)
        and is_clause(statement)
        and not dangles(statement)
        and not is_hedged(statement)
    )


def _may_begin(statement: str, left: int, start: int) -> bool:
    """Whether what begins at `start` is stated whatever stands before it."""
    if not start:
        return not _BEGINS_OPEN.match(statement)
    before = statement[:left]
    if not _OWN_SUBJECT.match(statement, start) or _CONDITION.search(before):
        return False
    words = [word.casefold() for word in WORD.findall(before)]
    if statement[left:start].isspace():  # joined by nothing
        return bool(words) and (
            not (_takes_a_clause(words) or NOUN_PHRASE.search(before))
            or bool(_WITH_OBJECT.match(statement, start))
        )
    return True


def _takes_a_clause(words: list[str]) -> bool:
    told = len(words) > 1 and words[-1] in _SOMEONE and words[-2] in _TELLS
    return (
        told
        or words[-1] in _TAKES_A_CLAUSE | _UNFINISHED
        or any(one in _TAKES_A_CLAUSE and two in ("that", "you") for one, two in pairwise(words))
    )


def _may_end(part: str) -> bool:
    words = [word.casefold() for word in WORD.findall(part)]
    if not words or words[-1] in _UNFINISHED | _TAKES_A_CLAUSE:
        return False
    return len(words) > 3 or not is_verb(words[-1])
