"""Extract without a model: statements that people make about themselves, found by rules.

message -> sentences -> statements     questions, greetings and code left out
-> dates made absolute -> third person -> category, confidence, tags
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ingest.extract.asides import firm_parts
from ingest.extract.categories import CategoryExamples, category_by_rule
from ingest.extract.feedback import directive, verdict
from ingest.extract.possessions import possessions, words_of
from ingest.extract.replies import answered, last_question
from ingest.extract.worth import (
    ADDRESSED,
    CLEAR,
    IMPLIED,
    confidence,
    continues,
    is_about_the_speaker,
    is_hedged,
)
from semantic_memory.domain.english.calendar import MONTHS, WEEKDAYS
from semantic_memory.domain.english.fragments import is_clause
from semantic_memory.domain.english.persons import third_person, with_listener
from semantic_memory.domain.english.pronouns import dangles
from semantic_memory.domain.english.relative_dates import absolute_dates
from semantic_memory.domain.english.sentences import Sentence, sentences
from semantic_memory.domain.english.spelling import prepared
from semantic_memory.domain.english.statements import Clause, statements
from semantic_memory.domain.english.tables import words
from semantic_memory.domain.english.words import WORD, noun_behind
from semantic_memory.domain.extraction import Candidate, Extraction
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.messages import Message
from semantic_memory.domain.ports import Embedder
from semantic_memory.domain.text import STOP_WORDS

_ASSISTANT = "the assistant"
_MOST_TAGS = 4
_MOST_WORDS = 45
_PASTED = 3_000
"""Characters from which a message is more likely a pasted text than something said."""
_NO_TAGS = STOP_WORDS | words("tags.no_tags")
_CALENDAR = frozenset((*MONTHS, *WEEKDAYS))


class _Statement(NamedTuple):
    """A statement in the first person, with what the next sentences say of the same thing."""

    parts: tuple[str, ...]
    sentence: Sentence

    @property
    def text(self) -> str:
        return self.parts[0]

    def is_continued_by(self, other: _Statement) -> bool:
        """Return whether `other` needs this one to be understood: "He is called Rex"."""
        return (
            len(self.parts) == 1
            and self.sentence != other.sentence
            and len(self.text.split()) + len(other.text.split()) <= _MOST_WORDS
            and continues(other.text)
            and not dangles(self.text)
        )

    def with_next(self, other: _Statement) -> _Statement:
        return self._replace(parts=(*self.parts, other.text))


class OfflineExtractor:
    """Proposes every statement in which someone but the assistant says something of themselves.

    Plain statements get a confidence of 0.8 or more; hedged ones ("might", "thinking of"), those
    that speak to someone, and those whose pronouns stand for something said elsewhere get less
    than the gate admits. With an `embedder`, a statement whose wording doesn't show its category
    gets that of the most similar examples.
    """

    name = "offline-3"

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._examples = CategoryExamples(embedder) if embedder else None

    def extract(self, messages: Sequence[Message], known: Sequence[Fact] = ()) -> Extraction:
        """Return candidates in the third person, each with its source message."""
        del known  # a repetition is told by its text and its vector
        # Where several people talk to each other, no one is giving orders to an assistant.
        speakers = {message.speaker for message in messages if message.role == "user"}
        candidates: list[Candidate] = []
        unclear: list[int] = []
        before: Message | None = None
        for message in messages:
            if message.role == "user":
                listener = _listener(message, speakers)
                for candidate, clear in _candidates(message, listener, _other(before, message)):
                    if not clear:
                        unclear.append(len(candidates))
                    candidates.append(candidate)
            if message.role in ("user", "assistant"):
                before = message
        if self._examples:
            nearest = self._examples.classify([candidates[place].content for place in unclear])
            for place, category in zip(unclear, nearest, strict=True):
                candidates[place] = candidates[place].model_copy(update={"category": category})
        return Extraction(candidates=tuple(candidates))


def _other(before: Message | None, message: Message) -> Message | None:
    """Return the message that `message` may answer: the one before it, by someone else."""
    return before if before and before.speaker != message.speaker else None


def _candidates(
    message: Message, listener: str | None, before: Message | None
) -> Iterator[tuple[Candidate, bool]]:
    """Yield the candidates of a message, and whether the wording of each shows its category."""
    name = message.name or "The user"
    text = prepared(message.content)
    pasted = len(message.content) > _PASTED
    known: set[str] = set()
    question = last_question(before.content) if before else None
    if before and question and (found := answered(question, text)):
        stated, text = found
        known |= words_of(stated)
        shown = category_by_rule(stated)
        told = _told(stated, name, message)
        yield _candidate(told, shown, CLEAR, message, before), shown is not None
    answer = before.content if before and before.role == "assistant" else None
    pending: list[_Statement] = []
    for sentence in sentences(text):
        if listener == _ASSISTANT and not pasted and (said := _feedback(sentence, name, answer)):
            yield _candidate(said, Category.FEEDBACK, CLEAR, message), True
        else:
            _gather(pending, _statements(sentence, listener))
    for statement in pending:
        shown = category_by_rule(statement.text)
        content = " ".join(_told(part, name, message) for part in statement.parts)
        sure = confidence(statement.text, statement.sentence.said, clear=shown is not None)
        sure = min(sure, ADDRESSED) if pasted else sure
        if sure > ADDRESSED:
            known |= words_of(content)
        yield _candidate(content, shown, sure, message), shown is not None
    for stated in possessions(text, known) if not pasted else ():
        yield _candidate(_told(stated, name, message), Category.PERSONAL, IMPLIED, message), True


def _feedback(sentence: Sentence, name: str, answer: str | None) -> str | None:
    """Return a sentence about the assistant's work as a fact; None if it isn't about that."""
    order = directive(sentence.text, name)
    return order or (verdict(sentence.said, name, answer) if answer else None)


def _gather(pending: list[_Statement], found: Iterable[_Statement]) -> None:
    """Add the statements about their speaker, and those that go on with the last one."""
    for statement in found:
        if pending and pending[-1].is_continued_by(statement):
            pending[-1] = pending[-1].with_next(statement)
        elif is_about_the_speaker(statement.text) and is_clause(statement.text):
            pending.append(statement)


def _listener(message: Message, speakers: set[str]) -> str | None:
    """Return the listener of a message: the assistant, the other of two, None among several."""
    others = speakers - {message.speaker}
    if not others:
        return _ASSISTANT
    return others.pop() if len(others) == 1 and "user" not in speakers else None


def _statements(sentence: Sentence, listener: str | None) -> list[_Statement]:
    """Return the statements of a sentence; one that leans on the one before stays with it."""
    kept: list[Clause] = []
    for clause in statements(sentence.text):
        if listener:
            clause = clause._replace(text=with_listener(clause.text, listener))
        if kept and dangles(clause.text) and not dangles(kept[-1].text):
            if is_hedged(clause.text):
                continue
            joined = kept[-1].text + clause.link + clause.text
            if len(joined.split()) <= _MOST_WORDS:
                kept[-1] = Clause(joined, kept[-1].link)
                continue
        kept.append(clause)
    return [_Statement((part,), sentence) for clause in kept for part in firm_parts(clause.text)]


def _told(statement: str, name: str, message: Message) -> str:
    if message.created_at is not None:
        statement = absolute_dates(statement, message.created_at)
    return third_person(statement, name).rstrip(" ,;:.!") + "."


def _candidate(
    content: str,
    category: Category | None,
    confidence: float,
    message: Message,
    question: Message | None = None,
) -> Candidate:
    return Candidate(
        content=content,
        category=category or Category.PERSONAL,
        confidence=confidence,
        message_ids=(message.id, question.id) if question else (message.id,),
        tags=_tags(content, message.name or ""),
    )


def _tags(content: str, name: str) -> tuple[str, ...]:
    """Return the first few things that a fact names: proper names, and nouns."""
    own = set(WORD.findall(name.casefold()))
    tags: dict[str, None] = {}
    spoken = WORD.findall(content)
    for place, word in enumerate(spoken):
        plain = word.removesuffix("'s")
        proper = place > 0 and plain[:1].isupper() and plain not in _CALENDAR
        tag = plain.casefold() if proper else noun_behind(spoken[place - 1] if place else "", plain)
        if tag and tag not in own and tag not in _NO_TAGS and re.fullmatch(r"[\w-]{3,40}", tag):
            tags[tag] = None
    return tuple(tags)[:_MOST_TAGS]
