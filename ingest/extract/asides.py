"""Find the parts of a statement that are firm by themselves, where the whole is not.

What surrounds them is unsure, addressed to someone, or leans on what was said before.

"I work at the library, maybe that helps"     ->  "I work at the library"
"She left because I can't stand garlic"       ->  "I can't stand garlic"
"""

from __future__ import annotations

import re
from itertools import pairwise

from ingest.extract.worth import is_about_the_speaker, is_hedged
from semantic_memory.domain.english.fragments import is_clause
from semantic_memory.domain.english.hedges import holds_condition
from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.persons import mentions_speaker
from semantic_memory.domain.english.pronouns import dangles
from semantic_memory.domain.english.statements import ends_in_noun_phrase
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import WORD, is_verb
from semantic_memory.domain.patterns import regex

_MOST_CUTS = 12

_BEHIND_A_CLAUSE = (
    r"(?:when|while|after|before|although|as)\s(?:I|my|we)\b[^,]{3,60},\s(?:I|my|we)\b"
)
_IS_MINE = r"[\w' ]{3,30}\b(?:is|are|was|were)\s(?:not\s|also\s)?(?:one\sof\s)?my\b"
_OWN_SUBJECT = regex(any_of(r"(?:I|we|my|our)\b", _BEHIND_A_CLAUSE, _IS_MINE), re.IGNORECASE)

_AT_MARK = rf"\s*[,;:]\s*(?:{phrases('asides.behind_mark')}\s+)?"
_AT_CONJUNCTION = (
    rf"\s+{phrases('asides.conjunctions')}\s+(?={phrases('asides.behind_conjunction')}\b)"
)
_AT_SINCE = rf"\s+since\s+(?=(?:I|my|we)\s{phrases('asides.behind_since')}\b)"
_THING = r"(?:(?!(?:it|that|who|which|I)\b)[\w-]+\s){1,3}"
_OWN = rf"I\s\w+\s+\S|I'(?:m|ve)\s+\S|my\s{_THING}{phrases('asides.of_things')}\b"
_CUT = regex(
    any_of(
        _AT_MARK,
        _AT_CONJUNCTION,
        _AT_SINCE,
        r"\s+but\s+(?=when\sI\b)",
        rf"\s+(?={phrases('asides.beginnings')}\b)",
        rf"\s+(?={_OWN})",
    ),
    re.IGNORECASE,
)
# "I recently got an apartment out there with my best friend" says enough without it.
_SAYS_SOMETHING = "".join(rf"(?<!{word})" for word in sorted(words("asides.needs_there")))
_BESIDE_THE_POINT = regex(
    rf"{_SAYS_SOMETHING}\s(?:(?:over|out|up|down|back|right)\s)?there"
    rf"(?=\s{phrases('asides.behind_there')}\b)",
    re.IGNORECASE,
)
_HOW = regex(r"\bhow \w+\s*$", re.IGNORECASE)
_BEGINS_OPEN = regex(rf"{phrases('asides.open_beginnings')}\b", re.IGNORECASE)
# No relative clause has both its own object and the noun before it: "any pets I have two dogs".
_WITH_OBJECT = regex(
    r"I (?:am|have|own|got|love|like) (?:an?|my|two|three|four|five|\d+)\b", re.IGNORECASE
)
_TAKES_CLAUSE = words("asides.takes_clause")
_UNFINISHED = words("asides.unfinished") | _TAKES_CLAUSE
_SOMEONE = words("asides.someone")
_TELLING = words("asides.telling")


def firm_parts(statement: str) -> list[str]:
    """Return the parts of `statement` that are firm, or the whole as it is if it is or none is."""
    if not mentions_speaker(statement) or is_firm(statement):
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
    """Return whether a statement says something of its speaker, for sure, and stands alone."""
    return (
        is_about_the_speaker(statement)
        and is_clause(statement)
        and not dangles(statement)
        and not is_hedged(statement)
    )


def _may_begin(statement: str, left: int, start: int) -> bool:
    """Return whether a part that begins at `start` is stated, whatever stands before it."""
    if not start:
        return not _BEGINS_OPEN.match(statement)
    before = statement[:left]
    if not _OWN_SUBJECT.match(statement, start) or holds_condition(before):
        return False
    if _HOW.search(before):
        return False
    spoken = [word.casefold() for word in WORD.findall(before)]
    if statement[left:start].isspace():  # joined by nothing
        return bool(spoken) and (
            not (_takes_a_clause(spoken) or ends_in_noun_phrase(before))
            or bool(_WITH_OBJECT.match(statement, start))
        )
    return True


def _takes_a_clause(spoken: list[str]) -> bool:
    told = len(spoken) > 1 and spoken[-1] in _SOMEONE and spoken[-2] in _TELLING
    return (
        told
        or spoken[-1] in _UNFINISHED
        or any(one in _TAKES_CLAUSE and two in ("that", "you") for one, two in pairwise(spoken))
    )


def _may_end(part: str) -> bool:
    spoken = [word.casefold() for word in WORD.findall(part)]
    if not spoken or spoken[-1] in _UNFINISHED:
        return False
    return len(spoken) > 3 or not is_verb(spoken[-1])
