"""Tell statements that stand alone from those that need what was said or seen before."""

from __future__ import annotations

import re

from semantic_memory.domain.english.notation import whole
from semantic_memory.domain.english.predications import is_name
from semantic_memory.domain.english.subjects import has_finite_verb, head
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import WORD, Form, forms, noun, noun_behind
from semantic_memory.domain.patterns import regex

_NOW = rf"(?!\s{phrases('pronouns.times')}\b)"
_OPENS = regex(rf"^(?:{phrases('standing.openings')}\b|(?:this|that)\b{_NOW})", re.IGNORECASE)
_THANKS = regex(
    rf"^I (?:\w+ly |so |do )?appreciate\b.*\b{phrases('standing.thanked')}\b", re.IGNORECASE
)
_SHOWN = regex(
    rf"\b(?:this|these|those)\b{_NOW}"
    rf"|\b{phrases('standing.before_shown')}\sthat\s(?!{phrases('standing.behind_that')}\b)\w"
    rf"|\bthe\s{phrases('standing.compared')}\s|\ba\ssimilar\s(?!.*\bto\b)"
    rf"|(?<!so\s)\bthat\s{phrases('standing.bare', 'standing.places')}\b",
    re.IGNORECASE,
)
_BEGINS_BARE = regex(
    r"^The (?=[a-z])(?!(?:[\w'-]+ ){1,4}(?:of|in|at|from|for|to|that|which|who|I|we)\b)"
    r"(?!(?:[a-z'-]+ ){0,3}[A-Z](?!'))"
)
_THOUGHT = regex(r"^I(?:\s\w+ly)? (?:think|thought|feel|believe)\s", re.IGNORECASE)
_COMMENTS = regex(rf"^{phrases('standing.comments')}\b", re.IGNORECASE)
_POINTS = regex(whole(phrases("standing.pointing")), re.IGNORECASE)
# "I'm a huge fan", "I snapped in the country": what of is missing.
_WITHOUT_OBJECT = regex(
    rf"\ba (?:\w+ )??{phrases('standing.needs_of')}$"
    rf"|^(?:.{{2,25}}, )?(?:I|we)(?:'ve|'d| have| had)?(?: never| just| also| even| recently)? "
    rf"{phrases('standing.needs_object')}"
    rf"(?=\s(?:{phrases('standing.behind_missing_object')}|\w+ly\W*$)|\W*$)",
    re.IGNORECASE,
)
_CUT_OFF = regex(r"\b(?:what|who|where|how|it|that|there|here|which)'s\W*$|“[^”]*$", re.IGNORECASE)
_AGAIN = regex(
    r"\b(?:go|going|come|coming|visit|return|be|try|do|head) (?:back|again|there again)\W*$"
    r"|\beverything there is\b",
    re.IGNORECASE,
)
_LIKE_THAT = regex(r"\blike (?:that|this|those|these)\W*(?:$|[,.;])", re.IGNORECASE)
_RELATIVE = regex(r"\w (?:that|which|who|whom|where|what)\b|\w \b(?:I|we|my|they|he|she)\b")
_BARE = regex(
    rf"\bthe {phrases('standing.bare')}(?=\s*(?:$|[,.;]|and\b|but\b|because\b|is\b|was\b|has\b))",
    re.IGNORECASE,
)
_VERBLESS = regex(
    r"^(?:from|of|by|with|like|via|for|on|in)\s(?:my|our|the)\b(?!.*,)(?!.*\b(?:I|we)\b)"
    r"|\bfeels? like [\w' ]{2,20}$|\bbecause my \w+$|\bbut because of [^,]*$|\bhow far$"
    r"|\bso when [^,]*$|^\(|\bI (?:think|feel) (?:\w+ly )?(?:in|for|of|at|on)\b",
    re.IGNORECASE,
)
_QUOTED = regex(r'"[^"]*"')
_PERSON = regex(r"\b(?:he|she|him|her|his|hers)\b", re.IGNORECASE)
_ONES = regex(r"\b(?<!loved )(?<!little )(?<!young )ones\b", re.IGNORECASE)
_NO_THING = words("predications.prepositions", "standing.no_things") | {"I", "My", "We"}
_IT = regex(r"\bits?\b", re.IGNORECASE)
_PEOPLE = words(
    "possessions.kin", "spelling.roles", "antecedents.people", "antecedents.male",
    "antecedents.female", "possessions.animals", "standing.someone",
)  # fmt: skip
_TO_BE = regex(r"\bto (?:be|do|have)\W*$", re.IGNORECASE)
_TO_DO_WITH = regex(r"\bto \w+ (?:\w+ )?(?:with|for|in|at|on|about|from|to)\W*$", re.I)
_AUXILIARIES = words("predications.auxiliaries", "words.modals") | {"am"}
_PRONOUNS = words("predications.no_subject")
_SHORTEST_CLAUSE = 5
_FINITE = words("words.finite", "words.modals") | {"am", "i'm", "it's", "he's", "she's"}
_PREPOSITIONS = words("predications.prepositions")
_ENDS = words("standing.endings")
_PARTICLES = words("standing.particles")


