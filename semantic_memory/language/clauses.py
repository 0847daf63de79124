"""Sentences of a message, and the clauses of a sentence that may each state something."""

from __future__ import annotations

from collections.abc import Iterator

from semantic_memory.domain.patterns import regex
from semantic_memory.domain.segments import segments

LONGEST = 600
"""Characters of a sentence; longer ones are lists, logs and the like."""
_FEWEST_WORDS = 2

# sentencex waits for a capital letter; people who write without them still end sentences.
_END = regex(
    r"(?<=[!?])[\s\"')]+|(?<=\w{2}[.)])\s+(?=(?:i|my|we|she|he|it|they|the|now|but|so)\b)"
    r"|\s*(?:\.\s?){2,}\s*|…|(?<=\w)\s*;\s+"
)
_OWN = r"(?:i['’]?(?:m|ve|d|ll)?|my|we['’]?(?:re|ve|d|ll)?|our)\b"
_JOINT = r"(?:and|but|so|because|cos|since|as|though|although|while|which means)"
_BEFORE_OWN = regex(
    rf"(?:\s*(?:,|;|:|\s[-–—]+|\()\s*|\s+)(?:{_JOINT}\s+)(?={_OWN})"
    rf"|\s*(?:,|;|:|\s[-–—]+|\()\s*(?={_OWN})",
    regex("").flags | 2,
)
_ASKS = (
    r"(?:what|which|how|where|when|who|why|any|can|could|would|should|shall|do|does|did|is|are|will"
    r"|got|recommend|suggest|help|tell|give|write|make|explain|please|pls)\b"
)
_BEFORE_QUESTION = regex(rf"\s*(?:,|;|\s[-–—]+|\))\s*(?:(?:and|but|so)\s+)?(?={_ASKS})", 2)
_MARKS = " \t\n*_~-–—•>,;:()"


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text in their order, in the words in which they were said.

    >>> list(sentences("Hey Tom! I paint, do you? well i sing. my sister dances"))
    ['Hey Tom!', 'I paint, do you?', 'well i sing.', 'my sister dances']
    """
    for line in text.splitlines():
        for segment in segments(line):
            for part in _END.split(segment):
                sentence = part.strip(_MARKS.replace("(", "").replace(")", ""))
                if sentence and len(sentence) <= LONGEST:
                    yield sentence


def clauses(sentence: str) -> list[str]:
    """Return the parts of a sentence that may state something each; itself if it has only one.

    It is cut before a subject of the first person, and before a question or an order at its end.

    >>> clauses("I moved to Porto in March and my sister lives in Faro")
    ['I moved to Porto in March', 'my sister lives in Faro']
    >>> clauses("I'm off dairy, any ideas for a cake?")
    ["I'm off dairy", 'any ideas for a cake?']
    """
    parts = [
        part
        for piece in _BEFORE_OWN.split(sentence)
        for part in _without_question(piece)
        if len(part.split()) >= _FEWEST_WORDS
    ]
    return [part.strip(_MARKS) for part in parts] or [sentence]


def _without_question(piece: str) -> list[str]:
    found = _BEFORE_QUESTION.search(piece)
    if found is None or not found.start():
        return [piece]
    return [piece[: found.start()], piece[found.end() :]]
