"""Find statements about named people and definite things: "Tariq owns billing".

What someone tells an assistant of others and of their work is worth keeping if it is as hard as
"The gateway listens on 9443": a name, a number, a date, a cause, a change or a duty. "The sky is
blue today" says nothing that is theirs.
"""

from __future__ import annotations

import re

from ingest.extract.worth import is_hedged
from semantic_memory.domain.english.calendar import ANY_MONTH, WEEKDAY
from semantic_memory.domain.english.commands import is_command
from semantic_memory.domain.english.notation import one_of, whole
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
from semantic_memory.domain.english.words import Form, can_be_noun, forms, is_quality, is_verb
from semantic_memory.domain.patterns import regex

_RELATIONS = words("reports.relations")
_CHANGES = words("reports.changes")
_NAMED = words("reports.of_names")
_COPULA = words("predications.copula")
_STANDING_VERBS = words("predications.standing_verbs")
_CAUSE = regex(whole(phrases("reports.causes")), re.IGNORECASE)
_STATE = regex(whole(phrases("reports.states")), re.IGNORECASE)
_NOW_ONLY = regex(
    rf"^(?:is|are|was|were) (?:\w+ )?(?P<state>[a-z-]+)(?: {phrases('smalltalk.moments')})+$", re.I
)
_EVALUATION = regex(rf"^{phrases('reports.evaluations')}", re.IGNORECASE)
_FIXED = regex(whole(phrases("reports.of_work")), re.IGNORECASE)
_WORLD = regex(rf"^{phrases('reports.of_the_world')}\b", re.IGNORECASE)
_ORDERED = regex(
    rf"^(?:the|my|our) {one_of(words('predications.ordinals'))} "
    rf"(?!{phrases('reports.with_ordinal')}\b)",
    re.IGNORECASE,
)
# "if the invoice is over 5k it needs two signatures"
_BOUND_CASE = regex(
    r"^(?:if|when(?:ever)?|once|unless|as soon as) (?:the|an?|our|my|any) [^,]{3,60},? "
    r"(?:it|they|he|she) (?P<verb>[a-z']+) .+",
    re.IGNORECASE,
)
_CASE = regex(r"^(?:if|when|whenever|once|unless|as soon as|every time) ", re.IGNORECASE)
_MAIN = regex(r" (?=(?:the|our|my|nobody|everyone|everybody|(?-i:[A-Z])[a-z]+) )", re.IGNORECASE)
# "anything legal goes through Aurora"
_ALL_GO = regex(
    r"^(?:anything|everything|all|any) [\w' -]{2,40}? "
    r"(?:goes|go|is|are|(?:has to|have to|should|must|needs to) (?:go|be)) "
    r"(?:through|to|via|past|by|with|handled by|done by) [\w' -]{2,40}$",
    re.IGNORECASE,
)
# "the one who signs the cheques is our treasurer, Ilse Brandt"
_ONE_WHO = regex(
    r"^the (?:one|person|guy|woman|man|lady) who (?P<does>[a-z]+s\b.{2,60}?) is "
    r"(?P<who>(?:(?:my|our|the) [\w -]{2,40}, )?(?-i:[A-Z])[\w' -]+)$",
    re.IGNORECASE,
)
# "talk to Wiebke about anything to do with licences"
_ASK = regex(
    r"^(?:talk to|speak to|go to|write to|ask|ping|contact|call|email|message|see) "
    r"(?P<who>(?!me\b|us\b|him\b|her\b|them\b)(?:(?:my|our|the) )?[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?) "
    r"(?:about|for|regarding|on|with) (?P<what>(?:any|all|every)\w* .{2,60}"
    r"|(?:[\w-]+ )?(?:questions|issues|problems|requests|approvals|access)\b.{0,40})$",
    re.IGNORECASE,
)
# "for anything about payroll ask hannelore"
_FOR_ASK = regex(
    r"^for (?P<what>(?:any|all|every)\w* .{2,60}?),? (?:please )?"
    r"(?:ask|talk to|speak to|see|go to|contact|ping|call|email|message) "
    r"(?P<who>(?!(?:me|us|him|her|them)\b)(?:(?:my|our|the) )?[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?)$",
    re.IGNORECASE,
)
_TOLD_THAT = regex(
    r"\b(?P<told>told (?:me|us|my \w+|(?-i:[A-Z])\w+)"
    r"|mentioned|wrote|announced|said|texted(?: me)?)"
    r" (?=(?:he|she|they)\b)",
    re.IGNORECASE,
)
_THERE_IS = regex(r"^there's\b", re.IGNORECASE)
_VERBLESS = regex(
    rf"^(?P<subject>(?:(?:the|our|my)\s)?(?:[a-z-]+\s){{0,2}}?[a-z-]+"
    rf"(?:\s(?:in|with|at)\s[\w-]+)?)\s"
    rf"(?P<rest>(?:tomorrow|tonight|next \w+|(?:on )?{WEEKDAY}|on the \d|at \d|"
    rf"\d+-\d+ {ANY_MONTH})\b.{{0,40}})$",
    re.IGNORECASE,
)
_SHORT_IS = regex(
    rf"^(?P<subject>(?:(?:the|our|my) )?(?:[\w-]+ ){{0,2}}[\w-]+)['’]s "
    rf"(?=(?:now |on |at )*(?:the \d|\d+(?![a-z])|(?:{ANY_MONTH}) \d|{WEEKDAY}\b|tomorrow\b))",
    re.IGNORECASE,
)
_WORD = regex(r"[\w'’+#-]*[\w+#]")
_OF_THE_MOMENT = words("reports.of_the_moment")
_NO_THINGS = _OF_THE_MOMENT | words("predications.vague", "reports.no_finds")
_BEHIND_HEAD = regex(rf"\s{phrases('reports.behind_head')}\b")
_POINTS = regex(r"\b(?:me|us|him|her|them|you|it|this|these|those)\b", re.IGNORECASE)
_SAYS_WHERE = words("predications.prepositions", "reports.missing")
_PASSING = words("reports.passing")
_PASSING_ENDS = words("reports.passing_ends")
_PRESENT = words("predications.auxiliaries", "words.modals")
_EXISTS = regex(
    r"^there(?:'s| is| are| 's) (?:an?|no|two|three|four|five|\d+) "
    r"(?P<thing>(?:[\w'-]+ ){0,2}[\w'-]+) "
    r"(?:in|under|at|on|near|behind|next to|for|between|above|every) .{3,80}$",
    re.IGNORECASE,
)
_LONGEST = 40


