"""What a sentence says that must not be lost in a comparison: words, numbers, dates, names, "not".

Embeddings put "lives in Berlin" and "doesn't live in Berlin", or "5 cups" and "7 cups", next to
each other. These readings are what tells them apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from text_to_num import alpha2digit

from semantic_memory.domain.text import STOP_WORDS, stems

NEGATIONS = frozenset("not no never none nobody nothing neither nor without nowhere".split())

_CONTRACTIONS = (
    (re.compile(r"\b(?:can'?t|cannot|can t)\b"), "can not"),
    (re.compile(r"\bcan not wait\b"), "look forward"),
    (re.compile(r"\bwon'?t\b"), "will not"),
    (re.compile(r"\bain'?t\b"), "is not"),
    (
        re.compile(r"\b(do|does|did|is|are|was|were|has|have|had|would|could|should)n['\s]?t\b"),
        r"\1 not",
    ),
    (re.compile(r"\b(i|you|we|they|he|she|it)'(?:m|re)\b"), r"\1 are"),
    (re.compile(r"\bi m\b"), "i am"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"\b(he|she|it|that|there|what|who|here)'s\b"), r"\1 is"),
)
# what others wrote down about the user reads as if the user had said it
_USER = (
    (re.compile(r"\bthe user's\b|^user's\b"), "my"),
    (re.compile(r"\bthe user\b|^user\b(?=\s+(?:[a-z]+s|[a-z]+ed|can|will|did|had|has|is)\b)"), "i"),
)
_SPELLED = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty"
    r"|fort?y|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion)\b"
)
_COUNTED = 1.5  # "one" is mostly an article or a pronoun
_NUMBER = re.compile(r"(?<![\w.])[$€£]?(\d+(?:[.,:/-]\d+)*)(?:\s*(%|k\b|[a-z]{1,3}\b))?")
_MONTH = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_CALENDAR = re.compile(
    rf"\b(\d{{4}}-\d\d(?:-\d\d)?)\b"
    rf"|\b(?:on|in|of|by|since|until|till|from|before|after|this|last|next)\s+({_MONTH})\b"
    rf"|\b({_MONTH})\.?\s+\d|\d(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})\b"
    r"|\b((?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b"
)
_DAY = re.compile(
    rf"\b({_MONTH})\.?\s+(\d{{1,2}})\b|\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})\b"
)
_MONTHS = frozenset("jan feb mar apr may jun jul aug sep oct nov dec".split())
_RELATIVE = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|(?:last|next|this|past)\s+(?:week|month|year|weekend"
    r"|night|morning|evening|spring|summer|autumn|fall|winter|[a-z]+day)|(?:a|\d+|few)\s+"
    r"(?:minutes?|hours?|days?|weeks?|months?|years?)\s+ago|just|recently|earlier)\b"
)
_NAME = re.compile(r"[^\W\d_][\w'’&+#-]*")
_NOT_NAMES = STOP_WORDS | frozenset(
    "user users someone somebody everyone everybody anyone anybody nobody people one".split()
)
_TOLD = frozenset(
    """likes loves enjoys hates dislikes prefers lives works plays speaks drinks eats uses drives
    owns has wants needs knows goes gets wakes studies reads writes runs makes takes keeps considers
    thinks believes feels practices practises attends teaches trains wears watches listens plans
    hopes collects dreams cooks bakes travels visits sings dances paints swims smokes trusts fears
    avoids follows supports manages leads builds maintains deploys codes develops is was can does
    cannot born living working learning allergic married moved joined graduated""".split()
)
"""Words that begin what is told of the user without naming them: "Likes tea"."""
_TITLE = 0.6
"""Share of capitalised words above which a text is a headline, whose capitals mean nothing."""
_AFTER_NAME = re.compile(
    r"\s+(?:is|was|has|had|will|would|did|does|can|isn't|wasn't|doesn't|didn't|[a-z]+[^s\W]s"
    r"|[a-z]+ed)\b"
)
_HEDGE = re.compile(
    r"\b(?:if|might|maybe|perhaps|possibly|wish(?:es)?|hopes? to|plans? to|planning to"
    r"|thinking (?:of|about)"
    r"|considering|would (?:like|love)|wants? to|wanted to|going to|will|used to)\b"
)
_CHANGE = re.compile(
    r"\b(?:no longer|not any ?more|any ?more|switch(?:ed|es|ing)?|mov(?:ed|es|ing)|relocat\w+"
    r"|chang(?:ed|es|ing)|replac\w+|quit|left|stopped|gave up|broke up|sold|cancel\w*|instead"
    r"|used to|now|adjusted|updated|increased|decreased|reduced|raised|lowered|extended|postponed"
    r"|rescheduled|improved|upgraded|migrated|became|promoted|dropped|retired|anymore|actually"
    r"|correction|turned out|these days|currently|recently|finally|new)\b"
)
_MOVES = re.compile(
    r"\b(?:rescheduled?|postponed?|extended|moved|pushed back|brought forward|delayed|changed"
    r"|shifted|adjusted)\b"
)
_FIGURE = re.compile(
    r"(?P<currency>[$€£])?(?<![\w.])(?P<value>\d+(?:[.,]\d+)*)(?P<k>k\b)?"
    r"(?:\s*(?P<percent>%|percent\b)|[\s-]*(?P<nouns>[a-z]+(?: [a-z]+)?))?"
)
_PAST = re.compile(
    r"\b(?:was|were|did|had|went|got|made|took|saw|met|gave|came|found|ran|won|lost|bought|sold"
    r"|told|said|began|wrote|ate|drank|drove|flew|spent|sent|built|taught|thought|felt|held|read"
    r"|heard|led|kept|caught|joined|left|[a-z]{2,}ed)\b"
)
_STATIVE = re.compile(
    r"\b(?:is|are|am|has|have|'s|lives?|works?|likes?|loves?|hates?|prefers?|owns?|uses?|needs?"
    r"|wants?|knows?|speaks?|costs?|weighs?|studies|runs|plays?|drinks?|eats?|wakes?|goes)\b"
)
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being|gets?|got)\s+(?:\w+ly\s+)?(?:being\s+)?\w+\b.*\bby\b"
)
_RELATIVE_CLAUSE = re.compile(r"\b(?:which|who|that|whose)\s+(?:is|are|was|were|has|have)\b")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence as the rules read it; `plain` is what `plain()` makes of its text."""

    text: str
    plain: str
    words: frozenset[str]
    stems: tuple[str, ...]
    """Stemmed words in order, without function words, numbers and negations."""
    numbers: frozenset[str]
    figures: Mapping[str, str]
    """What is counted or measured, by unit or noun; left out if there are two figures for one."""
    dates: frozenset[str]
    """Months, weekdays and ISO dates."""
    relative: frozenset[str]
    """Times that depend on the day of speaking: "yesterday"."""
    names: frozenset[str]
    """Capitalised words, casefolded."""
    negated: bool
    changes: bool
    """Carries a cue of change: "no longer", "switched to", "now"."""
    moves: bool
    """Says that a date was moved."""
    hedged: bool
    past: bool
    stative: bool
    passive: bool
    relative_clause: bool
    question: bool

    @property
    def content(self) -> frozenset[str]:
        """The stems as a set."""
        return frozenset(self.stems)


