"""Tell sentences of their speaker in the third person.

"I'm moving to Berlin because I love my job"
    ->  "Maya is moving to Berlin because Maya loves their job"
"""

from __future__ import annotations

import re

from semantic_memory.domain.english.tables import mapping, phrases, words
from semantic_memory.domain.english.words import MODALS, Form, forms, is_adverb
from semantic_memory.domain.patterns import regex

USER = words("persons.user")
"""Words for the user in a folded text."""
OTHERS = words("persons.others")
"""Words for people that a sentence alone doesn't name."""

_SELF = regex(rf"\b{phrases('pronouns.speaker')}\b", re.IGNORECASE)
_OTHER_PERSON = regex(rf"{phrases('pronouns.persons')}\b", re.IGNORECASE)

_AGREEING = mapping("persons.agreeing")
_AGREEING_INVERTED = mapping("persons.agreeing_inverted")
_PLURAL = mapping("persons.plural")
_UNCHANGED = MODALS | words("persons.unchanged")

_QUOTED = regex(r"(\"[^\"]*\"|“[^”]*”)")
_SKIPPED = r"\s+(?:(?:kind|sort) of\s+|sure\s+|no longer\s+)?"
_WORD = regex(rf"({_SKIPPED})([^\W_]+(?:['’-][^\W_]+)*)")
_NO_NUMERAL = "".join(rf"(?<!{word} )" for word in sorted(words("persons.before_numeral")))
_I = rf"(?<![\w']){_NO_NUMERAL}I(?:['’](?:m|ve|ll|d))?(?![\w'’-])"
_WE = r"we(?:['’](?:re|ve|ll|d))?|my|our|mine|ours|me|(?<!the )(?-i:[Uu]s)(?!-)|myself|ourselves"
_SPEAKER = regex(rf"{_I}|\b(?i:{_WE})\b(?!['’]\w)")
_INVERTED = regex(rf"\b{phrases('persons.inverted')}\s+$", re.IGNORECASE)
# "my wife and I": together a plural, which agrees with nothing that needs changing.
_BEFORE_SUBJECTS = rf"(?:^|[,;.]\s|\b{phrases('persons.before_subjects')}\s)"
_JOINED = regex(
    rf"{_BEFORE_SUBJECTS}(?:(?:my|our|the|a|an)\s)?(?:[\w'-]+\s){{1,3}}and\s+$", re.IGNORECASE
)
_HAD = regex(r"\s+(?:(?:never|already|always)\s+)?(\w+)")

_MISSPELT_ADVERB = regex(r"[a-z]{3,}(?:t|e|l|n)ly")
# "I cook and clean"
_AND_VERB = regex(r"(\s+and\s+)([a-z]+)\b(?!')")
# "I played but haven't touched it in years"
_LATER_VERB = regex(
    r"(?P<joint>(?:,|\b(?:but|and|or))\s+(?:just\s|still\s|really\s|also\s|\w+ly\s)?)"
    r"(?P<verb>haven['’]t|don['’]t|am)\b(?!\s(?:you|they|we))|(?<=, never )(?P<last>have)$"
)
# "I'm allergic and have an inhaler"
_AND_HAVE = regex(r"^[^,;.]+? and (?P<verb>have|do|don't|need|get|take|use|carry)\b(?!\syou\b)")
_OTHER_SUBJECT = regex(r"\b(?:who|that|which|they|you|people)\b", re.IGNORECASE)
_OWN_SUBJECT = regex(r"(?:I|we|my|our)\b", re.IGNORECASE)
_REQUEST = regex(rf"\b{phrases('persons.requests')}\b|\byou(?:'|rs)", re.IGNORECASE)
_YOU_ALONE = regex(r"\byou(?:r)?\b", re.IGNORECASE)


def mentions_speaker(statement: str) -> bool:
    """Return whether a statement has a word for the person who made it.

    >>> mentions_speaker("the cat likes me"), mentions_speaker("the cat sleeps")
    (True, False)
    """
    return _SELF.search(statement) is not None


def begins_with_person(statement: str) -> bool:
    """Return whether a statement begins with "he", "she" or "they".

    >>> begins_with_person("She paints"), begins_with_person("Maya paints")
    (True, False)
    """
    return _OTHER_PERSON.match(statement) is not None


def with_listener(statement: str, listener: str) -> str:
    """Return a statement with its "you" named, unless it is a request to the listener.

    >>> with_listener("I met your sister", "Tom"), with_listener("I want you to stay", "Tom")
    ("I met Tom's sister", 'I want you to stay')
    """
    if not _OWN_SUBJECT.match(statement) or _REQUEST.search(statement):
        return statement
    return _YOU_ALONE.sub(
        lambda found: f"{listener}'s" if found[0].lower().startswith("your") else listener,
        statement,
    )


