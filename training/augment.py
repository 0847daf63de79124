"""Variants of training texts: as people type, and with a foreign sentence before them."""

from __future__ import annotations

import random
import re

_CHAT = {
    "you": "u",
    "your": "ur",
    "are": "r",
    "because": "cos",
    "people": "ppl",
    "about": "abt",
    "with": "w/",
    "tomorrow": "tmrw",
    "though": "tho",
    "please": "pls",
}
_FIRST = (
    (r"\bI'm\b|\bI am\b", "{} is"),
    (r"\bI've\b|\bI have\b", "{} has"),
    (r"\bI'll\b|\bI will\b", "{} will"),
    (r"\bI was\b", "{} was"),
    (r"\bI\b", "{}"),
    (r"\b[Mm]y\b", "{}'s"),
    (r"\bme\b|\bmyself\b", "{}"),
    (r"\bmine\b", "{}'s"),
)
NAMES = ("The user", "Maya", "Tunde", "Oksana", "Mr Pym", "Jo", "Ines", "Kwame", "Bea", "Rafiq")


def spelled(text: str, rng: random.Random) -> str:
    """Return `text` as people type: without capitals, apostrophes or marks, with slips."""
    if rng.random() < 0.5:
        return text
    if rng.random() < 0.6:
        text = text.lower()
    if rng.random() < 0.5:
        text = re.sub(r"['’]", "", text)
    if rng.random() < 0.4:
        text = re.sub(r"[.,!?;:]+( |$)", r"\1", text)
    if rng.random() < 0.15:
        text = re.sub(r"[a-z]+", lambda found: _CHAT.get(found[0], found[0]), text)
    if rng.random() < 0.35 and len(text) > 12:
        at = rng.randrange(1, len(text) - 2)
        swapped = text[:at] + text[at + 1] + text[at] + text[at + 2 :]
        text = swapped if rng.random() < 0.5 else text[:at] + text[at + 1 :]
    return text


def third_person(text: str, name: str) -> str:
    """Return a statement told of `name`, roughly, as extraction and agents write it.

    >>> third_person("I'm in Leeds and my sister isn't.", "Jo")
    "Jo is in Leeds and Jo's sister isn't."
    """
    for pattern, told in _FIRST:
        text = re.sub(pattern, told.format(name), text)
    return text


def told_of(older: str, newer: str, rng: random.Random) -> tuple[str, str]:
    """Return a pair as stores hold them: in a speaker's own words, named, or in third person."""
    chance = rng.random()
    if chance < 0.6:
        return older, newer
    name = rng.choice(NAMES)
    if chance < 0.75:
        return f"{name}: {older}", f"{name}: {newer}"
    return third_person(older, name), third_person(newer, name)


def behind(text: str, foreign: str) -> str:
    """Return `text` behind another sentence, as in a message that says several things."""
    return f"{foreign.rstrip()} {text}"
