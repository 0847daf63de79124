"""Read numbers, spelled or in digits, and what they count or measure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from text_to_num import alpha2digit

from semantic_memory.domain.english.calendar import is_month
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.tables import keys, phrases, words
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import stems

_ONE_IS_AN_ARTICLE = 1.5
"""From which number on words become digits: "one" is mostly an article or a pronoun."""

_SPELLED = regex(rf"\b{one_of(words('numbers.small', 'numbers.large'))}\b")
_NUMBER = regex(r"(?<![\w.])[$€£]?(\d+(?:[.,:/-]\d+)*)(?:\s*(%|k\b|[a-z]{1,3}\b))?")
# "web01", "python3.12", "b6", "12a", "a1b2c3d"; but "5km", "3pm", "12th" are a number with its unit
_CODE = regex(
    r"(?<![\w.-])(?:[a-z]+[a-z_-]*\d[\w.-]*|\d+[a-z]+\d[\w.-]*|\d+[a-b])(?<![.-])(?![\w])"
)
_VALUE = r"(?P<currency>[$€£])?(?<![\w.])(?P<value>\d+(?:[.,]\d+)*)(?P<k>k\b)?"
_UNIT = r"(?:\s*(?P<percent>%|percent\b)|[\s-]*(?P<nouns>[a-z]+(?: [a-z]+)?))?"
_FIGURE = regex(_VALUE + _UNIT)
# "Room 101 has a projector", but not "weighs 80 kilos"
_LABELLED = r"^(?:(?:the|my|our|user's) )?[a-z-]{2,}(?<!s) #?\d[\w-]* [a-z]{2,}"
_LABEL = regex(rf"{_LABELLED}|\b{phrases('numbers.labelled')} #?\d")

_DIMENSIONS = {
    unit: name
    for name in keys("numbers.dimensions")
    for written in words(f"numbers.dimensions.{name}")
    for unit in (written, *stems(written))
}


def with_digits(folded: str) -> str:
    """Return a folded text with its spelled numbers in digits.

    >>> with_digits("twenty five of one hundred dogs"), with_digits("one dog")
    ('25 of 100 dogs', 'one dog')
    """
    if not _SPELLED.search(folded):
        return folded
    return str(alpha2digit(folded, "en", _ONE_IS_AN_ARTICLE))


def is_spelled(word: str) -> bool:
    """Return whether a word in lower case is a spelled number.

    >>> is_spelled("twelve"), is_spelled("few")
    (True, False)
    """
    return _SPELLED.fullmatch(word) is not None


def numbers(folded: str) -> list[str]:
    """Return the numbers of a folded text.

    >>> numbers("2,500 dollars, 3k users, 50% at 4 pm")
    ['2500', '3000', '50', '4pm']
    """
    return [
        _value(found[1], found[2] == "k") + ("pm" if found[2] == "pm" else "")
        for found in _NUMBER.finditer(folded)
    ]


def codes(folded: str) -> list[str]:
    """Return the words of a folded text that mix letters and digits, as names of things do.

    >>> codes("web01 runs python3.12, ticket proj-7, flat 12a: 5km by 3pm")
    ['web01', 'python3.12', 'proj-7', '12a']
    """
    return [found[0] for found in _CODE.finditer(folded)]


def figures(folded: str) -> Mapping[str, str]:
    """Return what is counted or measured, by the stem of its unit or noun.

    A unit with two different figures is left out.

    >>> figures("2 dogs, 3 cats and 30%")
    {'dog': '2', 'cat': '3', '%': '30'}
    """
    found: dict[str, set[str]] = defaultdict(set)
    for match in _FIGURE.finditer(folded):
        value = _value(match["value"], match["k"] is not None)
        if match["currency"] or match["percent"]:
            found[match["currency"] or "%"].add(value)
        else:
            for stem in stems(match["nouns"] or ""):
                if stem and not is_month(stem):
                    found[stem].add(value)
    return {unit: values.pop() for unit, values in found.items() if len(values) == 1}


def kinds(folded: str) -> frozenset[str]:
    """Return what the figures of a folded text measure, or the nouns that they count.

    >>> sorted(kinds("12 chairs of 3 metres")), kinds("the rent is 900")
    (['chair', 'length'], frozenset())
    """
    return frozenset(_DIMENSIONS.get(unit, unit) for unit in figures(folded))


def has_label(folded: str) -> bool:
    """Return whether a number in a folded text tells things apart rather than counting.

    >>> has_label("meet at gate 12"), has_label("maya weighs 80 kilos")
    (True, False)
    """
    return _LABEL.search(folded) is not None


def _value(digits: str, thousands: bool) -> str:
    plain = digits.replace(",", "")
    if not plain.replace(".", "", 1).isdigit():
        return plain
    return f"{float(plain) * (1000 if thousands else 1):g}"
