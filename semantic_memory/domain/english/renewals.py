"""Read what a statement ends, replaces or corrects: "sold the car", "on friday now", "I meant".

A text is cut into sentences and these into clauses; each keeps the stems that say what it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from semantic_memory.domain.english.calendar import WEEKDAY
from semantic_memory.domain.english.dates import calendar_dates
from semantic_memory.domain.english.folding import folded
from semantic_memory.domain.english.notation import one_of, phrase
from semantic_memory.domain.english.numbers import numbers
from semantic_memory.domain.english.slips import without_slips
from semantic_memory.domain.english.spelling import prepared
from semantic_memory.domain.english.tables import (
    mapping,
    phrase_list,
    phrase_of,
    phrases,
    phrases_with_choices,
    substitution,
    words,
)
from semantic_memory.domain.english.tellers import as_told_by_user
from semantic_memory.domain.english.tenses import is_past
from semantic_memory.domain.english.words import (
    Form,
    can_be_noun,
    forms,
    is_adverb,
    is_quality,
    noun_behind,
)
from semantic_memory.domain.patterns import deferred, regex
from semantic_memory.domain.text import stem, stems

_in_one_wording = substitution("renewals.same")
_ADDRESS = regex(r"\S*@\S+|\bhttps?:\S+")
# quotations and captions of images, which nobody claims
_QUOTED = regex(r"\[\w+: [^\]\n]*\]|[\"“][^\"“”]*[\"”]|(?<!\w)'[^']{3,}'(?!\w)")
_OF_USER = regex(r"\bthe user\b", re.IGNORECASE)
_SENTENCE = regex(r"(?<=[.!?;])\s+|\n+|\s[-–—]+\s|!+|\?\?+|:\(|:\)")
_CLAUSE = regex(
    rf",\s+|:\s+|(?<!\bam)(?<!\bis)(?<!\bare)(?<!\bwas)\s{phrases('renewals.parting')}\s"
    r"|(?<=\s\S\S\S)\s(?:and|n|&)\s(?=(?:we|he|she|it|they|my|our|the|that|this|its|now)\b)"
    r"|(?<=\s\S\S\S)\s(?:and|n|&)\s(?=i (?!broke|split|are|got|have|were|separ|divor|parted))|\s\("
)
_THING = r"[\w'@.&/+-]+(?: [\w'@.&/+-]+){0,5}"
_NEAR = r"[\w'@.&/+-]+(?: [\w'@.&/+-]+){0,3}?"


def _cue(entry: str) -> re.Pattern[str]:
    return regex(rf"(?<![\w'])(?:{phrases(entry)})(?![\w'])")


_NOW = _cue("renewals.now")
_REPLACED = _cue("renewals.replaced")
_CORRECTS = _cue("renewals.corrects")
_OWN_SLIP = _cue("renewals.own_slip")
_SPELLS = _cue("renewals.spells")
_OPENS = regex(rf"(?:{phrases('renewals.opens_correction')})(?![\w'])")
_VALUE = r"[\w'@.:/-]{1,80}"


def _naming(entry: str) -> tuple[re.Pattern[str], ...]:
    """Return patterns for phrases that name what is taken back, `old`."""
    sources = phrase_of(entry, old=rf"{_VALUE}(?: [\w'-]+)?", new=_VALUE)
    return tuple(regex(rf"(?<![\w']){source}(?![\w'])") for source in sources)


_BEFORE_NOT = regex(r",(?= (?:and )?not )")
_RECANTS = _naming("renewals.recants")
_MISNAMED = _naming("renewals.misnamed")
_BY_THE_WAY = _cue("renewals.by_the_way")
_PRAISE = _cue("renewals.praise")
_GENERAL = regex(rf"(?:{phrases('renewals.general')})(?![\w'])|\w+ing ")
_OF_OTHERS = regex(r"\byou(?: really| just)?$")
_CONDOLES = _cue("renewals.condoles")
_NO_CHANGE = _cue("renewals.no_change")
_PERHAPS = _cue("renewals.perhaps")
_SMALL = regex(rf"(?:(?:and|but|so|plus) )?{phrases('renewals.small')}(?![\w'])")
_PRESENT = regex(r"(?:\b(?:is|are|am|has|have|gets?)\b|=)")
_DONE_BY_USER = regex(r"\b(?:i|we) (?:(?:also|still|always|usually|mostly|only) )?([a-z]+)")
_NOT_PAST = _cue("renewals.not_past")
_BESIDES = _cue("renewals.besides")
_UNREAL = _cue("renewals.unreal")
_TURNED = _cue("renewals.turned")
_PLAY = _cue("renewals.play")
_COMPOSED = _cue("renewals.composed")
_KNOWN = _cue("renewals.known")
_WRONG = regex(r"\bwrong(?:ly)?\b")
_DOUBTED = _cue("renewals.doubted")
_HEARSAY = _cue("renewals.hearsay")
_SELF = regex(r"(?:i|we)\b")
_PAST = regex(rf"(?<![\w'])(?:{phrases('renewals.past', 'renewals.earlier_days')})(?![\w'])")
_EARLIER = _cue("renewals.earlier_days")
# behind a comma only at the end: "I live here, in 2015 we had a flat" has two clauses
_THEN = regex(
    rf"\s(?:while )?{phrases('renewals.earlier_days')}(?![\w'])"
    rf"|,\s+{phrases('renewals.earlier_days')}(?: \w+){{0,2}}[ .!]*$"
)
# "going to work" and "stopped going to yoga" are no plans
_GOES = regex(
    r"(?<=\b(?:stopped|started) )going(?= to )"
    r"|\bgoing(?= to (?:bed|school|work|church|uni|college|the|my|our)\b)"
)
_TO_COME = _cue("renewals.to_come")
_FEWER = words("renewals.counts.fewer")
_CHANGE = regex(
    r"(?<!by )\b(?P<number>\d+|one|an?|someone|somebody) (?:(?!and\b|so\b)[a-z]+ ){0,3}?"
    rf"(?P<verb>{one_of((*_FEWER, *words('renewals.counts.more')))})\b"
)
_TOTAL = regex(
    r"\bwe are (?:(?:now|down to|up to|only|just) )*(?P<total>\d+)(?=\W*$| now\b| of us\b)"
)
_DAY = rf"{WEEKDAY}s"
_ONLY_DAYS = regex(rf"\b(?:only|just) (?:on )?(?P<days>{_DAY}(?:(?:,| and|, and) {_DAY})*)\b")
_AHEAD = _cue("renewals.ahead")
_BEGINS = _cue("renewals.begins")
_EVENT = _cue("renewals.event")
_NO_EVENT = _cue("renewals.no_event")


_OPENING = r"^(?:(?:so|and|but|now|well|then|my|our|the|his|her|all|sadly|poor|old) )*"


def _parted(entry: str) -> tuple[list[str], list[str], list[str]]:
    """Return what stands behind a thing, what before it, and the phrases that surround it."""
    written = phrase_list(entry)
    behind = [one.removeprefix("{thing} ") for one in written if one.startswith("{thing} ")]
    before = [one.removesuffix("{thing}") for one in written if one.endswith("{thing}")]
    around = [one for one in written if not one.startswith("{") and not one.endswith("}")]
    return behind, before, around


def around_things(entry: str) -> tuple[re.Pattern[str], ...]:
    """Return patterns for phrases with a thing in them, their groups `thing` and mostly `verb`.

    >>> [found["thing"] for one in around_things("renewals.ends.behind")
    ...  if (found := one.search("we called off the wedding"))]
    ['the wedding']
    """
    behind, before, around = _parted(entry)
    # the thing is looked ahead for, so that the next verb may be part of it
    return tuple(
        regex(pattern)
        for pattern in (
            rf"(?<![\w'])(?P<verb>{deferred(lambda: one_of(before))})(?=(?P<thing>{_THING}))"
            if before
            else None,
            rf"{_OPENING}(?P<thing>{_NEAR})(?P<verb> {deferred(lambda: one_of(behind))})(?![\w'])"
            if behind
            else None,
            *(rf"(?<![\w']){phrase(one, thing=_NEAR)}(?![\w'])" for one in around),
        )
        if pattern
    )


KIN = words("renewals.people.kin")
_CHANGES = around_things("renewals.ends.changes")
# "norways off"
_SHORTENED = regex(rf"{_OPENING}(?P<thing>\w+)(?P<verb>'?s off)$")
_ENDS = (_SHORTENED, *around_things("renewals.ends.behind"), *around_things("renewals.ends.before"))
_PRONOUNS = frozenset("i we he she they it that this there you".split())
_BARE = regex(phrases_with_choices("renewals.ends.bare"))
_ABOUT = regex(
    rf"{_OPENING}(?P<thing>{_NEAR}) (?:is|are|was|were|got|gets|became|has|have|had|kept|costs?|"
    r"went|did not|does not|do not|can not|takes?|took|made|makes|gave|gives|put) "
)
# "her left ear": a side, not a leaving
_A_SIDE = regex(r"\b(?:on|to|far|top|bottom) $")
# "the sunset painting", "a beautiful sunset"
_NAMED = regex(r"\b(?:the|an?|this|that|my|our|your|his|her|its|their)(?: (?P<quality>\S+))? $")
# "the cuisine left me in awe"
_IMPRESSES = regex(r" \S+ (?:in (?:awe|tears)|feeling|speechless|wanting|wondering|breathless)\b")
# "sold a lot of books" ends no book in particular, and "stopped playing them" doesn't say which
_SOME = regex(r"(?:(?:a )?lots? of|some|many|a few|several|plenty of)\b(?! of)")
_DOES_IT = regex(r"\w+ing (?:them|it|this|that|those|these)\b")
# "ran off after a squirrel"
_GOES_ON = regex(rf"\s{phrases('renewals.ends.goes_on')}(?![\w'])")
# "never quit"
_CLOSES = words("renewals.ends.closes")
_OBJECTS = words("renewals.ends.objects")
_NEVER = regex(r"\b(?:never|do not|does not|did not|will not|can not) $")
_ARE = regex(rf" r (?={phrases('renewals.behind_r')}(?:\s|$))")
_IS = regex(rf"(?<=\w)'s (?={phrases('renewals.behind_is')}(?![\w']))")
_HAS_BEEN = regex(r"(?<=[a-z])'s(?= been )")  # "billing's been handed over"
# "my sisters mail"
_OWNED_THING = regex(rf"(?<=\bmy )({one_of(KIN)})s (\w+)\b")
_DENIALS = frozenset({"not", "longer"})
_MOMENTS = words("renewals.ends.moments")
_OF_ONESELF = words("renewals.ends.of_oneself")
STAGES = words("renewals.ends.stages")
"""Things of which one comes behind the other: years of study, chapters."""
_ORDERS = words("renewals.ends.orders")
_BEFORE_ORDERS = words("renewals.ends.before_orders")
_NO_THINGS = words("renewals.ends.no_things")
_MERELY = words("renewals.ends.merely")
_VAGUE = frozenset(map(stem, words("renewals.heads.vague"))) | words("renewals.heads.vague")
_THROUGH = frozenset(map(stem, words("renewals.heads.through")))
ASPECTS = frozenset(map(stem, words("renewals.heads.aspects")))
"""Stems of words for what of a thing has a figure or a date, and needn't be named."""
TRAVELS = frozenset(map(stem, words("renewals.heads.travels")))
"""Stems of words for journeys, of which the place says which one."""
ORDINALS = mapping("renewals.ordinals")

