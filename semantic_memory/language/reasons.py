"""Find the reason that a sentence gives for what it says: "I rise at six because of my dog"."""

from __future__ import annotations

import re

from semantic_memory.domain.english.tenses import is_past
from semantic_memory.domain.patterns import deferred, regex
from semantic_memory.language.clauses import is_clause, word_class


def _any_of(name: str) -> str:
    return "(?:" + deferred(lambda: "|".join(sorted(word_class(name)))) + ")"


_JOINT = regex(
    rf"(?<!\bnot )\b(?:(?P<thing>{_any_of('reason_prepositions')}\s(?:of|to))"
    rf"|(?P<clause>{_any_of('reasons')})|(?P<either>{_any_of('reasons_or_times')}))\s+",
    re.IGNORECASE,
)
_END = regex(r"[.;!?](?:\s|\Z)|\s[-–—]+\s|\s\(|,\s(?:and|but|so)\s")


def reason(sentence: str) -> str | None:
    """Return the words of a sentence that give the reason for the rest; None if none do.

    What stands behind "since" or "as" is a reason if it is a clause about the present.

    >>> reason("I rise at six because of my dog"), reason("Since I live in Leeds, I cycle")
    ('my dog', 'I live in Leeds')
    >>> reason("I have cycled since I was ten"), reason("As a nurse, I work at night")
    (None, None)
    """
    for found in _JOINT.finditer(sentence):
        behind = sentence[found.end() :]
        leads = not sentence[: found.start()].strip()
        is_set_off = leads or sentence[: found.start()].rstrip().endswith(",")
        if found[0].strip().lower() == "as" and (not is_set_off or " as " in behind):
            continue
        told, comma, rest = behind.partition(", ") if leads else (behind, "", "")
        if leads and not (comma and rest):
            continue
        told = _END.split(told, maxsplit=1)[0].strip(" ,.;!?")
        if not told or (found["either"] and (is_past(told.casefold()) or not is_clause(told))):
            continue
        return told
    return None
