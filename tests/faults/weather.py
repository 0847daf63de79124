"""When the disk fails, and how: drawn from the seed of a course."""

from __future__ import annotations

import errno
from collections import Counter
from dataclasses import dataclass, field
from random import Random

MUTATING = frozenset({"write", "sync", "truncate", "replace", "remove", "open", "sync_directory"})


class PowerCut(BaseException):
    """The machine is off: nothing of the process goes on."""


@dataclass
class Weather:
    """Chances of faults for a while; none by default."""

    eio: float = 0.0
    """Chance that a call fails with EIO."""
    unsynced: float = 0.0
    """Chance that waiting for the disk fails, and what was waited for may be lost."""
    lies: float = 0.0
    """Chance that waiting for the disk succeeds though nothing was written."""
    rot: float = 0.0
    """Chance that a bit of what is read is flipped."""
    short: float = 0.0
    """Chance that a write writes only a part."""
    full_from: int | None = None
    """Number of the write from which on the disk is full."""
    cut_at: int | None = None
    """Number of the call that changes something at which the power fails."""
    changes: int = 0
    """Number of such calls so far."""
    writes: int = 0


CALM = Weather()


@dataclass
class Faults:
    """Decides at each call of a disk whether it fails, and counts the faults by kind."""

    rng: Random
    weather: Weather = field(default_factory=lambda: CALM)
    dead: bool = False
    injected: Counter[str] = field(default_factory=Counter)
    checked: Counter[str] = field(default_factory=Counter)
    """Requests, and comparisons with the model."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Outcome of damage that no software can undo."""

    def refuses(self, call: str) -> int | None:
        """Return the error number with which a call fails, None if it succeeds.

        Raises PowerCut if the power is off, or fails now.
        """
        weather = self.weather
        if self.dead:
            raise PowerCut
        if weather is CALM:
            return None
        if call in MUTATING:
            weather.changes += 1
            if weather.changes == weather.cut_at:
                self.dead = True
                self.injected[f"power cut at {call}"] += 1
                raise PowerCut
        if call == "write":
            weather.writes += 1
            if weather.full_from is not None and weather.writes >= weather.full_from:
                self.injected["disk full"] += 1
                return errno.ENOSPC
        if self.rng.random() < weather.eio:
            self.injected[f"EIO at {call}"] += 1
            return errno.EIO
        return None

    def loses_sync(self) -> bool:
        """Return True if waiting for the disk fails, and what was waited for may be lost."""
        return self._happens("fsync fails", self.weather.unsynced)

    def lies(self) -> bool:
        """Return True if waiting for the disk succeeds though nothing was written."""
        return self._happens("fsync lies", self.weather.lies)

    def rotten(self, data: bytes) -> bytes:
        """Return what is read of some bytes."""
        return (
            flipped(self.rng, data)
            if data and self._happens("rot on read", self.weather.rot)
            else data
        )

    def cuts_short(self) -> bool:
        """Return True if a write writes only a part."""
        return self._happens("short write", self.weather.short)

    def _happens(self, name: str, chance: float) -> bool:
        if not chance or self.rng.random() >= chance:
            return False
        self.injected[name] += 1
        return True


def flipped(rng: Random, data: bytes) -> bytes:
    """Return bytes of which one bit is flipped."""
    rotten = bytearray(data)
    rotten[rng.randrange(len(rotten))] ^= 1 << rng.randrange(8)
    return bytes(rotten)


def drawn(rng: Random) -> Weather:
    """Draw the weather of the next few requests."""
    cut = None if rng.random() < 0.35 else int(rng.expovariate(1 / 120)) + 1
    match rng.choice(["cut", "cut", "eio", "full", "unsynced", "short", "mixed"]):
        case "cut":
            return Weather(cut_at=cut or rng.randint(1, 60))
        case "eio":
            return Weather(eio=rng.choice([0.005, 0.03, 0.2]), cut_at=cut)
        case "full":
            return Weather(full_from=rng.randint(1, 80), cut_at=cut)
        case "unsynced":
            return Weather(unsynced=rng.choice([0.05, 0.5]), cut_at=cut)
        case "short":
            return Weather(short=0.3, cut_at=cut)
        case _:
            return Weather(eio=0.01, unsynced=0.05, short=0.1, cut_at=cut)
