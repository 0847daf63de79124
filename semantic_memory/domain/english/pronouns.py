"""Find pronouns that point outside their statement: "I love it there"."""

from __future__ import annotations

import re
from itertools import pairwise

from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.subjects import head
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import WORD, names_a_thing
from semantic_memory.domain.patterns import regex

_END = r"(?=\s*(?:$|[,.;!]))"
_EMPTY_IT = (
    rf"\s(?:{phrases('pronouns.empty_it_verbs')}\s)?(?:{phrases('pronouns.empty_it_degrees')}\s)*"
    rf"(?:rain\w*|snow\w*|when\b|\w+\s{phrases('pronouns.empty_it_clauses')}\b)"
    rf"|(?:'s|\sis|\sgets)\s(?:an?\s|the\s|too\s|very\s)?(?:\w+\s)?"
    rf"{phrases('pronouns.empty_it_times')}\b"
)
_VERB_LEFT_OUT = rf"(?<![^,\s]\s)(?:I|we)\s{phrases('pronouns.left_alone')}(?=\s*$)"
_POINTS = {
    "it": rf"its?\b(?!{_EMPTY_IT})",
    "mine": r"(?:mine|ours)\b",
    "they": rf"{phrases('pronouns.others')}\b",
    "there": rf"there(?!(?:\s|(?='s)){phrases('pronouns.empty_there')}\b)",
    "that": rf"{phrases('pronouns.pointing')}"
    rf"(?=\s*(?:$|[,.;:!)])|\s{phrases('pronouns.behind_pointing')}\b)",
    "one": rf"(?:one|ones)(?:{_END}|(?=\sof\s(?:those|these|them)\b))",
    "so": rf"{phrases('pronouns.pro_verbs')} {phrases('pronouns.behind_pro_verb')}"
    r"(?=\s*(?:$|[,.;]))",
    "ellipsis": _VERB_LEFT_OUT,
    "open": rf"(?<=[a-z]\s){phrases('pronouns.open_to')}\sto(?=\s*$)",
    "same": rf"{phrases('pronouns.last_words')}\s*$",
}
_POINTING = regex(
    r"\b" + any_of(*(f"(?P<{kind}>{pattern})" for kind, pattern in _POINTS.items())), re.IGNORECASE
)
# "they put my dose up": whoever is in charge
_IN_CHARGE = regex(
    r"they(?:'ve|'re| have| are)?(?: \w+ly| just| also| finally)? (?P<verb>\w+) (?:me|us|my|our)\b",
    re.IGNORECASE,
)
_DEICTIC_TIME = regex(rf"\b(?:this|that|these|those)\s{phrases('pronouns.times')}\b", re.IGNORECASE)
_NAMED_PLACE = rf"\b(?:a|the|my|our)\s(?:\w+\s)?{phrases('pronouns.places')}\b"
_BEHIND_PREPOSITION = rf"\b{phrases('pronouns.before_place')}\s+(?!the\s+way|it\b)\w+"
_CHOSEN = r"\b(?:cho(?:o)?se|picked|visit\w*|left)\s(?-i:[A-Z])\w+"
_DONE = words("pronouns.done_by_others")
_PLACE = regex(any_of(_NAMED_PLACE, _BEHIND_PREPOSITION, _CHOSEN), re.IGNORECASE)
_JOINT = regex(rf"(?:[,;]|\b{phrases('pronouns.joints')})\s*$")


def dangles(statement: str) -> bool:
    """Return whether a pronoun has nothing before it in the statement that it could stand for.

    >>> dangles("I love it there"), dangles("I bought a bike and I love it")
    (True, False)
    >>> dangles("I used to"), dangles("I love this summer"), dangles("I like it when it rains")
    (True, False, False)
    """
    for found in _POINTING.finditer(statement):
        if _DEICTIC_TIME.match(statement, found.start()) or _is_in_charge(found):
            continue
        if found["so"] or found["ellipsis"] or found["open"]:
            return True
        before = statement[: found.start()]
        if found["that"] and not _JOINT.search(before):
            if _is_relative(found, before, statement) or before.endswith(" like "):
                continue
            return True
        if found["there"] and not _PLACE.search(before):
            return True
        if not _names_something(before):
            return True
    return False


def _is_in_charge(found: re.Match[str]) -> bool:
    """Return whether "they" begins what an office, a firm or a doctor does to the speaker."""
    done = _IN_CHARGE.match(found.string) if not found.start() else None
    return done is not None and done["verb"].lower() in _DONE


def _is_relative(found: re.Match[str], before: str, statement: str) -> bool:
    """Return whether a "that" goes on about the noun before it: "a fish that is orange"."""
    spoken = ["", "", *WORD.findall(before)]
    return (
        found["that"].lower() == "that"
        and found.end() < len(statement)
        and names_a_thing(spoken[-1], spoken[-2])
        and not spoken[-1].endswith("ing")
    )


def _names_something(before: str) -> bool:
    """Return whether the text before a pronoun has something in it to stand for."""
    own = head(before)
    if own and len(before.split()) > 3 and _JOINT.search(before):
        return True  # what was said as a whole: "I love to paint, it relaxes me"
    spoken = WORD.findall(before[own.end :] if own else before)
    return any(
        names_a_thing(word, preceding)
        for preceding, word in pairwise(["", *spoken])
        if preceding != "to" and not word.endswith("ing")
    )
