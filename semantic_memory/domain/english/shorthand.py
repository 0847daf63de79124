"""Write out the notes in which hasty people say who they are: "2 kids, 4 and 7", "T2 diabetic".

    sentence -> parts -> a statement for each, by the first form that it has
             -> what goes on about the part before it stays with it

A sentence is shorthand only if every part of it has a form, so that a request for a plumber or a
search for an ailment isn't taken for a person. Somewhat long: the forms read best side by side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from semantic_memory.domain.english.articles import indefinite
from semantic_memory.domain.english.calendar import ANY_MONTH, WEEKDAY
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.predications import is_given_name, is_name
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import Form, can_be_noun, forms, is_word
from semantic_memory.domain.patterns import regex

_NUMBERS = words("numbers.small")
_SMALL = one_of(_NUMBERS)
_KIN = phrases("core.family", "core.pets")
_TONGUE = phrases("core.tongues")
_FOOD = phrases("core.abstained", "core.allergens", "shorthand.foods")
_PROPER = rf"(?!(?:{WEEKDAY}|{ANY_MONTH})\b)(?-i:[A-ZÀ-Þ][\w'’-]+)"
_PLACE = rf"{phrases('shorthand.placed')} {_PROPER}[^?!]*"
_REST = rf"(?: {phrases('shorthand.behind_states')}\b[^?!]*)?"
_NO_NEED = r"(?!.*\b(?:allerg|intoleran))"
_HERE = r"(?: (?:here|too|as well|btw))*"
_DESCRIBED = rf"(?:(?!{one_of(words('shorthand.no_description'))}\b)[\w'’.-]+ )"
_STATE = phrases("shorthand.states", "ellipsis.list_states")
_PART = rf"(?:(?:left|right|both|lower|upper) )?{phrases('shorthand.parts')}"
_AILMENT = rf"(?:{phrases('shorthand.ailments')}|{one_of(words('possessions.ailments'))})"
_ONE_ROLE = (
    rf"(?:{phrases('core.roles', 'shorthand.roles', 'shorthand.positions')}"
    rf"|{one_of(words('ellipsis.trades'))}"
    rf"|(?!{phrases('core.no_roles')}\b)[\w-]{{2,}}(?:ist|eer|ician|smith)|\w{{4,}}(?:man|woman))"
)
_ROLE = rf"{_ONE_ROLE}(?: (?:and|&) {_ONE_ROLE})?"


class _Form(NamedTuple):
    """A way of noting something down, and the statement that it stands for.

    `says` holds the groups of `pattern`, and "{article}" for that of "what".
    """

    pattern: re.Pattern[str]
    says: str
    is_sure: bool = True
    """True if it tells of its writer though nothing else does."""
    has_verb: bool = False
    """True if it may have one of its own: "blood pressure is high"."""


class _Told(NamedTuple):
    statement: str
    is_sure: bool


class _Part(NamedTuple):
    text: str
    joint: str
    """The mark or word before it."""
    is_firm: bool
    """True if that is a mark between parts, which "&" needn't be."""


class Notes(NamedTuple):
    """The statements that a sentence stands for, and what is left of it."""

    statements: Sequence[str]
    rest: str


def _form(pattern: str, says: str, *, is_sure: bool = True, has_verb: bool = False) -> _Form:
    return _Form(regex(rf"^(?:{pattern})$", re.IGNORECASE), says, is_sure, has_verb)