def plain(text: str) -> str:
    """`text` in lower case with contractions and spelled numbers written out."""
    folded = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    for pattern, replacement in (*_CONTRACTIONS, *_USER):
        folded = pattern.sub(replacement, folded)
    if _SPELLED.search(folded):
        folded = str(alpha2digit(folded, "en", _COUNTED))
    return folded


@lru_cache(maxsize=16_384)
def read(text: str) -> Statement:
    """Read one sentence (or a few)."""
    folded = plain(text)
    words = frozenset(re.findall(r"[^\W_]+(?:['-][^\W_]+)*", folded))
    return Statement(
        text=text,
        plain=folded,
        words=words,
        stems=tuple(
            stem
            for stem in stems(folded)
            if stem and not stem[0].isdigit() and stem not in NEGATIONS
        ),
        numbers=frozenset(_numbers(folded)),
        figures=_figures(folded),
        dates=frozenset(_dates(folded)),
        relative=frozenset(_RELATIVE.findall(folded)),
        names=frozenset(names(text)),
        negated=bool(words & NEGATIONS) and "not only" not in folded,
        changes=bool(_CHANGE.search(folded)),
        moves=bool(_MOVES.search(folded)),
        hedged=bool(_HEDGE.search(folded)),
        past=bool(_PAST.search(folded)),
        stative=bool(_STATIVE.search(folded)),
        passive=bool(_PASSIVE.search(folded)),
        relative_clause=bool(_RELATIVE_CLAUSE.search(folded)),
        question=folded.rstrip().endswith("?"),
    )


def _figures(folded: str) -> Mapping[str, str]:
    found: dict[str, set[str]] = defaultdict(set)
    for match in _FIGURE.finditer(folded):
        value = _value(match["value"], match["k"])
        if match["currency"] or match["percent"]:
            found[match["currency"] or "%"].add(value)
        else:
            for stem in stems(match["nouns"] or ""):
                if stem and stem[:3] not in _MONTHS:
                    found[stem].add(value)
    return {unit: values.pop() for unit, values in found.items() if len(values) == 1}


def _dates(folded: str) -> Iterator[str]:
    """Months (with the day where one is given), weekdays, ISO dates."""
    for found in _CALENDAR.finditer(folded):
        named = next(filter(None, found.groups()))
        yield named if named[0].isdigit() else named[:3]
    for found in _DAY.finditer(folded):
        yield f"{(found[1] or found[4])[:3]} {found[2] or found[3]}"


def _value(digits: str, thousands: str | None) -> str:
    plain_digits = digits.replace(",", "")
    if not plain_digits.replace(".", "", 1).isdigit():
        return plain_digits
    return f"{float(plain_digits) * (1000 if thousands else 1):g}"


def _numbers(folded: str) -> list[str]:
    return [
        _value(found[1], found[2] if found[2] == "k" else None) + ("pm" if found[2] == "pm" else "")
        for found in _NUMBER.finditer(folded)
    ]


def names(text: str) -> list[str]:
    """Capitalised words that aren't merely first in a sentence, casefolded, without "'s"."""
    words = _NAME.findall(text)
    if len(words) > 3 and sum(word[0].isupper() for word in words) > _TITLE * len(words):
        return []
    found = []
    for match in _NAME.finditer(text):
        word = match[0]
        if not word[0].isupper() or word in ("I", "I'm", "I've", "I'd", "I'll"):
            continue
        folded = word.replace("’", "'").casefold().removesuffix("'s")
        before = text[: match.start()].rstrip()
        first = not before or before[-1] in '.!?:"“'
        if (
            folded in _NOT_NAMES
            or (
                first
                and (not _AFTER_NAME.match(text, match.end()) or _SPELLED.fullmatch(folded))
                and not word.endswith(("'s", "’s"))
                and not any(letter.isupper() for letter in word[1:])
            )
            or (first and folded in _TOLD)
        ):
            continue
        found.append(folded)
    return found
