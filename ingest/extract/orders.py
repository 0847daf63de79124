"""Tell standing instructions to the assistant from requests for now.

"Use nox for the tests", "tabs, not spaces", "no emojis"     hold from now on
"Use the second version", "make it shorter"                   are done once
"""

from __future__ import annotations

import re

from semantic_memory.domain.english.notation import any_of, one_of, whole
from semantic_memory.domain.english.predications import has_number, has_time
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.tenses import is_past
from semantic_memory.domain.english.words import (
    WORD,
    Form,
    can_be_noun,
    forms,
    is_adverb,
    is_quality,
    is_verb,
)
from semantic_memory.domain.patterns import regex

_LEAD = regex(rf"^(?:{phrases('orders.leads')}[\s,:]+)+", re.IGNORECASE)
_EMPHASIZED = words("orders.manner", "orders.giving", "orders.telling") - {"do", "not"}
_EMPHATIC = regex(rf"^do (?={one_of(_EMPHASIZED)}\b)", re.IGNORECASE)
_TAIL = regex(rf"[\s,]+{phrases('orders.tails')}$", re.IGNORECASE)
_ALWAYS = regex(whole(phrases("orders.always")), re.IGNORECASE)
_FOR_NOW = regex(
    any_of(
        whole(phrases("orders.for_now")),
        r"\b(?:this(?!\s(?:repo|project|codebase|team|chat)\b)|these|that|those|above|below)\b",
    ),
    re.I,
)
_MANNER = words("orders.manner")
_WORK = words("orders.work")
_DOINGS = _MANNER | _WORK | words("orders.giving", "orders.telling", "orders.doings")
_OBJECTS = words("predications.determiners") | {"me", "us", "it", "them"}
_ONE_THING = regex(r"^(?:me\s|us\s)?(?:an?|one|two|three|four|five|\d+|some|another)\s", re.I)
_FIRMLY = regex(whole(phrases("orders.firmly")), re.IGNORECASE)
_IS_ASKED = regex(r"^do (?!not\b|it\b|so\b|the\b|this\b|that\b|all\b|everything\b|an?\b)", re.I)
_NO = regex(r"^no (?:more )?(?P<thing>[\w' -]{3,60})(?:, .{3,80})?$", re.IGNORECASE)
_PRODUCED = words("orders.produced")
_NO_THINGS = regex(rf"^{phrases('ellipsis.no_things')}\b", re.IGNORECASE)
_NOT = regex(
    r"^(?P<one>(?:[\w`'.+#-]+\s){0,4}[\w`'.+#-]+)"
    r"(?P<joint>(?:,| -|;)? (?:not|never|instead of|over|rather than)) "
    r"(?P<other>(?:[\w`'.+#-]+\s){0,3}[\w`'.+#-]+)$",
    re.IGNORECASE,
)
_LESS = regex(r"^(?:less|more|fewer) (?:[\w'-]+\s?){1,4}$", re.IGNORECASE)
_IN_FORM = regex(rf"^(?:all )?(?:[\w'-]+\s){{1,3}}in {phrases('orders.forms')}$", re.IGNORECASE)
_MANNERED = regex(
    r"^(?:[\w'-]+\s){0,2}[a-z]+s\s(?:always|only|never)\s(?:in|with|without|as|at|after)\s.{2,50}$",
    re.I,
)
_MEASURED = regex(
    rf"^{one_of(words('orders.giving'))} (?:me |us )?(?:all |the |your |any )?[\w-]+s"
    rf" (?:only |always )?in {phrases('orders.measures')}\b.{{0,40}}$",
    re.IGNORECASE,
)
_ONLY = regex(r"^(?:only|just) (?=\w)", re.IGNORECASE)
_EVERYWHERE = regex(
    rf"^(?P<thing>(?:[\w'-]+,?\s){{1,5}}){phrases('orders.everywhere')}"
    r"(?P<rest>(?:,|\s(?:except|but|other than|that|I|we)\s).{1,40})?$",
    re.I,
)
_AT_MOST = regex(
    r"^(?:max(?:imum)?|at most|no more than|up to)\.? (?:\d+|a|one|two|three|four|five|six|ten) "
    r"(?:\w+ )?(?:lines?|words?|sentences?|bullets?|bullet points?|paragraphs?|items?|options?"
    r"|suggestions?|steps?|questions?)(?: .{2,40})?$",
    re.IGNORECASE,
)
_RULE = regex(  # "one rule for everything I send you: keep the numbers"
    r"^(?:(?:one|a|my|our|the|general|house|golden|basic|first) )*rules?(?: for [^:]{3,40})?: ",
    re.IGNORECASE,
)
_UNPAUSED = regex(  # "when you show code show only the diff"
    r"^(?P<case>when(?:ever)? you [a-z]+(?: [\w'-]+){1,4}?) "
    r"(?=(?:always|never|don't|only|show|use|give|keep|leave|skip|add|write|put)\b)",
    re.IGNORECASE,
)
_IN_ALL_OF_IT = regex(
    r"^no (?:more )?[\w' -]{3,40} (?:in|with|for|on) (?:anything|everything|whatever|all)"
    r" (?:that )?you \w+$",
    re.IGNORECASE,
)
_OFFERED = regex(  # "gimme three options max"
    r"^(?:please )?(?:give|gimme|show|send|offer|list)(?: me)? "
    r"(?:(?:at most|no more than|max) .{3,80}"
    r"|(?:\d+|one|two|three|four|five|six|ten) [\w ]+? (?:max(?:imum)?|at most|tops)\b.{0,60})$",
    re.IGNORECASE,
)
_IDIOM = regex(rf"^{phrases('orders.idioms')}\b", re.IGNORECASE)
_MANNERLY = regex(
    rf"^(?:be|stay|keep it|keep (?:your|the) \w+)\s(?:more\s|very\s|really\s)?"
    rf"{phrases('orders.manners')}\b.*$",
    re.IGNORECASE,
)
_AS_IF = regex(r"\bas (?:if|though)\b", re.IGNORECASE)
# "explain things like I'm new to this", but not "explain tides like I'm five"
_AS_TO = regex(
    rf"^{one_of(words('orders.telling'))} (?:me )?(?:[\w-]+ ){{0,2}}?{phrases('orders.anything')}"
    r"(?: (?:to|for) me)? (?:like|as if|as though) I\b.{2,60}$",
    re.IGNORECASE,
)
_WITHIN = regex(r"^keep (?:it|them|things) (?:under|below|within|to|at) .{2,40}$", re.IGNORECASE)
_PLAIN = regex(
    rf"^{phrases('orders.manners')}\s(?:\w+\s)?{phrases('orders.replies')}(?:\s.{{1,40}})?$", re.I
)
_WHEN = r"(?:when(?:ever)?|if|every time|each time)"
_CASES = rf"{_WHEN} (?:I|we|you|u)"
_CASE = regex(rf"^{_CASES} ", re.IGNORECASE)
_CONDITION = regex(
    rf"^(?P<condition>(?:(?P<case>{_CASES})|{phrases('orders.conditions')})\b[^,]{{3,80}},\s*)"
    r"(?:please )?(?P<order>.+)$",
    re.I,
)
_CONDITION_BEHIND = regex(
    rf"^(?P<order>[^,]{{3,60}}),? (?P<condition>(?P<case>{_CASES}) [^,]{{3,60}})$", re.IGNORECASE
)
_SCOPED = regex(
    r"^(?:for|in|with|on) (?P<where>(?!(?:this|that|the next|now|today)\b)[\w' -]{2,40})"
    r": (?P<what>.{3,80})$",
    re.IGNORECASE,
)
_PLEASE = regex(r"\b(?:please|pls|kindly)\b", re.IGNORECASE)
_OF_ASSISTANT = regex(rf"^{_WHEN} (?:you|u) (?:\w+ly )?{one_of(sorted(_DOINGS))}\b", re.IGNORECASE)
_WITHOUT_OR_ONLY = regex(r"^(?:no|only)\b", re.IGNORECASE)
_TELLS = regex(
    rf"^(?:my|our|his|her|their)\b|\b{phrases('core.symptoms', 'core.family', 'core.others')}\b",
    re.IGNORECASE,
)
_SET_FOR_GOOD = regex(rf"\b{phrases('orders.for_good')}\b", re.IGNORECASE)
_TREATED = regex(rf"^{phrases('orders.treatments')}\b", re.IGNORECASE)
_POINTS = regex(r"\b(?:this|that|these|those|again|now|here)\b", re.IGNORECASE)
_MANNERS = regex(
    rf"\b{phrases('orders.replies', 'orders.measures', 'core.tongues', 'wishes.manners')}\b",
    re.IGNORECASE,
)
_ASKED = regex(r":|\bplease\b", re.IGNORECASE)
_MOST_VERBLESS = 12  # words


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
    ruled = _RULE.match(sentence)
    sentence = sentence[ruled.end() if ruled else 0 :].strip(" .!")
    sentence = sentence if "," in sentence else _UNPAUSED.sub(r"\g<case>, ", sentence)
    return _of_all_answers(sentence) or _ordered(sentence, is_rule=ruled is not None)


