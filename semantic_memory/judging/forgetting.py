"""Recognise a user's request to forget: a subject, a message, or everything.

"Please forget what I told you about the divorce"  ->  the subject "the divorce"
"Off the record: I'm looking for another job"      ->  this message
"Don't save that"                                  ->  this message and the one before

The judge of sentences decides. A request is a proposal: what it takes too much for one, a user
declines. Give it what a message's author says of themselves (`own_speech`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal

from semantic_memory.domain.evidence import pieces
from semantic_memory.domain.forget_requests import Asked, RequestScope
from semantic_memory.domain.language import is_english
from semantic_memory.judging.hints import CLEAR, hint, may_hold
from semantic_memory.judging.packaged import Read, packaged
from semantic_memory.language.own_speech import own_words

Answer = Literal["yes", "no"]

_LONGEST = 300
"""Characters of a message that is read as a whole; of a longer one, its sentences are."""
_BEFORE = 120
"""Characters of what was said before that are read with a text."""
_MOST_READ = 64
"""Sentences of a message that are read: a request is short."""
_SURE, _LIKELY, _VERY_SURE = 0.7, 0.5, 0.9
"""Probabilities from which an English sentence asks for something; from which one in another
language does, of which the encoder has fewer words, so that a clear hint is needed too; and from
which such a one asks to forget everything."""
_APART = 6
"""Characters between two parts of one subject."""
_RUNS = (2, 3)
"""Neighbouring sentences that may ask for something together."""
_STOPS = frozenset(".!?;:\n")
_SCOPES: dict[str, RequestScope] = {
    "forget_subject": "subject",
    "forget_this": "this",
    "forget_previous": "previous",
    "forget_everything": "everything",
}
_ANSWERS: dict[str, tuple[Answer, float]] = {"confirm": ("yes", 0.95), "decline": ("no", 0.7)}
"""Answers and the probability from which they are clear: a yes may erase, in English only, as the
encoder takes "Nein, behalte es" for one."""


def asked_to_forget(text: str) -> Asked | None:
    """Return what a stretch of own speech asks to forget; None if it doesn't.

    >>> asked_to_forget("Please forget what I said about Anna.")
    Asked(scope='subject', subject='Anna')
    >>> asked_to_forget("I always forget my keys.")
    >>> asked_to_forget("Forget what I said about the date, it's on Friday now.")
    """
    text = text.strip()
    said = pieces(text)
    is_short = len(text) <= _LONGEST and (_may_ask(text) or any(map(_may_ask, said)))
    whole = _asked(text) if is_short else None
    return whole or next(filter(None, _requests(said)), None)


def requests_in(sentences: Sequence[str]) -> set[int]:
    """Return the places of the sentences of a message that ask to forget something.

    Where none does by itself, neighbours may together: "My ex, Tom. I want him gone."
    """
    own = [own_words(one) for one in sentences]
    found = {place for place, one in enumerate(_requests(own)) if one is not None}
    if found or len("".join(own)) > _LONGEST:
        return found
    for length in _RUNS:
        for start in range(len(own) - length, -1, -1):
            joined = "".join(own[start : start + length]).strip()
            if _may_ask(joined) and _asked(joined) is not None:
                return {*range(start, start + length)}
    return set()


def answered(text: str, before: str) -> Answer | None:
    """Return whether a stretch of own speech clearly confirms or declines a request to forget.

    `before` is what was said right before it.

    >>> asked = "Shall I forget what you told me about Anna?"
    >>> answered("Yes, please delete that.", asked), answered("No, keep it.", asked)
    ('yes', 'no')
    """
    if not text or len(text) > _LONGEST or not is_english(text) or not _may_ask(text):
        return None
    read = packaged("sentences").read(before[-_BEFORE:], text)
    acts = read.heads["act"]
    return next((answer for act, (answer, sure) in _ANSWERS.items() if acts[act] >= sure), None)


def _may_ask(text: str) -> bool:
    return may_hold(text, "request")


def _requests(said: Sequence[str]) -> Iterator[Asked | None]:
    """Yield what each sentence asks."""
    read = 0
    for text in said:
        if read == _MOST_READ or not _may_ask(text):
            yield None
            continue
        read += 1
        yield _asked(text.strip()[:_LONGEST])


def _asked(text: str) -> Asked | None:
    read = packaged("sentences").read("", text)
    acts = {act: read.heads["act"][act] for act in _SCOPES}
    scope = _SCOPES[max(acts, key=lambda act: acts[act])]
    if is_english(text):
        asks = sum(acts.values()) >= _SURE
    else:
        least = _VERY_SURE if scope == "everything" else _LIKELY
        asks = sum(acts.values()) >= least and hint(text, "request") >= CLEAR
    if not asks:
        return None
    subject = _subject(read, text) if scope == "subject" else ""
    return Asked(scope, subject) if subject or scope != "subject" else Asked("this")


def _subject(read: Read, text: str) -> str:
    """Return the words that name the subject; none if none are told apart."""
    marks = [mark for mark in read.marks if mark.name == "subject"]
    if not marks:
        return ""
    start, end, _, _ = max(marks, key=lambda mark: mark.probability)
    for mark in marks:  # "Anna and her move": two names of one subject
        if _are_one(text[end : mark.start]):
            end = mark.end
    for mark in reversed(marks):
        if _are_one(text[mark.end : start]):
            start = mark.start
    while start and _is_of_word(text[start - 1]):
        start -= 1
    while end < len(text) and _is_of_word(text[end]):
        end += 1
    return next(iter(pieces(text[start:end])), "").strip().rstrip(".!?;")


def _are_one(between: str) -> bool:
    return 0 < len(between) <= _APART and _STOPS.isdisjoint(between)


def _is_of_word(character: str) -> bool:
    return character.isalnum() or unicodedata.combining(character) > 0
