"""Read what is told of somebody as they would tell it: "malik works nights" is "i work nights"."""

from __future__ import annotations

from collections.abc import Iterator

from semantic_memory.domain.english.negation import NEGATIONS
from semantic_memory.domain.english.tables import words
from semantic_memory.domain.english.words import Form, forms, readings
from semantic_memory.domain.patterns import regex

_OWNER = regex(r"^(?:the|my|our) ")
_HIS = regex(r"\b(?:his|her|their)\b")
_AGREEING = {"is": "am", "are": "am", "has": "have", "does": "do"}
_NOBODY = words("persons.others", "persons.user") | NEGATIONS | {"there"}
_MOST_WORDS = 3  # of somebody's name


def as_own(plain: str) -> Iterator[tuple[str, str]]:
    """Yield each person of whom a folded clause tells something, and how they would say it.

    >>> list(as_own("my brother sem broke his leg")), list(as_own("i broke my leg"))
    ([('brother sem', 'i broke my leg')], [])
    >>> list(as_own("ola's cast came off")), list(as_own("emil and ida split up"))
    ([('ola', 'my cast came off')], [('emil', 'i split up'), ('ida', 'i split up')])
    """
    spoken = _OWNER.sub("", plain).split()
    for number, word in enumerate(spoken[: 1 + _MOST_WORDS]):
        if number and _is_verb(word):
            rest = f"i {base(word)} {' '.join(spoken[number + 1 :])}".strip()
        elif word.endswith("'s"):
            rest = f"my {' '.join(spoken[number + 1 :])}"
        else:
            continue
        owned = [word.removesuffix("'s")] if word.endswith("'s") else []
        for who in " ".join([*spoken[:number], *owned]).split(" and "):
            if who and _NOBODY.isdisjoint(who.split()):
                yield who, _HIS.sub("my", rest)
        return


def base(verb: str) -> str:
    """Return the form of a verb behind "I".

    >>> base("works"), base("has"), base("broke")
    ('work', 'have', 'broke')
    """
    if verb in _AGREEING:
        return _AGREEING[verb]
    return readings(verb)["VERB"][0] if Form.THIRD in forms(verb) else verb


def _is_verb(word: str) -> bool:
    return word in _AGREEING or not forms(word).isdisjoint({Form.THIRD, Form.PAST})
