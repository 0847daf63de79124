"""Read answers to questions about others and about things, and answers that only qualify.

"Who approves expenses?" "Gerrit does."            ->  "Gerrit approves expenses"
"Is the cluster in Oslo or in Rome?" "Rome."        ->  "the cluster is in Rome"
"Do you drive?" "Only automatics."                  ->  "I drive only automatics"
"Is your partner vegan too?" "Yes, Noor is."        ->  "my partner is vegan", "Noor ..."

Answers that fit no form, but name something, are kept with their question as it was asked.
"""

from __future__ import annotations

import re

from semantic_memory.domain.english.calendar import SMALL_NUMBER
from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.predications import has_number, has_time, is_name
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import (
    WORD,
    Form,
    forms,
    is_verb,
    is_word,
)
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS

_LONGEST = 10
_ME = {"your": "my", "you": "I", "yours": "mine", "yourself": "myself"}
_YES = regex(rf"^(?:{phrases('replies.yes', 'exchanges.yes')}\b[\s,.!]*)+", re.IGNORECASE)
_NO = regex(rf"^(?:{phrases('replies.no', 'exchanges.no')}\b[\s,.!]*)+", re.IGNORECASE)
_BE = r"(?P<be>is|are|was|were)"
_THEIRS = r"(?P<who>(?:your|the|our)\s(?:[\w'-]+\s){0,3}?[\w'-]+)"
_WHO = regex(r"^who (?P<rest>(?:[a-z]+s|is|does|did|\w+ed)\b .{2,80})$", re.IGNORECASE)
_OR = regex(rf"^{_BE} {_THEIRS} (?P<one>\S+(?: \S+)?) or (?P<other>.{{2,40}})$", re.I)
_IS_X = regex(
    rf"^{_BE} {_THEIRS} (?P<what>[\w' -]{{2,50}}?)(?: too| as well| either| yet| already| still)?$",
    re.I,
)
_DOES_X = regex(r"^(?:does|do|did|can|will|has|have) (?P<who>(?:your|the) [\w' -]{2,60})$", re.I)
_WHICH = regex(
    r"^(?:which|what)(?: [\w-]+){0,3}? (?P<aux>should|can|must|will|does|do|did|is|are) "
    r"(?P<who>(?:the|your|our) (?:[\w'-]+ ){0,3}?[\w'-]+)(?: (?P<verb>[a-z]+))?(?P<rest> .+)?$",
    re.IGNORECASE,
)
_WHERE_WHEN = regex(
    r"^(?P<how>where|when|how old|how much|how long|how often|what time|how many \w+) "
    r"(?P<aux>is|are|was|were|does|do|did|will|should|can|must) "
    r"(?P<who>(?:the|your|our) (?:[\w'-]+ ){0,4}?[\w'-]+)(?: (?P<verb>[a-z]+))?$",
    re.IGNORECASE,
)
_DO_YOU = regex(r"^do you (?:still |ever |usually )?(?P<rest>[\w' -]{3,60})$", re.IGNORECASE)
_LIKE_ME_TO = regex(
    r"^(?:would you like me to|do you want me to|should I|shall I) (?P<rest>.{4,90})$",
    re.IGNORECASE,
)
_ANY = regex(rf"^(?:do you have )?any (?P<what>{phrases('exchanges.asked_any')})\b", re.IGNORECASE)
_QUALIFIES = regex(rf"^(?P<how>{phrases('exchanges.qualifying')})\b", re.IGNORECASE)
_FOR = regex(r"^(?:for|in|on|at|with|since|when|except|but)\b.{3,50}$", re.IGNORECASE)
_NOT_SINCE = regex(rf"^{any_of('not', 'never', 'no longer')}\b.*", re.IGNORECASE)
_NOT_UNTIL = regex(r"^not (?P<when>(?:until|till|before) .{2,40})$", re.IGNORECASE)
_OF_NOW = regex(rf"{phrases('exchanges.of_now')}\b", re.IGNORECASE)
_POINTS_AWAY = regex(rf"\b{phrases('exchanges.points_away')}\b", re.IGNORECASE)
_UNSURE = regex(rf"\b{phrases('replies.unsure')}\b", re.IGNORECASE)
_FILLER = regex(rf"^(?:{phrases('replies.fillers')}\b[\s,]*)+", re.IGNORECASE)
_HAVE_ANY = regex(r"^do you have (?:any )?(?P<what>[a-z]+s|children)$", re.IGNORECASE)
_COUNT = regex(rf"^(?P<count>\d+|{SMALL_NUMBER}|none)(?P<rest>,.{{2,40}})?$", re.IGNORECASE)
_EITHER = regex(
    r"^do you (?P<verb>prefer|like|want|use|drink|eat|drive|take|wear|play) .+ or .+$",
    re.IGNORECASE,
)
_SHOULD_I = regex(
    r"^(?:should|shall) I (?P<verb>[a-z]+) .+ or .+$"
    r"|^(?:which|what) [\w ]{2,30} (?:should|shall) I (?P<ask>[a-z]+)"
    r"(?P<prep> in| with| for| to| on)?$",
    re.IGNORECASE,
)
_WHAT_IS = regex(r"^(?:what|when|where|who|which)(?:'s| is| are) (?P<who>the [\w' -]{2,60})$", re.I)
_DOES_THEIR = regex(
    r"^does (?P<who>your [\w-]+) (?P<verb>[a-z]+)(?P<rest> [\w' -]{2,40})?$", re.IGNORECASE
)
_HOW_MANY = regex(
    r"^how many (?P<what>[\w -]{2,30}) (?P<be>are|were) (?:there )?"
    r"(?P<where>(?:on|in|at) .{2,40})$",
    re.I,
)
_DOES = regex(
    r"^(?P<who>[^\W\d_][\w'-]*(?: [A-Z][\w'-]*)?) (?:does|is|did|was|has|can|will)$", re.I
)
_CALL_YOU = regex(
    r"^what (?:should|shall|can|may|do) (?:I|we|people|your friends) call you$", re.IGNORECASE
)
_STILL = regex(rf"^{_BE} {_THEIRS} still (?P<what>[\w'./ -]{{1,50}})$", re.IGNORECASE)
_TWO = regex(
    r"^(?:(?:would|do|did) you (?:rather |prefer |like |want |use )*|(?:should|shall) I use )?"
    r"(?P<one>[\w+#'-]+(?: [\w+#'-]+){0,2}) or (?P<other>[\w+#'-]+(?: [\w+#'-]+){0,2})$",
    re.IGNORECASE,
)
_BUT = regex(r"^[\s,.!-]*(?:but |it's |they're |now |rather )*", re.IGNORECASE)
_PLEASE = regex(r"[\s,]+(?:please|pls)$", re.IGNORECASE)
_ASKS_YOU = regex(rf"^(?=.*\byour?\b){phrases('exchanges.asking')}\b", re.IGNORECASE)
_POINTS_BACK = regex(rf"\b{phrases('exchanges.points_back')}\b", re.IGNORECASE)
_DEGREE = regex(rf"^{phrases('exchanges.degrees')}\b", re.IGNORECASE)
_PERSONAL = regex(r"\b(?:you|your)\b", re.IGNORECASE)
_NO_ANSWER = words("predications.no_subject")
_ORDINARY = words("replies.finite")


