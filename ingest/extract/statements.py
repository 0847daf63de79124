"""Whether a statement is worth keeping, and how firmly it was made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ingest.extract.lexicon import (
    WORD,
    Form,
    can_be_noun,
    forms,
    is_adverb,
    is_verb,
    names_a_thing,
)
from ingest.extract.sentences import NOUN_PHRASE, head

PLAIN = 0.8
CLEAR = 0.85
EXPLICIT = 0.95
IMPLIED = 0.75
OPINION = 0.7
ADDRESSED = 0.6
HEDGED = 0.5
DANGLING = 0.4

_SELF = re.compile(r"\b(?:I|I'\w+|my|me|mine|we|we'\w+|our|us)\b", re.IGNORECASE)
_HEDGE = re.compile(
    r"\b(?:might|maybe|perhaps|possibly|probably|hopefully|not sure|unsure|(?:am|'m|been|are"
    r"|'re) considering|wondering"
    r"|seems?"
    r"|(?:thinking|thought) (?:of|about)"
    r"|(?:I|we) (?:\w+ )?(?:guess|suppose|bet|wonder|assume|may|should)|if (?:I|we) (?:had|could"
    r"|were|can)"
    r"|could (?:have|be))\b",
    re.IGNORECASE,
)
# What someone thinks or hopes is a fact of them, if a weaker one; so is what is softened.
_OPINION = re.compile(
    r"\b(?:I|we) (?:\w+ )?(?:think|believe|feel like|hope|wish)\b"
    r"|(?:\bI|\bam|'m|\bwas|\bare|'re) (?:kind|sort) of\b",
    re.IGNORECASE,
)
_EXPLICIT = re.compile(
    r"\b(?:remember that|please remember|note that|for the record|keep in mind)\b", re.IGNORECASE
)
# Words that may stand between "I" and what it does; those that may follow small talk.
_BETWEEN = (
    r"(?:(?:'ll|'d|'ve|\s(?:will|would|can|could|can't|do|don't|did|didn't|have|also|just"
    r"|really|totally|so"
    r"|completely|definitely|truly|always|should|must|never|only|do not|can not|\w+ly)))*\s"
)
_TO_THE_OTHER = (
    r"(?:\s*$|\s*,|\s(?:you|u|ya|your|that|it|this|what|how|why|if|so|the|them"
    r"|whatever|where|when)\b)"
)
_SMALL_TALK = re.compile(
    rf"""^(?:
      # how the speaker is, and what they feel for the other
      i(?:'m|\sam|\swas)\s(?:so\s|very\s|really\s|just\s|all\s|always\s|pretty\s|doing\s|quite\s|also\s)*
        (?: (?:sorry|glad|fine|ok|okay|good|great|well|alright|here|back|done|serious|kidding
          |joking|sure|not|too
            |curious|impressed|jealous|envious|listening|all\sears|thankful|grateful
              |honou?red) \s*(?:$|,|now$|here$|\stoday$)
          | (?:sorry|glad|sure|curious|thankful|grateful|happy|proud|excited|sad|afraid|impressed
            |here)\s(?:of\s|for\s|about\s|by\s|with\s)?
            (?:to\s(?:hear|help|chat|see|know|be\shere)|you|u|your|that\s(?:you|u|your|it|is)|if|so|it|this|not|how|what)
          | with\syou | wondering | asking | telling | not\ssure | sure )
    | i{_BETWEEN}(?:know|see|agree|understand|hear|bet|mean|guess|suppose|appreciate|admire
      |imagine|promise|believe|relate|thank|doubt
        |apologi[sz]e|wonder|feel|say|said|tell|ask|recommend|suggest|admit|recall|congratulate){_TO_THE_OTHER}
    | i{_BETWEEN}(?:get|got|try|check|look|give|help|love|like|let|keep|miss|support|read|take
      |remember|forgot|see)
        \s(?:you|u|that(?!\s(?:I|we|my|our)\s)|it|this|them)\b
    | i{_BETWEEN}(?:think|hope|wish)(?:\s*$|\s*,|\s(?:you|u|that|it|this|so|they|he|she|we\sare)\b)
    | (?:i|we)(?:'m|'re|'ll|'ve)?\s(?:\w+ly\s|also\s|just\s)?(?:do|am|have|will|would|can|could
      |did|was|are|don't|can't|won't|haven't
        |did\snot|do\snot|have\snot|agree|bet|wish|think|guess|know|see)(?:\s(?:not|now|so|that|it|both|sometimes))?$
    | i(?:'ve|\shave)\s(?:heard|seen|been\sthere|got\sto\ssay|never\sheard|no\sidea|a\squestion)\b
    | i(?:'d|\swould)\s(?:love\sto\s(?:hear|know|see)|like\sto\sknow|appreciate|suggest|recommend)\b
    | i(?:'d|\swould|\sam|'m)\s(?:\w+\s)?(?:love|like|appreciate|open\sto)\s(?:some\s|any\s
      |your\s|more\s|a\sfew\s)?(?:\w+\s)?
        (?:recommendations?|suggestions?|advice|tips|help|ideas|information|insights?)\b
    | (?:i|we)\s(?:can't|cannot|can\snot|could\snot|couldn't)\s(?:wait\s(?:to\s(?:hear|see|meet
      |try|check|tell)|until|till)|wait$|believe(?!\s(?:I|my|we)\b)|agree\smore|imagine|thank|tell|help\sbut)\b
    # what is said to the other
    | (?:let|tell|give|show|send|help|call|excuse|forgive|join|trust|explain|teach|remind|ask
      |count|keep|wish|pray|thank|thanks|hope|hit)
       \s(?:\w+\s)?(?:me|us|my|our)\b
    | (?:let's|lets|may|hope|good\sluck|thanks|thank|congrats|congratulations|have\sa|take\scare
      |welcome|nice\sto|great\sto|good\sto|glad|happy\sto
        |pleased)\b
    | what\sa\b | how\s\w+\s(?:is|are|of)\b
    | me\s(?:too|neither|either|as\swell)\b | my\s(?:pleasure|bad|god|goodness|apologies
      |condolences)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_CHATTER = re.compile(
    r"\bthank(?:s| you)\b|\b(?:sounds?|looks?) (?:like|great|good|fun|amazing|awesome|nice|so"
    r"|lovely)\b|^that reminds me"
    r"|\bnice (?:talking|chatting|meeting)\b|\bgood (?:luck|point|question)\b|\b(?:talk|chat"
    r"|see you|catch up) (?:soon|later|then|again)\b",
    re.IGNORECASE,
)
_YOU = re.compile(r"\b(?:you|your|yours|you'\w+|u|ur|ya|y'all)\b", re.IGNORECASE)

# A pronoun that stands for something else needs it in the same statement, before it.
_POINTING = re.compile(
    r"""\b(?: (?P<it>it|its|it's)\b (?!\s(?:(?:is|was|gets|can\sbe|feels|makes
      |helps)\s)?(?:(?:\w+ly|always|so|too|very|such|me)\s)*
            (?:rain\w*|snow\w*|when\b|\w+\s(?:to|that|when|for\sme|since|being|having|if)\b))
      | (?P<mine>mine|ours)\b
      | (?P<they>they|them|their|theirs|he|him|his|she|her|hers|he's|she's|they're|they've)\b
      | (?P<there>there) (?!\s(?:is|are|was|were|'s|will|has|have)\b)
      | (?P<that>that|this|these|those|that's|this's)
          (?= \s*(?:$|[,.;:!)]) | \s(?:is|was|are|were|has|had|will|would|can|could|makes?|made
            |too|as|for|in|on|at|with|and|but|so|one|ones|stuff
              |kind|sort|way|type|all|because|every|before|much|many|sometimes|when|since
                |to|from|by|of|day|time|thing|things|place|show|movie|book
              |song|song|game|year's|guy|person|weekend's|lol|too)\b )
      | (?P<one>one|ones) (?= \s*(?:$|[,.;!])|\sof\s(?:those|these|them)\b)
      | (?P<so>do|does|did|done|am|be)[ ](?:so|too|that|it|this|the[ ]same)(?=\s*(?:$|[,.;]))
      | (?P<ellipsis>(?<![^,\s]\s)(?:I|we)\s(?:do|am|have|did|would|can|could|will|don't|do[ ]not
        |can't))(?=\s*$)
        | (?<=[a-z]\s)(?P<open>(?:need|needs|want|have|like|love|used|try|tried|plan|going|able|hope
          |supposed|hate)\sto)(?=\s*$)
      | (?P<same>the[ ]same|both|neither|another)\s*$ )""",
    re.IGNORECASE | re.VERBOSE,
)
_DEICTIC_TIME = re.compile(
    r"\b(?:this|that|these|those)\s(?:week|month|year|morning|afternoon|evening|night|summer"
    r"|winter|spring|fall|weekend|time|days)\b",
    re.IGNORECASE,
)


def is_clause(statement: str) -> bool:
    """Whether a statement has a subject and a finite verb that English knows."""
    if _FRAGMENT.match(statement) or _WHOSE.search(statement):
        return False
    if _SUBORDINATOR.match(statement):
        return True
    words = [word for word in WORD.findall(statement) if not is_adverb(word)]
    if len(words) < 2 or _is_command(words):
        return False
    own = head(statement)
    if own is not None:
        return (
            own.form is not None
            or bool(own.auxiliary)
            or any(map(is_verb, WORD.findall(statement[own.end :])))
        )
    if told := re.search(r"\b(?:I|we)(?:'\w+)?\s", statement):
        return not _is_relative_clause(statement[: told.start()].strip(), statement[told.end() :])
    return any(
        "'" in two
        or two.lower() in _LINKING
        or forms(two) & {Form.THIRD, Form.PAST}
        or (
            two.lower() not in ("back", "even", "still", "well", "up", "down", "out", "right")
            and Form.BASE in forms(two)
            and (one.endswith("s") or one.lower() in _PLURALS or not can_be_noun(two))
        )
        for one, two in pairwise(words)
    )


def _is_relative_clause(before: str, after: str) -> bool:
    """Whether "I" and its verb only tell which thing is meant: "the ones I choose"."""
    words = WORD.findall(before)
    return (
        len(words) > 1
        and len(after.split()) < 3
        and words[-1].lower() not in _TIMES
        and NOUN_PHRASE.search(before) is not None
        and not any(
            "'" in word or word.lower() in _LINKING or Form.PAST in forms(word) for word in words
        )
    )


_TIMES = frozenset(
    "day days week month year time times morning night evening afternoon weekend summer winter "
    "spring fall once now yesterday today".split()
)


def _is_command(words: Sequence[str]) -> bool:
    first, second = words[0].lower(), words[1].lower()
    return Form.BASE in forms(first) and second in _AFTER_A_COMMAND


_AFTER_A_COMMAND = frozenset(
    "a an the my our your me us it them him her this that these those some all up out on in at "
    "to sure going what how".split()
)
_SUBORDINATOR = re.compile(
    r"(?:when|whenever|if|because|since|while|although|though|until|unless)\b", re.IGNORECASE
)
_WHOSE = re.compile(r"\bmine (?:is|are|was|were|has|have)\b", re.IGNORECASE)
_PLURALS = frozenset("people folks children kids parents family friends they".split())
_LINKING = frozenset("is are was were has have had can will would keep keeps".split())
# "When I am not driving": a subordinate clause whose main clause is missing.
_FRAGMENT = re.compile(
    r"(?:(?:almost|just|more|kinda|kind of)\slike\b|especially\s(?:when|if|since|because)\b"
    r"|when|whenever|if|because|cause|cuz|since|while|although|though|until|unless|whether"
    r"|who|which|that|as(?!\s(?:a|an)\b)|mine)\b"
    r"(?!.*(?:,|\b(?:I|we|it|my|he|she|they)\b.*\b(?:I|we|it|my|he|she|they)\b))",
    re.IGNORECASE,
)


def mentions_the_speaker(statement: str) -> bool:
    """Whether a statement has a word for the person who made it."""
    return _SELF.search(statement) is not None


def is_about_the_speaker(statement: str) -> bool:
    """Whether a statement says something of the person who made it, and isn't small talk."""
    words = len(statement.split())
    own = head(statement) if words == 2 else None  # "I paint" says something, "I went" doesn't
    if not (3 <= words <= 60 or (own and own.form is Form.BASE)) or not _SELF.search(statement):
        return False
    return not _SMALL_TALK.match(statement) and not _CHATTER.search(statement)


def dangles(statement: str) -> bool:
    """Whether a pronoun in `statement` has nothing before it that it could stand for."""
    for found in _POINTING.finditer(statement):
        if _DEICTIC_TIME.match(statement, found.start()):
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


def _is_relative(found: re.Match[str], before: str, statement: str) -> bool:
    """Whether a "that" goes on about the noun right before it: "a fish that is orange"."""
    words = ["", "", *WORD.findall(before)]
    return (
        found["that"].lower() == "that"
        and found.end() < len(statement)
        and names_a_thing(words[-1], words[-2])
        and not words[-1].endswith("ing")
    )


def _names_something(before: str) -> bool:
    """Whether a pronoun behind `before` has something in it to stand for."""
    own = head(before)
    if own and len(before.split()) > 3 and _JOINT.search(before):
        return True  # what was said as a whole: "I love to paint, it relaxes me"
    words = WORD.findall(before[own.end :] if own else before)
    return any(
        names_a_thing(word, preceding)
        for preceding, word in pairwise(["", *words])
        if preceding != "to" and not word.endswith("ing")
    )


def continues(statement: str) -> bool:
    """Whether a statement goes on about what was just named, and is worth it."""
    return (
        3 <= len(statement.split()) <= 25
        and bool(_SELF.search(statement) or _PERSON.match(statement))
        and dangles(statement)
        and is_clause(statement)
        and not is_hedged(statement)
        and not _CHATTER.search(statement)
    )


_PERSON = re.compile(r"(?:he|she|they)\b", re.IGNORECASE)


def answered_to(statement: str, listener: str) -> str:
    """`statement` with its "you" named, where it is no request to whoever that is."""
    if not _OWN_SUBJECT.match(statement) or _REQUEST.search(statement):
        return statement
    return _YOU_ALONE.sub(
        lambda found: f"{listener}'s" if found[0].lower().startswith("your") else listener,
        statement,
    )


_OWN_SUBJECT = re.compile(r"(?:I|we|my|our)\b", re.IGNORECASE)
_REQUEST = re.compile(
    r"\b(?:want|need|like|love|expect|wish|ask|asking|prefer|hope) (?:for )?you\b|\byou (?:to"
    r"|can|could|should|will|would|are|know|have|want|do|think)\b"
    r"|\b(?:give|send|show|tell|ask|paste|provide|help|let|thank|love|see|meet|with|for) you\b"
    r"|\byou(?:'|rs)",
    re.IGNORECASE,
)
_YOU_ALONE = re.compile(r"\byou(?:r)?\b", re.IGNORECASE)


def is_hedged(statement: str) -> bool:
    """Whether whoever made the statement left it open, or addressed it to someone."""
    return bool(_HEDGE.search(statement) or _YOU.search(statement) or _SMALL_TALK.match(statement))


_PLACE = re.compile(
    r"\b(?:a|the|my|our)\s(?:\w+\s)?(?:house|home|city|town|village|country|beach|park|school"
    r"|office|shop|store|farm|gym"
    r"|apartment|restaurant|church|college|university|library|place)\b|\b(?:in|at|to|from"
    r"|near|on|visit\w*|around)\s+(?!the\s+way|it\b)\w+",
    re.IGNORECASE,
)
_JOINT = re.compile(r"(?:[,;]|\b(?:and|but|so|because|since))\s*$")


def confidence(statement: str, sentence: str, *, clear: bool) -> float:
    """How firmly a statement was made, 0 to 1; `clear` if its wording shows its category."""
    if dangles(statement):
        return DANGLING
    if _HEDGE.search(statement):
        return HEDGED
    if _YOU.search(statement):
        return ADDRESSED
    if _EXPLICIT.search(sentence):
        return EXPLICIT
    if _OPINION.search(statement):
        return OPINION
    return CLEAR if clear else PLAIN
