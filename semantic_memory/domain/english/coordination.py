"""Cut a clause whose parts are joined by "and" into clauses that stand alone.

"Our budget is 5k and the deadline is in June"  ->  "Our budget is 5k", "the deadline is in June"
"my aunt teaches physics and plays the cello"   ->  "my aunt teaches physics", "my aunt plays ..."
"I'm 34, a nurse, and live in Leeds"            ->  "I'm 34", "I'm a nurse", "I live in Leeds"
"Ola does the frontend, Petr the backend"       ->  "Ola does ...", "Petr does the backend"

`statements.statements` has cut where a clause begins with "I" or a pronoun; here the parts are told
by the forms of their words. What a conjunction joins within a subordinate clause stays together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from semantic_memory.domain.english.calendar import WEEKDAY
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.predications import Predication, has_time, predication
from semantic_memory.domain.english.pronouns import dangles
from semantic_memory.domain.english.subjects import head
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import (
    WORD,
    Form,
    can_be_noun,
    forms,
    is_adverb,
    is_quality,
    noun,
)
from semantic_memory.domain.patterns import regex

_JOINT = regex(r"[,;]\s+(?:(?:and|but|while|whereas)\s+)?|\s+(?:and|but|while|whereas)\s+")
_COMMA_AND = regex(r",\s+(?:and|but)\s")
_VERB_JOINT = regex(r"(?:,\s+(?:and\s+)?|\s+and\s+)(?P<verb>[a-z']+)\s+(?P<next>[\w']+)")
_BOUND = regex(
    rf"\b{phrases('coordination.binding')}\b|^{phrases('clauses.subordinating')}\b", re.IGNORECASE
)
_NEW_SUBJECT = regex(r"(?:[Tt]he|[Mm]y|[Oo]ur|[A-Z][\w'-]+)\s")
_BE = regex(
    r"^(?P<be>(?:I'm|I am|(?:(?:my|our|My|Our)\s)?(?:[\w'-]+\s){1,3}(?:is|are))\s)(?P<rest>.+)$"
)
_PART = regex(r",\s*(?:and\s+)?|\s+and\s+")
_ARTICLE = regex(r"(?:an?|the)\s", re.IGNORECASE)
_DAY = regex(rf"an?\s{WEEKDAY}\b", re.IGNORECASE)
_MEASURE = regex(
    rf"\d[\d.,']*(?:$|\s?{phrases('coordination.measures')}\b)|\d+(?:st|nd|rd|th)\b", re.IGNORECASE
)
_PLACED = regex(r"(?:from|in|based in|married|allergic)\s", re.IGNORECASE)
_HAS = regex(
    rf"^(?P<has>(?:[\w'’-]+\s){{0,4}}?(?:{phrases('coordination.having')})\s)(?P<things>\S.+)$",
    re.IGNORECASE,
)
_COUNTED = regex(
    rf"(?:an?|no|my|our|{one_of(words('numbers.small'))}|\d{{1,2}})\s(?:[\w'-]+\s?){{1,6}}$", re.I
)
_NAME = regex(r"[A-Z][\w'-]+$")
_PREPOSITION = regex(rf"\s{one_of(words('predications.prepositions'))}\s", re.IGNORECASE)
_GAPPED = regex(
    r"^(?P<subject>[A-Z][\w'-]+|[a-z]+(?=\s(?:in|on|at)\s)|(?:my|our|the|My|Our|The)\s(?:[\w-]+\sone|[\w-]+))\s"
    r"(?P<rest>(?:the|an?|to|in|on|at|for|with|two|three|\d)\b.+|[a-z]+)$"
)
_OPEN_END = regex(
    r"(?:,|\b(?:and|but|so|or)\b)[\s,]*(?:of course|however|also|then|in fact)?$", re.I
)
_BARE = regex(r"[a-z]+$")
_UNITS = regex(r"^[^\d]{0,3}\d[\d.,]*(?:\s?[a-z%/]+){0,2}$", re.IGNORECASE)
_OF_PERSON = regex(
    rf"(?:I\b|I'm\b|[A-Z][\w'-]+ (?:is|are)\b"
    r"|(?:my|our) (?:[\w'-]+ ){0,2}?"
    rf"{one_of(words('possessions.kin', 'possessions.animals'))}\b)",
    re.IGNORECASE,
)
_OWN_CLAUSE = regex(r"(?:the|my|our)\s", re.IGNORECASE)
_AND = regex(r"\sand\s")
_PREPOSITIONS = words("predications.prepositions")
_COUNTS = words("numbers.small")
_AGE_ASIDE = regex(r", \d{1,3},\s")  # "my daughter Ida, 16, lives here"
_OTHER_SUBJECT = regex(r"(?:,|\band) (?:my|our|the) ", re.IGNORECASE)
_CLAUSE_WITHIN = regex(r"\s(?:I|we|he|she|they)\s")
_COPULA = words("predications.copula")
_BEHIND_VERB = words(
    "clauses.complements", "predications.determiners", "predications.prepositions"
) | {"me", "us"}
_STANDING = words("predications.standing_verbs")
_MOST_PARTS = 5


def coordinated(clause: str) -> list[str]:
    """Return the clauses that a clause joins, each with its subject and its verb.

    >>> coordinated("Our budget is 5k and the deadline is the 9th of June")
    ['Our budget is 5k', 'the deadline is the 9th of June']
    >>> coordinated("I'm 34, a nurse, and live in Leeds")
    ["I'm 34", "I'm a nurse", 'I live in Leeds']
    >>> coordinated("my aunt teaches physics and plays the cello")
    ['my aunt teaches physics', 'my aunt plays the cello']
    >>> coordinated("Ola does the frontend, Petr the backend")
    ['Ola does the frontend', 'Petr does the backend']
    >>> coordinated("we have a dog, Rex, and two cats")
    ['we have a dog, Rex', 'we have two cats']
    >>> coordinated("I think the sun is hot and the sea is cold")
    ['I think the sun is hot and the sea is cold']
    >>> coordinated("I'm allergic to bees, so no hives here")
    ["I'm allergic to bees, so no hives here"]
    """
    if '"' in clause or _BOUND.search(clause):
        return [clause]
    return [
        one
        for whole in _clauses(clause)
        for part in _complements(whole) or _verbs(whole)
        for one in _possessions(part)
    ]


def _clauses(clause: str) -> Iterator[str]:
    """Yield the parts that have subjects of their own."""
    start = 0
    for joint in _JOINT.finditer(clause):
        left, right = clause[start : joint.start()], clause[joint.end() :]
        following = predication(_AGE_ASIDE.sub(" ", right))
        begins = (
            _NEW_SUBJECT.match(right)
            or _is_alike(left, following)
            or (following is not None and _COMMA_AND.match(joint[0]))
            or (following is None and _GAPPED.match(right))
        )
        if not begins or not _is_whole(left):
            continue
        if following is None:
            gapped = _gapped(left, right) if joint[0].strip().startswith(",") else None
            if gapped:
                yield left
                yield gapped
                return
        elif _leads(following) and not dangles(right):
            yield left
            start = joint.end()
    yield clause[start:]


def _is_whole(left: str) -> bool:
    if _OPEN_END.search(left):
        return False  # "I love it, but, of course, the ..."
    own = head(left)
    if own is not None:
        return own.form is not None and own.end < len(left)
    found = predication(left)
    return found is not None and len(found.predicate.split()) > 1


def _is_alike(left: str, following: Predication | None) -> bool:
    """Return True if two bare nouns have the same copula: "frontend is React, backend is Go"."""
    first = predication(left) if following and following.verb in _COPULA else None
    return (
        first is not None
        and following is not None
        and first.verb == following.verb
        and len(following.subject.split()) < 3
        and Form.THIRD not in forms(following.subject.split()[0])
    )


def _leads(found: Predication) -> bool:
    """Return True if the verb can only be one: a copula, or one with no noun for its reading."""
    spoken = found.predicate.split()
    if len(spoken) < 2:
        return False
    return found.verb in _COPULA or not can_be_noun(found.verb) or spoken[1] in _BEHIND_VERB


def _gapped(left: str, right: str) -> str | None:
    """Return the right part with the verb of the left one, if it only lacks that."""
    first, second = predication(left), _GAPPED.match(right)
    if first is None or second is None or len(right.split()) > _MOST_PARTS + 1:
        return None
    of_places = first.verb in _COPULA and second["rest"].startswith(("in ", "on ", "at "))
    same_kind = first.subject.split()[0].istitle() == second["subject"].split()[0].istitle()
    alike = of_places or (same_kind and not (_BARE.match(second["subject"])))
    behind = first.predicate.split()[1:2]
    if not alike or not behind or any(map(_is_only_finite, WORD.findall(second["rest"]))):
        return None
    if (behind[0].lower() in _BEHIND_VERB) != (second["rest"].split()[0].lower() in _BEHIND_VERB):
        return None
    noun_left = first.subject.split()[-1]
    subject = re.sub(r"\bone$", noun_left, second["subject"])
    return f"{subject} {first.predicate.split()[0]} {second['rest']}"


def _is_only_finite(word: str) -> bool:
    known = forms(word)
    return bool(known) and not can_be_noun(word) and not is_quality(word)


def _complements(clause: str) -> list[str]:
    """Return one clause for each thing that a person is said to be; empty if it isn't a list."""
    found = _BE.match(clause)
    if found is None or not _JOINT.search(found["rest"]):
        return []
    parts = [part for part in _PART.split(found["rest"]) if part]
    if not 2 <= len(parts) <= _MOST_PARTS:
        return []
    if _stays_together(clause, found["be"], parts):
        return []
    subject = found["be"].split()[0].removesuffix("'m") if head(clause) else found["be"][:-1]
    subject = subject.rsplit(" ", 1)[0] if " " in subject else subject
    told: list[str] = []
    is_list = False
    for part in parts:
        is_verb = bool(told) and _continues(part.split(), own=subject == "I")
        if told and _CLAUSE_WITHIN.search(part):
            return []  # "allergic to wasps, last time I was in hospital"
        if is_verb:
            told.append(f"{subject} {part}")
        elif _DAY.match(part):
            return []  # "on 3 June, a Wednesday"
        elif told and _ARTICLE.match(parts[0]) and _is_bare_noun(part):
            return []  # "a wrestler and video game designer"
        elif _is_complement(part):
            told.append(f"{found['be']}{part}")
        else:
            return []
        is_list = is_list or is_verb or len(part.split()) > 1 or part.isdigit()
    return told if is_list else []