# A message is compared with some hundred clauses, and each of them with all of its own.
_remembered = lru_cache(maxsize=1_024)


@dataclass(frozen=True)
class Clause:
    """A clause of a folded text."""

    plain: str
    words: frozenset[str]
    stems: tuple[str, ...]
    """Stems in order without vague words."""
    numbers: frozenset[str]
    dates: frozenset[str]

    @cached_property
    def content(self) -> frozenset[str]:
        """The stems as a set."""
        return frozenset(self.stems)

    def __hash__(self) -> int:
        return hash(self.plain)  # clauses are looked up much more often than two share a text


_NOTHING = Clause("", frozenset(), (), frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class Ending:
    """A thing that a clause says has ended."""

    stems: frozenset[str]
    whole: bool
    """True if the verb may also tell of a moment: "left the house"."""
    first: bool
    """True if the thing stands before the verb: "kevin died"."""
    clause: Clause
    predicate: bool = False
    """True if the stems are those of a verb or adjective and its object: "allergic to eggs"."""
    head: frozenset[str] = frozenset()
    """The stems of the thing without what it belongs to: "camera" of "the camera of the robot"."""
    before: str = ""
    """The words before the verb, in which its subject stands."""
    of_oneself: bool = False
    """True if the subject tells of itself: "ann left the choir"."""
    verb: str = ""
    """The words that tell of the end: "was cancelled"."""


@lru_cache(maxsize=16_384)
def sentences(text: str) -> tuple[Clause, ...]:
    """Return the sentences of a text, without what is quoted in it."""
    plain = _plain(text)
    return tuple(_clause(part) for part in _SENTENCE.split(plain) if part and part.strip(" .,;!"))


@lru_cache(maxsize=16_384)
def clauses(text: str) -> tuple[Clause, ...]:
    """Return the clauses of a text, without what is quoted in it."""
    return tuple(part for sentence in sentences(text) for part in parts(sentence))


def parts(sentence: Clause) -> Iterator[Clause]:
    """Yield the clauses of a sentence, each with the earlier days that it tells of.

    >>> (sentence,) = sentences("I quit swimming when I was 12, I run")
    >>> [one.plain for one in parts(sentence)]
    ['i quit swimming when i was 12', 'i run']
    """
    start = 0
    for found in _CLAUSE.finditer(sentence.plain):
        if not _THEN.match(sentence.plain, found.start()):
            yield from _clause_in(sentence.plain[start : found.start()])
            start = found.end()
    yield from _clause_in(sentence.plain[start:])


def clause_of(text: str) -> Clause:
    """Return the first clause of a text; an empty one if there is none."""
    return next(iter(clauses(text)), _NOTHING)


def _plain(text: str) -> str:
    unquoted = _QUOTED.sub(" ", text)
    of_user = _OF_USER.search(unquoted) is not None
    told = as_told_by_user(folded(prepared(unquoted)), of_user=of_user)
    plain = _ARE.sub(" are ", told)
    plain = _HAS_BEEN.sub(" has", _IS.sub(" is ", plain))
    return _in_one_wording(_OWNED_THING.sub(_apostrophised, without_slips(plain)))


def _apostrophised(found: re.Match[str]) -> str:
    """Write "my sisters mail" as "my sister's mail"."""
    owner, thing = found.groups()
    return f"{owner}'s {thing}" if noun_behind("the", thing) else found[0]


def _clause_in(part: str) -> Iterator[Clause]:
    if part.strip(" .,;!"):
        yield _clause(part)


def _clause(part: str) -> Clause:
    plain = part.strip(" .,;!")
    told = _ADDRESS.sub(" ", plain)
    return Clause(
        plain,
        frozenset(re.findall(r"[\w'-]+", plain)),
        tuple(
            one
            for one in stems(told.replace("-", " "))
            if one and one not in _VAGUE and not one[0].isdigit()
        ),
        frozenset([*numbers(told), *_ADDRESS.findall(plain)]),
        frozenset(calendar_dates(plain)),
    )


def endings(clause: Clause) -> Iterator[Ending]:
    """Yield the things that a clause says have ended.

    >>> [sorted(one.stems) for one in endings(clauses("I sold my old bike in May.")[0])]
    [['bike']]
    >>> [sorted(one.stems) for one in endings(clauses("Kevin died")[0])]
    [['kevin']]
    """
    for pattern in _ENDS:
        for found in pattern.finditer(clause.plain):
            first = "verb" in pattern.groupindex and found.end("thing") <= found.start("verb")
            leading = clause.plain[: found.start()]
            if _OF_OTHERS.search(leading.rstrip()):
                continue
            before = clause.plain[found.start() : found.start("thing")].split()
            if _is_no_end(before, leading) if not first else _goes_on(found):
                continue
            predicate = not first and not _DENIALS.isdisjoint(before)
            opening = found["thing"].split()[0]
            if not first and (_SOME.match(found["thing"]) or _DOES_IT.match(found["thing"])):
                continue
            if not first and not predicate and opening in _NO_THINGS:
                continue
            if predicate and (opening in _MERELY or _is_aside(before, opening)):
                continue
            if thing := thing_of(found["thing"], whole=predicate):
                moment = not first and before[0] in _MOMENTS
                head = thing if predicate else _head(found["thing"].split(" of ")[0], first=first)
                of_oneself = not first and before[0] in _OF_ONESELF
                verb = found["verb"].strip() if first else " ".join(before)
                yield Ending(
                    thing, moment, first, clause, predicate, head, leading, of_oneself, verb
                )


def bare_endings(sentence: Clause) -> Iterator[Ending]:
    """Yield what a sentence says has ended without naming it again.

    >>> [sorted(one.stems) for one in bare_endings(sentences("Netflix got dear, so we quit")[0])]
    [['netflix']]
    """
    for before, clause in pairwise(parts(sentence)):
        about = _ABOUT.match(before.plain) if _BARE.fullmatch(clause.plain) else None
        if (
            about
            and about["thing"].split()[0] not in _PRONOUNS
            and (thing := thing_of(about["thing"]))
        ):
            verb = clause.plain.split()[-1]
            yield Ending(
                thing, False, False, before, head=_head(about["thing"], first=True), verb=verb
            )


def _head(thing: str, *, first: bool) -> frozenset[str]:
    """Return the stems of a thing; of a compound before its verb, that of its last noun.

    "The boat insurance has expired" says nothing of the boat.
    """
    found = thing_of(thing)
    named = [one for one in stems(thing) if one in found] if first else []
    return frozenset(named[-1:]) or found


def _is_no_end(verb: Sequence[str], before: str) -> bool:
    """Return whether what may be a verb, behind these words, ends nothing: a noun, a denial."""
    if verb[0] in _ORDERS:
        return not _BEFORE_ORDERS.issuperset(before.split())
    if verb[0] == "left" and _A_SIDE.search(before):
        return True
    if can_be_noun(verb[0]) and (named := _NAMED.search(before)):
        return named["quality"] is None or is_quality(named["quality"])
    return _NEVER.search(before) is not None


def _is_aside(verb: Sequence[str], opening: str) -> bool:
    """Return whether a denial goes on with what is done: "being stuck and not making progress"."""
    return verb == ["and", "not"] and not forms(opening).isdisjoint({Form.ING, Form.BASE})


def _goes_on(found: re.Match[str]) -> bool:
    """Return whether what left or closed is still there: "left me in awe", "closed for easter".

    It may have closed something else: "the bank closed the branch".
    """
    if _GOES_ON.match(found.string, found.end()):
        return True
    verb, behind = found["verb"].split(), found.string[found.end() :].split()
    if len(verb) == 1 and verb[0] in _CLOSES and behind and behind[0] in _OBJECTS:
        return True
    return found["verb"].split()[0] == "left" and bool(
        _IMPRESSES.match(found.string, found.start("verb") + len(" left"))
    )


def changed(clause: Clause) -> tuple[frozenset[str], ...]:
    """Return the things to which a clause gives another value.

    >>> [sorted(one) for one in changed(clauses("We moved the kick-off to Friday")[0])]
    [['kickoff']]
    """
    return _things_changed(clause.plain)


@_remembered
def _things_changed(plain: str) -> tuple[frozenset[str], ...]:
    found = (one["thing"] for pattern in _CHANGES for one in pattern.finditer(plain))
    return tuple(thing for one in found if (thing := thing_of(one)))


def thing_of(text: str, *, whole: bool = False) -> frozenset[str]:
    """Return the stems of the thing with which a folded text begins; with `whole`, of all of it.

    >>> sorted(thing_of("residence permit on tuesday"))
    ['permit', 'resid']
    """
    parts = (
        [text]
        if whole
        else re.split(
            r"\s(?:in|at|to|on|for|with|w|from|by|after|before|about|until|til|since|and|when|as|out)\s",
            text,
        )
    )
    spoken = " ".join(one for one in parts[0].replace("-", " ").split() if not is_adverb(one))
    found = [one for one in stems(spoken) if one and one not in _VAGUE]
    return frozenset(one for one in found if not one.isdigit() and one not in _THROUGH)


@_remembered
def is_now(plain: str) -> bool:
    """Return whether a folded text says that something holds from now on.

    >>> is_now("standup is at ten now"), is_now("standup is at ten")
    (True, False)
    """
    return _NOW.search(_NO_CHANGE.sub(" ", plain)) is not None


def without_now(plain: str) -> str:
    """Return a folded text without the words that say from when it holds.

    >>> without_now("live now").split()
    ['live']
    """
    return _NOW.sub(" ", plain)


@_remembered
def may_have_changed(plain: str) -> bool:
    """Return whether a folded text has a weaker sign of a change.

    >>> may_have_changed("actually, it is ten weeks"), may_have_changed("it is ten weeks")
    (True, False)
    """
    return _PERHAPS.search(plain) is not None


@_remembered
def is_small(plain: str) -> bool:
    """Return whether a folded text begins as talk about nothing that could change.

    >>> is_small("wow, so cool now"), is_small("the standup is at ten")
    (True, False)
    """
    return _SMALL.match(plain) is not None


@_remembered
def is_lasting(plain: str) -> bool:
    """Return whether a folded text may state something that can change.

    >>> is_lasting("the standup is at ten"), is_lasting("wow, so cool"), is_lasting("i went home")
    (True, False, False)
    """
    if is_small(plain):
        return False
    told = _NOT_PAST.sub(" ", plain)
    if not is_past(told) or _PRESENT.search(told):
        return True
    return any(forms(verb) == {Form.BASE} for verb in _DONE_BY_USER.findall(plain))


def is_claim(plain: str) -> bool:
    """Return whether a folded text claims something of somebody or something in particular.

    >>> is_claim("the proxy is on port 8081"), is_claim("gaming is great"), is_claim("it is a game")
    (True, False, False)
    """
    return _GENERAL.match(plain) is None and _PRAISE.search(plain) is None


@_remembered
def replaces(plain: str) -> bool:
    """Return whether a folded text says that one thing was put in the place of another.

    >>> replaces("we switched to helix"), replaces("we use helix")
    (True, False)
    """
    return _REPLACED.search(plain) is not None


@_remembered
def corrects(plain: str) -> bool:
    """Return whether a folded text takes back what was said before.

    >>> corrects("i meant the 21st"), corrects("the 21st")
    (True, False)
    """
    return _CORRECTS.search(plain) is not None


@_remembered
def spells(plain: str) -> bool:
    """Return whether a folded text spells a name anew.

    >>> spells("it is katherine with a k"), spells("katherine is here")
    (True, False)
    """
    return _SPELLS.search(plain) is not None


def owns_slip(plain: str) -> bool:
    """Return whether a folded text takes back what the speaker said, not what others did.

    >>> owns_slip("my bad, port 1195"), owns_slip("the scan is wrong by 3 metres")
    (True, False)
    """
    return _OWN_SLIP.search(plain) is not None


@_remembered
def recants(plain: str) -> frozenset[str]:
    """Return the values that a folded text names to take them back.

    >>> sorted(recants("sorry, i said 12, it is 21")), sorted(recants("it is 241, not 214"))
    (['12'], ['214'])
    """
    return _named(_BEFORE_NOT.sub("", plain), _RECANTS)


@_remembered
def misnamed(plain: str) -> frozenset[str]:
    """Return the names and things that a folded text says were wrong.

    >>> sorted(misnamed("i was wrong about the invoice"))
    ['invoice']
    """
    return _named(plain, _MISNAMED)


def _named(plain: str, wordings: Sequence[re.Pattern[str]]) -> frozenset[str]:
    found = (one["old"] for pattern in wordings for one in pattern.finditer(plain))
    return frozenset(old.strip(".,") for old in found)


@_remembered
def opens_correction(plain: str) -> bool:
    """Return whether a folded text begins by taking something back.

    >>> opens_correction("no, maria voss"), opens_correction("maria voss")
    (True, False)
    """
    told = _CONDOLES.sub(" ", plain)
    return _OPENS.match(told) is not None or _BY_THE_WAY.search(told) is not None


def turns_round(plain: str) -> bool:
    """Return whether a folded text says that what was so isn't, or what wasn't is.

    >>> turns_round("i do not ski any more"), turns_round("dairy is fine again")
    (True, True)
    """
    return _TURNED.search(plain) is not None


@_remembered
def is_besides(plain: str) -> bool:
    """Return whether a folded text adds to what was said.

    >>> is_besides("i also like jazz"), is_besides("i like jazz")
    (True, False)
    """
    return _BESIDES.search(plain) is not None


@_remembered
def claims_nothing(plain: str) -> bool:
    """Return whether a folded text is a wish, a condition, a doubt or someone's opinion.

    >>> claims_nothing("if i lived in rome"), claims_nothing("the form claims that i am 48")
    (True, True)
    """
    told = _GOES.sub("go", plain).replace("not going to", "not to").replace("not plan to", "not to")
    if _WRONG.search(told):
        told = told.replace("should be", "is").replace("should have been", "is")
    return any(cue.search(_KNOWN.sub(" ", told)) for cue in (_UNREAL, _DOUBTED))


def is_hearsay(clause: str) -> bool:
    """Return whether a clause of a folded text is what others say, who needn't know.

    >>> is_hearsay("my brother thinks that i live in rome"), is_hearsay("i think i live in rome")
    (True, False)
    >>> is_hearsay("the doctor says i am allergic to nuts")
    False
    """
    told = _KNOWN.sub(" ", clause)
    return not _SELF.match(told) and any(cue.search(told) for cue in (_DOUBTED, _HEARSAY))


def is_played(plain: str) -> bool:
    """Return whether a folded text is part of a game or a story.

    >>> is_played("let us play: i am a pirate")
    True
    """
    return _PLAY.search(plain) is not None


def is_composed(plain: str) -> bool:
    """Return whether a folded text asks for a poem, a story or the like, which may follow it.

    >>> is_composed("write a poem for her"), is_composed("she likes poetry")
    (True, False)
    """
    return _COMPOSED.search(plain) is not None


@_remembered
def is_of_the_past(plain: str) -> bool:
    """Return whether a folded text tells of earlier days.

    >>> is_of_the_past("in my trainee years i was based in oslo")
    True
    """
    return _PAST.search(_BEGINS.sub(" ", plain)) is not None


def is_of_earlier_days(plain: str) -> bool:
    """Return whether a folded text names days long gone, in which it happened.

    >>> is_of_earlier_days("in my teens i sang"), is_of_earlier_days("originally we met at 5")
    (True, False)
    """
    return _EARLIER.search(plain) is not None


def recounted(plain: str) -> Iterator[int]:
    """Yield how many people there were before some left or joined, by a folded sentence.

    >>> list(recounted("2 lads left so we are 12")), list(recounted("1 more joined, we are 6"))
    ([14], [5])
    """
    total, change = _TOTAL.search(plain), _CHANGE.search(plain)
    if total and change:
        number = int(change["number"]) if change["number"].isdigit() else 1
        yield int(total["total"]) + (number if change["verb"] in _FEWER else -number)


def only_days(plain: str) -> frozenset[str]:
    """Return the days of the week that a folded sentence says are the only ones left.

    >>> only_days("back to handball, only thursdays"), only_days("only on thursday")
    (frozenset({'thu'}), frozenset())
    """
    found = _ONLY_DAYS.search(plain)
    return clause_of(found["days"]).dates if found else frozenset()


@_remembered
def is_to_come(plain: str) -> bool:
    """Return whether a folded text tells of a move at a time to come, so that nothing is over yet.

    >>> is_to_come("we are moving to oslo in the fall"), is_to_come("we are moving to oslo")
    (True, False)
    """
    return _TO_COME.search(plain) is not None


def is_ahead(plain: str) -> bool:
    """Return whether a folded text tells of what is still to come.

    >>> is_ahead("my braces come off next month"), is_ahead("my braces came off")
    (True, False)
    """
    return _AHEAD.search(plain) is not None


@_remembered
def is_one_event(plain: str) -> bool:
    """Return whether a folded text tells of one day rather than of a state.

    >>> is_one_event("today's round began at ten"), is_one_event("we meet once a week")
    (True, False)
    """
    return _EVENT.search(_NO_EVENT.sub(" ", plain)) is not None
