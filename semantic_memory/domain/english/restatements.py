"""Read statements that give a value by their form: clefts, places, possessions, rates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.renewals import KIN
from semantic_memory.domain.english.tables import keys, mapping, phrase_of, phrases, words
from semantic_memory.domain.english.words import is_quality, is_verb
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import stem

_CONJUNCTIONS = r"(?:(?:so|and|but|well|btw|actually) )*"
_LEAD = r"(?:(?:so|and|but|well|btw|actually|the|my|our|a|an) )*"
_NO_VALUE = r"(?!(?:that|this|it|he|she|they|there|here|which|who|what|i|we|you)\b)"
_VALUE = rf"{_NO_VALUE}[\w'&./-]+(?: [\w'&./-]+){{0,3}}?"
_THING = rf"{_NO_VALUE}[\w'-]+(?: [\w'-]+){{0,2}}?"
_TITLE = r"[a-z]+(?: [a-z]+){0,2}?"
_OFTEN = rf"(?:{one_of(words('restatements.habits.often'))} )?"
_PREPOSITION = one_of(words("restatements.places.prepositions"))
_WHERE = one_of(words("restatements.places.prepositions", "restatements.places.beside"))
_WAYS = frozenset({"with", "in", "on", "from", "at"})
_NO_PLACES = words("restatements.places.no_places")
_TIMES = words("restatements.habits.times")
_ENDS = r"(?= (?:now|instead|these|nowadays|from|as|since|because|today|for|this)\b|$)"

_SINCE = regex(r"(?<=\w) (?:since|as of|as from|starting|ever since)\b.*$")
_CHOOSES = regex(rf"{phrases('restatements.habits.chooses')}\b")
_CLEFTS = tuple(
    (name, regex(rf"^{_LEAD}{form}$"))
    for name in keys("restatements.clefts")
    for form in phrase_of(f"restatements.clefts.{name}", value=_VALUE, noun="[a-z]+", rest=".+")
)
_PLACED = regex(
    rf"^{_LEAD}(?P<thing>{_THING})(?: {phrases('restatements.places.verbs')}) "
    rf"{_WHERE} (?:the |a |an |my |our )?(?P<place>\S+(?: \S+){{0,4}}?){_ENDS}"
)
_AT_PLACE = rf"{_WHERE} (?:the |a |an |my |our )?(?P<place>\S+(?: \S+){{0,4}}?){_ENDS}"
_KEPT = regex(
    rf"^{_CONJUNCTIONS}(?:i|we) {phrases('restatements.places.kept')} (?:all )?(?:the|my|our) "
    rf"(?P<thing>{_THING}) {_AT_PLACE}"
)
_MOVED = regex(
    rf"^{_CONJUNCTIONS}(?:(?:i|we|they|he|she) )?(?:have |are )?(?:just )?"
    rf"{phrases('restatements.places.moved')} (?:all )?(?:the|my|our) (?P<thing>{_THING}) "
    rf"(?:over |out |back |up |down )?{_AT_PLACE}"
)
_POSSESSED = regex(rf"^{_LEAD}(?P<value>{_VALUE}) (?:is|are) (?:my|our) (?P<title>{_TITLE}){_ENDS}")
_OWNING = regex(
    rf"^{_CONJUNCTIONS}(?:my|our) (?P<title>[\w-]+(?: [\w-]+)?) is (?:a |an |the )?(?P<value>\S+)"
    rf"{_ENDS}"
)
_ACT = regex(
    rf"^{_LEAD}(?:i|we) {_OFTEN}(?!{one_of(words('restatements.acts.not_one_at_a_time'))}\b)"
    rf"(?P<verb>[a-z]+) (?P<way>{_PREPOSITION}|with) "
    rf"(?:the |my |our )?(?P<value>(?!an? |\w+days?\b)\S+(?: \S+){{0,2}}?){_ENDS}"
)
_DEED = regex(
    rf"^{_LEAD}(?P<who>[\w']+(?: [\w']+)?) (?!{one_of(words('restatements.acts.by_many'))}\b)"
    rf"(?P<verb>[a-z]+) (?:the|my|our) (?P<what>[a-z]+(?: [a-z]+)??)(?: myself)?{_ENDS}"
)
_OFFICE = regex(
    rf"^{_CONJUNCTIONS}(?P<who>(?:my |our )?[\w']+(?: [\w']+)?) (?:is|am|are) "
    rf"(?P<the>(?:the|our|my) )?(?:new |acting )?(?P<title>(?!the |an? |my |our ){_TITLE})"
    rf"(?: (?:of|at|for|in) (?P<of>.+?))?{_ENDS}"
)
_PLANNED = regex(rf"^{_LEAD}{phrases('restatements.plans.made')} (?!not\b)")
_INTENDED = regex(
    rf"^{_LEAD}(?P<who>i|we|my [a-z]+|our [a-z]+) {phrases('restatements.plans.intended')} ?"
    r"(?P<verb>[a-z]+) (?P<rest>.+)$"
)
_PLAN_DENIED = regex(
    rf"^{_LEAD}{phrases('restatements.plans.denied')} "
    rf"(?!{one_of(words('restatements.plans.no_denials'))}\b)"
)
_REMEDIES = {
    name: regex(rf"[a-z]*{one_of(ends.split())}")
    for name, ends in mapping("restatements.remedies").items()
}
_JOURNEY = regex(rf"\b{phrases('restatements.plans.journeys')} \w")
DAYS = words("restatements.plans.days")
RATE = regex(
    r"(?P<amount>\d+(?:[.,]\d+)?|once|twice|half an?(?= hour)|an(?= hour))(?P<unit> [a-z]+)? "
    r"(?:a|per|each|every) (?P<span>[a-z]+)"
)


class Cleft(NamedTuple):
    """A statement whose value comes first: "cologne is where i live"."""

    kind: str
    """Kind of the value: object, person, place, time, or that of a noun."""
    value: str
    noun: str
    rest: str
    """The verb and its object, without the user: "live"."""

    @property
    def tells_a_favourite(self) -> bool:
        """True if it says what of a kind somebody takes by choice.

        >>> cleft("earl grey is the tea i reach for").tells_a_favourite
        True
        """
        return self.kind == "kind" and _CHOOSES.match(self.rest) is not None

    def is_told_by(self, plain: str) -> bool:
        """Return whether a folded clause gives a value of the same form, in straight order.

        >>> cleft("cologne is where i live now").is_told_by("i live in bonn")
        True
        >>> cleft("cologne is where i live now").is_told_by("i live with my parents")
        False
        """
        if self.kind == "time":
            return not _TIMES.isdisjoint(plain.split()) or self._is_of_a_day(plain)
        return _telling(self.kind, self.noun, self.rest).search(plain) is not None

    def _is_of_a_day(self, plain: str) -> bool:
        """Return whether a clause says on which day the same is done by the same."""
        verb = re.escape(self.rest.split()[0].removesuffix("s"))
        who = re.escape(self.noun) if self.noun else r"(?:i|we|(?:my|our) [a-z]+(?: [a-z]+)?)"
        told = regex(rf"^(?:(?:the|my|our) )?{who} {_OFTEN}{verb}s? (?:on |every |each )?\w+day")
        return told.search(plain) is not None


@lru_cache(maxsize=256)
def _telling(kind: str, noun: str, rest: str) -> re.Pattern[str]:
    """Return the form of clauses that tell a value of a kind in straight order."""
    noun, verb = re.escape(noun), re.escape(rest.split()[0])
    match kind:
        case "object":
            way = rest.split()[1:2]
            through = rf"(?:[\w-]+ ){{0,2}}?{way[0]} \w" if way and way[0] in _WAYS else None
            straight = rf"(?!(?:{_PREPOSITION}|with|for|from)\b)\w"
            form = rf"^(?:i|we) {_OFTEN}{verb} {through or straight}"
        case "person":
            form = rf"^(?:i|we) {_OFTEN}{verb} (?:with|for) \w+$"
        case "place":
            form = rf"^(?:i|we) {_OFTEN}{verb} (?:\w+ )?{_PREPOSITION} (?!\w+days?\b)\w"
        case _:
            form = rf"\b(?:my|our) (?:\w+ )?{noun} (?:is|are)\b|\b(?:is|are) (?:my|our) {noun}$"
    return regex(form)


class Placing(NamedTuple):
    """A place of a thing."""

    thing: str
    place: str


class Act(NamedTuple):
    """An act of the user's in, on or with something."""

    verb: str
    way: str
    value: str


