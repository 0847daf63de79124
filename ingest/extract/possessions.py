"""Finds what someone takes for granted that they have: "How do I keep my cat off the sofa?".

A question, a request or a remark that says nothing of its speaker by itself still tells that there
is a cat. Only what is worth knowing is looked for: kin, animals, what carries and plays, and what
ails; not what everyone has ("my mother", "my day").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ingest.extract.lexicon import WORD, Form, can_be_noun, forms, noun
from semantic_memory.domain.text import STOP_WORDS

_KIN = """
    wife husband spouse partner fiance fiancee girlfriend boyfriend son daughter kid child baby
    toddler twin brother sister sibling niece nephew cousin uncle aunt grandson granddaughter
    grandkid grandchild stepson stepdaughter stepbrother stepsister roommate housemate flatmate
"""
_ANIMALS = """
    dog cat puppy kitten kitty pet horse pony parrot hamster rabbit bunny turtle tortoise lizard
    snake goldfish cow goat gecko ferret hedgehog parakeet budgie
"""
_OWNED = """
    car truck van motorcycle motorbike bike bicycle scooter boat jeep minivan
    condo cabin farm garden backyard balcony greenhouse laptop desktop iphone ipad tablet camera
    telescope guitar piano violin cello ukulele keyboard saxophone flute tattoo tent kayak
    aquarium startup blog podcast
"""
_AILMENTS = """
    asthma diabetes migraine adhd anxiety allergy arthritis insomnia epilepsy dyslexia autism
    depression eczema tinnitus pregnancy hypertension anemia
"""
_NAMED = frozenset((_KIN + _ANIMALS).split())
_UNCOUNTED = frozenset((_AILMENTS + "hair eyes skin").split())
_THINGS = _NAMED | frozenset((_AILMENTS + _OWNED).split())
_MODELS = frozenset("iphone ipad laptop camera".split())
_OF_A_KIND = frozenset(
    "job internship house apartment flat home hair eyes skin beard phone computer watch "
    "purse".split()
)
"""What says nothing by itself: "my job" doesn't, "my office job" does."""
_IRREGULAR = {"children": "child", "grandchildren": "grandchild", "wives": "wife"}

_SENTENCE = re.compile(r"[.?!;\n]+(?=\s|$)")
_MINE = re.compile(r"\bmy\s+(?P<words>[\w-]+(?:\s+[\w'’-]+){0,5})", re.IGNORECASE)
# What is gone, wished for, or somebody else's after all.
_NOT_NOW = re.compile(
    r"\b(?:died|dead|death|passed|put\sdown|lost|los[et]|losing|sold|sell|gone|broke\sup"
    r"|break\w*\sup|divorc\w+|late|used\sto|when\sI\swas"
    r"|was\sa|as\sa\s(?:kid|child)|childhood|growing\sup|grew\sup|years\sago|back\sthen|dream\w*"
    r"|wish|someday|some\sday|imagin\w+|pretend|stole\w*|gave\saway|get\srid|got\srid|if\sI\s"
    r"(?:had|were)"
    r"|no\slonger|anymore|any\smore|want|future|left\sme|quit|rent\w*|borrow\w*)\b",
    re.IGNORECASE,
)
_SAID_ANYWAY = frozenset("own only".split())
_NO_DESCRIPTION = frozenset(
    """
    hot top late ex former previous old first last next dream future childhood imaginary dead
    deceased other
    whole entire then current precious poor dear beloved lovely favorite favourite ideal
    """.split()
)
_NUMBERS = frozenset("two three four five six seven eight nine ten both".split())


def possessions(text: str, mentioned: Collection[str]) -> Iterator[str]:
    """Statements like "I have three sisters", for what `text` takes for granted, each thing once.

    Left out is what `mentioned`, words in lower case and in the singular, speaks of already.
    """
    if _MINE.search(text) is None:
        return
    known = set(mentioned)
    for sentence in _SENTENCE.split(text):
        if not _NOT_NOW.search(sentence):
            for found in _MINE.finditer(sentence):
                words = found["words"].split()
                for start in (0, *(place + 1 for place, word in enumerate(words) if word == "and")):
                    thing, stated = _owned(words[start:])
                    if not thing:
                        break
                    if thing not in known:
                        known.add(thing)
                        yield stated


def _owned(words: list[str]) -> tuple[str, str]:
    """The thing that `words`, which follow "my", speak of, and that it is there."""
    for place, word in enumerate(words[:4]):
        thing, following = _singular(word), words[place + 1 :]
        described = [own for own in words[:place] if own.lower() not in _SAID_ANYWAY]
        if not all(map(_describes, described)):
            break
        if thing in _MODELS and following and following[0].isdigit():
            word, following = f"{word} {following[0]}", following[1:]
        known = thing in _THINGS or (thing in _OF_A_KIND and described)
        if known and not _goes_on(following):
            what = " ".join([*described, word])
            several = thing not in word.lower().split()
            article = "" if several or thing in _UNCOUNTED else _article(what)
            named = "" if several or thing not in _NAMED else _name(following)
            return thing, f"I have {article}{what}{named}"
    return "", ""


def _singular(word: str) -> str:
    lowered = word.lower()
    if lowered in _THINGS | _OF_A_KIND:
        return lowered
    return _IRREGULAR.get(lowered) or noun(lowered) or lowered.removesuffix("s")


def _goes_on(following: list[str]) -> bool:
    """Whether the next word makes another thing of it: "my dog walker", "my sister in law"."""
    if not following:
        return False
    word = following[0].lower()
    if [own.lower() for own in following[:2]] == ["in", "law"] or word.isdigit():
        return True
    return (
        not following[0][:1].isupper()
        and word not in STOP_WORDS
        and can_be_noun(word)
        and not forms(word) & {Form.THIRD, Form.PAST, Form.ING}
    )


def _name(following: list[str]) -> str:
    """The name that follows, behind a comma."""
    if not following or not following[0][:1].isupper() or not following[0].isalpha():
        return ""
    return "" if forms(following[0]) or following[0].lower() in STOP_WORDS else f", {following[0]}"


def _describes(word: str) -> bool:
    lowered = word.lower()
    if lowered in _NUMBERS or lowered.isdigit():
        return True
    return (
        lowered not in STOP_WORDS | _NO_DESCRIPTION
        and not lowered.startswith("ex-")
        and forms(lowered) <= {Form.PAST, Form.BASE, Form.ING}
    )


def _article(what: str) -> str:
    first = what.split()[0]
    if first.lower() in _NUMBERS or first.isdigit():
        return ""
    return (
        "an "
        if first[0].lower() in "aeiou" and not first.lower().startswith(("uk", "uni"))
        else "a "
    )


def words_of(statement: str) -> set[str]:
    """The words of a statement, in lower case and in the singular."""
    return {_singular(word) for word in WORD.findall(statement)}
