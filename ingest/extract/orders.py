"""Tell standing instructions to the assistant from requests for now.

"Use nox for the tests", "tabs, not spaces", "no emojis"     hold from now on
"Use the second version", "make it shorter"                   are done once
"""

from __future__ import annotations

import re

from semantic_memory.domain.english.notation import any_of, whole
from semantic_memory.domain.english.predications import has_number, has_time
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import WORD, Form, can_be_noun, forms, is_adverb, is_verb

_LEAD = re.compile(rf"^(?:{phrases('orders.leads')}[\s,:]+)+", re.IGNORECASE)
_TAIL = re.compile(rf"[\s,]+{phrases('orders.tails')}$", re.IGNORECASE)
_ALWAYS = re.compile(whole(phrases("orders.always")), re.IGNORECASE)
_FOR_NOW = re.compile(
    any_of(whole(phrases("orders.for_now")), r"\b(?:this|these|that|those|above|below)\b"), re.I
)
_MANNER = words("orders.manner")
_WORK = words("orders.work")
_ONE_THING = re.compile(r"^(?:me\s|us\s)?(?:an?|one|two|three|four|five|\d+|some|another)\s", re.I)
_NO = re.compile(r"^no (?:more )?(?P<thing>[\w' -]{3,60})$", re.IGNORECASE)
_PRODUCED = words("orders.produced")
_NO_THINGS = re.compile(rf"^{phrases('ellipsis.no_things')}\b", re.IGNORECASE)
_NOT = re.compile(
    r"^(?P<one>(?:[\w`'.+#-]+\s){0,4}[\w`'.+#-]+)"
    r"(?P<joint>(?:,| -|;)? (?:not|instead of|over|rather than)) "
    r"(?P<other>(?:[\w`'.+#-]+\s){0,3}[\w`'.+#-]+)$",
    re.IGNORECASE,
)
_LESS = re.compile(r"^(?:less|more|fewer) (?:[\w'-]+\s?){1,4}$", re.IGNORECASE)
_IN_FORM = re.compile(
    rf"^(?:all )?(?:[\w'-]+\s){{1,3}}in {phrases('orders.forms')}$", re.IGNORECASE
)
_ONLY = re.compile(r"^(?:only|just) (?=\w)", re.IGNORECASE)
_EVERYWHERE = re.compile(
    rf"^(?P<thing>(?:[\w'-]+\s){{1,4}}){phrases('orders.everywhere')}(?P<rest>,.{{1,40}})?$", re.I
)
_IDIOM = re.compile(rf"^{phrases('orders.idioms')}\b", re.IGNORECASE)
_MANNERLY = re.compile(
    rf"^(?:be|stay|keep it|keep (?:your|the) \w+)\s(?:more\s|very\s|really\s)?"
    rf"{phrases('orders.manners')}\b.*$",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    rf"^{phrases('orders.manners')}\s(?:\w+\s)?{phrases('orders.replies')}(?:\s.{{1,40}})?$", re.I
)
_CONDITION = re.compile(rf"^{phrases('orders.conditions')}\b[^,]{{3,80}},\s*(?P<order>.+)$", re.I)


