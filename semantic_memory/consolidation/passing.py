"""Tell by the words of two clauses that the newer one leaves the older one as it was.

It tells of what passes, of somebody else's thing, of a part or another kind of it, or of the older
one's value rather than of what has that value.
"""

from __future__ import annotations

from semantic_memory.domain.english import incidents
from semantic_memory.domain.english.renewals import KIN, Clause, Ending
from semantic_memory.domain.english.words import Form, can_be_noun, forms
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import stem

_CLOSED = frozenset(("closed", "shut"))
_OURS = frozenset(("my", "our"))
_AT_SOME = regex(r"\b(?:at|in|for) an? (?:[a-z-]+ )?([a-z]+)\b")
_HABIT = regex(r"(?:and |so |but )?(?:i|we) (?:(?:also|still|always|usually|only) )?([a-z]+)\b")
_DONE = regex(r"\bi (?:(?:also|still|always|usually|only) )?([a-z]+)\b")
_PLANS = frozenset("have am are plan intend need want got go fly travel visit meet".split())
_WEEKLY = regex(r"\b(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\b(?:every|each) ")
_IN_THE_PAST = regex(r"(?:was|were|got)\b")
_INDEFINITE = regex(r"^(?:and |so |but )?(?:an?|another|some) ((?:[a-z]+ ){0,3})")
_KNOWN = frozenset("i me my mine we us our you he she they it".split())
_THEIR_THING = regex(r"\b(?:its|their|his|her) ((?:[a-z-]+ ?){1,3})")
_SUBJECT_END = regex(
    r" (?:is|are|was|were|has|have|had|can|will|does|do|now|became|becomes|goes?|runs?|lives?)\b"
)


def may_go_on(ending: Ending, clause: Clause, *, repaired: bool) -> bool:
    """Return whether what ended may be back: cancelled once, lost and found, gone on a journey."""
    plain = ending.clause.plain
    if "gone" in ending.verb.split() and incidents.is_journey(plain):
        return True
    if incidents.falls(plain) or incidents.is_left_behind(ending.verb, ending.head):
        return True
    if incidents.may_come_back(ending.verb) and (repaired or incidents.is_brief(plain)):
        return True
    if _is_another_place(ending, clause):
        return True
    by_user = not ending.first and not {"i", "we", ""}.isdisjoint(ending.before.split(" "))
    if not incidents.suspends(ending.verb) or by_user or incidents.is_for_good(plain):
        return False
    closed = not _CLOSED.isdisjoint(ending.verb.split())
    once = _IN_THE_PAST.match(ending.verb) is not None or incidents.is_of_a_day(plain)
    return once and (closed or is_habit(clause))


def _is_another_place(ending: Ending, clause: Clause) -> bool:
    """Return whether a place closed that isn't named: "I work at a bank", "the bank closed"."""
    if _CLOSED.isdisjoint(ending.verb.split()) or not _OURS.isdisjoint(ending.before.split()):
        return False
    unnamed = {stem(place) for place in _AT_SOME.findall(clause.plain)}
    return bool(unnamed) and ending.head <= unnamed


def is_habit(clause: Clause) -> bool:
    """Return whether a clause tells what the user does again and again."""
    found = _HABIT.match(clause.plain)
    if found is None:
        return False
    planned = found[1] in _PLANS and not _WEEKLY.search(clause.plain)
    return not planned and Form.BASE in forms(found[1])


def is_of_another(ending: Ending, clause: Clause) -> bool:
    """Return whether somebody else ended a thing of theirs: "a neighbour sold his van".

    A shop that is "out of" a thing hasn't left it either.
    """
    if ending.first:
        return False
    theirs = "out" in ending.verb.split() or _is_theirs(
        ending.clause.plain[len(ending.before) :], ending.head
    )
    return _acts_for_others(ending.before, clause) or (
        theirs and _is_stranger(ending.before, clause)
    )


