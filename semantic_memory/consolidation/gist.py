"""What a statement says, whatever its wording: "I love hiking", "The user enjoys to go hiking".

Its words in order, stemmed, without fillers, the user left out, ways of saying the same made one.
Two statements with one gist say the same unless figures, dates or tense differ.
"""

from __future__ import annotations

import re
from functools import lru_cache

from semantic_memory.consolidation.clauses import OTHERS
from semantic_memory.consolidation.statements import NEGATIONS, plain
from semantic_memory.domain.text import STOP_WORDS, stems

_PERSON = r"(?P<noun>[a-z]+)"
_NAME = r"(?P<name>[\w'-]+)"
_WORDINGS = tuple(
    (re.compile(pattern), wording)
    for pattern, wording in (
        (r"^(?:(?:hi|hello|well|yes|so|by the way|please note|fyi|remember)\b[\s,:]*)+", ""),
        (r"\b(?:do|does|did) not (?:really |actually )?(?:like|love|enjoy|care for)\b", "dislike"),
        (r"\b(?:hates?|detests?|loathes?|can not (?:stand|bear))\b", "dislike"),
        (r"\b(?:loves?|enjoys?|adores?|(?:am|is|are) (?:fond|a (?:big )?fan) of)\b", "like"),
        (r"\b((?:dis)?likes?) (?:to go|going|to)\b", r"\1"),
        (r"\bscared of\b", "afraid of"),
        (r"\b(?:resid(?:es?|ing)|(?:am|is|are) based|home is) in\b", "live in"),
        (r"\brelocated\b", "moved"),
        (r"\b(?:employed|working|works?) (?:at|by|for)\b|\bemployer is\b", "work at"),
        (r"\b(?:works?|working|employed) as\b", ""),
        (r"\b(?:job|occupation|profession|job title) is\b(?: (?:as|that of))?", ""),
        (r"\bprefers? (.+?) (?:over|to|rather than|instead of|more than)\b", r"prefer \1 over"),
        (r"\blikes? (.+?) (?:more|better) than\b", r"prefer \1 over"),
        (r"\blikes? (.+?) (?:more|better)$", r"prefer \1"),
        (rf"\b(?:have|has|owns?) an? {_PERSON},? (?:named|called) {_NAME}", r"my \1 name \2"),
        (rf"\b(?:have|has|owns?) an? {_PERSON}, {_NAME}$", r"my \1 name \2"),
        (rf"\b{_PERSON}(?:'s name is| is named| is called) {_NAME}", r"\1 name \2"),
        (r"^([\w ]+) is my (favou?rite(?: \w+){0,2})$", r"my \2 is \1"),
        (r"^([\w'-]+) is my (?:husband|wife|spouse)$", r"married \1"),
        (r"\b(?:am|is|are) an? ([\w ]+) graduate\b", r"graduated \1"),
        (r"\b(?:have|has) (?=(?:coffee|tea)\b)", "drink "),
        (r"^(?:the|our|my) team (?=[a-z]+s\b)", ""),
        (r"\b(?:was |were |is |am )?born on\b", "birthday"),
        (r"\b(?:was|were) born\b", "born"),
        (r"\bgets? up\b", "wake up"),
        (r"\bknows? how to\b", ""),
        (r"\blearn(?:s|ing)? (?:how )?to (?:play )?", "learn "),
        (r"\bdaily\b", "every day"),
        (r"\b(week|month|year)ly\b", r"every \1"),
        (r"\beach (?=\w)", "every "),
        (r"\b(?:have|has) (?=(?:been|\w+ed|lived|had)\b)", ""),
        (r"(?<=\d) ?([ap])\.?m\b", r" \1m_"),
    )
)
_FILLERS = frozenset(
    """user really also currently very actually truly definitely quite especially still
    """.split()
)
_KEPT = OTHERS | frozenset(
    "from without against over than after before until under about since off out down up".split()
)
_ONE_WORD = {
    "have": "have",
    "has": "have",
    "own": "have",
    "owns": "have",
    "was": "was",
    "were": "was",
    "had": "was",
    "did": "was",
    "goes": "go",
    "kid": "child",
    "kids": "child",
    "children": "child",
    "dish": "food",
    "dishes": "food",
    "mum": "mother",
    "mom": "mother",
    "dad": "father",
    "colour": "color",
    "colours": "color",
    "favourite": "favorite",
    "grey": "gray",
    "programme": "program",
    "centre": "center",
    "theatre": "theater",
    "organisation": "organization",
    "behaviour": "behavior",
    "neighbour": "neighbor",
    "tv": "television",
    "bike": "bicycle",
    "photo": "photograph",
    "photos": "photograph",
    "phd": "doctorate",
}
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*_?")


@lru_cache(maxsize=16_384)
def gist(text: str) -> tuple[str, ...]:
    """What `text` says, as words to compare; empty if nothing is left."""
    folded = plain(text).strip(" .!")
    for pattern, wording in _WORDINGS:
        folded = pattern.sub(wording, folded)
    return tuple(token for word in _WORD.findall(folded) if (token := _token(word)))


def _token(word: str) -> str | None:
    word = word.removesuffix("'s")
    if word in NEGATIONS:
        return "not"
    if word in _ONE_WORD:
        return next(iter(stems(_ONE_WORD[word])), _ONE_WORD[word])
    if word in _KEPT or word.endswith("_"):
        return word
    if word in STOP_WORDS or word in _FILLERS or word.isdigit():
        return None
    return next(iter(stems(word)), None)
