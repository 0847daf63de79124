"""Detection of passwords in plain words, on command lines and in assignments.

Beside what `secrets` finds in sentences: short names ("pw: ..."), passive changes ("was changed
to ..."), answers to a question ("the password? ..."), options (`-u name:...`), pairs of a name and
a password ("login: maya / ...").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain

from semantic_memory.domain.patterns import regex

_NAME = (
    r"(?:pass(?:[ -]?(?:word|phrase|code|wd)s?)?|pw|pwd|pin(?:[ -]?(?:code|number))?"
    r"|(?:wi-?fi|wlan|gate|door|alarm|safe|lock|locker|lock[ -]?box|garage|vault|entry|access)"
    r"(?:[ -](?:code|key|password|pw|combination|combo))?"
    r"|combination|combo"
    r"|code (?:for|to|of) (?:(?:get|enter|open|unlock) )?(?:(?:the|my|our|in|into)[ ]?){1,2}"
    r"(?:[ ]?[\w-]{1,20}){1,3}?"
    r"|(?:api|access|secret|recovery)[ _-]?(?:key|token)"
    r"|passwort|kennwort|mot de passe|contrase\u00f1a|senha|wachtwoord)"
)
_OF = r"(?:[ ](?:for|to|of|on|at)(?:[ ][\w.'-]{1,30}){1,4}?)?"
_FILLER = r"(?:(?:now|still|just|it'?s|it is|is|that'?s)[ ])?"
_WORD = r"[\"'`\u201c\u2018]?(?P<value>[^\s\"'`,;\u201d\u2019]{3,200})"

_HINT = regex(
    r"pass|\bpw|\bpin\b|wi-?fi|wlan|code|key|token|comb(?:o|ination)\b|kennwort|contrase|senha|wacht"
    r"|login|cred|secret|(?:^|\s)-[upP]|[-/]user|\botp\b|\bcv[vc]|(?:opens|unlocks) with",
    re.IGNORECASE,
)
# what behind them is certainly meant as a value
_SURE = tuple(
    regex(pattern, re.IGNORECASE)
    for pattern in (
        # mysql -u root:..., curl --user name:...
        r"(?:^|[ ])(?:-u|--user)[ =][\"']?[\w.@-]{1,64}:(?P<value>[^\s\"'@]{3,200})",
        # sshpass -p ..., mysql -p...
        (
            r"\b(?:sshpass|mysql\w*|mongo\w*|redis-cli|psql)\b[^\n|;]{0,80}?[ ]-(?:p|a)[ ]?[\"']?"
            r"(?P<value>(?!\d{2,5}(?:[ \n]|$))[^\s\"'-][^\s\"']{2,200})"
        ),
        r"[ ]--(?:password|pass|token|secret)[ =][\"']?(?P<value>[^\s\"'$<-][^\s\"']{2,200})",
        # DB_PASS=..., export TOKEN=...
        (
            r"\b[A-Z_]*(?:PASS(?:WORD|WD)?|PWD|TOKEN|SECRET"
            r"|(?:API|ACCESS|SECRET|PRIVATE|SIGNING|ENCRYPTION)_?KEY)[ ]?=[ ]?[\"']?"
            r"(?P<value>[^\s\"'$<{(][^\s\"']{2,200})"
        ),
        # {"password": "..."}, client_secret: ...
        (
            r"\b(?:pass(?:word|wd|phrase)?|pwd|secret|token|\w{1,20}_(?:secret|token|password)"
            r"|api_?key)[\"'][ ]?:[ ]?[\"'](?P<value>[^\s\"'$<{]{3,200})"
        ),
        (
            r"\b(?:client|app|consumer|shared)[ _-]secret[ ]?[:=][ ]?"
            r"(?P<value>(?=\S{0,200}\d)[\w.~+/=-]{8,200})"
        ),
        # user bob pass ..., /user:bob ...
        (
            r"\b(?:user(?:[ ]?name)?|login)[ :=]{1,2}[\w.@-]{1,64}[ ,;/]{1,2}(?:and[ ])?"
            r"(?:with[ ])?(?:the[ ])?(?:pass(?:word)?|pw|pwd)[ :=]{1,2}"
            r"(?P<value>(?=[^\s]*\d)[^\s\"',;]{4,200})"
        ),
        (
            r"\b(?:user(?:[ ]?name)?|login)[ ]?[:=][ ]?[\w.@-]{1,64}[ ,;/]{1,2}"
            r"(?:pass(?:word)?|pw|pwd)[ ]?[:=][ ]?(?P<value>[^\s\"',;]{3,200})"
        ),
        r"/user:[\w.@\\-]{1,64}[ ](?P<value>[^\s/\"'][^\s\"']{3,200})",
        # one-time codes, backup codes, the number on the back of a card
        (
            r"\b(?:otp|(?:one[- ]time|verification|2fa|two[- ]factor|authenticator|sms)"
            r"[ ](?:code|pin|password|token))(?:[ ]?[:=]|[ ](?:is|was)|'s)?[ ](?P<value>\d{4,8})\b"
        ),
        (
            r"\b(?:backup|recovery|scratch)[ ]codes?(?:[ ]?[:=]|[ ](?:is|are))[ ]"
            r"(?P<value>(?=[\w-]{0,20}\d)[\w-]{4,40}"
            r"(?:[ ,;]{1,2}(?=[\w-]{0,20}\d)[\w-]{4,40}){0,20})"
        ),
        r"\bcv[vc]2?(?:[ ]?[:=]|[ ](?:is|was|number))?[ ](?P<value>\d{3,4})\b",
        # the safe opens with 12-34-56
        (
            r"\b(?:safe|lock|padlock|locker|gate|door|vault|garage|phone|tablet|laptop)[ ]"
            r"(?:opens|unlocks)[ ]with[ ](?:the[ ])?(?:(?:code|pin|combination)[ ])?"
            r"(?P<value>\d[\d-]{2,12}\d)"
        ),
        r"\bsecurity (?:question(?:'s)? )?answer(?: is|:)[ ](?P<value>[\w'-]{3,60})",
        # creds: admin / ...
        (
            r"\b(?:login|logins|creds?|credentials?|wi-?fi|wlan)[ ]?"
            r"(?:[:=][ ]?[\w.@-]{2,64}(?:[ ]?[/:|][ ]?|[ ])"
            r"|(?:is|are|with|as)[ ][\w.@-]{3,64}[ ]?[/:|][ ]?)"
            r"(?P<value>(?=[^\s/]*\d)[^\s\"',;/|]{4,200})"
        ),
    )
)
# what may be a word: only one that looks like a password is a value
_LIKELY = tuple(
    regex(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_NAME}{_OF}[ ]?(?:[:=]|->|\u2192)[ ]?{_FILLER}{_WORD}",
        (
            rf"\b(?:pw|pwd|{_NAME}){_OF}(?:[ ](?:is|was|are|ist|est|es)|['\u2019]s)[ ]"
            rf"{_FILLER}{_WORD}"
        ),
        rf"\bpw[ ]{_FILLER}{_WORD}",
        (
            rf"\b{_NAME}{_OF}[ ](?:(?:was|is|has been|had been|got|were|will be|wurde|became)[ ])"
            rf"(?:(?:now|just|recently)[ ])?(?:(?:changed|reset|set|updated|switched|rotated)[ ])?"
            rf"(?:back[ ])?(?:to|auf|in)?[ ]?{_WORD}"
        ),
        (
            rf"\b(?:changed|reset|set|updated|switched|rotated|ge\u00e4ndert)[^.!?\n]{{0,40}}?[ ]"
            rf"{_NAME}{_OF}[ ](?:to|auf|as)[ ]{_WORD}"
        ),
        rf"\b{_NAME}{_OF}[ ]from[ ]{_WORD}[ ]to[ ]\S",
        rf"\b{_NAME}{_OF}[ ]from[ ]\S{{1,60}}[ ]to[ ]{_WORD}",
        (
            rf"\b(?:use|type|enter|try)[ ]{_WORD}[ ](?:for|as|at|to log in|to unlock)[ ]"
            rf"(?:[\w'-]{{1,20}}[ ]){{0,4}}?(?:log-?in|wi-?fi|wlan|{_NAME})\b"
        ),
        rf"\b{_NAME}(?:[ ]ge\u00e4ndert)?[ ]auf[ ]{_WORD}",
        (
            rf"\b{_NAME}{_OF}[^.!?\n]{{0,20}}[ ](?:changed|reset|updated|new)[,;]?[ ]"
            rf"(?:so[ ])?(?:it'?s|it is|now)[ ](?:now[ ])?{_WORD}"
        ),
        rf"\b{_NAME}{_OF}[ ]?\?+[ ]?{_FILLER}{_WORD}",
    )
)
# a word that stands alone behind the name of a password, and ends the text
_ALONE = regex(
    r"\b(?:pass(?:word|phrase|code)|pwd?)\b(?:[ ]?\?+[ ]?|[ ](?:-|\u2013|\u2014)[ ])"
    r"(?P<value>[\w-]{4,60})[.!]?\s*\Z",
    re.IGNORECASE,
)
_LOOKS = regex(
    r"(?=\S*\d)(?=\S*[^\W\d_])\S{4,}"  # letters and digits
    r"|\d{4,12}[*#]?[.!?]?\Z"  # a PIN
    r"|\d{1,4}(?:-\d{1,4}){2,3}[.!?]?\Z"  # a combination
    r"|(?=\S*[^\W\d_])\S*[#$%^&*+=@!?~][\w#$%^&*+=@!?~-]+\S*"  # signs amid letters
)
_NO_SECRET = regex(
    r"[\[<{*$.\u2022]|https?:|\d{4}-\d\d-\d\d|\d+(?:st|nd|rd|th|[ap]m)\b", re.IGNORECASE
)


def told(text: str, is_value: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Yield the places of passwords; `is_value` decides on plain words behind a colon."""
    if _HINT.search(text) is None:
        return
    sure = chain.from_iterable(pattern.finditer(text) for pattern in _SURE)
    yield from (found.span("value") for found in sure if not _NO_SECRET.match(found["value"]))
    yield from (found.span("value") for found in _ALONE.finditer(text) if is_value(found["value"]))
    for pattern in _LIKELY:
        for found in pattern.finditer(text):
            value = found["value"].rstrip(".!?)")
            if _NO_SECRET.match(value):
                continue
            announced = found[0].lower().startswith("pw") and ":" in found[0]
            if _LOOKS.match(value) or (announced and is_value(value)):
                yield _trimmed(found)


def _trimmed(found: re.Match[str]) -> tuple[int, int]:
    """Return the place of a value without the marks that end its sentence."""
    start = found.start("value")
    return start, start + len(found["value"].rstrip(".,!?)"))
