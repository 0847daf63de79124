"""What a sentence claims of whom: (subject, attribute, value), found by rules.

Two kinds. An *attribute* has one value at a time (home, employer, hair colour, "the deadline is"):
another value is a conflict. A *stance* is for or against one thing (likes jazz, has no pets): only
the opposite stance on the same thing is a conflict, so lists never are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from semantic_memory.maintenance.lexicon import (
    CLASS_OF,
    COLOURS,
    DIETS,
    GENERAL,
    MARITAL,
    SINGLE_VALUED,
)
from semantic_memory.maintenance.statements import NEGATIONS, read
from semantic_memory.text import STOP_WORDS, stems

Kind = Literal["attribute", "stance"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing said of one subject. `value` is a set of stems or numbers."""

    kind: Kind
    subject: str
    attribute: str
    value: frozenset[str]
    positive: bool = True

    @property
    def key(self) -> tuple[str, ...]:
        """Claims with different keys can't conflict."""
        thing = () if self.kind == "attribute" else tuple(sorted(self.value))
        return (self.subject, self.attribute, *thing)


_SELF = frozenset("i we me my our user users mine us".split())
_OTHERS = frozenset("he she they it you who your his her their".split())
_LEAD = re.compile(
    r"^(?:(?:and|but|or|so|because|also|though|although|that|then|well|yes|yeah|no|oh|ok|okay|hi"
    r"|hello|actually|correction|honestly|btw|by the way|currently|now|these days|today|since|as"
    r"|recently|cool|nice|great|sorry|thanks|for the record|please note|remember)\b[\s:]*)+"
)
_CLAUSE = re.compile(
    r"[.!?;:](?=\s|$)|,|\s[-–—]\s|\s(?:but|though|although|because|since|while|so)\s"
    r"|\sand\s(?=(?:i|we|he|she|they|it|my|his|her|their|has|have|is|am|are|likes?|loves?|hates?"
    r"|works?|lives?|does|do|owns?|prefers?|now)\b)"
)
_ADVERB = r"(?:\w+ly|just|got|get|longer|anymore|stopped|started|started to|began|also|now|still|always|never|even|no longer|not|do|does|did|have|has|been|am|is|are|be|will|would|can|could|currently|so|much)"
_VALUE_END = re.compile(
    r"\s(?:and|or|with|for|who|that|which|since|because|as|but|when|where|while|after|before|until"
    r"|from|now|currently|instead|these|to|if|than|by|every|at|on|in|too|anymore|any|lol|haha|tho|during|except|like|i|so|really|very|most|best|the most)\b"
)
_DETERMINER = re.compile(r"^(?:a|an|my|his|her|their|our|some|this|that|one)\s")


def _verb(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^|\s)(?P<verb>{pattern})\s+(?P<rest>\S.*)")