_FORMS = (
    _form(
        r"(?:my )?(?:pronouns?:? (?:are )?)?"
        r"(?P<which>(?:she|he|they|ze|xe)/(?:her|him|hers|his|them"
        r"|theirs?|she|he|they|zir|xem)(?:/\w+)?)(?:,? (?:please|pls))?",
        "my pronouns are {which}",
        has_verb=True,
    ),
    _form(
        rf"(?:am )?(?!from\b)(?P<what>(?:{phrases('shorthand.degrees')} )*{_STATE}{_REST}?){_HERE}",
        "I am {what}",
    ),
    _form(rf"(?P<what>(?:only )?(?:halal|kosher)(?: only| food)?){_HERE}", "I eat {what}"),
    _form(
        rf"(?:(?:got|have) )?{_NO_NEED}"
        rf"(?P<what>(?:an? )?(?:{phrases('shorthand.own_ailment')} )+"
        rf"(?:[\w-]+ )?{_AILMENT}(?: .*)?)",
        "I have {what}",
    ),
    _form(rf"(?P<what>{_AILMENT} (?:since|for) .+)", "I have had {what}"),
    _form(
        rf"{_NO_NEED}(?P<what>(?:[\w-]+ )?{_AILMENT} "
        rf"{phrases('shorthand.behind_own_ailment')}\b.*)",
        "I have {what}",
    ),
    _form(
        r"(?P<what>allergic to [^?!]+)",
        "I am {what}",
    ),
    _form(
        rf"(?P<what>{_DESCRIBED}{{1,2}}(?:allerg(?:y|ies)|intolerance)){_HERE}(?: \([^()]*\))?",
        "I have {article}{what}",
    ),
    _form(
        rf"(?:an? )?(?P<what>{phrases('shorthand.impaired')} {_PART}{_REST})",
        "I have {article}{what}",
    ),
    _form(
        rf"(?P<what>{_PART} (?:is|are|has|have|was) .+"
        r"|(?:stage|pen|full|middle|maiden|birth) name (?:is|was) .+)",
        "my {what}",
        has_verb=True,
    ),
    _form(
        rf"(?:and )?(?:have |got )?(?P<what>(?:an? |one |{_SMALL} |\d+ ){_DESCRIBED}{{0,3}}?{_KIN}"
        rf"(?: (?:called|named) {_PROPER}.*|,? {_PROPER}(?: (?:and|&) {_PROPER})?(?: \([^()]*\))?"
        rf"| \([^()]*\)|:? (?:aged )?\d.*))",
        "I have {what}",
    ),
    _form(
        rf"(?:my |our )?(?P<what>{_DESCRIBED}?{_KIN}),? (?:(?:called|named) )?"
        rf"(?P<name>{_PROPER}(?: \([^()]*\))?)",
        "I have {article}{what}, {name}",
    ),
    _form(
        rf"(?P<what>(?:an? )?(?:old |young |little )?{_KIN} (?:called|named) {_PROPER}.*)",
        "I have {article}{what}",
    ),
    _form(
        rf"(?P<what>(?:{_SMALL}|\d+) (?:[\w'-]+ )?{_KIN})(?: at home)?{_HERE}: "
        rf"(?P<who>{_PROPER}.*)",
        "I have {what}: {who}",
        has_verb=True,
    ),
    _form(
        rf"(?P<what>{_TONGUE}(?:,? (?:or|and|&) {_TONGUE})+)(?: (?:is|are))?"
        r" (?:both )?(?:ok|okay|fine|good)(?: (?:for|with) me)?(?:,? (?:either way|mix .*))?",
        "I speak {what}",
        has_verb=True,
    ),
    _form(
        rf"(?P<what>(?:{_SMALL}|\d+) (?:[\w'-]+ )?{_KIN}(?: \([^()]*\))?)",
        "I have {what}",
        is_sure=False,
    ),
    _form(rf"(?P<what>{_KIN} \([^()]*{_PROPER}[^()]*\)(?: [^?!]*)?)", "I have {what}"),
    _form(rf"(?P<what>{_KIN} \([^()]*\))", "I have {what}", is_sure=False),
    _form(
        rf"(?P<what>{phrases('core.dwellings')}|sharehouse|shared (?:flat|house)) "
        rf"(?P<where>{_PLACE})",
        "I live in {article}{what} {where}",
    ),
    _form(rf"(?P<what>{phrases('shorthand.based')} {_PLACE})", "I am {what}"),
    _form(rf"(?P<what>based at {_PROPER}[^?!]*)", "I am {what}"),
    _form(rf"(?P<what>{_PROPER}(?: {_PROPER})?)[- ]based", "I am based in {what}"),
    _form(rf"remote(?:ly)? (?P<what>(?:from|in) {_PROPER}[^?!]*)", "I work remotely {what}"),
    _form(
        r"remote(?:ly)? (?P<what>(?:for|at|with) (?:an? |the )?\w[^?!]*)", "I work remotely {what}"
    ),
    _form(rf"(?P<what>{_PLACE} {phrases('shorthand.lasting')}\b.*)", "I have lived {what}"),
    _form(
        r"(?P<what>(?:originally from|from) [\w' -]+)(?P<tail> originally| orig)",
        "I am {what}{tail}",
    ),
    _form(rf"(?P<what>(?:originally )?from {_PROPER}[^?!]*)", "I am {what}", is_sure=False),
    _form(rf"(?P<what>{_PLACE})", "I live {what}", is_sure=False),
    _form(rf"(?P<what>{phrases('core.peoples')}|{_TONGUE})", "I am {what}", is_sure=False),
    _form(
        r"(?P<what>(?:studying|working (?:(?:nights|days|shifts|(?:part|full)[- ]time) )?"
        r"(?:as|at|for|with)) [^?!]+)",
        "I am {what}",
        is_sure=False,
    ),
    _form(r"(?P<what>(?:night|day|early|late|rotating) shifts?)", "I work {what}", is_sure=False),
    _form(
        rf"(?:an? )?(?P<what>{phrases('shorthand.family_states')})",
        "I am {article}{what}",
        is_sure=False,
    ),
    _form(
        rf"(?:the )?(?P<what>{phrases('shorthand.sole_positions')} [^?!]+)",
        "I am the {what}",
        is_sure=False,
    ),
    _form(
        rf"no (?:more )?(?P<what>{phrases('shorthand.drinks')})(?: {phrases('shorthand.denied')})?",
        "I don't drink {what}",
        is_sure=False,
    ),
    _form(
        rf"no (?:more )?(?P<what>{_FOOD}(?: or {_FOOD})?)(?: {phrases('shorthand.denied')})?",
        "I don't eat {what}",
        is_sure=False,
    ),
    _form(
        r"(?:day |main |current )?job(?:: | is )(?:an? )?(?P<what>[^,]{3,60})",
        "I am {article}{what}",
        has_verb=True,
    ),
    _form(
        rf"(?:an? )?(?P<what>{_DESCRIBED}{{0,2}}?{phrases('shorthand.own_roles')}\b[^?!]*)",
        "I am {article}{what}",
    ),
    _form(
        rf"(?:an? )?(?P<what>{_DESCRIBED}{{0,2}}?{_ONE_ROLE}) here",
        "I am {article}{what}",
    ),
    _form(
        rf"(?:an? )?(?P<what>(?:the )?{_DESCRIBED}{{0,3}}?{_ROLE}"
        r"(?: (?:in|at|for|with|from|across|on|out of|of|near|to) [^?!]+)?)",
        "I am {article}{what}",
        is_sure=False,
    ),
    _form(r"(?P<what>[1-9]\d)(?: ?(?:yo|y/o|years old|yrs))?", "I am {what}", is_sure=False),
)
"""The forms of a part, the most specific first."""

