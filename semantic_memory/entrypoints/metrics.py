"""Prometheus metrics: an observer that counts events, and figures of the store at each scrape.

Every name starts with `semantic_memory_`; docs/operations.md lists them. None carries a user.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from semantic_memory.domain.events import (
    BeliefsResolved,
    BreakerOpened,
    CheckpointRestored,
    CompactionFailed,
    ContextPacked,
    CursorLost,
    EmbeddingFailed,
    EmbeddingRefused,
    Event,
    ExtractionBatched,
    ExtractionFailed,
    ExtractionFellBack,
    FactsExtracted,
    IndexSetAside,
    IndexSynced,
    JobFinished,
    JudgingFellBack,
    LockWaited,
    LogNearlyFull,
    LogRepaired,
    LogShortened,
    MemoriesEmbedded,
    MemoriesStored,
    MessagesObserved,
    ModelCalled,
    Searched,
    WindowCompacted,
    WorkerFailed,
)
from semantic_memory.domain.reports import Stats

PREFIX = "semantic_memory_"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_ACTIVE_SECONDS = 300.0
_STATS_SECONDS = 15.0


class MetricsObserver:
    """Counts what happens in a memory. Thread-safe."""

    def __init__(
        self, registry: CollectorRegistry, timer: Callable[[], float] = time.monotonic
    ) -> None:
        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(PREFIX + name, about, labels, registry=registry)

        def histogram(name: str, about: str, *labels: str) -> Histogram:
            return Histogram(PREFIX + name, about, labels, buckets=_SECONDS, registry=registry)

        self._observed = counter("messages_observed", "Messages taken in.")
        self._duplicates = counter("messages_duplicate", "Messages that were known already.")
        self._observe = histogram("observe_seconds", "From observe to being on disk.")
        self._stored = counter("memories_stored", "Messages that became memories.")
        self._store = histogram("store_seconds", "Transactions that store memories.")
        self._embedded = counter("memories_embedded", "Memories given vectors.")
        self._embed = histogram("embed_seconds", "Batches embedded.")
        self._embed_failures = counter("embedding_failures", "The embedding model failed.")
        self._embed_refused = counter("embedding_refused", "Memories the model won't embed.")
        self._extractions = counter("extractions", "Stretches read for facts.", "outcome")
        self._candidates = counter("candidates", "Facts proposed, by what the gate said.", "gate")
        self._extract = histogram("extract_seconds", "Stretches read for facts.")
        self._indexed = counter("index_changes", "Changes the vector index took.", "kind")
        self._index = histogram("index_seconds", "Batches taken by the vector index.")
        self._set_aside = counter("index_rebuilt", "The vector index was damaged or doubtful.")
        self._repairs = counter("log_repairs", "Session logs found damaged.")
        self._corrupt = counter("log_corrupt_lines", "Lines of session logs that were skipped.")
        self._nearly_full = counter("logs_nearly_full", "Session logs at 90 % of their limit.")
        self._shortened = counter("logs_shortened", "Session logs that were over their limit.")
        self._cursors = counter("cursors_lost", "Session logs that had been replaced.")
        self._search = histogram("search_seconds", "Searches, those for a context included.")
        self._hits = counter("search_hits", "Memories found.")
        self._context = histogram("context_seconds", "Prompt blocks packed.")
        self._tokens = counter("context_tokens", "Tokens packed.")
        self._left_out = counter("context_left_out", "Memories that didn't fit.")
        self._beliefs = counter("belief_changes", "Merged, superseded, faded, ...", "kind")
        self._jobs = counter("jobs", "Jobs of upkeep that ran.", "job", "outcome")
        self._job = histogram("job_seconds", "Jobs of upkeep.", "job")
        self._compactions = counter("window_compactions", "Windows made shorter.", "level")
        self._saved = counter("window_saved_tokens", "Tokens saved in windows.")
        self._calls = counter("model_calls", "Answers of a language model.", "purpose", "model")
        self._model_tokens = counter("model_tokens", "Tokens of its calls.", "model", "kind")
        self._model_cost = counter("model_cost_usd", "By the prices in the settings.", "model")
        self._batches = counter("extraction_batches", "Batches sent to a provider.", "status")
        self._judging = counter(
            "judged_by_rules", "Pairs of facts that the judging model failed at."
        )
        self._breaker = counter("breaker_opened", "A model endpoint was left alone for a while.")
        self._checkpoints = counter("checkpoints_restored", "Checkpoints that were damaged.")
        self._lock_wait = histogram("lock_wait_seconds", "Waits for others.", "lock")
        self._failures = counter("worker_failures", "Background steps that failed.", "step")
        self._active: dict[tuple[str, str], float] = {}
        self._active_lock = threading.Lock()
        self._timer = timer
        active = Gauge(
            PREFIX + "active_sessions", "With a message in the last 5 minutes.", registry=registry
        )
        active.set_function(self._count_active)

    def __call__(self, event: Event, /) -> None:
        """Count `event`."""
        match event:
            case MessagesObserved(user_id, session_id, accepted, duplicates, seconds):
                self._observed.inc(accepted)
                self._duplicates.inc(duplicates)
                self._observe.observe(seconds)
                with self._active_lock:
                    self._active[user_id, session_id] = self._timer()
            case MemoriesStored(count, seconds):
                self._stored.inc(count)
                self._store.observe(seconds)
            case MemoriesEmbedded(count, seconds):
                self._embedded.inc(count)
                self._embed.observe(seconds)
            case FactsExtracted():
                self._extractions.labels("done").inc()
                self._extract.observe(event.seconds)
                self._candidates.labels("admitted").inc(event.admitted)
                self._candidates.labels("quarantined").inc(event.quarantined)
                for reason, number in event.refused.items():
                    self._candidates.labels(reason).inc(number)
            case IndexSynced(upserted, deleted, seconds):
                self._indexed.labels("upserted").inc(upserted)
                self._indexed.labels("deleted").inc(deleted)
                self._index.observe(seconds)
            case Searched(hits=hits, seconds=seconds):
                self._search.observe(seconds)
                self._hits.inc(hits)
            case ContextPacked():
                self._context.observe(event.seconds)
                self._tokens.inc(event.tokens)
                self._left_out.inc(event.left_out)
            case LockWaited(lock, seconds):
                self._lock_wait.labels(lock).observe(seconds)
            case _:
                self._count_upkeep(event)

    def _count_upkeep(self, event: Event) -> None:
        match event:
            case BeliefsResolved(counts=counts):
                self._count_beliefs(counts)
            case JudgingFellBack(pairs=pairs):
                self._judging.inc(pairs)
            case JobFinished(job, _, counts, seconds, error):
                self._jobs.labels(job, "failed" if error else "done").inc()
                self._job.labels(job).observe(seconds)
                self._count_beliefs(counts)
            case WindowCompacted(level=level, saved=saved):
                self._compactions.labels(level).inc()
                self._saved.inc(saved)
            case CompactionFailed(step=step):
                self._failures.labels(f"compaction: {step}").inc()
            case CheckpointRestored():
                self._checkpoints.inc()
            case ModelCalled():
                self._calls.labels(event.purpose, event.model).inc()
                self._model_tokens.labels(event.model, "input").inc(event.input_tokens)
                self._model_tokens.labels(event.model, "output").inc(event.output_tokens)
                self._model_cost.labels(event.model).inc(event.cost_usd or 0.0)
            case ExtractionBatched(status=status):
                self._batches.labels(status).inc()
            case _:
                self._count_trouble(event)

    def _count_beliefs(self, counts: Mapping[str, int]) -> None:
        for kind, number in counts.items():
            self._beliefs.labels(kind).inc(number)

    def _count_trouble(self, event: Event) -> None:
        match event:
            case ExtractionFailed():
                self._extractions.labels("failed").inc()
            case ExtractionFellBack():
                self._extractions.labels("fell back").inc()
            case BreakerOpened():
                self._breaker.inc()
            case EmbeddingFailed():
                self._embed_failures.inc()
            case EmbeddingRefused(fact_ids):
                self._embed_refused.inc(len(fact_ids))
            case IndexSetAside():
                self._set_aside.inc()
            case WorkerFailed(step=step):
                self._failures.labels(step).inc()
            case _:
                self._count_logs(event)

    def _count_logs(self, event: Event) -> None:
        match event:
            case LogRepaired(corrupt_lines=lines):
                self._repairs.inc()
                self._corrupt.inc(lines)
            case CursorLost():
                self._cursors.inc()
            case LogNearlyFull():
                self._nearly_full.inc()
            case LogShortened():
                self._shortened.inc()

    def _count_active(self) -> float:
        since = self._timer() - _ACTIVE_SECONDS
        with self._active_lock:
            self._active = {key: at for key, at in self._active.items() if at >= since}
            return len(self._active)


class StoreFigures(Collector):
    """What the store holds, counted at most every 15 s."""

    def __init__(
        self,
        registry: CollectorRegistry,
        stats: Callable[[], Stats],
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stats = stats
        self._timer = timer
        self._lock = threading.Lock()
        self._counted: tuple[float, Stats] | None = None
        registry.register(self)

    def describe(self) -> list[Metric]:
        """Nothing: registering must not count."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The figures of now, or of a moment ago."""
        with self._lock:
            now = self._timer()
            if self._counted is None or now - self._counted[0] >= _STATS_SECONDS:
                self._counted = (now, self._stats())
            stats = self._counted[1]
        memories = GaugeMetricFamily(
            PREFIX + "memories", "Memories kept.", labels=["category", "status"]
        )
        for name, number in stats.by_category_and_status.items():
            memories.add_metric(name.split("/", 1), number)
        yield memories
        for name, about, value in (
            ("users", "Users with a memory.", stats.users),
            ("sessions", "Sessions with a log.", stats.sessions),
            ("unembedded", "Memories that wait for vectors.", stats.unembedded),
            ("log_bytes", "Size of all session logs.", stats.log_bytes),
            ("store_bytes", "Size of everything.", stats.store_bytes),
        ):
            yield GaugeMetricFamily(PREFIX + name, about, value=value)


class RequestMetrics:
    """Requests to the service."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seconds = Histogram(
            PREFIX + "request_seconds",
            "Requests, to the last byte of the answer.",
            ("method", "route", "status"),
            buckets=_SECONDS,
            registry=registry,
        )
        self._in_progress = Gauge(
            PREFIX + "requests_in_progress", "Requests under way.", registry=registry
        )

    def in_progress(self) -> AbstractContextManager[object]:
        """Held during a request."""
        return self._in_progress.track_inprogress()

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._seconds.labels(method, route, str(status)).observe(seconds)