_PLACES = (
    ("home", True, _verb(r"(?:lives?|living|resides?|residing|based|moved|moving|relocated|relocating|settled)(?: back| out| over| from [\w' ]+?)? (?:in|to|at)")),
    ("home", True, _verb(r"(?:home|place of residence|hometown|city) is(?: in)?")),
    ("employer", True, _verb(r"(?:works?|working|employed|joined|joining|(?:new |current )?job|started)(?: as [\w' ]+?)? (?:at|for|by)")),
    ("employer", True, _verb(r"(?:joined|joins|employer is|company is)")),
    ("employer", False, _verb(r"(?:left|quit|leaving|resigned from|fired from|laid off (?:from|by))")),
)  # fmt: skip
_OCCUPATION = _verb(
    r"(?:works?|working|employed|job) as|(?:job|occupation|profession|job title) is|became|promoted to"
)
_LIKES = _verb(
    r"likes?|liked|liking|loves?|loved|loving|enjoys?|enjoyed|enjoying|adores?|prefers?|fan of"
    r"|fond of|(?:am|is|are|really|not) into|obsessed with|passionate about"
)
_DISLIKES = _verb(
    r"hates?|hated|hating|dislikes?|disliked|disliking|detests?|loathes?|despises?|avoids?"
    r"|not stand|not bear|allergic to|afraid of|scared of|sick of|tired of|not care for|bad at"
    r"|sucks? at|not good at|(?:any|every)thing (?:but|except)|except(?: for)?"
)
_JUDGED_BAD = re.compile(
    r"^(?P<thing>.+?) (?:is|are|tastes?|makes? \w+|goes?) (?:\w+ )?(?:gross|disgusting|awful|terrible|the worst|horrible|nasty|cringe|sick|overrated|boring)\b"
)
_FAVOURITE = re.compile(
    r"fav(?:ou?rite)? (?P<kind>(?:[\w'-]+ ){0,2}?[\w'-]+?)s? (?:is|are|was|would be|has to be|:) (?P<value>.+)"
)
_IS_FAVOURITE = re.compile(
    r"^(?P<value>.+?) (?:is|are) (?:\w+ )?(?:my|\w+'s|his|her|their) (?:absolute |all time |all-time )?fav(?:ou?rite)?(?: (?P<kind>[\w' -]+))?"
)
_BARE_FAVOURITE = re.compile(r"fav(?:ou?rite)? (?P<kind>\w+ )?(?P<value>\w+)")
_BEST = re.compile(r"^(?P<value>.+?) (?:is|are) (?:the best|awesome|amazing|great|delicious|the greatest)")
_HAS = _verb(r"has|have|had|having|owns?|got|raising|adopted")
_OWN = re.compile(r"\b(?P<who>my|our|[\w-]+'s) (?P<things>[\w-]+(?: [\w-]+){0,3})")
_COUNT = re.compile(r"^\d+ (?:\w+ )?(?P<thing>[\w-]+)")
_NONE = re.compile(r"\b(?:no|without(?: any)?|zero) (?:\w+ )?(?P<thing>[\w-]+)")
_NOUN_IS = re.compile(
    r"^(?P<who>my|our|the|his|her|their|[\w-]+(?: [\w-]+)?'s) (?P<noun>[\w' -]{2,60}?) "
    r"(?:is|are|was|were|got|has been|have been|will be)(?: now| currently| actually)?(?: (?:changed|moved|set|increased|raised|reduced|lowered|extended|postponed|rescheduled|adjusted|updated|switched))?"
    r"(?: (?:to|at|for|on))? (?P<value>.+)"
)
_AGE = re.compile(
    r"(?:am|is|are|turned|just turned|turning) (?:now )?(?P<age>\d{1,3})(?: years? old| yrs? old|$|\s*(?:years)? of age)"
)
_HAIR = re.compile(r"\bhair\b|\blocks\b|\bmane\b")
_EYES = re.compile(r"\beyes?\b")
_SWITCH = re.compile(
    r"(?:switch(?:ed|es|ing)?|chang(?:ed|es|ing)|migrat(?:ed|es|ing)|mov(?:ed|es|ing)|went) from (?P<old>.+?) to (?P<new>.+)"
)
_REPLACED = re.compile(r"(?:replaced|swapped|traded) (?P<old>.+?) (?:with|for|by) (?P<new>.+)")
_USES = _verb(r"uses?|using|codes? in|writes? in|drinks?|eats?|plays?|speaks?|studies|studying|learns|learning|drives?|smokes?|wears?|watches|practi[sc]es")
_STOPPED = _verb(r"(?:stopped|quit|gave up|given up|no longer|stops|quitting) (?:using|drinking|eating|playing|learning|studying|driving|smoking|wearing|watching|going to|doing)|gave up|given up")


@lru_cache(maxsize=65_536)
def claims(text: str) -> frozenset[Claim]:
    """What `text` claims; empty if no rule reads anything in it."""
    statement = read(text)
    found: set[Claim] = set()
    for clause in _clauses(statement.plain):
        found.update(_of_clause(clause))
    proper = {stem for name in statement.names for stem in stems(name)}
    cased = any(letter.isupper() for letter in text[1:])
    return frozenset(
        claim
        for claim in found
        # who "he" is can't be told from the sentence alone
        if claim.subject.split()[0] not in _OTHERS
        # "joined the community" names no employer; where capitals are used, a place has one
        and (claim.attribute not in ("home", "employer") or not cased or claim.value & proper)
    )


