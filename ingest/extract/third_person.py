"""Turns what someone says of themselves into a sentence about them.

"I'm moving to Berlin, my sister lives there"  ->  "Maya is moving to Berlin, Maya's sister ..."
"""

from __future__ import annotations

import re

_AUXILIARY = {
    "am": "is", "'m": "is", "have": "has", "'ve": "has", "do": "does", "don't": "doesn't",
    "haven't": "hasn't", "'ll": "will", "'d": "would", "ain't": "isn't",
}  # fmt: skip
_UNCHANGED = frozenset(
    """
    can can't cannot could couldn't will won't would wouldn't should shouldn't may might must shall
    did didn't was wasn't had hadn't used
    ate became began bought broke brought built came caught chose cut did drank drew drove fell felt
    found flew forgot gave got grew had heard held hit hurt kept knew led left let lost made meant
    met paid put quit ran rang read rode said sang sat saw sent set shot shut slept sold spent spoke
    stood stole stuck swam taught thought told took tore understood went woke won wore wrote
    """.split()
)
_ADVERBS = frozenset(
    """
    absolutely actually almost already also always definitely even ever finally generally hardly
    honestly just mainly mostly never normally now often only personally probably rarely really
    recently simply sometimes still totally truly usually currently
    """.split()
)
_SUBJECT = re.compile(r"\bI(?P<short>['’](?:m|ve|ll|d))?\b(?!['’])", re.ASCII)
_OTHERS = (
    (re.compile(r"\bmyself\b", re.IGNORECASE), "themselves"),
    (re.compile(r"\bmine\b", re.IGNORECASE), "{name}'s"),
    (re.compile(r"\bmy\b", re.IGNORECASE), "{name}'s"),
    (re.compile(r"\bme\b", re.IGNORECASE), "{name}"),
)


def third_person(sentence: str, name: str) -> str:
    """`sentence`, said by `name`, with "I", "my" and "me" replaced and the verbs made to agree."""
    parts: list[str] = []
    rest = sentence
    while found := _SUBJECT.search(rest):
        parts.append(rest[: found.start()] + name)
        rest = _agreeing((found["short"] or "").replace("’", "'").lower(), rest[found.end() :])
    text = "".join(parts) + rest
    for pattern, replacement in _OTHERS:
        text = pattern.sub(replacement.format(name=name), text)
    return text[:1].upper() + text[1:]


def _agreeing(short: str, rest: str) -> str:
    """What follows the subject, its verb in the third person."""
    if short:
        participle = short == "'d" and re.match(r"\s+(?:been|had|\w+ed)\b", rest)
        return f" {'had' if participle else _AUXILIARY[short]}{rest}"
    skipped = ""
    while found := re.match(r"(\s+)([\w’']+)", rest):
        word = found[2].replace("’", "'").lower()
        if word not in _ADVERBS:
            return skipped + found[1] + _inflected(found[2], word) + rest[found.end() :]
        skipped += found[0]
        rest = rest[found.end() :]
    return skipped + rest


def _inflected(written: str, word: str) -> str:
    if word in _AUXILIARY:
        return _AUXILIARY[word]
    if word in _UNCHANGED or word.endswith(("ed", "ing")) or not word.isalpha():
        return written
    if word.endswith(("s", "sh", "ch", "x", "z", "o")):
        return written + "es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return written[:-1] + "ies"
    return written + "s"
