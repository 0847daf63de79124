"""Look up in lemminflect's dictionary which forms a word can be: verb, noun, adverb."""

from __future__ import annotations

import gzip
from bisect import bisect_left
from enum import StrEnum
from functools import cache, lru_cache
from importlib import resources

from semantic_memory.domain.english.tables import words
from semantic_memory.domain.patterns import regex


class Form(StrEnum):
    """A form of a verb."""

    BASE = "base"
    THIRD = "third"
    PAST = "past"
    ING = "ing"


WORD = regex(r"[^\W_]+(?:['-][^\W_]+)*")
MODALS = words("words.modals")

_PAST = words("words.past")
_SAME_IN_PAST = words("words.same_in_past")
_FUNCTION_WORDS = words("words.function_words")
_RARE_NOUNS = words("words.rare_nouns")
_DETERMINERS = words("words.determiners")
_ADVERBS = words("words.adverbs")


@lru_cache(maxsize=65_536)
def forms(word: str) -> frozenset[Form]:
    """Return the verb forms that a word can be; none for an unknown word or one that is no verb.

    >>> forms("saw") == {Form.PAST}, forms("garlic") == set()
    (True, True)
    """
    word = word.casefold()
    if word in _FUNCTION_WORDS:
        return frozenset()
    if word in _PAST:
        return frozenset({Form.PAST})
    if word in ("am", "are"):
        return frozenset({Form.THIRD})  # in the present, like "is"
    found = set()
    known = readings(word)
    for lemma in (*known.get("VERB", ()), *known.get("AUX", ())):
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
    """Return whether the dictionary has a word, in any form.

    >>> is_word("Gardens"), is_word("gardns")
    (True, False)
    """
    return bool(readings(word.casefold()))


def is_verb(word: str) -> bool:
    """Return whether a word can be a verb in any form.

    >>> is_verb("painted"), is_verb("garlic")
    (True, False)
    """
    return bool(forms(word))


@lru_cache(maxsize=65_536)
def noun(word: str) -> str | None:
    """Return the singular of a word that is a noun and nothing else.

    >>> noun("sisters"), noun("paints")
    ('sister', None)
    """
    word = word.casefold()
    found = readings(word)
    if found.keys() != {"NOUN"} or word in _FUNCTION_WORDS:
        return None
    return found["NOUN"][0]


def noun_behind(preceding: str, word: str) -> str | None:
    """Return the singular of a word that is a noun, by itself or behind the preceding word.

    >>> noun_behind("a", "paint"), noun_behind("I", "paint")
    ('paint', None)
    """
    if singular := noun(word):
        return singular
    before = preceding.casefold()
    if before not in _DETERMINERS and not before.endswith("'s"):
        return None
    nouns = readings(word.casefold()).get("NOUN", ())
    is_thing = can_be_noun(word) and not is_quality(word)
    return nouns[0] if nouns and is_thing and not forms(word) & {Form.PAST, Form.ING} else None


@lru_cache(maxsize=65_536)
def can_be_noun(word: str) -> bool:
    """Return whether a word can name a thing; names and words that the dictionary lacks can.

    >>> can_be_noun("light"), can_be_noun("went"), can_be_noun("Siemens")
    (True, False, True)
    """
    lowered = word.casefold()
    if lowered in _FUNCTION_WORDS or lowered in MODALS or is_adverb(lowered):
        return False
    found = readings(lowered)
    return "NOUN" in found and lowered not in _RARE_NOUNS if found else len(lowered) > 3


def is_quality(word: str) -> bool:
    """Return whether a word can be an adjective or an adverb.

    >>> is_quality("light"), is_quality("lamp")
    (True, False)
    """
    return bool({"ADJ", "ADV"} & readings(word.casefold()).keys())


@lru_cache(maxsize=65_536)
def is_adverb(word: str) -> bool:
    """Return whether a word may stand between a subject and its verb.

    >>> is_adverb("often"), is_adverb("happily"), is_adverb("apply")
    (True, True, False)
    """
    word = word.casefold()
    if word in _ADVERBS:
        return True
    return word.endswith("ly") and "ADV" in readings(word) and not forms(word)


@lru_cache(maxsize=65_536)
def readings(word: str) -> dict[str, tuple[str, ...]]:
    """Return the lemmas of a lower-case word by its parts of speech.

    >>> readings("saw")
    {'NOUN': ('saw',), 'VERB': ('see', 'saw')}
    """
    found: dict[str, tuple[str, ...]] = {}
    for lines in (_table("lemma_lu.csv.gz"), _table("lemma_overrides.csv")):
        for place in range(bisect_left(lines, f"{word},"), len(lines)):
            written, part, lemmas = lines[place].split(",")
            if written != word:
                break
            found["AUX" if part == "modal" else part.upper()] = tuple(lemmas.lower().split("/"))
    return found


@cache
def _table(name: str) -> list[str]:
    """Return the sorted lines of a table of lemminflect, like "saw,verb,see".

    lemminflect itself makes objects of them all, which takes 35 MB and several times as long.
    """
    content = resources.files("lemminflect").joinpath("resources", name).read_bytes()
    text = (gzip.decompress(content) if name.endswith(".gz") else content).decode()
    return sorted(line for line in text.splitlines() if line and line[0] != "#")
