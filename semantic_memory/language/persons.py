"""Put a statement of its speaker into the third person, where that is certain.

"I'm moving to Berlin because I love my job"
    ->  "Maya is moving to Berlin because they love their job"

It isn't certain in names ("Toys R Us", "World War I", "Call Me Joe"), in quotations and code,
behind words that aren't known as verbs, in inversions ("nor do I"), and where "they" is somebody
else.
"""

from __future__ import annotations

import re

from semantic_memory.domain.english.calendar import MONTHS, WEEKDAYS
from semantic_memory.domain.english.words import MODALS, Form, forms, is_adverb
from semantic_memory.domain.patterns import regex
from semantic_memory.language.clauses import joins_subjects

_SPEAKER = regex(
    r"(?<![\w'’])(?:i(?:['’](?:m|ve|ll|d))?|im|ive|we(?:['’](?:re|ve|ll|d))?|my|our|me|us|mine|ours"
    r"|myself|ourselves)(?![\w])",
    re.IGNORECASE,
)
_VERBATIM = regex(
    r"\"[^\"]*\"|“[^”]*”|‘[^’]*’|(?<!\w)'[^']+'(?!\w)|`[^`]*`|\S*(?:://|[/@\\_=<>{}])\S*"
)
_ENDED = regex(r"[.!?]\s+$")
_BOUND = regex(r"[./&@\\+#-]\w|['’]\w")
_BOUND_BEFORE = regex(r"[./&@\\+#-]$")
_BEFORE = regex(r"([^\W_][\w'’-]*)([^\w]*)$")
_VERB = regex(r"(?P<between>(?:\s+[\w'’-]+){0,3}?)\s+(?P<verb>[^\W_]+(?:['’-][^\W_]+)*)")
_AND_VERB = regex(r"(?P<joint>\s+and\s+)(?P<verb>[a-z]+)\b(?!')")
_LATER_VERB = regex(
    r"(?:,\s+(?:and|or|but)|,|\band|\bor|\bbut)\s+(?P<verb>(?!and\b|or\b|but\b)[a-z]+)"
    r"(?:,|\s+(?!and\b|or\b)[a-z])"
)
_ADVERBIAL = frozenset(
    "just also even still kind sort of no longer not sure all both last first".split()
)
_OTHERS = regex(r"\b(?:they|them|their|theirs|themselves|thy)\b|\bthey['’]", re.IGNORECASE)
_INVERTING = MODALS | {"am", "was", "have", "do", "did", "had", "were", "don't", "didn't"}
_PAST_IN_PRESENT = MODALS | {"was", "had", "did", "used", "didn't", "hadn't", "wasn't"}
_AGREEING = {
    "am": "is",
    "have": "has",
    "do": "does",
    "don't": "doesn't",
    "haven't": "hasn't",
    "'m": "is",
    "'ve": "has",
    "'ll": "will",
}
_NEVER_CHANGED = frozenset("can't couldn't won't wouldn't shouldn't mustn't cannot aint".split())
_MINE_BEHIND = frozenset("is are was were of than like to with 's not isn't wasn't".split())
_NAMED_DAYS = frozenset((*MONTHS, *WEEKDAYS))


def mentions_speaker(statement: str) -> bool:
    """Return whether a statement has a word for the person who made it.

    >>> mentions_speaker("the cat likes me"), mentions_speaker("the cat sleeps")
    (True, False)
    """
    return _SPEAKER.search(statement) is not None


def third_person(statement: str, name: str) -> str | None:
    """Return a statement with its speaker named, from then on "they"; None where it isn't certain.

    >>> third_person("I love my job", "Maya"), third_person("im off dairy", "The user")
    ('Maya loves their job', 'The user is off dairy')
    >>> third_person("my sister and I ski because we like it", "Maya")
    "Maya's sister and Maya ski because they like it"
    >>> third_person("I sold a Mustang I", "Maya"), third_person("we met at Toys R Us", "Maya")
    (None, None)
    >>> third_person('I read "My Family" twice', "Maya"), third_person("I def agree", "Maya")
    ('Maya read "My Family" twice', None)
    """
    if _OTHERS.search(statement):
        return None
    hidden = _VERBATIM.sub(lambda found: "\0" * len(found[0]), statement)
    told, done, named = "", 0, False
    inner = name[:1].lower() + name[1:] if name.startswith("The ") else name
    for found in _SPEAKER.finditer(hidden):
        if not _is_person(hidden, found):
            return None
        told += statement[done : found.start()]
        word = found[0].lower().replace("’", "'")
        put = _put(word, named, inner, hidden, found)
        if put is None:
            return None
        text, length = put
        if _ENDED.search(told):
            text = text[:1].upper() + text[1:]
        told += text
        done, named = found.end() + length, True
    told += statement[done:]
    return told[:1].upper() + told[1:]


