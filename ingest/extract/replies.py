"""Answers that say something only together with their question.

"What do you do for a living?" "Nurse."         ->  "I work as a nurse"
"Do you have any pets?" "Yes, two cats."        ->  "I have two cats"
"Where did you grow up?" "In Oslo."             ->  "I grew up in Oslo"
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ingest.extract.lexicon import WORD, Form, can_be_noun, forms, is_verb, is_word
from semantic_memory.domain.text import STOP_WORDS

_LONGEST = 12
"""Words of an answer that leans on its question; a longer one is a sentence by itself."""

_MOST_ASKED = 200
_LAST_QUESTION = re.compile(r"(?P<question>[^.?!\n]{6,160})\?[\s\"')\]*_]*$")
_LEADING = re.compile(
    r"^(?:.*[,;:]\s*)?(?:(?:so|and|but|well|okay|ok|great|nice|cool|by the way|btw"
    r"|out of curiosity|may I ask|can I ask)\b[\s,]*)*",
    re.IGNORECASE,
)
_YES = re.compile(
    r"^(?:yes|yeah|yep|yup|yea|sure|absolutely|definitely|of course|i (?:do|am|have|did"
    r"|can))\b(?:[\s,]+(?:i (?:do|am|have|did|can)|very much|a lot|indeed"
    r"|actually))*[\s,.!:-]*",
    re.IGNORECASE,
)
_YES_ALONE = re.compile(r"^(?:yes|yeah|yep|yup|yea|sure)\b[\s,.!:-]*", re.IGNORECASE)
_NO = re.compile(
    r"^(?:no|nope|nah|not really|i (?:don't|do not|am not|haven't|have not|didn't|can't)"
    r"|i'm not)\b(?:[\s,]+(?:i (?:don't|do not|am not|haven't|didn't|can't)|i'm not"
    r"|not really|never|sorry|at all|anymore))*[\s,.!:-]*$",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"^(?:(?:oh|well|um+|uh+|hmm+|haha|lol|hi|hey|hello|just|mostly|mainly|actually|it's"
    r"|it is|that's|that would be|probably)\b[\s,.!:-]*)+",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:maybe|perhaps|not sure|don't know|dunno|no idea|guess|probably|might|depends"
    r"|nothing|none|one$|you|your|why|what|that|this|it|they|them|both|either|neither|same"
    r"|good|fine|great|well|okay|ok|thanks?)\b",
    re.IGNORECASE,
)

_POINTS_AWAY = re.compile(
    r"\b(?:you|that|this|it|they|them|those|these|too|or|what|how|where|who|thoughts?"
    r"|opinions?|ideas?|tips?"
    r"|advice|plans?|questions?|suggestions?|recommendations?|pictures?|photos?|time|take"
    r"|favou?rites?$)\b",
    re.IGNORECASE,
)


class _Form(NamedTuple):
    """A kind of question: what it looks like, and the statement that an answer makes of it."""

    question: re.Pattern[str]
    statement: str
    answer: re.Pattern[str] | None = None


def _form(question: str, statement: str, answer: str | None = None) -> _Form:
    return _Form(
        re.compile(rf"(?:{question})$", re.IGNORECASE),
        statement,
        re.compile(answer, re.IGNORECASE) if answer else None,
    )


_NUMBER = r"^(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)\b"
_FORMS = (
    _form(r"what(?:'s| is) your (?:first |full )?name|who are you", "my name is {answer}"),
    _form(r"how old are you", "I am {answer}", r"^\d{1,3}\b"),
    _form(
        r"what do you do(?: for (?:a living|work))?|what(?:'s| is) your (?:job|profession"
        r"|occupation)",
        "I work as {a}{answer}",
    ),
    _form(r"where are you from", "I am from {answer}"),
    _form(
        r"how many (?P<what>[\w ]{2,30}) do you have", "I have {answer} {what}", _NUMBER + r"$"
    ),
    _form(r"do you have (?:any |an? )?[\w ]{2,40}", "I have {a}{answer}", _NUMBER + r"|^an?\b"),
    _form(
        r"(?:what|which|who|when)(?:'s| is| are) your (?P<what>[\w' -]{2,40})",
        "my {what} {be} {answer}",
    ),
    _form(
        r"where do you (?P<verb>live|work|study|teach|play)(?: now| these days)?",
        "I {verb} {at}{answer}",
    ),
    _form(r"where (?:did|were) you (?:grow up|born|raised)", "I grew up {at}{answer}"),
    _form(
        r"what (?:kind|type|sort)s? of (?P<what>[\w ]{2,30}) do you (?P<verb>[a-z]+)(?: most"
        r"| best)?", "I {verb} {answer} ({what})"),
    _form(
        r"(?:what|which)(?: [\w]+){0,2} do you (?P<verb>study|teach|play|drive|speak|use|prefer"
        r"|collect|write|sell)", "I {verb} {answer}"),
)  # fmt: skip
_POLAR = re.compile(
    r"(?P<asked>do|are|have|can|did) you (?P<rest>(?!think|know|mean|want me|remember|need me"
    r"|agree|sure|ok|okay|ready|there|feel|believe|say|see|hear|wonder|mind"
    r"|guess)[\w' -]{3,80})$",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"^(?:in|at|near|from|on|by|for|outside|around|close|just|downtown|here)\b", re.IGNORECASE
)


def last_question(text: str) -> str | None:
    """The question with which `text` ends, without what leads to it; None if it asks nothing."""
    if "?" not in text[-4:]:
        return None
    found = _LAST_QUESTION.search(text[-_MOST_ASKED:].replace("’", "'"))
    return _LEADING.sub("", found["question"]).strip() if found else None


def answered(question: str, reply: str) -> tuple[str, str] | None:
    """What `reply` states as an answer to `question`, and the rest of it; None if it is none.

    A statement in the first person: "What's your favorite color?" "Blue" gives "my favorite color
    is blue". `reply` is looked at up to the end of its first sentence.
    """
    cut = re.search(r"[.!?\n]+(?:\s|$)", reply)
    first, rest = (reply[: cut.start()], reply[cut.end() :]) if cut else (reply, "")
    stated = _fragment(question, first) or _yes_or_no(question, first)
    return (stated, rest) if stated else None


def _fragment(question: str, answer: str) -> str | None:
    answer = _YES_ALONE.sub("", _FILLER.sub("", answer.strip())).strip(" ,;:.")
    if not _is_fragment(answer):
        return None
    for form in _FORMS:
        found = form.question.match(question)
        if (
            found is None
            or _POINTS_AWAY.search(found.groupdict().get("what") or "")
            or (form.answer and not form.answer.match(answer))
        ):
            continue
        parts = found.groupdict()
        what = parts.get("what") or ""
        plural = what.lower().endswith("s") and not what.lower().endswith("ss")
        # "Nurse" begins a message with its capital; a name has it anywhere.
        spelt = (
            answer[:1].lower() + answer[1:]
            if is_word(WORD.findall(answer)[0]) and form.statement.startswith("I work")
            else answer
        )
        return form.statement.format(
            answer=spelt,
            what=what,
            verb=parts.get("verb", ""),
            a=_article(answer),
            at="" if _PLACE.match(answer) else "in ",
            be="are" if plural else "is",
        )
    return None


def _is_fragment(answer: str) -> bool:
    words = WORD.findall(answer)
    return (
        0 < len(words) <= _LONGEST
        and not _UNSURE.search(answer)
        and not re.match(r"(?:I|I'\w+|my|we|no|not)\b", answer, re.IGNORECASE)
        and not any("'" in word or _is_finite(word) for word in words)
    )


def _is_finite(word: str) -> bool:
    lowered = word.lower()
    if lowered in ("is", "are", "was", "were", "have", "has", "do", "does", "did", "can", "will"):
        return True
    return bool(forms(lowered) & {Form.THIRD, Form.PAST}) and not can_be_noun(lowered)


def _yes_or_no(question: str, reply: str) -> str | None:
    asked = _POLAR.match(question)
    if asked is None or _POINTS_AWAY.search(asked["rest"]):
        return None
    yes = _YES.fullmatch(reply.strip()) is not None
    if yes == (_NO.match(reply.strip()) is not None):
        return None
    rest = re.sub(r"\byour\b", "my", re.sub(r"^ever\s+", "", asked["rest"]), flags=re.IGNORECASE)
    match asked["asked"].lower():
        case "do":
            if not is_verb(rest.split()[0]):
                return None
            if yes:
                return f"I {re.sub(r'(?:^|(?<= ))any ', '', rest)}"
            return f"I don't {re.sub(r'(?<= )some(?= )', 'any', rest)}"
        case "are":
            return f"I am {'' if yes else 'not '}{rest}"
        case "can":
            return f"I {'can' if yes else 'cannot'} {rest}"
        case "have":
            if Form.PAST not in forms(rest.split()[0]):
                return None
            return f"I have {'' if yes else 'never '}{rest}"
        case _:
            return None


def _article(answer: str) -> str:
    words = WORD.findall(answer.lower())
    if not words or words[0] in STOP_WORDS or words[0].isdigit() or re.match(_NUMBER, answer):
        return ""
    if words[0] in ("my", "some", "self", "freelance") or words[-1].endswith("s"):
        return ""
    return "an " if words[0][0] in "aeio" else "a "
