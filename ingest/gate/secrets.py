"""Finds passwords, keys and tokens, with the detectors of detect-secrets.

https://github.com/Yelp/detect-secrets. Its detectors are used one by one: its scanner reads files
and keeps its settings in a global.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detect_secrets.plugins.base import RegexBasedDetector
    from detect_secrets.plugins.high_entropy_strings import HighEntropyStringsPlugin

# "My password is hunter2", as people write it; the detectors look for assignments in code.
_TOLD = re.compile(
    r"\b(?:pass(?:word|phrase|code)|pin(?:[ ]code)?|(?:api|access|secret|private)[ _-]?key"
    r"|(?:access|auth|api|bearer)[ _-]?token"
    r"|secret|credentials?)\b(?:[ ](?:for|to|of)(?:[ ][\w.'-]+){1,4})?[ ]*(?:is|was|="
    r"|:)[ ]*(?:now[ ]|still[ ])?['\"`]?(?P<value>\S{4,})",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[A-Za-z0-9_+/=.~-]{20,}")
_MIN_ENTROPY = 4.0  # bits per character; words and identifiers stay below


def holds_secret(text: str) -> bool:
    """Whether `text` holds something that gives access: a key, a token, a password."""
    for told in _TOLD.finditer(text):
        if re.search(r"\d|[^\w\s.,!?'\"-]", told["value"]):
            return True
    if any(_random(token) for token in _TOKEN.findall(text)):
        return True
    return any(any(True for _ in detector.analyze_string(text)) for detector in _detectors())


def _random(token: str) -> bool:
    """Whether `token` has the letters of chance: both cases, digits, nothing like words."""
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