def _of_all_answers(sentence: str) -> str | None:
    """Return an order that says itself for what it holds: "no sugar in anything you suggest"."""
    order = _TAIL.sub("", sentence)
    if _IN_ALL_OF_IT.match(order):
        return f"use {_lowered(order)}"
    if _OFFERED.match(sentence):
        return re.sub("^gimme", "give me", _lowered(_LEAD.sub("", sentence)))
    return None


def _ordered(sentence: str, *, is_rule: bool) -> str | None:
    order = _EMPHATIC.sub("", _TAIL.sub("", _LEAD.sub("", sentence.strip(" .!"))))
    spoken = [word.lower() for word in WORD.findall(order)]
    if len(spoken) < 2 or len(spoken) > 40 or _IDIOM.match(order):
        return None
    if wanted := _verbless(sentence, order, spoken):
        return wanted
    condition = ""
    if found := _CONDITION.match(order):
        condition = found["condition"]
        order = _LEAD.sub("", found["order"])
        spoken = [word.lower() for word in WORD.findall(order)]
    only = _ONLY.match(order) is not None
    spoken = spoken[only:]
    if len(spoken) < 2 or not _may_order(spoken):
        return None
    always = is_rule or _ALWAYS.search(_AS_IF.sub(" ", sentence)) is not None or bool(condition)
    if _is_manner(order) or (_MEASURED.match(order) and not _FOR_NOW.search(order)):
        return _lowered(order)
    object_ = " ".join(order.split()[1 + only :])
    if _FOR_NOW.search(order) and not always:
        return None
    if _IS_ASKED.match(order) or (_ONE_THING.match(object_) and not _FIRMLY.search(sentence)):
        return None
    in_case = _CASE.match(condition) is not None and _is_plainly_verb(spoken)
    if is_rule or spoken[0] in _MANNER or in_case or (always and spoken[0] in _WORK):
        return f"{_lowered(order)} {_lowered(condition)}".rstrip(" ,")
    return None