_LOWER_PLACE = regex(r"^(?P<what>(?:now |currently )?(?:based|living) in (?P<place>[a-z]+))$")
_LEVELS = rf"(?: {phrases('shorthand.spoken_behind')})"
_SPOKEN = regex(
    rf"^(?:{phrases('shorthand.spoken_before')} {_TONGUE}(?: [\w-]+)?|{_TONGUE},? {_LEVELS[4:-1]}"
    rf"|[abc][12])$",
    re.IGNORECASE,
)
_CODES = regex(
    r"^(?P<what>[A-Z]{2}(?:(?:/|, ?| )[A-Z]{2})+),? "
    r"(?:(?:all|both|are) )*(?:ok|okay|fine|good|work)$"
)
_AGED = regex(  # "im lila 19 btw, apprentice electrician"
    rf"^(?P<name>{phrases('shorthand.presenting')} [^\W\d_][\w'’-]+),? (?P<age>[1-9]\d)"
    r"(?: btw| by the way)?(?=,)",
    re.IGNORECASE,
)
_SPEAK = regex(
    rf"^speak (?P<what>(?!.*\b(?:to|with) (?:me|us)\b)(?:[\w-]+,? ){{0,3}}?{_TONGUE}\b.*)$",
    re.IGNORECASE,
)
_TONGUE_ASKED = regex(
    rf"^{_TONGUE}(?: [\w-]+)? {phrases('shorthand.tongue_asked')}\b.*$", re.IGNORECASE
)
_DENIAL = regex(r"^I don't (?:eat|drink) ")
_DENIED = regex(r"^no \w+", re.IGNORECASE)
_NEXT_DENIED = regex(r" (?=no \w)", re.IGNORECASE)
_LEAD = regex(
    r"^(?:(?:oh|and|also|plus|ps|fyi|btw|hi+|hey|hello|yo|dear assistant)\b[\s,:!]*"
    rf"|{phrases('naming.greetings')}(?!\w)[\s,!.]+"
    rf"(?={phrases('shorthand.presenting')} |[\w'’-]+ here\b))+",
    re.I,
)
_TITLE = rf"(?:{phrases('shorthand.titles')}\.? (?=(?-i:[A-ZÀ-Þ])))"
_NAME = regex(
    rf"^(?:(?P<by>{phrases('shorthand.presenting')}) )?"
    rf"(?P<name>(?P<title>{_TITLE})?(?P<first>(?!from\b)[^\W\d_][\w'’-]*)(?: {_PROPER}){{0,2}})"
    r"(?P<here> here)?$",
    re.IGNORECASE,
)
_CLAIMS_NAME = regex(r"\bname\b", re.IGNORECASE)
_PRONOUNS_BEHIND = regex(r"\s\((?P<which>(?:she|he|they|ze|xe)/\w+(?:/\w+)?)\)", re.IGNORECASE)
_AT_SIGN = regex(r"\s@\s?(?=\w)")
_SETTLED = regex(
    r"\s(?=(?:(?:now|currently) )?(?:based|living) (?:in|at|near|out of) (?-i:[A-ZÀ-Þ]))",
    re.IGNORECASE,
)
_AGE = regex(r"^I am \d+(?: ?(?:yo|y/o|years old|yrs))?$")
_POSITION = regex(
    rf"^I am (?:(?:an?|the) )?.*\b(?:{_ONE_ROLE}|{phrases('shorthand.sole_positions')})\b", re.I
)
_EMPLOYED = regex(r"\s(?:at|for|with|of) (?:the )?(?-i:[A-ZÀ-Þ])[^,]+$")
_BARE_NAME = regex(rf"^{_PROPER}(?: {_PROPER})?$")
_MOST_IN_FIELD = 3
"""Words of what is studied or when one works, behind a role: "PhD student, marine biology"."""
_PRESENTS = regex(r"\b(?:name|it|that)['’]?s\b", re.IGNORECASE)
_NAME_ALONE = regex(rf"^(?P<name>{_PROPER}(?: {_PROPER}){{0,2}})[.!]\s+(?P<next>[^.!?\n]+)")
_APART = regex(
    r"(?P<firm>,|;| /|\s[-–—](?=\s))\s*(?![^(]*\))|\s(?:\+|&)\s|\s+and (?=(?:an?|my|our) )"
)
_OWN = regex(
    r"^(?:but |and )?(?:I|we|my|our|can't|cannot|need|have|had|don't|love|hate|like)\b",
    re.IGNORECASE,
)
_NOT_DESCRIBING = regex(rf"^{one_of(words('shorthand.no_description'))}$", re.IGNORECASE)
_BEHIND_HEAD = regex(r" (?:in|at|for|with|from|across|on|out|of|near|called|named)\b")
_CLAUSE = regex(r"^(?:I|we|my|our)\b", re.IGNORECASE)
_JOINED = regex(r"^(?:and|but) ", re.IGNORECASE)
_REASON = regex(r",? (?=(?:so|because|cos|bc|but)\b)", re.IGNORECASE)
_CONJUNCTION = regex(r"^(?:so|but|because|cos|bc) (?:basically |then |now )?", re.IGNORECASE)
_CLAUSE_BEHIND = regex(r"^(?:but\b|(?:so|because|cos|bc) (?:\w+ly )?(?:I|we|my|our)\b)", re.I)
_ATTACHED = regex(
    rf"^(?:{phrases('shorthand.attached')}\b|\d|{_SMALL}\b"
    rf"|(?:{_KIN} )?{_PROPER}(?: (?:and|&) {_PROPER}| \d.*)?$)",
    re.IGNORECASE,
)
_VERB = regex(r"(?<!\bI) (?:is|are|was|were)\b(?![^(]*\))", re.IGNORECASE)
_OF_ONE_OF_THEM = regex(r"^(?:the|one|both|all|is|are|girls|boys|age|born|\d)", re.IGNORECASE)
_SPEAKS = regex(r"\b(?:you|your|me|please)\b|\?", re.IGNORECASE)
_LONGEST = 160  # characters
_MOST_PARTS = 7
_FEWEST_WITH_NAME = 2
_NOT_PLAIN = regex(rf"^(?:{_TONGUE}|{phrases('core.peoples')})$", re.IGNORECASE)
_HAS = regex(rf"^I have (?:\d|{_SMALL})", re.IGNORECASE)


