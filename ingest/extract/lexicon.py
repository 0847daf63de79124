"""Which forms of a verb an English word can be; lemminflect's dictionary decides."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from functools import cache, lru_cache


class Form(StrEnum):
    """A form of a verb."""

    BASE = "base"
    THIRD = "third"
    PAST = "past"
    ING = "ing"


# Forms that are a past tense far more often than the base of another verb ("found", "saw").
_PAST = frozenset("bore bound fell felt found ground laid lay left saw wound".split())
_SAME_IN_PAST = frozenset(
    "beat bet bid burst cast cost cut hit hurt let put quit read rid set shed shut split "
    "spread".split()
)
MODALS = frozenset("can could will would shall should may might must cannot".split())
_FUNCTION_WORDS = frozenset(
    """
    i my to in us so no we me who they them their our any all other others both this that these
    those some lot it he she him her his its you your one ones none something anything nothing
    everything someone everyone anyone mine what which whom much many few more most such same
    """.split()
)
"""Words that the dictionary gives as nouns or as rare verbs too."""

WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")


@lru_cache(maxsize=65_536)
def forms(word: str) -> frozenset[Form]:
    """The verb forms that `word` can be; none for a word that is no verb or is unknown."""
    word = word.casefold()
    if word in _FUNCTION_WORDS:
        return frozenset()
    if word in _PAST:
        return frozenset({Form.PAST})
    found = set()
    for lemma in (*_lemmas(word, "VERB"), *_lemmas(word, "AUX")):
        if lemma == word:
            found.add(Form.BASE)
        elif word.endswith("ing"):
            found.add(Form.ING)
        elif word.endswith("s") and word != "was":
            found.add(Form.THIRD)
        else:
            found.add(Form.PAST)
    if word in _SAME_IN_PAST:
        found.add(Form.PAST)
    elif Form.BASE in found:  # "feed" is not meant as the past of "fee"
        found.discard(Form.PAST)
    return frozenset(found)


def is_word(word: str) -> bool:
    """Whether the dictionary has `word`, in any form."""
    return bool(_readings(word.casefold()))


def is_verb(word: str) -> bool:
    """Whether `word` can be a verb in any form."""
    return bool(forms(word))


@lru_cache(maxsize=65_536)
def noun(word: str) -> str | None:
    """The singular of a word that is a noun and nothing else."""
    word = word.casefold()
    readings = _readings(word)
    return (
        readings["NOUN"][0] if readings.keys() == {"NOUN"} and word not in _FUNCTION_WORDS else None
    )


def noun_behind(preceding: str, word: str) -> str | None:
    """The singular of `word` if it is a noun, by itself or behind `preceding`: "a dog"."""
    if singular := noun(word):
        return singular
    own = preceding.casefold()
    nouns = _readings(word.casefold()).get("NOUN", ())
    if own not in _DETERMINERS and not own.endswith("'s"):
        return None
    return (
        nouns[0]
        if nouns and names_a_thing(word, "") and not forms(word) & {Form.PAST, Form.ING}
        else None
    )


@lru_cache(maxsize=65_536)
def can_be_noun(word: str) -> bool:
    """Whether `word` can name a thing; names and words that the dictionary lacks can."""
    lowered = word.casefold()
    if lowered in _FUNCTION_WORDS or lowered in MODALS or is_adverb(lowered):
        return False
    readings = _readings(lowered)
    return "NOUN" in readings and lowered not in _RARE_NOUNS if readings else len(lowered) > 3


def names_a_thing(word: str, preceding: str) -> bool:
    """Whether `word` stands for a thing here: in "a light" it does, in "is light" not."""
    if not can_be_noun(word):
        return False
    other = {"ADJ", "ADV"} & _readings(word.casefold()).keys()
    return not other or preceding.casefold() in _BEFORE_NOUNS


_BEFORE_NOUNS = frozenset(
    """
    a an the my our your his her their its some any no every each many few several two three four
    five of in at from with for on about
    """.split()
)
_DETERMINERS = frozenset("a an the my our their his her no two three four five six".split())
# Nouns to the dictionary, hardly ever to a speaker.
_RARE_NOUNS = frozenset(
    """
    be do go get have make take see let put try need want like love know think say tell ask come
    am is are was were been did done got made took went had has does over up down out off on in at
    back well very too just even still now then there here so as for but and or not really good
    with from into onto because than while until since during without within about between through
    after before when where until unless though although whether around against among across
    great nice bad fun lot much more most less sure full new old big small free busy
    """.split()
)


def is_quality(word: str) -> bool:
    """Whether `word` rather says what something is like: an adjective, or an adverb."""
    return bool({"ADJ", "ADV"} & _readings(word.casefold()).keys())


@lru_cache(maxsize=65_536)
def is_adverb(word: str) -> bool:
    """Whether `word` may stand between a subject and its verb."""
    word = word.casefold()
    return word in _ADVERBS or (
        word.endswith("ly") and "ADV" in _readings(word) and not forms(word)
    )


_ADVERBS = frozenset(
    """
    almost already also always ever even first just mostly never normally not now often only once
    rather really seldom sometimes somehow soon still then too today tonight usually both all
    personally currently recently
    """.split()
)


def _lemmas(word: str, part: str) -> tuple[str, ...]:
    return _readings(word).get(part, ())


@lru_cache(maxsize=65_536)  # lemminflect copies its answers deeply
def _readings(word: str) -> dict[str, tuple[str, ...]]:
    return _dictionary()(word)


@cache
def _dictionary() -> Callable[[str], dict[str, tuple[str, ...]]]:
    from lemminflect import getAllLemmas  # reads its tables, 35 MB, so not before they are needed

    lookup: Callable[[str], dict[str, tuple[str, ...]]] = getAllLemmas
    return lookup
