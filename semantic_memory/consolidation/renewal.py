"""Decide whether a newer statement ends, replaces or corrects an older one, by what both say.

Guards come first: play, quotes, wishes, other people, other times and other kinds of the same thing
renew nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from semantic_memory.consolidation.corrections import amended, corrected, recanted, respelled
from semantic_memory.consolidation.outliving import (
    concluded,
    contradicted,
    disproved,
    outlived,
    resumed,
    turned,
)
from semantic_memory.consolidation.passing import (
    changes_another,
    is_another_of_them,
    is_for_a_while,
    is_left_out,
    is_no_addition,
    is_no_cure,
    is_of_another,
    is_one_of_several,
    is_used_up,
    may_go_on,
    measures_only,
    says_of_another,
    tells_of_another,
)
from semantic_memory.consolidation.replacing import LEAST_SHARED, Reason, listed, replaced, retyped
from semantic_memory.consolidation.resetting import reset, tolerated
from semantic_memory.consolidation.restating import abandoned, restated
from semantic_memory.consolidation.subjects import (
    FORMER,
    beside_kin,
    is_former,
    is_of_another_owner,
    other_end,
    other_kind,
    other_number,
    other_person,
    owners_of,
    tells_of_theirs,
)
from semantic_memory.consolidation.telling import (
    COUNT,
    DENIED,
    ORDINAL,
    Telling,
    is_cued,
    is_held_back,
    is_question,
    is_surely_cued,
    told,
)
from semantic_memory.domain.english import incidents, renewals
from semantic_memory.domain.english.arguments import subject
from semantic_memory.domain.english.beginnings import states
from semantic_memory.domain.english.calendar import MONTHS, WEEKDAYS
from semantic_memory.domain.english.facets import NAMED, facets
from semantic_memory.domain.english.negation import denies
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.paraphrases import paraphrases
from semantic_memory.domain.english.persons import OTHERS
from semantic_memory.domain.english.renewals import (
    ASPECTS,
    ORDINALS,
    STAGES,
    TRAVELS,
    Clause,
    Ending,
    clause_of,
)
from semantic_memory.domain.english.restatements import is_journey
from semantic_memory.domain.english.tables import phrase_list, words
from semantic_memory.domain.english.vehicles import owned
from semantic_memory.domain.english.words import WORD, is_word
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import stem

_ONE_OF_THEM = regex(r"\b(?:an?|one(?: of (?:my|our|the))?) ([a-z]+)")
_ONE = regex(r"\b(?:one|1) ([a-z]+)")
_THEIRS = regex(r"\b(?:quit|left|lost|sold|dropped|gave up|finished|stopped) (?:his|her|their)\b")
_HOLDS = regex(r"i (?:are|am|is) (?:an? |the )?(?P<title>[a-z]+(?: [a-z]+){0,2})$")
_OTHER_TEAM = regex(
    rf"\b(?!{one_of(words('renewals.people.own_teams'))}\b)[\w-]+ "
    rf"{one_of(words('renewals.people.teams'))}$"
)
_TO_SOMEONE = regex(r"\b(?<=gave |give |lent )(\S+) to .+$")
_TIMES = frozenset(
    word
    for phrase in (
        *phrase_list("calendar.spans"),
        *phrase_list("calendar.day_parts"),
        *phrase_list("calendar.units"),
        *words("renewals.heads.moments"),
        *(one.lower() for one in (*MONTHS, *WEEKDAYS)),
    )
    for word in phrase.split()
)
_VENUES = words("homes.venues") | words("homes.places")
_MOVED_TO = regex(r"\b(?:mov|switch|migrat|transferr|shift)(?:ed|ing) .*\bto (?P<to>.+)$")
# "the work van", "a hired car"
_ANY_OTHER = regex(r"\b(?!the|my|our|that|sold|lost|scrapped|binned)[\w'-]+ (?:van|car)\b")
_MOST_APART = 3
_LEAST_ENDED = 0.2
_LEAST_FACET = 0.15
_LEAST_COUNTED = 0.1  # figures that add up are hardly those of another thing


Rule = Callable[[Clause, Telling], Reason | None]


class Renewal(NamedTuple):
    """A clause of a statement that no longer holds, and why."""

    clause: str
    """As it reads folded."""
    reason: str


def renewal(
    older: str, newer: str, apart: int | None = None, similarity: float = 1.0
) -> Renewal | None:
    """Return why `newer` makes a clause of `older` untrue; None if it doesn't.

    `apart` is the number of the user's messages from one to the other within a session, if they
    are in one. `similarity` is the cosine of their nearest sentences.
    """
    old, new = told(older), told(newer)
    if old.played or new.played or not new.renews:
        return None
    if not paraphrases(older).isdisjoint(paraphrases(newer)):
        return None
    close = apart is not None and apart <= _MOST_APART
    for clause in _compared(old, new):
        if found := _no_longer(clause, new, similarity):
            return Renewal(clause.plain, found.reason)
        if close and not renewals.is_small(clause.plain) and corrected(clause, new):
            return Renewal(clause.plain, "corrected")
    return None


def _no_longer(clause: Clause, new: Telling, similarity: float) -> Reason | None:
    """Return why a clause, or a state that began by what it tells, no longer holds."""
    lasting = renewals.is_lasting(clause.plain) and not clause.plain.endswith("?")
    begun = () if lasting or renewals.is_of_the_past(clause.plain) else _begun(clause, new)
    for one in (clause, *begun):
        if found := outlived(one, new) or concluded(one, new) or disproved(one, new):
            return found
        if not (one.stems or one.numbers or one.dates or paraphrases(one.plain)):
            continue
        for rule in _rules(one, lasting=lasting, begun=one is not clause):
            if (found := rule(one, new)) and similarity >= found.least:
                return found
    return None


def _begun(clause: Clause, new: Telling) -> tuple[Clause, ...]:
    """Return the states that began by what a clause tells.

    "I bought a bike" is no state that "I sold my old bike" may end.
    """
    return () if _tells_of_former(clause, new) else states(clause)


def _tells_of_former(clause: Clause, new: Telling) -> bool:
    spoken = frozenset().union(*(one.words for one in new.sentences))
    return bool(spoken & FORMER - clause.words)


def _rules(clause: Clause, *, lasting: bool, begun: bool) -> Iterable[Rule]:
    if begun:  # what was begun is one of many things, unless it has a figure
        return _RULES if clause.numbers or clause.dates else _SURE_RULES
    whole = _OF_AILMENTS if incidents.is_ailment(clause.plain) else _RULES
    return whole if lasting else _CORRECTIONS


def _compared(old: Telling, new: Telling) -> Iterator[Clause]:
    """Yield what the older statement tells, without names that the newer one means as nouns."""
    common = _common_nouns(old, new)
    for clause in dict.fromkeys((*old.clauses, *old.sentences)):
        if not is_question(clause.plain):
            stems = tuple(one for one in clause.stems if one not in common)
            yield replace(clause, stems=stems) if common else clause


def _common_nouns(old: Telling, new: Telling) -> frozenset[str]:
    """Return the stems of names in the older statement that the newer one writes as common nouns.

    "I gave up golf" ends no Golf.
    """
    if not old.names or new.text == new.text.lower():
        return frozenset()
    spoken = WORD.findall(new.text)
    written = {stem(word.lower()) for word in spoken if word[0].isupper()}
    common = {stem(word) for word in spoken if word.islower() and is_word(word)}
    return (old.names & common) - written


def _ended(clause: Clause, new: Telling) -> Reason | None:
    if renewals.is_of_the_past(clause.plain):
        return None
    for ending in new.endings:
        shared = ending.stems & clause.content
        if len(shared) * 2 < len(ending.stems):
            continue
        meant = not ending.head.isdisjoint(shared) or ending.stems <= clause.content
        if not meant and not (ending.head <= TRAVELS and is_journey(clause.plain)):
            continue
        if ending.whole and not ending.stems <= clause.content:
            continue
        if len(ending.stems) <= 3 and ending.predicate and not ending.stems <= clause.content:
            continue
        if (
            owners_of(_without_recipient(ending.clause)) - owners_of(clause) - clause.words
            or _by_another(ending, clause)
            or _is_another_holder(ending, clause)
            or _is_one_of_many(ending, clause)
            or shared <= _owners_in(ending)
            or tells_of_theirs(ending.clause, clause)
            or is_of_another_owner(ending.clause, clause, shared)
            or _is_of_their_own(ending)
            or is_former(ending.clause.plain[len(ending.before) :], clause, ending.stems)
            or may_go_on(ending, clause, repaired=new.is_repaired(ending.clause))
            or is_of_another(ending, clause)
            or is_left_out(ending, clause)
            or is_one_of_several(ending, clause)
            or is_no_cure(ending, clause)
            or is_used_up(ending, clause)
            or tells_of_another(ending, clause)
            or is_for_a_while(ending, clause)
            or is_another_of_them(ending, clause)
        ):
            continue
        named = shared & beside_kin(clause)
        if not (ending.first or named) and other_person(clause, ending.clause):
            continue
        if ending.first and other_kind(clause, ending.clause, shared):
            continue
        return Reason(f"ended: {listed(shared)}", _LEAST_ENDED)
    return None


def _ended_by_kind(clause: Clause, new: Telling) -> Reason | None:
    """Find the end of a vehicle by its kind: "I drive a Transit", then "the van died"."""
    if not _tells_of_former(clause, new):
        for one in owned(clause):
            ended = tuple(
                ending
                for ending in new.endings
                if ending.stems <= one.content and _ANY_OTHER.search(ending.clause.plain) is None
            )
            if found := _ended(one, replace(new, endings=ended)):
                return found
    return None


def _without_recipient(clause: Clause) -> Clause:
    """Return a clause without who got what was given away: "to the neighbours' girl"."""
    given = _TO_SOMEONE.sub("", clause.plain)
    return clause if given == clause.plain else clause_of(given)


def _owners_in(ending: Ending) -> frozenset[str]:
    """Return the stems of whoever has what ended: "ola" of "ola's cat died"."""
    owners = (word for word in ending.clause.words if word.endswith("'s"))
    return frozenset(stem(word.removesuffix("'s")) for word in owners)


def _is_of_their_own(ending: Ending) -> bool:
    """Return whether somebody ended a thing of theirs that isn't named: "sara quit her job"."""
    return ending.first and _THEIRS.search(ending.clause.plain) is not None


