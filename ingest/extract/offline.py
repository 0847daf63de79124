"""Extract without a language model: the sentences of a message that are worth keeping.

    own words of the message -> sentences -> clauses -> readings, in one batch
    -> the clauses worth keeping -> days in brackets, the speaker named -> facts

A fact is the speaker's own sentence. Person and verb are turned to the third person only where that
is certain; else the words stay, behind the speaker's name. Where a sentence doesn't stand alone,
what was said before comes with it, and without that it is no fact: its message stays findable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce

from ingest.extract.categories import category_of
from ingest.extract.entries import entries
from ingest.extract.languages import told
from ingest.extract.tags import tags
from semantic_memory.domain.english.relative_dates import dated_in_place
from semantic_memory.domain.extraction import Candidate, Extraction
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.language import language
from semantic_memory.domain.messages import Message
from semantic_memory.domain.readings import Reading
from semantic_memory.domain.retelling import retold
from semantic_memory.domain.text import stems
from semantic_memory.judging.first_person import in_first_person
from semantic_memory.judging.packaged import PackagedPairJudge, PackagedSentenceJudge
from semantic_memory.judging.ports import SentenceJudge, Spoken, Verdict
from semantic_memory.language.clauses import (
    clauses,
    is_clause,
    is_hedged,
    is_understood,
    lacks_antecedent,
    leans,
    points_back,
    points_elsewhere,
    sentences,
    without_opener,
)
from semantic_memory.language.labels import NOTES
from semantic_memory.language.own_speech import own_speech_of
from semantic_memory.language.persons import mentions_speaker, third_person

Compare = Callable[[str, str], Verdict]

_USER = "The user"
_OF_USER = "User"
_KEEP = 0.3
"""Probability of being worth keeping from which a clause becomes a fact."""
_KEEP_OF_MOMENT = 0.5
"""The same of kinds that are mostly of the moment, where nobody asked: "I think I'll walk"."""
_MOMENTARY = frozenset({"none", "opinion", "plan"})
_KEEP_OF_QUESTION = 0.75
"""The same of a question or a request, which states something in passing at most."""
_KEEP_OF_REMARK = 0.8
"""The same of a clause that adds to what the speaker has just said: most such are reactions."""
_KEEP_OF_NOTE = 0.3
"""The same of a note of a key and a value, whose form is evidence by itself."""
_ALONE, _ALONE_OF_LEANING = 0.5, 0.7
"""Probability of standing alone below which what was said before comes with a clause."""
_FRAGMENT = 0.25
"""Probability of standing alone below which a clause with nothing said before it is no fact."""
_CHANGES = 0.9
"""Probability of changing a known fact from which a clause is kept, whatever it says by itself."""
_COMPARED = 2
"""Known facts with which a clause is compared."""
_HARDLY = 0.03
"""Probability of being worth keeping below which a clause isn't compared, as most of talk."""
_TASK = 0.5
"""Probability from which a sentence asks for something."""
_MOST_WORDS = 60
_BRIEF = 2
"""Words of a clause that says something only as an answer, or by itself."""
_LONGEST_BEFORE = 200
"""Characters of what was said before, of which the end is kept."""
_ASKED_WITHIN = 3
"""Sentences at the end of a message among which its question is looked for."""
_MOST_SURE, _LEAST_SURE = 0.95, 0.7
_OF_TASK = 0.5
"""Factor of the probability of a standing order in a message that carries a task or material."""
_ORDER = 0.5
"""Probability of an order from which a clause asks for something, and for this answer if it is of
no kind that lasts."""
_CLEAR = 0.8
_NO_MATERIAL = (None, "no words", NOTES)
"""Reasons of spans that are the author's, or have no author."""


