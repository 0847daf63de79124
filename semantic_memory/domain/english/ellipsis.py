"""Restore what hasty writers leave out: "done with sugar", "34, nurse, two kids".

Only openings and lists that the tables name are completed; the rest is left to
`subjects.with_subject`.
"""

from __future__ import annotations

import re

from semantic_memory.domain.english.articles import indefinite
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.subjects import with_subject
from semantic_memory.domain.english.tables import phrases, rows, split, words
from semantic_memory.domain.english.words import WORD, Form, forms, noun

_OPENINGS = tuple(
    (
        re.compile(rf"{one_of(split(row['begins']))}\b(?=\s+\w)", re.IGNORECASE),
        row["subject"],
    )
    for row in rows("ellipsis.openings")
)
_KIND_OF_PERSON = re.compile(
    rf"^((?:[\w-]+\s){{0,2}}[\w-]+ {phrases('ellipsis.kinds_of_person')})(?=$|[,;:.])",
    re.IGNORECASE,
)
_AILING = re.compile(rf"^{one_of(words('possessions.ailments'))}\b(?=\s(?:since|for)\b)", re.I)
_NOTHING_MORE = re.compile(
    rf"^no (?:more )?(?!{phrases('ellipsis.no_things')})(?P<thing>[\w' -]{{2,40}}?)(?: for me)?"
    rf"(?: {phrases('ellipsis.no_longer')})(?P<rest>.*)$",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"^(?:he|she|they|it)(?:'s|'re| is| are)\s(?P<told>[^,]{3,60}),\s"
    r"(?P<who>(?:my|our)(?:\s[\w'-]+){1,3}|[A-Z][\w'-]+(?:\s[A-Z][\w'-]+){0,2})$"
)
_FAVOURITE = re.compile(
    r"^(?:maybe |like |probably )?(?P<thing>(?!it|that|this|he|she|they)"
    r"(?:[\w'-]+\s){0,3}[\w'-]+), my favou?rite (?P<kind>[\w ]{3,30})$",
    re.IGNORECASE,
)
_HOME = re.compile(
    r"^(?P<home>(?P<who>I|we) live (?:in|near|at) [^,;.]{2,40}?) (?P<people>with (?:my|our) "
    r"[^,;.]*?(?-i:[A-Z])[^,;.]{2,60}?)(?P<rest>$|,.*)",
    re.IGNORECASE,
)
_BEST = re.compile(
    rf"^(?P<one>(?!I\b|it|that|this|we\b|they)(?:[\w'-]+\s){{0,3}}[\w'-]+)"
    rf"(?: {phrases('ellipsis.above_all')}| > (?P<other>[\w' -]{{2,30}}))$",
    re.IGNORECASE,
)
_BEATS = re.compile(r"^nothing beats (?P<one>.{3,60})$", re.IGNORECASE)
_GIVE_ME = re.compile(r"^give me (?P<one>[\w' -]{3,40}) over (?P<other>.+)$", re.IGNORECASE)
_AGE = re.compile(r"^(?:1[3-9]|[2-9]\d)(?:\s?(?:yo|y/o|years old))?$", re.IGNORECASE)
_COUNTED = re.compile(rf"^(?:\d+|{one_of(words('numbers.small'))}|an?|one|no)\s[\w\s-]+$", re.I)
_TRADE = words("ellipsis.trades")
_TRADE_ENDINGS = ("ist", "eer", "ician", "ologist")
_STATE = re.compile(rf"^(?:{phrases('ellipsis.list_states')})\b", re.IGNORECASE)
_HAVING = words("possessions.kin", "possessions.animals") | words("fragments.plurals")
_MOST_IN_LIST = 5


