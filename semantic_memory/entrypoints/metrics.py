"""Prometheus metrics: an observer that counts events, and figures of the store at each scrape.

Every name starts with `semantic_memory_`; docs/how-to/operations.md lists them. No metric names a
user: anybody with a key may scrape, and each user would be a time series of its own.
"""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from tempfile import TemporaryDirectory

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from semantic_memory.domain.events import (
    BeliefsResolved,
    BreakerOpened,
    BudgetReached,
    CheckpointRestored,
    CompactionFailed,
    ContextPacked,
    CursorLost,
    EmbeddingFailed,
    EmbeddingRefused,
    Event,
    EventsDelivered,
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
    Reranked,
    Searched,
    WindowCompacted,
    WorkerFailed,
)
from semantic_memory.domain.reports import Stats, WebhookState

PREFIX = "semantic_memory_"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_ACTIVE_SECONDS = 300.0
_SHARED = "PROMETHEUS_MULTIPROC_DIR"  # read by prometheus_client where it is imported
_STATS_SECONDS = 15.0
_STATS_REST = 20.0  # at least, as a multiple of the time that counting took


class MetricsObserver:
    """Observer that counts events of a store. Thread-safe."""

    def __init__(
        self, registry: CollectorRegistry, timer: Callable[[], float] = time.monotonic
    ) -> None:
        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(PREFIX + name, about, labels, registry=registry)

        def histogram(name: str, about: str, *labels: str) -> Histogram:
            return Histogram(PREFIX + name, about, labels, buckets=_SECONDS, registry=registry)

        self._observed = counter("messages_observed", "Messages observed.")
        self._duplicates = counter("messages_duplicate", "Messages already known.")
        self._observe = histogram("observe_seconds", "Time to write observed messages to disk.")
        self._stored = counter("memories_stored", "Messages that became memories.")
        self._store = histogram("store_seconds", "Time of transactions that store memories.")
        self._embedded = counter("memories_embedded", "Memories embedded.")
        self._embed = histogram("embed_seconds", "Time to embed a batch.")
        self._embed_failures = counter("embedding_failures", "Failures of the embedding model.")
        self._embed_refused = counter("embedding_refused", "Memories refused by the model.")
        self._extractions = counter("extractions", "Stretches of sessions extracted.", "outcome")
        self._candidates = counter("candidates", "Candidate facts, by outcome of the gate.", "gate")
        self._extract = histogram("extract_seconds", "Time to extract a stretch.")
        self._indexed = counter("index_changes", "Changes applied to the vector index.", "kind")
        self._index = histogram("index_seconds", "Time to apply a batch to the vector index.")
        self._set_aside = counter("index_rebuilt", "Rebuilds of a damaged or suspect vector index.")
        self._repairs = counter("log_repairs", "Damaged session logs repaired.")
        self._corrupt = counter("log_corrupt_lines", "Corrupt lines of session logs skipped.")
        self._nearly_full = counter("logs_nearly_full", "Session logs at 90 % of their limit.")
        self._shortened = counter("logs_shortened", "Session logs shortened, as over their limit.")
        self._removed = counter("log_messages_removed", "Messages removed from logs.", "because")
        self._cursors = counter("cursors_lost", "Session logs found replaced, and read again.")
        self._search = histogram("search_seconds", "Time of searches, for context blocks too.")
        self._hits = counter("search_hits", "Memories returned by searches.")
        self._rerank = histogram("rerank_seconds", "Time of a reranker for the hits of a search.")
        self._rerank_failures = counter("rerank_failures", "Failures of the reranker.")
        self._context = histogram("context_seconds", "Time to pack a context block.")
        self._tokens = counter("context_tokens", "Tokens of context blocks.")
        self._left_out = counter("context_left_out", "Matching memories that didn't fit.")
        self._beliefs = counter("belief_changes", "Facts merged, superseded, faded, ...", "kind")
        self._jobs = counter("jobs", "Upkeep jobs run.", "job", "outcome")
        self._job = histogram("job_seconds", "Time of upkeep jobs.", "job")
        self._compactions = counter("window_compactions", "Compactions of windows.", "level")
        self._saved = counter("window_saved_tokens", "Tokens saved by compactions.")
        self._calls = counter("model_calls", "Requests to language models.", "purpose", "model")
        self._model_tokens = counter(
            "model_tokens", "Tokens of model calls.", "purpose", "model", "kind"
        )
        self._model_cost = counter(
            "model_cost_usd", "Cost by the settings' prices.", "purpose", "model"
        )
        self._budgets = counter("budget_reached", "Days on which a budget was spent.", "purpose")
        self._batches = counter("extraction_batches", "Extraction batches at a provider.", "status")
        self._judging = counter(
            "judged_by_rules", "Pairs of facts judged by rules after the model failed."
        )
        self._breaker = counter("breaker_opened", "Pauses of a model endpoint that kept failing.")
        self._checkpoints = counter("checkpoints_restored", "Damaged checkpoints restored.")
        self._lock_wait = histogram("lock_wait_seconds", "Waits for a lock.", "lock")
        self._failures = counter("worker_failures", "Background steps that failed.", "step")
        self._delivered = counter("webhook_events", "Events sent to the endpoint.", "outcome")
        self._active: dict[tuple[str, str], float] = {}
        self._active_lock = threading.Lock()
        self._timer = timer
        registry.register(_Refreshed(self._refresh))  # first: collected before the gauge
        self._active_sessions = Gauge(
            PREFIX + "active_sessions",
            "Sessions with messages in the last 5 minutes.",
            registry=registry,
            multiprocess_mode="livesum",
        )

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
            case WindowCompacted(step=level, before=before, tokens=tokens):
                self._compactions.labels(level).inc()
                self._saved.inc(before - tokens)
            case CompactionFailed(step=step):
                self._failures.labels(f"compaction: {step}").inc()
            case CheckpointRestored():
                self._checkpoints.inc()
            case ModelCalled():
                self._calls.labels(event.purpose, event.model).inc()
                purpose, model = event.purpose, event.model
                self._model_tokens.labels(purpose, model, "input").inc(event.input_tokens)
                self._model_tokens.labels(purpose, model, "output").inc(event.output_tokens)
                self._model_cost.labels(purpose, model).inc(event.cost_usd or 0.0)
            case BudgetReached(task=task):
                self._budgets.labels(task).inc()
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
            case Reranked(seconds=seconds, error=error):
                self._rerank.observe(seconds)
                self._rerank_failures.inc(error is not None)
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
            case LogShortened(because=because):
                self._shortened.inc()
                for reason, number in because.items():
                    self._removed.labels(reason).inc(number)
            case EventsDelivered(outcome, number):
                self._delivered.labels(outcome).inc(number)

    def _refresh(self) -> None:
        since = self._timer() - _ACTIVE_SECONDS
        with self._active_lock:
            self._active = {key: at for key, at in self._active.items() if at >= since}
            self._active_sessions.set(len(self._active))


