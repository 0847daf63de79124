"""Recognise a user's request to forget: a subject, a message, or everything.

"Please forget what I told you about the divorce"  ->  the subject "the divorce"
"Off the record: I'm looking for another job"      ->  this message
"Don't save that"                                  ->  this message and the one before
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.patterns import regex

Scope = Literal["subject", "this", "previous", "everything"]


_NEGATION = phrases("forgetting.negations")
_KNOWING = phrases("forgetting.knowing")
_ABOUT = rf"(?:{phrases('forgetting.abouts')}|on(?! the\b))"
_PLACE = phrases("forgetting.places")
_PERSONAL = rf"(?:[\w-]+ |[\w-]+'s )?{phrases('forgetting.personal')}"
_MESSAGES = phrases("forgetting.messages")
_GONE = phrases("forgetting.participles")
_EVERY = phrases("forgetting.everything")
_UNCLEAR = phrases("forgetting.unclear")
_OPENING = rf"(?:{phrases('forgetting.openings')}[,\s]+){{0,5}}"
_START = rf"^{_OPENING}"
_VERB = (
    rf"(?:{phrases('forgetting.verbs')}|(?<=mind ){phrases('forgetting.gerunds')}"
    rf"|(?<=if you ){phrases('forgetting.pasts')})"
)
_WHOLE = rf"(?:all of )?{phrases('forgetting.wholes')}(?: {_KNOWING}){{0,3}}"
_YOU = "(?:you|u)"
_KEEPING = phrases("forgetting.kept_on")
_NOT = (
    rf"(?:(?<!\bi )\b{_NEGATION} (?:have )?{phrases('forgetting.keeping')}"
    rf"|\b(?:stop|quit|i don't (?:want|consent to|agree to|approve of) {_YOU}) {_KEEPING})"
)
_KEPT = phrases("forgetting.kept")
_TAKING = phrases("forgetting.taking")
_NOT_BE = (
    "(?:(?:should|must|can|may|need|is|are)(?: not|n't)|(?:doesn't|don't) need)(?: to)?(?: be)?"
)
_WANT = "(?:i want|i'd like|i would like|i'd love|i need|i prefer|can i have|may i have)"
_PUTTING = "(?:add|put|include|enter|commit|write|save|file)"
_AT = rf"(?:^|[.,;:!?-] |\b(?:and|but) ){_OPENING}"
_EMPTYING = rf"(?:clear|wipe|reset|purge|empty|clean|cleanse|scrub) {_PLACE}"
_END = rf"(?=$|\s*[,.:;!]|\s+(?:anywhere|(?:in|to|into) {_PLACE}))"
_TURNS = phrases("forgetting.turns")
_TOLD = rf"(?:said|mentioned|brought up|shared|told {_YOU}|say|mention|tell {_YOU})"
_PRETEND = "(?:pretend|act as if|act like|as if) i(?:'d)? (?:never|didn't|hadn't)"
_SILENCE = "(?:never want to hear about|(?:never|don't) (?:ever )?(?:bring up|mention))"
_OWN = "(?:my|our|their|his|her|the)"
_ALL = "(?:everything|all|anything)"
_RECORD = phrases("forgetting.entries")
_NO = "(?:don't|dont|do not|no longer)"
_TO_BE = "(?:must|should|has to|needs to|is to|ought to) be"
_UNTOLD = rf"(?:{_GONE}|said|told|unsaid)"
_SOMETHING = r"(?:\w+thing )?(?:about )?"
_NAME = r"(?-i:[A-Z][a-z])[\w-]*"

# Subjects; their lengths are bounded, so that long messages take no time of their square.
_SUBJECT = "(?P<subject>[^.;!?]{1,300})"
_SHORT = "(?P<subject>[^.;!?]{1,120}?)"
_BRIEF = "(?P<subject>[^.;!?,]{1,80}?)"
_MINE = rf"(?P<subject>{_OWN} {_PERSONAL})"
_SOMEONES = rf"(?P<subject>(?:my|our|their|his|her|me|us) [^.;!?]{{1,300}}|{_NAME}.{{0,300}})"
_STATEMENT = r"(?P<subject>(?:i(?:'\w+)?|my|we)\b [^.;!?]{1,300})"
_BEING = "(?P<subject>i(?:'m|'ve| am| have| had| was| used to) [^.;!?,]{1,80})"
_POLITE = r"(?=$|\W*(?:pls|please|thanks|again)?\W*$)"
_THANKS = r"(?=$|[\s,.!]*(?:pls|please|thanks|that you|you have)|[,.!])"


def _any(*sources: str) -> re.Pattern[str]:
    return regex(any_of(*sources), re.IGNORECASE)


_EVERYTHING = _any(
    rf"{_AT}{_VERB} {_WHOLE} (?:{_ABOUT} )?(?:me|myself)\b",
    rf"{_AT}{_VERB} {_EVERY}{_THANKS}",
    rf"{_AT}{_EMPTYING} (?:of|about|regarding) (?:me|myself)\b",
    rf"\b{_WANT} {_EVERY} (?:to be )?{_GONE}",
    rf"\b{phrases('forgetting.anew')}",
    rf"{_AT}forget (?:simply |absolutely |just )?everything\W*$",
    rf"{_START}{_VERB} everything i(?:'ve| have)?(?: ever)? (?:told|said to) {_YOU}\W*$",
)
_ASIDE = _any(
    phrases("forgetting.asides"),
    rf"\bi (?:don't|dont|do not|wouldn't) want {_MESSAGES} (?:to be )?{_KEPT}",
    rf"\b{_MESSAGES} {_NOT_BE} {_KEPT}",
    rf"{_AT}(?:make|be) sure {_MESSAGES} (?:{_NOT_BE}|doesn't get|never gets) {_KEPT}",
    rf"{_AT}(?:{_TAKING}|{_VERB}) {_MESSAGES} (?:out of|off|from) {_PLACE}",
    rf"\b{_NEGATION} {_PUTTING} {_MESSAGES} (?:in|to|into|on) {_PLACE}",
    rf"{_AT}forget {_MESSAGES} (?:ever )?(?:happened|took place){_END}",
)
_MESSAGE = _any(
    rf"{_NOT} {_MESSAGES}(?: (?:down|please|pls))*{_END}",
    rf"(?<!\bi )\b{_NEGATION} write (?:this|that|it) down{_END}",
    rf"{_START}{_VERB} (?!(?:this|that)\b){_MESSAGES}{_END}",
    rf"{_START}forget (?:all|any) of (?:it|that|this){_END}",
    rf"{_START}forget (?:that )?i (?:ever )?(?:said|wrote|mentioned|shared|brought up) (?:any of )?"
    rf"(?:that|this|it){_END}",
)
_UNCLEAR_ORDER = _any(rf"(?:\b{_VERB}|{_NOT}) {_UNCLEAR}(?=$|[\s,.:;!])")
_SLIP = _any(rf"\b{phrases('forgetting.slips')}")
_SUBJECTS = [
    regex(source, re.IGNORECASE)
    for source in (
        # what was told about a subject is to be forgotten
        rf"{_AT}{_VERB} (?:about )?{_WHOLE} {_ABOUT} {_SUBJECT}",
        rf"{_AT}{_VERB} {_RECORD} {_ABOUT} {_SOMEONES}",
        rf"{_AT}{_EMPTYING} (?:of|about|regarding) {_SUBJECT}",
        rf"{_NOT} {_RECORD} {_ABOUT} {_SUBJECT}",
        rf"{_NOT} {_WHOLE} {_ABOUT} {_SUBJECT}",
        rf"{_START}{_VERB} (?:what|that|everything|all) {_KNOWING} (?!(?:on|in|at) ){_SUBJECT}",
        rf"{_START}forget (?:that )?i(?:'ve)? (?:ever )?{_TOLD} {_SOMETHING}{_SUBJECT}",
        rf"{_START}{_PRETEND} (?:ever )?{_TOLD} {_SOMETHING}{_SUBJECT}",
        rf"{_AT}(?:treat|take|consider) {_WHOLE} {_ABOUT} {_SHORT} as (?:never |un)?{_UNTOLD}",
        # a fact of the user's is
        rf"{_AT}{_VERB} {_RECORD} (?:that|where|to|in which) {_STATEMENT}",
        rf"{_START}forget (?:that )?{_BEING}{_POLITE}",
        rf"{_AT}{_VERB} (?:the )?name (?P<subject>{_NAME})",
        rf"{_START}{_VERB} (?P<subject>the (?:name|address|number|birthday) of [^.;!?]{{1,300}})",
        rf"{_START}{_VERB} (?:out )?{_MINE}{_POLITE}",
        rf"[,;] {_OPENING}{_VERB} {_MINE}\W*$",
        rf"{_START}forget (?:about|abt) (?=(?:my|our) (?!{_TURNS}\b)){_BRIEF}{_POLITE}",
        rf"{_NOT} {_MINE}{_POLITE}",
        # something is to leave the memory, or not to enter it
        rf"{_AT}(?:{_VERB}|{_TAKING}) {_BRIEF} (?:from|out of|off) {_PLACE}",
        rf"{_AT}(?:{_VERB}|{_TAKING}) {_MINE} (?:from|out of|off) there",
        rf"\b{_NEGATION} {_PUTTING} {_BRIEF} (?:in|to|into|on) {_PLACE}",
        rf"\bnothing {_ABOUT} {_SHORT} (?:stays|remains|is kept) in {_PLACE}",
        rf"{_AT}stop (?:keeping|remembering) (?:that (?=i\b))?{_SUBJECT}",
        rf"\bi {_NO} want {_YOU} to (?:know|remember|store|keep) {_SUBJECT}",
        # what is to happen to it, in the passive
        rf"{_AT}{_BRIEF} {_TO_BE} {_GONE} (?:from|out of|in) {_PLACE}",
        rf"\b{_ALL} (?:{_KNOWING} )?{_ABOUT} {_SHORT} (?:has|must|should|needs)(?: to)? be {_GONE}",
        rf"\b{_WANT} {_MINE} (?:to be )?{_GONE}\b",
        rf"\b{_WANT} {_WHOLE} {_ABOUT} {_SHORT} (?:to be )?{_GONE}\b",
        rf"\bnothing {_ABOUT} {_SHORT} (?:is|gets|should be|is to be|may be|must be) {_KEPT}\b",
        rf"\b{_WHOLE} {_ABOUT} {_SHORT} {_NOT_BE} {_KEPT}",
        rf"\bi {_NO} want {_WHOLE} {_ABOUT} {_SHORT} (?:to be )?{_KEPT}",
        rf"\bi {_NO} want {_MINE} (?:to be )?{_KEPT}",
        rf"\bshould(?: not|n't) have {_SHORT} (?:stored|saved)",
        rf"\b{_SILENCE} {_SHORT} again[,.;] {_OPENING}{_VERB} it",
    )
]
_FORGET = (
    rf"(?:{_VERB} (?:it|that|all of it|everything|i (?:ever )?{_TOLD} (?:it|that|anything))"
    rf"|{_NOT} (?:it|that|any of it))(?=$|[,.!]| please| pls| from {_PLACE})"
)
# One of these is in every request: most messages have none, and are looked at no further.
_CUE = regex(
    rf"\b(?:{phrases('forgetting.verbs')}|{phrases('forgetting.gerunds')}"
    rf"|{phrases('forgetting.pasts')}|{_GONE}|{_KEPT}|{_KEEPING}|{phrases('forgetting.asides')}"
    rf"|{phrases('forgetting.anew')}|{_NEGATION}|{_PLACE}|{_PRETEND}|treat|consider"
    r"|out of there)\b",
    re.IGNORECASE,
)
_TOPIC = regex(
    rf"(?:\b{_WHOLE} (?:{_ABOUT}|with)|^(?:about|regarding|concerning)|^(?={_OWN} {_PERSONAL}\b)"
    rf"|\bi(?:'ve)? (?:just |once )?{_TOLD} (?:\w+thing |stuff )?(?:about |of )?) ?{_SHORT}"
    rf"\s*[,;:.?!\u2013-]+ {_OPENING}{_FORGET}",
    re.IGNORECASE,
)
_IT_TOO = _any(r"\b(?:unsee|remove|wipe|delete) it\b")
_GOING_ON = regex(r"(?:\s+\w+){0,3}\s*(?::|, but)\s*\w+")
_EARLIER = _any(
    r"\s+(?:earlier|yesterday|before|last \w+|any ?more|the other day|just now|from the record"
    r"|is confidential|is private)$"
)
_REPORTED = _any(r",\s*(?:\w+ ){0,3}(?:says|said|told me|keeps saying)\W*$")
_NAMED = regex(rf"(?<=\w )(?:{_NAME}|{_OWN} {_PERSONAL}\b)", re.IGNORECASE)
_PREDICATE = _any(r"\b(?:doesn't|does not|don't|wants?|is|has)\b.*")
_ASKS = regex(
    r"^(?:how|why|what does|what is|did|do(?! not\b| you mind| me\b)|does|is|are|should|was|were"
    r"|when|where|who)\b.*",
    re.I,
)
_ARTIFACT = regex(rf"\b{phrases('forgetting.artifacts')}\b", re.IGNORECASE)
_A_FEW = 2  # words behind a saying, like "please" or "thank you"
_BACK = regex(r"^(?:him|her|them|it|that|this|he|she)\b", re.IGNORECASE)
_TAIL = regex(r"[,\s]*(?:\b(?:pls|please|thanks|thank you|it was .*|again)|,.*)?[\s.!,]*$", re.I)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to forget."""

    scope: Scope
    """`this` message, it and the `previous` one, everything, or a subject."""
    subject: str = ""


