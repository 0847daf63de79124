"""Checks of promises, each registered under the row that it belongs to."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from eval.audit.site import Site

Run = Callable[[Site], object]


@dataclass(frozen=True, slots=True)
class Check:
    """A claim of a row, and the function that looks at the product and returns what it saw."""

    row: str
    claim: str
    run: Run

    @property
    def name(self) -> str:
        """Name by which a run can be limited to it."""
        return self.run.__name__


@dataclass(frozen=True, slots=True)
class Outcome:
    """A check that was run, and what was seen."""

    check: Check
    passed: bool
    seen: str
    seconds: float


class UnmetError(Exception):
    """The product doesn't do what the claim says."""


CHECKS: list[Check] = []


def check(row: str, claim: str) -> Callable[[Run], Run]:
    """Register a function as the check of a claim."""

    def register(run: Run) -> Run:
        CHECKS.append(Check(row, claim, run))
        return run

    return register


def expect(condition: object, seen: object) -> None:
    """Raise UnmetError with what was seen unless the condition holds."""
    if not condition:
        raise UnmetError(str(seen))


def equal(found: object, expected: object) -> None:
    """Raise UnmetError unless both are equal."""
    expect(found == expected, f"{found!r}, not {expected!r}")


def refused(call: Callable[[], object], error: type[Exception], *words: str) -> str:
    """Return the message of the error that a call raises; raise UnmetError if words are missing.

    >>> refused(lambda: int("x"), ValueError, "invalid literal")
    "invalid literal for int() with base 10: 'x'"
    """
    try:
        found = call()
    except error as raised:
        missing = [word for word in words if word not in str(raised)]
        expect(not missing, f"{raised!s} lacks {missing}")
        return str(raised)
    raise UnmetError(f"not refused: {found!r:.200}")


def run(one: Check, site: Site) -> Outcome:
    """Run a check; an error of the product is a failure of the check, and doesn't end the audit."""
    started = time.perf_counter()
    try:
        seen, passed = str(one.run(site)), True
    except UnmetError as unmet:
        seen, passed = str(unmet), False
    except Exception as error:  # whatever it is, the other checks are run
        seen, passed = f"{type(error).__name__}: {error}", False
    return Outcome(one, passed, " ".join(seen.split()), time.perf_counter() - started)
