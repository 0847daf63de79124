"""Faults of a run, drawn beforehand: which part is killed or frozen when, and for how long."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from eval.chaos.programs import Part, Program

APART_SECONDS = 5.0
"""Time from a fault to the next, on average."""
_APART = (0.6, 1.4)  # of that
_AWAY_SECONDS = (0.5, 3.0)
_FROZEN_SECONDS = (3.0, 20.0)  # longer than the leases of requests, now and then
_FIRST_SECOND = 2.0
_FREEZES_EVERY = 4  # of the faults of workers, the first one and every fourth


WORKER = "worker"
"""Begins the names of workers."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A part that is killed, or frozen, in seconds of the run."""

    at: float
    part: str
    back_at: float
    frozen: bool = False

    def later(self, seconds: float) -> Fault:
        """Return the same fault so many seconds later in the run."""
        return replace(self, at=self.at + seconds, back_at=self.back_at + seconds)


def draw_faults(
    dice: random.Random, parts: Sequence[str], seconds: float, apart: float = APART_SECONDS
) -> list[Fault]:
    """Draw faults of a run, each part once before any comes again; a part is back at the end.

    They are `apart` seconds from each other on average. Several parts may be away at once.
    """
    faults: list[Fault] = []
    waiting: list[str] = []
    back: dict[str, float] = {}
    at = _FIRST_SECOND
    of_workers = 0
    while at < seconds - 1:
        waiting = waiting or dice.sample([*parts], len(parts))
        part = waiting.pop()
        begins = max(at, back.get(part, 0.0))
        frozen = part.startswith(WORKER) and of_workers % _FREEZES_EVERY == 0
        of_workers += part.startswith(WORKER)
        long = dice.uniform(*(_FROZEN_SECONDS if frozen else _AWAY_SECONDS))
        back[part] = min(begins + long, seconds)
        if begins < back[part]:
            faults.append(Fault(begins, part, back[part], frozen))
        at += apart * dice.uniform(*_APART)
    return faults


async def inflict(faults: Sequence[Fault], parts: Mapping[str, Part], start: float) -> None:
    """Inflict the faults and end them, at the times of the monotonic clock from `start` on."""
    steps = [(fault.at, True, fault.part, fault.frozen) for fault in faults]
    steps += [(fault.back_at, False, fault.part, fault.frozen) for fault in faults]
    for at, begins, name, frozen in sorted(steps):
        await asyncio.sleep(max(0.0, start + at - time.monotonic()))
        part = parts[name]
        if frozen and isinstance(part, Program):
            await asyncio.to_thread(part.freeze if begins else part.thaw)
        else:
            await asyncio.to_thread(part.kill if begins else part.start)
