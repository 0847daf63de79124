"""Extract without a language model: the sentences of a message that are worth keeping.

    own words of the message -> sentences -> clauses -> readings, in one batch
    -> the clauses worth keeping -> days resolved, speaker named -> facts

A fact is the speaker's own sentence. Person and verb are turned to the third person only where that
is certain; else the words stay, behind the speaker's name. Where a sentence doesn't stand alone,
what was said before comes with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ingest.extract.entries import entries
from ingest.extract.languages import told
from ingest.extract.tags import tags
from semantic_memory.domain.english.persons import mentions_speaker, third_person
from semantic_memory.domain.english.relative_dates import absolute_dates
from semantic_memory.domain.english.spelling import prepared
from semantic_memory.domain.english.verbatim import masked, unmasked
from semantic_memory.domain.extraction import Candidate, Extraction
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.language import language
from semantic_memory.domain.messages import Message
from semantic_memory.domain.readings import Reading
from semantic_memory.judging.packaged import PackagedSentenceJudge
from semantic_memory.judging.ports import SentenceJudge, Spoken
from semantic_memory.language.clauses import clauses, sentences
from semantic_memory.language.own_speech import own_speech_of

_USER = "The user"
_KEEP = 0.5
"""Probability of being worth keeping from which a clause becomes a fact."""
_KEEP_BESIDE_TASK = 0.6
"""The same in a sentence that asks for something: a state told in passing."""
_ALONE = 0.5
"""Probability of standing alone below which what was said before comes with a clause."""
_MOST_WORDS = 45
_LONGEST_BEFORE = 160
"""Characters of what was said before, of which the end is kept."""
_CLEAR = 0.8
_SURE, _UNSURE = 0.95, 0.7
_BY_KIND = {
    "preference": Category.PREFERENCE,
    "habit": Category.PERSONAL,
    "standing_order": Category.FEEDBACK,
    "decision": Category.DECISION,
    "plan": Category.PROJECT,
    "opinion": Category.PREFERENCE,
}


@dataclass
class _Clause:
    """A clause with what was said before it, and the message that it is of."""

    message: Message
    text: str
    before: str
    sentence: int
    """Number of its sentence among those of all messages."""
    asks: bool
    """True if its sentence asks or orders something at its end."""
    spans: Sequence[str] = ()
    reading: Reading | None = field(default=None)

    @property
    def spoken(self) -> Spoken:
        return Spoken(self.text, self.before)


class OfflineExtractor:
    """Propose the sentences in which people say something worth keeping of themselves.

    `judge` reads all clauses of a stretch in one batch; the packaged one if it is None.
    """

    name = "offline-5"

    def __init__(self, judge: SentenceJudge | None = None) -> None:
        self._judge = judge or PackagedSentenceJudge()

    def extract(self, messages: Sequence[Message], known: Sequence[Fact] = ()) -> Extraction:
        """Return candidates, each with its source message and the reading of its sentence."""
        del known  # a repetition is told by its text and its vector
        read: list[_Clause] = []
        found: list[tuple[int, Candidate]] = []
        order = {message.id: place for place, message in enumerate(messages)}
        before = ""
        for message in messages:
            if message.role == "user":
                own = own_speech_of(message).own
                found += [(order[message.id], one) for one in _in_other_words(message, own)]
                read += _clauses(message, own, before, len(read))
            if message.role in ("user", "assistant"):
                before = _last(message)
        readings = self._judge.read([clause.spoken for clause in read])
        for clause, reading in zip(read, readings, strict=True):
            clause.reading = reading
        found += [(order[one.message.id], _candidate(one)) for one in _worth_keeping(read)]
        found.sort(key=lambda one: one[0])
        return Extraction(candidates=tuple(candidate for _, candidate in found))


def _clauses(message: Message, own: str, before: str, count: int) -> Iterator[_Clause]:
    """Yield the clauses of an English message's own words, and each of its sentences as a whole."""
    if language(own) not in (None, "en"):
        return
    whole, spans = masked(own)
    for number, sentence in enumerate(sentences(prepared(whole)), count):
        if len(sentence.split()) <= _MOST_WORDS:
            parts = clauses(sentence)
            asks = sentence.rstrip().endswith("?") or len(parts) > 1
            for part in dict.fromkeys((sentence, *parts)):
                yield _Clause(message, part, before, number, asks, spans)
        before = f"{message.name or 'User'}: {sentence}"[-_LONGEST_BEFORE:]


