"""Recognise talk that says nothing of its speaker: "I'm glad to hear that", "let me know"."""

from __future__ import annotations

import re
from functools import lru_cache

from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.patterns import regex

_I_AM = rf"i(?:'m|\sam|\swas)\s(?:{phrases('smalltalk.degrees')}\s)*"
_STATE = rf"{phrases('smalltalk.states')}\s*(?:$|,|now$|here$|\stoday$)"
_PREPOSITION = r"(?:(?:of|for|about|by|with)\s)?"
_FEELING = rf"{phrases('smalltalk.feelings')}\s{_PREPOSITION}{phrases('smalltalk.about_the_other')}"

_I = rf"i(?:'ll|'d|'ve|\s{phrases('smalltalk.between')})*\s"
_TO_THE_OTHER = rf"(?:\s*$|\s*,|\s{phrases('smalltalk.to_the_other')}\b)"
_THEM = r"(?:you|u|that(?!\s(?:I|we|my|our)\s)|it(?!\swhen\b)|this|them)\b"
_WISHED = rf"(?:\s*$|\s*,|\s{phrases('smalltalk.wished')}\b)"

_SHORT = (
    rf"(?:i|we)(?:'m|'re|'ll|'ve)?\s(?:\w+ly\s|also\s|just\s)?{phrases('smalltalk.short_answers')}"
)
_SHORT_ANSWER = rf"{_SHORT}(?:\s{phrases('smalltalk.behind_short_answer')})?$"
_I_WOULD = r"i(?:'d|\swould|\sam|'m)\s(?:\w+\s)?(?:love|like|appreciate|open\sto)\s"
_SOME_ADVICE = rf"(?:(?:some|any|your|more|a\sfew)\s)?(?:\w+\s)?{phrases('smalltalk.advice')}\b"
_HAD_A_DAY = (
    rf"i(?:'ve|\shave)?\s(?:had|have)\s(?:(?:such|quite)\s)?a\s(?:\w+ly\s|very\s)?"
    rf"{phrases('smalltalk.judged_times')}(?:\s(?:today|yesterday|at\swork))?$"
)
_SOMEWHAT = r"(?:(?:sort|kind)\sof\s|\w+ly\s|just\s)?"
_CANNOT = rf"(?:i|we)\s{_SOMEWHAT}(?:can't|cannot|can\snot|could\snot|couldn't)\s"
_IMPOSSIBLE = rf"(?:{phrases('smalltalk.cannot')}|wait$|believe(?!\s(?:I|my|we)\b))\b"
_REQUEST = rf"{phrases('smalltalk.requests')}\s(?:\w+\s)?(?:me|us|my|our)\b"

