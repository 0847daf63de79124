"""Find passwords on command lines, in assignments, and in pairs of a name and a password."""

from __future__ import annotations

import re
from collections.abc import Iterator

from semantic_memory.domain.patterns import regex

_HINT = regex(
    r"://|@|verify|confirm|log in|sign in|pass|\bpw|\bauth|bearer|cookie|sess|signature|admin"
    r"|\broot\b|guest|\bpin\b|wi-?fi|wlan|code|key|token|comb(?:o|ination)\b|kennwort|contrase"
    r"|senha|wacht|login|cred|secret"
    r"|(?:^|\s)-[upP]|[-/]user|\botp\b|\bcv[vc]|(?:opens|unlocks) with",
    re.IGNORECASE,
)
_MIXED = r"(?=[^\s\"',;&]{0,200}\d)(?=[^\s\"',;&]{0,200}[A-Za-z])"
_NAMES = (  # last words of names of keys, behind others or by themselves
    r"(?:(?:[\w.-]{0,40}[_.-])|(?-i:[a-z][a-z0-9]{0,20}(?=[A-Z])))?"
    r"(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|credentials?"
    r"|(?:api|access|secret|private|signing|encryption|shared|master|host|account|service|client"
    r"|auth|session|licen[cs]e|webhook)[_-]?(?:key|token|secret|id)|\bx-[\w-]{1,30}key)"
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
        # SMTP_PASS: "...", x-api-key: ..., secretKey: ...
        (
            rf"(?<![\w.-]){_NAMES}[\"']?[ ]?[:=][ ]?(?:[|>][+-]?\s{{1,40}})?[\"']?"
            rf"(?P<value>{_MIXED}[^\s\"',;&<{{$]{{6,200}})"
        ),
        # Authorization: Bearer ..., Cookie: id=...
        (
            r"\bauthorization[\"']?[ ]?[:=][ ]?[\"']?(?:[A-Za-z]{3,12}[ ])?"
            r"(?P<value>[\w.~+/=:-]{8,400})"
        ),
        rf"\bbearer[ ](?P<value>{_MIXED}[\w.~+/=-]{{12,400}})",
        rf"\bcookie[ ]?[:=][ ]?[\w.-]{{1,40}}=(?P<value>{_MIXED}[^\s\"',;]{{8,400}})",
        # https://...?sig=..., redis://:...@
        rf"[?&](?:key|sig|signature|auth)=(?P<value>{_MIXED}[^\s\"'&#]{{8,200}})",
        r"://[^\s/:@\"']{0,64}:(?P<value>[^\s/:@\"'$<{]{3,200})@",
        # admin / ...
        rf"\b(?:admin(?:istrator)?|root|guest)[ ]?[/|][ ]?(?P<value>{_MIXED}[^\s\"',;/|]{{6,200}})",
        # docker login -u maya -p ...
        r"[ ]-u[ =]\S{1,64}[ ]-p[ ]?[\"']?(?P<value>[^\s\"'$<-][^\s\"']{2,200})",
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
        # use ... to verify, ana@example.org / ...
        (
            r"\b(?:use|enter|type)[ ](?:the[ ]code[ ])?(?P<value>\d{4,8})[ ]to[ ]"
            r"(?:verify|confirm|log|sign|authenticate|access|unlock)\b"
        ),
        (
            r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}[ ]?"
            r"(?:[/|:,]|and|with|und|mit|et|con|y)[ ]"
            rf"(?P<value>{_MIXED}[^\s\"',;/|@]{{6,200}})"
        ),
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
