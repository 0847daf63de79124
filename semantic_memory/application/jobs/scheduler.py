"""When jobs run by themselves: APScheduler, with the times of the last runs kept in the ledger.

Its own job stores forget a missed run, or run it twice; so jobs are held in memory, and the first
time is set from when each ran last, also in an earlier process. Several processes keep a schedule
each; a job that another runs, or has just run, is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

from semantic_memory.application.jobs.upkeep import LAST_RUN, Upkeep
from semantic_memory.domain.ports import Clock, Ledger

_JITTER = 0.1  # of the interval
_MISFIRE_SECONDS = 3_600


class Scheduler:
    """Runs each job at its interval, never twice at once, until it is closed."""

    def __init__(
        self,
        upkeep: Upkeep,
        ledger: Ledger,
        clock: Clock,
        intervals: Mapping[str, timedelta],
        earliest: timedelta = timedelta(minutes=1),
    ) -> None:
        """Schedule each job, `earliest` after opening: a short process is left alone."""
        self._upkeep = upkeep
        self._scheduler = BackgroundScheduler(
            timezone=UTC,
            daemon=True,
            job_defaults={
                "coalesce": True,
                "max_instances": 1,
                "misfire_grace_time": _MISFIRE_SECONDS,
            },
        )
        now = clock.now()
        for name, interval in intervals.items():
            last = ledger.meta(f"{LAST_RUN}{name}")
            # a run by a clock that was ahead holds no later one up
            due = interval + (now if last is None else min(now, datetime.fromisoformat(last)))
            seconds = interval.total_seconds()
            self._scheduler.add_job(
                upkeep.run_scheduled,
                IntervalTrigger(seconds=seconds, jitter=_JITTER * seconds, timezone=UTC),
                args=[name, interval],
                id=name,
                next_run_time=datetime.now(UTC) + max(earliest, due - now),
            )

    def start(self) -> None:
        """Begin."""
        self._scheduler.start()

    def due(self) -> dict[str, datetime]:
        """When each job runs next."""
        return {
            job.id: job.next_run_time or datetime.now(UTC) for job in self._scheduler.get_jobs()
        }

    def close(self) -> None:
        """End the job under way after its present user, and start no other."""
        self._upkeep.close()
        self._scheduler.shutdown(wait=True)
