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

Scope = Literal["subject", "this", "previous", "everything"]


_OPENING = rf"(?:{phrases('forgetting.openings')}[,\s]+)*"
_VERB = rf"(?:{phrases('forgetting.verbs')})"
_ABOUT = phrases("forgetting.abouts")
_PLACE = phrases("forgetting.places")
_WHOLE = rf"(?:all of )?{phrases('forgetting.wholes')}(?: {phrases('forgetting.knowing')})*"
_NOT = rf"(?<!\bi )\b{phrases('forgetting.negations')} (?:have )?{phrases('forgetting.keeping')}(?:ing)?"
_END = rf"(?=$|\s*[,.:;!]|\s+(?:anywhere|(?:in|to|into) {_PLACE}))"
_SUBJECT = r"(?P<subject>[^.;!?]+)"
_START = rf"^{_OPENING}"
_ME = r"(?:me|myself)\b"
_OWN = r"(?:my|our|their|his|her|the)"

_EVERYTHING = re.compile(
    any_of(
        rf"{_START}{_VERB} {_WHOLE} (?:{_ABOUT} )?{_ME}",
        rf"\b{_VERB} {_WHOLE} {_ABOUT} {_ME}",
        rf"\b{_VERB} {phrases('forgetting.everything')}(?=$|[\s,.!]*(?:pls|please|thanks|that you|you have)|[,.!])",
        rf"\b{phrases('forgetting.anew')}",
        rf"{_START}{_VERB} everything i(?:'ve| have)?(?: ever)? (?:told|said to) (?:you|u)\W*$",
    ),
    re.IGNORECASE,
)
_ASIDE = re.compile(phrases("forgetting.asides"), re.IGNORECASE)
_MESSAGE = re.compile(
    any_of(
        rf"{_NOT} {phrases('forgetting.messages')}(?: (?:down|please|pls))*{_END}",
        rf"(?<!\bi )\b{phrases('forgetting.negations')} write (?:this|that|it) down{_END}",
        rf"{_START}{_VERB} (?!(?:this|that)\b){phrases('forgetting.messages')}{_END}",
    ),
    re.IGNORECASE,
)
_UNCLEAR = re.compile(
    rf"(?:\b{_VERB}|{_NOT}) {phrases('forgetting.unclear')}(?=$|[\s,.:;!])", re.IGNORECASE
)
_SLIP = re.compile(rf"\b{phrases('forgetting.slips')}", re.IGNORECASE)
_SUBJECTS = [
    re.compile(source, re.IGNORECASE)
    for source in (
        rf"{_START}{_VERB} {_WHOLE} {_ABOUT} {_SUBJECT}",
        rf"(?:[.,;:!]| and) {_OPENING}{_VERB} {_WHOLE} {_ABOUT} {_SUBJECT}",
        rf"{_START}forget (?:that )?i(?:'ve)? (?:ever )?(?:said|mentioned|told (?:you|u)) "
        rf"(?:(?:anything|something) )?(?:about )?{_SUBJECT}",
        rf"{_START}{_VERB} (?:what|that|everything|all) {phrases('forgetting.knowing')} {_SUBJECT}",
        rf"{_NOT} {_WHOLE} {_ABOUT} {_SUBJECT}",
        rf"\b(?:{phrases('forgetting.negations')}) (?:keep|remember)ing {_SUBJECT}",
        rf"\bi (?:don't|dont|do not) want (?:you|u) to (?:know|remember|store|keep) {_SUBJECT}",
        rf"{_START}{_VERB} (?P<subject>[^.;!?,]+?) (?:from|out of|off) {_PLACE}",
        rf"{_START}{_VERB} (?:out )?(?P<subject>{_OWN} {phrases('forgetting.personal')})(?=$|\W*(?:pls|please|thanks|again)?\W*$)",
        rf"[,;] {_OPENING}{_VERB} (?P<subject>{_OWN} {phrases('forgetting.personal')})\W*$",
        rf"{_START}{_VERB} (?P<subject>the (?:name|address|number|birthday|details) of [^.;!?]+)",
        rf"{_START}{_VERB} (?:what|whatever) (?:you|u)(?:'ve| have)? (?:have |saved |stored )?{_ABOUT} {_SUBJECT}",
        rf"\b(?:everything|all|anything) (?:{phrases('forgetting.knowing')} )?{_ABOUT} (?P<subject>[^.;!?]+?)"
        rf" (?:has to be|must be|should be|needs to be) {phrases('forgetting.participles')}\b",
        rf"\bi want (?:everything|all|anything) {_ABOUT} (?P<subject>[^.;!?]+?)"
        rf" (?:to be )?{phrases('forgetting.participles')}\b",
        rf"\bnothing {_ABOUT} (?P<subject>[^.;!?]+?) (?:stays|remains|is kept) in {_PLACE}",
        r"\bshould(?: not|n't) have (?P<subject>[^.;!?]+?) (?:stored|saved)",
        rf"\bnever want to hear about (?P<subject>[^.;!?,]+?) again, (?:please )?{_VERB} it",
    )
]
_ASKS = re.compile(
    r"^(?:how|why|what does|what is|did|do|does|is|are|should|was|were|when|where|who)\b.*", re.I
)
_ARTIFACT = re.compile(rf"\b{phrases('forgetting.artifacts')}\b", re.IGNORECASE)
_A_FEW = 2  # words behind a saying, like "please" or "thank you"
_BACK = re.compile(r"^(?:him|her|them|it|that|this|he|she)\b", re.IGNORECASE)
_TAIL = re.compile(
    r"[,\s]*(?:\b(?:pls|please|thanks|thank you|it was .*|again)|,.*)?[\s.!,]*$", re.I
)


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
    if _UNCLEAR.search(said) and _SLIP.search(said):
        return Asked("previous")
    for pattern in _SUBJECTS:
        if found := pattern.search(said):
            if _ARTIFACT.search(found["subject"]):
                return None  # a part of a text or of a file
            return Asked("subject", _subject(found["subject"], said))
    if _SLIP.search(said) and re.search(r"\b(?:unsee|remove|wipe|delete) it\b", said, re.I):
        return Asked("previous")
    return None


def _goes_on(rest: str) -> bool:
    """Return True if a message says something behind the request."""
    return bool(re.match(r"(?:\s+\w+){0,3}\s*(?::|, but)\s*\w+", rest))


def _subject(found: str, said: str) -> str:
    """Return a subject without what is behind it; of a pronoun, the sentence before."""
    subject = _TAIL.sub("", found).strip()
    if _BACK.match(subject):
        before = re.split(r"[.!?]", said)[0]
        return re.sub(r"\b(?:doesn't|does not|don't|wants?|is|has)\b.*", "", before).strip()
    return subject