def notes(sentence: str) -> Notes | None:
    """Return what a sentence notes down about its writer; None if it isn't such a note.

    >>> notes("2 kids, 4 and 7").statements, notes("T2 diabetic so watch the sugar").statements
    (['I have 2 kids, 4 and 7'], ['I am T2 diabetic, so watch the sugar'])
    >>> notes("tomek, truck driver, near Posen, wife Ola + twins (girls, 9)").statements[:3]
    ['I am Tomek', 'I am a truck driver', 'I live near Posen']
    >>> notes("olga, 38, I run a bakery")
    Notes(statements=['I am Olga', 'I am 38'], rest='I run a bakery')
    >>> notes("No onion, no garlic").statements, notes("EN/ET/RU all fine").statements
    (["I don't eat onion or garlic"], ['I speak EN/ET/RU'])
    >>> notes("Bea here, junior dev @ Quill, Berlin").statements
    ['my name is Bea', 'I am a junior dev at Quill', 'I am based in Berlin']
    >>> notes("dentist in Riga"), notes("asthma in children"), notes("No problem")
    (None, None, None)
    >>> notes("Olga, 38, nurse in Riga is my neighbour")
    """
    text = _AT_SIGN.sub(" at ", _LEAD.sub("", sentence.strip(" .!")))
    text = _AGED.sub(r"\g<name>, \g<age>", text)
    text = _PRONOUNS_BEHIND.sub(r", \g<which>", text, count=1)
    if not text or len(text) > _LONGEST or _SPEAKS.search(text):
        return None
    if _CLAUSE.match(text) and not _NAME.match(_APART.split(text)[0]):
        return None
    if spoken := _tongues(text):
        return Notes([spoken], "")
    noted, reason = _with_reason(text)
    parts, rest = _parts(noted)
    told = _told(parts, goes_on=bool(rest or reason))
    if not told:
        return None
    if _CLAUSE_BEHIND.match(reason):
        rest = _CONJUNCTION.sub("", reason)
    elif reason:
        told[-1] = told[-1]._replace(statement=f"{told[-1].statement}, {reason}")
    is_note = len(told) > 1 or told[0].is_sure
    return Notes([one.statement for one in told], rest) if is_note else None


