"""Reduce a statement to its gist: "I love hiking" and "The user enjoys to go hiking" have one.

Its words in order, stemmed, without fillers, the user left out, ways of saying the same made one.
Two statements with one gist say the same unless figures, dates or tense differ.
"""

from __future__ import annotations

from functools import lru_cache

from semantic_memory.domain.english.folding import folded
from semantic_memory.domain.english.lexicon import SYNONYMS
from semantic_memory.domain.english.negation import NEGATIONS
from semantic_memory.domain.english.persons import OTHERS
from semantic_memory.domain.english.tables import substitution, words
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS, stem, stems

_LEAD = regex(r"^(?:(?:hi|hello|well|yes|so|by the way|please note|fyi|remember)\b[\s,:]*)+")
_in_common_words = substitution("wordings.wordings")
_NOUN = r"(?P<noun>[a-z]+)"
_NAME = r"(?P<name>[\w'-]+)"
# Wordings that move the words between them, applied in this order.
_WORDINGS = tuple(
    (regex(pattern), wording)
    for pattern, wording in (
        (r"\b((?:dis)?likes?) (?:to go|going|to)\b", r"\1"),
        (r"\bprefers? (.+?) (?:over|to|rather than|instead of|more than)\b", r"prefer \1 over"),
        (r"\blikes? (.+?) (?:more|better) than\b", r"prefer \1 over"),
        (r"\blikes? (.+?) (?:more|better)$", r"prefer \1"),
        (rf"\b(?:have|has|owns?) an? {_NOUN},? (?:named|called) {_NAME}", r"my \1 name \2"),
        (rf"\b(?:have|has|owns?) an? {_NOUN}, {_NAME}$", r"my \1 name \2"),
        (rf"\b{_NOUN}(?:'s name is| is named| is called) {_NAME}", r"\1 name \2"),
        (r"^([\w ]+) is my (favou?rite(?: \w+){0,2})$", r"my \2 is \1"),
        (r"^([\w'-]+) is my (?:husband|wife|spouse)$", r"married \1"),
        (r"\b(?:am|is|are) an? ([\w ]+) graduate\b", r"graduated \1"),
        (r"\b(?:have|has) (?=(?:coffee|tea)\b)", "drink "),
        (r"^(?:the|our|my) team (?=[a-z]+s\b)", ""),
        (r"\blearn(?:s|ing)? (?:how )?to (?:play )?", "learn "),
        (r"\beach (?=\w)", "every "),
        (r"\b(?:have|has) (?=(?:been|\w+ed|lived|had)\b)", ""),
        (r"(?<=\d) ?([ap])\.?m\b", r" \1m_"),
    )
)
_FILLERS = words("lexicon.fillers")
_KEPT = OTHERS | words("lexicon.weighty")
_WORD = regex(r"[^\W_]+(?:['-][^\W_]+)*_?")


@lru_cache(maxsize=16_384)
def gist(text: str) -> tuple[str, ...]:
    """Return the gist of a text as words to compare; empty if nothing is left."""
    plain = _in_common_words(_LEAD.sub("", folded(text).strip(" .!")))
    for pattern, wording in _WORDINGS:
        plain = pattern.sub(wording, plain)
    return tuple(token for word in _WORD.findall(plain) if (token := _token(word)))


def _token(word: str) -> str | None:
    word = word.removesuffix("'s")
    if word in NEGATIONS:
        return "not"
    if word in SYNONYMS:
        return stem(SYNONYMS[word])
    if word in _KEPT or word.endswith("_"):
        return word
    if word in STOP_WORDS or word in _FILLERS or word.isdigit():
        return None
    return next(iter(stems(word)), None)