def _clauses(folded: str) -> Iterator[str]:
    start = 0
    for mark in [*_CLAUSE.finditer(folded), None]:
        end = mark.start() if mark else len(folded)
        clause = _LEAD.sub("", folded[start:end].strip(" ,.;:!\"'"))
        asks = mark is not None and mark[0].startswith("?")
        if len(clause) > 2 and not asks and not _UNREAL.search(clause):
            yield clause
        start = mark.end() if mark else end


_UNREAL = re.compile(
    r"\b(?:if|wish|used to|would|might|(?<!\d )may(?= [a-z])|maybe|perhaps|could|plans? to|planning to|hop(?:es?|ing) to"
    r"|wants? to|wanted|thinking of|thinking about|considering|do you|are you|have you|did you)\b"
)


def _of_clause(clause: str) -> Iterator[Claim]:
    words = clause.split()
    negated = not NEGATIONS.isdisjoint(words)
    yield from _attributes(clause, negated)
    yield from _appearance(clause, words, negated)
    yield from _stances(clause, negated)
    yield from _possessions(clause, negated)


def _attributes(clause: str, negated: bool) -> Iterator[Claim]:
    for attribute, positive, pattern in _PLACES:
        if (found := pattern.search(clause)) and (value := _place(found["rest"])):
            subject = _subject(clause[: found.start("verb")])
            yield Claim("attribute", subject, attribute, value, positive is not negated)
    if (found := _OCCUPATION.search(clause)) and (value := _stems(_head(found["rest"]))):
        subject = _subject(clause[: found.start("verb")])
        yield Claim("attribute", subject, "occupation", value, not negated)
    if found := _AGE.search(clause):
        subject = _subject(clause[: found.start()])
        yield Claim("attribute", subject, "age", frozenset({found["age"]}), not negated)
    if (found := _FAVOURITE.search(clause)) and (value := _stems(_head(found["value"]))):
        subject = _subject(clause[: found.start()])
        attribute = " ".join(["favourite", *sorted(_stems(found["kind"]))])
        yield Claim("attribute", subject, attribute, value, not negated)
    elif (found := _NOUN_IS.search(clause)) and not _HAIR.search(clause):
        yield from _named_value(found, negated)
    for word in clause.split():
        if word in MARITAL and re.search(rf"\b(?:am|is|are|got|getting|get|now|still)\b[\w ]*\b{word}\b", clause):
            yield Claim("attribute", _subject(clause.split(word)[0]), "marital status", frozenset({word}), not negated)
        if word in DIETS:
            subject = _subject(clause.split(word)[0])
            denied = re.search(rf"\b(?:not|no longer|never)\b(?: \w+){{0,2}} {word}\b", clause)
            yield Claim("attribute", subject, "diet", frozenset({DIETS[word]}), denied is None)
    if found := re.search(r"\b(?:eats?|eating|love|loves|like|likes|making) (?:\w+ )?(?:meat|bacon|steak|steaks|pork|beef|chicken|ham|burgers)\b", clause):
        yield Claim("attribute", _subject(clause[: found.start()]), "diet", frozenset({"meat"}), not negated)


def _named_value(found: re.Match[str], negated: bool) -> Iterator[Claim]:
    noun = _stem_list(found["noun"].split(" of ")[0].split(" for ")[0])
    if not noun:
        return
    value = read(found["value"])
    measured = value.numbers | value.dates
    exact = noun[-1] in SINGLE_VALUED
    if not exact and not (measured and len(value.content) <= 4):
        return
    subject = _owner(found["who"])
    attribute = " ".join(sorted(set(_stem_list(found["noun"])))) + ("" if exact else " measured")
    content = frozenset(measured) or _stems(_head(found["value"]))
    if content:
        yield Claim("attribute", subject, attribute, content, not negated)


