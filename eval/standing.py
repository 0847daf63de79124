"""Judge that a fact stands alone, by rules that know no extractor.

An English fact stands alone if it says what it is about:

    it has a subject         doesn't begin with a pronoun, a pointing word, a conjunction, or a
                             bare "the project", "the other one"
    it is finished           doesn't end in an article, a preposition, an auxiliary, a conjunction
                             or a possessive
    its pronouns are bound   "it", "he", "her", "there" come after something that they can stand
                             for; "that", "this" and "like that" never end it

"I" and "my" count as bound, since a store knows its user; so do "they" and "their" after "the
user". The rules read English only.
"""

from __future__ import annotations

import re

from lemminflect import getAllLemmas

_WORD = re.compile(r"w/|[\w/+.@#-]*\w(?:'\w+)*'?|[,;:]")
_QUOTED = re.compile(r"`[^`]+`|\"[^\"]+\"|“[^”]+”")
_STOP = re.compile(r"[.!?]+\s+(?=\S)")

_UNBOUND_START = frozenset(
    """
    it it's its itself that that's this these those they they're them their he he's she she's him
    his her hers someone somebody something somewhere anyone here there's one ones which who whom
    whose then so such also too else
    """.split()
)
_CONJUNCTION_START = frozenset("and or but nor because than though although whereas plus".split())
_BARE = frozenset(
    "project thing things problem issue question idea one ones other others same former latter"
    " first second last rest stuff".split()
)
_ARTICLE = frozenset("a an the my your our their his its every".split())
_UNFINISHED_END = frozenset(
    """
    a an the my your our their its whose every and or but nor because if when while although unless
    than as of to at for with from by into about between during against toward towards via per upon
    onto among is are was were am be been being has have had do does did can could will would shall
    should may might must i'm isn't aren't wasn't weren't hasn't haven't hadn't don't doesn't didn't
    can't couldn't won't wouldn't shouldn't w/ that this these those someone somebody something
    """.split()
)
_PLACING_END = frozenset("in on".split())
_PARTICLE_VERBS = frozenset(
    """
    am are be came carries carry caved check checked checks come comes fill filled fills gave gives
    hand handed hands is join joined joins kept left log logged logging logs move moved moves opt
    opts plug plugged put puts sign signed signing signs switch switched switches switching turn
    turned turns was were
    """.split()
)
"""Verbs that "in" and "on" complete: "logs in", "moved on", "is on"."""
_POINTER = frozenset("it its itself he him his she her hers there them".split())
_LIVELY = frozenset("he him his she her hers".split())
_OWNING = frozenset("its his her".split())
_BREAK = frozenset(
    """
    , ; : and or but so because since as when while until after before if unless though although
    where that which who to than without
    """.split()
)
_NO_NAME = frozenset("i i'm i've if when the a an my our in on at since no".split())
_NAMING = frozenset("of for that called named".split())
_EXISTENTIAL = frozenset("is are was were isn't aren't wasn't weren't will must".split())
_WEATHER = frozenset("rains raining rained snows snowing snowed freezes freezing".split())
_EMPTY = {"there": _EXISTENTIAL, "it": _WEATHER}
"""Pronouns that stand for nothing before these words, and needn't."""
_SHORTEST = 3


def stands_alone(fact: str) -> bool:
    """Return True if `fact` can be understood without the conversation that it came from."""
    return trouble(fact) is None


def trouble(fact: str) -> str | None:
    """Return the reason why `fact` doesn't stand alone, or None.

    >>> trouble("The user thinks about it.")
    "'it' stands for nothing"
    >>> trouble("The user is waiting for")
    "ends in 'for'"
    >>> trouble("Ana's brother Bo is in town. He lives in Faro")
    >>> trouble("It is faster now."), trouble("deploy target: eu-west-3")
    ("begins with 'It'", None)
    """
    text = fact.replace("’", "'").strip()
    masked = _STOP.sub(" ; ", _QUOTED.sub(" Quoted ", text))
    written = _WORD.findall(masked.rstrip(".,;:!? "))
    words = [word.casefold() for word in written]
    length = len(words) + sum("'" in word for word in words)
    if length < _SHORTEST and ":" not in text and "=" not in text:
        return "is a fragment"
    return _opening(written, words) or _ending(written) or _pronouns(written, words)


def _opening(written: list[str], words: list[str]) -> str | None:
    first, second, third = [*words, "", ""][:3]
    if first == "there":
        return None if second in _EXISTENTIAL and len(words) > _SHORTEST else "begins with 'there'"
    if first in _UNBOUND_START or first in _CONJUNCTION_START:
        return f"begins with {written[0]!r}"
    named = written[2:3] and written[2][:1].isupper()
    if first == "the" and second in _BARE and third not in _NAMING and not named:
        return f"begins with 'the {second}'"
    return None


def _ending(written: list[str]) -> str | None:
    # A capital makes a name or a month of "will" and "may".
    before, last = written[-2:] if len(written) > 1 else ("", written[-1])
    placing = last in _PLACING_END and before not in _PARTICLE_VERBS
    return f"ends in {last!r}" if placing or last in _UNFINISHED_END else None


def _pronouns(written: list[str], words: list[str]) -> str | None:
    for place, word in enumerate(words):
        if word not in _POINTER or _EMPTY.get(word, frozenset()) & {*words[place + 1 : place + 2]}:
            continue
        owning = word in _OWNING and place < len(words) - 1
        scope = place if owning else _clause(words, place)
        if not any(_stands_for(word, at, written, words) for at in range(scope)):
            return f"{word!r} stands for nothing"
    return None


def _clause(words: list[str], place: int) -> int:
    """Return the place of the last break before `place`: what is after it is the same clause."""
    return max((at for at in range(place) if words[at] in _BREAK), default=0)


def _stands_for(pronoun: str, at: int, written: list[str], words: list[str]) -> bool:
    """Return True if the word at `at` can be what `pronoun` stands for."""
    word = words[at]
    if word in ("user", "user's"):
        return pronoun == "them" and words[:2] != ["the", "user"]
    before = words[at - 1] if at else ""
    named = written[at][:1].isupper() and word not in _NO_NAME
    if named or before in _ARTICLE or before.endswith(("'s", "s'")):
        return word not in _ARTICLE
    if pronoun in _LIVELY:
        return False
    readings = getAllLemmas(word)
    return "NOUN" in readings and "VERB" not in readings
