"""Read what a user says of the assistant's work: directives, corrections, confirmations."""

from __future__ import annotations

import re

from ingest.extract.orders import standing_order
from ingest.extract.wishes import wish
from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.persons import third_person
from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.english.words import Form, forms
from semantic_memory.domain.patterns import regex

_LEAD = rf"^(?:{phrases('feedback.before_order')}[ ,]+|and |but )*"
_ORDER = rf"{phrases('feedback.orders')} (?!{phrases('feedback.no_orders')})\w+ .+"
_FROM_NOW_ON = r"(?:(?<=from now on )|(?<=from now on, )|(?<=next time )|(?<=next time, ))\w+.+"
_DIRECTIVE = regex(rf"{_LEAD}(?P<order>{_ORDER}|{_FROM_NOW_ON})$", re.IGNORECASE)
_I_WANT = r"^I(?:'d| would)? (?:want|need|like|prefer)(?: for)? you to"
_WISH = regex(rf"{_I_WANT} (?P<order>{phrases('feedback.wished')}\b.+)$", re.IGNORECASE)

_THIS = r"(?:that|it|this)"
_NOT_WELL = rf"(?!['\w]* {phrases('feedback.no_correction')}\b)"
_NO = rf"no[,.]? (?:{_THIS}{_NOT_WELL}|you|the|i (?:said|meant|asked))\b"
_ACTUALLY = r"actually,? (?:it|that|the|not|i (?:said|meant))\b"
_IS = r"(?:'s| is| was| isn't| is not|'s not) (?:\w+ )?"
_WRONG = rf"(?:that|this|it|your \w+){_IS}{phrases('feedback.wrong')}"
_OTHER_THAN = r"not \w+[,;] (?:but )?\w+$|(?:nope|no),? not\b"
_OTHER_CORRECTION = rf"{phrases('feedback.corrections')}\b"
_CORRECTION = regex(
    f"^{any_of(_NO, _ACTUALLY, _OTHER_THAN, _WRONG, _OTHER_CORRECTION)}", re.IGNORECASE
)
_EXCLAIMED = regex(rf"^(?:{phrases('feedback.exclaimed')}\b[ ,.!-]*)+", re.IGNORECASE)
_PRAISE = rf"(?:{phrases('feedback.praise')}\b[,.! -]*)*"
_RIGHT = rf"{_THIS}(?:'s| is| was) (?:(?!not\b)\w+ )?{phrases('feedback.right')}\b"
_HELPED = rf"{_THIS} (?:\w+ly )?(?:(?:did it|helped)(?=\W*$)|{phrases('feedback.helped')})\b"
_OTHER_CONFIRMATION = rf"exactly what i|{phrases('feedback.confirmations')}\b"
_CONFIRMATION = regex(f"^{_PRAISE}{any_of(_RIGHT, _HELPED, _OTHER_CONFIRMATION)}", re.IGNORECASE)
CONFIDED = "{name} asks the assistant to keep this to itself: {told}"
"""Form of the fact, with what was said before."""
_CONFIDED = regex(rf"{_LEAD}{phrases('feedback.confided')}(?:,? please)?[\W]*$", re.IGNORECASE)
_I_WANT_YOU = regex(rf"{_I_WANT} ", re.IGNORECASE)
_ASKED_FOR = regex(
    r"^(?:[^,]{3,40},\s)?I (?:already |just )?(?:asked|told)(?: you)?"
    r" (?P<for>(?:for|to|not to) [^,]+)$",
    re.IGNORECASE,
)
_VERB = regex(
    r"(?:(?:always|never|do not|don't)\s+)?(?:(?:just|ever|simply|only)\s+)?([\w']+)", re.IGNORECASE
)
_NEGATED = regex(r"(?:don't|do not)\s+(.+)", re.IGNORECASE)


def directive(sentence: str, name: str) -> str | None:
    """Return a standing order to the assistant as a fact; None if the sentence is none.

    >>> directive("Please never use em dashes", "The user")
    'The user asks the assistant to never use em dashes.'
    >>> directive("No emojis in titles", "Maya"), directive("Make it shorter", "Maya")
    ('Maya asks the assistant to use no emojis in titles.', None)
    """
    found = _DIRECTIVE.match(sentence) or _WISH.match(sentence)
    if found is None:
        if asked := _ASKED_FOR.search(sentence):
            return f"{name} asked the assistant {_seen_from_outside(asked['for'], name)}."
        if lasting := wish(sentence, name):
            return lasting
        wanted = _I_WANT_YOU.match(sentence)
        standing = standing_order(sentence[wanted.end() :] if wanted else sentence)
        return f"{name} asks the assistant {_to(standing, name)}." if standing else None
    order = found["order"].rstrip(" .!")
    verb = _VERB.match(order)
    if verb is None or Form.BASE not in forms(verb[1]):
        return None  # "Never heard of it" is no order
    return f"{name} asks the assistant {_to(order, name)}."


def is_confided(sentence: str) -> bool:
    """Return True if a sentence asks that what was just said be kept secret.

    >>> is_confided("please don't tell anyone"), is_confided("don't tell anyone about the party")
    (True, False)
    """
    return _CONFIDED.match(sentence.strip()) is not None


def verdict(sentence: str, name: str, answer: str) -> str | None:
    """Return the user's verdict on the assistant's `answer` as a fact; None if it is none.

    Quotes the beginning of the answer: without it, "that's wrong" says nothing.
    """
    sentence = _EXCLAIMED.sub("", sentence.strip())
    kind = "corrected" if _CORRECTION.match(sentence) else "confirmed"
    if kind == "confirmed" and not _CONFIRMATION.match(sentence):
        return None
    quoted = sentence.rstrip(" .!").replace('"', "'")
    return f'{name} {kind} the assistant\'s answer "{_beginning(answer)}": "{quoted}".'


def _beginning(text: str) -> str:
    plain = " ".join(text.split()).replace('"', "'")
    if len(plain) <= 100:
        return plain.rstrip(".")
    return plain[:100].rsplit(" ", 1)[0] + " ..."


def _to(order: str, name: str) -> str:
    """Return an order as it stands behind "asks the assistant".

    >>> _to("Run ruff before you hand me code", "The user")
    'to run ruff before it hands the user code'
    """
    negated = _NEGATED.match(order)
    wanted = f"not to {negated[1]}" if negated else f"to {order[:1].lower()}{order[1:]}"
    return _seen_from_outside(wanted, name)


def _seen_from_outside(text: str, name: str) -> str:
    inner = name[:1].lower() + name[1:] if name.startswith("The ") else name
    text = re.sub(r"\bmy\b", f"{inner}'s", text, flags=re.IGNORECASE)
    text = third_person(text, name)
    text = text[:1].lower() + text[1:]
    text = re.sub(r"\byour\b", "its", text, flags=re.IGNORECASE)
    # From the assistant's side "you" is "I", which the third person makes agree.
    told = third_person(re.sub(r"\b(?:you|u)\b", "I", text, flags=re.IGNORECASE), "it")
    return told[:1].lower() + told[1:]