@dataclass(frozen=True, slots=True)
class _Before:
    """The words said right before a clause."""

    text: str = ""
    speaker: str = ""
    """Their role: names would move the judge, which has learned from few."""
    message_id: str = ""
    author: str | None = None
    """The name of the person who said them."""
    said_at: datetime | None = None
    is_own: bool = False
    """True if the author of the clause said them, in this message or right before it."""

    @property
    def end(self) -> str:
        return self.text[-_LONGEST_BEFORE:]

    @property
    def spoken(self) -> str:
        return f"{self.speaker}: {self.end}" if self.text else ""

    @property
    def is_asked(self) -> bool:
        return not self.is_own and self.text.endswith("?")

    def to(self, message: Message) -> _Before:
        """Return it as it stands before a message: without words of its author that tell little."""
        if self.speaker != _OF_USER or self.author != message.name:
            return self
        tells = is_clause(self.text) and is_understood(self.text)
        return replace(self, text=self.text if tells else "", is_own=True)


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause of a message, with what was said before it."""

    message: Message
    text: str
    before: _Before
    leans: bool
    asks: bool
    carries_material: bool
    """True if its message holds texts that aren't the speaker's own words."""
    is_note: bool = False

    @property
    def is_brief(self) -> bool:
        return len(self.text.split()) <= _BRIEF

    @property
    def spoken(self) -> Spoken:
        return Spoken(self.text, self.before.spoken if self.leans else "")


@dataclass(frozen=True, slots=True)
class _Read:
    clause: _Clause
    reading: Reading
    remarks: tuple[_Clause, ...] = ()
    """Clauses right behind it that don't stand without it."""

    @property
    def is_kept(self) -> bool:
        clause, reading = self.clause, self.reading
        if clause.is_note:
            return reading.keep >= _KEEP_OF_NOTE
        if clause.text.endswith("?") and not mentions_speaker(clause.text):
            return False  # it says nothing of who asks
        if reading.kind == "none" and reading.standing_order >= _ORDER:
            return False  # an order for this answer
        if reading.kind == "standing_order":
            return reading.keep >= _KEEP
        if not self.stands_alone and not self._is_told_of_what:
            return False
        least = 0.0 if clause.before.text else _FRAGMENT
        return reading.keep >= self._enough and reading.alone >= least

    @property
    def _is_told_of_what(self) -> bool:
        """True if what was said before may tell what a clause is about that doesn't by itself.

        That is a question of another, not a remark, or what its author has just said.
        """
        clause, before = self.clause, self.clause.before
        if before.is_asked:
            return is_understood(before.end)  # not "Where did you get them?"
        if clause.is_brief:
            return False
        if before.is_own:
            return bool(before.text) and not before.text.endswith("?")
        return not (before.text or points_elsewhere(clause.text))

    @property
    def carried(self) -> _Before | None:
        """Words that come with a clause, as it doesn't stand without them."""
        before = self.clause.before
        tells = before.is_asked or (before.is_own and bool(before.text))
        return before if tells and not self.stands_alone else None

    @property
    def _enough(self) -> float:
        if self.clause.asks:
            return _KEEP_OF_QUESTION
        if self.clause.before.is_asked:
            return _KEEP
        if not self.stands_alone:
            return _KEEP_OF_REMARK
        return _KEEP_OF_MOMENT if self.reading.kind in _MOMENTARY else _KEEP

    @property
    def stands_alone(self) -> bool:
        clause = self.clause
        if clause.is_note:
            return True
        if (
            points_back(clause.text)
            or points_elsewhere(clause.text)
            or (lacks_antecedent(clause.text) and clause.before.is_own)
        ):
            return False
        return self.reading.alone >= (_ALONE_OF_LEANING if clause.leans else _ALONE)


class OfflineExtractor:
    """Propose the sentences in which people say something worth keeping of themselves.

    `judge` reads all clauses of a stretch in one batch; `compare` judges an older and a newer
    statement. They are the packaged ones if None.
    """

    name = "offline-10"

    def __init__(self, judge: SentenceJudge | None = None, compare: Compare | None = None) -> None:
        self._judge = judge or PackagedSentenceJudge()
        self._compare = compare or PackagedPairJudge().verdict

    def extract(self, messages: Sequence[Message], known: Sequence[Fact] = ()) -> Extraction:
        """Return candidates, each with its source message and the reading of its sentence."""
        cut: list[_Clause] = []
        found: list[Candidate] = []
        before = _Before()
        for message in messages:
            if message.role == "user":
                divided = own_speech_of(message)
                own = divided.legible
                code = language(own)
                if code in (None, "en"):
                    material = any(span.reason not in _NO_MATERIAL for span in divided.spans)
                    cut += _notes(message, own) or _clauses(
                        message, own, before.to(message), material
                    )
                else:
                    found += _in_another_language(message, own, code)
            if message.role in ("user", "assistant"):
                before = _last(message)
        readings = self._judge.read([clause.spoken for clause in cut])
        read = [_Read(*pair) for pair in zip(cut, readings, strict=True)]
        read = [one if one.is_kept else self._changing(one, known) for one in read]
        tasks = {one.clause.message.id for one in read if one.reading.task >= _TASK}
        kept = _joined([one for one in read if one.is_kept])
        found += [_candidate(one, tasks) for one in kept]
        order = {message.id: place for place, message in enumerate(messages)}
        found.sort(key=lambda one: order[one.message_ids[0]])
        return Extraction(candidates=tuple(found))

    def _changing(self, read: _Read, known: Sequence[Fact]) -> _Read:
        """Return a clause as worth keeping if it changes a known fact with which it shares a word.

        "Lisbon isn't happening" says little by itself.
        """
        reading = read.reading
        is_remark = read.clause.asks or reading.task >= _TASK or not read.stands_alone
        if is_remark or reading.keep < _HARDLY:
            return read
        words = set(stems(read.clause.text))
        shared = [fact for fact in known if words.intersection(stems(fact.content))][:_COMPARED]
        over = [self._compare(in_first_person(fact), read.clause.text).over for fact in shared]
        if max(over, default=0.0) < _CHANGES:
            return read
        return _Read(read.clause, reading.model_copy(update={"keep": round(max(over), 4)}))


