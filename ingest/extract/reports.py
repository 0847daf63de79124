"""Find statements about named people and definite things: "Tariq owns billing".

What someone tells an assistant of others and of their work is worth keeping if it is as hard as
"The gateway listens on 9443": a name, a number, a date, a cause, a change or a duty. "The sky is
blue today" says nothing that is theirs.
"""

from __future__ import annotations

import re

from ingest.extract.worth import is_hedged
from semantic_memory.domain.english.calendar import WEEKDAY
from semantic_memory.domain.english.notation import whole
from semantic_memory.domain.english.predications import (
    Predication,
    has_number,
    has_time,
    is_name,
    predication,
)
from semantic_memory.domain.english.pronouns import dangles
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.verbatim import holds_verbatim
from semantic_memory.domain.english.words import Form, can_be_noun, forms, is_verb

_RELATIONS = words("reports.relations")
_CHANGES = words("reports.changes")
_NAMED = words("reports.of_names")
_COPULA = words("predications.copula")
_CAUSE = re.compile(whole(phrases("reports.causes")), re.IGNORECASE)
_STATE = re.compile(whole(phrases("reports.states")), re.IGNORECASE)
_EVALUATION = re.compile(rf"^{phrases('reports.evaluations')}", re.IGNORECASE)
_FIXED = re.compile(whole(phrases("reports.of_work")), re.IGNORECASE)
_WORLD = re.compile(rf"^{phrases('reports.of_the_world')}\b", re.IGNORECASE)
_VERBLESS = re.compile(
    rf"^(?P<subject>(?:(?:the|our|my)\s)?(?:[a-z-]+\s){{0,2}}?[a-z-]+)\s"
    rf"(?P<rest>(?:tomorrow|tonight|next \w+|(?:on )?{WEEKDAY}|on the \d|at \d)\b.{{0,40}})$",
    re.IGNORECASE,
)
_TWO = re.compile(
    r"^(?P<one>[A-Z][\w'-]+ [^,]{3,60}), (?:and )?(?P<other>[A-Z][\w'-]+ [^,]{3,60})$"
)
_JOINT = re.compile(r"(?:,\s+(?:and\s+)?|\s+and\s+)(?P<verb>[a-z']+)(?=\s+\S)")
_BEHIND_COMMAND = words("fragments.behind_commands") | words("predications.determiners")
_WORD = re.compile(r"[\w'’+#-]*[\w+#]")
_LONGEST = 40


def reports(clause: str, *, of_names_only: bool) -> list[str]:
    """Return what a clause says of somebody or something, if it is worth keeping.

    With `of_names_only`, as among people who chat, only what is said of a named person counts.

    >>> reports("The API is written in Kotlin and runs on port 8443", of_names_only=False)
    ['The API is written in Kotlin', 'The API runs on port 8443']
    >>> reports("solveig can't eat gluten", of_names_only=False)
    ["Solveig can't eat gluten"]
    >>> reports("The sky is blue today", of_names_only=False)
    []
    """
    if len(clause.split()) > _LONGEST or dangles(clause) or is_hedged(clause):
        return []
    if (two := _TWO.match(clause)) and predication(two["one"]) and predication(two["other"]):
        return [
            *reports(two["one"], of_names_only=of_names_only),
            *reports(two["other"], of_names_only=of_names_only),
        ]
    clause = _with_verb(clause)
    whole_clause = predication(clause)
    if whole_clause is None or whole_clause.subject[:1].isdigit() or _is_command(clause):
        return []
    told = []
    for found in _parts(whole_clause):
        if _EVALUATION.match(found.predicate) or _WORLD.match(found.text):
            continue
        hard = found.kind == "name" and _is_hard(found) and _is_settled(found)
        if hard if of_names_only else _is_told(found):
            told.append(_written(found))
    return told


def _with_verb(clause: str) -> str:
    """Return a clause with the "is" that its writer left out before a time: "demos tomorrow"."""
    found = _VERBLESS.match(clause)
    if found is None or any(map(is_verb, found["rest"].split()[1:])) or predication(clause):
        return clause
    head = found["subject"].split()[-1]
    be = "are" if head.endswith("s") and not head.endswith("ss") else "is"
    return f"{found['subject']} {be} {found['rest']}"


def _parts(found: Predication) -> list[Predication]:
    """Return a clause for each verb of the predicate that shares the subject."""
    parts: list[str] = []
    start = 0
    for joint in _JOINT.finditer(found.predicate):
        if _finite(joint["verb"], found.verb):
            parts.append(found.predicate[start : joint.start()])
            start = joint.start("verb")
    parts.append(found.predicate[start:])
    return [found._replace(predicate=part, verb=part.split()[0].lower()) for part in parts if part]


def _finite(verb: str, first: str) -> bool:
    """Return True if a word behind "and" is another verb of the same subject."""
    lowered = verb.lower()
    if lowered in _COPULA:
        return True
    alike = forms(lowered) & {Form.THIRD, Form.PAST} & (forms(first) or {Form.THIRD, Form.PAST})
    return bool(alike) and (lowered in _RELATIONS | _CHANGES or not can_be_noun(lowered))


def _is_command(clause: str) -> bool:
    spoken = _WORD.findall(clause.lower())[:2]
    return Form.BASE in forms(spoken[0]) and (
        spoken[1] in _BEHIND_COMMAND or not can_be_noun(spoken[0])
    )


def _is_told(found: Predication) -> bool:
    """Return True if the predicate is hard enough for its subject."""
    if _is_relation(found) or _CAUSE.search(found.predicate):
        return True
    if found.kind == "name":
        return _is_settled(found)
    return _is_hard(found) and (_is_settled(found) or has_number(found.predicate))


def _is_relation(found: Predication) -> bool:
    """Return True if the verb tells a duty, a place or a use: "owns", "runs on"."""
    spoken = [word.lower() for word in _WORD.findall(found.predicate)[:4]]
    verbs = [word for word in spoken if word in _RELATIONS | _CHANGES]
    return bool(verbs) and bool(_WORD.findall(found.predicate)[1:])


def _is_settled(found: Predication) -> bool:
    """Return True if the predicate is a state, a duty or a change rather than a passing act."""
    return (
        _is_relation(found)
        or found.verb in _COPULA
        or found.verb in _NAMED
        or _STATE.search(found.predicate) is not None
    )


def _is_hard(found: Predication) -> bool:
    """Return True if the predicate holds a number, a time, a name or something verbatim."""
    rest = found.predicate
    return (
        has_number(rest)
        or has_time(rest)
        or holds_verbatim(rest)
        or any(is_name(word) for word in _WORD.findall(rest))
        or _FIXED.search(f"{found.subject} {rest}") is not None
    )


def _written(found: Predication) -> str:
    """Return the clause, with the name that begins it capitalised."""
    if found.kind != "name":
        return found.text
    subject = found.subject[:1].upper() + found.subject[1:]
    return f"{found.lead}{subject} {found.predicate}"