def exchanged(question: str, reply: str) -> list[str]:
    """Return what a short reply states with its question, in the first person; empty if nothing.

    >>> exchanged("Who approves expenses on your team", "Gerrit does")
    ['Gerrit approves expenses on my team']
    >>> exchanged("Do you drive", "Only automatics"), exchanged("Do you smoke", "Not since 2019")
    (['I drive only automatics'], ["I don't smoke, not since 2019"])
    >>> exchanged("Is the cluster in Oslo or in Rome", "Rome")
    ['the cluster is in Rome']
    """
    answer = reply.strip(" .!,")
    spoken = WORD.findall(answer)
    if not spoken or len(spoken) > _LONGEST:
        return []
    said_yes, said_no = _YES.match(answer), _NO.match(answer)
    rest = answer[said_yes.end() :] if said_yes else answer
    if chosen := _chosen_of_two(question, answer):
        return chosen
    if asked := _LIKE_ME_TO.match(question):
        wanted = said_yes and len(WORD.findall(rest)) < 3 and not _OF_NOW.match(asked["rest"])
        return [_wanted(asked["rest"])] if wanted else []
    if asked := _ANY.match(question):
        named = _FILLER.sub("", rest.strip(" .,!"))
        known = named and not said_no and not _UNSURE.search(named)
        return [f"my {asked['what'].lower()}: {named}"] if known else []
    if _CALL_YOU.match(question) and _is_phrase(spoken):
        return [f"I want to be called {_FILLER.sub('', answer)}"]
    if _POINTS_AWAY.search(question):
        return []
    return (
        _corrected(question, answer, rest)
        or _asked_of_assistant(question, answer)
        or _about_you(question, answer, rest)
        or _about_others(question, answer, spoken)
    )


