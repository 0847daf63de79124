"""Faults of a run, drawn beforehand: which part is killed when, and for how long."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.chaos.programs import Part

_APART_SECONDS = (3.0, 7.0)
_AWAY_SECONDS = (0.5, 3.0)
_FIRST_SECOND = 2.0


@dataclass(frozen=True, slots=True)
class Fault:
    """A part that is killed, in seconds of the run."""

    at: float
    part: str
    back_at: float


def draw_faults(dice: random.Random, parts: Sequence[str], seconds: float) -> list[Fault]:
    """Draw faults of a run, each part once before any comes again; a part is back at the end.

    Several parts may be away at once.
    """
    faults: list[Fault] = []
    waiting: list[str] = []
    back: dict[str, float] = {}
    at = _FIRST_SECOND
    while at < seconds - 1:
        waiting = waiting or dice.sample([*parts], len(parts))
        part = waiting.pop()
        begins = max(at, back.get(part, 0.0))
        back[part] = min(begins + dice.uniform(*_AWAY_SECONDS), seconds)
        if begins < back[part]:
            faults.append(Fault(begins, part, back[part]))
        at += dice.uniform(*_APART_SECONDS)
    return faults


async def inflict(faults: Sequence[Fault], parts: Mapping[str, Part], start: float) -> None:
    """Kill parts and start them again, at the times of the monotonic clock from `start` on."""
    steps = [(fault.at, "kill", fault.part) for fault in faults]
    steps += [(fault.back_at, "start", fault.part) for fault in faults]
    for at, step, name in sorted(steps):
        await asyncio.sleep(max(0.0, start + at - time.monotonic()))
        part = parts[name]
        await asyncio.to_thread(part.kill if step == "kill" else part.start)