def completed(sentence: str) -> list[str]:
    """Return a sentence with the subjects that its writer left out; lists give one each.

    >>> completed("done with sugar for good"), completed("tea person, no doubt")
    (['I am done with sugar for good'], ['I am a tea person, no doubt'])
    >>> completed("34, nurse, two kids, living in Cork")
    ['I am 34', 'I am a nurse', 'I have two kids', 'I am living in Cork']
    >>> completed("he's our new director, Bram Oosting"), completed("the lake is cold")
    (['Bram Oosting is our new director'], ['the lake is cold'])
    >>> completed("I live in Bonn with my aunt Edda, I'm vegan")
    ['I live in Bonn', 'I live with my aunt Edda', "I'm vegan"]
    >>> completed("No dairy for me any more")
    ["I don't have dairy any more"]
    """
    if several := _list(sentence) or _home(sentence):
        return several
    return [_reworded(sentence) or _begun(sentence)]


def _reworded(sentence: str) -> str | None:
    """Return a statement that was made without a verb, or with its subject last; or None."""
    if behind := _BEHIND.match(sentence):
        return f"{behind['who']} is {behind['told']}"
    if nothing := _NOTHING_MORE.match(sentence):
        return f"I don't have {nothing['thing']} any more{nothing['rest'].rstrip()}"
    if favourite := _FAVOURITE.match(sentence):
        return f"my favorite {favourite['kind']} is {favourite['thing']}"
    if best := _BEST.match(sentence):
        return f"I prefer {best['one']}" + (f" to {best['other']}" if best["other"] else "")
    if beaten := _BEATS.match(sentence):
        return f"I think nothing beats {beaten['one']}"
    if preferred := _GIVE_ME.match(sentence):
        return f"I prefer {preferred['one']} over {preferred['other']}"
    return None


def _begun(sentence: str) -> str:
    """Return a statement with the subject and the verb that it lacks."""
    if (person := _KIND_OF_PERSON.match(sentence)) and not _is_command(person[1]):
        has_article = person[1].lower().startswith(("a ", "an ", "the "))
        article = "" if has_article else f"{indefinite(person[1])} "
        return f"I am {article}{_lowered(sentence)}"
    if _AILING.match(sentence):
        return f"I have had {_lowered(sentence)}"
    for opening, subject in _OPENINGS:
        if opening.match(sentence):
            return f"{subject} {_lowered(sentence)}"
    return sentence


def _home(sentence: str) -> list[str]:
    """Return where someone lives and with whom as two statements, and what follows."""
    home = _HOME.match(sentence)
    if home is None:
        return []
    rest = home["rest"].lstrip(" ,")
    return [home["home"], f"{home['who']} live {home['people']}", *([rest] if rest else [])]


def _is_command(words: str) -> bool:
    first = words.split()[0]
    return Form.BASE in forms(first) and noun(first) is None


def _list(sentence: str) -> list[str]:
    """Return the statements of a list about the speaker; empty if it isn't one."""
    if "," not in sentence:
        return []
    parts = [part.strip() for part in re.split(r",|\band\b(?=\s+(?:have|love|hate)\b)", sentence)]
    parts = [part for part in parts if part]
    if not 2 <= len(parts) <= _MOST_IN_LIST or any(len(part.split()) > 6 for part in parts):
        return []
    told = [_part(part) for part in parts]
    return [one for one in told if one] if all(told) else []


def _part(part: str) -> str | None:
    """Return what a part of a list says of its speaker; None if it says nothing by itself."""
    spoken = WORD.findall(part)
    if not spoken:
        return None
    last = noun(spoken[-1]) or spoken[-1].lower()
    if _AGE.match(part):
        return f"I am {part}"
    if _COUNTED.match(part) and last in _HAVING | {"child", "people"}:
        return f"I have {part}"
    if len(spoken) <= 3 and _is_trade(last):
        return f"I am {indefinite(spoken[0])} {_lowered(part)}"
    if _STATE.match(part):
        return f"I am {_lowered(part)}"
    whole = with_subject(part)
    if whole != part:
        return whole
    if len(spoken) > 1 and spoken[0].lower() in ("have", "love", "hate", "live", "work", "like"):
        return f"I {_lowered(part)}"
    return None


def _is_trade(word: str) -> bool:
    return word in _TRADE or word.endswith(_TRADE_ENDINGS)


def _lowered(text: str) -> str:
    first = text.split()[0]
    return text if first[1:] != first[1:].lower() else text[:1].lower() + text[1:]