def _is_one_of_many(ending: Ending, clause: Clause) -> bool:
    """Return whether what ended may be any of several: "lost a client", where there are clients."""
    return not clause.numbers and any(
        stem(noun) in ending.stems and f"{noun.removesuffix('s')}s" in clause.words
        for noun in _ONE_OF_THEM.findall(ending.clause.plain)
    )


def _by_another(ending: Ending, clause: Clause) -> bool:
    """Return whether someone else ended it: "our clients have switched", "ann left the choir"."""
    if ending.first or not ending.before:
        return False
    if _OTHER_TEAM.search(ending.before.strip()) and "we" in clause.words:
        return True
    whose, *who = subject(ending.before).split()
    if not who and ending.of_oneself:
        return whose != "user" and whose not in OTHERS and stem(whose) not in clause.content
    return whose == "user" and bool(who) and stem(who[-1]) not in clause.content


def _is_another_holder(ending: Ending, clause: Clause) -> bool:
    """Return whether somebody with the user's own title left: "my team lead quit"."""
    held = _HOLDS.match(clause.plain)
    return ending.first and held is not None and ending.stems <= clause_of(held["title"]).content


def _contrasted(clause: Clause, new: Telling) -> Reason | None:
    """Find "selfoss, not reykjavik": a value of the older statement is denied for another."""
    for before, part in pairwise(new.clauses):
        found = DENIED.match(part.plain)
        if found is None or renewals.claims_nothing(part.plain) or renewals.is_small(before.plain):
            continue
        denied = clause_of(found["value"])
        values = denied.content | denied.numbers | denied.dates
        if (
            values
            and (denied.content or not before.numbers or before.content & clause.content)
            and not denies(clause.words)
            and not says_of_another(before, clause)
            and denied.content <= clause.content
            and denied.numbers <= clause.numbers
            and denied.dates <= clause.dates
            and not any(
                other_person(clause, one) for one in new.sentences if part.plain in one.plain
            )
        ):
            return Reason(f"not {listed(values)}", _LEAST_ENDED)
    return None