def _clauses(message: Message, own: str, before: _Before, material: bool) -> list[_Clause]:
    """Return the clauses of a message's own words."""
    found = []
    for sentence in sentences(own):
        for part in clauses(sentence):
            text = without_opener(part.text)
            if not text or len(text.split()) > _MOST_WORDS:
                continue
            found.append(_Clause(message, text, before, leans(text), part.asks, material))
            if is_understood(text):  # else the matter is still what was said before
                said_at = message.created_at
                before = _Before(text, _OF_USER, message.id, message.name, said_at, is_own=True)
    return found


def _notes(message: Message, own: str) -> list[_Clause]:
    """Return the entries of a message that holds notes of keys and values only."""
    return [
        _Clause(message, entry, _Before(), False, False, False, is_note=True)
        for entry in entries(own)
    ]


def _joined(kept: Sequence[_Read]) -> list[_Read]:
    """Join to each clause those right behind it that don't stand without it."""
    found: list[_Read] = []
    heads: dict[tuple[str, str], int] = {}
    for read in kept:
        clause, before = read.clause, read.clause.before
        own = clause.message.id, clause.text
        place = heads.get((before.message_id, before.text)) if before.is_own else None
        if place is not None and not read.stands_alone:
            head = found[place]
            whole = [head.clause, *head.remarks, clause]
            if head.stands_alone and sum(len(part.text.split()) for part in whole) <= _MOST_WORDS:
                reading = _of_both(head.reading, read.reading)
                found[place] = _Read(head.clause, reading, (*head.remarks, clause))
                heads[own] = place
                continue
        heads[own] = len(found)
        found.append(read)
    return found


def _of_both(head: Reading, remark: Reading) -> Reading:
    """Return the reading of a statement with a remark that tells what it is about."""
    if head.slot != "none":
        return head
    names = ("slot", "slot_probability", "other_slots")
    return head.model_copy(update={name: getattr(remark, name) for name in names})


def _after(before: str, text: str) -> str:
    """Return a clause behind the one before it."""
    end = "" if before.endswith("?") else "."
    return f"{before.rstrip(' .!,;')}{end} {text.rstrip(' .!,;')}"


def _candidate(read: _Read, tasks: set[str]) -> Candidate:
    clause, reading, message = read.clause, read.reading, read.clause.message
    if clause.carries_material or message.id in tasks:
        reading = reading.model_copy(
            update={"standing_order": round(reading.standing_order * _OF_TASK, 4)}
        )
    name = message.name or _USER
    told = clause.text.rstrip(" .!,;") if clause.is_note else _told(read, name)
    sure = _LEAST_SURE if is_hedged(clause.text) else min(_MOST_SURE, reading.keep)
    return Candidate(
        content=told,
        category=category_of(reading),
        confidence=round(max(_LEAST_SURE, sure), 2),
        message_ids=_sources(read),
        tags=tags(told, name),
        reading=reading,
    )


def _sources(read: _Read) -> tuple[str, ...]:
    """Return the ids of the messages that a fact rests on, that of words it carries among them."""
    said = [clause.message.id for clause in (read.clause, *read.remarks)]
    if read.carried:
        said.append(read.carried.message_id)
    return tuple(dict.fromkeys(said))


def _told(read: _Read, name: str) -> str:
    """Return a clause in the third person where that is certain, else behind the name."""
    clause, reading, before = read.clause, read.reading, read.carried
    parts = [_dated(one.text, one.message.created_at) for one in (clause, *read.remarks)]
    if before and before.is_own:
        parts.insert(0, _dated(before.text, before.said_at))
    text = reduce(_after, parts)
    if before and before.is_asked:
        return retold(name, before.end.rstrip(" .!,;"), text)
    if text.endswith("?"):
        return f"{name} asked: {text}"
    names_own = mentions_speaker(text) and name.casefold() not in text.casefold()  # not "I'm Maya"
    told = third_person(text, name) if names_own else None
    asks = reading.kind == "standing_order" or reading.standing_order >= _ORDER
    if asks and not (told or "").startswith(name):
        return f"{name} asks: {text}"
    if names_own:
        return told or f"{name}: {text}"
    return f"{name}: {text}" if clause.message.name else text[:1].upper() + text[1:]


def _dated(text: str, said_at: datetime | None) -> str:
    bare = text.rstrip(" .!,;")
    return bare if said_at is None else dated_in_place(bare, said_at)


def _in_another_language(message: Message, own: str, code: str) -> Iterator[Candidate]:
    for one in told(own, code, message.created_at):
        content = f"{message.name}: {one.text}" if message.name and one.of_speaker else one.text
        yield Candidate(
            content=content, category=one.category, confidence=_CLEAR, message_ids=(message.id,)
        )


def _last(message: Message) -> _Before:
    """Return the question at the end of a message, or else the last sentence of a person's."""
    said = own_speech_of(message).own if message.role == "user" else message.content
    spoken = [*sentences(said[-2_000:])][-_ASKED_WITHIN:]
    asked = [one for one in spoken if one.endswith("?")]
    by_assistant = message.role == "assistant"
    if not spoken or (by_assistant and not asked):
        return _Before()
    who = "Assistant" if by_assistant else _OF_USER
    return _Before((asked or spoken)[-1], who, message.id, message.name, message.created_at)
