"""Detection of personal data by its form, to mask, redact or refuse it.

Finds card numbers and IBANs with valid check digits, and the national numbers of thirteen kinds,
those of digits alone by the words before them (python-stdnum): these are masked by default. Where
all is redacted or refused, e-mail addresses, and telephone numbers (phonenumbers, Google's library)
too. Names and places don't count, as memories are about them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Literal, NamedTuple

from semantic_memory.domain.errors import MissingDependencyError
from semantic_memory.domain.extraction import Candidate
from semantic_memory.domain.patterns import regex

Policy = Literal["keep", "mask", "redact", "refuse"]

_REGION = "US"
"""Country of telephone numbers without a country code."""
# Bounded, or a long word costs quadratic time.
_EMAIL = regex(r"[\w.%+-]{1,64}@(?:[\w-]+\.)+[^\W\d_]{2,}")
# Every number below has as many digits; checking first is cheap.
_NUMBERS = regex(r"(?:\D*\d){6}")
# Of payment cards: the first digits that issuers have. Of other numbers one in ten is valid too.
_DIGITS = regex(r"(?<![\w-])(?=4|5[0-8]|2[2-7]|3[0-9]|6)\d(?:[ -]?\d){12,18}(?![\w-])")
_IBAN = regex(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8}\b")
_SSN = regex(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])")

# Numbers of persons: their form, and the words that must stand near before the ones of digits alone
_NATIONAL = tuple(
    (module, regex(form), regex(words, re.IGNORECASE) if words else None)
    for module, form, words in (
        ("gb.nhs", r"(?<![\w-])\d{3}[ -]?\d{3}[ -]?\d{4}(?![\w-])", r"\bnhs\b"),
        ("de.idnr", r"(?<![\w-])\d{2} ?\d{3} ?\d{3} ?\d{3}(?![\w-])", r"steuer|tax|\bidnr\b"),
        ("fr.nir", r"(?<![\w-])[12] ?\d\d ?\d\d ?\d[\dAB] ?\d{3} ?\d{3} ?\d\d(?![\w-])", None),
        ("es.dni", r"(?<![\w-])\d{8}-?[A-Z]\b", None),
        ("it.codicefiscale", r"\b[A-Z]{6}\d\d[A-Z]\d\d[A-Z]\d{3}[A-Z]\b", None),
        ("nl.bsn", r"(?<![\w-])\d{9}(?![\w-])", r"\bbsn\b|burger|sofi"),
        ("pl.pesel", r"(?<![\w-])\d{11}(?![\w-])", r"pesel"),
        ("se.personnummer", r"(?<![\w-])(?:\d\d)?\d{6}[-+]?\d{4}(?![\w-])", r"person"),
        ("ch.ssn", r"(?<![\w-])756\.\d{4}\.\d{4}\.\d\d(?![\w-])", None),
        ("br.cpf", r"(?<![\w-])\d{3}\.\d{3}\.\d{3}-\d\d(?![\w-])", None),
        ("in_.aadhaar", r"(?<![\w-])\d{4} ?\d{4} ?\d{4}(?![\w-])", r"aadhaar|\buid\b"),
        ("us.ssn", r"(?<![\w-])\d{9}(?![\w-])", r"\bssn\b|social security"),
        ("ca.sin", r"(?<![\w-])\d{3}[ -]?\d{3}[ -]?\d{3}(?![\w-])", r"\bsin\b|social insurance"),
    )
)
_NEAR = 60  # characters before a number in which its words stand


class Span(NamedTuple):
    """Place of personal data in a text, and its kind in words."""

    start: int
    end: int
    kind: str


class PersonalData:
    """Treatment of personal data by a policy.

    Raises MissingDependencyError for a policy other than "mask" if the extra `pii` isn't installed.
    """

    def __init__(self, policy: Literal["mask", "redact", "refuse"]) -> None:
        self.policy = policy
        if policy == "mask":
            return
        try:
            import phonenumbers
        except ImportError as error:
            raise MissingDependencyError(
                f"ingest.personal_data {policy} needs {error.name}:"
                " pip install 'semantic-memory[pii]'"
            ) from error
        self._phone_numbers = phonenumbers.PhoneNumberMatcher

    def treat(self, candidate: Candidate) -> Candidate | None:
        """Return the candidate with personal data replaced by its kind; None if it is refused."""
        content = candidate.content
        redacted = self.redacted(content)
        if redacted == content:
            return candidate
        if self.policy == "refuse":
            return None
        private = " ".join(
            content[span.start : span.end].casefold() for span in self._found(content)
        )
        return candidate.model_copy(
            update={
                "content": redacted,
                "tags": tuple(tag for tag in candidate.tags if tag not in private),
            }
        )

    def first(self, text: str) -> Span | None:
        """Return the first personal data in `text`."""
        return min(self._found(text), default=None)

    def redacted(self, text: str) -> str:
        """Replace personal data in `text` by its kind, like "[email]"."""
        kept, done = "", 0
        for span in sorted(self._found(text)):
            if span.start >= done:
                kept += f"{text[done : span.start]}[{span.kind}]"
                done = span.end
        return kept + text[done:]

    def _found(self, text: str) -> Iterator[Span]:
        yield from numbers(text)
        if self.policy == "mask":
            return
        for match in _EMAIL.finditer(text):
            yield Span(*match.span(), "email")
        for number in self._phone_numbers(text, _REGION):
            yield Span(number.start, number.end, "phone number")


def numbers(text: str) -> Iterator[Span]:
    """Yield the numbers of cards, accounts and persons."""
    if not _NUMBERS.match(text):
        return
    from stdnum import iban, luhn
    from stdnum.us import ssn

    for match in _IBAN.finditer(text):
        if iban.is_valid(match[0]):
            yield Span(*match.span(), "iban")
    for match in _DIGITS.finditer(text):
        if luhn.is_valid(re.sub(r"\D", "", match[0])):
            yield Span(*match.span(), "card number")
    for match in _SSN.finditer(text):
        if ssn.is_valid(match[0]):
            yield Span(*match.span(), "social security number")
    yield from _national(text)


def _national(text: str) -> Iterator[Span]:
    for module, form, words in _NATIONAL:
        for match in form.finditer(text):
            before = text[max(0, match.start() - _NEAR) : match.start()]
            if words is not None and words.search(before) is None:
                continue
            if import_module(f"stdnum.{module}").is_valid(match[0]):
                yield Span(*match.span(), "national number")
