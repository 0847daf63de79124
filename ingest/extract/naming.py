"""Read how someone wants to be called: "people call me Kit", "it's Catriona with a C"."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from semantic_memory.domain.english.articles import indefinite
from semantic_memory.domain.english.calendar import ANY_MONTH, WEEKDAY
from semantic_memory.domain.english.predications import has_number, has_time, is_given_name, is_name
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import MODALS, WORD, Form, forms, is_word
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS

_NAME = (
    r"(?P<name>(?:(?:dr|mr|mrs|ms|prof)\.?\s)?[^\W\d_][\w'’.-]*"
    r"(?:\s(?!(?:I|from|at|of|here|and|the|but|though|so|who|btw|by)\b)[A-Z][\w'’-]*){0,3})"
)
_REST = r"(?P<rest>(?:,?\s(?:not|instead of|rather than|with|at|in|for|when|by)\b.{1,60})?)"
_CALLS = regex(rf"^{phrases('naming.callers')} {_NAME}{_REST}$", re.IGNORECASE)
_ORDER = regex(rf"^{phrases('naming.orders')} {_NAME}{_REST}$", re.IGNORECASE)
_SIGN = (
    r"(?:[a-z](?:['’]?s)?|(?:double|two|one) \w(?:['’]?s)?"
    r"|(?:accent|hyphen|umlaut|dot|dash|apostrophe|letter|space)s?)"
)
_SPELLED = regex(
    rf"^(?:people (?:\w+ )*misspell (?:it|my name), )?(?:it'?s|that's|my name is|i'm|it is) {_NAME}"
    rf"(?P<rest>,? (?:(?:with|without) (?:\w+ )?{_SIGN}|(?:spelled|spelt|pronounced) )\b"
    r".{0,40})$",
    re.IGNORECASE,
)
_NOT_NAME = regex(
    r"^(?:it'?s|it is|that's|the name is) (?P<name>[A-Z][\w'-]+),? not (?P<other>[A-Z][\w'-]+)$",
    re.I,
)
_LETTERED = regex(r"^(?P<name>[A-Z][\w'-]+)(?P<rest>,? with(?:out)? an? [A-Za-z]\b.{0,20})$")
_NICKNAME = regex(
    r"(?<=call me )by my (?:nick|first |last |middle |maiden |pet |sur)?name,? ", re.I
)
_SOUNDS = regex(r"^it'?s (?P<how>(?:pronounced|spelled|spelt) .{2,40})$", re.IGNORECASE)
_SPELLING_ALONE = regex(r"^(?:with|without) an? (?P<how>[A-Z]\b.{0,30})$", re.IGNORECASE)
_PRESENTED = regex(
    rf"^(?:(?:hi|hey|hello|yo|hiya)\b[\s,!]*)?(?P<by>{phrases('naming.presenting')}),? {_NAME}"
    r"(?:,? (?:here|speaking|again|by the way|btw))?(?P<tail>,? (?:from|at|of) .{2,60})?$",
    re.IGNORECASE,
)
_FULL_NAME = r"(?-i:[A-Z][\w'’-]+)(?: (?-i:[A-Z][\w'’-]+)){0,2}"
_HI = rf"{phrases('naming.greetings')}(?!\w)[\s,!.]*"
_GREETING = rf"(?:{_HI})?"
_HERE = regex(
    rf"^(?:{_GREETING}(?P<name>{_FULL_NAME}|[a-z]+)"
    r" (?:(?:here|speaking|aqui|hier|ici|tady)(?:,.*)?|\((?:he|she|they)/\w+\).*)"
    r"|(?:hi|hey|hello|good \w+)[\s,!]+(?:it'?s )?(?P<again>[\w'’-]+) (?:again|here))$",
    re.IGNORECASE,
)
_LEADS_IN = regex(
    rf"^(?P<hi>{phrases('naming.greetings')}(?!\w)[\s,!.]*)?"
    rf"(?P<by>this is |it's me, |from )?(?P<name>{_FULL_NAME}|[a-z]+(?= here,))"
    r"(?P<here> here(?: from (?-i:[A-Z])\w+)?)?, (?P<rest>(?:I|my|we|our)\b.*)$",
    re.IGNORECASE,
)
_NAME_FIRST = regex(
    rf"^{_GREETING}(?:my )?name(?:'s| is) (?:(?P<short>\w+), (?=(?P=short)\b))?"
    rf"(?P<name>{_FULL_NAME})(?:,| and|, and) (?P<rest>(?:I|my|we|our)\b.*)$",
    re.IGNORECASE,
)
_BUT_CALLED = regex(
    rf"^{_GREETING}(?P<by>{phrases('naming.presenting')}) (?P<name>{_FULL_NAME}|[a-z]+)"
    r"(?:,? (?:btw|by the way))?,? (?:but|though|although) (?P<rest>.+)$",
    re.IGNORECASE,
)
_THEN_CALLED = regex(
    rf"^{_GREETING}(?P<name>{_FULL_NAME}), (?P<rest>{phrases('naming.orders')} .+)$", re.IGNORECASE
)
_WITH_ASIDE = regex(r"^(?P<presented>.{3,60}?) ?\((?P<aside>[^()]{2,60})\)$")
_PRONOUNS = regex(r"^(?:he|she|they|it|xe|ze)/\w+(?:/\w+)?$", re.IGNORECASE)
_ROLE = regex(rf"^(?:an? )?(?P<role>(?:[\w-]+ ){{0,2}}{phrases('core.roles')})$", re.IGNORECASE)
_SIGNED = regex(
    rf"(?:\n\s*(?:[-–—~]{{1,2}}|thanks[,!.]?\n)|(?:\n|[.!?])\s*{phrases('naming.sign_offs')}(?:,|[!.]?\n))"
    rf"\s*(?P<name>{_FULL_NAME})[.!\s]*$",
    re.IGNORECASE,
)
_LIST_OR_LETTER = regex(
    rf"^[^\S\n]*(?:[-–—*•]\s.*\n"
    rf"|(?:dear|{phrases('naming.greetings')}),? (?-i:[A-Z])[\w .'’-]*[,!:]?\s*$)",
    re.IGNORECASE | re.MULTILINE,
)
_SIGNATURE = 200  # characters at the end of a message among which its writer's name may stand
_FIRST_AND_LAST = r"(?-i:[A-Z][\w'’-]+)(?: (?-i:[A-Z][\w'’-]+)){1,2}"
_CARD = regex(
    rf"^(?P<hi>{_HI})?(?P<name>{_FIRST_AND_LAST})(?:, (?P<age>\d\d))?, (?:an? )?"
    rf"(?P<role>(?:[\w-]+ ){{0,2}}{phrases('core.roles')}"
    r"(?P<where> (?:in|at|for|from|with|by|on) [^,;:]+)?)$",
    re.IGNORECASE,
)
_NO_PERSON = regex(rf"\b(?:{WEEKDAY}|{ANY_MONTH}|{phrases('naming.no_persons')})\b", re.IGNORECASE)
_OTHERS = regex(r"\b(?:he|she|they|him|her|them|his|their|you|your)\b", re.IGNORECASE)
_PERSONAL = regex(r"\b(?:I|me|my|we|us|our|you|your|he|she|it|they|who)\b", re.IGNORECASE)
_ENOUGH = regex(
    r"^(?:.{0,40}, |[\w'’-]+,? but )?(?:(?:just |simply )?"
    r"(?P<name>(?-i:[A-Z])[\w'’-]+) (?:is|will|would)"
    r" (?:fine|enough|do|ok|okay|perfectly fine)|just (?P<short>(?-i:[A-Z])[\w'’-]+),? please)"
    r"(?:, .{2,40})?$",
    re.IGNORECASE,
)
_TITLED = regex(
    r"^(?:.{0,25}\b)?it'?s (?P<name>(?:dr|prof|professor|ms|mrs|mr|mx|sir|dame|reverend)\.? "
    r"(?-i:[A-Z])[\w'’-]+)(?P<rest>,? not (?:\w+\.? ?){1,3})$",
    re.IGNORECASE,
)
_USES = regex(
    r"^(?:(?:please |just )?(?:use|say)|i (?:use|go by)) "
    r"(?P<which>(?:he|she|they|it|xe|ze)(?:/| and )"
    r"(?:him|her|them|its|xem|hir)(?:/\w+)?)\b.*$",
    re.IGNORECASE,
)
_ORDER_BEFORE = regex(
    rf"^{phrases('naming.orders')} (?P<name>(?-i:[A-Z])[\w'’-]+)(?P<rest>), .+$", re.IGNORECASE
)
_SAID_LATE = regex(  # "it's Noreen by the way, I never said"
    r"(?:,? (?:btw|by the way|(?:nice|pleased|good) to meet you|quick question"
    r"|I (?:never|forgot to|should have|didn't) (?:said|say|mention|mentioned|tell you)"
    r"(?: (?:it|that|so|before))?))+$",
    re.IGNORECASE,
)
_LONGEST = 90
_LEAST_ALIKE = 0.6
_STATES = words("worth.lasting_states")
_ADJECTIVE_ENDINGS = ("ic", "ed", "an", "ish", "al", "ive", "ous", "able", "less", "ful", "ing")
_ORDINARY = STOP_WORDS | words("numbers.small", "numbers.large", "predications.prepositions")
_NO_NAMES = words("naming.no_names")


def named(sentence: str, *, alone: bool) -> str | None:
    """Return what a sentence tells of its speaker's name, in the first person; or None.

    `alone` admits introductions such as "I'm Yara", whose name might else be anything.

    >>> named("You can call me Theo", alone=True)
    'I want to be called Theo'
    >>> named("people call me Lou, not Louise", alone=True)
    'people call me Lou, not Louise'
    >>> named("it's Catriona with a C, not a K", alone=True)
    'my name is Catriona with a C, not a K'
    >>> named("I'm Yara", alone=True), named("call me later", alone=True)
    ('I am Yara', None)
    """
    text = sentence.strip(" .!,")
    if len(text) > _LONGEST:
        return None
    text = _NICKNAME.sub("", text)
    late = _SAID_LATE.search(text)
    text, alone = (text[: late.start()], True) if late else (text, alone)
    return _wanted(text) or _spelling(text, alone=alone) or (_presented(text) if alone else None)


def _wanted(text: str) -> str | None:
    """Return how a text says that its speaker is, or wants to be, called."""
    if (called := _CALLS.match(text)) and _can_be_name(called["name"]):
        name, start = called["name"], called.start("name")
        return text[:start] + _capital(name) + called["rest"]
    if (order := _ORDER.match(text) or _ORDER_BEFORE.match(text)) and _can_be_name(order["name"]):
        return f"I want to be called {_capital(order['name'])}{order['rest']}"
    if titled := _TITLED.match(text):
        return f"I want to be called {titled['name']}{titled['rest']}"
    if pronouns := _USES.match(text):
        return f"my pronouns are {pronouns['which'].lower()}"
    if enough := _ENOUGH.match(text):
        name = _capital(enough["name"] or enough["short"])
        return f"I want to be called {name}" if is_name(name) else None
    return None


def _presented(text: str) -> str | None:
    """Return the name with which a text presents its speaker."""
    if here := _HERE.match(text):
        name = _capital(here["name"] or here["again"])
        return f"my name is {name}" if is_given_name(name.split()[0]) else None
    presented = _PRESENTED.match(text)
    if presented is None or _NO_PERSON.search(presented["name"]):
        return None
    if _OTHERS.search(presented["tail"] or ""):
        return None  # "it's Marta from the clinic, she wants the keys"
    first = presented["name"].split()[0]
    if first.lower() in _STATES or (first.islower() and first.endswith(_ADJECTIVE_ENDINGS)):
        return None
    if first.lower() in _ORDINARY or not _can_be_name(presented["name"]):
        return None
    own = presented["by"].lower().startswith("i") and not presented["by"].lower().startswith("it")
    told = f"{'I am' if own else 'my name is'} {_capital(presented['name'])}"
    return told if is_given_name(first[:1].upper() + first[1:]) else None


def introduced(sentence: str, *, alone: bool) -> tuple[str, str]:
    """Return the name with which a sentence begins, as a statement, and the rest of it.

    The statement is empty if it begins with none. `alone` admits a name and a role, which beside
    other sentences may be those of anyone.

    >>> introduced("Hi, Imre Nagy, I maintain the parser", alone=False)
    ('my name is Imre Nagy', 'I maintain the parser')
    >>> introduced("Hi, I'm late", alone=True)
    ('', "Hi, I'm late")
    >>> introduced("I'm Lucas but everyone calls me Lou", alone=False)
    ('I am Lucas but everyone calls me Lou', '')
    >>> introduced("Rakesh Menon, call me RK", alone=False)
    ('I am Rakesh Menon', 'call me RK')
    >>> introduced("Name's Beau, Beau Thibodeaux, and I run a boat", alone=False)
    ('my name is Beau Thibodeaux', 'I run a boat')
    >>> introduced("Ellen Maddox, GP in Inverness", alone=True)
    ('I am Ellen Maddox', 'I am a GP in Inverness')
    >>> introduced("Marta Voss, nurse at St Mary's, helped me", alone=True)[0]
    ''
    """
    card = _CARD.match(sentence)
    if card and (alone or card["hi"]) and _is_of_speaker(card):
        role = card["role"]
        age = f"I am {card['age']}, " if card["age"] else ""
        # Not "my name is": a name that nobody claimed must not replace one that the user did.
        return f"I am {card['name']}", f"{age}I am {indefinite(role)} {role}"
    if but := _BUT_CALLED.match(sentence):
        own = _presented(f"{but['by']} {but['name']}")
        known_as = named(but["rest"].split(", ")[0], alone=False)
        if own and known_as:
            return f"{own} but {known_as}", ""
    if called := _THEN_CALLED.match(sentence):
        return f"I am {called['name']}", called["rest"]
    if first := _NAME_FIRST.match(sentence):
        return f"my name is {first['name']}", first["rest"]
    found = _LEADS_IN.match(sentence)
    if found is None or not (found["hi"] or found["by"] or found["here"]):
        return _with_aside(sentence)
    name = _capital(found["name"])
    if not is_given_name(name.split()[0]):
        return "", sentence
    return f"my name is {name}", found["rest"]


def _with_aside(sentence: str) -> tuple[str, str]:
    """Return the name that a sentence presents, and what it says in brackets behind it.

    >>> _with_aside("this is Dana (nurse)"), _with_aside("Hey, this is Mirela (she/her)")
    (('my name is Dana', 'I am a nurse'), ('my name is Mirela', 'my pronouns are she/her'))
    """
    found = _WITH_ASIDE.match(sentence)
    name = _presented(found["presented"]) if found else None
    if found is None or name is None:
        return "", sentence
    if _PRONOUNS.match(found["aside"]):
        return name, f"my pronouns are {found['aside'].lower()}"
    role = _ROLE.match(found["aside"])
    return name, f"I am {indefinite(role['role'])} {role['role']}" if role else ""


def signed(message: str) -> tuple[str, str]:
    r"""Return the name below a message, as a statement, and the rest of it.

    The statement is empty if there is none, or if the message has a list or a letter in it, whose
    end a name may be.

    >>> signed("Is the rota done?\n- Marek"), signed("Buy:\n- Milk\n- Mango")
    (('my name is Marek', 'Is the rota done?'), ('', 'Buy:\n- Milk\n- Mango'))
    >>> signed("Cheers, Jo")
    ('', 'Cheers, Jo')
    """
    whole = message.rstrip()
    below = max(0, len(whole) - _SIGNATURE)
    found = _SIGNED.search(whole[below:])
    if (
        found is None
        or not is_given_name(found["name"].split()[0])
        or _LIST_OR_LETTER.search(message)
    ):
        return "", message
    return f"my name is {found['name']}", whole[: below + found.start() + (found[0][0] in ".!?")]


def _is_of_speaker(card: re.Match[str]) -> bool:
    """Return True if a name and a role can be those of who writes them, not an appointment."""
    where = card["where"] or ""
    return (
        is_name(card["name"].split()[0])
        and _NO_PERSON.search(card["name"]) is None
        and _PERSONAL.search(where) is None
        and not has_number(where)
        and not has_time(where)
        and not any(map(_may_be_predicate, WORD.findall(where)))
    )


def _may_be_predicate(word: str) -> bool:
    return word.islower() and (word in MODALS or bool({Form.THIRD, Form.PAST} & {*forms(word)}))


def _spelling(text: str, *, alone: bool) -> str | None:
    """Return how a name is spelled or spoken, with the name if it is given."""
    if alone and (sounds := _SOUNDS.match(text)):
        return f"my name is {sounds['how']}"
    if (spelled := _SPELLED.match(text)) and _can_be_name(spelled["name"]):
        return f"my name is {_capital(spelled['name'])}{spelled['rest']}"
    if (meant := _NOT_NAME.match(text)) and _is_other_spelling(meant["name"], meant["other"]):
        return f"the name is {_capital(meant['name'])}, not {_capital(meant['other'])}"
    if (lettered := _LETTERED.match(text)) and _can_be_name(lettered["name"]):
        return f"my name is {_capital(lettered['name'])}{lettered['rest']}"
    if spelling := _SPELLING_ALONE.match(text):
        return f"my name is spelled with {spelling['how']}"
    return None


def _is_other_spelling(name: str, other: str) -> bool:
    """Return True if two words are spellings of one name: "Karin", "Karen"."""
    alike = SequenceMatcher(None, name.lower(), other.lower()).ratio()
    return _LEAST_ALIKE <= alike < 1 and _can_be_name(name)


def _can_be_name(name: str) -> bool:
    spoken = name.lower().replace(".", "").split()
    if any(word in _NO_NAMES for word in spoken):
        return False
    return name[:1].isupper() or not is_word(spoken[-1])


def _capital(name: str) -> str:
    return " ".join(word[:1].upper() + word[1:] for word in name.split())
