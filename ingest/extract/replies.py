"""Read answers that say something only together with their question.

"What do you do for a living?" "Nurse."         ->  "I work as a nurse"
"Do you have any pets?" "Yes, two cats."        ->  "I have two cats"
"Where did you grow up?" "In Oslo."             ->  "I grew up in Oslo"
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semantic_memory.domain.english.articles import indefinite
from semantic_memory.domain.english.calendar import SMALL_NUMBER
from semantic_memory.domain.english.notation import any_of, phrase
from semantic_memory.domain.english.tables import phrases, rows, split, words
from semantic_memory.domain.english.words import (
    WORD,
    Form,
    can_be_noun,
    forms,
    is_verb,
    is_word,
)
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS

_LONGEST = 12
"""Words of an answer that leans on its question; a longer one is a sentence by itself."""

_MOST_ASKED = 200
_LAST_QUESTION = regex(r"(?P<question>[^.?!\n]{6,160})\?[\s\"')\]*_]*$")
_FIRST_END = regex(r"[.!?\n]+(?:\s|$)")
_LEADING = regex(rf"^(?:.*[,;:]\s*)?(?:{phrases('replies.leading')}\b[\s,]*)*", re.IGNORECASE)
_YES = regex(
    rf"^{phrases('replies.yes')}\b(?:[\s,]+{phrases('replies.behind_yes')})*[\s,.!:-]*", re.I
)
_YES_BEFORE = regex(rf"^{phrases('replies.yes_before_answer')}\b[\s,.!:-]*", re.IGNORECASE)
_NO = regex(
    rf"^{phrases('replies.no')}\b(?:[\s,]+{phrases('replies.behind_no')})*[\s,.!:-]*$", re.I
)
_FILLER = regex(rf"^(?:{phrases('replies.fillers')}\b[\s,.!:-]*)+", re.IGNORECASE)
# "No, I eat fish now": an answer with a sentence behind it
_YES_OR_NO_FIRST = regex(
    rf"^(?P<said>(?:{phrases('replies.yes', 'replies.no')}))[\s,;]+"
    r"(?=(?:I|we|my|he|she|they|it)\b)",
    re.IGNORECASE,
)
_UNSURE = regex(rf"\b(?:{phrases('replies.unsure')}|one$)\b", re.IGNORECASE)
_POINTS_AWAY = regex(rf"\b(?:{phrases('replies.points_away')}|favou?rites?$)\b", re.IGNORECASE)
_OWN = regex(r"(?:I|I'\w+|my|we|no|not)\b", re.IGNORECASE)
_POLAR = regex(
    rf"(?P<asked>do|are|have|can|did) you "
    rf"(?P<rest>(?!{phrases('replies.no_polar_question')})[\w' -]{{3,80}})$",
    re.IGNORECASE,
)
_PLACE = regex(rf"^{phrases('replies.places')}\b", re.IGNORECASE)
_NO_ARTICLE = words("replies.no_article")
_FINITE = words("replies.finite")

_NUMBER = rf"^(?:\d+|{SMALL_NUMBER})\b"
_COUNTED = regex(_NUMBER, re.IGNORECASE)
_ANSWERS = {
    "number": regex(rf"{_NUMBER}$", re.IGNORECASE),
    "age": regex(r"^\d{1,3}\b"),
    "thing": regex(rf"{_NUMBER}\s+\w|^an?\b", re.IGNORECASE),
}


class _Form(NamedTuple):
    """A kind of question, and the statement that an answer makes of it."""

    question: re.Pattern[str]
    statement: str
    answer: re.Pattern[str] | None = None


def _form(question: str, statement: str, answer: str = "", verbs: str = "") -> _Form:
    thing = r"[\w' -]{2,40}"
    slots = {"what": thing, "thing": thing, "verb": "|".join(split(verbs)) or "[a-z]+"}
    asked = any_of(*(phrase(one, **slots) for one in split(question)))
    return _Form(regex(f"{asked}$", re.IGNORECASE), statement, _ANSWERS.get(answer))


_FORMS = tuple(_form(**form) for form in rows("replies.forms"))


def last_question(text: str) -> str | None:
    """Return the question that ends `text`, without what leads to it; None if it asks nothing."""
    if "?" not in text[-4:]:
        return None
    found = _LAST_QUESTION.search(text[-_MOST_ASKED:].replace("’", "'"))
    return _LEADING.sub("", found["question"]).strip() if found else None


def answered(question: str, reply: str) -> tuple[str, str] | None:
    """Return what `reply` states as an answer to `question`, and its rest; None if it is none.

    A statement in the first person: "What's your favorite color?" "Blue" gives "my favorite color
    is blue". `reply` is looked at up to the end of its first sentence.
    """
    if agreed := _YES_OR_NO_FIRST.match(reply):
        said = agreed["said"].strip(" ,;")
        if stated := _yes_or_no(question, said):
            return stated, reply[agreed.end() :]
    cut = _FIRST_END.search(reply)
    first, rest = (reply[: cut.start()], reply[cut.end() :]) if cut else (reply, "")
    stated = _fragment(question, first) or _yes_or_no(question, first)
    return (stated, rest) if stated else None


def _fragment(question: str, reply: str) -> str | None:
    answer = _YES_BEFORE.sub("", _FILLER.sub("", reply.strip())).strip(" ,;:.")
    if not _is_fragment(answer):
        return None
    for form in _FORMS:
        asked = form.question.match(question)
        if asked is None or (form.answer and not form.answer.match(answer)):
            continue
        slots = asked.groupdict()
        if not _POINTS_AWAY.search(slots.get("what", "")):
            return _stated(form, slots, answer)
    return None


def _stated(form: _Form, slots: dict[str, str], answer: str) -> str:
    what = slots.get("what", "")
    is_plural = what.lower().endswith("s") and not what.lower().endswith("ss")
    # "Nurse" begins a message with its capital; a name has it anywhere.
    is_job = form.statement.startswith("I work") and is_word(WORD.findall(answer)[0])
    return form.statement.format(
        answer=answer[:1].lower() + answer[1:] if is_job else answer,
        what=what,
        verb=slots.get("verb", ""),
        a=_article(answer),
        at="" if _PLACE.match(answer) else "in ",
        be="are" if is_plural else "is",
    )


def _is_fragment(answer: str) -> bool:
    spoken = WORD.findall(answer)
    return (
        0 < len(spoken) <= _LONGEST
        and not _UNSURE.search(answer)
        and not _OWN.match(answer)
        and not any("'" in word or _is_finite(word) for word in spoken)
    )


def _is_finite(word: str) -> bool:
    lowered = word.lower()
    if lowered in _FINITE:
        return True
    return bool(forms(lowered) & {Form.THIRD, Form.PAST}) and not can_be_noun(lowered)


def _yes_or_no(question: str, reply: str) -> str | None:
    asked = _POLAR.match(question)
    if asked is None or _POINTS_AWAY.search(asked["rest"]):
        return None
    yes = _YES.fullmatch(reply.strip()) is not None
    if yes == (_NO.match(reply.strip()) is not None):
        return None
    asked_of = re.sub(r"^(?:ever|still|also)\s+", "", asked["rest"])
    rest = re.sub(r"\byour\b", "my", asked_of, flags=re.IGNORECASE)
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
    """Return the article that an answer lacks, with a space, or nothing."""
    spoken = WORD.findall(answer.lower())
    if not spoken or spoken[0] in STOP_WORDS or spoken[0] in _NO_ARTICLE:
        return ""
    if spoken[0].isdigit() or _COUNTED.match(answer) or spoken[-1].endswith("s"):
        return ""
    return f"{indefinite(spoken[0])} "
