"""Make the spelling of hasty messages regular, and take out what isn't said: code, links, marks."""

from __future__ import annotations

import re

from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.tables import phrases, substitution, words
from semantic_memory.domain.english.words import (
    Form,
    can_be_noun,
    forms,
    is_quality,
    is_word,
    noun,
)
from semantic_memory.domain.patterns import regex

_CODE = regex(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_MARKUP = regex(r"^\s*(?:[-*•>#]+|\d+[.)])\s+", re.MULTILINE)
_SPACE_BEFORE_MARK = regex(r"\s+([.,!?;:])(?=[\s.,!?;:]|$)")
_INVISIBLE = regex(r"[\u200b\u200e\u200f\u2060-\u2064\ufeff\u00ad]")
_UNBROKEN = regex(r"\S{200,}")
_BLANKS = regex(r"\s{8,}")

_LOWER_I = regex(r"(?<![\w.'’-])i(?=$|[\s,!?]|['’](?:m|ve|ll|d)\b)")
_APOSTROPHE_APART = regex(r"\b(I|we)(?:\s+'(m|ve|ll|d|re)|\s(m|ve))\b", re.IGNORECASE)
_NEGATED_APART = regex(r"\b(?:(wo)|(ca)) not\b", re.IGNORECASE)
_parted = substitution("spelling.joined")
_without_slang = substitution("spelling.slang")

_CLAUSE_BEGINS = rf"(?P<before>^|[.!?,;\n]\s*|\b{phrases('spelling.before_i')}\s)"
_BETWEEN = rf"(?P<between>\s(?:{phrases('spelling.between')}\s)?)"
_I_JOINED = regex(rf"{_CLAUSE_BEGINS}(?P<word>ill|id){_BETWEEN}(?P<verb>[a-z]+)\b", re.I)

_CLAUSE_START = r"(?P<before>^|[.!?;\n]\s*|,\s+|\b(?:and|but|so|because)\s)"
_JOINED_BE = regex(
    rf"{_CLAUSE_START}(?P<word>its|were)(?=\s(?:{phrases('spelling.behind_joined')}|\d+)\b)", re.I
)
_WITH_IT = regex(r"\b(w/o|w/)(?=\s)", re.IGNORECASE)
_SHORT_IS = rf"(?=\s{phrases('spelling.behind_short_is')}\b)"
_OWN_IS = regex(rf"\b(?P<own>my|our)\s(?P<thing>[a-z]+?)(?P<s>'?s){_SHORT_IS}", re.I)
_NAME_IS = regex(rf"\b(?P<thing>[A-Za-z]+)'s(?:{_SHORT_IS}|(?=\s(?:on|at|in|due)\s))")
_DONE_BY = regex(
    r"\b(?P<thing>[A-Za-z]+)'s(?P<done> (?:owned|run|led|done|written|maintained|handled|built|paid"
    r"|managed) by\b)"
)
_NAME_GOES_ON = regex(
    r"\b(?P<thing>[A-Za-z]+)'s(?=\s(?P<verb>[a-z]+ing)(?:$|[,.;!?\n]|"
    rf"\s{phrases('spelling.behind_going_on')}\b))"
)
_NAME_HAS = regex(r"\b(?P<thing>[A-Za-z]{3,})'s(?=\s(?P<rest>[a-z]+(?:\s[\w']+)?))")
_PARTICIPLE = regex(r"\s*(?P<verb>[a-z]+)(?:\s(?P<behind>[\w']+))?", re.IGNORECASE)
_OBJECTS = words("predications.determiners") | {"on", "off", "up", "out", "down"}
_OBJECT = regex(r"\s(?:my|our|his|her|their|the|an?)\s", re.IGNORECASE)
_GIVEN = words("spelling.given")
_ROLE = one_of(words("spelling.roles"))
_ROLE_IS = regex(
    rf"\b((?:my|our)\s(?:new\s)?{_ROLE})'?s((?:\s\d{{1,3}}(?:\s(?:next|this|on)\s.{{1,20}})?|(?:\s[\w-]+){{1,2}}))$",
    re.I | re.M,
)
_OWNS = regex(
    r"\b(?:at|from|near|behind|of|into|opposite|to|for|with|called|named|like) (?:St\.? )?$"
)  # "at Ida's in Bonn"
_OWNED = regex(r"\b(?:my|our)\s(?:\w+\s)?\w+s\s|\b(?:my|our)\s[^.]{2,30}'s\s", re.IGNORECASE)
_KEEPS_SHORT_IS = words("spelling.keeps_short_is")

_REPEATED = regex(r"([a-z])\1{2,}", re.IGNORECASE)
_DRAWN_OUT = regex(r"(?<![-/])\b(?!www\b|i+\b)[a-z]*([a-z])\1{2,}[a-z]*\b(?![-/])", re.IGNORECASE)

_SWAPPED = regex(r"\b(?P<before>I|we|my|our)\s(?P<word>[a-z]{4,12})\b")

# "9 may", "on may 9", but not "I may 5 times a week"
_IN_MAY = regex(
    r"(?:(?<=\d )|(?<=\d(?:st|nd|rd|th) ))may(?=$|[,.;:!?)]| (?:and|at|in|for|because|so|but)\b)"
)
_ASKED = r"(?P<asked>(?P<favourite>favou?rite|fave?)|(?:you|u) have(?: an?| any)?)"
_THING = r"(?P<thing>(?:[\w-]+ ){0,2}?[\w-]+)"
_ASKED_AND_ANSWERED = regex(rf"\b{_ASKED} {_THING}[\s.,?!]+mine (?P<verb>is|are)\b", re.I)


def prepared(text: str) -> str:
    """Return a message without code, links, list marks and hasty spelling.

    >>> prepared("- im gonna paint, see https://example.org")
    "I'm going to paint, see  "
    >>> prepared("What is your favorite color? Mine is green")
    'What is your favorite color? My favorite color is green'
    """
    # What nobody writes would take the patterns below more than linear time.
    text = _BLANKS.sub(lambda found: "\n\n" if "\n" in found[0] else " ", _UNBROKEN.sub(" ", text))
    text = _CODE.sub(" ", text.replace("’", "'").replace("‘", "'"))
    text = _MARKUP.sub("", text)
    text = _SPACE_BEFORE_MARK.sub(r"\1", text)
    if _is_mostly_ascii(text) or _LOWER_I.search(text):
        text = _parted(text)
    text = _without_slang(_INVISIBLE.sub("", text))
    text = _I_JOINED.sub(_with_apostrophe, text)
    text = _with_verb(text)
    text = _NEGATED_APART.sub(lambda found: "won't" if found[1] else "can't", text)
    if _REPEATED.search(text):
        text = _DRAWN_OUT.sub(_shortened, text)
    text = _LOWER_I.sub("I", text)
    text = _SWAPPED.sub(_swapped_back, text)
    text = _APOSTROPHE_APART.sub(lambda found: f"{found[1]}'{found[2] or found[3]}", text)
    return _ASKED_AND_ANSWERED.sub(_answered, _IN_MAY.sub("May", text))


def _is_mostly_ascii(text: str) -> bool:
    """Return True if few of the words can be of another language: "im from Pécs"."""
    return text.isascii() or sum(not word.isascii() for word in text.split()) * 4 <= len(
        text.split()
    )


def _with_verb(text: str) -> str:
    """Write out "is" and "are" where an "s" stands for them.

    >>> _with_verb("my sisters a nurse"), _with_verb("Tom's not here"), _with_verb("its a bug")
    ('my sister is a nurse', 'Tom is not here', "it's a bug")
    >>> _with_verb("were on Python"), _with_verb("my managers Helga Brandt")
    ("we're on Python", 'my manager is Helga Brandt')
    """
    if "w/" in text.lower():
        text = _WITH_IT.sub(lambda found: "without" if found[0].endswith("o") else "with", text)
    text = _JOINED_BE.sub(_with_be, text)
    if _OWNED.search(text):
        text = _ROLE_IS.sub(_role_is, _OWN_IS.sub(_own_is, text))
    if "'s " not in text:
        return text
    text = _DONE_BY.sub(r"\g<thing> is\g<done>", text)
    text = _NAME_HAS.sub(_name_has, text)
    return _NAME_GOES_ON.sub(_goes_on, _NAME_IS.sub(_name_is, text))


def short_for_has(rest: str) -> bool:
    """Return whether "'s" before a text is short for "has", as a participle behind it shows.

    >>> short_for_has(" outgrown the allergy"), short_for_has(" been moved")
    (True, True)
    >>> short_for_has(" given a prize"), short_for_has(" tired of it"), short_for_has(" old")
    (False, False, False)
    """
    found = _PARTICIPLE.match(rest)
    if found is None:
        return False
    verb, behind = found["verb"].lower(), (found["behind"] or "").lower()
    if verb == "been" or (verb == "got" and behind != "to"):
        return True
    if Form.PAST not in forms(verb) or verb in _GIVEN or is_quality(verb):
        return False
    return behind in _OBJECTS or forms(behind) == {Form.ING}


def _name_has(found: re.Match[str]) -> str:
    if found["thing"].lower() in _KEEPS_SHORT_IS or _OWNS.search(found.string, 0, found.start()):
        return found[0]
    return f"{found['thing']} has" if short_for_has(found["rest"]) else found[0]


def _with_be(found: re.Match[str]) -> str:
    return found["before"] + ("it's" if found["word"].lower() == "its" else "we're")


def _own_is(found: re.Match[str]) -> str:
    thing = found["thing"]
    if found["s"] == "s" and noun(f"{thing}s") != thing.lower() and is_word(f"{thing}s"):
        return found[0]
    return f"{found['own']} {thing} is"


def _name_is(found: re.Match[str]) -> str:
    if found["thing"].lower() in _KEEPS_SHORT_IS or _OWNS.search(found.string, 0, found.start()):
        return found[0]
    return f"{found['thing']} is"


def _goes_on(found: re.Match[str]) -> str:
    """Write "is" before what can only be a verb: not "Tom's building in Rome"."""
    takes_object = _OBJECT.match(found.string, found.end("verb")) is not None
    return found[0] if can_be_noun(found["verb"]) and not takes_object else _name_is(found)


def _role_is(found: re.Match[str]) -> str:
    """Write "is" before a name: words that no dictionary has.

    Behind what somebody's GP or CTO is called comes what they do: "my sister's GP retired".
    """
    spoken: list[str] = found[2].split()
    name, behind, *_ = (*spoken, "", "")
    if (is_word(name) and not name.isdigit()) or (behind.islower() and forms(behind)):
        return found[0]
    return f"{found[1]} is{found[2]}"


def _with_apostrophe(found: re.Match[str]) -> str:
    """Write "ill" and "id" as "I'll" and "I'd", where a verb follows."""
    if Form.BASE not in forms(found["verb"]):
        return found[0]
    short = "I'd" if found["word"][1:] == "d" else "I'll"
    return f"{found['before']}{short}{found['between']}{found['verb']}"


def _swapped_back(found: re.Match[str]) -> str:
    """Turn two letters round where that alone makes a word: "I wrok" is "I work"."""
    word = found["word"]
    if is_word(word):
        return found[0]
    swapped = {
        word[:place] + word[place + 1] + word[place] + word[place + 2 :]
        for place in range(len(word) - 1)
    }
    is_noun = found["before"].lower() in ("my", "our")
    meant = [one for one in swapped if (noun(one) if is_noun else forms(one))]
    return f"{found['before']} {meant[0]}" if len(meant) == 1 else found[0]


def _shortened(found: re.Match[str]) -> str:
    """Drop the letters that were drawn out: "looove" is "love", "goood" is "good"."""
    twice = _REPEATED.sub(r"\1\1", found[0])
    return twice if is_word(twice) else _REPEATED.sub(r"\1", found[0])


def _answered(found: re.Match[str]) -> str:
    """Write "mine" out as the thing that was asked for just before."""
    thing = f"favorite {found['thing']}" if found["favourite"] else found["thing"]
    return f"{found['asked']} {found['thing']}? My {thing} {found['verb']}"
