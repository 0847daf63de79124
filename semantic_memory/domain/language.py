"""Tell whether a text is English, and which other language it is in.

The script decides first, then the function words of each language. Where these leave it open, as in
"Dublin, mostly", the dictionary of English decides. In doubt a text isn't English: rules of English
then leave it alone. Statistical detectors need longer texts than facts are; see
`docs/decisions/0021-language-by-function-words.md`.
"""

from __future__ import annotations

from collections import Counter
from functools import cache, lru_cache
from itertools import islice

from semantic_memory.domain.english.tables import words
from semantic_memory.domain.english.words import Form, forms, is_word
from semantic_memory.domain.languages import listed, telling_words
from semantic_memory.domain.patterns import regex

# initials and labels, "J. R.", "D21", are no words; "J'" and "A" are
_WORD = regex(r"(?<!\w)(?![B-DF-HJ-NP-Z](?!['’\w]))[^\W\d_]+(?!\w)(?:['’](?:s|t|m|d|ll|re|ve)\b)?")
_ADDRESS = regex(r"\S*(?:@|://)\S*")  # of mail and pages: no words
_FOREIGN = regex(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")
_SCRIPTS = (
    ("ja", regex(r"[\u3040-\u30ff]")),
    ("ko", regex(r"[\uac00-\ud7af\u1100-\u11ff]")),
    ("zh", regex(r"[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("ru", regex(r"[\u0400-\u04ff]")),
)
_FUNCTION_WORDS = (
    *("words.stop_words", "words.function_words", "words.before_nouns", "words.modals"),
    *("words.past", "words.adverbs", "spelling.chat"),
)
_FINITE = frozenset({Form.THIRD, Form.PAST})
_LEAST_SHARE = 0.2
_SURE = 2  # words of another language that show it, though all be in the dictionary of English
_MOST_WORDS = 60  # that are looked at
_FOREIGN_SHARE = 0.25  # of the letters of a text that is in another script
_SURE_SHARE = 0.3  # function words of English among the words of a text that needs no dictionary
_KNOWN_SHARE = 0.6  # English words, names left out, of a text that few function words tell


@lru_cache(maxsize=16_384)
def is_english(text: str) -> bool:
    """Return whether rules of English can read a text.

    >>> is_english("i lvie in berlin now, its great"), is_english("Ich wohne in Berlin")
    (True, False)
    """
    return is_latin(text) and _reads_as_english(text)


@lru_cache(maxsize=16_384)
def language(text: str) -> str | None:
    """Return the ISO 639-1 code of a text's language, of English and those that have a table.

    None if it is in none of them, or if too little of it is said to tell.

    >>> language("Mein Hund heißt Bruno"), language("我住在杭州"), language("Dublin")
    ('de', 'zh', None)
    """
    if not is_latin(text):
        return next((code for code, script in _SCRIPTS if script.search(text)), None)
    if _reads_as_english(text):
        return "en"
    spoken = list(dict.fromkeys(_words(text)))  # "eu-north, eu-west" is no Portuguese
    english, others = _evidence(spoken)
    best = max(others.values(), default=0)
    if best <= _LEAST_SHARE * len(spoken):
        return None
    if best < _SURE and _is_in_dictionary(spoken):
        return None
    found = sorted(code for code, number in others.items() if number == best > english)
    # among close languages the one whose statements can be read
    return next((code for code in found if listed(code, "speaker")), next(iter(found), None))


def other_script(text: str) -> str:
    """Return the letters of a text that aren't Latin, in their order.

    >>> other_script("My teacher is 田中 now"), other_script("Zoë")
    ('田中', '')
    """
    return "" if text.isascii() else "".join(_FOREIGN.findall(text))


def is_latin(text: str) -> bool:
    """Return whether a text is in Latin letters, a name or a sign in others aside.

    >>> is_latin("Ask Юля about the shed"), is_latin("Спроси Юлю")
    (True, False)
    """
    if text.isascii():
        return True
    letters = sum(map(str.isalpha, text))
    return len(other_script(text)) <= _FOREIGN_SHARE * letters


def _reads_as_english(text: str) -> bool:
    spoken = _words(text)
    english, others = _evidence(spoken)
    best = max(others.values(), default=0)
    if english > best and english >= _SURE_SHARE * len(spoken):
        if english >= 2 * best:
            return True
    elif best > english and not _begins_with_name(spoken):
        return False
    return _is_in_dictionary(spoken)


def _begins_with_name(spoken: list[str]) -> bool:
    """Return whether a word of another language can only be a name: "Leo turned 7"."""
    first, *rest = spoken
    if not (first.istitle() and rest) or forms(rest[0]).isdisjoint(_FINITE):
        return False
    return not any(map(telling_words().__contains__, rest)) and all(map(_is_known, rest))


def _is_in_dictionary(spoken: list[str]) -> bool:
    """Return whether most words, names left out, are in the dictionary of English."""
    said = [word for word in spoken[1:] if not word[:1].isupper()]
    if spoken and (not said or _is_known(spoken[0].casefold())):
        said.append(spoken[0])  # otherwise most likely a name
    known = sum(_is_known(word.casefold()) for word in said)
    return bool(said) and known >= _KNOWN_SHARE * len(said)


def _words(text: str) -> list[str]:
    found = _WORD.finditer(_ADDRESS.sub(" ", text) if "@" in text or "://" in text else text)
    return [one[0] for one in islice(found, _MOST_WORDS)]


def _evidence(spoken: list[str]) -> tuple[int, Counter[str]]:
    """Return the number of English function words, and that of each other language's."""
    english, others = 0, Counter[str]()
    own, foreign = _english(), telling_words()
    shouted = all(map(str.isupper, spoken))
    for place, word in enumerate(spoken):
        plain = word.casefold()
        english += plain.replace("’", "'") in own
        # a name or an abbreviation: "M4 Pro", "EN and RU"
        if plain in foreign and not (place and word.istitle()) and (shouted or not word.isupper()):
            for code in foreign[plain]:  # `update` takes four times as long
                others[code] += 1
    return english, others


def _is_known(word: str) -> bool:
    plain = word.replace("’", "'")
    return plain in _english() or plain in _units() or is_word(plain.partition("'")[0])


@cache
def _english() -> frozenset[str]:
    return words(*_FUNCTION_WORDS) | {"user", "user's"}  # with which facts in English begin


@cache
def _units() -> frozenset[str]:
    """Return units of measures, most of which no dictionary has: "sorry, 10 mg"."""
    found = words("numbers.units")
    return found | {f"{one}s" for one in found} | {"pm"}
