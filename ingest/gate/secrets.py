"""Detection of passwords, keys and tokens, in sentences and by the detectors of detect-secrets.

Calls the detectors of https://github.com/Yelp/detect-secrets directly, as its scanner reads files
and keeps its settings in a global.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from ingest.gate.assigned_secrets import assigned_secrets
from ingest.gate.named_secrets import named_secrets
from ingest.gate.told_secrets import told_secrets
from semantic_memory.domain.patterns import regex

if TYPE_CHECKING:
    from detect_secrets.plugins.base import RegexBasedDetector
    from detect_secrets.plugins.high_entropy_strings import HighEntropyStringsPlugin

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
    """Return the first key, token or password that is surely in `text`."""
    return next(_found(text, surely=True), None)


def without_secrets(text: str, *, surely: bool = False) -> str:
    """Replace each secret in `text`, or what is `surely` one, by "[secret]"."""
    kept, done = "", 0
    for start, end, _ in sorted(_found(text, surely=surely)):
        if end > done:
            kept += text[done : max(start, done)] + (REDACTED if start >= done else "")
            done = end
    return kept + text[done:] if done else text


def prefix(name: str) -> str:
    """Return what stands before a value to judge it by its key: the key, if it names a secret."""
    said = _SEPARATORS.sub(" ", name)
    return f"{said}: " if _NAMING.search(said) else ""


def _found(text: str, *, surely: bool = False) -> Iterator[Secret]:
    """Yield the secrets, which may overlap."""
    told = told_secrets(text, surely=surely)
    named = named_secrets(text, surely=surely)
    for span in chain(named, assigned_secrets(text), told):
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


def _random(token: str) -> bool:
    """Return True if `token` looks random: both cases, digits, high entropy."""
    if token.startswith(("http", "www.", "/")) or token.count("-") > 4 or "/" in token[1:-1]:
        return False
    mixed = re.search(r"\d", token) and re.search(r"[a-z]", token) and re.search(r"[A-Z]", token)
    return bool(mixed) and _entropy().calculate_shannon_entropy(token) >= _MIN_ENTROPY


@contextmanager
def _own_warnings() -> Iterator[None]:
    """Take back that detect-secrets, once imported, sends a whole process's warnings to logs."""
    shown = warnings.showwarning
    yield
    if warnings.showwarning is not shown:
        logging.captureWarnings(False)


@cache
@_own_warnings()
def _entropy() -> HighEntropyStringsPlugin:
    from detect_secrets.plugins.high_entropy_strings import Base64HighEntropyString

    return Base64HighEntropyString()


@cache
@_own_warnings()
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
