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
_ABOUT = phrases("forgetting.abouts")
_PLACE = phrases("forgetting.places")
_PERSONAL = rf"(?:[\w-]+ |[\w-]+'s )?{phrases('forgetting.personal')}"
_MESSAGES = phrases("forgetting.messages")
_GONE = phrases("forgetting.participles")
_EVERY = phrases("forgetting.everything")
_UNCLEAR = phrases("forgetting.unclear")
_OPENING = rf"(?:{phrases('forgetting.openings')}[,\s]+)*"
_START = rf"^{_OPENING}"
_VERB = (
    rf"(?:{phrases('forgetting.verbs')}|(?<=mind ){phrases('forgetting.gerunds')}"
    rf"|(?<=if you ){phrases('forgetting.pasts')})"
)
_WHOLE = rf"(?:all of )?{phrases('forgetting.wholes')}(?: {_KNOWING})*"
_NOT = rf"(?<!\bi )\b{_NEGATION} (?:have )?{phrases('forgetting.keeping')}(?:ing)?"
_END = rf"(?=$|\s*[,.:;!]|\s+(?:anywhere|(?:in|to|into) {_PLACE}))"
_YOU = "(?:you|u)"
_TURNS = phrases("forgetting.turns")
_TOLD = rf"(?:said|mentioned|told {_YOU}|say|mention|tell {_YOU})"
_PRETEND = "(?:pretend|act as if|act like|as if) i(?:'d)? (?:never|didn't|hadn't)"
_SILENCE = "(?:never want to hear about|(?:never|don't) (?:ever )?(?:bring up|mention))"
_OWN = "(?:my|our|their|his|her|the)"
_ALL = "(?:everything|all|anything)"
_SUBJECT = "(?P<subject>[^.;!?]+)"
_SHORT = "(?P<subject>[^.;!?]+?)"
_POLITE = r"(?=$|\W*(?:pls|please|thanks|again)?\W*$)"
_THANKS = r"(?=$|[\s,.!]*(?:pls|please|thanks|that you|you have)|[,.!])"


def _any(*sources: str) -> re.Pattern[str]:
    return regex(any_of(*sources), re.IGNORECASE)


