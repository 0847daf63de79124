"""Tell by the words of two clauses that the newer one leaves the older one as it was.

It tells of what passes, of somebody else's thing, of a part or another kind of it, or of the older
one's value rather than of what has that value.
"""

from __future__ import annotations

import re

from semantic_memory.domain.english import incidents
from semantic_memory.domain.english.arguments import subject
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.outlived import said_besides
from semantic_memory.domain.english.renewals import KIN, Clause, Ending, is_now
from semantic_memory.domain.english.words import (
    Form,
    can_be_noun,
    forms,
    is_quality,
    is_word,
)
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import stem, stems

_CLOSED = frozenset(("closed", "shut"))
_OURS = frozenset(("my", "our"))
_AT_SOME = regex(r"\b(?:at|in|for) an? (?:[a-z-]+ )?([a-z]+)\b")
_HABIT = regex(
    r"(?:and |so |but )?(?:i|we)(?: and others)? (?:(?:also|still|always|usually|only) )?([a-z]+)\b"
)
_DONE = regex(r"\bi (?:(?:also|still|always|usually|only) )?([a-z]+)\b")
_PLANS = frozenset("have has am are plan intend need want got go fly travel visit meet".split())
_WEEKLY = regex(r"\b(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\b(?:every|each) ")
_IN_THE_PAST = regex(r"(?:was|were|got)\b")
_INDEFINITE = regex(r"^(?:and |so |but )?(?:an?|another|some) ((?:[a-z]+ ){0,3})")
_FOR_TODAY = regex(r"\bfor (?:today|tonight|now|the (?:day|night|moment|evening)|this week)\b")
_FINISHES = regex(r"(?:finished|completed|done with) (?:the|a|an|my|our|this|that|another) ")
_LIKES = regex(r"\b(?:likes?|loves?|enjoys?|prefers?|favourite|fan of|(?:am|are|is) into)\b")
_INSTEAD_OF = frozenset(("instead of", "rather than", "in place of"))
_OTHER_DID = regex(r"\bthe other [a-z]+ $")
_LEFT_AT = regex(
    r" (?:at|around|by|before) (?:about )?(?:\d|noon|midnight|lunchtime)"
    r"| (?:early|late|running|open|unlocked|alone|outside|behind)\b"
    r"| (?:on (?:the|my)|this morning|an hour ago)\b|^left (?:\d|some |a few |a )"
)
_BEING = regex(
    rf"\b(?:(?:i|we) (?:am|are|work as)|{one_of(KIN)} (?:is|works as)|(?:married|engaged) to) "
    r"(?:an?|the) (.+)$"
)
_THING_FIRST = regex(r"(?:and |so |but )?(?:the|my|our|an?) ([\w'-]+(?: [\w'-]+)?) [a-z]")
_USER_DID = regex(r"(?:and |so |but )?(?:i|we) ([a-z]+)\b")
_FOR_ONCE = regex(
    r"\b(?:her|his|their|rented|hired|borrowed|saw|met|ordered|watched|read|heard) (?:an? )?$"
)
_ARTICLES_ONLY = regex(r"(?:(?:and|so|but|the|a|an|now) )*")
_COMES = regex(
    r"\b(?:moved in|joined|arrived|came (?:home|to live)|lives|is here|is on the way|has moved)\b"
)
_SUBSTANCE = regex(
    r"\b(?:(?:allergic|intolerant|sensitive) to|eat|have|drink|take|touch|tolerate|digest) "
    r"(?:any |an? )?(.+)$|^(\w+) (?:gives?|makes?) me\b"
)
_TO_WHAT = regex(r"\b(?:allergic|intolerant|sensitive) to ([a-z]+)")
_WHICH = regex(r" (?:at|of|on|about|in|for|from|by) (?:(?:the|my|our|an?) )?(\S.*)$")
_MAY_GO_ON = frozenset(
    "over off out left quit longer resigned retired moved closed shut ended".split()
)
"""Words of an end behind which another thing may be named: "is over the flu", "left russia"."""
_GETS_AWAY = frozenset("flew ran run cut put called".split())
_FOR_LONG = regex(r"to (?:the (?:army|navy|front)|uni|university|college|prison|boarding)\b")
_INSTEAD = frozenset(("instead", "with", "for", "by", "alternative"))
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
    by_user = not ending.first and not {"i", "we", ""}.isdisjoint(ending.before.split() or [""])
    if by_user and incidents.is_skipped(ending.verb, plain) and is_habit(clause):
        return True
    if not incidents.suspends(ending.verb) or by_user or incidents.is_for_good(plain):
        return False
    closed = not _CLOSED.isdisjoint(ending.verb.split())
    once = _IN_THE_PAST.match(ending.verb) is not None or incidents.is_of_a_day(plain)
    return once and (closed or is_habit(clause) or _goes_there(clause))


def _goes_there(clause: Clause) -> bool:
    """Return whether the user goes somewhere on no day that is named: "I go to yoga with Mia"."""
    found = _HABIT.match(clause.plain)
    return bool(found and found[1] in ("go", "meet") and not clause.dates)