def _corrected(question: str, answer: str, rest: str) -> list[str]:
    """Return what is so instead: "Is the deadline still Friday?" "No, Monday."."""
    asked, said_no = _STILL.match(question), _NO.match(answer)
    if asked is None:
        return []
    who, be = from_the_other_side(asked["who"]), asked["be"].lower()
    if said_no is None:
        said_yes = rest != answer and not rest.strip(" ,.!")
        return [f"{who} {be} still {asked['what']}"] if said_yes else []
    instead = _FILLER.sub("", _BUT.sub("", answer[said_no.end() :]))
    if not instead:
        return [f"{who} {be} no longer {asked['what']}"]
    return [f"{who} {be} now {_lowered(instead)}"] if _is_phrase(WORD.findall(instead)) else []


def _chosen_of_two(question: str, answer: str) -> list[str]:
    """Return which of two things is preferred: "Tabs or spaces?" "Tabs."."""
    asked = _TWO.match(question)
    if asked is None:
        return []
    wanted = _FILLER.sub("", _PLEASE.sub("", answer))
    offered = {word.lower() for word in WORD.findall(f"{asked['one']} {asked['other']}")}
    spoken = [word.lower() for word in WORD.findall(wanted)]
    if not offered & {*spoken} or len(spoken) > 5 or spoken[0] in _NO_ANSWER:
        return []
    kind = asked["other"].split()[-1]
    named = len(asked["other"].split()) > 1 and len(spoken) == 1 and spoken[0] != kind.lower()
    return [f"I prefer {_lowered(wanted)}{f' {kind}' if named else ''}"]


def quoted(question: str, reply: str) -> list[str]:
    """Return an answer that fits no form with its question, if both name something.

    >>> quoted("Which database are you on", "still MySQL 5.7 sadly")
    ['asked "Which database are you on?", I answered "still MySQL 5.7 sadly"']
    >>> quoted("Which file do you mean", "the second")
    []
    """
    answer = _NO.sub("", _YES.sub("", reply.strip(" .!,")))
    if _POINTS_AWAY.search(question):
        return []
    told = _FILLER.sub("", answer.strip(" .,!"))
    spoken = WORD.findall(told)
    if not spoken or _ASKS_YOU.match(question) is None or _UNSURE.search(told):
        return []
    if len(spoken) > _LONGEST or not _is_phrase(spoken) or _POINTS_BACK.search(told):
        return []
    if not {word.lower() for word in spoken} - STOP_WORDS:
        return []
    return [f'asked "{question}?", I answered "{reply.strip(" .!,")}"']


def _about_you(question: str, answer: str, rest: str) -> list[str]:
    if (asked := _HAVE_ANY.match(question)) and (count := _COUNT.match(answer)):
        number = "no" if count["count"].lower() == "none" else count["count"].lower()
        return [f"I have {number} {asked['what']}{count['rest'] or ''}"]
    if (asked := _EITHER.match(question)) and _is_phrase(WORD.findall(answer)):
        return [f"I {asked['verb']} {_lowered(answer)}"]
    if (asked := _DO_YOU.match(question)) and is_verb(asked["rest"].split()[0]):
        return _qualified(from_the_other_side(asked["rest"]), answer, rest)
    return []


def _asked_of_assistant(question: str, answer: str) -> list[str]:
    """Return what the assistant is told to do: "Which language should I answer in?" "German"."""
    asked = _SHOULD_I.match(question)
    wanted = re.sub(r"[\s,]+please$", "", answer, flags=re.IGNORECASE)
    if asked is None or not _is_phrase(WORD.findall(wanted)):
        return []
    verb = asked["verb"] or f"{asked['ask']}{asked['prep'] or ''}"
    return [f"I want the assistant to {verb} {_lowered(wanted)}"]


def _about_others(question: str, answer: str, spoken: list[str]) -> list[str]:
    said_yes, said_no = _YES.match(answer), _NO.match(answer)
    rest = answer[said_yes.end() :] if said_yes else answer
    if _UNSURE.search(rest) and not _DOES.match(rest):
        return []
    if asked := _OR.match(question):
        return [_chosen(asked, answer)] if _is_phrase(spoken) else []
    if asked := _IS_X.match(question):
        return _is_so(asked, rest, yes=said_yes is not None, no=said_no is not None)
    if (asked := _DOES_THEIR.match(question)) and (said_yes or said_no):
        who, verb = from_the_other_side(asked["who"]), asked["verb"]
        told = f"{verb}s" if said_yes else f"doesn't {verb}"
        return [f"{who} {told}{asked['rest'] or ''}"]
    if (asked := _WHAT_IS.match(question)) and _is_phrase(spoken):
        return [f"{from_the_other_side(asked['who'])} is {_lowered(answer)}"]
    if asked := _WHO.match(question):
        does = _DOES.match(answer)
        who = does["who"] if does else answer
        is_name_like = does or is_name(who.split()[0]) or who.lower().startswith(("my ", "the "))
        return (
            [f"{who} {from_the_other_side(asked['rest'])}"]
            if is_name_like and len(who.split()) < 4
            else []
        )
    if (asked := _HOW_MANY.match(question)) and has_number(answer):
        where = from_the_other_side(asked["where"])
        return [f"there {asked['be'].lower()} {_lowered(answer)} {asked['what']} {where}"]
    if (asked := _WHICH.match(question)) and _is_phrase(spoken):
        return _asked_for(asked, answer)
    if (asked := _WHERE_WHEN.match(question)) and _is_phrase(spoken):
        return _placed(asked, answer)
    return []