_EVERYTHING = _any(
    rf"\b{_VERB} {_WHOLE} (?:{_ABOUT} )?(?:me|myself)\b",
    rf"\b{_VERB} {_EVERY}{_THANKS}",
    rf"\b{phrases('forgetting.anew')}",
    rf"{_START}{_VERB} everything i(?:'ve| have)?(?: ever)? (?:told|said to) {_YOU}\W*$",
)
_ASIDE = _any(phrases("forgetting.asides"))
_MESSAGE = _any(
    rf"{_NOT} {_MESSAGES}(?: (?:down|please|pls))*{_END}",
    rf"(?<!\bi )\b{_NEGATION} write (?:this|that|it) down{_END}",
    rf"{_START}{_VERB} (?!(?:this|that)\b){_MESSAGES}{_END}",
)
_UNCLEAR_ORDER = _any(rf"(?:\b{_VERB}|{_NOT}) {_UNCLEAR}(?=$|[\s,.:;!])")
_SLIP = _any(rf"\b{phrases('forgetting.slips')}")
_SUBJECTS = [
    regex(source, re.IGNORECASE)
    for source in (
        rf"{_START}{_VERB} {_WHOLE} {_ABOUT} {_SUBJECT}",
        rf"(?:[.,;:!]| and) {_OPENING}{_VERB} {_WHOLE} {_ABOUT} {_SUBJECT}",
        rf"{_START}forget (?:that )?i(?:'ve)? (?:ever )?{_TOLD} (?:\w+thing )?(?:about )?"
        + _SUBJECT,
        rf"{_START}{_VERB} (?:what|that|everything|all) {_KNOWING} {_SUBJECT}",
        rf"{_NOT} {_WHOLE} {_ABOUT} {_SUBJECT}",
        rf"\b{_NEGATION} (?:keep|remember)ing {_SUBJECT}",
        rf"\bi (?:don't|dont|do not) want {_YOU} to (?:know|remember|store|keep) {_SUBJECT}",
        rf"{_START}{_VERB} (?P<subject>[^.;!?,]+?) (?:from|out of|off) {_PLACE}",
        rf"{_START}{_VERB} (?:out )?(?P<subject>{_OWN} {_PERSONAL}){_POLITE}",
        rf"[,;] {_OPENING}{_VERB} (?P<subject>{_OWN} {_PERSONAL})\W*$",
        rf"{_START}{_VERB} (?P<subject>the (?:name|address|number|birthday) of [^.;!?]+)",
        rf"\b{_ALL} (?:{_KNOWING} )?{_ABOUT} {_SHORT} (?:has|must|should|needs)(?: to)? be {_GONE}",
        rf"\bi want (?P<subject>{_OWN} {_PERSONAL}) (?:to be )?{_GONE}\b",
        rf"{_START}{_PRETEND} (?:ever )?{_TOLD} (?:\w+thing )?(?:about )?{_SUBJECT}",
        rf"{_START}forget (?:about|abt) (?P<subject>(?:my|our) (?!{_TURNS}\b)[^.;!?,]+?){_POLITE}",
        rf"\bi want {_ALL} {_ABOUT} {_SHORT} (?:to be )?{_GONE}\b",
        rf"\bnothing {_ABOUT} {_SHORT} (?:stays|remains|is kept) in {_PLACE}",
        rf"\bshould(?: not|n't) have {_SHORT} (?:stored|saved)",
        rf"\b{_SILENCE} {_SHORT} again[,.;] {_OPENING}{_VERB} it",
    )
]
_TOPIC = regex(
    rf"(?:\b(?:{_WHOLE}|that (?:thing|stuff|part)) {_ABOUT}|^about) {_SHORT}\s*[,:\u2013-]+"
    rf" {_OPENING}{_VERB} (?:it|that)(?=$|[,.!]| please| pls| from {_PLACE})",
    re.IGNORECASE,
)
_IT_TOO = _any(r"\b(?:unsee|remove|wipe|delete) it\b")
_GOING_ON = regex(r"(?:\s+\w+){0,3}\s*(?::|, but)\s*\w+")
_PREDICATE = _any(r"\b(?:doesn't|does not|don't|wants?|is|has)\b.*")
_ASKS = regex(
    r"^(?:how|why|what does|what is|did|do(?! not\b| you mind)|does|is|are|should|was|were|when"
    r"|where|who)\b.*",
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
    if said.startswith(('"', "“")) or _ASKS.match(said):
        return None
    if _EVERYTHING.search(said):
        return Asked("everything")
    if found := _ASIDE.search(said):
        return Asked("this" if len(said[found.end() :].split()) > _A_FEW else "previous")
    if found := _MESSAGE.search(said):
        return Asked("this" if _goes_on(said[found.end() :]) else "previous")
    unclear = _UNCLEAR_ORDER.search(said) and _SLIP.search(said)
    if unclear and not _TOPIC.search(said):
        return Asked("previous")
    for pattern in (_TOPIC, *_SUBJECTS):
        if found := pattern.search(said):
            if _ARTIFACT.search(found["subject"]):
                return None  # a part of a text or of a file
            return Asked("subject", _subject(found["subject"], said))
    if _SLIP.search(said) and _IT_TOO.search(said):
        return Asked("previous")
    return None


def _goes_on(rest: str) -> bool:
    """Return True if a message says something behind the request."""
    return bool(_GOING_ON.match(rest))


def _subject(found: str, said: str) -> str:
    """Return a subject without what is behind it; of a pronoun, the sentence before."""
    subject = _TAIL.sub("", found).strip()
    if _BACK.match(subject):
        before = re.split(r"[.!?]", said)[0]
        return _PREDICATE.sub("", before).strip()
    return subject
