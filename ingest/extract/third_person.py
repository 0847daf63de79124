"""Turns what someone says of themselves into a sentence about them.

"I'm moving to Berlin because I love my job"
    ->  "Maya is moving to Berlin because Maya loves their job"
"""

from __future__ import annotations

import re

from ingest.extract.lexicon import MODALS, Form, forms, is_adverb

_AUXILIARY = {
    "am": "is", "'m": "is", "have": "has", "'ve": "has", "do": "does", "don't": "doesn't",
    "haven't": "hasn't", "'ll": "will", "'d": "would", "ain't": "isn't", "were": "was",
    "weren't": "wasn't",
}  # fmt: skip
_UNCHANGED = MODALS | frozenset(
    """
    can't couldn't won't wouldn't shouldn't mustn't mightn't didn't wasn't hadn't did had was used
    in on at to for of by with from as than or and but nor am
    """.split()
)
_QUOTED = re.compile(r"(\"[^\"]*\"|“[^”]*”)")
_WORD = re.compile(r"(\s+(?:(?:kind|sort) of\s+|sure\s+|no longer\s+)?)([^\W_]+(?:['’-][^\W_]+)*)")
_I = re.compile(
    r"(?<![\w'])(?<!War )(?<!Part )(?<!Type )(?<!Phase )I(?:['’](?:m|ve|ll|d))?(?![\w'’-])"
)
# Before "I", these make a question or an inversion ("nor do I"): the verb has agreed already.
_INVERTED = re.compile(
    r"\b(?:am|was|have|do|did|had|can|could|will|would|should|may|might|must)\s+$", re.IGNORECASE
)
_PLURAL = {"'m": " are", "'re": " are", "'ve": " have", "'ll": " will", "'d": " would"}
_INVERTED_AGREEING = {"am": "is", "have": "has", "do": "does"}
# "my wife and I": together a plural, which agrees with nothing that needs changing.
_JOINED = re.compile(
    r"(?:^|[,;.]\s|\b(?:that|when|because|where|while|and|but|so)\s)"
    r"(?:(?:my|our|the|a|an)\s)?(?:[\w'-]+\s){1,3}and\s+$",
    re.IGNORECASE,
)


def third_person(sentence: str, name: str) -> str:
    """`sentence`, said by `name`, with "I", "my" and "me" replaced and the verbs made to agree.

    "We" becomes the speaker and others. What stands in double quotes is left as it was said.
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

    def told(self, text: str) -> str:
        told = ""
        done = 0
        while found := _SPEAKER.search(text, done):
            told += text[done : found.start()]
            done = found.end()
            word = found[0].replace("’", "'").lower()
            if word.startswith("i"):
                told, done = self._subject(told, word[1:], text, found)
            elif word.startswith("we"):
                told += self._group(word[2:])
            else:
                told += self._other(word)
        return told + text[done:]

    def _other(self, word: str) -> str:
        named, self._named = self._named, True
        match word:
            case "my" | "our":
                return "their" if named else f"{self._inner}'s"
            case "mine" | "ours":
                return "theirs" if named else f"{self._inner}'s"
            case "us":
                return "them" if named else f"{self._inner} and others"
            case "me":
                return self._inner
            case _:
                return "themselves"

    def _subject(self, told: str, short: str, text: str, found: re.Match[str]) -> tuple[str, int]:
        """What is told up to and with the subject's verb, and how much of `text` that is."""
        name, self._named = self._inner, True
        before = text[: found.start()]
        if inverted := _INVERTED.search(before):
            verb = inverted[0].strip()
            agreeing = _INVERTED_AGREEING.get(verb.lower(), verb)
            return told[: -len(inverted[0])] + f"{agreeing} {name}", found.end()
        if _JOINED.search(before) and not _has_verb(before):
            return told + name + _PLURAL.get(short, ""), found.end()
        verb, length = _agreeing(short, text[found.end() :])
        return told + name + verb, found.end() + length

    def _group(self, short: str) -> str:
        name = "they" if self._named else f"{self._inner} and others"
        self._named = True
        return name + _PLURAL.get(short, "")


_SPEAKER = re.compile(
    _I.pattern + r"|\b(?i:we(?:['’](?:re|ve|ll|d))?|my|our|mine|ours|me|(?<!the )us"
    r"|myself|ourselves)\b(?!['’]\w)"
)


def _has_verb(before: str) -> bool:
    words = re.findall(r"[\w']+", before)[:-1]
    return any(
        forms(word) & {Form.PAST, Form.THIRD, Form.ING} or word.lower() in _AUXILIARY
        for word in words
    )


def _agreeing(short: str, rest: str) -> tuple[str, int]:
    """The verb behind the subject, in the third person, and how much of `rest` it replaces."""
    if short:
        participle = short == "'d" and re.match(r"\s+(?:(?:never|already|always)\s+)?(\w+)", rest)
        had = participle and (
            participle[1] in ("been", "had") or forms(participle[1]) == {Form.PAST}
        )
        return f" {'had' if had else _AUXILIARY[short]}", 0
    place = 0
    while found := _WORD.match(rest, place):
        word = found[2].replace("’", "'").lower()
        if not is_adverb(word):
            return rest[: found.start(2)] + _inflected(found[2], word), found.end()
        place = found.end()
    return "", 0


def _inflected(written: str, word: str) -> str:
    if word in _AUXILIARY:
        return _AUXILIARY[word]
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
