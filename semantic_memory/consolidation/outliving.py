"""Find states that a newer statement says are over, whatever its words: "the cast came off"."""

from __future__ import annotations

from semantic_memory.consolidation.claims import claims, conflicting
from semantic_memory.consolidation.replacing import Reason, listed
from semantic_memory.consolidation.subjects import (
    is_of_another_owner,
    kin_of,
    other_kind,
    other_person,
    owners_of,
)
from semantic_memory.consolidation.telling import Telling, is_cued, is_question, makes_claim
from semantic_memory.domain.english import incidents, renewals
from semantic_memory.domain.english.concluded import Matter, opened, settled
from semantic_memory.domain.english.negation import NEGATIONS, denies
from semantic_memory.domain.english.outlived import (
    Outcome,
    body_parts,
    outcomes,
    outcomes_of_others,
    states,
)
from semantic_memory.domain.english.persons import OTHERS
from semantic_memory.domain.english.renewals import KIN, Clause, is_ahead
from semantic_memory.domain.english.tables import phrase_list
from semantic_memory.domain.english.words import Form, forms, is_word
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import stem, stems

_LEAST = 0.1
_LEAST_TURNED = 0.25
_BESIDE = frozenset(map(stem, phrase_list("renewals.beside_denial")))
_NAMES = regex(r"\b(?:is|are) (?:called|named)\b|\bname is\b")
_USER = "user"
_FIRST_PERSON = frozenset({"i", "we", "my", "our"})
_AT = regex(r"\b(?:(?:at|of) (?:the |my |our )?|in (?:the|my|our) )([a-z]+)")
# "nuts are fine with her" ends no allergy of the user's
_SUITS_ANOTHER = regex(
    r"\b(?:fine|ok|okay|good|safe|great|allowed|no (?:problem|trouble|issue)|not a problem)"
    r"(?: again| now| too)? (?:for|with|by) (?!me\b|us\b|(?:the )?user\b(?!'s)|now\b|good\b"
    r"|(?:my|the user's|their) (?:stomach|tummy|belly|gut|body|diet|system)\b)"
)
_BIRTH = "pregnant"  # ended by the arrival of somebody else
_BORN = frozenset({"daughter", "son", "girl", "boy", "twin", "baby", "child"})
_BEARS = frozenset("had have got gave given delivered welcomed lost miscarried".split())
_OF_ONE_ACT = frozenset({"barred"})
"""States of which both statements name the act: "I can't drive", "I'm driving again"."""
_OF_ANYTHING = frozenset({"unallergic"})
"""States that whatever is named ends: "I'm allergic to penicillin"."""
_WITH_A_PARTNER = frozenset({"single", "together", "engaged", "married", "with_others"})


def outlived(clause: Clause, new: Telling) -> Reason | None:
    """Find the event that ends a state of the user: "pregnant", then "our girl was born"."""
    held = states(clause.plain)
    if (
        not held
        or _NAMES.search(clause.plain)
        or renewals.is_of_the_past(clause.plain)
        or renewals.claims_nothing(clause.plain)
    ):
        return None
    for told, part in new.passages:
        if makes_claim(part.plain) and not is_ahead(told):
            for state, who in held.items():
                if who != _USER:
                    same = any(
                        (one.state, one.who) == (state, who)
                        and _is_told_of_it(one, clause)
                        and _may_be_of_one_part(clause, part)
                        for one in outcomes_of_others(told)
                    )
                else:
                    shared = clause.content & part.content
                    others = shared and is_of_another_owner(part, clause, shared)
                    same = not (others or _SUITS_ANOTHER.search(told)) and any(
                        one.state == state
                        and _is_told_of_it(one, clause)
                        and _is_of_the_same(clause, part, one)
                        for one in outcomes(told)
                    )
                if same:
                    return Reason(f"over: {state}", _LEAST)
    return None


def _is_told_of_it(event: Outcome, clause: Clause) -> bool:
    """Return whether an event is said of nothing in particular, or of what a clause names.

    "The plaster came off the wall" ends no fracture, nor does "I'm done with the shopping" a
    romance.
    """
    if event.state in _OF_ONE_ACT and _told_in(clause).isdisjoint(stems(event.said)):
        return False
    if event.state in _OF_ANYTHING:
        return True
    spoken = frozenset(stems(event.rest.replace("'", " "))) - {""}
    return not event.rest or not spoken.isdisjoint(_told_in(clause))


def _told_in(clause: Clause) -> frozenset[str]:
    """Return the stems of a clause without those of function words, people included."""
    return frozenset(stems(clause.plain.replace("'", " "))) - {""}


def concluded(clause: Clause, new: Telling) -> Reason | None:
    """Find what settles an open matter: "waiting for my permit", then "got the permit"."""
    matters = opened(clause.plain)
    if not matters or renewals.is_of_the_past(clause.plain):
        return None
    for part in new.clauses:
        for done in (
            settled(part.plain) if makes_claim(part.plain) and not is_ahead(part.plain) else ()
        ):
            if denies(done.beside.split()) or _SUITS_ANOTHER.search(part.plain):
                continue  # "I'm not allowed to eat nuts"
            for matter in matters:
                if _settles(done, matter, clause, part) and not (
                    renewals.claims_nothing(matter.beside)
                    or other_person(clause, part)
                    or other_kind(clause, part, done.things)
                    or _of_another(clause, part)
                ):
                    return Reason(f"settled: {listed(done.things)}", _LEAST)
    return None