def reports(clause: str, *, of_names_only: bool) -> list[str]:
    """Return what a clause says of somebody or something, if it is worth keeping.

    With `of_names_only`, as among people who chat, only what is said of a named person counts.

    >>> reports("The API runs on port 8443", of_names_only=False)
    ['The API runs on port 8443']
    >>> reports("solveig can't eat gluten", of_names_only=False)
    ["Solveig can't eat gluten"]
    >>> reports("The sky is blue today", of_names_only=False)
    []
    """
    if len(clause.split()) > _LONGEST or dangles(clause) or is_hedged(clause):
        return []
    clause = _with_comma(_with_verb(clause))
    if not of_names_only and (told := _of_duties(clause)):
        return [told]
    if not of_names_only and (exists := _EXISTS.match(clause)):
        return [] if exists["thing"].split()[-1].lower() in _NO_THINGS else [clause]
    found = predication(clause)
    if found is None or found.subject[:1].isdigit() or is_command(clause):
        return []
    now = _NOW_ONLY.match(found.predicate) if found.kind != "name" else None
    if now and is_quality(now["state"]):
        return []
    judged = _EVALUATION.match(found.predicate) and not has_time(found.predicate)
    if judged or _WORLD.match(found.text):
        return []
    hard = found.kind == "name" and _is_hard(found) and _is_settled(found)
    return [_written(found)] if (hard if of_names_only else _is_told(found)) else []