def _changed(clause: Clause, new: Telling) -> Reason | None:
    """Find "moved the kick-off to friday": something in the older statement has a new value."""
    for part in new.clauses:
        if (
            renewals.claims_nothing(part.plain)
            or renewals.is_besides(part.plain)
            or renewals.is_of_earlier_days(part.plain)
            or renewals.is_of_the_past(clause.plain)
        ):
            continue
        for told_of in renewals.changed(part):
            thing = (is_journey(clause.plain) and told_of - TRAVELS) or told_of
            if retyped(clause, part):  # "moved the grant deadline", where the grant is due
                thing = thing - (ASPECTS - clause.content) or thing
            if (
                thing <= clause.content
                and not (
                    thing <= new.names and not (retyped(clause, part) or is_journey(clause.plain))
                )
                and clause.content | clause.numbers | clause.dates != thing
                and not other_person(clause, part)
                and not other_kind(clause, part, thing)
                and not other_number(clause, part, thing)
                and not changes_another(part, thing, clause)
                and not is_of_another_owner(part, clause, thing)
                and not measures_only(clause, part)
                and not _leaves_time(clause, part)
                and not other_end(clause, part, thing)
            ):
                return Reason(f"changed: {listed(thing)}", LEAST_SHARED)
    return None


def _leaves_time(clause: Clause, part: Clause) -> bool:
    """Return whether one says when, the other where or with what: "moved the books to xero"."""
    moved = _MOVED_TO.search(part.plain)
    if moved is None or not clause.dates or part.dates or part.numbers:
        return False
    place = moved["to"].split()
    named = any(not is_word(one) for one in place)  # "to xero"
    return _TIMES.isdisjoint(place) and (named or not _VENUES.isdisjoint(place))


