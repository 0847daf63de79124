"""Recognise a user's request to forget: a subject, a message, or everything.

"Please forget what I told you about the divorce"  ->  the subject "the divorce"
"Off the record: I'm looking for another job"      ->  this message
"Don't save that"                                  ->  this message and the one before

A request is an opening, a verb of forgetting and an object that speaks of the memory; the words of
each language and the rules that join them are in ``data/forgetting.toml``. What a message says
besides must be a reason: one that states something new corrects what was said, and asks for
nothing to be forgotten. Read only what its author says of themselves (`own_speech`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

from semantic_memory.domain.english.notation import any_of, phrase
from semantic_memory.domain.english.tables import split
from semantic_memory.domain.english.words import is_quality, is_word, noun
from semantic_memory.domain.forget_requests import RequestScope
from semantic_memory.domain.patterns import regex
from semantic_memory.language import clauses
from semantic_memory.language.enclosures import word_class
from semantic_memory.language.own_speech import own_words

Answer = Literal["yes", "no"]

_LONGEST = 600  # characters of a sentence that is read
_MOST = 200  # sentences of a message
_MOST_READ = 4_000  # characters of a message: a request is short
_A_FEW = 2  # words beside a saying, like "thank you"
_MARK = r"[,;:–—()-]"
_WORD = r"(?!-\s)[^\s,;:–—()]+\s"
_SPACED = regex(r"([,;:–—()¿¡])|(?<=[^\d])([.!?…]+)(?=\s|$)|([.!?…]+)$")
_JOINED = regex(
    r"(?<=\w)-(?=(?:le|la|les|moi)\b)|(?<=\b[nd]')(?=\w)|(?<=\bqu')(?=\w)", re.IGNORECASE
)
_QUOTED = regex(r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|„[^“”\n]*[“”]|(?<!\w)'[^'\n]{8,}'(?!\w)")
_SLOTS = {
    "subject": rf"(?P<subject>(?:{_WORD}){{1,25}})",
    "owned": "",  # with the possessives of the language
    "brief": rf"(?P<subject>(?:{_WORD}){{1,12}}?)",
}


_SUBJECTS = frozenset("i we he she they it who".split())
_HEARD = frozenset("found hear heard overheard read reading reads saw".split())
_SUBJECT = regex(_SLOTS["subject"])


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to forget."""

    scope: RequestScope
    """`this` message, it and the `previous` one, everything, or a subject."""
    subject: str = ""


def asked_to_forget(text: str) -> Asked | None:
    """Return what a stretch of own speech asks to forget; None if it doesn't.

    >>> asked_to_forget("Please forget what I said about Anna.")
    Asked(scope='subject', subject='Anna')
    >>> asked_to_forget("Lösch alles, was du über meine Gesundheit weißt.")
    Asked(scope='subject', subject='meine Gesundheit')
    >>> asked_to_forget("I always forget my keys.")
    >>> asked_to_forget("Forget what I said about the date, it's on Friday now.")
    """
    said = _sentences(text[:_MOST_READ])
    for grammar in _grammars():
        if grammar.may_ask(" ".join(said)) and (found := grammar.asked(said)) is not None:
            return found
    return None


def requests_in(sentences: Sequence[str]) -> dict[int, Asked]:
    """Return the requests in the sentences of a message by their places.

    One that needs the sentence before it takes that one too.
    """
    found: dict[int, Asked] = {}
    for place, sentence in enumerate(sentences):
        if (asked := asked_to_forget(own_words(sentence))) is not None:
            found[place] = asked
        elif place and place - 1 not in found:
            both = own_words(sentences[place - 1] + sentence)
            if (asked := asked_to_forget(both)) is not None:
                found[place - 1] = found[place] = asked
    return found


def answered(text: str) -> Answer | None:
    """Return whether a stretch of own speech clearly confirms or declines a request to forget.

    A confirmation says so with a verb of forgetting.

    >>> answered("Yes, please delete that."), answered("No, keep it."), answered("Yes.")
    ('yes', 'no', None)
    """
    said = _sentences(text)
    for grammar in _grammars():
        if len(said) in (1, 2) and (found := grammar.answered(" ".join(said))):
            return found
    return None


