"""Find passwords on command lines, in assignments, and in pairs of a name and a password."""

from __future__ import annotations

import re
from collections.abc import Iterator

from semantic_memory.domain.patterns import regex

_HINT = regex(
    r"pass|\bpw|\bpin\b|wi-?fi|wlan|code|key|token|comb(?:o|ination)\b|kennwort|contrase|senha|wacht"
    r"|login|cred|secret|(?:^|\s)-[upP]|[-/]user|\botp\b|\bcv[vc]|(?:opens|unlocks) with",
    re.IGNORECASE,
)
_ASSIGNED = tuple(
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
_NO_SECRET = regex(
    r"[\[<{*$.\u2022]|https?:|\d{4}-\d\d-\d\d|\d+(?:st|nd|rd|th|[ap]m)\b", re.IGNORECASE
)


def assigned_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of secrets in commands, assignments and pairs of a name and a password."""
    if _HINT.search(text) is None:
        return
    for pattern in _ASSIGNED:
        for found in pattern.finditer(text):
            if not _NO_SECRET.match(found["value"]):
                yield found.span("value")
