"""Sentences cut into clauses, and the parts of a clause that claims are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from semantic_memory.consolidation.lexicon import GENERAL
from semantic_memory.consolidation.statements import NEGATIONS
from semantic_memory.domain.text import STOP_WORDS, stems

SELF = frozenset("i we me my our user users mine us".split())
OTHERS = frozenset("he she they it you who your his her their".split())

_LEAD = re.compile(
    r"^(?:(?:and|but|or|so|because|also|though|although|that|then|well|yes|yeah|no|oh|ok|okay|hi"
    r"|hello|actually|correction|honestly|btw|by the way|currently|now|these days|today|since|as"
    r"|recently|cool|nice|great|sorry|thanks|for the record|please note|remember)\b[\s:]*)+"
)
_CUT = re.compile(
    r"[.!?;:](?=\s|$)|,|\s[-–—]\s|\s(?:but|though|although|because|since|while|so)\s"
    r"|\sand\s(?=(?:i|we|he|she|they|it|my|his|her|their|has|have|is|am|are|likes?|loves?|hates?"
    r"|works?|lives?|does|do|owns?|prefers?|now)\b)"
)
_UNREAL = re.compile(
    r"\b(?:if|wish|used to|would|might|(?<!\d )may(?= [a-z])|maybe|perhaps|could|plans? to"
    r"|planning to|hop(?:es?|ing) to|wants? to|wanted|thinking of|thinking about|considering"
    r"|do you|are you|have you|did you)\b"
)
_NOT_SUBJECT = NEGATIONS | frozenset(
    """
    the a an really just got get longer anymore stopped started began also now still always even do
    does did have has been am is are be will would can could so much actually
    currently recently usually generally mostly finally simply honestly definitely absolutely
    totally truly probably normally personally officially permanently temporarily occasionally
    """.split()
)
_VALUE_END = re.compile(
    r"\s(?:and|or|with|for|who|that|which|since|because|as|but|when|where|while|after|before|until"
    r"|from|now|currently|instead|these|to|if|than|by|every|at|on|in|too|anymore|any"
    r"|during|except|like|i|so|really|very|most|best|better)\b"
)
_BEFORE_THING = re.compile(
    r"^(?:(?:to|the|a|an|of|for|at|my|some|all|any|going|go|eat|eating|drink|drinking|play|playing"
    r"|listen|listening|watch|watching|do|doing|being|be|in|on|colou?r)\s+"
    r"|(?:cups?|glass|bit|lots?|pieces?|kinds?|types?) of\s+)+"
)
# "likes fishing" and "likes to fish" say nothing of fish
_DOING = re.compile(r"\w+ing\b")
_TO_DO = re.compile(r"to (?!(?:the|a|an|my|eat|drink|play|listen|watch|do|be|have|go)\b)")


def clauses(folded: str) -> Iterator[str]:
    """The clauses of a plain sentence that state something: no questions, wishes, conditions."""
    start = 0
    for mark in [*_CUT.finditer(folded), None]:
        end = mark.start() if mark else len(folded)
        clause = _LEAD.sub("", folded[start:end].strip(" ,.;:!\"'"))
        asks = mark is not None and mark[0].startswith("?")
        if len(clause) > 2 and not asks and not _UNREAL.search(clause):
            yield clause
        start = mark.end() if mark else end


def verb(*alternatives: str) -> re.Pattern[str]:
    """A pattern for a clause with one of these verbs (`verb`) and what follows it (`rest`)."""
    return re.compile(rf"(?:^|\s)(?P<verb>{'|'.join(alternatives)})\s+(?P<rest>\S.*)")


def subject(before: str) -> str:
    """Who the words before a verb speak of: "user" for the user, or a name, or "maya sister"."""
    words = [word for word in re.findall(r"[\w'-]+", before) if word not in _NOT_SUBJECT]
    if not words or words[-1] in SELF or words[-1] in STOP_WORDS - OTHERS:
        return "user"
    if words[-1] in OTHERS:
        return str(words[-1])
    owners = [word for word in words if word in ("my", "our") or word.endswith("'s")]
    if owners and words[-1] != owners[-1]:
        return f"{owner(owners[-1])} {words[-1]}"
    if not SELF.isdisjoint(words[-3:]):
        return "user"
    return str(words[-1]).removesuffix("'s")


def owner(who: str) -> str:
    """Whom a possessive speaks of: "my" and "the" of the user, "maya's" of Maya."""
    word = who.split()[-1].removesuffix("'s")
    return "user" if word in SELF or who == "the" else word


def possessor(clause: str) -> str:
    """Who a clause about looks or favourites is of."""
    for word in clause.split():
        if word in SELF:
            return "user"
        if word.endswith("'s"):
            return owner(word)
        if word in OTHERS:
            return word
    return "user"


def head(rest: str) -> str:
    """What follows a verb, up to the next preposition or conjunction."""
    end = _VALUE_END.search(rest)
    return rest[: end.start()] if end else rest


def items(rest: str) -> Iterator[frozenset[str]]:
    """The stems of each thing in a list, without what only says of what kind it is."""
    for part in re.split(r"\s(?:and|or|nor)\s|,|/|&", rest):
        thing = head(_BEFORE_THING.sub("", part.strip()))
        item = content(thing)
        named = item - GENERAL or item
        if 0 < len(named) <= 3:
            yield named | {"doing"} if _DOING.match(thing) or _TO_DO.match(part.strip()) else named


def ordered(text: str) -> list[str]:
    """The stems of `text` without negations, in order."""
    return [stem for stem in stems(text) if stem and stem not in NEGATIONS]


def content(text: str) -> frozenset[str]:
    """The stems of `text` without negations."""
    return frozenset(ordered(text))
