"""Detection of passwords, keys and tokens, in sentences and by the detectors of detect-secrets.

Calls the detectors of https://github.com/Yelp/detect-secrets directly, as its scanner reads files
and keeps its settings in a global.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from ingest.gate.plain_words import told
from semantic_memory.domain.english.words import (
    Form,
    can_be_noun,
    forms,
    is_adverb,
    is_quality,
)
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS

if TYPE_CHECKING:
    from detect_secrets.plugins.base import RegexBasedDetector
    from detect_secrets.plugins.high_entropy_strings import HighEntropyStringsPlugin

# Passwords stated in sentences; the detectors look for assignments in code.
_KIND = (
    r"(?:pass[ -]?(?:word|phrase|code)s?|pwd?|pin(?:[ -]?(?:code|number))?"
    r"|(?:api|access|secret|private|recovery|encryption|license)[ _-]?key"
    r"|(?:access|auth|api|bearer|refresh)[ _-]?token|(?:seed|recovery|backup)[ -]phrase"
    r"|(?:wi-?fi|wlan|gate|door|alarm|safe|lock|locker|entry|security|backup|recovery|unlock"
    r"|access|garage|login"
    r"|vault|elevator)[ -](?:code|key|combination)|cvv|cvc"
    r"|passwort|kennwort|zugangscode|mot de passe|code secret|contrase\u00f1a|clave|senha"
    r"|wachtwoord)"
)
_OF = r"(?:[ ](?:for|to|of|on|at|f\u00fcr|de|du|del|para)(?:[ ][\w.'-]+){1,5}?)?"
# Every match of the patterns below contains one of these; checking first is five times faster.
_HINT = regex(
    r"pass|\bpw|\bpin|key|token|phrase|code|combination|\bcv[vc]|kennwort|mot de|contrase"
    r"|clave|senha|wacht"
    r"|secret|login|credential",
    re.IGNORECASE,
)
_STATED = regex(
    rf"\b{_KIND}\b{_OF}[ ]*(?:(?P<mark>[:=]|->)|\b(?:is|was|are|ist|lautet|est|es|\u00e9)\b)[ ]*"
    r"(?:(?:now|still|currently|simply|just)[ ])?",
    re.IGNORECASE,
)
_SET = regex(
    (
        rf"\b(?:chang|reset|set|updat|switch|mak)\w*[ ](?:my|the|our|his|her|their)[ ]"
        rf"(?:[\w-]+[ ]){{0,3}}?{_KIND}{_OF}[ ]to[ ]"
    ),
    re.IGNORECASE,
)
_USED = regex(
    rf"\b(?:use|used|using|with|type|typed|enter|entered)[ ]"
    rf"(?P<value>[\"'`]?[^\s\"'`]{{4,}}[\"'`]?)[ ]as[ ](?:my|the|our)[ ]"
    rf"(?:[\w-]+[ ]){{0,3}}?{_KIND}\b",
    re.IGNORECASE,
)
_BESIDE = regex(rf"\b{_KIND}[ ](?P<value>(?=\S*\d)[^\s,;]{{4,}})", re.IGNORECASE)
_QUOTED = regex(
    r"([\"'`\u201c\u2018\u00ab\u201e])"
    r"(?P<value>[^\"'`\u201d\u2019\u00bb\u201c\n]{3,60})[\"'`\u201d\u2019\u00bb\u201c]"
)
_VALUE = regex(r"[^\s,;!?]{1,1000}")
_REST = regex(r"[^\s,;!?]*")
_MOST_WORDS = 8
# "The secret is X" is most often no password; one with digits or signs is.
_LOOSE = regex(
    (
        r"\b(?:secret|login|credentials?)\b(?:[ ](?:for|to|of)(?:[ ][\w.'-]+){1,4})?[ ]*(?:is|was"
        r"|=|:)[ ]*(?P<value>\S{4,})"
    ),
    re.IGNORECASE,
)
# Digits among letters, or characters that words don't have.
_SIGNS = regex(r"\A(?=\D*\d)(?=[\W\d]*[^\W\d])|[^\w\s.,!?'\"\u2019-]")
_NO_VALUES = frozenset(
    """
    wrong safe strong weak secure short long new old same good bad fine great okay ok right valid
    invalid secret public private unique simple complex complicated easy hard difficult different
    forgotten unknown missing empty gone lost visible hidden sensitive default ready important
    nothing something anything everything everywhere here there nowhere between about what
    falsch richtig sicher unsicher neu alt gleich lang kurz vergessen nicht weg abgelaufen
    incorrecta segura nueva correcta incorrect correct oublie perdu
    thanks sure yes nope none please maybe what which whose
    protected bad-idea english case fun silly stupid weird random dumb embarrassing annoying
    """.split()
)
_AND = frozenset("and und et y e en".split())
_JOINTS = frozenset(
    "every each whenever always never until since enough anymore please btw again already".split()
)
_STANDARD = frozenset(
    "requirements policy rules reset manager managers field fields prompt hint".split()
)
_KEY_BLOCK = regex(
    r"-----BEGIN[A-Z ]* PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END[A-Z ]*-----|\Z)", re.DOTALL
)
_TOKEN = regex(r"[A-Za-z0-9_+/=.~-]{20,}")
_WORD_END = regex(r"\S*")
# Some detectors take quadratic time, so they get windows; a prefix they search for is shorter than
# half a window.
_WINDOW = 1_000
_MIN_ENTROPY = 4.0  # bits per character; words and identifiers stay below

_SEPARATORS = regex(r"[_.-]+")
_NAMING = regex(
    r"pass(?:word|code|phrase|wd)?\b|\bpwd?\b|\bpin\b|secret\b|\bcv[vc]\b", re.IGNORECASE
)

REDACTED = "[secret]"
"""Replacement of a secret."""


class Secret(NamedTuple):
    """Place of a secret in a text, and its kind in words."""

    start: int
    end: int
    kind: str


def first_secret(text: str) -> Secret | None:
    """Return the first key, token or password that is found in `text`."""
    return next(_found(text), None)


def without_secrets(text: str) -> str:
    """Replace each secret in `text` by "[secret]"."""
    kept, done = "", 0
    for start, end, _ in sorted(_found(text)):
        if end > done:
            kept += text[done : max(start, done)] + (REDACTED if start >= done else "")
            done = end
    return kept + text[done:] if done else text


def prefix(name: str) -> str:
    """Return what stands before a value to judge it by its key: the key, if it names a secret."""
    said = _SEPARATORS.sub(" ", name)
    return f"{said}: " if _NAMING.search(said) else ""


def _found(text: str) -> Iterator[Secret]:
    """Yield the secrets, which may overlap."""
    for span in chain(_stated(text), told(text, lambda word: _is_value(word, certain=True))):
        yield Secret(*span, "password or code")
    for block in _KEY_BLOCK.finditer(text):  # the detector finds only its first line
        yield Secret(*block.span(), "private key")
    for token in _TOKEN.finditer(text):
        if _random(token[0]):
            yield Secret(*token.span(), "key or token")
    yield from _of_vendors(text)


def _of_vendors(text: str) -> Iterator[Secret]:
    """Yield the secrets that the detectors find."""
    for start in range(0, len(text), _WINDOW // 2):
        end = min(start + _WINDOW, len(text))
        for detector in _detectors():
            for pattern in detector.denylist:
                for match in pattern.finditer(text, start, end):
                    cut = match.end() == end
                    last = _end(_WORD_END, text, end) if cut else match.end()
                    yield Secret(match.start(), last, detector.secret_type)
        if end == len(text):
            return


def _end(run: re.Pattern[str], text: str, start: int) -> int:
    found = run.match(text, start)
    return found.end() if found else start


def _stated(text: str) -> Iterator[tuple[int, int]]:
    if _HINT.search(text) is None:
        return
    yield from _announced(_STATED, text)
    yield from _announced(_SET, text)
    for used in _USED.finditer(text):
        if _is_value(used["value"].strip("\"'`"), certain=False):
            yield used.span("value")
    for beside in _BESIDE.finditer(text):
        yield beside.span("value")
    for loose in _LOOSE.finditer(text):
        if _SIGNS.search(loose["value"].rstrip(".,!?")) and "://" not in loose["value"]:
            yield loose.span("value")


def _announced(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    done = 0
    for found in pattern.finditer(text):
        if found.end() < done:
            continue  # part of a value
        certain = found.groupdict().get("mark") is not None
        if (span := _value(text, found.end(), certain=certain)) is not None:
            done = span[1]
            yield span


def _value(text: str, start: int, *, certain: bool) -> tuple[int, int] | None:
    """Return the span of the value that begins at `start`, if it is one.

    `certain` says that a colon or the like announces it.
    """
    if quoted := _QUOTED.match(text, start):
        return quoted.span("value")
    words: list[re.Match[str]] = []
    place, joint = start, ""
    while len(words) < _MOST_WORDS and (word := _VALUE.match(text, place)):
        if words and _is_joint(word[0]):
            joint = word[0].lower()
            break
        words.append(word)
        place = word.end()
        if word[0].endswith((".", ":")) or text[place : place + 1] != " ":
            break
        place += 1
    if not words:
        return None
    first = words[0][0].rstrip(".:)\"'")
    plain = all(other[0].rstrip(".").isalpha() for other in words[1:])
    phrase = len(words) > 2 and plain and not (is_adverb(first) or first.lower() in STOP_WORDS)
    explained = certain and (
        len(words) == 2 or (joint and joint not in _AND)
    )  # "Password: look it up"
    if not (phrase and not joint) and (explained or not _is_value(first, certain=certain)):
        return None
    last = words[-1] if plain else words[0]
    if (end := _end(_REST, text, last.end())) > last.end():
        return start, end
    return start, last.start() + len(last[0].rstrip(".,!?)"))


def _is_joint(word: str) -> bool:
    lowered = word.lower().rstrip(".")
    return lowered in STOP_WORDS | _JOINTS | _AND or is_adverb(lowered)


def _is_value(word: str, *, certain: bool) -> bool:
    """Return True if `word` can be a password rather than a word about one."""
    lowered = word.lower()
    if len(lowered) < 3 or word[0] in "*./$<{[\u2022" or set(lowered) <= {"x"}:
        return False
    if _SIGNS.search(word) or word.isdigit():
        return True
    if lowered in STOP_WORDS | _NO_VALUES | _STANDARD or is_adverb(lowered):
        return False
    known = forms(lowered)
    if certain:
        return known != {Form.PAST} and known != {Form.ING}
    return (
        can_be_noun(lowered)
        and not known & {Form.PAST, Form.ING, Form.THIRD}
        and not is_quality(lowered.rpartition("-")[2])
    )


def _random(token: str) -> bool:
    """Return True if `token` looks random: both cases, digits, high entropy."""
    if token.startswith(("http", "www.", "/")) or token.count("-") > 4 or "/" in token[1:-1]:
        return False
    mixed = re.search(r"\d", token) and re.search(r"[a-z]", token) and re.search(r"[A-Z]", token)
    return bool(mixed) and _entropy().calculate_shannon_entropy(token) >= _MIN_ENTROPY


@cache
def _entropy() -> HighEntropyStringsPlugin:
    from detect_secrets.plugins.high_entropy_strings import Base64HighEntropyString

    return Base64HighEntropyString()


@cache
def _detectors() -> tuple[RegexBasedDetector, ...]:
    from detect_secrets.plugins.aws import AWSKeyDetector
    from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
    from detect_secrets.plugins.basic_auth import BasicAuthDetector
    from detect_secrets.plugins.discord import DiscordBotTokenDetector
    from detect_secrets.plugins.github_token import GitHubTokenDetector
    from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
    from detect_secrets.plugins.jwt import JwtTokenDetector
    from detect_secrets.plugins.mailchimp import MailchimpDetector
    from detect_secrets.plugins.npm import NpmDetector
    from detect_secrets.plugins.openai import OpenAIDetector
    from detect_secrets.plugins.private_key import PrivateKeyDetector
    from detect_secrets.plugins.pypi_token import PypiTokenDetector
    from detect_secrets.plugins.sendgrid import SendGridDetector
    from detect_secrets.plugins.slack import SlackDetector
    from detect_secrets.plugins.square_oauth import SquareOAuthDetector
    from detect_secrets.plugins.stripe import StripeDetector
    from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
    from detect_secrets.plugins.twilio import TwilioKeyDetector

    return (
        AWSKeyDetector(),
        AzureStorageKeyDetector(),
        BasicAuthDetector(),
        DiscordBotTokenDetector(),
        GitHubTokenDetector(),
        GitLabTokenDetector(),
        JwtTokenDetector(),
        MailchimpDetector(),
        NpmDetector(),
        OpenAIDetector(),
        PrivateKeyDetector(),
        PypiTokenDetector(),
        SendGridDetector(),
        SlackDetector(),
        SquareOAuthDetector(),
        StripeDetector(),
        TelegramBotTokenDetector(),
        TwilioKeyDetector(),
    )