def _possessions(clause: str) -> list[str]:
    """Return one clause for each thing that somebody has: "a dog, Rex, and two cats"."""
    found = _HAS.match(clause)
    if found is None or has_time(clause):
        return [clause]
    things: list[str] = []
    for part in _PART.split(found["things"]):
        if things and _NAME.match(part):
            things[-1] += f", {part}"
        elif _COUNTED.match(part):
            things.append(part)
        else:
            return [clause]
    if len(things) < 2 or _PREPOSITION.search(things[-1]):
        return [clause]  # "two sons and a daughter at school"
    return [f"{found['has']}{thing}" for thing in things]


def _stays_together(clause: str, be: str, parts: Sequence[str]) -> bool:
    """Return True if the parts say one thing, or not all of them something of the subject."""
    return (
        # "the kids are 3 and 7"
        (be.endswith("are ") and any(part.isdigit() for part in parts))
        # "my sugar is 128, pre-diabetic"
        or (_UNITS.search(parts[0]) is not None and not _OF_PERSON.match(clause))
        # "our house is old, and the roof leaks"
        or any(_OWN_CLAUSE.match(part) and predication(part) for part in parts[1:])
        # "I'm a coeliac, diagnosed in 2009"
        or any(map(_is_passive, parts[1:]))
    )


