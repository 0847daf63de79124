"""Read what is told of somebody as they would tell it: "malik works nights" is "i work nights"."""

from __future__ import annotations

from collections.abc import Iterator

from semantic_memory.domain.english.negation import NEGATIONS
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import Form, forms, readings
from semantic_memory.domain.patterns import regex

_OWNER = regex(r"^(?:the|my|our) ")
_HIS = regex(r"\b(?:his|her|their)\b")
_AGREEING = {"am": "am", "is": "am", "are": "am", "has": "have", "does": "do"}
_KIN = words("renewals.people.kin")
_OF_USER = regex(
    r"(?P<before>\b(?:i|we) (?:(?:[a-z]+ly|also|still|just|now|never|always) )?)(?P<verb>[a-z]+s)\b"
)
_TO_USER = regex(rf"\b(?P<before>{phrases('persons.before_objects')}) (?P<who>i|we)\b")
_OBJECTS = {"i": "me", "we": "us"}
_THEIR = regex(r"\b(?:their|theirs|themselves)\b")
_OWN_FORMS = {"their": "my", "theirs": "mine", "themselves": "myself"}
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


def as_told_by_user(plain: str, *, of_user: bool) -> str:
    """Return a folded text as the user would tell it, with verbs that agree with "i".

    `of_user` is true if the text speaks of the user in the third person.

    >>> as_told_by_user("i does not take their pills", of_user=True)
    'i do not take my pills'
    >>> as_told_by_user("the bank gave i a loan", of_user=True)
    'the bank gave me a loan'
    """
    if not of_user:
        return plain
    told = _OF_USER.sub(lambda found: f"{found['before']}{base(found['verb'])}", plain)
    told = _TO_USER.sub(lambda found: f"{found['before']} {_OBJECTS[found['who']]}", told)
    if told.startswith(("i ", "we ")) and _KIN.isdisjoint(told.replace("'s", " ").split()):
        told = _THEIR.sub(lambda found: _OWN_FORMS[found[0]], told)
    return told


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
