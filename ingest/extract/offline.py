"""Extract without a model: statements that people make about themselves, found by rules.

message -> sentences -> statements     questions, greetings and code left out
-> dates made absolute -> third person -> category, confidence, tags

Statements in other languages than English are kept in their own words. Somewhat long: the steps
of one message share its masked spans and its candidates, and read best in one place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ingest.extract.antecedents import Antecedents, acts_on_unknown
from ingest.extract.asides import firm_parts
from ingest.extract.categories import CategoryExamples, category_by_rule, report_category
from ingest.extract.entries import entries
from ingest.extract.exchanges import exchanged, from_the_other_side, quoted
from ingest.extract.feedback import CONFIDED, directive, is_confided, verdict
from ingest.extract.jests import is_jest
from ingest.extract.judge import Judge, judge_for
from ingest.extract.languages import told
from ingest.extract.naming import introduced, named, signed
from ingest.extract.orders import standing_order
from ingest.extract.possessions import possessions, words_of
from ingest.extract.replies import answered, last_question
from ingest.extract.reports import reports
from ingest.extract.tags import tags
from ingest.extract.worth import (
    ADDRESSED,
    CLEAR,
    IMPLIED,
    confidence,
    continues,
    is_about_the_speaker,
    is_hedged,
)
from semantic_memory.domain.english.commands import is_command
from semantic_memory.domain.english.coordination import coordinated
from semantic_memory.domain.english.core import core_field
from semantic_memory.domain.english.ellipsis import completed, listed, with_owner
from semantic_memory.domain.english.fragments import is_clause
from semantic_memory.domain.english.mending import mended
from semantic_memory.domain.english.persons import mentions_speaker, third_person, with_listener
from semantic_memory.domain.english.predications import has_time
from semantic_memory.domain.english.pronouns import dangles
from semantic_memory.domain.english.relative_dates import absolute_dates, dated_in_place
from semantic_memory.domain.english.requests import asks_for_text, is_request
from semantic_memory.domain.english.sentences import Sentence, sentences
from semantic_memory.domain.english.shorthand import notes, tongues_asked, with_name_joined
from semantic_memory.domain.english.spelling import prepared
from semantic_memory.domain.english.standing import is_about_the_other, is_bound, stands
from semantic_memory.domain.english.statements import Clause, statements
from semantic_memory.domain.english.subjects import head
from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.english.verbatim import masked, unmasked
from semantic_memory.domain.extraction import Candidate, Extraction
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.language import language
from semantic_memory.domain.messages import Message
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.ports import Embedder
from semantic_memory.language.own_speech import own_speech_of, speaker_name

_ASSISTANT = "the assistant"
_USER = "The user"
_LEAST_WORTH = 0.6
_SHORTEST_QUOTED = 3
_MOST_IN_CHAT = 28
"""Words of a statement; longer ones in a chat run together what isn't one thing."""
_MOST_WORDS = 45
_TOO_SHORT_TO_TELL = 3
"""Words of an answer from which its language can't be told."""
_MENDED_WITHIN = 3
"""Sentences before a correction that it may be about."""
_PASTED = 3_000
"""Characters from which a message is more likely a pasted text than something said."""
# "Can you always cite sources?" asks for good
_PRESENTED = regex(
    r"^(?:I(?:'m| am)|[Mm]y name(?:'s| is)) "
    r"(?P<name>(?P<first>[A-Z][\w'’-]+)(?: [A-Z][\w'’-]+){0,2})$"
)
_POLITE = regex(
    r"\b(?:can|could|would|will) you (?:please |kindly )?"
    r"((?:always|never|stop|only|not)\b[^.?!\n]{3,100}"
    rf"|[^.?!\n]{{3,100}}\b{phrases('orders.for_good')}\b(?! tense)[^.?!\n]{{0,60}})(?:\?|\s*$)",
    re.IGNORECASE | re.MULTILINE,
)
# "can you explain loops, and don't just give me the answer"
_ORDER_BEHIND = regex(
    r"^(?P<asked>(?:can|could|would|will) (?:you|u)\b[^.?!\n]+?),? (?:and|but) "
    r"(?=(?:please )?(?:do not|don't|never|always)\b)",
    re.IGNORECASE | re.MULTILINE,
)
# "what can I cook - I'm vegan"
_ASKED_FIRST = regex(
    r"^(?P<asked>(?:(?:what|which|where|how|who|why)(?:'s| (?:can|could|should|shall|do|does|is|are"
    r"|would|will|to)\b)|any (?:ideas?|tips?|suggestions?)|recommend|suggest)[^.?!\n]*?)"
    r"(?: [-–—]|,|\.\.\.?) (?=(?:I'm|I am|I've|I have|we're|we are|my|our|I can't|I don't)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_PLEASE = regex(r"\b(?:please|pls)\W*$", re.IGNORECASE)
_OPENS_CASE = regex(r"^(?:so |and |but )?(?:when(?:ever)?|if|every time|each time)\b", re.I)
_REQUEST_BEHIND = regex(r"[,;]?\s+(?:and|so|but)\s+(?=please\s)|[,;]\s+(?=please\s)", re.I)
_CONSEQUENCE = regex(r",? (?:and )?so (?:please |pls )?(?!that\b)", re.IGNORECASE)
_REASON = regex(r"(?:I|we|my)\b", re.IGNORECASE)
_FORBIDS = regex(r"(?:do not|don't|no need to)\b", re.IGNORECASE)
# "I moved (we're in Porto now): how do I register?"
_BESIDE_A_QUESTION = regex(
    r"^(?P<before>[^.?!()\n\"]*?) ?\("
    r"(?P<aside>(?!(?:I|my) (?:mean|guess|think|hope)\b)(?:I|I'm|I've|we|we're|we've|my|our) "
    r"[^()?\n]{5,80}?)(?:,? (?:by the way|btw|fyi))?\)(?P<behind>[^.?!()\n]*\?)",
    re.IGNORECASE | re.MULTILINE,
)
_COMMA_PLEASE = regex(r",? please", re.IGNORECASE)
_POINTS_BACK = regex(
    r"\b(?:in|at|during|on|before|after|until) (?:that|this|those|these) "
    r"(?:time|times|day|days|week|weeks|hours?|evenings?|mornings?|nights?)\b",
    re.IGNORECASE,
)
_TELLS = regex(rf"^(?:my|our) .*\b{phrases('reports.telling')}$", re.IGNORECASE)
_THERE = regex(r"^(?:I|we)\b.*\sthere\b", re.IGNORECASE)
_OF_ONE = regex(
    rf"(?:he|she|his|her|(?:the )?(?:new )?{phrases('antecedents.relational')})\b", re.IGNORECASE
)
_NO = regex(r"(?:no|not(?! an?\b)|never|only)\b", re.IGNORECASE)
_TREATED = regex(rf"\b{phrases('possessions.treated')}\b", re.IGNORECASE)
_GOES_ON = regex(r"(?:it|they|he|she|its|their|his|her)\b", re.IGNORECASE)


_RESULT = regex(
    r"^(?:that|this|which) (?P<told>(?:saves|saved|costs|means|cut|cuts|made|gives|takes|fixed"
    r"|solved|broke|doubled|halved|brought|took)\b.{3,80})$",
    re.IGNORECASE,
)


class _Statement(NamedTuple):
    """A statement, with what the next sentences say of the same thing."""

    parts: tuple[str, ...]
    sentence: Sentence
    is_report: bool = False
    """True if it is about somebody or something else than its speaker."""

    @property
    def text(self) -> str:
        return self.parts[0]

    def is_continued_by(self, other: _Statement, *, in_chat: bool) -> bool:
        """Return True if `other` needs this one to be understood: "He is called Rex"."""
        return (
            len(self.parts) == 1
            and not self.is_report
            and self.sentence != other.sentence
            and len(self.text.split()) + len(other.text.split()) <= _MOST_WORDS
            and continues(other.text)
            and stands(other.text)
            and (not in_chat or _GOES_ON.match(other.text) is not None)
            and not dangles(self.text)
        )

    def with_next(self, other: _Statement) -> _Statement:
        return self._replace(parts=(*self.parts, other.text))


class _Talk(NamedTuple):
    """A message with the conversation around it."""

    message: Message
    listener: str | None
    """The assistant, the other of two speakers, or None among several."""
    before: Message | None
    """The message that it may answer."""
    antecedents: Antecedents
    """The people and things named so far."""
    is_among_people: bool
    """True if no assistant is known to listen: every speaker has a name."""
    is_chat: bool
    """True if several people talk to each other."""
    judge: Judge
    own: Message | None = None
    """The speaker's message before, unless a question has been asked since."""

    @property
    def name(self) -> str:
        return speaker_name(self.message.name) or _USER

    @property
    def is_to_assistant(self) -> bool:
        return self.listener == _ASSISTANT


class OfflineExtractor:
    """Proposes every statement in which someone but the assistant says something of themselves.

    Plain statements get a confidence of 0.8 or more; hedged ones ("might", "thinking of"), those
    that speak to someone, and those whose pronouns stand for something said elsewhere get less
    than the gate admits. With an `embedder`, a statement whose wording doesn't show its category
    gets that of the most similar examples. `judge` returns the probability that a statement made
    among people is worth keeping and stands alone.
    """

    name = "offline-4"

    def __init__(self, embedder: Embedder | None = None, judge: Judge | None = None) -> None:
        self._examples = CategoryExamples(embedder) if embedder else None
        self._judge = judge or judge_for(embedder)

    def extract(self, messages: Sequence[Message], known: Sequence[Fact] = ()) -> Extraction:
        """Return candidates in the third person, each with its source message."""
        del known  # a repetition is told by its text and its vector
        # Where several people talk to each other, no one is giving orders to an assistant.
        speakers = {message.speaker for message in messages if message.role == "user"}
        candidates: list[Candidate] = []
        unclear: list[int] = []
        before: Message | None = None
        among_people = _is_among_people(messages)
        is_chat = among_people and len(speakers) > 1
        antecedents = Antecedents(of_people_only=among_people)
        own: dict[str, Message] = {}
        for message in messages:
            if message.role == "user":
                listener = _listener(message, speakers)
                asked = _other(before, message)
                talk = _Talk(
                    message,
                    listener,
                    asked,
                    antecedents,
                    among_people,
                    is_chat,
                    self._judge,
                    None if asked and last_question(asked.content) else own.get(message.speaker),
                )
                own[message.speaker] = message
                for candidate, clear in _candidates(talk):
                    if not clear:
                        unclear.append(len(candidates))
                    candidates.append(candidate)
            if message.role in ("user", "assistant"):
                before = message
            if message.role == "assistant" and (question := last_question(message.content)):
                antecedents.note(from_the_other_side(question), _USER)
        if self._examples:
            nearest = self._examples.classify([candidates[place].content for place in unclear])
            for place, category in zip(unclear, nearest, strict=True):
                candidates[place] = candidates[place].model_copy(update={"category": category})
        return Extraction(candidates=tuple(candidates))


def _is_among_people(messages: Sequence[Message]) -> bool:
    """Return True if the messages are of people with names, and none of an assistant."""
    roles = {message.role for message in messages}
    return "assistant" not in roles and all(message.name for message in messages)


def _other(before: Message | None, message: Message) -> Message | None:
    """Return the message that `message` may answer: the one before it, by someone else."""
    return before if before and before.speaker != message.speaker else None


def _candidates(talk: _Talk) -> Iterator[tuple[Candidate, bool]]:
    """Yield the candidates of a message, and whether the wording of each shows its category."""
    message = talk.message
    content, spans = masked(own_speech_of(message).legible)
    code = language(content)
    is_note = code not in (None, "en") and talk.is_to_assistant and notes(prepared(content))
    if code not in (None, "en") and not is_note and not _answers_in_english(content, talk.before):
        yield from _in_other_words(message, str(code)) if len(content) <= _PASTED else ()
        return
    signature, content = ("", content) if talk.is_chat else signed(content)
    text = listed(prepared(content))
    found = _Found(talk, spans, len(message.content) > _PASTED)
    if signature and not found.is_pasted:
        yield found.candidate(signature, Category.PERSONAL)
    if not found.is_pasted and (told_of := entries(text)):
        yield from (found.candidate(entry.statement, entry.category) for entry in told_of)
        return
    yield from found.candidates(text)


def _answers_in_english(content: str, before: Message | None) -> bool:
    """Return True if a word or two answer an English question, whatever language they look like."""
    if before is None or len(content.split()) > _TOO_SHORT_TO_TELL:
        return False
    return last_question(before.content) is not None and language(before.content) in (None, "en")


def _in_other_words(message: Message, code: str) -> Iterator[tuple[Candidate, bool]]:
    """Yield what a message in another language than English states, in its own words."""
    for one in told(own_speech_of(message).legible, code, message.created_at):
        content = (
            f"{speaker_name(message.name)}: {one.text}"
            if message.name and one.of_speaker
            else one.text
        )
        candidate = Candidate(
            content=content, category=one.category, confidence=CLEAR, message_ids=(message.id,)
        )
        yield candidate, True


class _Found:
    """Turns the sentences of a message into candidates."""

    def __init__(self, talk: _Talk, spans: Sequence[str], is_pasted: bool) -> None:
        self._talk = talk
        self._spans = spans
        self.is_pasted = is_pasted
        self.is_chat = talk.is_chat
        self._known: set[str] = set()
        self._mended: set[Sentence] = set()
        """Sentences put together with what they correct."""

    def candidates(self, text: str) -> Iterator[tuple[Candidate, bool]]:
        """Yield the candidates of a prepared text."""
        talk = self._talk
        answers, text = self._answers(text)
        for stated in answers:
            self._known |= words_of(stated)
            shown = (
                category_by_rule(stated) if mentions_speaker(stated) else report_category(stated)
            )
            yield self.candidate(stated, shown, source=talk.before)
            talk.antecedents.note(stated, talk.name)
        answer = talk.before.content if talk.before and talk.before.role == "assistant" else None
        pending: list[_Statement] = []
        before = ""
        told_before = _last_sentences(talk.own)
        text = _ASKED_FIRST.sub(r"\g<asked>? ", with_name_joined(text))
        text = _ORDER_BEHIND.sub(r"\g<asked>? ", text)
        text = _BESIDE_A_QUESTION.sub(r"\g<aside>. \g<before>\g<behind>", text)
        parts = list(_requests_apart(sentences(_POLITE.sub(r"please \1.", text))))
        for sentence in parts:
            if talk.is_to_assistant and is_jest(sentence.said):
                text = text.replace(sentence.said, " ")  # nobody has the cat of a joke
                continue
            sentence = self._as_meant(sentence, told_before)
            secret = self._confided(sentence, told_before)
            told_before = [*told_before, sentence.text][-_MENDED_WITHIN:]
            noted, sentence = self._noted(sentence)
            yield from noted
            introduction, rest = introduced(sentence.said.rstrip(" .!"), alone=len(parts) == 1)
            if introduction and not talk.is_chat:
                yield self.candidate(introduction, Category.PERSONAL)
                sentence = Sentence(rest, rest)
            order = secret or self._order(sentence, answer)
            name = None if order else named(sentence.said, alone=not talk.is_chat)
            if order:
                if before and _POINTS_BACK.search(order):
                    order = f"{order.rstrip('.')}: {self._told(before)}"
                yield self._candidate(order, Category.FEEDBACK, CLEAR), True
            elif name:
                yield self.candidate(name, Category.PERSONAL)
            else:
                yield from self._gathered(sentence, pending)
            talk.antecedents.note(sentence.text, talk.name)
            before = sentence.text
        for statement in self._worth_keeping(pending):
            yield self._pending(statement)
        for stated in possessions(text, self._known) if not self.is_pasted else ():
            yield self.candidate(stated, Category.PERSONAL, IMPLIED)

    def _as_meant(self, sentence: Sentence, before: Sequence[str]) -> Sentence:
        """Return a correction put together with what it corrects; any other sentence as it is."""
        heard = self._talk.before
        fixed = mended(sentence.said, before, heard.content if heard else "")
        if fixed is None:
            return sentence
        whole = Sentence(fixed, fixed)
        self._mended.add(whole)
        return whole

    def _confided(self, sentence: Sentence, told: Sequence[str]) -> str | None:
        """Return the wish that what was said last be kept secret; without it, it says nothing."""
        if not told or self.is_pasted or not self._talk.is_to_assistant:
            return None
        if not is_confided(sentence.text):
            return None
        return CONFIDED.format(name=self._talk.name, told=self._told(told[-1]))

    def reports(self, statement: _Statement) -> list[_Statement]:
        """Return what a statement says of others and of things, its pronoun resolved."""
        if self.is_pasted:
            return []
        talk = self._talk
        text = talk.antecedents.resolved(statement.text, talk.name) or statement.text
        text = talk.antecedents.resolved(text, talk.name) or text  # "he is a surgeon there"
        if acts_on_unknown(text):
            return []
        found = reports(text, of_names_only=talk.is_among_people)
        return [_Statement((one,), statement.sentence, is_report=True) for one in found]

    def bound(self, statement: _Statement) -> _Statement | None:
        """Return what a speaker does with something named before, by its name; or None."""
        if self.is_pasted:
            return None
        if (result := _RESULT.match(statement.text)) and not self._talk.is_among_people:
            before = self._talk.antecedents.last(self._talk.name)
            whole = f"{before}, which {result['told']}"
            return _Statement((whole,), statement.sentence) if _is_told(before) else None
        if head(statement.text) is None:
            return None
        text = self._talk.antecedents.resolved(statement.text, self._talk.name)
        if text is None or dangles(text) or not is_about_the_speaker(text) or not is_clause(text):
            return None
        return _Statement((text,), statement.sentence)

    def _answers(self, text: str) -> tuple[list[str], str]:
        """Return what the message states as an answer to the one before, and the rest of it."""
        before = self._talk.before
        question = last_question(before.content) if before else None
        if not question:
            return [], text
        if found := answered(question, text):
            return [found[0]], found[1]
        first, _, rest = text.strip().partition("\n")
        answers = exchanged(question, first) if not rest.strip() else []
        if not answers and not rest.strip() and before and before.role == "assistant":
            answers = quoted(question, first)
        return (answers, "") if answers else ([], text)

    def _noted(self, sentence: Sentence) -> tuple[list[tuple[Candidate, bool]], Sentence]:
        """Return what a sentence notes down about its writer, and what is left of it."""
        if not self._talk.is_to_assistant or self.is_pasted:
            return [], sentence
        if asked := [*tongues_asked(sentence.text)]:
            orders = (directive(one, self._talk.name) for one in asked)
            told = [self._candidate(one, Category.FEEDBACK, CLEAR) for one in orders if one]
            return [(one, True) for one in told], Sentence("", "")
        found = notes(sentence.said if _NO.match(sentence.said) else sentence.text)
        if found is None:
            return [], sentence
        self._known |= {word for one in found.statements for word in words_of(one)}
        for one in found.statements:
            self._talk.antecedents.note(one, self._talk.name)
        stated = [self.candidate(one, category_by_rule(one)) for one in found.statements]
        return stated, Sentence(found.rest, found.rest)

    def _gathered(
        self, sentence: Sentence, pending: list[_Statement]
    ) -> Iterator[tuple[Candidate, bool]]:
        """Add a sentence's statements to `pending`; yield it whole if it is vital and has none."""
        known = len(pending)
        _gather(pending, _statements(sentence, self._talk), self)
        if len(pending) > known:
            return
        if self._is_vital(sentence.text):
            yield self.candidate(sentence.text, Category.PERSONAL, IMPLIED)
        elif self._is_of_health(sentence):
            quoted = f"{self._talk.name} said: “{self._dated(sentence.said.rstrip(' .!'))}”"
            yield self._candidate(quoted, Category.PERSONAL, IMPLIED), True

    def _is_vital(self, sentence: str) -> bool:
        """Return True for what every answer may need, however it is put: "no nuts for me pls"."""
        if not self._talk.is_to_assistant or self.is_pasted:
            return False
        if is_hedged(sentence) or not mentions_speaker(sentence):
            return False
        says = is_clause(sentence) or _NO.match(sentence) is not None
        return says and core_field(self._told(sentence), Category.PERSONAL) is not None

    def _is_of_health(self, sentence: Sentence) -> bool:
        """Return True for what is told of someone's health in words that no rule can turn."""
        said = sentence.said
        if not self._talk.is_to_assistant or self.is_pasted:
            return False
        if len(said.split()) < _SHORTEST_QUOTED or said.rstrip().endswith("?"):
            return False
        if dangles(said) or is_hedged(said) or is_request(said) or asks_for_text(said):
            return False
        return _TREATED.search(said) is not None and not is_command(said)

    def _dated(self, said: str) -> str:
        when = self._talk.message.created_at
        return dated_in_place(said, when) if when is not None else said

    def _order(self, sentence: Sentence, answer: str | None) -> str | None:
        """Return a sentence about the assistant's work as a fact; None if it isn't about that."""
        if not self._talk.is_to_assistant or self.is_pasted:
            return None
        please = ", please" if _PLEASE.search(sentence.said) else ""
        order = directive(sentence.text + please, self._talk.name)
        if order and completed(sentence.text) != [sentence.text]:
            order = None  # "back to meat" is short for "I am back to meat"
        return order or (verdict(sentence.said, self._talk.name, answer) if answer else None)

    def _pending(self, statement: _Statement) -> tuple[Candidate, bool]:
        of_report = report_category(statement.text) if statement.is_report else None
        shown = of_report or category_by_rule(statement.text)
        content = " ".join(_capital(self._told(part)) for part in statement.parts)
        sure = confidence(statement.text, statement.sentence.said, clear=shown is not None)
        sure = min(sure, ADDRESSED) if self.is_pasted else sure
        if sure > ADDRESSED:
            self._known |= words_of(content)
        source = self._talk.own if statement.sentence in self._mended else None
        return self._candidate(content, shown, sure, source), shown is not None

    def _worth_keeping(self, found: Sequence[_Statement]) -> list[_Statement]:
        """Return the statements that stand alone and aren't talk of the moment."""
        standing = [one for one in found if stands(one.text) and not self._is_request(one.text)]
        # What someone tells an assistant is mostly meant to be known; among people most is talk.
        if not self._talk.is_among_people:
            return standing
        standing = [one for one in standing if self._stands_in_chat(one.text)]
        if not self._talk.is_chat:
            return standing
        own = [one.text for one in standing if not one.is_report]
        kept = {
            text
            for text, likely in zip(own, self._talk.judge(own), strict=True)
            if likely >= _LEAST_WORTH
        }
        return [one for one in standing if one.is_report or one.text in kept]

    def _is_request(self, text: str) -> bool:
        return self._talk.is_to_assistant and asks_for_text(text)

    def _stands_in_chat(self, text: str) -> bool:
        """Return True if a statement among people is short, bound, and not about the listener."""
        listener = self._talk.listener
        return (
            len(text.split()) <= _MOST_IN_CHAT
            and is_bound(text)
            and not (listener and is_about_the_other(text, listener))
        )

    def candidate(
        self,
        statement: str,
        category: Category | None,
        sure: float = CLEAR,
        source: Message | None = None,
    ) -> tuple[Candidate, bool]:
        """Return a statement in the first person as a candidate."""
        return self._candidate(self._told(statement), category, sure, source), category is not None

    def _told(self, statement: str) -> str:
        talk = self._talk
        presented = _PRESENTED.match(statement)
        if presented and presented["first"] == talk.name.split()[0]:
            # "Maya is Maya" says nothing; that the user is Maya does, where there is one user.
            name = _USER if talk.is_to_assistant else talk.name
            return _told(f"my name is {presented['name']}", name, talk.message)
        return _told(statement, talk.name, talk.message)

    def _candidate(
        self,
        content: str,
        category: Category | None,
        sure: float,
        source: Message | None = None,
    ) -> Candidate:
        message = self._talk.message
        whole = unmasked(content, self._spans)
        return Candidate(
            content=whole,
            category=category or Category.PERSONAL,
            confidence=sure,
            message_ids=(message.id, source.id) if source else (message.id,),
            tags=tags(whole, message.name or ""),
        )


def _requests_apart(found: Iterable[Sentence]) -> Iterator[Sentence]:
    """Yield the sentences, with a request beside a statement by itself.

    "..., please ...", "keep it short, I ..."; what is only asked for now is left out: "I'm vegan,
    suggest a dinner".
    """
    for sentence in found:
        told, comma, asked = sentence.text.rpartition(", ")
        if comma and is_request(asked) and not is_request(told):
            sentence = sentence._replace(text=told)
        order, comma, reason = sentence.text.partition(", ")
        if comma and _REASON.match(reason) and standing_order(order):
            yield Sentence(order, order)
            yield Sentence(reason, reason)
            continue
        if consequence := _order_for(sentence.text):
            yield from (Sentence(part, part) for part in consequence)
            continue
        if "please" not in sentence.text.lower():
            yield sentence
            continue
        start = 0
        if _OPENS_CASE.match(sentence.text):
            yield Sentence(_COMMA_PLEASE.sub(", please", sentence.text, 1), sentence.said)
            continue
        for joint in _REQUEST_BEHIND.finditer(sentence.text):
            yield Sentence(sentence.text[start : joint.start()], sentence.said)
            start = joint.end()
        yield Sentence(sentence.text[start:], sentence.said) if start else sentence


def _order_for(sentence: str) -> tuple[str, str] | None:
    """Return a reason and the standing order that follows from it; None if it isn't both.

    >>> _order_for("english isn't my first language so correct me when I write wrong")
    ("english isn't my first language", 'correct me when I write wrong')
    >>> _order_for("I'm colour blind so don't tell me which colour a button has")
    ("I'm colour blind", "don't tell me which colour a button has")
    >>> _order_for("I'm driving so don't send charts")
    >>> _order_for("keep it short so I can read it")
    """
    found = _CONSEQUENCE.search(sentence)
    if found is None or _OPENS_CASE.match(sentence):
        return None
    reason, order = sentence[: found.start()], sentence[found.end() :]
    if _NO.match(order) and standing_order(order):
        return reason, order
    if standing_order(reason) or not (mentions_speaker(reason) and is_clause(reason)):
        return None
    if _FORBIDS.match(order) and not has_time(order) and core_field(reason, Category.PERSONAL):
        return reason, order  # what follows from "I'm driving" holds for the moment
    return (reason, order) if is_command(order) and standing_order(order) else None


def _gather(pending: list[_Statement], found: Iterable[_Statement], rules: _Found) -> None:
    """Add the statements worth keeping, and those that go on with the last one."""
    for statement in found:
        # what is timed ends by itself: "my editor is Ida. She wants the draft by Friday"
        timed = rules.reports(statement) if pending and has_time(statement.text) else []
        if timed and dangles(statement.text):
            pending += timed
        elif pending and pending[-1].is_continued_by(statement, in_chat=rules.is_chat):
            pending[-1] = pending[-1].with_next(statement)
        elif is_about_the_speaker(statement.text) and not dangles(statement.text):
            if is_clause(statement.text):
                pending.append(statement)
        elif own := rules.bound(statement):
            pending.append(own)
        else:
            pending += rules.reports(statement)


def _last_sentences(message: Message | None) -> list[str]:
    """Return the sentences of a message that the next one may correct."""
    if message is None or len(message.content) > _PASTED:
        return []
    return [one.text for one in sentences(prepared(own_speech_of(message).own))][-_MENDED_WITHIN:]


def _listener(message: Message, speakers: set[str]) -> str | None:
    """Return the listener of a message: the assistant, the other of two, None among several."""
    others = speakers - {message.speaker}
    if not others:
        return _ASSISTANT
    return others.pop() if len(others) == 1 and "user" not in speakers else None


def _statements(sentence: Sentence, talk: _Talk) -> list[_Statement]:
    """Return the statements of a sentence; one that leans on the one before stays with it."""
    kept: list[Clause] = []
    clauses = [one for whole in completed(sentence.text) for one in statements(whole)]
    for clause in clauses:
        if talk.listener:
            clause = clause._replace(text=with_listener(clause.text, talk.listener))
        if _THERE.search(clause.text):
            placed = talk.antecedents.resolved(clause.text, talk.name)
            clause = clause._replace(text=placed or clause.text)
        if kept and _TELLS.search(kept[-1].text):
            kept[-1] = Clause(f"{kept[-1].text} {clause.text}", kept[-1].link)
            continue
        if kept and (own := _of_one_named(kept[-1].text, clause.text, talk.name)):
            clause = clause._replace(text=own)
        elif kept and dangles(clause.text) and not dangles(kept[-1].text):
            if is_hedged(clause.text):
                continue
            joined = kept[-1].text + (clause.link or ", ") + clause.text
            if len(joined.split()) <= _MOST_WORDS:
                kept[-1] = Clause(joined, kept[-1].link)
                continue
        kept.append(clause)
    return [
        _Statement((with_owner(part),), sentence)
        for clause in kept
        for firm in firm_parts(clause.text)
        for part in coordinated(firm)
    ]


def _of_one_named(before: str, clause: str, speaker: str) -> str | None:
    """Return a clause about what the one before names: "he runs a garage", "launch is in May"."""
    if not _OF_ONE.match(clause):
        return None  # "it" stays beside what it stands for
    antecedents = Antecedents()
    antecedents.note(before, speaker)
    return antecedents.resolved(clause, speaker)


def _is_told(sentence: str) -> bool:
    """Return True if a sentence says something of its speaker, so that more can be said of it."""
    return (
        is_about_the_speaker(sentence)
        and is_clause(sentence)
        and not (dangles(sentence) or is_hedged(sentence))
    )


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _told(statement: str, name: str, message: Message) -> str:
    if message.created_at is not None:
        statement = absolute_dates(statement, message.created_at)
    return third_person(statement, name).rstrip(" ,;:.!") + "."