def _verbless(sentence: str, order: str, spoken: list[str]) -> str | None:
    """Return the order that only names what is wanted, if it is one for good."""
    if _AT_MOST.match(order):
        return f"keep to {_lowered(order)}"
    if wanted := _without_verb(sentence, order, spoken) or _generic(sentence, order, spoken):
        return wanted
    if scoped := _SCOPED.match(sentence):
        wanted = _TAIL.sub("", _LEAD.sub("", scoped["what"]))
        if _is_verbless(wanted) and _is_asked(wanted, scoped["where"], sentence):
            return f"{_used(wanted)} in {scoped['where']}"
        return None
    if found := _CONDITION.match(order) or _CONDITION_BEHIND.match(order):
        wanted = _LEAD.sub("", found["order"])
        condition = _lowered(found["condition"])
        asked = found["case"] and _is_asked(wanted, condition, sentence)
        if asked and _is_verbless(wanted):
            return f"{_used(wanted)} {condition}".rstrip(" ,")
    asked = _ASKED.search(sentence) is not None or is_of_manners(sentence)
    if asked and _SET_FOR_GOOD.search(sentence) and _is_verbless(order):
        return _used(order)
    return None


def _is_asked(wanted: str, case: str, sentence: str) -> bool:
    """Return True if what stands beside a case is asked for, rather than told: "hives everywhere".

    >>> _is_asked("prices in euros", "when I book", "When I book, prices in euros")
    True
    >>> _is_asked("knee pain", "when I run", "When I run, knee pain")
    False
    """
    if _PLEASE.search(sentence) or _OF_ASSISTANT.match(case):
        return True
    if is_past(case.lower()) or has_time(case) or _TELLS.search(wanted):
        return False
    if _WITHOUT_OR_ONLY.match(wanted):
        return _NO_THINGS.match(wanted[len("no ") :]) is None
    return is_of_manners(wanted)


def _used(wanted: str) -> str:
    """Return what is wanted as an order: "count carbs" as it is, "metric units" behind "use"."""
    first = wanted.split()[0].lower()
    is_verb_form = Form.BASE in forms(first) and not is_quality(first)
    is_thing = first in _PRODUCED or _MANNERS.match(wanted) is not None
    return _lowered(wanted) if is_verb_form and not is_thing else f"use {_lowered(wanted)}"


def _is_plainly_verb(spoken: list[str]) -> bool:
    """Return True if an order can't begin with a noun: "flag it", not "stomach cramps"."""
    first, second = spoken[:2]
    return first in _MANNER | _WORK or not can_be_noun(first) or second in _OBJECTS


def is_of_manners(text: str) -> bool:
    """Return True if a text names how answers may be: their units, their language, their parts."""
    spoken = {word.lower() for word in WORD.findall(text)}
    return _MANNERS.search(text) is not None or bool(_PRODUCED & spoken)


def _is_verbless(order: str) -> bool:
    """Return True if an order has no verb: "metric units and 24-hour times"."""
    spoken = [word.lower() for word in WORD.findall(order)]
    if not 2 <= len(spoken) <= _MOST_VERBLESS or spoken[0] in _DETERMINED:
        return False
    if any(map(_is_only_verb, spoken)) or _SELF_IN.search(order):
        return False
    if spoken[0] == "no":
        return True
    is_order = _may_order(spoken) and (spoken[0] in _MANNER | _WORK or not can_be_noun(spoken[0]))
    return not is_order


