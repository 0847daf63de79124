"""Read claims for or against a thing, and of having or lacking it: likes jazz, has no pets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from semantic_memory.domain.english.arguments import items, owner, possessor, subject, verb
from semantic_memory.domain.english.lexicon import CLASS_NAMES, CLASS_OF
from semantic_memory.domain.english.negation import denies
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.patterns import regex

HAS = "has"
"""The stance of owning a thing, or having a relative."""


class Stance(NamedTuple):
    """A subject, its stance towards a thing, and whether it is for the thing."""

    subject: str
    name: str
    thing: frozenset[str]
    positive: bool


_LIKES = verb(phrases("stances.likes"))
_DISLIKES = verb(phrases("stances.dislikes"))
_IS = r"^(?P<thing>.+?) (?:is|are|tastes?) (?:\w+ )?"
_JUDGED_BAD = regex(rf"{_IS}{phrases('stances.bad')}\b")
_BAD_TO_ME = regex(rf"^(?P<thing>.+?) (?:makes?|gives?) me {phrases('stances.effects')}\b")
_REPELS = regex(rf"^(?P<thing>.+?) {phrases('stances.repels')}\b")
_WINS = regex(rf"^(?P<thing>.+?) {phrases('stances.wins')}\b")
_JUDGED_GOOD = regex(rf"{_IS}{phrases('stances.good')}\b")
_WHOSE = r"(?:\w+ )?(?:my|\w+'s|his|her|their) (?:absolute |all.time )?"
_FAVOURITES = (
    regex(r"fav(?:ou?rite)? (?:[\w'-]+ ){0,4}?[\w'-]+? (?:is|are|was|:) (?P<thing>.+)"),
    regex(rf"^(?P<thing>.+?) (?:is|are) {_WHOSE}fav(?:ou?rite)?"),
    regex(r"\bpreference is (?P<thing>.+)"),
    regex(r"fav(?:ou?rite)? (?:\w+ )?(?P<thing>\w+)"),
)
_ALLERGIES = (
    verb("allergic to", "(?:has|have) an allergy to"),
    regex(r"(?P<verb>has|have) (?:an? |no )?(?P<rest>[\w-]+) allergy\b"),
)
_SWITCHES = (
    regex(r"(?:switch|chang|migrat|mov)(?:ed|es|ing) from (?P<old>.+?) to (?P<new>.+)"),
    regex(r"(?:replaced|swapped|traded) (?P<old>.+?) (?:with|for|by) (?P<new>.+)"),
)
_USES = verb(phrases("stances.uses"))
_STOPPED = verb(
    rf"{phrases('stances.stopped')} {phrases('stances.activities')}", "gave up", "given up"
)
_HAS = verb(phrases("stances.has"))
_GONE = verb(phrases("stances.gone"))
_LOST = regex(rf"\b{phrases('stances.lost')}\b")
_NOT_OWNED = words("stances.not_owned")
_OWN = regex(r"\b(?P<who>my|our|[\w-]+'s) (?P<things>[\w-]+(?: [\w-]+){0,3})")
_COUNTED = regex(r"^\d+ (?P<thing>[\w-]+)(?: (?P<next>[\w-]+))?")
_NONE = regex(r"\b(?:no|without(?: any)?|zero) (?:\w+ )?(?P<thing>[\w-]+)")


def stances(clause: str, negated: bool) -> Iterator[Stance]:
    """Yield all that a clause of a folded text is for or against."""
    yield from _tastes(clause, negated)
    yield from _habits(clause)
    yield from _possessions(clause)
    yield from owned(clause)


def owned(clause: str) -> Iterator[Stance]:
    """Yield who has what a clause calls theirs, "my dog", or has it no longer: "sold my car"."""
    if _LOST.search(clause):  # one dog of two, perhaps
        return
    gone = _GONE.search(clause)
    for found in _OWN.finditer(clause):
        word = next((one for one in found["things"].split() if one in CLASS_OF), None)
        if word is not None:
            had = {word} if gone else {word, CLASS_OF[word]}
            who = owner(found["who"])
            yield from (Stance(who, HAS, frozenset({thing}), not gone) for thing in sorted(had))


def _tastes(clause: str, negated: bool) -> Iterator[Stance]:
    liked, disliked = _LIKES.search(clause), _DISLIKES.search(clause)
    if disliked:
        yield from _each(clause, disliked, "likes", False)
    if liked and not (disliked and disliked.start() <= liked.start()):
        while liked:
            yield from _each(clause, liked, "likes", _affirmed(clause, liked))
            liked = _LIKES.search(clause, liked.end("verb"))
    elif not disliked:
        yield from _judgements(clause, negated)


def _judgements(clause: str, negated: bool) -> Iterator[Stance]:
    if found := (_JUDGED_BAD.search(clause) or _BAD_TO_ME.search(clause) or _REPELS.search(clause)):
        yield from (Stance("user", "likes", thing, negated) for thing in items(found["thing"]))
        return
    for pattern in _FAVOURITES:
        if found := pattern.search(clause):
            who = possessor(clause)
            yield from (Stance(who, "likes", thing, not negated) for thing in items(found["thing"]))
            return
    if found := _JUDGED_GOOD.search(clause) or _WINS.search(clause):
        yield from (Stance("user", "likes", thing, not negated) for thing in items(found["thing"]))


def _habits(clause: str) -> Iterator[Stance]:
    for pattern in _SWITCHES:
        if found := pattern.search(clause):
            who = subject(clause[: found.start()])
            yield from (Stance(who, "uses", thing, False) for thing in items(found["old"]))
            yield from (Stance(who, "uses", thing, True) for thing in items(found["new"]))
            return
    for pattern in _ALLERGIES:
        if found := pattern.search(clause):
            yield from _each(clause, found, "is allergic to", _affirmed(clause, found))
    if found := _STOPPED.search(clause):
        yield from _each(clause, found, "uses", False)
    elif found := _USES.search(clause):
        yield from _each(clause, found, "uses", _affirmed(clause, found))


def _possessions(clause: str) -> Iterator[Stance]:
    if found := _HAS.search(clause):
        who = subject(clause[: found.start("verb")])
        # "did not have": what was lacking then may be there now
        word = None if "did" in clause[: found.start("verb")].split() else _owned(found["rest"])
        if word is not None and _affirmed(clause, found):
            yield Stance(who, HAS, frozenset({CLASS_OF[word]}), True)
            yield Stance(who, HAS, frozenset({word}), True)
        elif word is not None:
            yield Stance(who, HAS, frozenset({_denied(word)}), False)
    elif (found := _NONE.search(clause)) and found["thing"] in CLASS_OF:
        yield Stance("user", HAS, frozenset({_denied(found["thing"])}), False)
    elif found := _COUNTED.search(clause):
        counted = (CLASS_OF[word] for word in found.groups() if word in CLASS_OF)
        yield from (Stance("user", HAS, frozenset({kind}), True) for kind in counted)


def _owned(rest: str) -> str | None:
    for word in re.split(r"[^\w-]+", rest)[:5]:
        if word in _NOT_OWNED:
            return None
        if word in CLASS_OF:
            return word
    return None


def _denied(word: str) -> str:
    """Return what a word denies: "no dogs" leaves room for a cat, "no pets" doesn't."""
    return CLASS_OF[word] if word in CLASS_NAMES else word


def _affirmed(clause: str, found: re.Match[str]) -> bool:
    """Return whether nothing before the object of a verb denies it."""
    return not denies([*clause[: found.end("verb")].split(), found["rest"].split()[0]])


def _each(clause: str, found: re.Match[str], name: str, positive: bool) -> Iterator[Stance]:
    who = subject(clause[: found.start("verb")])
    for thing in items(found["rest"]):
        yield Stance(who, name, thing, positive)
