"""Cut a sentence into statements that stand alone: one subject, one verb, as it was said.

"I have a dog named Rex and work at Siemens"
    ->  "I have a dog named Rex", "I work at Siemens"

The statements become facts, so what is cut off must be whole: a subject that two verbs share is
repeated, and a subordinate clause stays with its main clause. `clauses.parts` cuts at every
mark and conjunction instead, because claims are read from parts of a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.predications import is_name
from semantic_memory.domain.english.subjects import Head, has_finite_verb, head, with_subject
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import MODALS, WORD, Form, can_be_noun, forms
from semantic_memory.domain.patterns import regex

_COMPLEMENTS = words("clauses.complements")
_CLAUSE_VERBS = words("clauses.clause_verbs")
_OPENS = words("clauses.opens")
_DROPPED = words("clauses.dropped_subject")
_NOW = ("now", "still", "currently")

_OWN = r"(?:I|I'(?:m|ve|ll|d)|[Ww]e|[Ww]e'(?:re|ve|ll|d))"
_THING = rf"(?:[Mm]y|[Oo]ur)(?:\s[\w'-]+){{1,3}}\s{phrases('clauses.of_things')}"
_PRONOUN = rf"{phrases('clauses.pronoun_subjects')}(?:'|\s{phrases('clauses.of_pronouns')}\b)"
_ONE = r"(?:[Hh]e|[Ss]he)\s[a-z]{2,}(?:s|ed)\b|(?:[Hh]is|[Hh]er)\sname\sis\b"
_BEGINS = rf"(?=(?:{_OWN}|{_THING})\b|{_PRONOUN}|{_ONE})"
_CONJUNCTION = rf"{phrases('clauses.joining')}\s+(?:{phrases('clauses.after_joining')}\s+)?"
_COMMA = rf",\s*(?:{phrases('clauses.after_comma')}\s+)?"
_NEW_CLAUSE = regex(
    any_of(r";\s*", r"\s[-–—]+\s", rf",?\s+{_CONJUNCTION}{_BEGINS}", rf"{_COMMA}{_BEGINS}")
)

# "... at home I love my dog": a new statement without a mark or a word that would join it.
_OWN_RUN_ON = rf"I {phrases('clauses.running_on')}\s+\S+\s+\S|I'(?:m|ve)\s+\S+\s+\S"
_MY = rf"my {phrases('clauses.running_on_things')}\s(?:[\w']+\s){{0,2}}(?:is|was|are|has)\b"
_RUN_ON = regex(rf"(?P<last>[\w'-]+)(?P<gap>\s+)(?={_OWN_RUN_ON}|{_MY})")
_NOUN_PHRASE = regex(
    rf"\b{phrases('clauses.before_described')}\s(?:[\w'-]+\s){{0,2}}[\w'-]+$", re.IGNORECASE
)

_SUBORDINATE = regex(rf"{phrases('clauses.subordinating', 'clauses.adverbial')}\b", re.IGNORECASE)
_SUBORDINATING = regex(rf"{phrases('clauses.subordinating')}\b", re.IGNORECASE)
# "I shook it, and if it didn't break" goes on behind the comma.
_OPEN_CONDITION = regex(
    rf"(?:,|\b(?:and|but|because|that))\s+(?:and\s|but\s)?{phrases('clauses.conditions')}\s[^,]*$",
    re.IGNORECASE,
)
# "... when my friends and I met": the clause behind "when" has no verb yet.
_OPEN_SUBJECT = regex(
    rf"(?:,|\b{phrases('clauses.subordinating')})\s(?:my|our|the)\s"
    r"(?P<subject>(?:[\w'-]+\s){0,2}[\w'-]+)$",
    re.IGNORECASE,
)
_MAIN_CLAUSE = regex(r",\s*(?:I|we|my)\b")
_LATER_CONDITION = regex(r"\b(?:when|while|if)\b")
_OWN_SUBJECT = regex(r"\b(?:I|we)\b")
_ANY_SUBJECT = regex(r"\b(?:I|we|it|he|she|they|you|there)\b|'s\b", re.IGNORECASE)

_OTHER_ONE = regex(
    rf"(?:[,;]|\b(?:{phrases('clauses.joining', 'clauses.subordinating', 'clauses.links')}))"
    r"\s(?P<who>[A-Z][\w'-]+)$"
)
_SELF = regex(r"I\s")

_LINK = rf"(?P<link>,?\s+(?:{phrases('clauses.links')}|,)\s+|,\s+)"
_ADVERB = rf"(?:(?P<adverb>{phrases('clauses.before_second_verb')})\s+)?"
_SECOND_VERB = regex(rf"{_LINK}{_ADVERB}(?P<verb>[a-z']+)\s+(?P<next>[\w']+)")
_BLOCKS = regex(rf"\b{phrases('clauses.blocks')}\b", re.IGNORECASE)


class Clause(NamedTuple):
    """A statement and what joined it to the one before, in the same sentence."""

    text: str
    link: str


def statements(sentence: str) -> list[Clause]:
    """Return the statements that a sentence joins, each with a subject of its own.

    >>> [statement.text for statement in statements("I paint and my dog is old, I love it")]
    ['I paint', 'my dog is old', 'I love it']
    >>> [statement.text for statement in statements("When I was young, I lived in Oslo")]
    ['When I was young, I lived in Oslo']
    """
    found: list[Clause] = []
    for clause in _independent(with_subject(sentence)):
        found += _shared(clause)
    return found


def ends_in_noun_phrase(text: str) -> bool:
    """Return whether a text ends with a noun that a clause may describe.

    >>> ends_in_noun_phrase("it is the only place"), ends_in_noun_phrase("it is far")
    (True, False)
    """
    return _NOUN_PHRASE.search(text) is not None


def _independent(sentence: str) -> Iterator[Clause]:
    start = 0
    link = ""
    sentence = _RUN_ON.sub(_separated, sentence)
    for found in _NEW_CLAUSE.finditer(sentence):
        left = sentence[start : found.start()]
        if (
            _with_another(left, found)
            or not _stands(left)
            or sentence.count('"', 0, found.start()) % 2
        ):
            continue
        yield Clause(left.strip(" ,"), link)
        link, start = found.group(), found.end()
    yield Clause(sentence[start:].strip(" ,"), link)


def _with_another(left: str, found: re.Match[str]) -> bool:
    """Return whether "and I" goes with a name right behind a joint: "so Selin and I drive"."""
    if found[0].split() != ["and"] or not _SELF.match(found.string, found.end()):
        return False
    other = _OTHER_ONE.search(left)
    return other is not None and is_name(other["who"])


def _separated(found: re.Match[str]) -> str:
    """Put a mark between the end of a statement and the beginning of the next, if it lacks one."""
    before = found.string[: found.end("last")]
    joined = (
        found["last"].lower() in _OPENS
        or len(before.split()) < 2
        or not _stands(before)
        or _SUBORDINATE.match(before)
        or ends_in_noun_phrase(before)
    )
    return found["last"] + (found["gap"] if joined else "; ")


def _stands(left: str) -> bool:
    """Return whether the text on the left of a boundary is a clause by itself."""
    if len(left.split()) < 2 or _OPEN_CONDITION.search(left):
        return False
    if (open_subject := _OPEN_SUBJECT.search(left)) and not _has_verb(open_subject["subject"]):
        return False
    if not _SUBORDINATE.match(left):
        return _ANY_SUBJECT.search(left) is not None or has_finite_verb(left.split())
    # "When I was young, I ..." is one statement, "In May I moved, I ..." are two
    if _MAIN_CLAUSE.search(left):
        return True
    is_whole = not _SUBORDINATING.match(left) and not _LATER_CONDITION.search(left)
    return is_whole and _OWN_SUBJECT.search(left) is not None


def _has_verb(subject: str) -> bool:
    return any(forms(word) - {Form.ING} for word in subject.split()[1:])


def _shared(clause: Clause) -> list[Clause]:
    """Split two statements of one subject: "I have a dog and work at Siemens"."""
    own = head(clause.text)
    if own is None or own.form is None:
        return [clause]
    for found in _SECOND_VERB.finditer(clause.text, own.end):
        left = clause.text[: found.start()]
        between = clause.text[own.end : found.start()]
        if _continues(own, between, found) and left.count('"') % 2 == 0:
            auxiliary = "" if own.negated else own.auxiliary
            rest = clause.text[found.start("adverb") if found["adverb"] else found.start("verb") :]
            second = Clause(f"{own.subject}{auxiliary} {rest}", found["link"])
            return [Clause(left.rstrip(" ,"), clause.link), *_shared(second)]
    return [clause]


def _continues(own: Head, between: str, found: re.Match[str]) -> bool:
    """Return whether a verb behind "and" shares the subject: no noun and no infinitive."""
    verb, following, link = found["verb"], found["next"].lower(), found["link"].strip()
    if (
        _takes_clause(own, found.string)
        or _BLOCKS.search(between)
        or (own.negated and "but" not in link)
    ):
        return False
    if verb in MODALS or verb in ("be", "been"):
        return False
    if own.form not in forms(verb):
        return _is_now(own, found)
    if link == "," and own.form is Form.BASE and verb in _DROPPED:
        return not own.negated
    if following not in _COMPLEMENTS and not following.endswith("ing"):
        return False
    if link == "," and (
        own.form is not Form.PAST or following not in ("a", "an", "the", "my", "our")
    ):
        return False
    spoken = WORD.findall(between)
    match own.form:
        case Form.BASE:
            open_to_verbs = (
                (own.auxiliary and not own.negated) or " to " in f"{between} " or not spoken
            )
            return not open_to_verbs and verb != spoken[0]
        case Form.ING:
            return not any(Form.ING in forms(word) for word in spoken)
        case Form.PAST:
            passive = spoken[:1] and Form.PAST in forms(spoken[0]) and _is_be(own, found.string)
            return not passive and following != "by"
        case _:
            return False


def _is_now(own: Head, found: re.Match[str]) -> bool:
    """Return whether a verb in the present follows one in the past: "grew up in Ghent but live"."""
    sure = "but" in found["link"] or found["adverb"] in _NOW
    verb = found["verb"]
    return own.form is Form.PAST and sure and Form.BASE in forms(verb) and not can_be_noun(verb)


def _takes_clause(own: Head, text: str) -> bool:
    """Return True if a clause follows the verb: "I think I'll stay and start again"."""
    return text[: own.end].split()[-1].lower() in _CLAUSE_VERBS


def _is_be(own: Head, text: str) -> bool:
    return text[: own.end].split()[-1].lower() in ("was", "were", "got", "been")