def _with_reason(text: str) -> tuple[str, str]:
    """Return a text and what it gives as a reason or a consequence: "so no root vegetables"."""
    found = _REASON.search(text)
    return (text[: found.start()], text[found.end() :]) if found else (text, "")


def _parts(text: str) -> tuple[list[_Part], str]:
    """Return the parts of a note, and the rest from the first clause in the first person on."""
    parts: list[_Part] = []
    start = 0
    joint, is_firm = "", True
    for mark in (*_APART.finditer(text), None):
        part = text[start : mark.start() if mark else len(text)].strip()
        if _OWN.match(part) and not _NAME.match(part) and not _form_of(part):
            return parts, _JOINED.sub("", text[start:].strip())
        parts += [_Part(one, joint, is_firm) for one in _pieces(part)]
        if mark:
            start, joint, is_firm = mark.end(), mark[0], mark["firm"] is not None
    return parts, ""


def _pieces(part: str) -> list[str]:
    """Return what a part notes side by side: "no nuts no milk", "a vet living in Ghent"."""
    if _DENIED.match(part):
        return _NEXT_DENIED.split(part)
    settled = _SETTLED.search(part)
    if settled and _form_of(part[: settled.start()]):
        return [part[: settled.start()], part[settled.end() :]]
    return [part]