class _Grammar:
    """The words of a language, and patterns of its requests."""

    def __init__(self, words: Mapping[str, str], objects: Mapping[str, Sequence[str]]) -> None:
        self._words = words
        self._last = words["order"] == "verb last"
        self._objects = [
            (kind, [self._rule(rule) for rule in rules if self._knows(rule)])
            for kind, rules in objects.items()
        ]
        opening = rf"(?:(?:{self._any('openers')}|{self._any('polite')})\s(?:[,:!]\s)?)*"
        begin = rf"(?:^|(?<={_MARK}\s)|(?<=\s)(?={self._any('conjunction')}\s))[¿¡]?\s?"
        verb = any_of(
            rf"(?P<verb>{self._any('verbs')})",
            rf"(?P<weak>{self._any('weak')})",
            rf"{self._any('mind')}\s{self._any('gerunds')}",
            rf"{self._any('if_you')}\s(?:{self._any('polite')}\s)?{self._any('pasts')}",
        )
        self._verb = _compiled(rf"{begin}{opening}{verb}\s(?:(?:{self._any('polite')}|,)\s)*")
        self._forget = _compiled(self._any("forget"))
        self._verb_last = _compiled(
            rf"{begin}{opening}(?P<object>(?:\S+\s){{1,25}}?)(?:{self._any('polite')}\s)*"
            rf"(?P<verb>{self._any('verbs')})\s(?={_MARK}|$|{self._any('polite')})"
        )
        self._gone = _compiled(
            rf"{begin}{opening}(?:{self._any('wants')}\s)?(?:,\s)?(?:(?:dass|que)\s)?"
            rf"(?P<object>(?:\S+\s){{1,20}}?)(?:{self._any('polite')}\s)?"
            rf"(?:(?P<tobe>{self._any('tobe')})\s)?(?:{self._any('gone')}|(?P<can>{self._any('cango')}))\s"
            rf"(?:{self._any('tobe')}\s)?(?P<place>{self._any('outof')}\s{self._any('place')}\s)?"
            rf"(?={_MARK}|$|{self._any('polite')})"
        )
        self._unkept = _compiled(
            rf"{begin}{opening}(?:(?P<unwished>{self._any('unwished')})\s(?:{self._any('polite')}\s)?"
            rf"(?:{self._any('negation')}\s)?|{self._any('negation')}\s(?:ever\s|te\s|lo\s)?)"
            rf"(?:{self._any('keep')}|(?P<put>{self._any('put')}))\s(?:{self._any('negated')}\s)?"
        )
        self._kept_none = _compiled(
            rf"{begin}{opening}{self._any('retain')}\s(?={self._any('none')}\s)"
        )
        self._unkept_last = _compiled(
            rf"{begin}{opening}{self._any('keep')}\s(?P<object>(?:\S+\s){{1,8}}?)(?:{self._any('polite')}\s)?"
            rf"{self._any('negation')}\s(?:{self._any('keep')}\s)?(?={_MARK}|$|{self._any('polite')})"
        )
        self._not_be = _compiled(
            rf"{begin}{opening}(?:(?P<no>{self._any('nowant')})\s)?(?P<object>(?:\S+\s){{1,20}}?)"
            rf"(?:(?:(?P<not>{self._any('notbe')})|{self._any('isbe')})\s)*{self._any('unkept')}\s(?={_MARK}|$|{self._any('polite')})"
        )
        self._negated = _compiled(rf"(?:^|\s){self._any('negation')}\s")
        self._after_not = _compiled(rf"(?:\S+\s){{0,2}}?{self._any('negation')}\s")
        self._front = [
            _compiled(rf"(?:^|\s){source}")
            for source in (
                rf"{self._any('regret')}\s{_SLOTS['subject']}",
                (
                    rf"(?:{self._any('whole')}\s)?{self._any('told')}\s"
                    rf"(?:{self._any('told_when')}\s)?(?:(?:something|anything)\s)?"
                    rf"(?:{self._any('about')}\s)?{_SLOTS['subject']}"
                ),
                (
                    rf"{_SLOTS['brief']}(?:{self._any('that')}\s)?{self._any('told')}\s"
                    rf"(?:{self._any('about')}\s)?(?={_MARK}|$|{self._any('told_when')}\s)"
                ),
            )
        ]
        self._topic = _compiled(
            rf"^(?:(?:{self._any('polite')}|{self._any('openers')})\s(?:,\s)?)*"
            rf"(?:{self._any('topic')}|{self._any('whole')}\s{self._any('about')})\s{_SLOTS['subject']}"
        )
        self._matter = _compiled(
            rf"^(?P<subject>{self._any('possessive')}\s(?:\S+\s)?{self._any('personal')}\s)"
            rf"(?:{_MARK}\s|(?:has|should|does)\s.*)?$"
        )
        self._person = _compiled(
            rf"(?:^|(?<=\s))(?P<subject>{self._any('possessive')}\s\w+\s|(?-i:[A-Z][a-zà-ÿ]+)\s)"
        )
        self._oneself = _compiled(rf"^(?:{self._any('about')}\s)?{self._any('self_object')}\s")
        self._idle = _compiled(rf"\s{self._any('idle')}\s*$")
        self._condition = _compiled(rf"^{self._any('condition')}\s")
        self._this = _compiled(
            rf"(?:{self._any('deictic')}|{self._any('message')})\s(?:(?:down|anywhere"
            rf"|{self._any('outof')}\s{self._any('place')})\s)*(?={_MARK}|$|{self._any('polite')}\s)"
        )
        self._deictic = _compiled(rf"{self._any('deictic')}\s")
        self._goes_on = _compiled(rf"\s*(?:{self._any('polite')}\s)*(?::|,\sbut)\s*\S")
        self._named_message = _compiled(rf"(?:^|\s){self._any('message')}\s")
        self._vanish = _compiled(rf"(?:^|\s){self._any('vanish')}\s")
        self._slip = _compiled(rf"\b{self._any('slip')}\b")
        self._aside = _compiled(rf"(?:^|(?<=\s)){self._any('aside')}\s")
        self._reason = _compiled(
            rf"^(?:{_MARK}\s|{self._any('polite')}\s|{self._any('conjunction')}\s)*"
            rf"(?:$|{self._any('reason')}\b|(?:{self._any('openers')}\s)*{self._any('verbs')}\s)"
        )
        self._polite_only = _compiled(rf"^(?:(?:{_MARK}|{self._any('polite')})\s)*$")
        self._news = _compiled(rf"\b{self._any('news')}\b")
        self._about_it = _compiled(rf"^{self._any('pronoun')}\s")
        self._artifact = _compiled(
            rf"(?:^|\s){self._any('artifact')}\s|^(?:\S+\s)?{self._any('turn')}\s$"
        )
        self._elsewhere = _compiled(rf"(?:^|\s){self._any('elsewhere')}\s")
        self._lead = _compiled(rf"^(?:{self._any('whole')}\s)?(?:{self._any('about')})\s")
        self._tail = _compiled(
            rf"(?:(?:^|\s)(?:{self._any('polite')}|{self._any('told_when')}"
            rf"|{self._any('trailing')}\s.*))+\s*$"
        )
        self._wants = _compiled(rf"\b{self._any('wants')}\b")
        self._that = _compiled(rf"^{self._any('that')}\s")
        self._quotes = _compiled(rf"{self._any('quotes')}\s")
        self._as_said = _compiled(rf"{self._any('as_said')}\s")
        self._listener = _compiled(rf"\s{self._any('listener')}\s")
        self._reply = _compiled(
            any_of(*(rf"{self._any(one)}\s" for one in ("openers", "polite", "yes", "no")))
        )
        self._unclear = _compiled(rf"^{self._any('unclear')}\s*$")
        self._message = _compiled(rf"^(?:{self._any('deictic')}|{self._any('message')})\s*$")
        yes_verb = rf"(?:{self._any('verbs')}|{self._any('gerunds')})"
        self._yes = _compiled(
            rf"^(?:(?:{self._any('yes')})\s(?:{_MARK}\s)?)+(?:(?:{self._any('openers')})\s(?:,\s)?)*"
            rf"(?:\S+\s){{0,2}}?{yes_verb}\s(?:(?!{self._any('news')}\b)\S+\s){{0,6}}$"
        )
        self._no = _compiled(
            rf"^(?:(?:{self._any('no')})\s(?:{_MARK}\s)?)+(?:(?:{self._any('openers')}|{self._any('polite')})\s)*"
            rf"(?:{self._any('negation')}\s{yes_verb}\s.*)?$"
        )
        cues = [*split(words["verbs"]), *split(words["keep"]), *split(words["gone"])]
        cues += [*split(words["aside"]), *split(words.get("pasts", "")), *split(words["cango"])]
        cues += [*split(words.get("gerunds", "")), *split(words.get("unkept", ""))]
        cues += [*split(words.get("weak", "")), *split(words.get("put", ""))]
        cues += split(words["vanish"])
        self._cue = _compiled(rf"(?<!\w){any_of(*map(phrase, cues))}(?!\w)")

    def may_ask(self, text: str) -> bool:
        """Return True if a text has a verb of forgetting or keeping at all."""
        return self._cue.search(text) is not None

    def asked(self, said: Sequence[str]) -> Asked | None:
        """Return the first request in the sentences of a message."""
        for place, sentence in enumerate(said):
            if found := self._aside.search(sentence):
                rest = [sentence[found.end() :].lstrip(" ,;:.-–—"), *said[place + 1 :]]
                told = sum(len(re.findall(r"\w+", one)) for one in rest) > _A_FEW
                asks = self._unkept.match(rest[0]) or self._verb.match(rest[0])
                return Asked("this" if told and not asks else "previous")
            if self._vanish.search(sentence):
                return Asked("everything")
            for asked, end in self._requests(sentence, said[:place]):
                if self._stands(sentence[end:], said[place + 1 : place + 2]):
                    return asked
        return None

    def answered(self, sentence: str) -> Answer | None:
        """Return whether a sentence confirms or declines."""
        if self._yes.match(sentence):
            return "yes"
        return "no" if self._no.match(sentence) else None

    def _requests(self, sentence: str, before: Sequence[str]) -> Iterator[tuple[Asked, int]]:
        """Yield the requests of a sentence, and where each ends."""
        for pattern in (
            self._unkept,
            self._kept_none,
            *([self._unkept_last] if self._last else ()),
        ):
            for found in pattern.finditer(sentence):
                yield from self._of_unkept(found, sentence, before)
        for found in self._verb.finditer(sentence):
            ahead = sentence[: found.start()]
            if self._after_not.match(sentence, found.end()) and not self._words.get("gerunds"):
                continue
            yield from self._of_object(found, found.end(), sentence, ahead, before)
        for pattern in (self._gone, self._not_be):
            if found := pattern.search(sentence):
                yield from self._of_wish(found, pattern is self._not_be)
        if self._last:
            yield from self._of_last(sentence, before)

    def _of_last(self, sentence: str, before: Sequence[str]) -> Iterator[tuple[Asked, int]]:
        """Yield the requests whose verb stands behind its object."""
        for found in self._verb_last.finditer(sentence):
            if self._negated.search(found["object"]):
                continue
            ahead = sentence[: found.start()]
            for asked, end in self._of_object(found, 0, found["object"], ahead, before):
                if not found["object"][end:].strip(" ,"):
                    yield asked, found.end()

    def _of_object(
        self, found: re.Match[str], start: int, text: str, ahead: str, before: Sequence[str]
    ) -> Iterator[tuple[Asked, int]]:
        if self._is_led_in(ahead):
            return
        weak = found.groupdict().get("weak") is not None
        plain = found.groupdict().get("verb")
        forgets = plain is None or self._forget.search(plain) is not None
        for kind, match in self._matches(text, start):
            if weak and kind not in ("place", "message"):
                continue
            if kind == "statement" and not forgets:
                continue
            if kind not in ("unclear", "message") and self._is_spoken_by(ahead):
                return
            if kind == "message":
                spoken = self._spoken_of(ahead, before, placed=False)
                deictic = ahead or self._deictic.match(match[0])
                if spoken is not None and spoken.subject and deictic:
                    yield spoken, match.end()
                else:
                    yield self._of_message(text, match.end())
                return
            asked = self._meant(kind, match, ahead, before, text[match.end() :])
            if asked is not None:
                yield asked, match.end()
            return

    def _of_message(self, sentence: str, end: int) -> tuple[Asked, int]:
        """Return a request that concerns a message: this one, if it continues after the request."""
        if self._goes_on.match(sentence, end):
            return Asked("this"), len(sentence)
        return Asked("previous"), end

    def _of_unkept(
        self, found: re.Match[str], sentence: str, before: Sequence[str]
    ) -> Iterator[tuple[Asked, int]]:
        groups = found.groupdict()
        text, start = (groups["object"], 0) if "object" in groups else (sentence, found.end())
        ahead = sentence[: found.start()]
        if match := self._this.match(text, start):
            yield self._of_message(sentence, found.end() if "object" in groups else match.end())
            return
        for kind, match in self._matches(text, start):
            if groups.get("put") and kind != "place":
                continue
            asked = self._meant(kind, match, ahead, before)
            if asked is not None and (kind != "statement" or groups.get("unwished")):
                yield asked, match.end()
            return
        named = groups.get("unwished") and not groups.get("put")
        if named and (match := _SUBJECT.match(text, start)):
            subject = self._subject(match["subject"])
            if subject and not self._unfit(match["subject"], strict=True):
                yield Asked("subject", subject), match.end()

    def _of_wish(self, found: re.Match[str], not_be: bool) -> Iterator[tuple[Asked, int]]:
        groups = found.groupdict()
        wished = groups.get("tobe") or groups.get("can") or self._wants.search(found[0])
        text = groups["object"]
        nothing = text.casefold().startswith("nothing ")
        if not (groups["no"] or groups["not"] or nothing if not_be else wished):
            return
        if not_be and self._this.match(text):
            yield self._of_message(found.string, found.end())
            return
        for kind, match in self._matches(text, 0):
            if match.end() < len(text) or kind in ("statement", "unclear"):
                continue
            asked = self._meant(kind, match, "", ())
            if asked is not None:
                yield asked, found.end()
            return
        if groups.get("place") and wished:
            yield Asked("subject", self._subject(text)), found.end()

    def _matches(self, text: str, start: int) -> Iterator[tuple[str, re.Match[str]]]:
        for kind, rules in self._objects:
            for rule in rules:
                if match := rule.match(text, start):
                    yield kind, match

    def _meant(
        self,
        kind: str,
        match: re.Match[str],
        ahead: str,
        before: Sequence[str],
        rest: str = "",
    ) -> Asked | None:
        """Return the request for an object of a kind."""
        if kind == "everything":
            return Asked("everything")
        if kind == "message":
            return Asked("previous")
        subject = match.groupdict().get("subject") or match[0]
        if kind == "matter":
            subject = match[0]
        if kind == "statement":
            subject = self._that.sub("", match[0])
        if kind == "unclear" or self._unclear.match(subject):
            return self._spoken_of(ahead, before, rest, placed=kind != "unclear")
        if self._message.match(subject):
            return Asked("previous")
        if self._unfit(subject, strict=kind in ("subject", "statement")):
            return None
        if self._oneself.match(subject) or (kind == "statement" and self._idle.search(subject)):
            return None
        if kind not in ("statement", "matter", "fact"):
            subject = self._subject(subject)
        subject = subject.strip(" ,;:-")
        return Asked("subject", subject) if subject else None

    def _spoken_of(
        self, ahead: str, before: Sequence[str], rest: str = "", *, placed: bool
    ) -> Asked | None:
        """Return the request for what a pronoun stands for."""
        texts = [ahead, *before[-1:]]
        for pattern in (*self._front, self._topic, self._matter):
            for text in texts:
                if (match := pattern.search(text)) and (found := self._subject(match["subject"])):
                    return Asked("subject", found)
        slips = any(self._slip.search(one) for one in (*before[-2:], ahead, rest))
        named = any(self._named_message.search(one) for one in texts)
        if slips or named:
            return Asked("previous")
        if placed and (match := self._person.search(" ".join(texts))):
            return Asked("subject", self._subject(match["subject"]))
        return Asked("previous") if placed else None

    def _unfit(self, subject: str, *, strict: bool) -> bool:
        """Return True for parts of texts and files, and `strict`ly for what is in a place."""
        if self._artifact.search(subject):
            return True
        return strict and self._elsewhere.search(subject) is not None

    def _subject(self, found: str) -> str:
        subject = self._lead.sub("", found)
        return self._tail.sub("", subject).strip(" ,;:-")

    def _is_led_in(self, ahead: str) -> bool:
        """Return True behind a condition, or a colon with something else before than a subject."""
        if self._condition.match(ahead) or self._is_anothers(ahead):
            return True
        lead, colon, _ = ahead.rpartition(":")
        own = not colon or not self._is_spoken_by(ahead)
        return not own and self._spoken_of(lead, (), placed=False) is None

    def _is_spoken_by(self, ahead: str) -> bool:
        """Return True behind a label: of a subject it were one that the request needs."""
        lead, colon, _ = ahead.rpartition(":")
        words = {word.casefold() for word in re.findall(r"\w+", lead)}
        return bool(colon) and not words <= word_class("discourse", "greetings", "listeners")

    def _is_anothers(self, ahead: str) -> bool:
        """Return True if the words before a clause name another speaker or hearer.

        "And then she goes, ...", "Dear HR, ..."
        """
        parts = [part.split() for part in re.split(rf"\s{_MARK}\s", f" {ahead}")]
        if any(self._reports(part) for part in parts):
            return True
        return bool(parts[0]) and self._calls(parts[0])

    def _reports(self, words: Sequence[str]) -> bool:
        """Return True if words end with a verb by which somebody's words are told."""
        if not words or self._as_said.match(f"{words[0]} "):
            return False
        told = [word.casefold() for word in words]
        last = next(
            (n for n in range(len(told) - 1, 0, -1) if self._tells(told[n - 1], told[n])), None
        )
        if last is None:
            return False
        behind = told[last + 1 :]
        return len(behind) <= _A_FEW and not self._listener.search(f" {' '.join(behind)} ")

    def _tells(self, subject: str, verb: str) -> bool:
        if self._quotes.fullmatch(f"{subject} {verb} ") or self._quotes.fullmatch(f"{verb} "):
            return True
        return verb in word_class("telling") - _HEARD and (
            subject in _SUBJECTS or (noun(subject) is not None and not is_quality(subject))
        )

    def _calls(self, words: Sequence[str]) -> bool:
        """Return True if words call somebody who isn't the assistant: "Hi Tom", "Guys"."""
        names = [*words]
        while names and names[0].casefold() in word_class("greetings"):
            names.pop(0)
        greeted = len(names) < len(words)
        said = {name.casefold() for name in names}
        if not names or len(names) > _A_FEW or said & word_class("listeners", "discourse"):
            return False
        openers = clauses.word_class("openers")
        if any(self._reply.fullmatch(f"{name} ") or name in openers for name in said):
            return False
        if greeted:
            return True
        (first, *others) = names
        named = first.istitle() and (not is_word(first) or first.endswith("s"))
        return not others and (named or noun(first) is not None)

    def _stands(self, rest: str, after: Sequence[str]) -> bool:
        """Return False if what follows a request states something new."""
        if self._news.search(rest):
            return False
        if not self._polite_only.match(rest) and not self._reason.match(rest):
            return False
        follows = after[0] if after and self._about_it.match(after[0]) else ""
        return not follows or (
            self._reason.match(follows) is not None and not self._news.search(follows)
        )

    def _rule(self, rule: str) -> re.Pattern[str]:
        return _compiled("".join(map(self._part, rule.split())))

    def _knows(self, rule: str) -> bool:
        names = {name for name in rule.split() if not name.endswith("?")}
        return all(name in self._words or name in (*_SLOTS, "end", "over") for name in names)

    def _part(self, name: str) -> str:
        if name in ("comma", "comma?"):
            return r"(?:,\s)?"
        if name == "end":
            return rf"(?={_MARK}|$|(?:{self._any('polite')}\s)+(?:{_MARK}|$))"
        if name == "over":
            return rf"(?=(?:(?:{self._any('polite')}|,)\s)*$)"
        if name == "owned":
            own = rf"(?={self._any('possessive')}\s|(?-i:[A-Z]))"
            return rf"(?P<subject>{own}(?:{_WORD}){{1,25}})"
        if name in _SLOTS:
            return _SLOTS[name]
        optional = name.endswith("?")
        source = rf"(?:{self._any(name.removesuffix('?'))}\s)"
        return f"{source}?" if optional else source

    def _any(self, name: str) -> str:
        """Return the source of a pattern for a category; nothing matches an unknown one."""
        found = sorted(split(self._words.get(name, "")), key=len, reverse=True)
        return any_of(*map(phrase, found)) if found else "(?!)"


def _compiled(source: str) -> re.Pattern[str]:
    return regex(source, re.IGNORECASE)


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text, their words and marks each followed by a space."""
    plain = _QUOTED.sub(" … ", text.replace("’", "'"))
    found = []
    for line in re.split(r"\n+|(?<=[.!?…])\s+(?=[^\s])", plain)[:_MOST]:
        spaced = _SPACED.sub(lambda mark: f" {mark[1]} " if mark[1] else " ", line)
        said = _JOINED.sub(" ", spaced)
        words = " ".join(_CLITICS.get(word.casefold(), word) for word in said.split())
        if words and len(words) <= _LONGEST:
            found.append(f"{words} ")
    return found


_CLITICS = {
    "olvídalo": "olvida lo",
    "olvidalo": "olvida lo",
    "bórralo": "borra lo",
    "borralo": "borra lo",
    "elimínalo": "elimina lo",
    "quítalo": "quita lo",
}


@cache
def _grammars() -> tuple[_Grammar, ...]:
    text = (resources.files(__package__) / "data" / "forgetting.toml").read_text(encoding="utf-8")
    tables: dict[str, Any] = tomllib.loads(text)
    objects = tables.pop("objects")
    return tuple(_Grammar(words, objects) for words in tables.values())