def _worth_keeping(read: Sequence[_Clause]) -> Iterator[_Clause]:
    """Yield the clauses that become facts: the parts of a sentence where each stands, or it whole."""
    by_sentence: dict[tuple[str, int], list[_Clause]] = {}
    for clause in read:
        by_sentence.setdefault((clause.message.id, clause.sentence), []).append(clause)
    for whole, *parts in by_sentence.values():
        kept = [part for part in parts if _is_kept(part)]
        if kept and (len(kept) == len(parts) or not _is_kept(whole) or _asks(whole)):
            yield from kept
        elif _is_kept(whole) and not whole.text.endswith("?"):
            yield whole


def _is_kept(clause: _Clause) -> bool:
    reading = clause.reading
    if reading is None or clause.text.endswith("?"):
        return False
    enough = reading.keep >= (_KEEP_BESIDE_TASK if clause.asks else _KEEP)
    return enough and (reading.alone >= _ALONE or bool(clause.before))


def _asks(clause: _Clause) -> bool:
    return clause.text.endswith("?") or (clause.reading is not None and clause.reading.task > 0.3)


def _candidate(clause: _Clause) -> Candidate:
    reading, message = clause.reading, clause.message
    if reading is None:
        raise ValueError("a clause is read before it becomes a fact")
    text = clause.text.rstrip(" .!,;")
    if message.created_at is not None:
        text = absolute_dates(text, message.created_at)
    name = message.name or _USER
    text = unmasked(_told_of(text, name, message.name), clause.spans)
    if reading.alone < _ALONE:
        text = f"{text} (after “{unmasked(clause.before, clause.spans)}”)"
    return Candidate(
        content=text,
        category=_category(reading),
        confidence=round(min(_SURE, max(_UNSURE, reading.keep)), 2),
        message_ids=(message.id,),
        tags=tags(text, name),
        reading=reading,
    )


def _told_of(text: str, name: str, speaker: str | None) -> str:
    """Return a statement in the third person where that is certain, else behind the name."""
    if mentions_speaker(text):
        return third_person(text, name)
    return f"{speaker}: {text}" if speaker else text[:1].upper() + text[1:]


def _category(reading: Reading) -> Category:
    if reading.standing_order >= 0.5:
        return Category.FEEDBACK
    if reading.category != "none":
        return Category(reading.category)
    return _BY_KIND.get(reading.kind, Category.PERSONAL)


def _in_other_words(message: Message, own: str) -> Iterator[Candidate]:
    """Yield notes of keys and values, and statements in other languages, in their own words."""
    code = language(own)
    if code in (None, "en"):
        for entry in entries(prepared(own)):
            yield Candidate(
                content=third_person(entry.statement, message.name or _USER),
                category=entry.category,
                confidence=_CLEAR,
                message_ids=(message.id,),
            )
        return
    for one in told(own, code, message.created_at):
        content = f"{message.name}: {one.text}" if message.name and one.of_speaker else one.text
        yield Candidate(
            content=content, category=one.category, confidence=_CLEAR, message_ids=(message.id,)
        )


def _last(message: Message) -> str:
    """Return the end of a message, as what comes before the next one."""
    spoken = list(sentences(message.content[-2_000:]))
    who = message.name or ("Assistant" if message.role == "assistant" else "User")
    return f"{who}: {spoken[-1]}"[-_LONGEST_BEFORE:] if spoken else ""