def _told(parts: Sequence[_Part], *, goes_on: bool) -> list[_Told]:
    """Return a statement for each part; empty if one has no form."""
    if not parts or len(parts) > _MOST_PARTS:
        return []
    name = _name(parts[0].text, len(parts) + goes_on)
    told = [_Told(name, is_sure=False)] if name else []
    for part in parts[bool(name) :]:
        own = _form_of(part.text)
        denied = _DENIAL.match(own.statement) if own else None
        if own and denied and told and told[-1].statement.startswith(denied[0]):
            also = own.statement[denied.end() :]
            told[-1] = _Told(f"{told[-1].statement} or {also}", is_sure=True)
        elif own:
            told.append(own)
        elif len(told) == bool(name) or not _attach(told, part, named=bool(name)):
            return []
    return told if len(told) > bool(name) else []


def _goes_on(part: _Part) -> bool:
    """Return whether a part without a form tells more of the part before it."""
    if _VERB.search(part.text) and not _OF_ONE_OF_THEM.match(part.text):
        return False
    return not part.is_firm or _ATTACHED.match(part.text) is not None


def _attach(told: list[_Told], part: _Part, *, named: bool) -> bool:
    """Add a part without a form of its own to what it goes on about; return False if to nothing.

    A name behind an employer is the place of both; behind an age, it goes with the role.
    """
    place = len(told) - 1
    if part.is_firm and _BARE_NAME.match(part.text):
        if _AGE.match(told[place].statement):
            place = next((n for n, one in enumerate(told) if _POSITION.match(one.statement)), -1)
            if place < 0:
                return False
        if named and _is_place_of(told[place].statement, part.text):
            told.append(_Told(f"I am based in {part.text}", is_sure=False))
            return True
    elif not _goes_on(part):
        is_field = part.is_firm and named and _is_field_of(told[place].statement, part.text)
        if not is_field:
            return False
    last = told[place]
    is_sure = last.is_sure or _HAS.match(last.statement) is not None
    told[place] = _Told(last.statement + part.joint + part.text, is_sure)
    return True


def _is_place_of(role: str, name: str) -> bool:
    """Return True if a name behind a role with its employer can only be a place."""
    is_employed = _POSITION.match(role) is not None and _EMPLOYED.search(role) is not None
    return is_employed and all(map(is_name, name.split()))


def _is_field_of(role: str, text: str) -> bool:
    """Return True if a few plain words tell what someone studies or how they work."""
    spoken = text.split()
    return (
        _POSITION.match(role) is not None
        and "," not in role
        and len(spoken) <= _MOST_IN_FIELD
        and all(word.islower() and not _NOT_DESCRIBING.match(word) for word in spoken)
        and can_be_noun(spoken[-1])
        and not any(forms(word) & {Form.THIRD, Form.PAST} for word in spoken[:-1])
    )


