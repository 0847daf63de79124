"""Cut a text into sentences, and a sentence into the clauses that may each state something.

A sentence is cut before a subject of the first person, before a second verb of that subject ("I
live in Faro and work as a nurse"), and before a question or a request at its end. Never cut are a
clause from the one that it depends on ("When I was ten, I ..."), and a phrase of time or place from
its sentence ("In March, I ...").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from semantic_memory.domain.data_files import data_of
from semantic_memory.domain.english.words import Form, can_be_noun, forms
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.segments import segments

LONGEST = 600
"""Characters of a sentence; longer ones are lists or logs."""
_FEWEST_WORDS = 3
"""Words of a clause; a shorter one belongs to the clause before: "I'll come, I think"."""

# sentencex waits for a capital letter; people who write without them still end sentences.
_END = regex(
    r"(?<=[!?])[\s\"')]+"
    r"|(?<=\s[a-z]{2}\.)(?<!\svs\.)(?<!\s[dms][rst]\.)\s+(?=[A-Z])"
    r"|(?<=\w{2}[.)])\s+(?=(?:i|my|we|she|he|it|they|the|now|but|so)\b)"
    r"|\s*\.{2,}(?![\w.]*/)\s*|\s+(?:\.\s){2,}|…|(?<=\w)\s*;\s+"
)
_OWN = r"(?:i['’]?(?:m|ve|d|ll)?|my|we['’]?(?:re|ve|d|ll)?|our)\b(?![./&-]\w)"
_ASIDE = r"(?:by the way|in fact|of course|to be honest|as for me)"
_CUT = regex(
    rf"(?P<mark>(?:\s*[,;:(]\s*|\s+[-–—]+\s+)(?:{_ASIDE}\s*,\s*)?)(?:(?P<joint>and|but|so|or|plus)\s+)?(?={_OWN})"
    rf"|\s+(?P<bare>and|but|so)\s+(?={_OWN})",
    re.IGNORECASE,
)
# "..., but for now, I ...": the phrase belongs to what follows.
_JOINED_PHRASE = regex(r"\s*[,;]\s*(?=(?:and|but|so|or)(?:\s+[\w'’]+){0,3}$)", re.IGNORECASE)
_ASKING = (
    r"(?:(?:what|which|how|where|when|who|why|can|could|would|should|shall|do|does|did|is|are|will"
    r"|have|has|any|anyone|got|help|tell|give|explain|recommend|suggest)\b)"
)
_REQUEST = r"(?:(?:any\s|can\s(?:you|u|i)|could\s(?:you|u|i)|would\syou|please|pls)\b)"
_BEFORE_ASKING = r"(?:\s*(?:[,;]|\s[-–—]+)|(?<=\)))\s*(?:(?:and|but|so)\s+)?"
_QUESTION_BEHIND = regex(rf"{_BEFORE_ASKING}(?={_ASKING})", re.IGNORECASE)
_REQUEST_BEHIND = regex(rf"{_BEFORE_ASKING}(?={_REQUEST})", re.IGNORECASE)
_ASKS = regex(rf"^(?:{_ASKING}|{_REQUEST})", re.IGNORECASE)
_WORD = regex(r"[^\W_]+(?:['’-][^\W_]+)*")
_OPENER = regex(
    rf"\s*(?!so (?:far|long|many|much)\b)(?:(?:{_ASIDE}|speaking of [^,]{{1,40}})\b"
    rf"(?:\s*[,:–—-]+\s*|\s+(?={_OWN})|\s*$)"
    rf"|(?P<word>[^\W\d_]+)(?:\s*[,!.:…–—-]+(?:\s+|$)|\s+(?=(?P<next>[^\W_]+))))",
    re.IGNORECASE,
)
_TO_REMEMBER = regex(
    r"^(?:please |pls )?(?:just )?"
    r"(?:remember|note|keep in mind|bear in mind|(?:do not|don['’]?t) forget)"
    rf"(?: that\s+|\s*[:,]\s+(?!to\b)|\s+(?={_OWN}))(?!.*\?$)",
    re.IGNORECASE,
)
_OTHER_SUBJECT = regex(
    r"(?:^|[,.;]\s*|\b(?:because|that|when|so|but|and|where|while|if|as|since|until)\s+)"
    r"(?P<subject>(?:(?:my|our|the|an?)\s+)?(?:(?!(?:i|we|he|she|they|it|you)\b)[\w'’-]+\s*){1,3})$"
)
_SPEAKER = regex(r"^(?:(?P<before>.*?\S)\s+and\s+)?(?:i|we)\b(?![./&-]\w)", re.IGNORECASE)
_ELSEWHERE = regex(
    r"\b(?:these|those)\b(?!\s+(?:who|that|of|(?:\w+\s+)?(?:days|weeks|months|years))\b)",
    re.IGNORECASE,
)
_IS_OWN = regex(rf"^{_OWN}", re.IGNORECASE)
_JOINED_OWN = regex(rf"(?:(?:and|but|or|so)\s+)?{_OWN}", re.IGNORECASE)
_SECOND_VERB = regex(r"\s+and\s+(?=(?P<verb>[a-z]+)\s+(?P<next>[a-z]+)\b)", re.IGNORECASE)
_LISTING = regex(r"\b(?:and|or|but|also|plus|with|while)\b|[,;:&+/]|\s[-–—]", re.IGNORECASE)
_MARKS = " \t\n*_~-–—•>,;:#"


class Clause(NamedTuple):
    """A part of a sentence, with its place in it."""

    text: str
    start: int
    end: int
    asks: bool
    """True if it is a question or a request by its form."""


@cache
def word_class(name: str) -> frozenset[str]:
    """Return the words of a class of `clauses.toml`."""
    return frozenset(data_of(__package__, "clauses")[name].split())


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text in their order, in the words in which they were said.

    >>> list(sentences("Hey Tom! I paint, do you? well i sing. my sister dances"))
    ['Hey Tom!', 'I paint, do you?', 'well i sing.', 'my sister dances']
    """
    for line in text.splitlines():
        for segment in segments(line):
            for part in _END.split(segment):
                sentence = part.strip(_MARKS)
                if sentence and len(sentence) <= LONGEST:
                    yield sentence


