"""Effects of the settings of maintenance: fading, archiving, expiry, the schedule."""

from __future__ import annotations

import logging
import re
from typing import Any

from tests.unit.settings_effects.case import Trial, U, effect, facts

RARELY = {
    "upkeep__schedule": True,
    "upkeep__usage_minutes": 100_000,
    "upkeep__sweep_minutes": 100_000,
    "upkeep__relevance_minutes": 100_000,
    "upkeep__expiry_minutes": 100_000,
    "upkeep__decay_hours": 10_000,
    "upkeep__rollup_hours": 10_000,
    "upkeep__compact_hours": 10_000,
}


class Wakeups(logging.Handler):
    """Collect the seconds until the scheduler's next job, from its log."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.seconds: list[float] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Note the wait that a line of the log names."""
        if found := re.search(r"Next wakeup .*\(in ([\d.]+) seconds", record.getMessage()):
            self.seconds.append(float(found[1]))


def minutes_to_the_first_job(run: Trial) -> int | None:
    """Return the minutes until the first job, rounded; None without a schedule."""
    logger, wakeups = logging.getLogger("apscheduler.scheduler"), Wakeups()
    level = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addHandler(wakeups)
    try:
        run.open()
        planned = run.eventually(lambda: wakeups.seconds != [])
    finally:
        logger.removeHandler(wakeups)
        logger.setLevel(level)
    return round(wakeups.seconds[0] / 60) if planned else None


def interval(name: str, value: float, *, was: int, becomes: int) -> None:
    """Register the case of a job's interval; the other jobs run rarely."""
    effect(name, value, was=was, becomes=becomes, **RARELY)(minutes_to_the_first_job)


effect("upkeep.schedule", False, was=10, becomes=None)(minutes_to_the_first_job)
interval("upkeep.usage_minutes", 5, was=10, becomes=5)
interval("upkeep.sweep_minutes", 5, was=60, becomes=5)
interval("upkeep.relevance_minutes", 5, was=60, becomes=5)
interval("upkeep.expiry_minutes", 5, was=60, becomes=5)
interval("upkeep.decay_hours", 2, was=24 * 60, becomes=2 * 60)
interval("upkeep.rollup_hours", 2, was=24 * 60, becomes=2 * 60)
interval("upkeep.compact_hours", 2, was=168 * 60, becomes=2 * 60)


def after_three_weeks(run: Trial) -> list[float]:
    """Return the confidences of a store's facts after a sweep, the highest first."""
    memory = run.open()
    for number, confidence in enumerate((0.9, 0.8, 0.5)):
        memory.add(f"Tried tool {number}", **U, category="technical", confidence=confidence)
    run.clock.advance(days=21)
    memory.jobs.run(["decay"])
    return sorted((round(fact.confidence, 2) for fact in facts(memory)), reverse=True)


def sweep(name: str, value: Any, becomes: list[float]) -> None:
    """Register a case of the sweep."""
    effect(name, value, was=[0.87, 0.77, 0.47], becomes=becomes)(after_three_weeks)


sweep("upkeep.loss_per_week", 0.05, [0.75, 0.65, 0.35])
sweep("upkeep.floor", 0.5, [0.87, 0.77])
sweep("upkeep.cap", 1, [0.87])


def events_kept(run: Trial) -> int:
    """Return the number of events that are left of 10."""
    memory = run.open()
    for number in range(10):
        memory.add(f"Tried tool {number}", **U)
    memory.jobs.run(["expiry"])
    return len(memory.events.list())


effect("upkeep.events", 5, was=10, becomes=5)(events_kept)


def after_a_month(run: Trial) -> int:
    """Return the number of facts that are left of one that is tagged."""
    memory = run.open()
    memory.add("The cache was cold", **U, category="finding", tags=["work.cache"])
    run.clock.advance(days=31)
    return len(memory.list(**U))


effect("retention.categories", {"finding": 30}, was=1, becomes=0)(after_a_month)
effect("retention.tags", {"work": 30}, was=1, becomes=0)(after_a_month)
