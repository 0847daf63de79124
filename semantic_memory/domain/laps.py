"""A stopwatch for the steps of one call."""

from __future__ import annotations

from time import perf_counter


class Laps:
    """The seconds that each step took, in the order of the steps. For one thread."""

    __slots__ = ("_last", "_start", "steps")

    def __init__(self) -> None:
        self._start = self._last = perf_counter()
        self.steps: dict[str, float] = {}
        """Seconds by step; a step that is done several times has the sum."""

    def lap(self, step: str) -> None:
        """Count the time since the step before to this one."""
        now = perf_counter()
        self.steps[step] = self.steps.get(step, 0.0) + now - self._last
        self._last = now

    @property
    def seconds(self) -> float:
        """The time from the start to the last step."""
        return self._last - self._start
