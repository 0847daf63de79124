"""A rule for whether a fact is a faithful, standalone statement, independent of any extractor.

A fact is faithful to its source text if

    it is declarative       at least three words, not a question, command, greeting or thanks
    it is a clause          a subject, then a finite verb
    it stands alone         it doesn't begin with a pronoun other than the speaker's, and no pronoun
                            of the third person precedes everything that it could refer to
    it invents nothing      every content word occurs in the text in some form, is the speaker's
                            name, or resolves a relative date in the text

"I", "my" and "we" count as resolved, like the speaker's name, so that the rule judges verbatim
sentences and those in the third person alike.
"""

from __future__ import annotations

import re
from functools import lru_cache

from lemminflect import getAllLemmas

from semantic_memory.domain.text import STOP_WORDS

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_FINITE = frozenset(
    """
    am is are was were has have had do does did can could will would shall should may might must
    can't couldn't won't wouldn't shouldn't don't doesn't didn't isn't aren't wasn't weren't hasn't
    haven't hadn't i'm i've i'll i'd we're we've we'll he's she's it's that's there's ain't cannot
    """.split()
)
_SPEAKER = frozenset("i my we our i'm i've i'll i'd we're we've we'll we'd mine".split())
_POINTING = frozenset(
    """
    it he she they them him her his hers its that this these those there that's it's he's she's
    they're this's theirs their
    """.split()
)
_QUESTION = re.compile(
    r"^(?:(?:do|does|did|are|is|was|were|have|has|can|could|would|will|should)\s+"
    r"(?:you|i|we|he|she|it|they|your|there|that|this|the|my)\b|(?:what|where|who|why|how|which)\b)",
    re.IGNORECASE,
)
_PLEASANTRY = re.compile(
    r"^(?:hi|hey|hello|hiya|thanks?|welcome|bye|goodbye|good (?:morning|evening|night|luck)|nice to"
    r"|(?:i am|i'm|the user is|\w+ is) (?:\w+ )?(?:good|great|fine|well|ok|okay|sorry|glad"
    r"|doing \w+)\b(?! (?:at|in|on|with)))"
    r"|\bthank you\b|\bnice to meet\b|\bsorry to hear\b|\bhow are you\b",
    re.IGNORECASE,
)
_DATE_GIVEN = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|this|in|on|since|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday|past|from now|couple)\b",
    re.IGNORECASE,
)
_DATE_WORDS = frozenset(
    """
    january february march april may june july august september october november december monday
    tuesday wednesday thursday friday saturday sunday week weekend around evening morning night
    """.split()
)
_TELLING = frozenset("user user's others others' other them themselves".split())


def is_faithful(fact: str, text: str, name: str | None = None) -> bool:
    """Return True if `fact`, extracted from `text` said by `name`, passes the rule."""
    words = [word.lower() for word in _WORD.findall(fact.replace("’", "'"))]
    return (
        len(words) >= 3
        and not fact.rstrip().endswith("?")
        and not _QUESTION.match(fact)
        and not _PLEASANTRY.search(fact)
        and _is_clause(words, name)
        and _stands_alone(words)
        and not invented(fact, text, name)
    )


def invented(fact: str, text: str, name: str | None = None) -> list[str]:
    """Return the content words of `fact` that `text` doesn't support."""
    given = {form for word in _WORD.findall(text.replace("’", "'")) for form in _forms(word)}
    named = set(_WORD.findall((name or "").lower()))
    dated = bool(_DATE_GIVEN.search(text))
    strange = []
    for written in _WORD.findall(fact.replace("’", "'")):
        word = written.lower().removesuffix("'s")
        if word in STOP_WORDS or word in _TELLING or word in named:
            continue
        if dated and (word.isdigit() or word in _DATE_WORDS):
            continue
        if not _forms(word) & given:
            strange.append(written)
    return strange


def _is_clause(words: list[str], name: str | None) -> bool:
    speaker = _SPEAKER | {"user", "user's"} | set((name or "").lower().split())
    if words[0] not in speaker and _can_be_command(words):
        return False
    for place, word in enumerate(words):
        if word in _FINITE:
            return place > 0 or word in _SPEAKER or word == "there's"
        if (
            place
            and (word in _ANY_VERB or _verb_lemmas(word))
            and words[place - 1] not in _NO_SUBJECT
        ):
            return True
    return False


def _can_be_command(words: list[str]) -> bool:
    return (
        words[0] in _verb_lemmas(words[0])
        and words[0] not in _FINITE
        and (not _verb_lemmas(words[1]) and words[1] not in _FINITE)
    )


def _stands_alone(words: list[str]) -> bool:
    if words[0] in _POINTING and not (words[0] == "it" and len(words) > 1 and words[1] == "rains"):
        return words[0] in ("there", "there's") and len(words) > 3
    for place, word in enumerate(words):
        if word in _POINTING and word not in ("there", "that", "their", "this", "these", "those"):
            before = words[:place]
            things = [w for w in before if _can_be_thing(w)]
            if not things:
                return False
        if word in ("that", "this", "those", "these", "there") and place == len(words) - 1:
            return False
    return True


def _can_be_thing(word: str) -> bool:
    if word in STOP_WORDS or word in _TELLING or word in _FINITE:
        return False
    readings = getAllLemmas(word)
    return not readings or ("NOUN" in readings and "VERB" not in readings) or word.endswith("s")


@lru_cache(maxsize=65_536)
def _forms(written: str) -> frozenset[str]:
    word = written.lower().removesuffix("'s")
    lemmas = {lemma for own in getAllLemmas(word).values() for lemma in own}
    return frozenset({word, *lemmas})


@lru_cache(maxsize=65_536)
def _verb_lemmas(word: str) -> tuple[str, ...]:
    return tuple(getAllLemmas(word).get("VERB", ()))


_ANY_VERB = frozenset("got gotta wanna gonna".split())
_NO_SUBJECT = frozenset("to a an the my our your of in on at for with".split())
