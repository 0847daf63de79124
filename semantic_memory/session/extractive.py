"""Summary without a model: the sentences whose words the conversation uses most.

As in SumBasic (Nenkova & Vanderwende 2005, "The impact of frequency on summarization"), a sentence
scores the mean frequency of its words; once it is chosen, the weight of its words falls, so that
the next sentence tells something else. It is halved instead of squared: in short conversations a
squared one is below that of every aside. Sentences keep their order, each on a line.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from semantic_memory.domain.ports import TokenCounter
from semantic_memory.domain.segments import segments
from semantic_memory.domain.text import stems

_SHARE = 1 / 3  # of the transcript that a summary takes at most
_LONGEST = 300  # characters of a sentence; a longer one is cut
_FEWEST_WORDS = 3  # in a sentence that says something


class _Sentence(NamedTuple):
    line: str
    words: frozenset[str]


class ExtractiveSummarizer:
    """A `Summarizer` that selects sentences. Needs no model and never fails."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter

    def summarize(self, transcript: str, *, most_tokens: int) -> str:
        """Return the most telling sentences of `transcript`, in at most `most_tokens` tokens."""
        sentences = list(_sentences(transcript))
        left = min(most_tokens, int(_SHARE * self._counter.count(transcript)))
        used = Counter(word for sentence in sentences for word in sentence.words)
        weight = {word: float(number) for word, number in used.items()}
        queue = [(-_score(one, weight), place) for place, one in enumerate(sentences)]
        heapq.heapify(queue)
        chosen: list[int] = []
        while queue and left > 0:
            score, place = heapq.heappop(queue)
            now = -_score(sentences[place], weight)
            if now > score:  # it has fallen since: words of it have been told
                heapq.heappush(queue, (now, place))
                continue
            cost = self._counter.count(f"{sentences[place].line}\n")
            if cost <= left:
                left -= cost
                chosen.append(place)
                weight.update((word, weight[word] / 2) for word in sentences[place].words)
        return "\n".join(sentences[place].line for place in sorted(chosen))


def _sentences(transcript: str) -> Iterator[_Sentence]:
    """Yield the sentences of a transcript with their speaker, each text once."""
    told: set[frozenset[str]] = set()
    for paragraph in transcript.split("\n\n"):
        speaker, colon, _ = paragraph.partition(": ")
        named = bool(colon) and "\n" not in speaker and len(speaker.split()) <= 3
        for line in paragraph.splitlines():
            for segment in segments(line):
                text = " ".join(segment.split())
                words = frozenset(stems(text.removeprefix(f"{speaker}: ") if named else text))
                if len(words) < _FEWEST_WORDS or words in told:
                    continue
                told.add(words)
                if named and not text.startswith(f"{speaker}: "):
                    text = f"{speaker}: {text}"
                yield _Sentence(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ...", words)


def _score(sentence: _Sentence, weight: dict[str, float]) -> float:
    return sum(weight[word] for word in sentence.words) / len(sentence.words)
