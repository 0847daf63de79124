"""Tell by the words of two clauses if they are about different people or kinds of a thing."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from semantic_memory.domain.english import renewals
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.renewals import (
    KIN,
    Clause,
    clause_of,
    clauses,
)
from semantic_memory.domain.english.tables import words
from semantic_memory.domain.english.words import can_be_noun, is_quality, is_verb, is_word
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS, stem, stems

_LIVING = rf"{one_of(sorted(KIN | words('possessions.animals')))}s?"
_OTHER_KIN = regex(rf"\bother {one_of(KIN)}\b")
_POSSESSIVE = regex(r"\w{2,}'s$")  # not "two e's"
_FOR_OF = regex(r"\b(for|of|in) (?=(?:(?:the|my|our|a|an) )?([a-z][\w'-]*))")
_DETERMINERS = frozenset(
    "the a an my our his her their your this that these those new old i we is are was".split()
)
_GIVEN_NAMES = words("persons.given_names")
_OWN = frozenset({"i", "me", "my", "we", "us", "our"})
_BE = frozenset({"is", "are", "was", "were"})
_ARTICLES = frozenset("the my our his her their a an for have has take takes".split())
_VERB_OF_A_THING = r"(?:is|are|was|were|has|have|had|gets?|got|[a-z]{2,}s)"
_SUBJECT = regex(
    rf"(?:and |so |but )?(?:the|our|my) ((?!same)[\w-]+(?: [\w-]+)?) {_VERB_OF_A_THING}\b"
)
_ENVIRONMENTS = words("renewals.heads.environments")
FORMER = words("renewals.heads.former")
"""Words for what came before the present one: "my old laptop"."""
# "their launch", "and her new address"
_OF_OTHERS = regex(r"(?:and |so |but |now )*(?:his|her|their) (?P<thing>[\w-]+(?: [\w-]+)?)")
_OF_A_BEING = regex(
    r"\w+ (?:[\w-]+ ){1,2}"
    r"(?:has|had|can|loves|likes|hates|wants|needs|takes|gets|suffers|lives|eats)\b"
)
_FORMER_THING = regex(
    rf"\b(?:my|our|the|their) (?P<which>{one_of(FORMER)}) (?P<thing>[\w-]+(?: [\w-]+)?)"
)
_NEXT_DOOR = words("renewals.heads.next_door")
_THEIR_THING = regex(r"\b([a-z]{2,})'s ([a-z]+(?: [a-z]+)?)\b")
_THEIRS = regex(
    rf"\b([a-z]{{2,}})'s (?:[a-z]+ ){{0,2}}?{_LIVING}\b|\b{_LIVING} of ([a-z]{{2,}})(?:'s)?\b"
)
_OWN_FIGURES = frozenset(("age", "birthday"))
_OWN_THING = regex(r"\b(?:my|our) ([a-z]+)(?!'s)\b")
_CLEFT = regex(r"^.+? (?:is|are) (?:when|where|what|who) (?=(?:the|our|my) )")
_TO_OR_WITH = regex(r"\b([\w-]+) (?:to|with) (?:(?:the|my|our|an?) )?([a-z][\w-]*)")
_NUMBERED = regex(r"(?:(?:and|so|but|the|my|our) )*([a-z]+) (\d[\d.]*) ")
_FAVOURED = regex(r"\bfavourite ([\w-]+) (?:is|are)\b|\b(?:is|are) my favourite ([\w-]+)")
_IN_PASSING = frozenset(
    "now nowadays instead actually just btw and so well the my our a an".split()
)
_WITH = frozenset("in on with at from by via through".split())
_OF_KIN = regex(r"\bof (?:my|our) ([a-z]+)\b")  # "the rent of my parents"
_MOST_APART = 3
_LEAST_SHARED = 2
_SAID_OF_MANY = frozenset("i we like love enjoy want have got".split())
_VERB = regex(r"(?:is|are|was|has|have|can|will|=|\w+s)$")


class _Told(NamedTuple):
    """The people of a clause."""

    words: frozenset[str]
    """Its words, as names are, but for whose person or pet it tells of: "leo's friend is 7"."""
    called: frozenset[str]
    """Names right behind words for people: "my brother sem lives in leiden"."""
    owners: frozenset[str]
    others: frozenset[str]
    """Words for people of whom there is another: "my other sister"."""
    kin: frozenset[str]
    of_kin: frozenset[str]
    led: tuple[str, ...]
    """The words behind a word for people that is the subject."""


def other_person(a: Clause, b: Clause) -> bool:
    """Return whether the clauses are about different people."""
    one, other = _people(a.plain, a.words), _people(b.plain, b.words)
    if one.called & other.words or other.called & one.words:
        return False
    if one.owners and other.owners and one.owners.isdisjoint(other.owners):
        return True
    if one.others != other.others or other.of_kin & (other.kin - one.kin):
        return True
    if one.kin and other.kin:
        return one.kin.isdisjoint(other.kin)
    if _does_likewise(a, b) or _does_likewise(b, a):
        return True
    return bool(one.led or (other.led and _OWN.isdisjoint(other.led)))


@lru_cache(maxsize=1_024)
def _people(plain: str, spoken: frozenset[str]) -> _Told:
    kin = _kin(spoken)
    return _Told(
        frozenset(word.removesuffix("'s") for word in spoken) - _having(plain),
        _called(plain),
        frozenset(filter(_POSSESSIVE.match, spoken)),
        frozenset(_OTHER_KIN.findall(plain)),
        kin,
        frozenset(_OF_KIN.findall(plain)),
        tuple(_led(plain, kin)),
    )


def kin_of(clause: Clause) -> frozenset[str]:
    """Return the words for people in a clause."""
    return _kin(clause.words)


@lru_cache(maxsize=1_024)
def _kin(spoken: frozenset[str]) -> frozenset[str]:
    return frozenset(word.removesuffix("'s").rstrip("'") for word in spoken) & KIN


def owners_of(clause: Clause) -> frozenset[str]:
    """Return the people whose things a clause speaks of: "my brother's flight"."""
    return frozenset(
        owner for word in clause.words if "'" in word and (owner := word.rstrip("'s")) in KIN
    )


def beside_kin(clause: Clause) -> frozenset[str]:
    """Return the stems right behind words for people: "my girlfriend Ines"."""
    spoken = clause.plain.split()
    return frozenset(stem(b) for a, b in pairwise(spoken) if a in KIN)


def _called(plain: str) -> frozenset[str]:
    return frozenset(
        name
        for kin, word in pairwise(plain.split())
        if kin in KIN and _may_be_name(name := word.removesuffix("'s"))
    )


def _having(plain: str) -> frozenset[str]:
    """Return those who are named only by whose person or pet a clause tells of."""
    found = (one for told in _THEIRS.finditer(plain) for one in told.groups() if one)
    return frozenset(one for one in found if len(re.findall(rf"\b{one}\b", plain)) == 1)


def tells_of_theirs(part: Clause, clause: Clause) -> bool:
    """Return whether a clause tells of a person or pet of one whom the other names."""
    return bool((_having(part.plain) - _having(clause.plain)) & clause.words)


def is_of_its_owner(part: Clause, topic: frozenset[str]) -> bool:
    """Return whether a clause shares with the topic only those whose things it tells of.

    "Leo's school starts at 8" says nothing of Leo; his age and birthday are his own.
    """
    owners = {
        stem(owner)
        for owner, owned in _THEIR_THING.findall(part.plain)
        if _is_person(owner)
        and can_be_noun(thing := owned.split()[0])
        and thing not in STOP_WORDS | _OWN_FIGURES
    }
    return bool(topic) and topic <= owners


def _is_person(word: str) -> bool:
    return word in KIN or word in _GIVEN_NAMES or not is_word(word)


def _may_be_name(word: str) -> bool:
    return word not in STOP_WORDS and not (is_verb(word) or is_quality(word))


def about_others(older: str, newer: str) -> bool:
    """Return whether two statements are about different people."""
    return any(other_person(a, b) for a in clauses(older) for b in clauses(newer))


def about_earlier_days(text: str) -> bool:
    """Return whether a clause of a statement is about the past."""
    return any(renewals.is_of_the_past(clause.plain) for clause in clauses(text))


def _does_likewise(own: Clause, other: Clause) -> bool:
    """Return whether somebody does what the user does: "I go to bed at ten", "Noor goes to bed"."""
    if not own.plain.startswith("i "):
        return False
    _, verb, *_ = [*own.plain.split(), ""]
    name, theirs, *_ = [*other.plain.split(), "", ""]
    if name in _OWN or name in STOP_WORDS or stem(name) in own.content:
        return False
    return bool(verb) and theirs in (f"{verb}s", f"{verb}es")


def _led(plain: str, kin: frozenset[str]) -> list[str]:
    spoken = plain.split()
    for place, word in enumerate(spoken[:4]):
        if word.removesuffix("'s") in kin:
            return spoken[place + 1 :]
    return []


def other_subject(a: Clause, b: Clause) -> bool:
    """Return whether the clauses begin with different things: "the api", "the metrics"."""
    if other_environment(a, b):
        return True
    left, right = (_SUBJECT.match(_CLEFT.sub("", one.plain)) for one in (a, b))
    if not (left and right):
        return False
    x, y = frozenset(stems(left[1])), frozenset(stems(right[1]))
    return x.isdisjoint(b.content | y) and y.isdisjoint(a.content)


def other_environment(a: Clause, b: Clause) -> bool:
    """Return whether the clauses name different environments: "staging", "production"."""
    left, right = (one.words & _ENVIRONMENTS for one in (a, b))
    return bool(left and right) and left.isdisjoint(right)


def about_other_things(older: str, newer: str) -> bool:
    """Return whether the first clauses of two statements are about things of different kinds."""
    a, b = (clause_of(one) for one in (older, newer))
    topic = a.content & b.content
    return other_environment(a, b) or other_subject(a, b) or other_kind(a, b, topic)


def is_former(told: str, clause: Clause, thing: frozenset[str]) -> bool:
    """Return whether a text tells of what came before the user's present thing: "my old laptop".

    A name says which one is meant: "sold the old thinkpad".
    """
    found = _FORMER_THING.search(told)
    if found is None or found["which"] in clause.words:
        return False
    named = [one for one in found["thing"].split() if stem(one) in thing]
    return bool(named) and all(map(is_word, named))


def is_of_another_owner(part: Clause, clause: Clause, thing: frozenset[str]) -> bool:
    """Return whether a thing is somebody's of whom the older clause says nothing: "ben's budget".

    Or the thing of relatives is all that is told of: "the gym put my wife's fee up".
    """
    known = _people(clause.plain, clause.words).words
    found = [
        (owner, owned)
        for owner, owned in _THEIR_THING.findall(part.plain)
        if _is_person(owner) and owner not in known
    ]
    if any(not thing.isdisjoint(map(stem, owned.split())) for _, owned in found):
        return True
    if thing & clause.content and not _NEXT_DOOR.isdisjoint(part.words - clause.words):
        return True
    if _is_users(clause) and (theirs := _OF_OTHERS.match(part.plain)):
        return not thing.isdisjoint(map(stem, theirs["thing"].split())) or not thing <= part.content
    return any(owner in KIN for owner, _ in found) and not _OWN_THING.search(part.plain)


def _is_users(clause: Clause) -> bool:
    """Return whether a clause begins with what is the user's own, or with a thing of nobody.

    "My little one has eczema" begins with somebody.
    """
    opening = clause.plain.split()[:2]
    own = opening[:1] in (["my"], ["our"], ["the"]) and KIN.isdisjoint(opening)
    return own and _OF_A_BEING.match(clause.plain) is None


def same_frame(older: str, newer: str) -> bool:
    """Return whether two folded clauses differ in who does it, or where or with what, alone.

    >>> same_frame("i edit photos in gimp", "i edit photos in krita now")
    True
    >>> same_frame("i edit photos in gimp", "i edit films in krita now")
    False
    """
    own, others = (
        [word for word in one.split() if word.strip(",.") not in _IN_PASSING]
        for one in (older, newer)
    )
    shorter = min(len(own), len(others))
    first = next((n for n in range(shorter) if own[n] != others[n]), shorter)
    rest = next(
        (n for n in range(shorter - first) if own[-1 - n] != others[-1 - n]), shorter - first
    )
    a, b = own[first : len(own) - rest], others[first : len(others) - rest]
    shared = {*own[:first], *own[len(own) - rest :]}
    if not (0 < len(a) <= _MOST_APART and 0 < len(b) <= _MOST_APART):
        return False
    number = len({stem(word) for word in shared} - STOP_WORDS - _SAID_OF_MANY)
    if number and not rest and first and own[first - 1] == "with":
        return is_word(a[0]) == is_word(b[0])  # "i cook with ana", "i cook with gas"
    if number < _LEAST_SHARED:
        return False
    if not rest:
        return first > 0 and own[first - 1] in _WITH
    done_alike = (_OWN | _BE).isdisjoint({*a, *b})  # "my desk is on floor 3", "chairs on floor 3"
    return not first and done_alike and rest >= _LEAST_SHARED + 1


def other_number(a: Clause, b: Clause, topic: frozenset[str]) -> bool:
    """Return whether both begin with a numbered thing: "milestone 2 is", "milestone 3 is"."""
    left, right = (_numbered(one, topic) for one in (a, b))
    return bool(left and right) and left != right


def _numbered(clause: Clause, topic: frozenset[str]) -> str:
    found = _NUMBERED.match(clause.plain)
    return found[2] if found and stem(found[1]) in topic else ""


def other_end(a: Clause, b: Clause, topic: frozenset[str]) -> bool:
    """Return whether both say to where or with whom: "the trip to japan", "the trip to porto"."""
    left, right = (
        {word: end for word, end in _TO_OR_WITH.findall(one.plain) if stem(word) in topic}
        for one in (a, b)
    )
    return any(
        stem(left[one]) not in b.content and stem(right[one]) not in a.content
        for one in left.keys() & right.keys()
    )


def is_turned_round(clause: Clause, other: Clause, topic: frozenset[str]) -> bool:
    """Return whether one says of the user what the other says of someone: "i owe tom"."""
    spoken, others = clause.plain.split(), other.plain.split()
    return (
        spoken[0] in _OWN
        and stem(others[0]) in topic
        and not _OWN.isdisjoint(others[1:])
        and len(topic) > 1
    )


def other_kind(a: Clause, b: Clause, topic: frozenset[str]) -> bool:
    """Return whether both name kinds of a thing: "the night shift", "the day shift"."""
    left, right = _kinds(a, topic, b.words), _kinds(b, topic, a.words)
    for one in left.keys() & right.keys():
        x, y = left[one], right[one]
        if (
            x
            and y
            and x.isdisjoint(y)
            and x.isdisjoint(b.content | b.words)
            and y.isdisjoint(a.content | a.words)
        ):
            return True
    if any(_of_others(x, topic) & _own(y, topic) for x, y in ((a, b), (b, a))):
        return True
    if _bound(a) & _left(b) or _left(a) & _bound(b):
        return True
    before, behind = _of(a), _of(b)
    favoured, preferred = (_favoured(one) for one in (a, b))
    if favoured and preferred and favoured.isdisjoint(preferred):
        return True
    return any(
        before[word] != behind[word]
        and stem(before[word]) not in b.content
        and stem(behind[word]) not in a.content
        for word in ("for", "of", "in")
        if word in before and word in behind
    )


def _kinds(
    clause: Clause, topic: frozenset[str], others: frozenset[str]
) -> dict[str, frozenset[str]]:
    """Return the words before each noun of the topic that say which one is meant.

    They stand behind an article, or behind one of the `others`, the words of the other clause.
    """
    found: dict[str, frozenset[str]] = {}
    spoken = ["", "", *clause.plain.replace("-", " ").split(), ""]
    for opening, one, word, after in zip(spoken, spoken[1:], spoken[2:], spoken[3:], strict=False):
        name = stem(word.removesuffix("'s"))
        if name not in topic or not one.isalpha() or one in _DETERMINERS or stem(one) in STOP_WORDS:
            continue
        if opening in _ARTICLES or opening in others or (not opening and _VERB.match(after)):
            found[name] = found.get(name, frozenset()) | {stem(one)}
    return found


def _own(clause: Clause, topic: frozenset[str]) -> frozenset[str]:
    return frozenset(map(stem, re.findall(r"\b(?:my|our) ([\w-]+)", clause.plain))) & topic


def _of_others(clause: Clause, topic: frozenset[str]) -> frozenset[str]:
    if not _OWN.isdisjoint(clause.words):  # "the user takes their pills"
        return frozenset()
    return frozenset(map(stem, re.findall(r"\b(?:their|his|her) ([\w-]+)", clause.plain))) & topic


def _bound(clause: Clause) -> frozenset[str]:
    """Return the places that something goes to: "my flight to rome"."""
    return frozenset(re.findall(r"\bto ([a-z]{3,})", clause.plain))


def _left(clause: Clause) -> frozenset[str]:
    """Return the places that something comes from: "the flight back from rome"."""
    return frozenset(re.findall(r"\b(?:back|home) from ([a-z]{3,})", clause.plain))


def _of(clause: Clause) -> dict[str, str]:
    return {
        word: thing
        for word, thing in _FOR_OF.findall(clause.plain)
        if stem(thing) in clause.content and thing not in clause.dates
    }


def _favoured(clause: Clause) -> frozenset[str]:
    """Return the kinds of a thing of which a clause names a favourite: "colour"."""
    return frozenset(kind for found in _FAVOURED.findall(clause.plain) for kind in found if kind)