def clauses(sentence: str) -> list[Clause]:
    """Return the clauses of a sentence in their order.

    >>> [one.text for one in clauses("I moved to Porto in March and my sister lives in Faro")]
    ['I moved to Porto in March', 'my sister lives in Faro']
    >>> [one.text for one in clauses("When I was ten, I lived in Faro, and I hated my school")]
    ['When I was ten, I lived in Faro', 'I hated my school']
    >>> [one.text for one in clauses("I love it here - in fact, I'm staying")]
    ['I love it here', "I'm staying"]
    >>> [one.text for one in clauses("I'm open to jazz, but for now, I need pop, so, I listen")]
    ["I'm open to jazz", 'but for now, I need pop', 'so, I listen']
    >>> [len(clauses(one)) for one in ("I love my dog and my cat", "My wife and I ski")]
    [1, 1]
    >>> [(one.text, one.asks) for one in clauses("I'm off dairy, any ideas for a cake?")]
    [("I'm off dairy", False), ('any ideas for a cake?', True)]
    >>> [clauses(f"I'm off dairy{joint} what can I eat?")[0].text for joint in (", so", " (soy)")]
    ["I'm off dairy", "I'm off dairy (soy)"]
    """
    end, asking = _asking(sentence)
    spans = _spans(sentence[:end])
    found = [one for span in spans for one in _predicates(_clause(sentence, *span))]
    if asking < len(sentence):
        found.append(_clause(sentence, asking, len(sentence))._replace(asks=True))
    return [one for one in found if one.text]


def _asking(sentence: str) -> tuple[int, int]:
    """Return where a sentence ends before the question or request behind it, and where that begins.

    Both are its length if there is none.
    """
    pattern = _QUESTION_BEHIND if sentence.rstrip().endswith("?") else _REQUEST_BEHIND
    found = next((one for one in pattern.finditer(sentence) if one.start()), None)
    return (len(sentence),) * 2 if found is None or _ASKS.match(sentence) else found.span()


def _spans(text: str) -> Iterator[tuple[int, int]]:
    start, depends = 0, _depends(text, 0)
    for cut in _CUT.finditer(text):
        is_joined = bool(cut["joint"] or cut["bare"])
        if not is_joined and (depends or _depends(text, text.rfind(",", start, cut.start()) + 1)):
            depends = False  # the main clause: it stays with what it depends on
        elif (cut["bare"] or "").lower() == "and" and joins_subjects(text[start : cut.start()]):
            continue
        elif not depends and is_clause(text[start : cut.start()]) and is_clause(text[cut.end() :]):
            opening = _JOINED_PHRASE.search(text, start, cut.start())
            yield start, opening.start() if opening else cut.start()
            start, depends = opening.end() if opening else cut.end(), _depends(text, cut.end())
    yield start, len(text)