def _is_passive(part: str) -> bool:
    first, *behind = part.lower().split()
    return Form.PAST in forms(first) and behind[:1] != [] and behind[0] in _PREPOSITIONS


def _is_bare_noun(part: str) -> bool:
    spoken = part.split()
    return len(spoken) > 1 and _ARTICLE.match(part) is None and noun(spoken[-1]) is not None


def _is_complement(part: str) -> bool:
    """Return True if a part tells an age, a trade, a quality or where someone is from."""
    if _ARTICLE.match(part) or _MEASURE.match(part) or _PLACED.match(part):
        return True
    first = re.sub(r"^(?:very|quite|half|also|now|still)\s", "", part).split()[0]
    if not first.islower() and " " in part:
        return False  # "Under Armour"
    lowered = first.lower()
    if lowered in ("so", "no", "like") or lowered in _COUNTS | _PREPOSITIONS:
        return False  # "so no hives" follows from the first part, "no lift" is had; "like ..."
    described = is_quality(lowered) and not is_adverb(lowered) and Form.ING not in forms(lowered)
    return (described or "-" in lowered) and lowered not in _COPULA


def _continues(spoken: Sequence[str], *, own: bool) -> bool:
    """Return True if words behind "and" are another predicate of the same subject."""
    if len(spoken) < 2:
        return False
    verb, following = spoken[0].lower(), spoken[1].lower()
    if is_adverb(verb):
        return False
    wanted = {Form.BASE, Form.PAST} if own else {Form.THIRD, Form.PAST}
    return bool(forms(verb) & wanted) and _is_verb(verb, following)


def _verbs(clause: str) -> list[str]:
    """Return one clause for each verb of a subject in the third person."""
    found = None if head(clause) else predication(clause)
    if found is None:
        return [clause]
    parts: list[str] = []
    start = 0
    for joint in _VERB_JOINT.finditer(found.predicate):
        if _OTHER_SUBJECT.search(found.predicate, start, joint.start()):
            break
        if _finite(joint["verb"], joint["next"].lower(), found.verb) and not _is_speakers(joint):
            parts.append(found.predicate[start : joint.start()])
            start = joint.start("verb")
    parts.append(found.predicate[start:])
    return [f"{found.lead}{found.subject} {part}" for part in parts]


def _is_speakers(joint: re.Match[str]) -> bool:
    """Return True if a verb may be of a speaker left out: "my laptop died, got a new one"."""
    own = forms(joint["verb"])
    if "and" in joint[0] or Form.THIRD in own or Form.PAST not in own:
        return False
    return _AND.search(joint.string, joint.end()) is None


def _finite(verb: str, following: str, first: str) -> bool:
    """Return True if a word behind "and" is another verb of the same subject."""
    lowered = verb.lower()
    if lowered in _COPULA:
        return True
    alike = forms(lowered) & {Form.THIRD, Form.PAST} & (forms(first) or {Form.THIRD, Form.PAST})
    return bool(alike) and _is_verb(lowered, following)


def _is_verb(word: str, following: str) -> bool:
    """Return True if a word that can be a verb is one before the following word."""
    return (
        not can_be_noun(word)
        or following in _BEHIND_VERB
        or following[:1].isdigit()
        or word in _STANDING
    )