class Deed(NamedTuple):
    """Something done by somebody with one thing."""

    who: str
    verb: str
    """As a stem."""
    object: str


class Office(NamedTuple):
    """A title, of which there is one at a time, and who has it."""

    who: str
    title: str
    definite: bool
    """True if the wording says that there is one: "the treasurer", "our treasurer"."""
    of: str
    """The house or body: "st mary's" of "churchwarden at st mary's"; mostly empty."""


class Owning(NamedTuple):
    """A thing of the user's, and the one word that is its value: a handle, a model."""

    title: str
    value: str


class Intention(NamedTuple):
    """A deed that somebody means to do."""

    who: str
    verb: str
    """As a stem."""
    rest: str


class Rate(NamedTuple):
    """An amount or a number of times in a span of time."""

    amount: str
    unit: str
    span: str


def cleft(plain: str) -> Cleft | None:
    """Read a folded clause whose value comes first.

    >>> cleft("chemistry is what i study")
    Cleft(kind='object', value='chemistry', noun='', rest='study')
    """
    for kind, pattern in _CLEFTS:
        if found := pattern.match(plain):
            parts = found.groupdict()
            rest = _SINCE.sub("", parts["rest"])
            return Cleft(kind, parts["value"], parts.get("noun") or "", rest)
    return None