def _clause(sentence: str, start: int, end: int) -> Clause:
    text = sentence[start:end].strip(_MARKS).strip()
    return Clause(text, start, end, text.endswith("?") or _ASKS.match(text) is not None)


def _predicates(clause: Clause) -> list[Clause]:
    """Return a clause, cut before a second verb of its subject, which then has the subject too.

    >>> [one.text for one in _predicates(Clause("I live in Faro and teach maths", 0, 30, False))]
    ['I live in Faro', 'I teach maths']
    >>> len(_predicates(Clause("I like to swim and run at dawn", 0, 30, False)))
    1
    """
    spoken = _spoken(clause.text)
    if clause.asks or len(spoken) < _FEWEST_WORDS or spoken[0] not in ("i", "we"):
        return [clause]
    for cut in _SECOND_VERB.finditer(clause.text):
        before = _spoken(clause.text[: cut.start()])
        verb, following = cut["verb"].lower(), cut["next"].lower()
        sure = not can_be_noun(verb) or following in word_class("behind_verbs")
        if (
            sure
            and len(before) >= _FEWEST_WORDS
            and forms(verb) == forms(before[1]) == {Form.BASE}
            and (not forms(before[-1]) or before[-2] in word_class("behind_verbs"))
            and word_class("holding_verbs").isdisjoint(before)
        ):
            own = clause.text.split()[0]
            place = clause.start + cut.end()
            rest = Clause(f"{own} {clause.text[cut.end() :]}", place, clause.end, False)
            first = clause._replace(text=clause.text[: cut.start()], end=clause.start + cut.start())
            return [first, *_predicates(rest)]
    return [clause]


def _depends(text: str, start: int) -> bool:
    first = _WORD.search(text, start)
    return first is not None and first[0].lower() in word_class("subordinators")


def is_clause(text: str) -> bool:
    """Return True if a stretch up to its next mark has a verb of its own.

    >>> is_clause("In March"), is_clause("my cat"), is_clause("my cat snores"), is_clause("I ski")
    (False, False, True, True)
    """
    spoken = _spoken(text)[:12]
    if spoken and spoken[0] in word_class("coordinators"):
        spoken = spoken[1:]
    if len(spoken) < _FEWEST_WORDS and not _IS_OWN.match(text):
        return False
    subject = bool({"i", "we", "i'm", "i've", "we're", "im", "ive"} & {*spoken[:-1]})
    if subject or word_class("auxiliaries") & {*spoken}:
        return len(spoken) >= _FEWEST_WORDS or subject
    if not spoken or spoken[0] in word_class("adverbial"):
        return False
    return any(
        forms(word) & {Form.PAST, Form.THIRD}
        and not (can_be_noun(word) and before in ("my", "our"))
        for before, word in pairwise(spoken)
    )


def says_several(text: str) -> bool:
    """Return True if a sentence may list things, or have a second clause.

    >>> says_several("I play tennis and the piano"), says_several("I play tennis")
    (True, False)
    """
    return _LISTING.search(text) is not None


def joins_subjects(before: str) -> bool:
    """Return True if what stands before "and I" is another subject: "because my wife and I ski".

    >>> joins_subjects("I rest because my wife"), joins_subjects("my dog barked")
    (True, False)
    """
    found = _OTHER_SUBJECT.search(before.lower())
    return found is not None and not any(
        word in word_class("auxiliaries") or forms(word) & {Form.PAST, Form.THIRD}
        for word in _spoken(found["subject"])
    )


def is_of_speaker(clause: str) -> bool:
    """Return True if the speaker is the subject of a clause, or one of its subjects.

    >>> is_of_speaker("I'm off dairy"), is_of_speaker("My wife and I ski")
    (True, True)
    >>> is_of_speaker("My wife skis and I rest"), is_of_speaker("My wife skis")
    (False, False)
    """
    found = _SPEAKER.match(clause)
    return found is not None and (not found["before"] or joins_subjects(found["before"]))