def is_no_cure(ending: Ending, clause: Clause) -> bool:
    """Return whether an ailment or an aversion stays, whatever became of a thing in it.

    "I threw out the nuts" ends no allergy, "my cat's asthma cleared up" none of the user's.
    """
    if not incidents.is_ailment(clause.plain):
        return False
    if not ending.predicate and not incidents.heals(ending.verb):
        return True
    if not ending.first:
        about = _TO_WHAT.search(ending.clause.plain)
        return _is_stranger_to(ending.before, clause) or bool(
            about and about[1] not in clause.words
        )
    if _is_only_cause(ending, clause):
        return True
    others = {word for word in ending.clause.words if word.endswith("'s")} - clause.words
    return bool(others) or not ending.stems <= clause.content


def _is_only_cause(ending: Ending, clause: Clause) -> bool:
    """Return whether what ended is what somebody can't have: "the eggs are gone"."""
    what = _SUBSTANCE.search(clause.plain)
    if what is None or incidents.is_named(clause.plain):
        return False
    return ending.stems <= _content(what[1] or what[2])


def _is_stranger_to(before: str, clause: Clause) -> bool:
    """Return whether somebody acts of whom the other clause says nothing: "the hospital"."""
    who = subject(before).split()[-1]
    return who != "user" and stem(who) not in clause.content and who not in clause.words


def is_used_up(ending: Ending, clause: Clause) -> bool:
    """Return whether a medicine or an aid was lost or used up, which is got anew."""
    plain = ending.clause.plain
    if not _INSTEAD.isdisjoint(plain.split()):
        return False
    thing = [word for word in clause.words if stem(word) in ending.stems]
    return incidents.is_used_up(ending.verb, thing)


def tells_of_another(ending: Ending, clause: Clause) -> bool:
    """Return whether what is said of a thing is of another one: "petra is off to rome".

    Or of another thing of that name: "the dairy on the corner closed".
    """
    if not ending.first:
        return False
    plain = ending.clause.plain
    end = plain.find(ending.verb, len(ending.before))
    thing, rest = plain[len(ending.before) : end], said_besides(plain, end + len(ending.verb))
    which = _WHICH.search(thing)
    known = clause.content | clause.words
    if which and not (spoken := _content(which[1])) <= known and spoken:
        return True
    verb = set(ending.verb.split())
    turns = not verb.isdisjoint(_MAY_GO_ON) and verb.isdisjoint(_GETS_AWAY)
    for_long = _FOR_LONG.match(plain[end + len(ending.verb) :].lstrip()) is not None
    if "off" in verb and plain.startswith(" to ", end + len(ending.verb)):
        return turns and not for_long  # "is off to rome"
    return turns and bool(rest) and not for_long and _content(rest).isdisjoint(known)


def is_for_a_while(ending: Ending, clause: Clause) -> bool:
    """Return whether somebody left or was done for the day: "left the gym at eight".

    Or had enough of what is liked, or did another thing for once: "finished my tea", "walked
    instead of driving".
    """
    plain = ending.clause.plain
    rest = plain[len(ending.before) :]
    if _FOR_TODAY.search(rest) or (_FINISHES.match(rest) and _LIKES.search(clause.plain)):
        return True
    if ending.verb in _INSTEAD_OF and incidents.is_done_once(ending.before):
        return not is_now(plain)
    return ending.verb in ("left", "leaving") and _LEFT_AT.search(rest) is not None


def is_another_of_them(ending: Ending, clause: Clause) -> bool:
    """Return whether another one of a kind ended: "the other choir split up", "the nurse left".

    A nurse who leaves isn't the user, who is a nurse; a friend who leaves is no language.
    """
    plain = ending.clause.plain
    thing = plain[len(ending.before) : plain.find(ending.verb, len(ending.before))].split()
    if _OTHER_DID.search(ending.before) and "other" not in clause.words:
        return True
    if "other" in thing and "other" not in clause.words:
        return True
    if not ending.first or not thing:
        return False
    if thing[-1] in KIN and thing[-1] not in clause.words:
        return True
    being = _BEING.search(clause.plain)
    return being is not None and ending.stems <= _content(being[1])


def says_of_another(part: Clause, clause: Clause) -> bool:
    """Return whether a clause is about a thing that another one doesn't name: "the gig is in york".

    Or it tells of something that the user did once: "i painted the hall blue".
    """
    found = _THING_FIRST.match(part.plain)
    if found:
        about = _content(found[1]) & part.content
        return bool(about) and about.isdisjoint(clause.content)
    did = _USER_DID.match(part.plain)
    return did is not None and forms(did[1]) == {Form.PAST}


def is_no_addition(found: re.Match[str]) -> bool:
    """Return whether a counted thing isn't one more of the user's: "her third kid", "rented"."""
    plain, end = found.string, found.end()
    behind = next(iter(plain[end:].split()), "")
    if can_be_noun(behind) and is_word(behind) and not is_quality(behind):
        return True
    if _FOR_ONCE.search(plain[: found.start()]):
        return True
    comes_first = _ARTICLES_ONLY.fullmatch(plain[: found.start()]) is not None
    return comes_first and bool(behind) and _COMES.search(plain, end) is None


def _content(text: str) -> frozenset[str]:
    return frozenset(stems(text.replace("'", " "))) - {""}


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
    return not planned and not forms(found[1]).isdisjoint({Form.BASE, Form.THIRD})


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
        (can_be_noun(behind) or not is_word(behind))
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