def _appearance(clause: str, words: list[str], negated: bool) -> Iterator[Claim]:
    colours = [word for word in words if word in COLOURS]
    blonde = {"blonde": "blond", "brunette": "brown"}
    if not colours:
        return
    subject = _possessor(clause)
    for pattern, part in ((_HAIR, "hair"), (_EYES, "eye")):
        if found := pattern.search(clause):
            before = [word for word in clause[: found.start()].split() if word in COLOURS]
            after = [word for word in clause[found.end() :].split()[:4] if word in COLOURS]
            other = _EYES if part == "hair" else _HAIR
            colour = before[-1] if before and not other.search(clause[: found.start()].split(before[-1])[-1]) else after[0] if after else None
            if colour:
                yield Claim("attribute", subject, f"{part} colour", frozenset({blonde.get(colour, colour)}), not negated)
    for word in words:
        if word in ("blonde", "brunette", "blond", "redhead") and not _HAIR.search(clause):
            value = blonde.get(word, word)
            yield Claim("attribute", subject, "hair colour", frozenset({value}), not negated)


def _stances(clause: str, negated: bool) -> Iterator[Claim]:
    disliked, liked = _DISLIKES.search(clause), _LIKES.search(clause)
    if liked and not (disliked and disliked.start() <= liked.start()):
        while liked:
            yield from _each(clause, liked, "likes")
            liked = _LIKES.search(clause, liked.end("verb"))
    if disliked:
        yield from _of_each(clause, disliked, "likes", False)
    elif _LIKES.search(clause):
        pass
    elif found := _JUDGED_BAD.search(clause):
        yield from (Claim("stance", "user", "likes", item, negated) for item in _items(found["thing"]))
    elif found := _FAVOURITE.search(clause) or _IS_FAVOURITE.search(clause) or _BARE_FAVOURITE.search(clause):
        subject = _possessor(clause)
        yield from (Claim("stance", subject, "likes", item, not negated) for item in _items(found["value"]))
    elif found := _BEST.search(clause):
        yield from (Claim("stance", "user", "likes", item, not negated) for item in _items(found["value"]))
    if found := _SWITCH.search(clause) or _REPLACED.search(clause):
        subject = _subject(clause[: found.start()])
        yield from (Claim("stance", subject, "uses", item, False) for item in _items(found["old"]))
        yield from (Claim("stance", subject, "uses", item) for item in _items(found["new"]))
    elif found := _STOPPED.search(clause):
        yield from _of_each(clause, found, "uses", False)
    elif found := _USES.search(clause):
        yield from _each(clause, found, "uses")


def _each(clause: str, found: re.Match[str], attribute: str) -> Iterator[Claim]:
    """Claims of the things that a verb is said of; denied only by what stands before them."""
    before = [*clause[: found.end("verb")].split(), found["rest"].split()[0]]
    yield from _of_each(clause, found, attribute, NEGATIONS.isdisjoint(before))


def _of_each(
    clause: str, found: re.Match[str], attribute: str, positive: bool
) -> Iterator[Claim]:
    subject = _subject(clause[: found.start("verb")])
    for item in _items(found["rest"]):
        yield Claim("stance", subject, attribute, item, positive)


_NOT_OWNED = frozenset("not to for time energy my been in on with of".split())


def _possessions(clause: str, negated: bool) -> Iterator[Claim]:
    if found := _HAS.search(clause):
        subject = _subject(clause[: found.start("verb")])
        before = clause[: found.end("verb")].split()
        if "did" in before:
            return  # what was lacking then may be there now
        negated = not NEGATIONS.isdisjoint(before + found["rest"].split()[:1])
        for word in re.split(r"[^\w-]+", found["rest"])[:5]:
            if word in _NOT_OWNED:
                break
            if word in CLASS_OF:
                # "no dogs" leaves room for a cat; "no pets" for none
                thing = CLASS_OF[word] if not negated or _is_class(word) else word
                yield Claim("stance", subject, "has", frozenset({thing}), not negated)
                if not negated and thing != word:
                    yield Claim("stance", subject, "has", frozenset({word}))
                break
    elif (found := _NONE.search(clause)) and (thing := CLASS_OF.get(found["thing"])):
        denied = thing if _is_class(found["thing"]) else found["thing"]
        yield Claim("stance", "user", "has", frozenset({denied}), False)
    elif (found := _COUNT.search(clause)) and (thing := CLASS_OF.get(found["thing"])):
        yield Claim("stance", "user", "has", frozenset({thing}), not negated)
    for found in _OWN.finditer(clause):
        for word in found["things"].split():
            if word in CLASS_OF:
                yield Claim("stance", _owner(found["who"]), "has", frozenset({CLASS_OF[word]}))
                break


