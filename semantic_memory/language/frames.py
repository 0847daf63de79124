"""Find requests to work on a text, and frames in which nothing is meant: fiction, dreams, samples.

What follows a request to work on a text is the text, even without a colon; if the request points
back ("translate that"), what stands before it is too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from semantic_memory.domain.patterns import deferred, regex
from semantic_memory.language.enclosures import Cut, word_class

_SENTENCE = regex(r"[^\s.!?…][^.!?…\n]*(?:[.!?…](?!\s|\Z)[^.!?…\n]*)*[.!?…]*")
_CLAUSE_START = r"(?:\A|[,;:—–-][ ]|\b(?:and|then|but|or|so|to|also)[ ])"


def _one_of(*names: str) -> str:
    """Return the source of a pattern of any word of some classes, the longest first."""

    def source() -> str:
        every = sorted(frozenset().union(*map(word_class, names)), key=lambda one: (-len(one), one))
        return f"(?:{'|'.join(map(re.escape, every))})"

    return deferred(source)


_ASKING = (
    r"(?:(?:please|pls|plz|ok|okay|so|now|then|hey|hi|hello|next|first|just|kindly|quickly|also"
    r"|can|could|would|will|you|u|i|we|need|want|like|'d|d|help|me|us|to|let['’]?s|let|try|go|and"
    r"|chatgpt|claude|assistant|how|do|does|should|one|might|mind)[,]?\s+){0,8}"
)
_REWORK = regex(rf"{_CLAUSE_START}{_ASKING}(?P<verb>{_one_of('rework')}(?:ing)?)\b", re.IGNORECASE)
_WORK = regex(
    rf"(?:\A|[,;:—–-][ ]|\b(?:and|then|but)[ ]){_ASKING}(?P<verb>{_one_of('work')})\b"
    r"(?P<object>[^.!?]{0,120})",
    re.IGNORECASE,
)
_TEXT = regex(rf"\b{_one_of('texts', 'fiction')}\b", re.IGNORECASE)
_DEICTIC = regex(
    r"\A\s*(?:(?:me|us|all|on|to|over|at|through|the|of|for|if|whether|what|in)\s+){0,4}"
    r"(?:this|that|it|these|those|them|above|below|following)\b(?!\s+(?:i|we)\b)",
    re.IGNORECASE,
)
_BACK = regex(r"\b(?:that|it|above|previous|preceding|this)\b", re.IGNORECASE)
_SPOKEN_FOR = regex(
    r"\b(?:that|saying|says|where|in which|as if|about how|like|because|tell(?:ing)?|how|say)\s+"
    r"(?:i|we|my|our|i['’]\w+|im|ive)\b|\A\s*(?:\w+\s+){1,3}(?:i|i['’]\w+|im|ive|we|we['’]\w+)\s",
    re.IGNORECASE,
)
_WORDING = regex(
    r"\bhow (?:do|would|can|should|does) (?:you|i|we|one|people) "
    r"(?:say|spell|pronounce|write|phrase|translate)\b"
    r"|\bwhat(?:'s|’s| is| does| do)\b.*\b(?:mean|in [A-Z]\w+|translat\w+|called)\b"
    r"|\b(?:grammatical\w*|correct (?:english|grammar|spelling)|sound natural"
    r"|(?:is|are) it (?:correct|right|proper|okay|ok) to (?:say|write))\b",
    re.IGNORECASE,
)
_DET = r"(?:my|our|a|an|the|this|that|her|his|their|one|some|another)"
_FICTION = regex(
    rf"\b(?:in|for|of|from|during|inside|per|to|as)\s+{_DET}(?:\s+[\w-]+){{0,3}}?\s+"
    rf"{_one_of('fiction')}\b(?![ -](?:club|shop|store|group|industry|business|room|theat|fair|season"
    r"|school|class|festival|night|deadline|team|company|studio))"
    rf"|\b{_DET}(?:\s+[\w&-]+){{0,3}}?\s+{_one_of('roles')}\b"
    r"|\b(?:dreamt|dreamed|dreaming)\s+(?:that|about|of|i|we)\b"
    r"|\b(?:had|have|having)\s+(?:a|this|the|another)(?:\s+\w+){0,3}\s+(?:dream|nightmare)s?\b"
    r"|\bonce upon a time\b|\blorem ipsum\b"
    rf"|\b{_one_of('made_up')}\s+(?:\w+\s+){{0,2}}?{_one_of('samples')}\b",
    re.IGNORECASE,
)
_SUPPOSED = regex(
    rf"\A{_ASKING}(?:imagine|imagining|suppose|supposing|assume|assuming|pretend|what if|say"
    r"|hypothetically|theoretically|in theory|for (?:example|instance)|e\.g\.|if i (?:were|was|had)"
    r"|had i|were i|act as|play the|play a|you are|you're|youre|stay in character|scene|once)\b"
    r"|\blet(?:'s|’s|s| us| me)\s+(?:say|pretend|imagine|assume|suppose|play|do a|role)"
    r"|\b(?:pretend|imagine|suppose)\s+(?:that\s+)?(?:i|you|we)\b|\brole-?\s?play",
    re.IGNORECASE,
)
_ALL_PLAY = regex(
    r"\b(?:pretend|imagine|role-?\s?play|act as|play the|stay in character|scene|once upon"
    r"|let(?:'s|’s|s| us)\s+(?:pretend|imagine|play|do a|role))",
    re.IGNORECASE,
)
_DOCUMENT_SAYS = regex(
    rf"\b(?:the|my|a|an|his|her|their|this|that|our|some)(?:\s+[\w'’-]+){{0,3}}?\s+"
    rf"{_one_of('texts', 'fiction')}\s+(?:\w+\s+)?(?:says?|said|reads?|states?|stated|goes|went|claims?)\b",
    re.IGNORECASE,
)


def frames(text: str, whole: str) -> Iterator[Cut]:
    """Yield the cuts of requests to work on a text and of frames; `whole` is the message as it is."""
    sentences = [*_SENTENCE.finditer(text)]
    for place, found in enumerate(sentences):
        said, start, end = found[0], found.start(), found.end()
        if _WORDING.search(said) or _DOCUMENT_SAYS.search(said):
            yield Cut(start, end, "words talked about")
        if request := _request(said):
            behind = whole[end:].strip()
            back = _BACK.search(said) is not None and not behind
            is_last = place == len(sentences) - 1 and not behind
            points = request == "pointing" and is_last
            yield Cut(0 if back or points else start, len(text), "work on a text")
            return
        if _SPOKEN_FOR.search(said) and (asked := _WORK.search(said)):
            yield Cut(start + asked.start(), end, "words to be written")
        if _FICTION.search(said) or _ALL_PLAY.search(said):
            yield Cut(start, len(text), "fiction")
            return
        if _SUPPOSED.search(said):
            yield Cut(start, end, "supposition")


def _request(sentence: str) -> str | None:
    """Return how a sentence asks for work on a text: `naming` or `pointing`; None if it doesn't."""
    if found := _REWORK.search(sentence):
        return (
            "pointing"
            if _DEICTIC.match(sentence, found.end()) or not sentence[found.end() :].strip(" .!?,")
            else "naming"
        )
    if found := _WORK.search(sentence):
        asked = found["object"]
        if _DEICTIC.match(asked):
            return "pointing"
        if _TEXT.search(asked):
            return "naming"
    return None
