"""Run maintenance by hand: jobs, waiting for the background, filling the index again."""

from __future__ import annotations

from semantic_memory.application.items import ItemStore
from semantic_memory.application.jobs.upkeep import Upkeep
from semantic_memory.domain.ports import Ledger, Progress
from semantic_memory.domain.reports import JobRun
from semantic_memory.domain.requests import MaintainRequest, RunsRequest
from semantic_memory.pipeline.pipeline import Pipeline
from semantic_memory.vectors.keeper import Keeper


class Maintenance:
    """Run jobs and background work now, instead of by schedule. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        pipeline: Pipeline,
        keeper: Keeper,
        upkeep: Upkeep,
        items: ItemStore,
    ) -> None:
        self._ledger = ledger
        self._pipeline = pipeline
        self._keeper = keeper
        self._items = items
        self.jobs = upkeep
        """The jobs, which run by schedule too."""

    def flush(self, progress: Progress | None = None) -> None:
        """Wait until everything observed is extracted and indexed. Raises ProviderError."""
        self._pipeline.flush(progress)

    def maintain(self, asked: MaintainRequest) -> list[JobRun]:
        """Run jobs; a dry run only reports the changes they would make."""
        runs = self.jobs.run(asked.jobs, asked.user_id, dry_run=asked.dry_run)
        self._pipeline.changed()
        return runs

    def runs(self, asked: RunsRequest) -> list[JobRun]:
        """Return the run under way in this process, if there is one, then the latest others."""
        running = self.jobs.running()
        under_way = [] if running is None else [running]
        return [*under_way, *self._ledger.runs(asked.limit)][: asked.limit]

    def rebuild(self, progress: Progress | None = None) -> int:
        """Fill the vector index again from the ledger; return its size."""
        return self._keeper.rebuild(progress)

    def embed(self, progress: Progress | None = None) -> int:
        """Embed every memory and item without a vector; return the number of memories."""
        number = self._ledger.count()
        self._items.embed()
        self._pipeline.embed(progress)
        return number

    def take_in(self, progress: Progress | None = None) -> int:
        """Store and embed what the session logs hold; return the number of memories."""
        self._pipeline.store()
        return self.embed(progress)