def placing(plain: str) -> Placing | None:
    """Read where a folded clause places something.

    >>> placing("the data lives under /srv now"), placing("the printer is on fire")
    (Placing(thing='data', place='/srv'), None)
    >>> placing("we keep the boat in faaborg")
    Placing(thing='boat', place='faaborg')
    """
    return _placing(_PLACED.match(plain) or _KEPT.match(plain))


def moving(plain: str) -> Placing | None:
    """Read to where a folded clause says something was moved.

    >>> moving("moving the studio to odense")
    Placing(thing='studio', place='odense')
    """
    return _placing(_MOVED.match(plain))


def _placing(found: re.Match[str] | None) -> Placing | None:
    if found is None or not _NO_PLACES.isdisjoint(found["place"].split()):
        return None
    return Placing(found["thing"], found["place"])


def possession(plain: str) -> tuple[str, str] | None:
    """Return what a folded clause says is something of the user's, and of what kind.

    >>> possession("friday is my day off now")
    ('friday', 'day off')
    """
    found = _POSSESSED.match(plain)
    return (found["value"], found["title"]) if found else None


def owning(plain: str) -> Owning | None:
    """Read what a folded clause says a thing of the user's is, in one word.

    >>> owning("my github is kdev-labs now")
    Owning(title='github', value='kdev-labs')
    """
    found = _OWNING.match(plain)
    if found is None or not KIN.isdisjoint(found["title"].replace("'s", "").split()):
        return None
    return Owning(found["title"], found["value"])


def act(plain: str) -> Act | None:
    """Read what a folded clause says the user does in, on or with something.

    >>> act("we host on fly now")
    Act(verb='host', way='on', value='fly')
    """
    found = _ACT.match(plain)
    if found is None or not _TIMES.isdisjoint(found["value"].split()):
        return None
    return Act(found["verb"], found["way"], found["value"])


def deed(plain: str) -> Deed | None:
    """Read who does something with one thing.

    >>> deed("josh chairs the committee now")
    Deed(who='josh', verb='chair', object='committee')
    """
    found = _DEED.match(plain)
    if found is None or not is_verb(found["verb"]):  # "i study in the library"
        return None
    return Deed(found["who"], stem(found["verb"]), found["what"])


def office(plain: str) -> Office | None:
    """Read who a folded clause says has a title.

    >>> office("ruth is the churchwarden now"), office("he was here")
    (Office(who='ruth', title='churchwarden', definite=True, of=''), None)
    """
    found = _OFFICE.match(plain)
    if found is None or is_quality(found["title"].split()[-1]):
        return None
    return Office(found["who"], found["title"], found["the"] is not None, found["of"] or "")


def remedies(plain: str) -> Mapping[str, frozenset[str]]:
    """Return the medicines that a folded clause names, by the ailment.

    >>> remedies("i take ramipril"), remedies("i take a walk")
    ({'pressure': frozenset({'ramipril'})}, {})
    """
    spoken = plain.replace(",", " ").split()
    return {
        name: frozenset(one for one in spoken if ends.fullmatch(one))
        for name, ends in _REMEDIES.items()
        if any(ends.fullmatch(one) for one in spoken)
    }


def is_planned(plain: str) -> bool:
    """Return whether a folded clause tells of what the user is to do.

    >>> is_planned("we are releasing on tuesday"), is_planned("we release on tuesdays")
    (True, False)
    """
    return _PLANNED.match(plain) is not None


def intention(plain: str) -> Intention | None:
    """Read what a folded clause says somebody means to do.

    >>> intention("i am going to study law")
    Intention(who='i', verb='studi', rest='law')
    """
    found = _INTENDED.match(plain)
    if found is None:
        return None
    who = "i" if found["who"] == "we" else found["who"]
    return Intention(who, stem(found["verb"]), found["rest"])


def is_journey(plain: str) -> bool:
    """Return whether a folded clause tells of a journey.

    >>> is_journey("we are going to skye in june"), is_journey("we live on skye")
    (True, False)
    """
    return _JOURNEY.search(plain) is not None


def denies_plan(plain: str) -> bool:
    """Return whether a folded clause denies what the user may have been about to do.

    >>> denies_plan("we are not releasing on tuesday"), denies_plan("we are not sure")
    (True, False)
    """
    return _PLAN_DENIED.match(plain) is not None


def rate(plain: str) -> Rate | None:
    """Read a rate in a folded clause.

    >>> rate("i run 20 km a week")
    Rate(amount='20', unit='km', span='week')
    """
    found = RATE.search(plain)
    return Rate(found["amount"], (found["unit"] or "").strip(), found["span"]) if found else None
