"""Find another value in a statement of the same form: "cologne is where I live now"."""

from __future__ import annotations

from semantic_memory.consolidation.habits import done_as_often, done_elsewhere, paced
from semantic_memory.consolidation.passing import adds_to
from semantic_memory.consolidation.replacing import LEAST_SHARED, Reason, listed
from semantic_memory.consolidation.subjects import other_kind, other_person
from semantic_memory.consolidation.telling import (
    Telling,
    is_cued,
    is_held_back,
    is_question,
    is_surely_cued,
)
from semantic_memory.domain.english import renewals
from semantic_memory.domain.english.negation import NEGATIONS, denies
from semantic_memory.domain.english.numbers import kinds
from semantic_memory.domain.english.paraphrases import paraphrases
from semantic_memory.domain.english.products import SEVERAL, Use, uses
from semantic_memory.domain.english.renewals import KIN, Clause, clause_of
from semantic_memory.domain.english.restatements import (
    DAYS,
    Cleft,
    Placing,
    act,
    cleft,
    deed,
    denies_plan,
    intention,
    is_planned,
    moving,
    office,
    owning,
    placing,
    possession,
    remedies,
)
from semantic_memory.domain.english.tables import mapping, words
from semantic_memory.domain.english.words import is_adverb, is_verb, is_word
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS, stem

_LEAST_CLAIMED = 0.1  # wordings of one relation may share no word: "I cycle", "I take the bus"
_ONE_AT_A_TIME = words("restatements.one_at_a_time")
_HABITS = tuple(
    frozenset(map(stem, told.split())) for told in mapping("normal_form.habits").values()
)
_KIN = frozenset(map(stem, KIN))
_DAY_PARTS = frozenset(map(stem, words("normal_form.day_parts")))
_SAME_ONE = frozenset("new whole team company annual weekly daily monthly this next".split())
_AT_TIMES = frozenset({"at_times", "before_times", "after_times"})
_EMPLOYER, _CODES, _EARNS = "employer", "codes", "earns"
_OF_PAY = frozenset({"money", "time"})  # "I'm on 40 mg now" is no salary
_NO_LANGUAGE = regex(r"\b(?:an?|the|my|our|letters|emails|notes)\b")
_EMPLOYS = words("restatements.employs")
_ADDRESS = frozenset(map(stem, ("address", "email", "contact", "mail")))
_CHANGED = frozenset(map(stem, ("changed", "moved", "switched", "updated")))
_MAIL = regex(r"\S@\S+\.\w")
_US = frozenset({"me", "us"})
_ALL_OF_US = frozenset(map(stem, words("products.ways.everybody") | _SAME_ONE | {"office"}))
_OWN = frozenset({"i", "we", "my", "our"})


def restated(clause: Clause, new: Telling) -> Reason | None:
    """Find another value in a form that has one value at a time."""
    if renewals.is_of_the_past(clause.plain) or renewals.is_besides(clause.plain):
        return None
    for part in new.clauses:
        if is_question(part.plain) or is_held_back(part.plain) or other_person(clause, part):
            continue
        if adds_to(clause, part):
            continue
        sure = is_surely_cued(part.plain)
        cued = sure or is_cued(part.plain)
        cued_beside = cued or new.ends_beside(part)
        if cued_beside and (_claimed_anew(clause, part, new.names) or _exchanged(clause, part)):
            return Reason(f"restated: {listed(clause.content)}", _LEAST_CLAIMED)
        formed = sure and any(form(clause, part) for form in _FORMS)
        if formed or _moved(clause, part) or (cued and _placed(clause, part)):
            return Reason(f"restated: {listed(clause.content)}", LEAST_SHARED)
    return None


def abandoned(clause: Clause, new: Telling) -> Reason | None:
    """Find the denial of a plan: "we're releasing on Tuesday", then "we aren't releasing"."""
    if not is_planned(clause.plain) or denies(clause.plain.split()):
        return None
    for part in new.clauses:
        if not denies_plan(part.plain) or is_question(part.plain) or is_held_back(part.plain):
            continue
        about = part.content - NEGATIONS
        told = about | part.numbers | part.dates
        same = told <= _said(clause) and part.words & DAYS <= clause.words
        if about and same and not other_person(clause, part):
            return Reason(f"abandoned: {listed(about)}", LEAST_SHARED)
    return None


