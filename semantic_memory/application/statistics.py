"""Count the contents of a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from semantic_memory.application.dead_letters import DeadLetters
from semantic_memory.domain.facts import Status
from semantic_memory.domain.ports import EmbedderIdentity, Ledger, SessionLog
from semantic_memory.domain.reports import Spend, Stats
from semantic_memory.llm.spending import Budget, SpendBook

_MOST_USERS = 100


class Statistics:
    """Count users, sessions, memories and bytes. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        log: SessionLog,
        embedder: EmbedderIdentity,
        size: Callable[[], int],
        book: SpendBook,
        budgets: Sequence[Budget] = (),
    ) -> None:
        """Count a store; `size` returns its bytes, `book` has what it spent, of `budgets` too."""
        self._ledger = ledger
        self._log = log
        self._embedder = embedder
        self._size = size
        self._book = book
        self._budgets = budgets

    def users(self) -> list[str]:
        """Return every user with a memory."""
        return self._ledger.users()

    def stats(self) -> Stats:
        """Count the contents of the whole store."""
        logs = self._log.tally()
        tally = self._ledger.tally()
        webhook = DeadLetters(self._ledger).state()
        return Stats(
            users=len(self._ledger.users()),
            sessions=logs.sessions,
            memories=self._ledger.count(),
            by_category_and_status=tally,
            unembedded=self._ledger.count_unembedded(),
            log_bytes=logs.size,
            store_bytes=self._size(),
            embedder=str(self._embedder),
            deleted=sum(n for name, n in tally.items() if name.endswith(f"/{Status.FORGOTTEN}")),
            items=self._ledger.count_items(),
            corrupt_lines=logs.corrupt_lines,
            spending=_shortened(self._book.spending()),
            budgets=tuple(budget.state(self._book) for budget in self._budgets),
            webhook=webhook if webhook.delivered is not None else None,
        )


def _shortened(spending: Sequence[Spend]) -> tuple[Spend, ...]:
    """Return the costs of the most expensive users, and the sums of all others by task."""
    users = dict.fromkeys(one.user_id for one in spending)
    named = set(list(users)[:_MOST_USERS]) - {""}
    rest: dict[str, Spend] = {}
    for one in spending:
        if one.user_id not in named:
            rest[one.task] = rest.get(one.task, Spend(user_id="", task=one.task)).plus(one)
    return (*(one for one in spending if one.user_id in named), *rest.values())
