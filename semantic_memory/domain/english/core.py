"""Recognise facts about the user that nearly every answer may need: the core of a profile."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from semantic_memory.domain.english.calendar import WEEKDAY
from semantic_memory.domain.english.employers import joins_no_employer
from semantic_memory.domain.english.homes import moves_elsewhere
from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.facts import Category
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.profile import CoreField


def _any(*entries: str) -> re.Pattern[str]:
    return regex(rf"(?<![\w'-]){phrases(*entries)}(?:'s)?(?![\w'-])", re.IGNORECASE)


_WORDS = r"(?:,?[ ][\w&'’.-]+)"
_ADVERBS = r"(?:(?:also|now|still|really|just|currently|actually|\w+ly) )?"
_NAME = regex(
    r"^I (?:am|is) (?:(?:Dr|Prof|Professor|Mr|Mrs|Ms)\.? )?"
    rf"(?!\w+ing\b|\w*\d|(?i:{phrases('core.peoples', 'core.tongues')})\b)[A-Z][\w'’-]+"
)
_CALLED = regex(
    r"^(?:\w+|my \w+|most \w+) (?:\w+ ){0,3}(?:calls?|knows?) I (?:as )?(?-i:[A-Z])"
    r"|^[A-Z][\w'’-]+ is my (?:\w+ )?name\b"
    r"|^(?:every(?:one|body)|people|most people|friends)(?: \w+){0,3} (?:says?|uses?) (?-i:[A-Z])"
    r"[\w'’-]+\W*$"
    r"|^(?:just |plain )?(?:(?:Dr|Prof|Mr|Mrs|Ms|Miss)\.? )?(?-i:[A-Z])[\w'’-]+"
    r" (?:will do|is (?:fine|enough|ok|okay)|suits (?:I|me)|works for (?:I|me))\W*$",
    re.IGNORECASE,
)
_TONGUE = phrases("core.tongues")
_DWELLING = phrases("core.dwellings")
_ALLERGENS = phrases("core.allergens")
_ABSTAINED = phrases("core.abstained")
_ROLES = phrases("core.roles", "shorthand.roles", "shorthand.own_roles")
_PROPER = r"(?-i:[A-ZÀ-Þ\d])"  # of a place's name or address
_BY_SIGN: dict[CoreField, tuple[re.Pattern[str], ...]] = {
    "instructions": (
        _any("core.instructions"),
        regex(
            r"^(?:when(?:ever)?|if|(?:each|every) time) I [^.,;]+, (?:please )?"
            rf"{phrases('core.orders')}\b",
            re.IGNORECASE,
        ),
        regex(
            r"^(?:when(?:ever)?|if|(?:each|every) time) I asks? (?:[\w'-]+ ){1,5}?"
            rf"{phrases('core.orders')} (?:it|them|I|me|only|always|the)\b",
            re.IGNORECASE,
        ),
        regex(
            r"\b(?:should|must|ha(?:s|ve) to|needs? to) (?:always )?be (?:written )?in "
            rf"(?:\w+ and )?{_TONGUE}\b",
            re.IGNORECASE,
        ),
    ),
    "name": (
        _any("core.name"),
        _NAME,
        regex(r"\b(?:my|the|first|last|middle|full) name\b(?! (?:of|for)\b)", re.IGNORECASE),
    ),
    "allergies": (
        _any("core.allergies"),
        regex(rf"\bno (?:more )?{_ALLERGENS} for (?:me|I)\b", re.IGNORECASE),
        regex(rf"\bcan(?:'t|not| not) (?:do|handle|take|stand near) {_ALLERGENS}\b", re.I),
        regex(
            r"\b(?:must|ha(?:ve|s) to|needs? to) (?:avoid|steer clear of|stay away from) "
            rf"(?:\w+ )?{_ALLERGENS}\b|\b(?:never|not) to (?:eat|have|take|touch|go near) "
            rf"(?:\w+ )?{_ALLERGENS}\b",
            re.IGNORECASE,
        ),
    ),
    "diet": (
        _any("core.diet"),
        regex(
            rf"\bno (?:more )?{_ABSTAINED} for (?:me|I)\b|^no more {_ABSTAINED}\b"
            rf"|\b(?:doesn't|don't) have {_ABSTAINED}\b"
            rf"|\bcan(?:'t|not| not) (?:do|handle|take|stand) {_ABSTAINED}\b"
            rf"|\bonly eats? {_ABSTAINED}\b"
            rf"|\beats? (?:very |only |hardly any )?(?:little|less|few|any) {_ABSTAINED}\b"
            rf"|\b(?:doesn't|don't) do (?:\w+ or )?{_ABSTAINED}\b"
            rf"|\b{phrases('core.gives_up')} (?:out |off |all |any )?{_ABSTAINED}\b",
            re.IGNORECASE,
        ),
    ),
    "health": (_any("core.health", "possessions.ailments"),),
    "home": (
        _any("core.home"),
        regex(
            rf"^(?:my|our) (?:[\w-]+ ){{0,2}}{_DWELLING}\b.* (?:in|on|near|next to|by) .*{_PROPER}",
            re.I,
        ),
        regex(rf"\b{phrases('core.housed')} (?:[\w-]+ ){{0,4}}{_DWELLING}\b.* {_PROPER}", re.I),
        regex(
            rf"\b(?:my|our|their|a) {_DWELLING} (?:in|near) {_PROPER}"
            rf"|\bI (?:(?:have|has) lived|lives?) (?:[\w-]+ ){{0,5}}(?:in|near|outside) {_PROPER}",
            re.IGNORECASE,
        ),
        regex(rf"^I (?:am|are|is) (?:back )?in {_PROPER}[\w'-]+ (?:from|since|for good)\b", re.I),
        regex(rf"^I (?:am|are|is) (?:all )?(?:in|near|outside) {_PROPER}[\w'-]+\W*$", re.I),
        regex(rf"^I (?:am|is) currently in {_PROPER}\w+(?:$|\W| on an? .*visa)", re.I),
        regex(rf"^I (?:am|are) {_PROPER}\w+ (?:people|folks?|locals|residents) now\b", re.I),
        regex(rf"\bhere (?:is )?in {_PROPER}|^I (?:am|is) an? {_PROPER}\w+er\b", re.I),
    ),
    "work": (
        _any("core.work"),
        regex(
            rf"^(?:I (?:am|is)|is|am)(?!.* and I\b){_WORDS}{{0,5}}? {_ROLES}\b"
            rf"|^as an? (?:[\w-]+ )?{_ROLES} I\b",
            re.IGNORECASE,
        ),
        regex(rf"^I (?:(?:have|has) )?been an? (?:[\w-]+ )?{_ROLES}\b", re.I),
        regex(
            rf"^(?:I )?(?:am|is) {_ADVERBS}an? (?:[\w-]+ )?(?!{phrases('core.no_roles')}\b)"
            r"\w{2,}(?:er|or|ist|ian|ary|smith|wright|man|woman)\b(?! (?:of|at heart|and I)\b)",
            re.IGNORECASE,
        ),
        regex(rf"^I {_ADVERBS}drives? (?:(?:an?|the|my) )?{phrases('core.vehicles')}\b", re.I),
        regex(rf"^(?:at|in) (?:my|our) (?:[\w-]+ )?{phrases('core.employers')}\b", re.I),
        regex(
            rf"^I {_ADVERBS}{phrases('core.does')} (?:[\w-]+ ){{0,6}}?"
            rf"{phrases('core.employers')}\b(?! runs?\b)",
            re.IGNORECASE,
        ),
        regex(
            r"^I am (?:on|in|with|at) the .* (?:at|of) (?:an?|the|my) "
            rf".*{phrases('core.employers')}\b",
            re.IGNORECASE,
        ),
        regex(rf"^(?:my|our) (?:[\w-]+ )?team at {_PROPER}", re.IGNORECASE),
        regex(rf"^I {_ADVERBS}(?:started|began|starts?) (?:\w+ )?(?:at|with) (?-i:[A-Z])", re.I),
    ),
    "languages": (
        regex(
            rf"\b{phrases('core.languages')}(?:,? (?!an?\b|the\b)\w+){{0,3}}?"
            rf" (?:\w+ and )?{_TONGUE}\b"
            rf"|^(?:my|our) {_TONGUE} (?:is|isn't)\b"
            rf"|\b{_TONGUE} (?:is|isn't|was) (?:my|our|the)"
            r" (?:first|native|second|third|language)\b"
            r"|^(?-i:[A-Z])\w+ is (?:my|our) (?:first |native |home |own )?"
            r"(?:language|mother tongue)\b"
            rf"|\b{_TONGUE} (?:is|comes) (?:\w+ )?"
            r"(?:easy|hard|difficult|easily) (?:for|to) (?:I|me)\b"
            rf"|^{_TONGUE} (?:or|and) {_TONGUE} (?:(?:is|are) )?(?:both )?(?:ok|okay|fine|good)\b"
            rf"|\b{_TONGUE} (?:lessons?|class(?:es)?|courses?)\b"
            rf"|^{_TONGUE} (?:only )?(?:with|at|for|on|is what) (?:my|our|the|home|work|\w+s\b)"
            rf"|^{_TONGUE} (?:is|was) (?:my|our) [\w-]+'s? (?:\w+ )?(?:language|tongue)\b"
            rf"|\blanguages?\b.* (?:is|are) (?:\w+,? (?:and )?){{0,2}}{_TONGUE}\b"
            r"|\bspeaks? (?-i:[A-Z]{2}(?:[/, ]+[A-Z]{2})*)(?![\w'])"
            rf"|\bspeaks? an? (?:little|bit of) {_TONGUE}\b|\ba (?:little|bit of) {_TONGUE}\b",
            re.IGNORECASE,
        ),
    ),
}
"""Signs of the fields, the most specific first."""

_ROLE_FIRST = regex(rf"^(?:[\w-]+ ){{0,3}}{_ROLES} (?:for|at|in|with)\b.*, I\b", re.I)
_UNEATEN = regex(
    rf"^(?:\w+ )?{_ABSTAINED} (?:isn't|aren't|is not|are not|is never|are never) "
    r"(?:eaten|served|cooked|allowed|on the table) .*\b(?:my|our)\b",
    re.IGNORECASE,
)
_ONE_BITE = regex(
    rf"^(?:one|a|any|even one) (?:sip|bite|drop|spoon|spoonful|crumb|whiff|trace) of "
    rf"(?:\w+ )?{_ALLERGENS}\b.*\b(?:I|my)\b",
    re.IGNORECASE,
)
_REACTS = _any("core.reactions")
_SUFFERS = regex(
    rf"^(?:the |any |even |all )?(?:[\w-]+ (?:and|or) )?{_ALLERGENS}\b"
    rf".*\b{phrases('core.symptoms')}\b",
    re.IGNORECASE,
)
_FORBIDDEN = regex(
    rf"^(?:\w+ )?{_ALLERGENS} (?:is|are) .*\b{phrases('core.forbidden')}\b", re.IGNORECASE
)
_ME = regex(r"\b(?:I|me|my)\b", re.IGNORECASE)
_ABOUT = regex(
    r"^I (?:\w+ ){0,3}?(?:watched|read|saw|heard|wrote|listened|dreamt|dreamed)\b"
    r".* (?:about|of|on) "
)
_ILL = _any("core.health", "possessions.ailments")
_IS_WORK = _any("core.work")
_OF_OTHERS = regex(
    rf"^(?:one of )?(?:my|our) (?:[\w-]+ ){{0,2}}?{phrases('core.others')}\b", re.IGNORECASE
)
_OTHERS = _any("core.others")
_FAMILY = _any("core.family", "core.pets", "possessions.kin", "possessions.animals")
_KIN = rf"{phrases('core.family', 'core.pets')}"
_SOME = r"(?:both|all|one|two|three|most) (?:\w+ )?(?:of )?"
_OF_KIN = regex(
    rf"^(?:(?:{_SOME})?(?:my|our|the) (?:[\w-]+ ){{0,2}}?{_KIN}"
    rf"|there(?:'s| is| are) (?:an?|my|our|two|three|four) (?:[\w-]+ ){{0,2}}?{_KIN}"
    rf"|{phrases('core.elders')}|{_KIN}(?:'s| (?:is|are|has|have|was|says|wants|works|lives)))\b",
    re.IGNORECASE,
)
_OF_PET = regex(
    rf"^(?:my|our|the) (?:[\w-]+ ){{0,2}}{phrases('core.pets')}\b(?!'s| \w+er\b)", re.IGNORECASE
)
_HAS_KIN = regex(
    r"^(?:(?:[\w-]+ and |(?:these days|now|currently|at the moment),? )?I )?"
    rf"{_ADVERBS}{phrases('core.has_kin')}\b.*\b{_KIN}\b"
    r"|\bshares? (?:an?|the|my|our|their) \w+ with\b|\bI and\b.*\bare\b"
    r"|\band (?:I|others?) (?:are|is)\b"
    rf"|^I (?:am|is|are) .*\b{_KIN}\b",
    re.IGNORECASE,
)
_NAMES_KIN = regex(
    rf"^(?P<owner>[\w' -]{{2,40}}?) (?:has|have) an? (?P<kin>(?:[\w-]+ ){{0,2}}?{_KIN}),? "
    rf"(?:named |called )?(?P<name>{_PROPER}[\w'-]+(?: {_PROPER}[\w'-]+)*)\W*$",
    re.IGNORECASE,
)
_TIES = regex(rf"\b(?:am|is|are|was|got|been|be) {_ADVERBS}{phrases('core.ties')}\b", re.I)
_TAKEN_IN = regex(rf"\b(?:adopted (?:\w+ ){{1,3}}?|foster ){_KIN}\b", re.IGNORECASE)
_TREATED = regex(
    rf"^(?:(?:the|my) )?(?:[a-z]+ )?{phrases('core.healers')}"
    r" (?:says?|said|(?:has |had )?put|wants?|told|has (?:I|me) on|prescribed|advised"
    r"|found)\b.* (?:I|me|my|their)\b",
    re.IGNORECASE,
)
_SENSITIVE = _any("core.sensitive")
_OWN = regex(
    r"^(?:I|my|our|we|no|not|please|always|never|don't)\b|^[a-z]"
    r"|^the \w+ (?:should|must|ha(?:s|ve) to|needs? to)\b",
    re.IGNORECASE,
)
_USER = regex(r"\b(?:the user and others|the user|(?<![\w-])user)\b(?!-)", re.IGNORECASE)
_BEGINS = regex(r"^(?:[A-Z][\w'’-]+)")
_ADVERBIAL = regex(
    r"^(?:from|in|at|since|after|before|until|when|if|on|for|by|as|now|currently|these days|every"
    rf"|next|this|last|one (?:sip|bite|drop|whiff)|{WEEKDAY})\b"
    r"[^.;]{0,50}?(?:,| on| and)? (?:I|we|my) (?!\w+'s\b)",
    re.IGNORECASE,
)
_WHEN = regex(  # it holds, before the user: "from May I am a guide"
    r"^(?:from|since|as of|starting|in|on|at|now|these days|currently|here|again|next|this)\b"
    r"[^.;,]{0,40}?,? (?=I (?:am|is|are|work|live)s?\b)",
    re.IGNORECASE,
)
_SO = regex(
    r"\b(?:so|therefore|that's why),? (?:now )?(?=I\b)"
    r"|, (?=I (?:am|is|are|has|have|works?|lives?|runs?)\b)"
)
_FOR_ME = regex(r"\b(?:no|not|nothing|never|only)\b[^.;]* for me\b", re.IGNORECASE)
_ASIDE = regex(r",? (?:by the way|btw|actually|I think|as you know|anyway)\b", re.IGNORECASE)
_SENTENCE = regex(r"(?<=[a-z\d]{3}[.!?])\s+(?=[A-Z])")  # not behind "Dr."
_LONG = 20  # words from which on a line of the core is cut
_WHOLE = 4  # words that stay
_SPOKEN_OF = regex(
    rf"^(?:my|our) (?:mother tongue|{_TONGUE})\b|^{_TONGUE} |^\w+ is (?:my|our)\b", re.IGNORECASE
)
_HERE = regex(
    r"^home (?:for \w+ )?is\b|^(?:\w+ ){1,4}(?:off the (?:menu|table)|a no-go) for I\b",
    re.IGNORECASE,
)
_WISHED = regex(
    r"^(?:(?:the )?\w+ thing|what|one day,?|some ?day,?) I\b"
    r"|^(?:the|our) (?:plan|goal|aim|dream|ambition) is to\b|^goals?(?: for [^:]{2,30})?: ",
    re.IGNORECASE,
)
_TOGETHER = regex(r"^[A-ZÀ-Þ][\w'’-]+ and I\b")
_VERDICT = regex(r" (?:confirmed|corrected) the assistant's answer \"")
_POINTS = regex(  # at what was told in confidence, which no block without need may show
    r"\b(?:mention|tell|repeat|say|discuss|share) (?:it|this|that|them|anyone|anybody|nobody)\b"
    r"|\bkeep (?:this|it|that) (?:to itself|between|secret|private|quiet)\b"
)
_LINKS = regex(
    r"^(?:[a-z]{2,}ing|on|off|back|between|maternity|paternity|parental"
    r"|[a-z]+s|am|have|did|do|can|will|would)$|^(?:[a-z]+ed|went|got|bought|grew|left|took)$"
)
_ASKED = frozenset({Category.FEEDBACK})
_HEARD = regex(
    rf"^(?:between (?:us|we|you and me)\b|(?:I|we) {_ADVERBS}{phrases('core.heard')}\b)[,:]?"
    r" (?:that )?",
    re.IGNORECASE,
)
_OWN_PART = regex(r"^(?:(?:\w+,? ){0,2}(?:I|we)\b|my\b|our\b)", re.IGNORECASE)
_PERSON = regex(
    r"^(?:one of )?(?:my|our|the|a|an) (?:[\w-]+ ){0,2}?"
    rf"(?P<who>{phrases('core.others', 'core.family')})\b",
    re.IGNORECASE,
)
_NAME_LIKE = (
    r"(?!(?:The|My|Our|An|One|He|She|They|It|You|We|This|That|What|There)\b)"
    r"[A-ZÀ-Þ][^\W\dA-Z_][\w-]*"
)
_OF_NAMED = regex(rf"^(?:my|our) (?:[a-z-]+ ){{1,3}}(?P<who>{_NAME_LIKE})\b(?!'s)")
_VERB = r"(?:is|was|has|had|got|told|said|and|who|does|did|came|\w+ed|\w+s)"
_NAMED = regex(rf"(?<=[a-z,:] ){_NAME_LIKE}|^{_NAME_LIKE}(?=(?:'s \w+|,)? {_VERB}\b)")
# "My parents like him" leaves open whom
_OF_UNNAMED = regex(
    r"^(?:my|our|the) (?:[\w-]+ )?(?:parents|kids|children|sisters|brothers|folks|grandparents)\b"
    r"(?:(?! (?-i:[A-Z])[a-z]).)*\b(?:he|she|him|her)\b",
    re.IGNORECASE,
)
_THIRD = regex(r"\b(?:he|she|him|her|his)\b", re.IGNORECASE)
_OVER = regex(rf"(?<![\w'-]){phrases('core.over')}(?![\w'-]| notice\b)", re.IGNORECASE)
_PARTED = regex(
    r"\bI (?:and|n|&) [A-ZÀ-Þ]\w+ (?:are|have) (?:\w+ )?"
    r"(?:done|over|finished|through|split|broken)\b"
)
_LASTING = frozenset({"home", "work", "languages"})  # fields that end when they are over


def core_field(content: str, category: Category, names: Collection[str] = ()) -> CoreField | None:
    """Return the field of the core profile that a fact belongs to; None for most facts.

    `names` are those of the user, in lower case. Facts about other people belong to `family` at
    most, and to no field if they are sensitive.

    >>> core_field("The user is vegetarian", Category.PREFERENCE)
    'diet'
    >>> core_field("The user's sister Ida lives in Bonn", Category.PERSONAL)
    'family'
    >>> core_field("The user's friend Ida is getting divorced", Category.PERSONAL)
    """
    text = _in_first_person(content, frozenset(names))
    if category in _ASKED or any(sign.search(text) for sign in _BY_SIGN["instructions"]):
        asks = category is Category.FEEDBACK or _OWN.match(text)
        return "instructions" if asks and not _POINTS.search(text) else None
    if _ABOUT.match(text):
        return None
    if field := _whatever_the_subject(text):
        return field
    if _OF_KIN.match(text):
        if _OF_UNNAMED.match(text):
            return None
        private = _SENSITIVE.search(text) or _ILL.search(text)
        return None if private and not _OF_PET.match(text) else "family"
    if _OF_OTHERS.match(text):
        return "work" if _IS_WORK.search(text) and not _SENSITIVE.search(text) else None
    return _of_the_user(_WHEN.sub("", text)) if _is_own(text) else _by_consequence(text)


def _by_consequence(text: str) -> CoreField | None:
    """Return the field of what follows for the user: "rent went up so I got a room in Leith"."""
    found = _SO.search(text)
    return _of_the_user(text[found.end() :]) if found and not _of_kin_or_others(text) else None


def _whatever_the_subject(text: str) -> CoreField | None:
    """Return the field of a text about the user whose subject is another: "Nuts could kill me"."""
    if _CALLED.match(text):
        return "name"
    if _TREATED.match(text):
        return "health"
    if _SPOKEN_OF.match(text) and any(sign.search(text) for sign in _BY_SIGN["languages"]):
        return "languages"
    if _of_kin_or_others(text):
        return "allergies" if _REACTS.search(text) else None
    if _UNEATEN.match(text):
        return "diet"
    if _ROLE_FIRST.match(text):
        return "work"
    if _ONE_BITE.match(text):
        return "allergies"
    suffers = (_SUFFERS.match(text) and _ME.search(text)) or _FORBIDDEN.match(text)
    return "allergies" if suffers or _REACTS.search(text) else None


def _of_kin_or_others(text: str) -> bool:
    return any(sign.search(text) for sign in (_FAMILY, _THIRD, _OTHERS))


def _of_the_user(text: str) -> CoreField | None:
    """Return the field of a text about the user; None if it tells on others too."""
    if _PARTED.search(text):
        return None
    is_over = _OVER.search(text) is not None
    for name, signs in _BY_SIGN.items():
        if (
            (is_over and name in _LASTING)
            or (name == "home" and moves_elsewhere(text))
            or (name == "work" and joins_no_employer(text.lower()))
        ):
            continue
        if any(sign.search(text) for sign in signs):
            mentions_kin = name in ("health", "allergies", "diet") and _FAMILY.search(text)
            return None if mentions_kin and _HAS_KIN.search(text) and _others(text) else name
    if (_HAS_KIN.search(text) or _TIES.search(text)) and not _others(text):
        return "family"
    return None


def _others(text: str) -> bool:
    """Return True if a text about the user and others says something sensitive."""
    own = _TAKEN_IN.sub(" ", _TIES.sub(" ", text))
    return _SENSITIVE.search(own) is not None


def _is_own(text: str) -> bool:
    """Return True if the user is what a text in the first person is about."""
    first = text.split(maxsplit=1)[0]
    if first.lower() in ("i", "my", "our", "we", "no", "not") or _ADVERBIAL.match(text):
        return True
    if any(sign.search(text) for sign in (_FOR_ME, _TOGETHER, _HERE, _WISHED)):
        return True
    # "Lives in Oslo": a sentence without its subject
    return _LINKS.match(first.lower()) is not None and not first.lower().endswith(("ss", "us"))


@lru_cache(maxsize=16_384)
def _in_first_person(content: str, names: frozenset[str]) -> str:
    text = " ".join(content.replace("’", "'").split())
    if found := _BEGINS.match(text):
        whole = found[0].removesuffix("'s")
        if whole.lower() in names:
            text = f"the user{text[len(whole) :]}"
    text = re.sub(r"\b(?:the user and others)\b", "we", text, flags=re.IGNORECASE)
    text = re.sub(r"^we\b", "I", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(?:the user's|user's)\s", "my ", text, flags=re.IGNORECASE)
    text = re.sub(r"\bfor the user\b|\bgive the user\b", lambda m: m[0][:-8] + "me", text)
    text = re.sub(r"\b(?:the )?user\b(?!-)", "I", text, flags=re.IGNORECASE)
    return re.sub(r"\bI'm\b", "I am", re.sub(r"\bI've\b", "I have", text))


def is_verdict(content: str) -> bool:
    """Return True if a fact judges one answer of the assistant, rather than asking for a manner."""
    return _VERDICT.search(content) is not None


def names_a_need(text: str) -> bool:
    """Return True if a text names an allergy, a diet, or a state of health, whoever's it is.

    >>> names_a_need("Find a gluten-free cake"), names_a_need("Find a cake")
    (True, False)
    """
    needs: tuple[CoreField, ...] = ("allergies", "diet", "health")
    return any(sign.search(text) for name in needs for sign in _BY_SIGN[name])


def tells_of_kin(content: str, having: str) -> bool:
    """Return True if a text names, in passing, the one whom another says that its owner has.

    >>> having = "The user has a son, Wout"
    >>> tells_of_kin("The user lives in Ghent with their son Wout", having)
    True
    >>> tells_of_kin("The user's name is Wout, after a son of the founder", having)
    False
    """
    had = _NAMES_KIN.match(having)
    if had is None:
        return False
    owner, kin, name = (re.escape(had[part]) for part in ("owner", "kin", "name"))
    one = rf"{kin},? {name}(?![\w-])"
    theirs = rf"^{owner} .*\b(?:my|our|their|his|her) {one}"
    return re.search(rf"\b{owner}'s {one}|{theirs}", content, re.IGNORECASE) is not None


def mentions_others(text: str) -> bool:
    """Return True if a text speaks of other people, or of what people keep to themselves."""
    return _of_kin_or_others(text) or _SENSITIVE.search(text) is not None


def tells_on_others(content: str) -> bool:
    """Return True if a text says something sensitive, and not about the user first of all."""
    return bool(told_of_others(content))


@lru_cache(maxsize=16_384)
def told_of_others(content: str) -> tuple[str, ...]:
    """Return the people of whom a text says something sensitive, and what; empty for most texts.

    >>> told_of_others("The user's friend Anna is getting divorced")
    ('divorced', 'Anna', 'friend')
    >>> told_of_others("The user is getting divorced")
    ()
    """
    if _SENSITIVE.search(content) is None:
        return ()
    words: list[str] = []
    for sentence in _SENTENCE.split(_in_first_person(content, frozenset())):
        told = _HEARD.sub("", sentence)
        found = [match[0] for match in _SENSITIVE.finditer(sentence)]
        people = [name for name in _NAMED.findall(told) if name not in found]
        if head := _PERSON.match(told) or _OF_NAMED.match(told):
            people.append(head["who"])
        own = _OWN_PART.match(told) and not (head and told.lower().startswith(("my", "our", "one")))
        if found and not own and (people or _THIRD.search(told)):
            words += [*found, *people]
    return tuple(words)


@lru_cache(maxsize=16_384)
def shortened(content: str, category: Category) -> str:
    """Return the part of a fact that makes it one of the core.

    >>> told = "The user has asthma, so the windows of the bedroom have to stay open all night"
    >>> told += " from May to October"
    >>> shortened(told, Category.PERSONAL)
    'The user has asthma'
    """
    text = _ASIDE.sub("", content)
    if len(text.split()) < _LONG:
        return text
    name = core_field(content, category)
    first = _SENTENCE.split(text)[0]
    if name != "instructions" and core_field(first, category) == name:
        text = first
    parts = text.split(", ")
    while name != "instructions" and len(text.split()) >= _LONG and len(parts) > 1:
        parts.pop()
        cut = ", ".join(parts)
        if len(cut.split()) < _WHOLE or core_field(cut, category) != name:
            break
        text = cut
    return text


def name_in(content: str) -> str | None:
    """Return the first word of a fact if it may be a name, in lower case.

    >>> name_in("Maya is vegetarian"), name_in("The user is vegetarian")
    ('maya', None)
    """
    found = _BEGINS.match(content)
    if found is None:
        return None
    word = found[0].replace("’", "'").removesuffix("'s")
    return None if word.lower() in _NO_NAMES else word.lower()


_NO_NAMES = frozenset("the a an i my our we no not he she they it this that in on at from".split())
