"""Restore what hasty writers leave out: "done with sugar", "34, nurse, two kids".

Only openings and lists that the tables name are completed; the rest is left to
`subjects.with_subject`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from semantic_memory.domain.english.articles import indefinite
from semantic_memory.domain.english.calendar import WEEKDAY
from semantic_memory.domain.english.commands import is_command
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.predications import is_name, predication
from semantic_memory.domain.english.subjects import with_subject
from semantic_memory.domain.english.tables import phrases, rows, split, words
from semantic_memory.domain.english.words import WORD, Form, can_be_noun, forms, noun
from semantic_memory.domain.patterns import regex

_OPENINGS = tuple(
    (
        regex(rf"{one_of(split(row['begins']))}\b(?=,?\s+\w|$)", re.IGNORECASE),
        row["subject"],
    )
    for row in rows("ellipsis.openings")
)
_KIND_OF_PERSON = regex(
    rf"^((?!(?:I|we|you|he|she|they|it)\b)(?:[\w-]+\s){{0,2}}[\w-]+ "
    rf"{phrases('ellipsis.kinds_of_person')})(?=$|[,;:.])",
    re.IGNORECASE,
)
_AILING = regex(rf"^{one_of(words('possessions.ailments'))}\b(?=\s(?:since|for)\b)", re.I)
_KIN = regex(
    rf"^(?:(?:the )?(?P<who>{phrases('ellipsis.kin')})|(?P<one>{phrases('ellipsis.bare_kin')}))"
    rf" (?=(?:(?P<named>(?-i:[A-ZÀ-Þ])[\w'-]+) )?{phrases('ellipsis.of_kin')}\b)",
    re.IGNORECASE,
)
_ROLE = regex(
    rf"^{phrases('ellipsis.bare_roles')}"
    rf"(?= (?:is|was) (?:{phrases('ellipsis.of_role')}\b|(?-i:[A-Z])))",
    re.IGNORECASE,
)
_DATE_OF_KIN = regex(
    rf"^(?P<who>{phrases('ellipsis.kin', 'ellipsis.bare_kin')})(?=['’]s [\w-]+(?: [\w-]+)?"
    r" (?:is|was|are|were|has|will|got)\b)",
    re.IGNORECASE,
)
_TRADE_AT = regex(
    r"^(?!am )(?:an? |the )?(?P<trade>(?:[\w/-]+ ){0,3}?(?P<head>[\w-]+))"
    r" (?P<where>(?:at|for|in|with) [^,]+)$",
    re.IGNORECASE,
)
_NOTHING_MORE = regex(
    rf"^no (?:more )?(?!{phrases('ellipsis.no_things')})(?P<thing>[\w' -]{{2,40}}?)(?: for me)?"
    rf"(?: {phrases('ellipsis.no_longer')}| for me$)(?P<rest>.*)$",
    re.IGNORECASE,
)
_BEHIND = regex(
    r"^(?:he|she|they|it)(?:'s|'re| is| are)\s(?P<told>[^,]{3,60}),\s"
    r"(?P<who>(?:my|our)(?:\s[\w'-]+){1,3}|[A-Z][\w'-]+(?:\s[A-Z][\w'-]+){0,2})(?:,?\s(?:and|but)\s(?P<rest>.+))?$"
)
# "Severe nut allergy here", "Jain household"
_NEED = regex(
    rf"^(?P<what>(?:[\w-]+ ){{0,3}}(?:{phrases('ellipsis.needs')}|(?P<house>household)))"
    r"(?: here| too| as well)?(?P<rest>$|,.*)",
    re.IGNORECASE,
)
_WHO_IS_MY = regex(
    r"^(?P<name>[A-Z][\w'-]+), (?P<who>(?:my|our) (?:[\w-]+ ){0,2}[\w-]+), (?P<rest>[a-z].+)$"
)
_IT_IS_MY = regex(
    r"^it(?:'s| is) (?P<what>(?:my|our) [\w' -]{3,40}?) "
    r"(?P<when>(?:on|at|in|tomorrow|tonight|today|next|this)\b.*)$",
    re.IGNORECASE,
)
_ABOUT_ME = regex(r"\b(?:about me|myself|me|who I am)\b[^\n]*:\s*$", re.IGNORECASE)
_HE = regex(r"\b(?:he|she|they|it)\b", re.IGNORECASE)
_FOR_USE = regex(
    r"^(?P<tool>(?!(?:thank|thanks|sorry|good)\b)[\w.+#-]+) for (?P<use>[a-z-]+(?: [a-z-]+)?)$",
    re.I,
)
_TIME_OF_DAY = "day|week|month|morning|evening"
_RECURRING = regex(
    r"^(?P<what>(?!(?:and|but|so|i|we|he|she|it|they|you|my|the|[a-z]+ly)\s)[a-z-]+(?: [a-z-]+)?)"
    rf" (?:every|each|on) (?:other )?(?:{WEEKDAY}s?|{_TIME_OF_DAY}|spring|summer|winter)\b.*$",
    re.IGNORECASE,
)
_ENDS = words("ellipsis.ends")
_MOST_TOOLS = 4
_FAVOURITE = regex(
    r"^(?:maybe |like |probably )?(?P<thing>(?!it|that|this|he|she|they)"
    r"(?:[\w'-]+\s){0,3}[\w'-]+), my favou?rite (?P<kind>[\w ]{3,30})$",
    re.IGNORECASE,
)
_HOME = regex(
    r"^(?P<home>(?P<who>I|we) live (?:in|near|at) [^,;.]{2,40}?) (?P<people>with (?:my|our) "
    r"[^,;.]*?(?-i:[A-Z])[^,;.]{2,60}?)(?P<rest>$|,.*)",
    re.IGNORECASE,
)
_BEST = regex(
    rf"^(?P<one>(?!I\b|it|that|this|we\b|they)(?:[\w'-]+\s){{0,3}}[\w'-]+)"
    rf"(?:,? {phrases('ellipsis.above_all')}| > (?P<other>[\w' -]{{2,30}}))$",
    re.IGNORECASE,
)
# "Helix it is"
_IT_IS = regex(
    r"^(?:so |then |ok |okay )?(?P<one>(?!What|How|Who)[A-Z][\w'.+-]*(?: [\w'.+-]+){0,2}),?"
    r" it is(?: then)?$"
)
# "now it's candesartan 8 mg", "now on propranolol 40"
_DOSED = regex(
    r"^(?:and |so )?(?:(?:now|currently|back) on (?P<on>[a-z]{5,} \d[\w .,]*)"
    r"|(?:now (?:it's|it is)|(?:it's|it is) now) "
    rf"(?P<is>[a-z]{{4,}} \d[\d.,]*\s?{phrases('ellipsis.doses')}\b.*))$",
    re.IGNORECASE,
)
_BEATS = regex(r"^nothing beats (?P<one>.{3,60})$", re.IGNORECASE)
_GIVE_ME = regex(r"^give me (?P<one>[\w' -]{3,40}) over (?P<other>.+)$", re.IGNORECASE)
_OF_ONESELF = regex(r"^I(?:['’]m|['’]ve| am| have)?\s")
_SELF_WITHIN = regex(r"\s(?:I|we)\b")
_AGE = regex(r"^(?:1[3-9]|[2-9]\d)(?:\s?(?:yo|y/o|years old))?$", re.IGNORECASE)
_COUNTED = regex(rf"^(?:\d+|{one_of(words('numbers.small'))}|an?|one|no)\s[\w\s-]+$", re.I)
_NOT_OWN = words("predications.no_subject", "predications.determiners", "ellipsis.of_no_one")
_TRADE = words("ellipsis.trades")
_WHO = frozenset({"i", "we", "you", "he", "she", "they"})
_TRADE_ENDINGS = ("ist", "eer", "ician", "ologist")
_STATE = regex(rf"^(?:{phrases('ellipsis.list_states')})\b", re.IGNORECASE)
_STATE_FIRST = regex(
    rf"^{phrases('ellipsis.list_states')}(?=,? (?:(?:and|but)\b|(?:btw|fyi|by the way)$))",
    re.IGNORECASE,
)  # "Vegetarian, and nuts give me hives", "veggie btw"
_HAVING = words("possessions.kin", "possessions.animals") | words("fragments.plurals")
_ABOUT = regex(rf"like (?:an?|\d[\w.,]*|{one_of(words('numbers.small'))})\b", re.IGNORECASE)
_OBJECTS = words("predications.determiners") | {"me", "us", "him", "her", "them"}
_MOST_IN_LIST = 5


def completed(sentence: str) -> list[str]:
    """Return a sentence with the subjects that its writer left out; lists give one each.

    >>> completed("done with sugar for good"), completed("tea person, no doubt")
    (['I am done with sugar for good'], ['I am a tea person, no doubt'])
    >>> completed("34, nurse, two kids, living in Cork")
    ['I am 34', 'I am a nurse', 'I have two kids', 'I am living in Cork']
    >>> completed("I'm a nurse, like to hike, no kids")
    ["I'm a nurse", 'I like to hike', 'I have no kids']
    >>> completed("veggie btw"), completed("sprint ends on Wed")
    (['I am veggie btw'], ['sprint ends on Wed'])
    >>> completed("he's our new director, Bram Oosting"), completed("the lake is cold")
    (['Bram Oosting is our new director'], ['the lake is cold'])
    >>> completed("I live in Bonn with my aunt Edda, I'm vegan")
    ['I live in Bonn', 'I live with my aunt Edda', "I'm vegan"]
    >>> completed("Datadog's gone, Grafana Cloud it is"), completed("now on propranolol 40")
    (["Datadog's gone", 'I am going with Grafana Cloud'], ['I am now on propranolol 40'])
    >>> completed("No dairy for me any more")
    ["I don't have dairy any more"]
    """
    told, comma, chosen = sentence.rpartition(", ")
    if comma and _IT_IS.match(chosen):
        return [*completed(told), *completed(chosen)]
    if several := _list(sentence) or _home(sentence) or _tools(sentence) or _behind(sentence):
        return several
    return [_reworded(sentence) or _settled(sentence) or _begun(sentence)]


def listed(text: str) -> str:
    r"""Return a list about the speaker with a statement for each of its lines.

    >>> listed("About me:\nvegan\nlive in Ghent\ntwo kids")
    'I am vegan\nI live in Ghent\nI have two kids'
    """
    heading, *lines = [line for line in text.splitlines() if line.strip()] or [""]
    if not lines or not _ABOUT_ME.search(heading):
        return text
    return "\n".join(_part(line.strip(" .,")) or line for line in lines)


def _reworded(sentence: str) -> str | None:
    """Return a statement that was made without a verb, or with its subject last; or None."""
    if (recurring := _RECURRING.match(sentence)) and not _has_verb(recurring["what"].split()):
        return f"I have {_lowered(sentence)}"
    if (named := _WHO_IS_MY.match(sentence)) and not named["rest"].startswith(("and ", "my ")):
        return f"{named['who']} {named['name']} {named['rest']}"
    if dated := _IT_IS_MY.match(sentence):
        return f"{dated['what']} is {dated['when']}"
    if needed := _needed(sentence):
        return needed
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


def _settled(sentence: str) -> str | None:
    """Return what was chosen or is now taken, said without its speaker; or None."""
    if chosen := _IT_IS.match(sentence):
        return f"I am going with {chosen['one']}"
    if dosed := _DOSED.match(sentence):
        return f"I am now on {dosed['on'] or dosed['is']}"
    return None


def _needed(sentence: str) -> str | None:
    """Return a need that is only named as a statement of the one who names it.

    >>> _needed("Severe nut allergy here"), _needed("Jain household"), _needed("any allergy")
    ('I have a severe nut allergy', 'we are a Jain household', None)
    """
    need = _NEED.match(sentence)
    if need is None or len(first := need["what"].split()) < 2 or first[0].lower() in _NOT_OWN:
        return None
    what = need["what"] if is_name(first[0]) else _lowered(need["what"])
    return f"{'we are' if need['house'] else 'I have'} {indefinite(what)} {what}{need['rest']}"


def _begun(sentence: str) -> str:
    """Return a statement with the subject and the verb that it lacks."""
    if (person := _KIND_OF_PERSON.match(sentence)) and not is_command(sentence):
        has_article = person[1].lower().startswith(("a ", "an ", "the "))
        article = "" if has_article else f"{indefinite(person[1])} "
        return f"I am {article}{_lowered(sentence)}"
    if (owned := with_owner(sentence)) != sentence:
        return owned
    if (trade := _TRADE_AT.match(sentence)) and _is_employed(trade):
        return f"I am {indefinite(trade['trade'])} {_lowered(trade['trade'])} {trade['where']}"
    if _STATE_FIRST.match(sentence):
        return f"I am {_lowered(sentence)}"
    if _AILING.match(sentence):
        return f"I have had {_lowered(sentence)}"
    for opening, subject in _OPENINGS:
        if opening.match(sentence):
            return f"{subject} {_lowered(sentence)}"
    return sentence


def with_owner(clause: str) -> str:
    """Return a clause about someone of the speaker with the "my" that it lacks.

    >>> with_owner("supervisor is Amara"), with_owner("mum arrives at noon")
    ('my supervisor is Amara', 'my mum arrives at noon')
    >>> with_owner("the supervisor is Amara"), with_owner("mum's the word")
    ('the supervisor is Amara', "mum's the word")
    """
    kin = _KIN.match(clause)
    if kin and (kin["named"] is None or is_name(kin["named"])):
        return f"my {(kin['who'] or kin['one']).lower()} {clause[kin.end() :]}"
    if _ROLE.match(clause) or _DATE_OF_KIN.match(clause):
        return f"my {_lowered(clause)}"
    return clause


def _behind(sentence: str) -> list[str]:
    """Return a statement whose subject comes last, and what follows it: "she's my boss, Dana"."""
    behind = _BEHIND.match(sentence)
    if behind is None:
        return []
    rest = _HE.sub(behind["who"], behind["rest"], count=1) if behind["rest"] else None
    return [f"{behind['who']} is {behind['told']}", *([rest] if rest else [])]


def _tools(sentence: str) -> list[str]:
    """Return a statement for each tool of a list: "ruff for linting, mypy for types"."""
    parts = [part.strip() for part in re.split(r",\s+(?:and\s+)?|\s+and\s+", sentence)]
    found = [_FOR_USE.match(part) for part in parts]
    if not 2 <= len(parts) <= _MOST_TOOLS or not all(found):
        return []
    return [f"I use {part}" for part in parts]


def _has_verb(spoken: Sequence[str]) -> bool:
    """Return whether one of two words is surely a verb, or the second one is that of the first.

    >>> _has_verb(["sprint", "ends"]), _has_verb(["piano", "lessons"])
    (True, False)
    """
    _, *behind = spoken
    return any(map(_must_be_verb, spoken)) or any(word.lower() in _ENDS for word in behind)


def _must_be_verb(word: str) -> bool:
    return bool(forms(word)) and noun(word) is None and not can_be_noun(word)


def _home(sentence: str) -> list[str]:
    """Return where someone lives and with whom as two statements, and what follows."""
    home = _HOME.match(sentence)
    if home is None:
        return []
    rest = home["rest"].lstrip(" ,")
    return [home["home"], f"{home['who']} live {home['people']}", *([rest] if rest else [])]


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
    if _OF_ONESELF.match(part):
        return part
    last = noun(spoken[-1]) or spoken[-1].lower()
    if _AGE.match(part):
        return f"I am {part}"
    if _COUNTED.match(part) and last in _HAVING | {"child", "people"} and not _tells(spoken):
        return f"I have {part}"
    if len(spoken) <= 3 and _is_trade(last):
        article = "" if spoken[0].lower() in ("a", "an", "the") else f"{indefinite(spoken[0])} "
        return f"I am {article}{_lowered(part)}"
    if _STATE.match(part):
        return None if _SELF_WITHIN.search(part) else f"I am {_lowered(part)}"
    whole = with_subject(part)
    if whole.startswith("I was "):
        return None  # "I'm a coeliac, diagnosed in 2009" says with what
    if whole != part:
        return whole
    if len(spoken) > 1 and spoken[0].lower() in ("have", "love", "hate", "live", "work", "like"):
        # "like six a day" tells how many
        return None if _ABOUT.match(part) else f"I {_lowered(part)}"
    return None


def _tells(spoken: Sequence[str]) -> bool:
    """Return True if words with an article have a verb: "a neighbour gave me a kitten"."""
    return any(
        Form.PAST in forms(verb) and behind.lower() in _OBJECTS
        for verb, behind in pairwise(spoken[1:])
    )


def _is_employed(found: re.Match[str]) -> bool:
    """Return True for "nurse at St Mary's", but not for "teacher at school said no"."""
    first = found["trade"].split()[0].lower()
    return (
        _is_trade(found["head"].lower()) and first not in _WHO and predication(found.string) is None
    )


def _is_trade(word: str) -> bool:
    return word in _TRADE or word.endswith(_TRADE_ENDINGS)


def _lowered(text: str) -> str:
    first = text.split()[0]
    return text if first[1:] != first[1:].lower() else text[:1].lower() + text[1:]