_SMALL_TALK = regex(
    any_of(
        _I_AM + any_of(_STATE, _FEELING, phrases("smalltalk.doing_nothing")),
        rf"{_I}{phrases('smalltalk.conversing')}{_TO_THE_OTHER}",
        rf"{_I}{phrases('smalltalk.with_pronoun')}\s{_THEM}",
        rf"{_I}{phrases('smalltalk.wishing')}{_WISHED}",
        _SHORT_ANSWER,
        _HAD_A_DAY,
        _I_WOULD + _SOME_ADVICE,
        _CANNOT + _IMPOSSIBLE,
        _REQUEST,
        rf"{phrases('smalltalk.openings')}\b",
    ),
    re.IGNORECASE,
)
_VERY = rf"(?:{phrases('smalltalk.degrees', 'smalltalk.further_degrees')}\s)*"
_AT_THE_MOMENT = rf"(?:\W*\b{phrases('smalltalk.moments')})*\W*$"
_THING = rf"(?:(?:my|our|the)\s)(?:\w+\s)?{phrases('smalltalk.passing_things')}"
_IS = r"(?:'s|\sis|\sare|\swas|\swere|\skeeps|\shas been|\shave been|'ve been)"
_MOMENT = regex(
    any_of(
        rf"{_THING}{_IS}\s{_VERY}{phrases('smalltalk.passing_states')}",
        rf"{_THING}(?:\shas|\shave|'s)?\s(?:(?:just|finally|\w+ly)\s)?"
        rf"{phrases('smalltalk.passing_events')}",
        r"(?:i|we)\s(?:(?:really|so|just|desperately)\s)?"
        r"(?:need|want|could (?:really )?(?:use|do with)|deserve)"
        rf"\s(?:(?:a|an|some|more|my|another)\s)?(?:\w+\s)?{phrases('smalltalk.passing_needs')}",
        r"(?:i|we)(?:'ve)?\s(?:(?:really|just)\s)?"
        r"(?:have to|need to|should|must|gotta|got to|better)"
        rf"\s(?:(?:really|just)\s)?{phrases('smalltalk.passing_acts')}",
        rf"(?:i|we)(?:'ve| have)?\s(?:just\s|finally\s|already\s)?{phrases('smalltalk.just_done')}",
        r"(?:i|we)(?:'ve| have)?\s(?:finally\s|just\s)?(?:got|had|have)\s"
        r"(?:some\s|a bit of\s|a lot of\s|lots of\s)(?:snow|rain|sun|sunshine|frost|fog|wind|hail)",
        rf"i(?:'m|\sam)\s{_VERY}{phrases('smalltalk.states')}",
        rf"i(?:'m|\sam)\s{phrases('smalltalk.passing_acts')}",
    )
    + _AT_THE_MOMENT,
    re.IGNORECASE,
)
_FEELS_NOW = regex(r",? (?:and )?(?:I )?feel(?:ing)? [\w ]{2,20}$", re.IGNORECASE)
_CHATTER = regex(rf"\b{phrases('smalltalk.chatter')}\b|^that reminds me", re.IGNORECASE)
_YOU = regex(rf"\b(?:{phrases('smalltalk.you')}|you'\w+)\b", re.IGNORECASE)
_FILLER = regex(rf"(?:{phrases('smalltalk.fillers')}(?!\w)[\s,.!…:;)–—-]*)+", re.IGNORECASE)
_LONGEST_FILLER = 60  # characters


@lru_cache(maxsize=4_096)
def is_filler(message: str) -> bool:
    """Return whether a message only shows that its speaker has heard, greets or thanks.

    >>> is_filler("Noted."), is_filler("Ok, thanks a lot!"), is_filler("Ok, at nine then")
    (True, True, False)
    """
    said = message.strip()
    return len(said) <= _LONGEST_FILLER and _FILLER.fullmatch(said.replace("’", "'")) is not None


def is_small_talk(statement: str) -> bool:
    """Return whether a statement begins like talk to the other rather than about the speaker.

    >>> is_small_talk("I'm so glad to hear that"), is_small_talk("I'm so tired of rain")
    (True, False)
    >>> is_small_talk("I can't wait to see it"), is_small_talk("I can't eat garlic")
    (True, False)
    """
    return _SMALL_TALK.match(statement) is not None or is_of_the_moment(statement)


def is_of_the_moment(statement: str) -> bool:
    """Return whether a statement is only of the moment in which it is said.

    >>> is_of_the_moment("my coffee is cold again"), is_of_the_moment("my office is in Bonn")
    (True, False)
    >>> is_of_the_moment("I need a nap"), is_of_the_moment("I need a wheelchair")
    (True, False)
    """
    return _MOMENT.match(_FEELS_NOW.sub("", statement)) is not None


def has_chatter(statement: str) -> bool:
    """Return whether thanks, good wishes and the like stand anywhere in a statement.

    >>> has_chatter("I have to go, talk soon"), has_chatter("I talk a lot")
    (True, False)
    """
    return _CHATTER.search(statement) is not None


def addresses_the_other(statement: str) -> bool:
    """Return whether a statement has a word for the person that it is said to.

    >>> addresses_the_other("I like your dog"), addresses_the_other("I like my dog")
    (True, False)
    """
    return _YOU.search(statement) is not None