def _is_class(word: str) -> bool:
    thing = CLASS_OF[word]
    return word.startswith(thing) or word in ("kid", "kids", "children", "siblings")


def _subject(before: str) -> str:
    words = [
        word
        for word in re.findall(r"[\w'-]+", before)
        if not re.fullmatch(_ADVERB, word)
        and word not in NEGATIONS
        and word not in ("the", "a", "an", "really")
    ]
    if not words or words[-1] in _SELF or words[-1] in STOP_WORDS - _OTHERS:
        return "user"
    if words[-1] in _OTHERS:
        return words[-1]
    owners = [word for word in words if word in ("my", "our") or word.endswith("'s")]
    if owners and words[-1] != owners[-1]:
        owner = _owner(owners[-1])
        return f"{owner} {words[-1]}"
    if any(word in _SELF for word in words[-3:]):
        return "user"
    return words[-1].removesuffix("'s")


def _owner(who: str) -> str:
    word = who.split()[-1].removesuffix("'s")
    return "user" if word in _SELF or who in ("the", "the user's") else word


def _possessor(clause: str) -> str:
    """Who a clause about looks or favourites is of."""
    for word in clause.split():
        if word in _SELF:
            return "user"
        if word.endswith("'s"):
            return word.removesuffix("'s").replace("user", "user")
        if word in ("he", "she", "they", "his", "her", "their", "you", "your"):
            return word
    first = clause.split()[0]
    return first if first not in COLOURS else "user"


def _place(rest: str) -> frozenset[str]:
    if _DETERMINER.match(rest):
        return frozenset()
    return _stems(_head(rest.removeprefix("the ")))


def _head(rest: str) -> str:
    cut = _VALUE_END.search(rest)
    return rest[: cut.start()] if cut else rest


_BEFORE_THING = re.compile(
    r"^(?:(?:to|the|a|an|of|for|at|my|some|all|any|going|go|eat|eating|drink|drinking|play|playing"
    r"|listen|listening|watch|watching|do|doing|being|be|in|on|color|colou?r)\s+"
    r"|(?:cups?|glass|bit|lots?|pieces?|kinds?|types?) of\s+)+"
)


def _items(rest: str) -> Iterator[frozenset[str]]:
    for part in re.split(r"\s(?:and|or|nor)\s|,|/|&", rest):
        head = _head(_BEFORE_THING.sub("", part.strip()))
        item = _stems(head)
        specific = item - GENERAL
        if 0 < len(specific) <= 3:
            yield specific
        elif 0 < len(item) <= 3:
            yield item


def _stem_list(text: str) -> list[str]:
    return [stem for stem in stems(text) if stem and stem not in NEGATIONS]


def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem_list(text))


def conflicting(a: frozenset[Claim], b: frozenset[Claim]) -> tuple[Claim, Claim] | None:
    """A claim of `a` and one of `b` that can't both hold, if there are any."""
    for left in a:
        for right in b:
            if left.key[:2] != right.key[:2] or left.kind != right.kind:
                continue
            if left.kind == "stance":
                if left.value == right.value and left.positive != right.positive:
                    return left, right
            elif left.positive != right.positive:
                if left.value <= right.value or right.value <= left.value:
                    return left, right
            elif left.positive and not (left.value <= right.value or right.value <= left.value):
                return left, right
    return None
