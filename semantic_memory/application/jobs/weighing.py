"""Persist the factors of relevance that time changes, so that the ledger can sort by them."""

from __future__ import annotations

from datetime import datetime

from semantic_memory.consolidation.fading import Fading, recency, retention
from semantic_memory.consolidation.resolver import Outcome
from semantic_memory.domain.changes import Weigh
from semantic_memory.domain.filters import NO_FILTERS
from semantic_memory.domain.ports import Ledger
from semantic_memory.pipeline.session_records import fading_of, own_rules

_PAGE = 2_000


def weigh(ledger: Ledger, user_id: str, now: datetime, rules: Fading, *, dry_run: bool) -> Outcome:
    """Weigh every memory of a user that is believed, a page in a transaction.

    A dry run does nothing: weighing changes no memory.
    """
    outcome = Outcome()
    own = fading_of(ledger, user_id)
    after: str | None = None
    while not dry_run:
        page = ledger.find(user_id, NO_FILTERS, limit=_PAGE, after=after)
        ledger.apply(
            [
                Weigh(
                    one.id,
                    retention(one, now, own_rules(rules, one, own)),
                    recency(one, now, rules),
                )
                for one in page
            ]
        )
        if len(page) < _PAGE:
            break
        after = page[-1].id
    return outcome