def without_opener(sentence: str) -> str:
    """Return a sentence without the interjections, joints and addresses before it.

    >>> without_opener("haha yeah, btw I'm off dairy"), without_opener("But she left")
    ("I'm off dairy", 'she left')
    >>> without_opener("Hey Tom, I'm off dairy"), without_opener("No dairy for me")
    ("I'm off dairy", 'No dairy for me')
    >>> without_opener("Oh and I'm off dairy"), without_opener("Great and small")
    ("I'm off dairy", 'Great and small')
    >>> without_opener("So I'm off dairy"), without_opener("So far I'm off dairy")
    ("I'm off dairy", "So far I'm off dairy")
    >>> without_opener("Yep, Tom!"), without_opener("By the way")
    ('', '')
    >>> without_opener("But please remember that I'm off dairy"), without_opener("Remember to eat")
    ("I'm off dairy", 'Remember to eat')
    """
    left, opened = sentence, False
    while found := _OPENER.match(left):
        word, behind = (found["word"] or "").lower(), (found["next"] or "").lower()
        if word and word not in word_class("coordinators"):
            goes_on = _JOINED_OWN.match(left, found.end())
            is_set_off = not behind or behind in word_class("openers") or goes_on
            is_address = opened and found["word"].istitle() and not behind
            begins = word in word_class("openers") and (is_set_off or found["next"].istitle())
            if not is_address and not begins:
                break
        opened = opened or word not in word_class("coordinators")
        left = left[found.end() :]
    left = _TO_REMEMBER.sub("", left, count=1)
    return left.strip(_MARKS + "!.").strip() and left.strip(_MARKS).strip()


def leans(text: str) -> bool:
    """Return True if a clause may need what was said before: a fragment, or one that points back.

    >>> leans("She was impressive"), leans("Rex"), leans("My sister says she moved")
    (True, True, False)
    """
    spoken = _spoken(text)
    if len(spoken) < _FEWEST_WORDS or not is_clause(text) or spoken[-1] in word_class("pointing"):
        return True
    for place, word in enumerate(spoken):
        if word in word_class("pointing") and not (word == "that" and place):
            return True
        if (
            word not in word_class("auxiliaries")
            and place
            and can_be_noun(word)
            and not forms(word)
        ):
            return False
    return False


def is_understood(text: str) -> bool:
    """Return True if a clause doesn't point at what was said before it, as far as words tell.

    "It" within a clause tells nothing, as it often stands for nothing.

    >>> is_understood("I find it hard to rest"), is_understood("Where did you get them?")
    (True, False)
    """
    return not (points_back(text) or points_elsewhere(text) or lacks_antecedent(text))


def lacks_antecedent(text: str) -> bool:
    """Return True if a pronoun of the third person stands before anything that it can mean.

    >>> lacks_antecedent("I got her a lead"), lacks_antecedent("I thought of wearing them")
    (True, True)
    >>> lacks_antecedent("I told my dog that he's fat"), lacks_antecedent("I saw Ann and her cat")
    (False, False)
    """
    before = ""
    for place, found in enumerate(_WORD.finditer(text)):
        word = found[0].lower().replace("’", "'")
        if word in word_class("others"):
            return True
        is_name = place > 0 and found[0][0].isupper() and word[0] != "i"
        if is_name or before in word_class("articles"):
            return False
        before = word
    return False


def points_elsewhere(text: str) -> bool:
    """Return True if a clause is about "these" or "those" that were named before it.

    >>> points_elsewhere("I'll try one of those brands"), points_elsewhere("I'm busy these days")
    (True, False)
    """
    return _ELSEWHERE.search(text) is not None


def points_back(text: str) -> bool:
    """Return True if a clause begins with a pronoun of the third person, or ends pointing back.

    >>> points_back("He's nineteen"), points_back("My sister lives there")
    (True, True)
    >>> points_back("The cat is nineteen")
    False
    """
    spoken = _spoken(text) or [""]
    return spoken[0].partition("'")[0] in word_class("persons") or spoken[-1] in word_class(
        "pointing"
    )


def _spoken(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


def is_hedged(text: str) -> bool:
    """Return True if a word leaves a statement open.

    >>> is_hedged("I might move to Faro"), is_hedged("I moved to Faro")
    (True, False)
    """
    return any(word.lower() in word_class("hedges") for word in _WORD.findall(text))
