"""Options of a request that an endpoint may not take, and how that is learnt.

An endpoint says in its own words that it doesn't take an option, if it says why at all. So words
are only a short cut: a refusal that names one option lowers that one. After any other refusal the
request is made without all options. If that is served, the options come back one at a time, with
the next requests, and those that are refused again stay away. If it is refused as well, the options
aren't the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Option = Literal["format", "limit", "temperature"]

LADDERS: Mapping[Option, Sequence[str | None]] = MappingProxyType(
    {
        "format": ("json_schema", "json_object", None),
        "limit": ("max_tokens", "max_completion_tokens", None),
        "temperature": ("temperature", None),
    }
)
"""Forms of each option, the best first; None leaves it out."""

_WORDS: Mapping[Option, Sequence[str]] = MappingProxyType(
    {
        "format": (
            "response_format",
            "json_schema",
            "json_object",
            "structured output",
            "output_config",
        ),
        "limit": ("max_tokens", "max_completion_tokens"),
        "temperature": ("temperature",),
    }
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The form of each option that an endpoint takes, as far as is known."""

    levels: Mapping[Option, int] = field(default_factory=lambda: dict.fromkeys(LADDERS, 0))
    doubts: tuple[tuple[Option, int], ...] = ()
    """Options that were left out without proof, and the level at which to try each again."""

    def form(self, option: Option) -> str | None:
        """Return the form in which to send an option; None to leave it out.

        >>> Dialect().form("format")
        'json_schema'
        """
        return LADDERS[option][self.levels[option]]

    def at(self, option: Option, level: int) -> Dialect:
        """Return this dialect with an option at another level."""
        return Dialect({**self.levels, option: level}, self.doubts)


BAREST = Dialect({option: len(forms) - 1 for option, forms in LADDERS.items()})
"""Without any option, as every endpoint takes it."""


class Negotiation:
    """Variants of one request, tried until one is served. `tried` is the one to send next."""

    def __init__(self, known: Dialect, used: Set[Option]) -> None:
        """Begin with the best variant that the endpoint may take; the request has `used`."""
        self._known = known
        self._used = used
        self._probed = next((doubt for doubt in known.doubts if doubt[0] in used), None)
        self._refuted = False
        self.tried = known.at(*self._probed) if self._probed else known

    def refused(self, said: str, *, guess: bool = True) -> bool:
        """Choose the next variant after a refusal in these words; return False if none is left.

        Unless `guess`, there is one only if the words name an option.
        """
        if self._probed is not None and not self._refuted:
            self.tried = self._known
            self._refuted = True
            return True
        self._probed = None  # not the reason: without it the request was refused as well
        sent = {option for option in self._used if self.tried.form(option) is not None}
        named = [option for option in sent if any(word in said for word in _WORDS[option])]
        if len(named) == 1:
            self.tried = self.tried.at(named[0], self.tried.levels[named[0]] + 1)
            return True
        if not sent or not guess:
            return False
        kept = tuple(doubt for doubt in self.tried.doubts if doubt[0] not in sent)
        new = tuple((option, self.tried.levels[option]) for option in LADDERS if option in sent)
        bare = {option: len(LADDERS[option]) - 1 for option in sent}
        self.tried = Dialect({**self.tried.levels, **bare}, (*new, *kept))
        return True

    def served(self) -> Dialect:
        """Return what is known now that the variant tried was served."""
        if self._probed is None:
            return self.tried
        option, level = self._probed
        left = tuple(doubt for doubt in self.tried.doubts if doubt != self._probed)
        if self._refuted and LADDERS[option][level + 1] is not None:
            left = ((option, level + 1), *left)
        return Dialect(self.tried.levels, left)
