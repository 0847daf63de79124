"""Recognise what passes: breakdowns that were repaired, one day's closing, qualities of the moment.

They leave what older statements tell as it was, whatever words they share with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.persons import OTHERS
from semantic_memory.domain.english.renewals import (
    KIN,
    Clause,
    around_things,
    is_of_the_past,
    thing_of,
)
from semantic_memory.domain.english.tables import phrase_of, phrases, phrases_with_choices, words
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS, stem


def _cue(entry: str) -> re.Pattern[str]:
    return regex(rf"(?<![\w'])(?:{phrases(entry)})(?![\w'])")


_REMEDIED = regex(rf"(?:{phrases_with_choices('incidents.remedied')})(?:,? [a-z]+ly)?")
_BRIEFLY = _cue("incidents.briefly")
_ONE_DAY = _cue("incidents.one_day")
_THAT_DAY = _cue("incidents.that_day")
_LASTING = _cue("incidents.lasting")
_FAILURES = _cue("incidents.failures")
_MOODS = _cue("incidents.moods")
_ABILITIES = _cue("incidents.abilities")
_ADDITIONS = around_things("incidents.additions")
_JOURNEYS = _cue("incidents.journeys")
_DONE_ONCE = _cue("incidents.done_once")
_MEASURED = _cue("incidents.measured")
_FAILS = words("incidents.fails")
_SUSPENDS = words("incidents.suspends")
_SKIPS = words("incidents.skips")
_CONTRACTS = words("incidents.contracts")
_USES_UP = words("incidents.uses_up")
_BELONGINGS = frozenset(map(stem, words("incidents.belongings")))
# "dropped my glasses in the sink", not "dropped the gym in the end"
_FALLS = regex(
    r"\b(?:dropped|spilt|spilled)\b.* (?:in|on|into|onto|down|under|behind) (?:the|my|our|a) "
    r"(?!(?:end|spring|summer|autumn|winter|new|first|second|last|meantime)\b)\w"
)
_NORMS = words("incidents.norms")
_AILS = regex(rf"(?<![\w'])(?:{phrases('incidents.ails', 'incidents.named')})(?![\w'])")
_NAMED_AILMENTS = _cue("incidents.named")
_HEALS = words("incidents.heals")
_THING = r"[a-z][\w-]*(?: [a-z][\w-]*)?"
_AGAIN = "(?: (?:now|at last|again|finally|already))*"


def _of_thing(entry: str) -> tuple[re.Pattern[str], ...]:
    sources = phrase_of(entry, thing=_THING)
    return tuple(regex(rf"(?:(?:so|and|but|now|finally) )*{one}{_AGAIN}") for one in sources)


_PAUSED = _of_thing("incidents.paused")
_RESUMED = _of_thing("incidents.resumed")
_AILMENT = r"(?:(?:the|my|that) )?(?:[a-z][\w'-]* ){0,2}?[a-z][\w-]*"
_DISPROVED = tuple(
    regex(rf"(?<![\w'-]){one}(?![\w'-])")
    for one in phrase_of("incidents.disproved", ailment=_AILMENT)
)
_THEIRS = frozenset({"his", "her", "their", "your"})
_SUPPOSING = words("incidents.supposing")
_OF_ANY_AILMENT = words("incidents.of_any_ailment")
_SUPPLIES = frozenset(map(stem, words("incidents.supplies")))
_MEDICINE = regex(rf"[a-z]{{3,}}{one_of(words('restatements.medicines.endings'))}")
_USED_UP = words("incidents.used_up")
_GIVEN_UP = words("incidents.given_up")


def is_remedied(plain: str) -> bool:
    """Return whether a clause of a folded text tells only that something is as it was.

    >>> is_remedied("back now"), is_remedied("back in oslo now")
    (True, False)
    """
    return _REMEDIED.fullmatch(plain) is not None


def is_brief(plain: str) -> bool:
    """Return whether a folded text tells that something happened once more, or for a short time.

    >>> is_brief("lost my glasses again"), is_brief("i lost my job")
    (True, False)
    """
    return _BRIEFLY.search(plain) is not None and not is_for_good(plain)


def is_of_a_day(plain: str) -> bool:
    """Return whether a folded text tells of a day or a week, and not of an end for good.

    >>> is_of_a_day("yoga was cancelled this week"), is_of_a_day("yoga is cancelled for good")
    (True, False)
    """
    return _ONE_DAY.search(plain) is not None and not is_for_good(plain)


def is_skipped(verb: str, plain: str) -> bool:
    """Return whether a folded text with a verb of an end tells that the user didn't go on a day.

    >>> is_skipped("cancelled", "i cancelled yoga today"), is_skipped("cancelled", "i cancelled it")
    (True, False)
    """
    spoken = plain.split()
    return (
        not _SKIPS.isdisjoint(verb.split())
        and _CONTRACTS.isdisjoint(spoken)
        and _THAT_DAY.search(plain) is not None
        and not is_for_good(plain)
    )


def is_for_good(plain: str) -> bool:
    """Return whether a folded text says that something is over for good.

    >>> is_for_good("yoga is cancelled for good"), is_for_good("yoga is cancelled")
    (True, False)
    """
    return _LASTING.search(plain) is not None


def is_failure(plain: str) -> bool:
    """Return whether a folded text tells that something failed once.

    >>> is_failure("the password was wrong again"), is_failure("the password is new")
    (True, False)
    """
    return (is_brief(plain) or is_of_a_day(plain)) and _FAILURES.search(plain) is not None


def is_done_once(plain: str) -> bool:
    """Return whether a folded text tells what was done for once, in place of something else.

    >>> is_done_once("i walked to work"), is_done_once("i moved to a new club")
    (True, False)
    """
    return _DONE_ONCE.search(plain) is not None


def is_mood(plain: str) -> bool:
    """Return whether a folded text gives a quality of the moment.

    >>> is_mood("my hair is so dry now"), is_mood("my hair is blonde now")
    (True, False)
    """
    return _MOODS.search(plain) is not None


def gains(plain: str) -> bool:
    """Return whether a folded text tells what something can do besides.

    >>> gains("splunk now shows the logs in colour"), gains("splunk now gets the logs")
    (True, False)
    """
    return _ABILITIES.search(plain) is not None


def additions(plain: str) -> frozenset[str]:
    """Return the stems of what a folded text says that something has besides.

    >>> sorted(additions("the choir has new folders now")), additions("the choir is in leeds now")
    (['folder'], frozenset())
    """
    found = (one for pattern in _ADDITIONS for one in pattern.finditer(plain))
    return frozenset(thing for one in found for thing in thing_of(one["thing"]))


def is_journey(plain: str) -> bool:
    """Return whether a folded text tells where somebody has gone for a while.

    >>> is_journey("pam has gone to malta for a week"), is_journey("pam has gone back to malta")
    (True, False)
    """
    return _JOURNEYS.search(plain) is not None and not is_for_good(plain)


def is_repaired(told: tuple[Clause, ...]) -> bool:
    """Return whether a statement's last clause says that what the others tell is as it was.

    >>> from semantic_memory.domain.english.renewals import clauses
    >>> is_repaired(clauses("the database was down, back now")), is_repaired(clauses("back now"))
    (True, False)
    """
    return len(told) > 1 and is_remedied(told[-1].plain)


def falls(plain: str) -> bool:
    """Return whether a folded text tells that something fell.

    >>> falls("i dropped my phone in the bath"), falls("i dropped the gym in the end")
    (True, False)
    """
    return _FALLS.search(plain) is not None


def may_come_back(verb: str) -> bool:
    """Return whether the verb of an end is one after which a thing may come back.

    >>> may_come_back("was cancelled"), may_come_back("sold")
    (True, False)
    """
    return not _FAILS.isdisjoint(verb.split())


def is_left_behind(verb: str, thing: frozenset[str]) -> bool:
    """Return whether the thing of an end, by its stems, is one that was left somewhere.

    >>> [is_left_behind("left", frozenset({one})) for one in ("umbrella", "choir")]
    [True, False]
    """
    return verb == "left" and not thing.isdisjoint(_BELONGINGS)


def uses_up(verb: str) -> bool:
    """Return whether the verb of an end may tell of one of many things.

    >>> uses_up("finished"), uses_up("stopped watching"), uses_up("sold")
    (True, True, False)
    """
    return verb.split()[0] in _USES_UP


def suspends(verb: str) -> bool:
    """Return whether the verb of an end may be said of one of many days.

    >>> suspends("was cancelled"), suspends("died")
    (True, False)
    """
    return not _SUSPENDS.isdisjoint(verb.split())


def is_norm(clause: Clause) -> bool:
    """Return whether a clause gives what is asked for: "the coverage gate is 80 percent"."""
    return not clause.words.isdisjoint(_NORMS)


def is_measured(plain: str) -> bool:
    """Return whether a folded text tells how a figure came out.

    >>> is_measured("coverage went up to 83"), is_measured("we raised coverage to 83")
    (True, False)
    """
    return _MEASURED.search(plain) is not None


def is_ailment(plain: str) -> bool:
    """Return whether a folded text tells of an ailment, or of what somebody must not have.

    >>> is_ailment("i am allergic to nuts"), is_ailment("i like nuts")
    (True, False)
    """
    return _AILS.search(plain) is not None


def paused(plain: str) -> frozenset[str]:
    """Return the stems of what a folded clause says is paused.

    >>> paused("so no handball until easter"), paused("no sugar for my son")
    (frozenset({'handbal'}), frozenset())
    """
    return _thing(_PAUSED, plain)


def resumed(plain: str) -> frozenset[str]:
    """Return the stems of what a folded clause says somebody does again.

    >>> resumed("back to handball at last"), resumed("tom is back to handball")
    (frozenset({'handbal'}), frozenset())
    """
    return _thing(_RESUMED, plain)


def _thing(wordings: Iterable[re.Pattern[str]], plain: str) -> frozenset[str]:
    told = (one.fullmatch(plain) for one in wordings)
    spoken = next((found["thing"] for found in told if found), "")
    return frozenset(map(stem, frozenset(spoken.split()) - STOP_WORDS))


def disproved(plain: str) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield the ailments that a folded clause says were none, with whose they are said to be.

    Each is a pair of the stems of its name and the owners in it.

    >>> [sorted(name) for name, _ in disproved("the penicillin allergy was a misdiagnosis")]
    [['penicillin']]
    """
    for pattern in _DISPROVED:
        for found in pattern.finditer(plain):
            before = plain[: found.start()]
            # "as a child", "i hope"
            if is_of_the_past(plain.replace(found[0], "")) or not _SUPPOSING.isdisjoint(
                before.split()
            ):
                continue
            spoken = frozenset(found["ailment"].split())
            owners = frozenset(
                word for word in spoken if word.endswith("'s") or word in OTHERS | KIN | _THEIRS
            )
            yield frozenset(map(stem, spoken - owners - STOP_WORDS - _OF_ANY_AILMENT)), owners


def is_named(plain: str) -> bool:
    """Return whether a folded text names an ailment that somebody has, rather than its cause.

    >>> is_named("i have asthma"), is_named("i can not have milk")
    (True, False)
    """
    return _NAMED_AILMENTS.search(plain) is not None


def heals(verb: str) -> bool:
    """Return whether the verb of an end is one that an ailment meets.

    >>> heals("is gone"), heals("threw out")
    (True, False)
    """
    return not _HEALS.isdisjoint(verb.split())


def is_used_up(verb: str, thing: Iterable[str]) -> bool:
    """Return whether a medicine or an aid, by its words, was lost or used up, to be got anew.

    >>> is_used_up("lost", ["inhaler"]), is_used_up("came off", ["citalopram"])
    (True, False)
    """
    spoken = verb.split()
    if _USED_UP.isdisjoint(spoken) or not _GIVEN_UP.isdisjoint(spoken):
        return False
    return any(stem(one) in _SUPPLIES or _MEDICINE.fullmatch(one) for one in thing)