def resumed(clause: Clause, new: Telling) -> Reason | None:
    """Find the end of a pause: "no handball until easter", then "back to handball"."""
    things = incidents.paused(clause.plain)
    for sentence in new.sentences if things else ():
        if not makes_claim(sentence.plain) or is_ahead(sentence.plain):
            continue
        for part in renewals.parts(sentence):
            if incidents.resumed(part.plain) == things and not part.dates:
                return Reason(f"resumed: {listed(things)}", _LEAST)
    return None


def disproved(clause: Clause, new: Telling) -> Reason | None:
    """Find the ailment that was none: "the penicillin allergy was a misdiagnosis"."""
    if not incidents.is_ailment(clause.plain) or renewals.is_of_the_past(clause.plain):
        return None
    own = clause.plain.split()[0] in _FIRST_PERSON and not kin_of(clause)
    spoken = frozenset(word.removesuffix("'s") for word in clause.words)
    for part in new.clauses:
        if not (renewals.claims_nothing(part.plain) or is_question(part.plain)):
            for name, owners in incidents.disproved(part.plain):
                whose = frozenset(one.removesuffix("'s") for one in owners)
                if name and name <= clause.content and whose <= spoken and (own or whose):
                    return Reason(f"disproved: {listed(name)}", _LEAST)
    return None


def _of_another(clause: Clause, part: Clause) -> bool:
    """Return whether both give different figures, or only one says where: "the printer at home"."""
    if part.numbers and clause.numbers and part.numbers.isdisjoint(clause.numbers):
        return True
    places = [{*_AT.findall(one.plain)} for one in (clause, part)]
    return bool(places[1] - places[0])


def _settles(done: Matter, matter: Matter, clause: Clause, part: Clause) -> bool:
    """Return whether both are of one kind and about one thing of one person."""
    shared, more = done.things & matter.things, done.things - matter.things - clause.content
    # "had the hip replaced" is about the hip, "got my visa card" isn't about the visa
    deeds = {stem(word) for word in part.words if Form.PAST in forms(word)}
    return (
        done.kind == matter.kind
        and bool(shared)
        and (not more or (shared == matter.things and more <= deeds))
        and (None in (done.who, matter.who) or done.who == matter.who)
    )


def contradicted(clause: Clause, new: Telling) -> Reason | None:
    """Find the opposite stance: "I can't stand olives", then "I love olives now"."""
    own = claims(clause.plain)
    if not own:
        return None
    for part in new.clauses:
        apart = not makes_claim(part.plain) or not is_cued(part.plain) or other_person(clause, part)
        if not apart and (found := conflicting(own, claims(part.plain))):
            return Reason(f"turned: {found[0]}", _LEAST_TURNED)
    return None


def _is_of_the_same(clause: Clause, part: Clause, event: Outcome) -> bool:
    """Return whether an event may be the user's own, and of the same part of the body."""
    state = event.state
    first, *of = event.who.split()
    told_of = of[-1] if of else first
    own = told_of == _USER or told_of in clause.words or bool(body_parts(told_of))
    people = {word.removesuffix("s") for word in (first, *of)}
    others = KIN - _BORN - _first_kin(clause) if state == _BIRTH else KIN
    if not (own or _is_born(event, told_of)) or not others.isdisjoint(people):
        return False
    of_the_birth = state == _BIRTH and kin_of(part) <= _BORN
    if state not in _WITH_A_PARTNER and not of_the_birth and other_person(clause, part):
        return False
    if not owners_of(part) <= {word.removesuffix("s") for word in clause.words}:
        return False
    return _may_be_of_one_part(clause, part)


def _first_kin(clause: Clause) -> frozenset[str]:
    """Return whom a clause begins with: "wife" of "my wife is pregnant"."""
    opening = clause.plain.split()[:2]
    return frozenset(opening[1:]) & KIN if opening[0] in ("my", "our") else frozenset()


def _is_born(event: Outcome, who: str) -> bool:
    """Return whether an event is the arrival of somebody, by their name."""
    arrives = event.state == _BIRTH and event.said.split()[0] not in _BEARS
    return arrives and who not in OTHERS and (who in _BORN or not is_word(who))


def _may_be_of_one_part(clause: Clause, part: Clause) -> bool:
    """Return whether the clauses don't name different parts of the body."""
    hurt, well = body_parts(clause.plain), body_parts(part.plain)
    return not (hurt and well and hurt.isdisjoint(well))


def turned(clause: Clause, new: Telling) -> Reason | None:
    """Find what is denied now and wasn't, or no longer is: "I don't want to learn it any more"."""
    if renewals.is_of_the_past(clause.plain):
        return None
    denied = denies(clause.plain.split())
    for part in new.clauses:
        if denies(part.plain.split()) is denied or is_question(part.plain):
            continue
        if not renewals.turns_round(part.plain) or part.plain.endswith("?"):
            continue
        own, others = _about(clause), _about(part)
        if own and own == others and not other_person(clause, part):
            return Reason(f"turned: {' '.join(sorted(own))}", _LEAST_TURNED)
    return None


def _about(clause: Clause) -> frozenset[str]:
    return clause.content - _BESIDE - NEGATIONS
