"""Cut a message into the sentences that state something.

"Hey, I have a dog named Rex. Do you?"  ->  "I have a dog named Rex"
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.openers import without_opener, without_tail, without_vocative
from semantic_memory.domain.english.questions import stated_in, without_asking_back
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.segments import segments

_LONGEST = 1_000
"""Characters of a sentence; longer ones are lists, logs and the like."""

# sentencex waits for a capital letter; people who write without them still end sentences.
_LOWER_CASE = r"(?<=\w{2}[.)])\s+(?=(?:I|my|we|she|he|it)\b)"
_END = regex(any_of(r"(?<=[!?])[\s\"')]+", _LOWER_CASE, r"\s*(?:\.\s?){2,}\s*", "…"))


class Sentence(NamedTuple):
    """A sentence without greetings, questions and the like, and as it was said."""

    text: str
    said: str


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a prepared text in which something is stated.

    >>> [sentence.text for sentence in sentences("Hey Tom! I paint, do you? Well, I sing.")]
    ['Hey Tom', 'I paint', 'I sing']
    """
    for line in text.splitlines():
        for segment in segments(line):
            for part in _END.split(segment):
                if len(part) <= _LONGEST and (sentence := _trimmed(part)):
                    yield Sentence(sentence, part)


def _trimmed(sentence: str) -> str:
    shorter = sentence.strip(" \t*_~")
    if shorter.strip('"').count('"') % 2 == 0:  # "Emma" is a novel, so the mark stays with it
        shorter = shorter.strip(' \t"*_~')
    sentence = ""
    while shorter != sentence:
        sentence = shorter
        shorter = without_tail(sentence) if not sentence.endswith("?") else sentence
        shorter = without_vocative(without_opener(shorter))
        shorter = without_asking_back(shorter).rstrip(" ,;:-")
    return stated_in(sentence).rstrip(".!?, ")