def _wanted(rest: str) -> str:
    return f"I want the assistant to {from_the_other_side(rest)}"


def _qualified(what: str, answer: str, rest: str) -> list[str]:
    if _QUALIFIES.match(rest) and rest[:1]:
        return [f"I {what} {rest[:1].lower()}{rest[1:]}"]
    if _DEGREE.match(answer):
        return [f"I {what}, {_lowered(answer)}"]
    if rest != answer and _FOR.match(rest):
        return [f"I {what}, {rest}"]
    if _NOT_SINCE.match(answer) and (has_time(answer) or has_number(answer)):
        return [f"I don't {what}, {answer[:1].lower()}{answer[1:]}"]
    return []


def _chosen(asked: re.Match[str], answer: str) -> str:
    one, other = asked["one"], asked["other"]
    before = one.split()[0] if len(one.split()) > 1 else ""
    has_own = answer.lower().startswith(before.lower() + " ") if before else True
    place = "" if has_own or answer.lower().startswith(("in ", "on ", "at ")) else f"{before} "
    del other
    return f"{from_the_other_side(asked['who'])} {asked['be'].lower()} {place}{answer}"


def _is_so(asked: re.Match[str], rest: str, *, yes: bool, no: bool) -> list[str]:
    who, what, be = (
        from_the_other_side(asked["who"]),
        from_the_other_side(asked["what"]),
        asked["be"].lower(),
    )
    if yes and (does := _DOES.match(rest.strip(" .!"))):
        name = does["who"]
        if name.lower() in ("he", "she", "it", "they"):
            return [f"{who} {be} {what}"]
        return [f"{who} {name} {be} {what}"]
    if yes and not rest.strip(" .!"):
        return [f"{who} {be} {what}"]
    if until := _NOT_UNTIL.match(rest):
        return [f"{who} {be} not {what} {until['when']}"]
    if no and len(rest.split()) < 3:
        return [f"{who} {be} not {what}"]
    return []


def _asked_for(asked: re.Match[str], answer: str) -> list[str]:
    who, verb, aux = from_the_other_side(asked["who"]), asked["verb"] or "", asked["aux"].lower()
    rest = from_the_other_side(asked["rest"] or "")
    if aux in ("is", "are"):
        return [f"{who} {aux} {verb} {answer}{rest}".replace("  ", " ")] if not verb else []
    if Form.BASE not in forms(verb):
        return []
    auxiliary = "" if aux in ("do", "does", "did") else f"{aux} "
    if not auxiliary and aux == "does":
        verb = f"{verb}s"
    if aux == "did":
        return []
    return [f"{who} {auxiliary}{verb} {answer}{rest}"]


def _placed(asked: re.Match[str], answer: str) -> list[str]:
    who, verb, aux = from_the_other_side(asked["who"]), asked["verb"] or "", asked["aux"].lower()
    if not verb and aux in ("is", "are", "was", "were", "will"):
        return [f"{who} {aux} {_lowered(answer)}"]
    if aux in ("should", "can", "must") and Form.BASE in forms(verb):
        return [f"{who} {aux} {verb} {_lowered(answer)}"]
    if verb and aux in ("does", "do") and Form.BASE in forms(verb):
        ending = "s" if aux == "does" else ""
        return [f"{who} {verb}{ending} {_lowered(answer)}"]
    return []


def _is_phrase(spoken: list[str]) -> bool:
    """Return True if an answer is a phrase rather than a sentence of its own."""
    return spoken[0].lower() not in _NO_ANSWER and not any(
        "'" in word or word.lower() in _ORDINARY for word in spoken
    )


def from_the_other_side(text: str) -> str:
    """Return a question as the one who is asked sees it.

    >>> from_the_other_side("How old is your daughter")
    'How old is my daughter'
    """
    return _PERSONAL.sub(lambda found: _ME[found[0].lower()], text)


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:] if is_word(text.split()[0]) else text
