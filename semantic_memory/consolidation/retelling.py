"""Tell the change that a message made to a fact, where nothing was extracted of it.

"Make that 1200", where the budget is 900, is told as "The budget is 1200"; what can't be put into
the fact is told in its author's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from semantic_memory.consolidation.renewal import renewal
from semantic_memory.consolidation.subjects import kin_of
from semantic_memory.consolidation.telling import is_cued, makes_claim, told
from semantic_memory.domain.english.commands import is_command
from semantic_memory.domain.english.fragments import is_clause
from semantic_memory.domain.english.mending import mended
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.persons import third_person, with_listener
from semantic_memory.domain.english.pronouns import dangles
from semantic_memory.domain.english.relative_dates import absolute_dates
from semantic_memory.domain.english.renewals import corrects, is_small, opens_correction
from semantic_memory.domain.english.sentences import sentences
from semantic_memory.domain.english.spelling import prepared
from semantic_memory.domain.english.statements import statements
from semantic_memory.domain.english.tables import words
from semantic_memory.domain.english.values import revalued
from semantic_memory.domain.patterns import regex

SURE = 0.8
"""Confidence in a change that is told so."""
ENDED = "ended"
"""Reason of a statement of which nothing more is known than that it no longer holds."""
_ENDS = frozenset({ENDED, "over", "settled", "disproved", "turned", "abandoned", "resumed"})
"""Reasons for which a fact no longer holds and has no other value."""
_MOST_TOLD = 30
_SHORT = 8  # words of a sentence that the next one may complete: "got a place at last! in Turku"
_LEAST_WORDS = 4
_LISTENER = "the assistant"
_PART = regex(r"(?<=[.!?])\s+")
_OF_IT = regex(rf"^[\w']+ {one_of(words('commands.pointing'))}\b", re.IGNORECASE)
_ASIDE = regex(r"\s*\([^)]*(?:\)|$)")


def retold(
    older: str,
    message: str,
    reason: str,
    drawn: Sequence[str] | None,
    *,
    name: str,
    said: datetime,
) -> str | None:
    """Return the change that a message made to an older statement; None if it says too little.

    `reason` is that of the renewal, and `name` is what the author is called. `drawn` are the facts
    of the message, which aren't told again; None leaves out what would be in the author's words.
    """
    spoken = [one.text for one in sentences(prepared(message))]
    telling = _renewing_in(older, spoken)
    if reason.partition(":")[0] not in _ENDS:
        parts = (part for one in spoken for part in _PART.split(one))
        corrected = next(filter(None, (mended(one, [older]) for one in parts)), None)
        whole = ". ".join(telling)  # its days are those of a week as well as dates
        anew = corrected
        if not anew and _people_in(whole) <= _people_in(older):  # not "my sister pays 700"
            anew = revalued(older, whole) or revalued(older, absolute_dates(whole, said))
        if anew:
            return anew
    return None if drawn is None else _in_own_words(telling, drawn, name, said)


def _people_in(text: str) -> frozenset[str]:
    return frozenset().union(*map(kin_of, told(text).sentences))


def touched(
    message: str, known: Iterable[str], drawn: Sequence[str], *, name: str, said: datetime
) -> list[str]:
    """Return the sentences of a message that tell a change of what known facts are about.

    A sentence from which a fact was drawn tells no more.
    """
    if not told(message).renews:
        return []
    about = frozenset(one for text in known for one in _content(text))
    kept = (
        one.text
        for one in sentences(prepared(message))
        if _tells_change(one.text)
        and not is_command(one.text)  # "make that 500" needs the fact that it changes
        and _content(one.text) & about
        and not any(_says_much_of(fact, one.text) for fact in drawn)
    )
    found = (_in_own_words([one], drawn, name, said) for one in kept)
    return [one for one in found if one]


def _tells_change(sentence: str) -> bool:
    parts = told(sentence).clauses
    return (
        len(sentence.split()) >= _LEAST_WORDS
        and any(is_cued(one.plain) for one in parts)
        and all(makes_claim(one.plain) and not is_small(one.plain) for one in parts)
    )


def _says_much_of(fact: str, sentence: str) -> bool:
    """Return whether most of what a fact says is in a sentence."""
    content = _content(fact)
    return 2 * len(content & _content(sentence)) > len(content)


def renewing(older: str, texts: Sequence[str]) -> int | None:
    """Return the place of the text that renews an older statement, or else shares most with it."""
    for place, text in enumerate(texts):
        if renewal(older, text):
            return place
    topic = set(told(older).topics)
    shared = [
        (len(topic.intersection(told(text).topics)), -place) for place, text in enumerate(texts)
    ]
    most, place = max(shared, default=(0, 0))
    return -place if most else None


def _renewing_in(older: str, spoken: Sequence[str]) -> Sequence[str]:
    """Return the sentences that renew an older statement by themselves, or else all of them."""
    kept = [place for place, one in enumerate(spoken) if renewal(older, one)]
    if not kept:
        return spoken
    last = kept[-1]
    if len(spoken[last].split()) < _SHORT:
        last += 1
    return spoken[kept[0] : last + 1]


def _in_own_words(
    spoken: Sequence[str], drawn: Iterable[str], name: str, said: datetime
) -> str | None:
    """Return what was said in the third person; None if it leans on what was said before."""
    stated = [_ASIDE.sub("", one) for one in spoken if not _is_order(one)]
    whole = ". ".join(stated)
    content = _content(whole)
    if not content or len(whole.split()) > _MOST_TOLD or dangles(whole) or _takes_back(whole):
        return None
    if any(content <= _content(one) for one in drawn):
        return None
    return " ".join(_told_of(one, name, said) for one in stated)


def _told_of(sentence: str, name: str, said: datetime) -> str:
    clauses = statements(sentence)
    joined = (
        f"{one.link or ', '}{one.text}" if place else one.text for place, one in enumerate(clauses)
    )
    text = absolute_dates(with_listener("".join(joined) or sentence, _LISTENER), said)
    whole = third_person(text, name).rstrip(" ,;:.!") + "."
    return whole if is_clause(text) else f"{name}: {whole}"


def _is_order(sentence: str) -> bool:
    """Return whether a sentence is to the assistant, and not "cut my coffee to one a day"."""
    if not is_command(sentence):
        return False
    return _OF_IT.match(sentence) is not None or not told(sentence).renews


def _takes_back(text: str) -> bool:
    """Return whether a text corrects what was said before, without which it says nothing."""
    clauses = [one.plain for one in told(text).clauses]
    return any(corrects(one) or opens_correction(one) for one in clauses)


def _content(text: str) -> frozenset[str]:
    parts = (one.content | one.numbers | one.dates for one in told(text).sentences)
    return frozenset().union(*parts)
