"""Wire up what runs by schedule, and the delivery of events."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack

from semantic_memory.application.dead_letters import DeadLetters, delivered
from semantic_memory.application.expiring import Expiring
from semantic_memory.application.feed import FeedPruning
from semantic_memory.application.items import ItemStore
from semantic_memory.application.jobs.compaction import Compactor
from semantic_memory.application.jobs.upkeep import Upkeep, Uses
from semantic_memory.application.trail import Trail
from semantic_memory.application.webhook import Webhook
from semantic_memory.bootstrap.storage import Storage
from semantic_memory.consolidation.fading import Fading
from semantic_memory.consolidation.resolver import Resolver
from semantic_memory.domain.ports import Clock, Ledger, Observer
from semantic_memory.domain.retention import Expiry
from semantic_memory.pipeline.leasing import Leasing
from semantic_memory.pipeline.pipeline import Pipeline
from semantic_memory.profile.history import Extent
from semantic_memory.profile.rollup import Extents, Rollup
from semantic_memory.retrieval.exact import ExactIndex
from semantic_memory.settings import Settings, UpkeepSettings, WebhookSettings
from semantic_memory.vectors.keeper import Keeper


def make_compactor(
    ledger: Ledger, pipeline: Pipeline, keeper: Keeper, index: ExactIndex, storage: Storage
) -> Compactor:
    """Make what erases forgotten texts from the ledger, the logs and every index."""

    def purge(users: Collection[str] | None) -> None:
        keeper.purge()
        index.purge(users)
        storage.purge()

    return Compactor(ledger, pipeline, purge)


def make_upkeep(
    settings: Settings,
    ledger: Ledger,
    compactor: Compactor,
    resolver: Resolver,
    rollup: Rollup,
    items: ItemStore,
    uses: Uses,
    trail: Trail,
    clock: Clock,
    expiry: Expiry,
    observe: Observer,
    leasing: Leasing,
) -> Upkeep:
    """Make the maintenance jobs."""
    return Upkeep(
        ledger,
        resolver,
        rollup,
        compactor,
        Expiring(ledger, expiry, observe),
        items,
        make_pruning(settings, ledger),
        uses,
        trail,
        clock,
        observe,
        make_fading(settings),
        leasing,
        DeadLetters(ledger),
    )


def keep_up(
    settings: UpkeepSettings, upkeep: Upkeep, ledger: Ledger, clock: Clock, stack: ExitStack
) -> None:
    """Run the upkeep by its schedule, or again when `stack` is closed."""
    if not settings.schedule:
        stack.callback(upkeep.close)
        return
    from semantic_memory.application.jobs.scheduler import Scheduler

    scheduler = Scheduler(upkeep, ledger, clock, settings.intervals)
    scheduler.start()
    stack.callback(scheduler.close)


def make_fading(settings: Settings) -> Fading:
    """Make the rules by which facts fade."""
    upkeep = settings.upkeep
    return Fading(
        loss_per_week=upkeep.loss_per_week,
        floor=upkeep.floor,
        cap=upkeep.cap,
        half_life_days=settings.half_lives,
        curve=settings.curve,
    )


def make_extents(settings: Settings) -> Extents:
    """Make the limits of profiles and histories."""
    profile = settings.profile
    return Extents(
        profile.facts,
        {
            "recent_months": Extent(profile.recent_sentences, profile.recent_tokens),
            "earlier_context": Extent(profile.earlier_sentences, profile.earlier_tokens),
            "long_term_background": Extent(profile.long_term_sentences, profile.long_term_tokens),
        },
        profile.ages,
    )


def make_pruning(settings: Settings, ledger: Ledger) -> FeedPruning:
    """Make the pruning of the feed, which leaves what is yet to be delivered to a webhook."""
    delivers = settings.webhook.url is not None
    return FeedPruning(
        ledger, settings.upkeep.events, lambda: delivered(ledger) if delivers else None
    )


def start_webhook(
    settings: WebhookSettings,
    ledger: Ledger,
    clock: Clock,
    observe: Observer,
    leasing: Leasing,
    stack: ExitStack,
) -> None:
    """Deliver events to the endpoint, if there is one, until `stack` is closed.

    Raises ConfigurationError.
    """
    if settings.url is None:
        return
    from semantic_memory.delivery import http_endpoint

    secret = None if settings.secret is None else settings.secret.get_secret_value()
    to = http_endpoint(settings.url, secret)
    webhook = Webhook(
        ledger,
        to,
        settings.kinds,
        clock,
        observe,
        leasing=leasing,
        senders=settings.senders,
        at_once=settings.batch,
        attempts=settings.attempts,
    )
    webhook.start()
    stack.callback(webhook.close)