def _of_duties(clause: str) -> str | None:
    """Return who is asked, or what goes to whom, said in a form of its own; None if it isn't.

    >>> _of_duties("ask Wiebke about anything to do with tax"), _of_duties("ask Tom about the dog")
    ('Wiebke is who to ask about anything to do with tax', None)
    >>> _of_duties("the one who pays the bills is Ilse Brandt")
    'Ilse Brandt pays the bills'
    """
    if asked := _ASK.match(clause) or _FOR_ASK.match(clause):
        who = asked["who"][:1].upper() + asked["who"][1:]
        return f"{who} is who to ask about {asked['what']}"
    if one := _ONE_WHO.match(clause):
        return f"{one['who']}{',' if ',' in one['who'] else ''} {one['does']}"
    if _ALL_GO.match(clause):
        return clause
    case = _BOUND_CASE.match(clause)
    return clause if case and (case["verb"] in _RELATIONS | _PRESENT) else None


def _with_comma(clause: str) -> str:
    """Return a case with a comma before what holds in it: "if it rains, the fair is off".

    >>> _with_comma("if the fog is thick the ferry doesn't run")
    "if the fog is thick, the ferry doesn't run"
    """
    if "," in clause or _CASE.match(clause) is None:
        return clause
    for joint in _MAIN.finditer(clause):
        case, main = clause[: joint.start()], clause[joint.end() :]
        if predication(case.partition(" ")[2]) and predication(main):
            return f"{case}, {main}"
    return clause


def _with_verb(clause: str) -> str:
    """Return a clause with the "is" that its writer left out before a time: "demos tomorrow"."""
    clause = _SHORT_IS.sub(r"\g<subject> is ", clause)  # "kickoff's Monday"
    clause = _TOLD_THAT.sub(r"\g<told> that ", _THERE_IS.sub("there is", clause))
    found = _VERBLESS.match(clause)
    if found is None or any(map(is_verb, found["rest"].split()[1:])) or predication(clause):
        return clause
    head = found["subject"].split()[-1]
    if is_quality(head):
        return clause  # "happy Friday"
    be = "are" if head.endswith("s") and not head.endswith("ss") else "is"
    return f"{found['subject']} {be} {found['rest']}"


def _is_told(found: Predication) -> bool:
    """Return True if the predicate is hard enough for its subject."""
    if _ORDERED.match(found.subject) and not has_time(found.predicate):
        return False  # "the first paragraph" is one of the talk at hand
    if _is_relation(found) or _CAUSE.search(found.predicate):
        return True
    if found.kind == "name":
        return _is_settled(found) or _lasts(found)
    if _is_hard(found):
        timed = has_number(found.predicate) or has_time(found.predicate)
        return timed or _is_settled(found) or _lasts(found)
    return _lasts(found) and _head_noun(found) not in _OF_THE_MOMENT


def _head_noun(found: Predication) -> str:
    """Return the last noun of the subject before a preposition."""
    return _BEHIND_HEAD.split(found.subject)[0].split()[-1].lower()


def _lasts(found: Predication) -> bool:
    """Return True if the predicate is in the present and says more than a verb: "faces north"."""
    spoken = [word.lower() for word in _WORD.findall(found.predicate)]
    if len(spoken) < 2 or found.verb in _PASSING or spoken[-1] in _PASSING_ENDS:
        return False
    if found.verb in ("was", "were"):
        return spoken[1] in _SAYS_WHERE and len(spoken) > 3
    if found.kind == "plain" and (found.verb in _COPULA or found.verb.startswith("make")):
        # "secrets are in the vault", "backend is Go", but not "broccoli is healthy"
        return spoken[1] in _SAYS_WHERE or any(map(str.istitle, found.predicate.split()))
    if found.verb in _COPULA:
        return not spoken[1].endswith("ing") or can_be_noun(spoken[1])
    present = forms(found.verb) & {Form.THIRD, Form.BASE} or found.verb in _PRESENT
    return bool(present) and _POINTS.search(found.predicate) is None


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