def changes_another(part: Clause, thing: frozenset[str], clause: Clause) -> bool:
    """Return whether somebody else changed a thing of theirs: "a rival postponed its launch"."""
    return (
        _acts_for_others(part.plain, clause) or _is_stranger(part.plain, clause)
    ) and _is_theirs(part.plain, thing)


def _acts_for_others(before: str, clause: Clause) -> bool:
    """Return whether an unknown acts by what is told: "a junior here moved from"."""
    found = _INDEFINITE.match(before)
    return found is not None and clause.content.isdisjoint(map(stem, found[1].split()))


def _is_stranger(before: str, clause: Clause) -> bool:
    """Return whether the first words name somebody of whom the other clause says nothing."""
    first, *rest = before.split() or ["i"]
    leading = {first, *rest[:1]}
    of_kin = not KIN.isdisjoint(word.removesuffix("s") for word in rest[:1])
    return (of_kin or _KNOWN.isdisjoint(leading)) and clause.content.isdisjoint(map(stem, leading))


def _is_theirs(plain: str, thing: frozenset[str]) -> bool:
    """Return whether a thing stands behind "its", "their", "his" or "her"."""
    return any(
        not thing.isdisjoint(map(stem, found.split())) for found in _THEIR_THING.findall(plain)
    )


def is_left_out(ending: Ending, clause: Clause) -> bool:
    """Return whether only what belongs to the older clause's thing ended: "binned the vape box".

    The word right behind what both share is a noun of its own, or only "one".
    """
    if ending.first or ending.predicate:
        return False
    spoken = [*ending.clause.plain[len(ending.before) :].replace(",", " ").split(), ""]
    places = [n for n, word in enumerate(spoken) if stem(word) in ending.stems & clause.content]
    if not places:
        return False
    behind = spoken[places[-1] + 1]
    return (behind in ("one", "ones") and incidents.uses_up(ending.verb)) or (
        can_be_noun(behind)
        and stem(behind) in ending.stems - clause.content
        and not forms(behind) & {Form.PAST, Form.ING}
    )


def is_one_of_several(ending: Ending, clause: Clause) -> bool:
    """Return whether a single thing ended of those that a habit is about: "the train to prague"."""
    ended = {word for word in ending.clause.words if stem(word) in ending.stems}
    done = set(_DONE.findall(clause.plain))  # "i runs", of "the user runs"
    return any(f"{word}s" in clause.words - done for word in ended - clause.words)


def gives_another_aspect(clause: Clause, sentence: Clause) -> bool:
    """Return whether the newer one tells something else of a thing: its mood, an addition, a part.

    "My hair is so dry now" leaves its colour, "Splunk now shows the logs in UTC" where they go.
    """
    return (
        incidents.is_mood(sentence.plain)
        or incidents.gains(sentence.plain)
        or adds_to(clause, sentence)
        or _is_about_value(clause, sentence)
    )


def adds_to(clause: Clause, sentence: Clause) -> bool:
    """Return whether the newer one tells of something besides: "new chairs on floor 3"."""
    added = incidents.additions(sentence.plain)
    return bool(added) and added.isdisjoint(clause.content)


def _is_about_value(clause: Clause, sentence: Clause) -> bool:
    """Return whether the newer one is about the older one's value: "professor nowak became".

    Or it says that value again, of something else: "the jenkins agent is on".
    """
    thing, value = _parted(clause)
    about, _ = _parted(sentence)
    if not (thing and value):
        return False
    kept = value <= sentence.content and not thing <= sentence.content
    return kept or (bool(about & value) and about.isdisjoint(thing))


def _parted(clause: Clause) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems before the first verb of a clause, and the others."""
    found = _SUBJECT_END.search(clause.plain)
    if found is None:
        return frozenset(), frozenset()
    before = frozenset(map(stem, clause.plain[: found.start()].split()))
    return before & clause.content, clause.content - before


def measures_only(clause: Clause, part: Clause) -> bool:
    """Return whether the older one gives what is asked for, and the newer one what is measured."""
    asked = incidents.is_norm(clause) and not clause.dates
    return asked and not incidents.is_norm(part) and incidents.is_measured(part.plain)
