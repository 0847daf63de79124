"""Tell an employer from what people join or visit: "joined Netflix", "first day at Wimbledon"."""

from __future__ import annotations

from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.patterns import regex

_JOINING = regex(rf"\b{phrases('employers.joining')} (?:the |a |an )?(?P<what>.+)$")
_SERVED = words("employers.served")
_WITHOUT_WORK = words("employers.without_work")
_AT_WORK = words("employers.at_work")


def joins_no_employer(plain: str) -> bool:
    """Return whether a folded clause tells of joining or visiting what isn't worked for.

    >>> joins_no_employer("i joined netflix"), joins_no_employer("i joined netflix as an engineer")
    (True, False)
    >>> joins_no_employer("first day at roskilde"), joins_no_employer("first day at siemens")
    (True, False)
    """
    found = _JOINING.search(plain)
    if found is None or not _AT_WORK.isdisjoint(plain.split()):
        return False
    told = found["what"].replace("-", " ").split()
    return not _WITHOUT_WORK.isdisjoint(plain.split()) or not _SERVED.isdisjoint(
        (*told[:3], *found["what"].split()[:2])
    )