def _is_manner(order: str) -> bool:
    """Return True if an order tells how answers should be: "keep it under five lines"."""
    if _AS_TO.match(order):
        return True
    if _WITHIN.match(order):
        return has_number(order)
    if _TREATED.match(order):
        return _POINTS.search(order) is None
    return _MANNERLY.match(order) is not None and not re.match(r"keep it up", order, re.I)


def _without_verb(sentence: str, order: str, spoken: list[str]) -> str | None:
    """Return the order that is made without a verb: "no emojis", "tabs, not spaces"."""
    if (no := _NO.match(order)) and not _NO_THINGS.match(no["thing"]):
        things = WORD.findall(no["thing"].lower())
        if _PRODUCED & {*things} and not any(map(_is_only_verb, things[1:])):
            return f"use {_lowered(order)}"
    if (
        (preferred := _NOT.match(order))
        and not preferred["one"].lower().startswith(_SELF)
        and spoken[0] not in _MANNER
        and not (_may_order(spoken) and not can_be_noun(spoken[0]))
        and not has_time(order)
        and not has_number(order)
        and _is_choice(preferred["one"].lower(), preferred["other"].lower(), preferred["joint"])
    ):
        return f"use {_lowered(order)}"
    if (manner := _MANNERED.match(order)) and not any(map(_is_only_verb, spoken)):
        return f"write {_lowered(manner[0])}"
    if (less := _LESS.match(order)) and _PRODUCED & {*spoken}:
        return f"use {_lowered(less[0])}"
    if (
        _IN_FORM.match(order)
        and spoken[0] not in _DETERMINED | _MANNER
        and Form.BASE not in (forms(spoken[0]) if not can_be_noun(spoken[0]) else ())
    ):
        return f"use {_lowered(order)}"
    if everywhere := _EVERYWHERE.match(order):
        things = WORD.findall(everywhere["thing"].lower())
        mess = len(things) < 2 and not _is_asked(order, "", sentence)  # "boxes everywhere"
        verbless = not any(map(_is_only_verb, things)) and things[0] not in _DETERMINED
        if verbless and not mess:
            return f"use {_lowered(order)}"
    if _PLAIN.match(order):
        return f"give {_lowered(order)}"
    return None


def _generic(sentence: str, order: str, spoken: list[str]) -> str | None:
    """Return the order that names things of a kind, and how: "Recipes for four, please".

    One thing is ordered once: "A table for four, please".
    """
    if only := _THAT_ONLY.match(order):
        verbless = not any(map(_is_only_verb, spoken)) and spoken[0] not in _DETERMINED
        return f"use {_lowered(only[0])}" if verbless and not has_time(order) else None
    if tongue := _IN_TONGUE.match(order):
        return f"use {tongue['tongue']}" if _FOR_GOOD.search(sentence) else None
    if not _GENERIC.match(order):
        return None
    if not _FOR_GOOD.search(sentence) and spoken[0] not in _REPLIES:
        return None
    if any(map(_is_only_verb, spoken)) or not spoken[0].endswith("s"):
        return None
    singular = spoken[0].removesuffix("s")
    if spoken[0] in _DETERMINED or not (can_be_noun(singular) or can_be_noun(spoken[0])):
        return None
    return f"give {_lowered(_FOR_GOOD.sub('', order).rstrip(' ,'))}"


_GENERIC = regex(
    r"^[a-z-]+s (?:always )?(?:in|as|for|with|without|on|at|by|under|below)\s.{2,60}$", re.I
)
_THAT_ONLY = regex(r"^(?:[\w'.+-]+ ){1,3}only$|^just [\w' -]{2,30}, no [\w' -]{2,30}$", re.I)
_IN_TONGUE = regex(
    rf"^(?:in )?(?P<tongue>(?:(?:british|american|plain|simple) )?{phrases('core.tongues')})$", re.I
)
_REPLIES = frozenset("answers replies responses explanations summaries texts letters".split())
_FOR_GOOD = regex(r",? (?:please|always)\b", re.IGNORECASE)
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
_SELF_IN = regex(r"\b(?:I|we|you|he|she|it|they|there|that|this)\b", re.IGNORECASE)
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


def _may_order(spoken: list[str]) -> bool:
    first = spoken[0]
    return Form.BASE in forms(first) and (len(spoken) < 2 or spoken[1] not in ("is", "was", "are"))


def _lowered(text: str) -> str:
    first = text.split()[0] if text else ""
    return text if not text or first[1:] != first[1:].lower() else text[:1].lower() + text[1:]