class _Refreshed(Collector):
    """Has gauges brought up to date before they are read, in each of several processes."""

    def __init__(self, refresh: Callable[[], None]) -> None:
        self._refresh = refresh

    def describe(self) -> list[Metric]:
        """Return nothing, as there is nothing of its own."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Bring the gauges up to date."""
        self._refresh()
        yield from ()


@contextmanager
def shared_by_processes() -> Iterator[Callable[[int], None]]:
    """Have the processes that are started in the body count together.

    Yields a function to call with the id of a process that has ended.
    """
    with TemporaryDirectory(prefix="semantic-memory-metrics-") as directory:
        os.environ[_SHARED] = directory
        try:
            yield partial(mark_process_dead, path=directory)
        finally:
            del os.environ[_SHARED]


def gathered(registry: CollectorRegistry) -> CollectorRegistry:
    """Return the metrics of all processes that count together with this one, itself included."""
    if _SHARED not in os.environ:
        return registry
    for _ in registry.collect():  # gauges are brought up to date
        pass
    whole = CollectorRegistry()
    MultiProcessCollector(whole)  # type: ignore[no-untyped-call]
    return whole


class StoreFigures(Collector):
    """Figures of the store, counted at most every 15 s, and rarer where that takes long."""

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
        """The figures, and the time until which they hold."""
        registry.register(self)

    def describe(self) -> list[Metric]:
        """Return nothing, so that registering doesn't count."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the figures, as they were counted last."""
        with self._lock:
            now = self._timer()
            if self._counted is None or now >= self._counted[0]:
                stats = self._stats()
                pause = max(_STATS_SECONDS, _STATS_REST * (self._timer() - now))
                self._counted = (now + pause, stats)
            stats = self._counted[1]
        memories = GaugeMetricFamily(
            PREFIX + "memories", "Memories stored.", labels=["category", "status"]
        )
        for name, number in stats.by_category_and_status.items():
            memories.add_metric(name.split("/", 1), number)
        yield memories
        spent: defaultdict[str, float] = defaultdict(float)
        for spend in stats.spending:
            spent[spend.task] += spend.cost_usd
        cost = GaugeMetricFamily(
            PREFIX + "spend_usd", "Cost of language models, of all users.", labels=["task"]
        )
        for task, dollars in spent.items():
            cost.add_metric([task], dollars)
        yield cost
        yield from _webhook(stats.webhook)
        for name, about, value in (
            ("users", "Users with a memory.", stats.users),
            ("sessions", "Sessions with a log.", stats.sessions),
            ("unembedded", "Memories without vectors.", stats.unembedded),
            ("log_bytes", "Size of all session logs.", stats.log_bytes),
            ("store_bytes", "Size of the data directory.", stats.store_bytes),
        ):
            yield GaugeMetricFamily(PREFIX + name, about, value=value)


def _webhook(state: WebhookState | None) -> Iterator[Metric]:
    if state is None:
        state = WebhookState(delivered=0, latest=0, disabled=False, dead=())
    for name, about, value in (
        ("webhook_behind", "Events not delivered yet.", state.latest - (state.delivered or 0)),
        ("webhook_dead_letters", "Events given up.", len(state.dead)),
        ("webhook_disabled", "1 once the endpoint answered 410.", int(state.disabled)),
    ):
        yield GaugeMetricFamily(PREFIX + name, about, value=value)


class RequestMetrics:
    """Metrics of requests to the service."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seconds = Histogram(
            PREFIX + "request_seconds",
            "Time of requests, up to the last byte of the response.",
            ("method", "route", "status"),
            buckets=_SECONDS,
            registry=registry,
        )
        self._in_progress = Gauge(
            PREFIX + "requests_in_progress",
            "Requests under way.",
            registry=registry,
            multiprocess_mode="livesum",
        )

    def in_progress(self) -> AbstractContextManager[object]:
        """Count a request as under way while the context lasts."""
        return self._in_progress.track_inprogress()

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._seconds.labels(method, route, str(status)).observe(seconds)