def _name(part: str, parts: int) -> str:
    """Return the name with which a note of several parts begins, as a statement; or nothing."""
    found = _NAME.match(part)
    if found is None or parts < _FEWEST_WITH_NAME:
        return ""
    name = found["name"][:1].upper() + found["name"][1:]
    by = found["by"] or found["here"]
    if not by and parts == _FEWEST_WITH_NAME:
        return ""
    first = found["first"][:1].upper() + found["first"][1:]
    is_claimed = found["here"] or _CLAIMS_NAME.search(found["by"] or "")
    is_certain = found["title"] or (is_claimed and found["first"] == first)
    if not is_certain and not (is_given_name(first) if by else is_name(first)):
        return ""
    return f"my name is {name}" if is_claimed else f"I am {name}"


def _form_of(part: str) -> _Told | None:
    """Return what a part says by the first form that it has.

    One with a verb is about somebody else: "nurse in Riga is my neighbour".
    """
    has_verb = _VERB.search(part) is not None
    for form in _FORMS:
        if has_verb and not form.has_verb:
            continue
        if found := form.pattern.match(part):
            groups = {name: value or "" for name, value in found.groupdict().items()}
            what = groups["what"] = _lowered(groups.get("what", ""))
            return _Told(form.says.format(**groups, article=_article(what)), form.is_sure)
    placed = _LOWER_PLACE.match(part)
    if placed and is_name(placed["place"].capitalize()):
        return _Told(f"I am {placed['what']}", is_sure=False)
    return None


def _lowered(text: str) -> str:
    """Return a text whose first word begins with a capital only if it always does."""
    first = text.split()[0] if text else ""
    is_known = is_word(first.lower()) or first.lower() in _NUMBERS or "-" in first
    is_plain = is_known and first[1:] == first[1:].lower() and not _NOT_PLAIN.match(first)
    return text[:1].lower() + text[1:] if is_plain else text


def _article(what: str) -> str:
    """Return the article before a thing or a role; nothing before one that has one, or several."""
    head = _BEHIND_HEAD.split(what, maxsplit=1)[0].split()
    if not head or head[0] in ("a", "an", "the") or head[-1].endswith("s"):
        return ""
    return f"{indefinite(head[0])} "


def _tongues(text: str) -> str | None:
    """Return the tongues that a note says its writer speaks, as a statement."""
    if found := _CODES.match(text) or _SPEAK.match(text):
        return f"I speak {found['what']}"
    parts = [part.strip() for part in text.split(",")]
    return f"I speak {_lowered(text)}" if all(map(_SPOKEN.match, parts)) else None


def with_name_joined(text: str) -> str:
    """Return a message whose first sentence is a name with that name at the head of the note.

    >>> with_name_joined("Ilka. Employment lawyer, partner at Holm & Lie in Bergen.")
    'Ilka, Employment lawyer, partner at Holm & Lie in Bergen.'
    >>> with_name_joined("Ilka. She called.")
    'Ilka. She called.'
    """
    found = _NAME_ALONE.match(text)
    if found is None or _PRESENTS.match(text) or notes(f"{found['name']}, {found['next']}") is None:
        return text
    return f"{found['name']}, {text[found.start('next') :]}"


def tongues_asked(sentence: str) -> Iterator[str]:
    """Yield what a note asks for in which tongue: "Welsh for letters, English for the rest".

    >>> list(tongues_asked("Welsh for letters, English with me"))
    ['use Welsh for letters', 'use English with me']
    >>> list(tongues_asked("Welsh for beginners is a nice book"))
    []
    """
    parts = [part.strip() for part in sentence.strip(" .!").split(",")]
    if len(parts) > 1 and all(map(_TONGUE_ASKED.match, parts)):
        yield from (f"use {part}" for part in parts)