def stands(statement: str) -> bool:
    """Return True if nothing at its ends, and no phrase in it, points outside a statement.

    >>> stands("I thought about becoming a"), stands("here's a photo of my dog")
    (False, False)
    >>> stands("I joined a travel club and"), stands("I moved in with my aunt")
    (False, True)
    """
    spoken = [word.lower() for word in WORD.findall(statement)]
    if not spoken or _OPENS.match(statement) or _POINTS.search(statement):
        return False
    if _LIKE_THAT.search(statement) or _CUT_OFF.search(statement):
        return False
    if statement.count("(") != statement.count(")"):
        return False
    if statement.count('"') % 2:
        return False
    last, before = spoken[-1], spoken[-2] if len(spoken) > 1 else ""
    if statement.rstrip()[-1:] in ",:;-–" or (last in _PARTICLES and before in _DETERMINED):
        return False
    return last not in _ENDS or _may_end(last, before, statement, len(spoken))


def _may_end(last: str, before: str, statement: str, length: int) -> bool:
    """Return True if the last word ends a clause all the same: "as often as I can"."""
    if last in ("may", "will") and (
        before in _PREPOSITIONS or WORD.findall(statement)[-1][:1].isupper()
    ):
        return True  # a month, a name
    if last == "am" and before[:1].isdigit():
        return True  # "10 am"
    if last == "a" and WORD.findall(statement)[-1] == "A":
        return True  # a grade, a blood group
    if length < _SHORTEST_CLAUSE:
        return False
    if last in _AUXILIARIES:
        return before in _PRONOUNS or before == "others" or noun(before) is not None
    if last in _PREPOSITIONS and last != "of":
        leads = forms(before) - {Form.PAST} or _TO_DO_WITH.search(statement)
        return bool(leads) or _RELATIVE.search(statement) is not None
    return _TO_BE.search(statement) is not None


def is_bound(statement: str) -> bool:
    """Return True if every "he" and "it" has something before it, and no bare noun points away.

    >>> is_bound("we go to the beach and he waits"), is_bound("my dog and I swim, he waits")
    (False, True)
    >>> is_bound("I like the plot"), is_bound("I like the plot of Dune")
    (False, True)
    """
    statement = _QUOTED.sub("", statement)  # its pronouns are another's
    if _COMMENTS.match(statement) or _BARE.search(statement) or _VERBLESS.search(statement):
        return False
    if _THANKS.match(statement) or _SHOWN.search(statement) or not _is_finite(statement):
        return False
    if _BEGINS_BARE.match(statement) or _AGAIN.search(statement):
        return False
    if _WITHOUT_OBJECT.search(statement) or _ONES.search(statement):
        return False
    if person := _PERSON.search(statement):
        before = WORD.findall(statement[: person.start()])
        if not any(_is_someone(word, place) for place, word in enumerate(before)):
            return False
    if thing := _IT.search(statement):
        before = WORD.findall(statement[: thing.start()])
        return any(
            (
                noun_behind(before[place - 1] if place else "", word) is not None
                or word[:1].isupper()
                or word.endswith("ing")
            )
            and not _is_someone(word, place)
            for place, word in enumerate(before)
            if word not in _NO_THING
        )
    return True


def is_about_the_other(statement: str, name: str) -> bool:
    """Return True if a statement speaks to `name`, its listener, or praises what they said.

    >>> is_about_the_other("I need to talk to Kim", "Kim")
    True
    >>> is_about_the_other("I moved to Kim's street", "Kim")
    False
    """
    if name not in statement:
        return False
    praised = rf"'s\s(?:\w+\s)?{phrases('standing.thanked')}\b"
    return re.search(rf"\b{re.escape(name)}\b(?:(?!'s\s)|{praised})", statement) is not None


def _is_finite(statement: str) -> bool:
    """Return True if a statement that doesn't begin with "I" has a verb, and so has a thought."""
    if thought := _THOUGHT.match(statement):
        statement = statement[thought.end() :]
    elif head(statement) is not None:
        return True
    spoken = [word.lower() for word in WORD.findall(statement)]
    if spoken[:1] in (["my"], ["our"]):
        spoken = spoken[1:]  # "my trips" begins with a noun
        return has_finite_verb(spoken[1:]) or any(map(_may_be_finite, spoken[1:]))
    plural = Form.BASE in {form for word in spoken[1:] for form in forms(word)}
    return has_finite_verb(spoken) or bool(_FINITE & {*spoken}) or plural


def _may_be_finite(word: str) -> bool:
    return word in _FINITE or bool(forms(word) - {Form.ING}) or word.endswith("'s")


def _is_someone(word: str, place: int) -> bool:
    lowered = word.lower().removesuffix("'s")
    return (noun(lowered) or lowered) in _PEOPLE or (place > 0 and is_name(word))


_DETERMINED = words("predications.determiners", "standing.no_particle_behind")