def _turned_round(clause: Clause, part: Clause) -> bool:
    """Find "chemistry is what I study now"."""
    found, before = cleft(part.plain), cleft(clause.plain)
    if found and before and _is_of_one_form(found, before):
        return _is_other(found.value, clause_of(before.value))
    if found is None or _OWN.isdisjoint(clause.words) or not found.is_told_by(clause.plain):
        return False
    if "favourite" in clause.words and found.tells_a_favourite:
        return _is_other(found.value, clause)
    about = _stems(f"{found.noun} {renewals.without_now(found.rest)}")
    return bool(about) and about < _stems(clause.plain) and _is_other(found.value, clause)


def _is_of_one_form(one: Cleft, other: Cleft) -> bool:
    """Return whether two statements have their values first, and tell the same of them."""
    rests = [_stems(f"{found.noun} {renewals.without_now(found.rest)}") for found in (one, other)]
    return one.kind == other.kind and rests[0] == rests[1]


def _placed(clause: Clause, part: Clause) -> bool:
    """Find "the offsite will be in vienna instead"."""
    return _is_elsewhere(placing(clause.plain), placing(part.plain))


def _moved(clause: Clause, part: Clause) -> bool:
    """Find "moving the studio to odense"."""
    return _is_elsewhere(placing(clause.plain), moving(part.plain))


def _is_elsewhere(one: Placing | None, other: Placing | None) -> bool:
    """Return whether one thing is at another place."""
    if one is None or other is None:
        return False
    before, after = _spoken(one.thing), _spoken(other.thing)
    # "the car keys" are other ones than "the keys"
    return (after <= before or after - before <= _SAME_ONE) and _is_other_of_kind(
        other.place, clause_of(one.place)
    )


def _remedied(clause: Clause, part: Clause) -> bool:
    """Find "switched me to losartan" where another medicine for the same ailment was taken."""
    taken, given = remedies(clause.plain), remedies(part.plain)
    return any(given[name] - taken[name] for name in taken.keys() & given.keys())


def _renamed(clause: Clause, part: Clause) -> bool:
    """Find "my github is kdev-labs now": another name of one thing of the user's."""
    one, other = owning(clause.plain), owning(part.plain)
    if one is None or other is None or one.title != other.title:
        return False
    return not (is_word(one.value) or is_word(other.value)) and one.value != other.value


def _replanned(clause: Clause, part: Clause) -> bool:
    """Find "I've decided to study medicine instead"."""
    one, other = intention(clause.plain), intention(part.plain)
    if one is None or other is None or one[:2] != other[:2] or "instead" not in part.words:
        return False
    if (one.rest.split()[0] in STOP_WORDS) != (other.rest.split()[0] in STOP_WORDS):
        return False  # "study law", "study at home"
    apart = _stems(other.rest.replace("instead", " ")) - _stems(one.rest)
    return bool(apart) and bool(_stems(one.rest) - _stems(other.rest))


def _possessed(clause: Clause, part: Clause) -> bool:
    """Find "friday is my day off now"."""
    one, other = possession(clause.plain), possession(part.plain)
    if one is None or other is None or one[1] != other[1] or not KIN.isdisjoint(one[1].split()):
        return False
    return _is_other(other[0], clause_of(one[0]))


def _done(clause: Clause, part: Clause) -> bool:
    """Find "we host on fly now"."""
    one, other = act(clause.plain), act(part.plain)
    if one is None or other is None or one[:2] != other[:2]:
        return False
    if one.way == "with" and is_word(one.value) != is_word(other.value):
        return False  # "i cook with ana", "i cook with gas"
    return _is_other_of_kind(other.value, clause_of(one.value))


def _taken_over(clause: Clause, part: Clause) -> bool:
    """Find "josh chairs the committee now"."""
    one, other = deed(clause.plain), deed(part.plain)
    return one is not None and other is not None and one[1:] == other[1:] and one.who != other.who


def _readdressed(clause: Clause, part: Clause) -> bool:
    """Find "my new address is jo@example.org" where another one was."""
    addresses = [{word for word in one.numbers if _MAIL.search(word)} for one in (clause, part)]
    return (
        all(addresses)
        and addresses[0].isdisjoint(addresses[1])
        and all("my" in one.words or "our" in one.words for one in (clause, part))
        and part.content - _ADDRESS - _CHANGED <= clause.content
        and clause.content - _ADDRESS <= part.content
    )


def _succeeded(clause: Clause, part: Clause) -> bool:
    """Find "ruth is the churchwarden now"."""
    one, other = office(clause.plain), office(part.plain)
    return (
        one is not None
        and other is not None
        and one.title == other.title
        and one.who != other.who
        and KIN.isdisjoint(one.title.split())
        and (one.definite or other.definite)
        and not (one.of and other.of and one.of != other.of)
    )


