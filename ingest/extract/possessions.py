"""Find possessions that are taken for granted: "How do I keep my cat off the sofa?".

A question, a request or a remark that says nothing of its speaker by itself still tells that there
is a cat. Only what is worth knowing is looked for: kin, animals, what carries and plays, and what
ails; not what everyone has ("my mother", "my day").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from semantic_memory.domain.english.articles import indefinite
from semantic_memory.domain.english.calendar import ANY_MONTH, WEEKDAY
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.predications import is_name
from semantic_memory.domain.english.tables import mapping, phrases, words
from semantic_memory.domain.english.words import WORD, Form, can_be_noun, forms, noun
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS

_AILMENTS = words("possessions.ailments")
_NAMED = words("possessions.kin", "possessions.animals")
_UNCOUNTED = _AILMENTS | words("possessions.uncounted")
_THINGS = _NAMED | _AILMENTS | words("possessions.owned")
_NUMBERED = words("possessions.numbered")
_ONLY_DESCRIBED = words("possessions.only_described")
_IRREGULAR = mapping("possessions.irregular")

_SENTENCE = regex(r"[.?!;\n]+(?=\s|$)")
_MINE = regex(r"\b(?:my|our)\s+(?P<words>[\w-]+(?:\s+[\w'’-]+){0,5})", re.IGNORECASE)
# "you should visit Oslo, where I live", "the factory I work in"
_WHERE_I = regex(
    r"\b(?:in|to|from|at|visit|love|near|like)\s(?P<place>(?!the|my|our|a|an|here|there)[\w'-]+"
    r"(?:\s(?-i:[A-Z])[\w'-]+)?),?\swhere\s(?:I|we)\s(?P<verb>live|work|grew up|study)\b",
    re.IGNORECASE,
)
_PLACE = r"[A-ZÀ-Þ][\w'-]+(?: [A-ZÀ-Þ][\w'-]+)?"
_HERE_IN = regex(
    rf"\b[Hh]ere in (?P<here>{_PLACE})(?= |[,.;!]|$)"
    rf"|\b(?:[Aa]s someone|[Ss]omeone|[Cc]urrently) (?:(?:living|based) )?in (?P<living>{_PLACE})"
)
_TITLED = r"(?:(?:Mr|Mrs|Ms|Dr)\.? )?[A-Z][\w-]+"
_HOLDERS = one_of(words("spelling.roles") - _NAMED)
_ROLE_OF = regex(
    rf"\b(?i:my|our) (?:new )?(?P<role>{_HOLDERS}) (?P<name>(?!{WEEKDAY}|{ANY_MONTH}){_TITLED})"
    r"(?=[\s,.;:!?)]|$)"
    rf"|(?P<who>{_TITLED}) \((?:my|our) (?P<of>(?:[\w-]+ ){{0,2}}[\w-]+)\)"
)
_ANIMAL = one_of(words("possessions.animals"))
_PET_NAMED = regex(  # "Pus, the cat, ...", "our dog, Rex, ..."
    rf"(?:^|[.;!?,] |\band )(?P<before>[A-ZÀ-Þ][\w-]+), (?:the|my|our) (?P<kind>{_ANIMAL}),"
    rf"|\b(?:[Tt]he|[Mm]y|[Oo]ur) (?P<sort>{_ANIMAL}), (?P<behind>[A-ZÀ-Þ][\w-]+),"
)
_YOUNG = phrases("possessions.young")
_NAMED_NOW = regex(  # "the baby is here! We called her Ines"
    rf"\b(?P<kind>{_YOUNG})\b[^\n?]{{0,80}}?[.!,;:]+ (?:(?:we|I)(?:'ve| have| are|'re)? )?"
    r"(?:named|called|calling) (?:her|him|it) (?P<name>(?-i:[A-ZÀ-Þ])[\w'-]+)",
    re.IGNORECASE,
)
_SEVERAL_NAMED = regex(
    rf"\b(?:[Mm]y|[Oo]ur) (?P<kin>(?:[\w-]+ )?{_YOUNG}s|(?:[\w-]+ )?(?:children|twins)),? "
    r"(?P<names>[A-ZÀ-Þ][\w'-]+(?:, [A-ZÀ-Þ][\w'-]+)*,? (?:and|&) [A-ZÀ-Þ][\w'-]+)"
)
_WORK_I = regex(
    r"\bthe\s(?P<place>(?:[a-z-]+\s)?[a-z-]+)\s(?:(?:that|where)\s)?I\swork\s(?P<at>in|at|for)\b",
    re.IGNORECASE,
)
_NOT_NOW = regex(rf"\b{phrases('possessions.not_now')}\b", re.IGNORECASE)
_SAID_ANYWAY = words("possessions.said_anyway")
_NO_DESCRIPTION = words("possessions.no_description")
_NUMBERS = words("numbers.small", "possessions.numbers") - {"one"}


def possessions(text: str, mentioned: Collection[str]) -> Iterator[str]:
    """Yield statements like "I have three sisters", for what `text` takes for granted.

    Each thing is stated once, and not if `mentioned`, words in lower case and in the singular,
    speaks of it already.
    """
    yield from _whereabouts(text)
    yield from _called(text, mentioned)
    yield from _named_beside(text)
    if _MINE.search(text) is None:
        return
    known = set(mentioned)
    for sentence in _SENTENCE.split(text):
        if not _NOT_NOW.search(sentence):
            for found in _MINE.finditer(sentence):
                spoken = found["words"].split()
                ands = [place for place, word in enumerate(spoken) if word == "and"]
                for start in (0, *(place + 1 for place in ands)):
                    again = spoken[start : start + 1] in (["my"], ["our"])
                    thing, stated = _owned(spoken[start + again :])
                    if not thing:
                        break
                    # "I live with my husband Leo" says where, not that Leo is the husband
                    named_behind = ", " in stated and found.start() > 0
                    ours = found[0][:3].lower() == "our"
                    if ours and not named_behind:
                        continue
                    if thing not in known or (named_behind and stated not in known):
                        known.add(stated)
                        known.add(thing)
                        yield stated


def _whereabouts(text: str) -> Iterator[str]:
    for home in _WHERE_I.finditer(text):
        yield f"I {home['verb']} in {home['place']}"
    for here in _HERE_IN.finditer(text):
        yield f"I am here in {here['here'] or here['living']}"
    for work in _WORK_I.finditer(text):
        yield f"I work {work['at']} {indefinite(work['place'])} {work['place']}"


def _called(text: str, mentioned: Collection[str]) -> Iterator[str]:
    """Yield who holds a role or is kin: "my landlord Mr Kerr", "Lena (my team lead)"."""
    for found in _ROLE_OF.finditer(text):
        role, name = found["role"] or found["of"], found["name"] or found["who"]
        last = name.split()[-1]
        if (is_name(last) or " " in name) and last.lower() not in mentioned:
            yield f"my {role.lower()} is {name}"


def _named_beside(text: str) -> Iterator[str]:
    """Yield the animals and children that a text names beside what they are.

    >>> [*_named_beside("Pus, the cat, is hiding. The baby is here! We named her Ines")]
    ['my baby is called Ines', 'I have a cat, Pus']
    >>> [*_named_beside("My two kids, Anika and Dev, are at home")]
    ['I have two kids, Anika and Dev']
    """
    for found in _NAMED_NOW.finditer(text):
        yield f"my {found['kind'].lower()} is called {found['name']}"
    for found in _SEVERAL_NAMED.finditer(text):
        yield f"I have {found['kin']}, {found['names']}"
    for found in _PET_NAMED.finditer(text):
        kind, name = found["kind"] or found["sort"], found["before"] or found["behind"]
        yield f"I have {indefinite(kind)} {kind}, {name}"


def words_of(statement: str) -> set[str]:
    """Return the words of a statement, in lower case and in the singular."""
    return {_singular(word) for word in WORD.findall(statement)}


def _owned(spoken: list[str]) -> tuple[str, str]:
    """Return the thing that the words behind "my" speak of, and the statement that it is there."""
    for place, word in enumerate(spoken[:4]):
        thing, following = _singular(word), spoken[place + 1 :]
        described = [own for own in spoken[:place] if own.lower() not in _SAID_ANYWAY]
        if not all(map(_describes, described)):
            break
        if thing in _NUMBERED and following and following[0].isdigit():
            word, following = f"{word} {following[0]}", following[1:]
        known = thing in _THINGS or (thing in _ONLY_DESCRIBED and described)
        if known and not _goes_on(following):
            what = " ".join([*described, word])
            several = thing not in word.lower().split()
            article = "" if several or thing in _UNCOUNTED else _article(what)
            named = "" if several or thing not in _NAMED else _name(following)
            return thing, f"I have {article}{what}{named}"
    return "", ""


def _singular(word: str) -> str:
    lowered = word.lower()
    if lowered in _THINGS or lowered in _ONLY_DESCRIBED:
        return lowered
    return _IRREGULAR.get(lowered) or noun(lowered) or lowered.removesuffix("s")


def _goes_on(following: list[str]) -> bool:
    """Return whether the next word makes another thing of it: "my dog walker"."""
    if not following:
        return False
    word = following[0].lower()
    if [own.lower() for own in following[:2]] == ["in", "law"] or word.isdigit():
        return True
    if word.endswith("ing") and can_be_noun(word):
        return True  # "my horse painting" shows one
    return (
        not following[0][:1].isupper()
        and word not in STOP_WORDS
        and can_be_noun(word)
        and not forms(word) & {Form.THIRD, Form.PAST, Form.ING}
    )


def _name(following: list[str]) -> str:
    """Return the name that follows, behind a comma."""
    if (
        not following
        or not following[0][:1].isupper()
        or not following[0].replace("-", "").isalpha()
    ):
        return ""
    return "" if forms(following[0]) or following[0].lower() in STOP_WORDS else f", {following[0]}"


def _describes(word: str) -> bool:
    lowered = word.lower()
    if lowered in _NUMBERS or lowered.isdigit():
        return True
    if lowered in STOP_WORDS or lowered in _NO_DESCRIPTION or lowered.startswith("ex-"):
        return False
    return forms(lowered) <= {Form.PAST, Form.BASE, Form.ING}


def _article(what: str) -> str:
    first = what.split()[0]
    return "" if first.lower() in _NUMBERS or first.isdigit() else f"{indefinite(first)} "