def _counted(clause: Clause, new: Telling) -> Reason | None:
    """Find "a fourth cat" where there were three, and the third year after the second."""
    stages = dict(_stages(clause))
    for part in new.clauses:
        if renewals.claims_nothing(part.plain) or owners_of(part) - owners_of(clause):
            continue
        for found in ORDINAL.finditer(part.plain):
            digits, word, noun = found.groups()
            if noun not in STAGES and (is_no_addition(found) or incidents.is_brief(part.plain)):
                continue
            number = digits or ORDINALS[word]
            before = str(int(number) - 1)
            ones = _only_ones(clause) if before == "1" else frozenset[str]()
            counted = stem(noun) in ones or (
                before in clause.numbers and stem(noun) in clause.content
            )
            staged = stages.get(noun) == before
            if (counted or staged) and not other_person(clause, part):
                return Reason(f"counted: {number} {noun}", LEAST_SHARED)
        more = COUNT.match(part.plain) if is_surely_cued(part.plain) else None
        if more and stem(more["noun"]) in _only_ones(clause) and not other_person(clause, part):
            return Reason(f"counted: {more['noun']}", LEAST_SHARED)
    return None


def _recounted(clause: Clause, new: Telling) -> Reason | None:
    """Find "two lads left so we're 12" where the crew was 14: the figures add up."""
    held = {value for one in facets(clause) if one.name == "headcount" for value in one.value}
    for sentence in new.sentences if held else ():
        if is_question(sentence.plain) or renewals.claims_nothing(sentence.plain):
            continue
        for before in renewals.recounted(sentence.plain):
            if str(before) in held:
                return Reason(f"counted: {before}", _LEAST_COUNTED)
    return None


def _narrowed(clause: Clause, new: Telling) -> Reason | None:
    """Find "back to handball, only thursdays" where it was on two days of the week."""
    if len(clause.dates) < 2 or renewals.is_of_the_past(clause.plain):
        return None
    for before, part in pairwise((*new.clauses[:1], *new.clauses)):
        days = renewals.only_days(part.plain)
        told_of = part if part.content else before
        if (
            days
            and days < clause.dates
            and told_of.content
            and told_of.content <= clause.content
            and not any(
                is_held_back(one.plain) or is_question(one.plain) for one in (told_of, part)
            )
            and not other_person(clause, told_of)
        ):
            return Reason(f"only: {listed(days)}", LEAST_SHARED)
    return None


def _only_ones(clause: Clause) -> frozenset[str]:
    """Return the stems of things of which a clause says there is one: "we have one dog"."""
    return frozenset(map(stem, _ONE.findall(clause.plain)))


def _stages(clause: Clause) -> Iterator[tuple[str, str]]:
    """Yield the stages in a clause with their numbers: "in my second year"."""
    for digits, word, noun in ORDINAL.findall(clause.plain):
        if noun in STAGES:
            yield noun, digits or ORDINALS[word]


def _refaceted(clause: Clause, new: Telling) -> Reason | None:
    """Find another home, employer, role, diet, partner or vehicle of the same person."""
    before = facets(clause)
    if not before or renewals.is_of_the_past(clause.plain) or renewals.claims_nothing(clause.plain):
        return None
    cued = any(is_cued(one.plain) for one in new.clauses) or bool(new.endings)
    for part in new.clauses:
        if is_held_back(part.plain) or is_question(part.plain) or part.plain.endswith("?"):
            continue
        if tells_of_theirs(part, clause):
            continue
        for one in facets(part, newly=True):
            for other in before:
                if (
                    one.differs(other)
                    and (one.name not in NAMED or _may_be_name(one.value, new))
                    and (cued or one.moved)
                ):
                    values = f"{listed(other.value)}, then {listed(one.value)}"
                    return Reason(f"{one.name}: {values}", _LEAST_FACET)
    return None


def _may_be_name(value: frozenset[str], new: Telling) -> bool:
    """Return whether a value has a capital, or nothing in the statement has."""
    return not value.isdisjoint(new.names) or new.text == new.text.lower()


_CORRECTIONS = (recanted, amended)
"""Rules for statements of what was, too."""
_RULES: tuple[Rule, ...] = (
    _ended,
    _ended_by_kind,
    _contrasted,
    _changed,
    replaced,
    restated,
    reset,
    tolerated,
    abandoned,
    _counted,
    _recounted,
    _narrowed,
    _refaceted,
    turned,
    resumed,
    contradicted,
    respelled,
    *_CORRECTIONS,
)
_SURE_RULES = tuple(rule for rule in _RULES if rule is not replaced)
_OF_AILMENTS = tuple(
    rule for rule in _RULES if rule not in (_changed, replaced, restated, _counted)
)
"""Rules for ailments and aversions, which nothing of the same name replaces."""