def _claimed_anew(clause: Clause, part: Clause, names: frozenset[str]) -> bool:
    """Find another value in any wording: "bedtime is ten", then "lights out at nine for me now".

    An employer has a name, and more is said of it than that the user is there.
    """
    return any(
        one.relation == other.relation
        and one.relation in _ONE_AT_A_TIME
        and (one.subject, one.about) == (other.subject, other.about)
        and _KIN.isdisjoint(one.about)
        and (one.relation != _EMPLOYER or not _EMPLOYS.isdisjoint(part.words))
        and (one.relation != _EMPLOYER or _is_named(part, names))
        and (one.relation != _EARNS or kinds(part.plain) <= _OF_PAY)
        and (one.relation != _CODES or _NO_LANGUAGE.search(part.plain) is None)
        and not (set(one.value) <= set(other.value) or set(other.value) <= set(one.value))
        for one in paraphrases(clause.plain)
        for other in paraphrases(part.plain)
    )


def _is_named(part: Clause, names: frozenset[str]) -> bool:
    return not names.isdisjoint(part.content) or any(not is_word(one) for one in part.words)


def _exchanged(clause: Clause, part: Clause) -> bool:
    """Find another product of one kind: "we track bugs in jira", then "switched to linear"."""
    before, after = uses(clause.plain), uses(part.plain)
    return any(
        before[kind].stems.isdisjoint(after[kind].stems)
        and (kind not in SEVERAL or renewals.replaces(part.plain))
        and _is_of_one_use(clause, before[kind], part, after[kind])
        for kind in before.keys() & after.keys()
    )


def _is_of_one_use(clause: Clause, before: Use, part: Clause, after: Use) -> bool:
    """Return whether both tell of the user, or of one thing, and not of different things."""
    things = [
        frozenset(
            stem(one)
            for one in use.before.split()
            if stem(one) in clause_of(use.before).content and not (is_verb(one) or is_adverb(one))
        )
        - _ALL_OF_US
        for use in (before, after)
    ]
    shared = things[0] & things[1]
    if any(word.endswith("'s") and word not in clause.words for word in after.before.split()):
        return False
    own = (before.own or before.of_a_thing) and (after.own or not _US.isdisjoint(part.words))
    return (
        (own or bool(shared))
        and (bool(shared) or not all(things))
        and not denies(after.before.split())
        and not other_kind(clause, part, shared)
    )


def _habitual(clause: Clause, part: Clause) -> bool:
    """Find another habit of one kind at one time: "pilates in the mornings now", then "I run"."""
    return any(
        one.relation == other.relation
        and one.relation in _AT_TIMES
        and (one.subject, one.about) == (other.subject, other.about)
        and _is_other_habit(frozenset(one.value), frozenset(other.value))
        for one in paraphrases(clause.plain)
        for other in paraphrases(part.plain)
    )


def _retimed(clause: Clause, part: Clause) -> bool:
    """Find "I shower in the morning now" where it was the evening."""
    return any(
        one.relation == other.relation == "at_times"
        and (one.subject, one.value) == (other.subject, other.value)
        and one.about != other.about
        and {*one.about, *other.about} <= _DAY_PARTS
        for one in paraphrases(clause.plain)
        for other in paraphrases(part.plain)
    )


def _is_other_habit(before: frozenset[str], after: frozenset[str]) -> bool:
    return any(
        before & kind and after & kind and before.isdisjoint(after & kind) for kind in _HABITS
    )


_FORMS = (
    _habitual,
    _retimed,
    _succeeded,
    _turned_round,
    _placed,
    _possessed,
    _renamed,
    _replanned,
    paced,
    done_as_often,
    done_elsewhere,
    _done,
    _taken_over,
    _readdressed,
    _remedied,
)


def _spoken(text: str) -> frozenset[str]:
    return frozenset(text.split()) - STOP_WORDS


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, _spoken(text)))


def _said(clause: Clause) -> frozenset[str]:
    return clause.content | clause.numbers | clause.dates | _spoken(clause.plain)


def _is_other(value: str, clause: Clause) -> bool:
    """Return whether a value is another than what a clause says."""
    return bool(_spoken(value) - clause.words) and not _spoken(clause.plain) <= _spoken(value)


def _is_other_of_kind(value: str, clause: Clause) -> bool:
    """Return whether a value is another one than a clause gives, both or none with figures."""
    after = clause_of(value)
    return (
        bool(clause.dates) == bool(after.dates)
        and bool(clause.numbers) == bool(after.numbers)
        and _is_other(value, clause)
    )