def _is_person(text: str, found: re.Match[str]) -> bool:
    """Return True if a word can only be the speaker: no numeral, no part of a name."""
    before, behind = text[: found.start()], text[found.end() :]
    if _BOUND.match(behind) or _BOUND_BEFORE.search(before):
        return False
    last = _BEFORE.search(before)
    begins = last is None or any(mark in last[2] for mark in ".!?:;,(\n")
    is_capital = found[0][:1].isupper()
    if found[0].lower() == "us" and (found[0].isupper() or (last and last[1].lower() == "the")):
        return False
    if is_capital and not found[0].startswith("I"):
        return begins
    if found[0].lower() == "mine":
        return last is not None and last[1].lower().rpartition("'")[2] in {*_MINE_BEHIND, "s"}
    if found[0] == "I" and not begins and last is not None:
        # "World War I", but also "When I" at the beginning, and "In March I"
        name = last[1][:1].isupper() and last[1] not in _NAMED_DAYS
        return not name or _BEFORE.search(before[: last.start()]) is None
    return True


def _put(
    word: str, named: bool, name: str, text: str, found: re.Match[str]
) -> tuple[str, int] | None:
    """Return what stands for a word of the speaker, and how much behind it that replaces."""
    if word in ("my", "our"):
        return ("their" if named else f"{name}'s"), 0
    if word in ("mine", "ours"):
        return ("theirs" if named else f"{name}'s"), 0
    if word == "me":
        return name, 0
    if word == "us":
        return ("them" if named else f"{name} and others"), 0
    if word in ("myself", "ourselves"):
        return "themselves", 0
    return _subject(word, named, name, text, found)


def _subject(
    word: str, named: bool, name: str, text: str, found: re.Match[str]
) -> tuple[str, int] | None:
    before, rest = text[: found.start()], text[found.end() :]
    last = _BEFORE.search(before)
    if last and last[1].lower().replace("’", "'") in _INVERTING and not last[2].strip():
        return None
    short = {"im": "'m", "ive": "'ve"}.get(word, word[word.find("'") :] if "'" in word else "")
    plural = word.startswith("we")
    if last and last[1].lower() == "and" and not plural and joins_subjects(before[: last.start()]):
        return (name, 0) if not short else None  # "my wife and I live in Rome"
    if plural and not named:
        return f"{name} and others{_of_many(short)}", 0
    if named:
        return (f"they{_of_they(short)}", 0) if short else _they(rest)
    if short == "'d":
        behind = _VERB.match(rest)
        had = behind is not None and forms(behind["verb"]) == {Form.PAST}
        return f"{name} {'had' if had else 'would'}", 0
    if short:
        return f"{name} {_AGREEING[short]}", 0
    return _agreeing(name, rest)


def _of_they(short: str) -> str:
    return "'re" if short == "'m" else short


def _of_many(short: str) -> str:
    return {"'re": " are", "'ve": " have", "'ll": " will", "'d": " would"}.get(short, "")


def _they(rest: str) -> tuple[str, int] | None:
    """Return "they" with the verb behind it, if that is one that doesn't agree with it."""
    found = _VERB.match(rest)
    if found and found["verb"].lower() in ("am", "was", "wasn't") and not found["between"]:
        plural = {"am": "are", "was": "were", "wasn't": "weren't"}[found["verb"].lower()]
        return f"they {plural}", found.end()
    return "they", 0


def _agreeing(name: str, rest: str) -> tuple[str, int] | None:
    """Return the name with the verb behind it; None if what is there isn't known as a verb."""
    place = 0
    while found := regex(r"\s+([^\W_]+(?:['’-][^\W_]+)*)").match(rest, place):
        word = found[1].replace("’", "'").lower()
        if word not in _ADVERBIAL and not is_adverb(word):
            verb = _inflected(found[1], word)
            if verb is None:
                return None
            second = _AND_VERB.match(rest, found.end())
            if second and verb != found[1] and forms(second["verb"]) == {Form.BASE}:
                other = _inflected(second["verb"], second["verb"])
                return f"{name}{rest[: found.start(1)]}{verb}{second['joint']}{other}", second.end()
            if verb != found[1] and _has_later_verb(rest[found.end() :]):
                return None  # "I eat fish and drink wine": it would have to agree too
            return f"{name}{rest[: found.start(1)]}{verb}", found.end()
        place = found.end()
    return None


def _has_later_verb(text: str) -> bool:
    return any(forms(found["verb"]) == {Form.BASE} for found in _LATER_VERB.finditer(text))


def _inflected(written: str, word: str) -> str | None:
    """Return a verb in the third person; None for a word that isn't known as one.

    >>> _inflected("try", "try"), _inflected("went", "went"), _inflected("def", "def")
    ('tries', 'went', None)
    """
    if word in _AGREEING:
        return _AGREEING[word]
    if word in _PAST_IN_PRESENT or word in _NEVER_CHANGED:
        return written
    if f"{word[:-1]}'t" in _NEVER_CHANGED | _AGREEING.keys() | _PAST_IN_PRESENT:
        return None  # "cant", which is a verb too
    known = forms(word)
    if Form.PAST in known:
        return written
    if Form.BASE not in known or not word.isalpha():
        return None
    if word.endswith(("s", "sh", "ch", "x", "z", "o")):
        return written + "es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return written[:-1] + "ies"
    return written + "s"
