"""Tell questions from statements, and take off those that are put behind a statement."""

from __future__ import annotations

import re

from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.patterns import regex

# "I paint, what about you?", "I paint do you?"
_BEHIND_MARK = rf"[,.;!-]+\s*(?:(?:and|but|so)\s+)?{phrases('questions.asked_behind_mark')}\b"
_YOU_ALONE = r"(?:you|yours|yourself|u)\s*\?"
_BEHIND = any_of(rf"{phrases('questions.asked_behind')}\b", r"any \w+\s*\?", _YOU_ALONE)
_ASKED_BACK = regex(rf"(?:{_BEHIND_MARK}|\s+(?:and\s+)?{_BEHIND})[^.?!]*\?+$", re.IGNORECASE)
_ASKED_UNMARKED = regex(
    rf"(?<=\w{{2}})[\s,]+{phrases('questions.asked_unmarked')}\b(?!.*\bI\b).*$", re.IGNORECASE
)
_ASKED_BEHIND_COMMA = regex(
    rf"(?<=\w{{2}}),\s+(?:(?:and|so|but)\s)?{phrases('questions.asked_behind_comma')}\b.*$", re.I
)
# "How is that" asks, "How that is" doesn't
_ASKING_VERB = rf"{phrases('questions.asking_verbs')} {phrases('questions.asked_subjects')}\b"
_ASKING_WORD = (
    rf"{phrases('questions.question_words')}\b(?! an?\b)(?!.*\bis (?:that|where|how|why)\b)"
)
_QUESTION = regex(f"^(?:{_ASKING_VERB}|{_ASKING_WORD})", re.IGNORECASE)
# "What I want is a garden" states what is wanted.
_CLEFT = regex(rf"^what (?:I|we) {phrases('questions.cleft')}\b[^?]* (?:is|are|was)\b[^?]*$", re.I)
# "I love the lake?" has the order of a statement.
_DECLARES = regex(r"(?:I|I'(?:m|ve)|my|we)\s", re.IGNORECASE)
_OWN_ANSWER = rf"\s(?=I {phrases('questions.answering')}\b|my favou?rite\b)"
_ANSWERS_ITSELF = regex(rf"(?:[,;]\s*(?=(?:I|my|we)\b)|{_OWN_ANSWER})(?P<answer>.+)$", re.I)


def without_asking_back(sentence: str) -> str:
    """Return a sentence without the question that is put behind it.

    >>> without_asking_back("I love baking, do you?"), without_asking_back("I bake how about you")
    ('I love baking', 'I bake')
    >>> without_asking_back("we have to be out by June, how do I negotiate")
    'we have to be out by June'
    """
    if sentence.endswith("?"):
        return _ASKED_BACK.sub("", sentence)
    asked = _ASKED_UNMARKED.search(sentence) or _ASKED_BEHIND_COMMA.search(sentence)
    return sentence[: asked.start()] if asked else sentence


def stated_in(sentence: str) -> str:
    """Return what a sentence states: all of it, the answer to its own question, or nothing.

    >>> stated_in("I love the lake?"), stated_in("Do you fish?")
    ('I love the lake?', '')
    >>> stated_in("What do you do I work at a bank?")
    'I work at a bank'
    """
    asks = sentence.endswith("?") and not _DECLARES.match(sentence)
    if not asks and (not _QUESTION.match(sentence) or _CLEFT.match(sentence)):
        return sentence
    answer = _ANSWERS_ITSELF.search(sentence.rstrip("?"))
    is_asked = answer is not None and len(sentence[: answer.start()].split()) > 2
    return answer["answer"] if answer and is_asked else ""
