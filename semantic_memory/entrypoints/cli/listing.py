"""Pages of memories for a person: facts first, and behind them what was said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semantic_memory.domain.categories import Category, Status
from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.filters import Filters

if TYPE_CHECKING:
    from semantic_memory.client import Client
    from semantic_memory.memory import SemanticMemory

_SAID = frozenset({Category.CONVERSATION})


def page(
    memory: SemanticMemory | Client,
    filters: Filters,
    *,
    user_id: str,
    limit: int,
    after: str | None,
    status: Status | None,
    sort: str,
    **scope: Any,
) -> tuple[list[Fact], str | None]:
    """Return memories, and the id to continue after; None if there are no more.

    Facts come before messages, unless the filters choose categories or an order.
    """
    asked = {"user_id": user_id, "status": status, "sort": sort, **scope}
    chosen = filters.categories is not None or not _SAID.isdisjoint(filters.not_categories)
    chosen = chosen or filters.sort is not None or sort != "time"
    if chosen or status is Status.FORGOTTEN:
        found = memory.list(**asked, filters=filters, limit=limit, after=after)
        return [*found], found[-1].id if found.next is not None else None
    # an application's own categories are facts too, so these are what isn't said
    facts = filters.model_copy(update={"not_categories": filters.not_categories | _SAID})
    said = filters.model_copy(update={"categories": _SAID})
    first: list[Fact] = []
    in_facts = after is None or not _is_said(memory, after, user_id)
    if in_facts:
        found = memory.list(**asked, filters=facts, limit=limit, after=after)
        first = [*found]
        if found.next is not None:
            return first, first[-1].id
    behind = None if in_facts else after
    rest = memory.list(**asked, filters=said, limit=max(1, limit - len(first)), after=behind)
    if len(first) == limit:
        return first, first[-1].id if rest else None
    return [*first, *rest], rest[-1].id if rest.next is not None else None


def _is_said(memory: SemanticMemory | Client, memory_id: str, user_id: str) -> bool:
    try:
        found = memory.get(memory_id, user_id=user_id)
    except NotFoundError:  # deleted since, or a cursor: the listing says what it can't use
        return False
    return found.category is Category.CONVERSATION
