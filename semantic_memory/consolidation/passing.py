"""Tell by the words of two clauses that the newer one leaves the older one as it was.

It tells of what passes, of somebody else's thing, of a part or another kind of it, or of the older
one's value rather than of what has that value.
"""

from __future__ import annotations

from semantic_memory.domain.english import incidents
from semantic_memory.domain.english.renewals import Clause, Ending
from semantic_memory.domain.english.words import Form, can_be_noun, forms
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS, stem

_HABIT = regex(r"(?:and |so |but )?(?:i|we) (?:(?:also|still|always|usually|only) )?([a-z]+)\b")
_PLANS = frozenset("have am are plan intend need want got go fly travel visit meet".split())
_WEEKLY = regex(r"\b(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\b(?:every|each) ")
_IN_THE_PAST = regex(r"(?:was|were|got)\b")
_INDEFINITE = regex(r"^(?:and |so |but )?(?:an?|another|some) ((?:[a-z]+ ){0,3})")
_FIRST_PERSON = frozenset("i me my mine we us our".split())
_THEIRS = "its their his her".split()
_SUBJECT_END = regex(
    r" (?:is|are|was|were|has|have|had|can|will|does|do|now|became|goes|go|runs|run)\b"
)


def may_go_on(ending: Ending, clause: Clause, *, repaired: bool) -> bool:
    """Return whether what ended may be back: cancelled once, lost and found, gone on a journey."""
    plain = ending.clause.plain
    if "gone" in ending.verb.split() and incidents.is_journey(plain):
        return True
    if incidents.may_come_back(ending.verb) and (repaired or incidents.is_brief(plain)):
        return True
    if not incidents.suspends(ending.verb) or not ending.first or incidents.is_for_good(plain):
        return False
    closed = {"closed", "shut"} & {*ending.verb.split()}
    once = _IN_THE_PAST.match(ending.verb) is not None or incidents.is_of_a_day(plain)
    return once and bool(closed or is_habit(clause))


def is_habit(clause: Clause) -> bool:
    """Return whether a clause tells what the user does again and again."""
    found = _HABIT.match(clause.plain)
    if found is None:
        return False
    planned = found[1] in _PLANS and not _WEEKLY.search(clause.plain)
    return not planned and Form.BASE in forms(found[1])