def standing_order(sentence: str) -> str | None:
    """Return what a sentence asks of the assistant for good, as it stands behind "to"; or None.

    >>> standing_order("Use nox for the tests"), standing_order("use the second version")
    ('use nox for the tests', None)
    >>> standing_order("no emojis please"), standing_order("tabs, not spaces")
    ('use no emojis', 'use tabs, not spaces')
    >>> standing_order("Leave out the small talk"), standing_order("Write a poem about Rome")
    ('leave out the small talk', None)
    """
    if _IDIOM.match(sentence):
        return None
    order = _TAIL.sub("", _LEAD.sub("", sentence.strip(" .!")))
    spoken = [word.lower() for word in WORD.findall(order)]
    if len(spoken) < 2 or len(spoken) > 40:
        return None
    if wanted := _without_verb(order, spoken):
        return wanted
    condition = ""
    if found := _CONDITION.match(order):
        condition = order[: found.start("order")]
        order = _LEAD.sub("", found["order"])
        spoken = [word.lower() for word in WORD.findall(order)]
    only = _ONLY.match(order) is not None
    spoken = spoken[only:]
    if len(spoken) < 2 or not _is_command(spoken):
        return None
    always = _ALWAYS.search(sentence) is not None or bool(condition)
    if _MANNERLY.match(order) and not re.match(r"keep it up", order, re.I):
        return _lowered(order)
    object_ = " ".join(order.split()[1 + only :])
    if _FOR_NOW.search(order) and not always:
        return None
    if _ONE_THING.match(object_) and not always:
        return None
    if spoken[0] in _MANNER or (always and spoken[0] in _WORK):
        return f"{_lowered(order)} {_lowered(condition)}".rstrip(" ,")
    return None


def _without_verb(order: str, spoken: list[str]) -> str | None:
    """Return the order that is made without a verb: "no emojis", "tabs, not spaces"."""
    if (no := _NO.match(order)) and not _NO_THINGS.match(no["thing"]):
        things = WORD.findall(no["thing"].lower())
        if _PRODUCED & {*things} and not any(map(_is_only_verb, things[1:])):
            return f"use no {no['thing']}"
    if (
        (preferred := _NOT.match(order))
        and not preferred["one"].lower().startswith(_SELF)
        and spoken[0] not in _MANNER
        and not (_is_command(spoken) and not can_be_noun(spoken[0]))
        and not has_time(order)
        and not has_number(order)
        and _is_choice(preferred["one"].lower(), preferred["other"].lower(), preferred["joint"])
    ):
        return f"use {_lowered(order)}"
    if (less := _LESS.match(order)) and _PRODUCED & {*spoken}:
        return f"use {_lowered(less[0])}"
    if (
        _IN_FORM.match(order)
        and spoken[0] not in _DETERMINED
        and Form.BASE not in (forms(spoken[0]) if not can_be_noun(spoken[0]) else ())
    ):
        return f"use {_lowered(order)}"
    if everywhere := _EVERYWHERE.match(order):
        things = WORD.findall(everywhere["thing"].lower())
        if things and not any(map(_is_only_verb, things)) and things[0] not in _DETERMINED:
            return f"use {_lowered(order)}"
    if _PLAIN.match(order):
        return f"give {_lowered(order)}"
    return None


_SELF = (
    "i ",
    "i'm",
    "it",
    "that",
    "this",
    "he ",
    "she ",
    "we ",
    "they ",
    "you",
    "my ",
    "but ",
    "not ",
    "our ",
)
_DETERMINED = words("predications.no_subject")


def _is_choice(one: str, other: str, joint: str) -> bool:
    """Return True if two phrases are things to choose among; without a comma, plurals only."""
    spoken = [*WORD.findall(one), *WORD.findall(other)]
    if any(word in _DETERMINED or is_adverb(word) or _is_only_verb(word) for word in spoken):
        return False
    if one.startswith("the ") or other.startswith(("the ", "so ", "a ", "an ")):
        return False
    if joint[0] in ",;" or joint.startswith(" -"):
        return True
    return one.endswith("s") and other.endswith("s")


def _is_only_verb(word: str) -> bool:
    return word in ("is", "are", "was", "were", "am", "be") or (
        is_verb(word) and not can_be_noun(word) and not forms(word) <= {Form.BASE, Form.THIRD}
    )


def _is_command(spoken: list[str]) -> bool:
    first = spoken[0]
    return Form.BASE in forms(first) and (len(spoken) < 2 or spoken[1] not in ("is", "was", "are"))


def _lowered(text: str) -> str:
    first = text.split()[0] if text else ""
    return text if not text or first[1:] != first[1:].lower() else text[:1].lower() + text[1:]