def asked_to_forget(text: str) -> Asked | None:
    """Return what a message asks to forget; None if it doesn't.

    >>> asked_to_forget("Please forget what I said about Anna.")
    Asked(scope='subject', subject='Anna')
    >>> asked_to_forget("I always forget my keys.")
    """
    said = " ".join(text.replace("’", "'").split())
    if not _CUE.search(said) or _is_of_others(said):
        return None
    if _EVERYTHING.search(said):
        return Asked("everything")
    return _message(said) or _told(said)


def _is_of_others(said: str) -> bool:
    """Return True for quotes, reports and questions."""
    quoted = said.startswith(('"', "“"))
    return quoted or bool(_ASKS.match(said) or _REPORTED.search(said))


def _message(said: str) -> Asked | None:
    """Return a request that concerns a message."""
    if found := _ASIDE.search(said):
        return Asked("this" if len(said[found.end() :].split()) > _A_FEW else "previous")
    if found := _MESSAGE.search(said):
        return Asked("this" if _goes_on(said[found.end() :]) else "previous")
    unclear = _UNCLEAR_ORDER.search(said) and _SLIP.search(said)
    return Asked("previous") if unclear and not _TOPIC.search(said) else None


def _told(said: str) -> Asked | None:
    """Return a request that concerns what was told, by its subject if it names one."""
    for pattern in (_TOPIC, *_SUBJECTS):
        if found := pattern.search(said):
            if _ARTIFACT.search(found["subject"]):
                return None  # a part of a text or of a file
            return Asked("subject", _subject(found["subject"], said))
    return Asked("previous") if _SLIP.search(said) and _IT_TOO.search(said) else None


def _goes_on(rest: str) -> bool:
    """Return True if a message says something behind the request."""
    return bool(_GOING_ON.match(rest))


def _subject(found: str, said: str) -> str:
    """Return a subject without what is behind it; of a pronoun, the sentence before."""
    subject = _EARLIER.sub("", _TAIL.sub("", found)).strip()
    if _BACK.match(subject):
        before = re.split(r"[.!?]", said)[0]
        named: list[str] = _NAMED.findall(before)
        if named:
            return named[-1]
        return _PREDICATE.sub("", before).strip()
    return subject