def third_person(sentence: str, name: str) -> str:
    """Return a sentence with the speaker named and the verbs made to agree.

    "We" becomes the speaker and others. Text in double quotes is left as it was said.

    >>> third_person("I love my job", "Maya"), third_person("we don't smoke", "Maya")
    ('Maya loves their job', "Maya and others don't smoke")
    >>> third_person("I cook and clean", "Maya"), third_person("I like to cook and clean", "Maya")
    ('Maya cooks and cleans', 'Maya likes to cook and clean')
    >>> third_person('she said "I am here" to me', "The user")
    'She said "I am here" to the user'
    """
    teller = _Teller(name)
    pieces = _QUOTED.split(sentence)
    text = "".join(
        piece if number % 2 else teller.told(piece) for number, piece in enumerate(pieces)
    )
    return text[:1].upper() + text[1:]


class _Teller:
    """Remembers whether the speaker has been named yet: from then on "their" is plain."""

    def __init__(self, name: str) -> None:
        self._name = name
        # "The user" begins a sentence; further in it is "the user".
        self._inner = name[:1].lower() + name[1:] if name.startswith("The ") else name
        self._named = False
        self._is_met = False
        """True once more than what the speaker owns has been told of: "us" is plain then."""
        self._is_subject = False
        self._is_state = False

    def told(self, text: str) -> str:
        told = ""
        done = 0
        while found := _SPEAKER.search(text, done):
            told += self._between(text[done : found.start()])
            done = found.end()
            word = found[0].replace("’", "'").lower()
            self._is_subject = word.startswith("i")
            self._is_state = False
            if word.startswith("i"):
                told, done = self._subject(told, word[1:], text, found)
            elif word.startswith("we"):
                told += self._group(word[2:])
            else:
                told += self._other(word)
        return told + self._between(text[done:])

    def _between(self, text: str) -> str:
        """Return what stands behind the speaker, a second verb made to agree as well."""
        found = _LATER_VERB.search(text) if self._is_subject else None
        if found is None and self._is_state:
            found = _AND_HAVE.match(text)
        if found is None or _OTHER_SUBJECT.search(text, 0, found.start()):
            return text
        name = "verb" if found["verb"] else "last"
        verb = _inflected(found[name], found[name].replace("’", "'"))
        return text[: found.start(name)] + verb + text[found.end(name) :]

    def _other(self, word: str) -> str:
        named, self._named = self._named, True
        self._is_met = self._is_met or word not in ("my", "our")
        match word:
            case "my" | "our":
                return "their" if named else f"{self._inner}'s"
            case "mine" | "ours":
                return "theirs" if named else f"{self._inner}'s"
            case "us":
                return "them" if named and self._is_met else f"{self._inner} and others"
            case "me":
                return self._inner
            case _:
                return "themselves"

    def _subject(self, told: str, short: str, text: str, found: re.Match[str]) -> tuple[str, int]:
        """Return the text up to and with the subject's verb, and how much of `text` that is."""
        name, self._named = self._inner, True
        self._is_met = True
        before = text[: found.start()]
        if inverted := _INVERTED.search(before):
            verb = inverted[0].strip()
            agreeing = _AGREEING_INVERTED.get(verb.lower(), verb)
            return told[: -len(inverted[0])] + f"{agreeing} {name}", found.end()
        if (joined := _JOINED.search(before)) and not _has_verb(joined[0]):
            return told + name + _PLURAL.get(short, ""), found.end()
        verb, length = _agreeing(short, text[found.end() :])
        self._is_state = verb == " is"
        return told + name + verb, found.end() + length

    def _group(self, short: str) -> str:
        name = "they" if self._named else f"{self._inner} and others"
        self._named = self._is_met = True
        return name + _PLURAL.get(short, "")


def _has_verb(before: str) -> bool:
    spoken = re.findall(r"[\w']+", before)[:-1]
    return any(
        forms(word) & {Form.PAST, Form.THIRD, Form.ING} or word.lower() in _AGREEING
        for word in spoken
    )


def _agreeing(short: str, rest: str) -> tuple[str, int]:
    """Return the verb behind the subject in the third person, and how much of `rest` it takes."""
    if short:
        participle = _HAD.match(rest) if short == "'d" else None
        had = participle and (
            participle[1] in ("been", "had") or forms(participle[1]) == {Form.PAST}
        )
        return f" {'had' if had else _AGREEING[short]}", 0
    place = 0
    while found := _WORD.match(rest, place):
        word = found[2].replace("’", "'").lower()
        if not is_adverb(word) and not _MISSPELT_ADVERB.fullmatch(word):
            verb = _inflected(found[2], word)
            second = _AND_VERB.match(rest, found.end())
            if second and verb != found[2] and Form.BASE in forms(second[2]):
                verb += second[1] + _inflected(second[2], second[2].lower())
                return rest[: found.start(2)] + verb, second.end()
            return rest[: found.start(2)] + verb, found.end()
        place = found.end()
    return "", 0


def _inflected(written: str, word: str) -> str:
    """Return a verb in the third person.

    >>> _inflected("try", "try"), _inflected("go", "go"), _inflected("don't", "don't")
    ('tries', 'goes', "doesn't")
    """
    if word in _AGREEING:
        return _AGREEING[word]
    known = forms(word)
    if word in _UNCHANGED or not word.isalpha() or (known and known != {Form.BASE}):
        return written
    if not known and word.endswith(("ed", "ing", "s")):
        return written
    if word.endswith(("s", "sh", "ch", "x", "z", "o")):
        return written + "es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return written[:-1] + "ies"
    return written + "s"
