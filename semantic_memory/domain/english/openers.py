"""Take off what stands around a sentence: greetings, exclamations, remarks, names, "lol"."""

from __future__ import annotations

import re

from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.patterns import regex

_ONESELF = r"(?:I|my|we)\b"
_SENTENCE = r"I \w+ \w"

# "Oh well, ...", "Thanks Tom! ...", "good morning it's ..."
_ADDRESSED = rf"(?: {phrases('openers.addressed')})?(?: [a-z]{{2,}}(?=[,!.]))?"
_GOES_ON = any_of(
    _ONESELF,
    r"just\b",
    r"(?:everyday|usually|sometimes|when)\sI\b",
    r"(?:it|that|this)(?:'?s| is) ",
)
_INTERJECTION = (
    rf"(?:{phrases('openers.interjections')}|speaking of [\w ]+){_ADDRESSED}"
    rf"(?:\s*[,!.:;-]+\s*|\s+(?={_GOES_ON}))"
)
_BEFORE_I = rf"{phrases('openers.before_i')} (?=I\b)"
_KNOWN_TO_YOU = rf"{phrases('openers.known_to_you')},? (?={_ONESELF})"
_DOUBT = rf"{phrases('openers.doubts')}[,.]+ (?={_ONESELF})"
_LABEL = rf"\w[\w ]{{2,28}}: +(?={_ONESELF})"
# "I agree, ...", "I feel that totally. ..."
_DEGREE = r"(?: totally| completely)?"
_AGREEMENT = rf"I {phrases('openers.agreement')}{_DEGREE}(?:[,.!;]+ | (?={_SENTENCE}))"
# "That sounds so fun! ...", "That's why I ..."
_REMARK_ON = rf"(?!{phrases('openers.no_remark')})(?:{phrases('openers.remark_degrees')} )?\w+"
_REMARK_ENDS = rf"(?:\s*[,!.;]+\s*(?={_ONESELF})|\s+(?={_SENTENCE}|I'|my\b))"
_REMARK = rf"{phrases('openers.remark_verbs')} {_REMARK_ON}{_REMARK_ENDS}"
_THAT_IS = r"(?:so |and )?(?:that|this|it|which)(?:'?s| is| must be| could be)"
_REASON = rf"{_THAT_IS} (?:why|how|because) (?={_ONESELF})"
# "I'm doing fine, thanks. ..."
_THANKS = r"(?:(?:thanks|thank you)[,.!]*\s*)?"
_WELL = rf"I(?:'m| am) (?:\w+ )?{phrases('openers.well_being')}"
_WELL_ENDS = rf"(?:\s*[,.!;]+\s*{_THANKS}(?=\S)|\s+(?=(?:just|I|my|how)\b))"

_OPENER = regex(
    any_of(
        _INTERJECTION,
        rf"{phrases('openers.exclamations')} ",
        r"(?:although|though) (?=I\b[^,]*$)",
        _BEFORE_I,
        _LABEL,
        _DOUBT,
        _KNOWN_TO_YOU,
        _AGREEMENT,
        _REMARK,
        r"(?:that|this)(?:'?s|\ss|\sis|\swas)?(?:\s\w+){1,3},\s(?=(?:I|my|we|in my|on my)\b)",
        _REASON,
        _WELL + _WELL_ENDS,
        rf"{phrases('openers.links')} ",
    ),
    re.IGNORECASE,
)

# "Tom, I ..."
_NO_NAME = any_of(phrases("openers.no_vocatives"), r"\w+day,", r"\w+ly,")
# "Lena, my daughter, ..." tells who Lena is
_VOCATIVE = regex(
    rf"^(?!{_NO_NAME})[A-Z][a-z]+(?:,(?!\s[Mm]y\s(?:[\w-]+\s){{0,2}}[\w-]+,)|!)\s+"
    r"(?=I\b|[Mm]y\b|[Ww]e\b)"
)

_PICTURE = r"[\s,]*[^\w\s.,!?;:'\"()%$€£+#/&*-]+"
_SMILEY = r"\s*[:;]['-]?[()DPp/]+|\s*<3"
_TAIL = regex(rf"(?:[,;]?\s*\b{phrases('openers.tails')}|{_PICTURE}|{_SMILEY})[\s.!?]*$", re.I)


def without_opener(sentence: str) -> str:
    """Return a sentence without what leads to it; never empty.

    >>> without_opener("Oh well, thank you! That's great, I have a dog")
    'I have a dog'
    """
    while (opener := _OPENER.match(sentence)) and opener.end() < len(sentence):
        sentence = sentence[opener.end() :].lstrip(" ,.!")
    return sentence


def without_vocative(sentence: str) -> str:
    """Return a sentence without the name of the person it is said to.

    >>> without_vocative("Tom, I play the cello"), without_vocative("Yesterday, I played")
    ('I play the cello', 'Yesterday, I played')
    """
    return _VOCATIVE.sub("", sentence)


def without_tail(sentence: str) -> str:
    """Return a sentence without what is put behind it.

    >>> without_tail("I play the cello, too! :)")
    'I play the cello, too!'
    >>> without_tail("I play the cello, too!")
    'I play the cello'
    """
    return _TAIL.sub("", sentence)
