"""The stages of the write path, and when their items are due.

Items with work left follow from the ledger. Hints only say sooner that there is something to do: a
stage that fails, or a process that ends, loses none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

STORE = "store"
EXTRACT = "extract"
EMBED = "embed"
CONSOLIDATE = "consolidate"
PROFILE = "profile"
INDEX = "index"
KEEP = "keep"
SHORTEN = "shorten"
REDACT = "redact"
BATCH = "batch"
SETTLE = "settle"
REREAD = "reread"

Whole = tuple[()]
WHOLE: Whole = ()
"""The item of a stage that works on the store as a whole."""

Hint = Callable[[str, Hashable], None]
"""Note that an item may have work for the stage of that name."""

ItemT = TypeVar("ItemT")


def named(stage: str, item: Hashable) -> str:
    r"""Return the name of the lease of an item in a stage.

    >>> named("extract", ("u1", "s1")).split("\x1f")
    ['extract', 'u1', 's1']
    """
    parts = item if isinstance(item, tuple) else (item,)
    return "\x1f".join((stage, *map(str, parts)))


class Outlook(NamedTuple):
    """Work left to a stage."""

    doing: str
    """As progress reports name it."""
    left: int


class Stage(Protocol[ItemT]):
    """One step from a message to a fact that can be found.

    An item is a session, a user, or `WHOLE`; it is also the concurrency key: the runner never runs
    an item twice at once. `run` takes no lock that another stage waits for during a model call.
    """

    @property
    def name(self) -> str:
        """Name of the stage, as hints and events give it."""
        ...

    def pending(self) -> Iterable[ItemT]:
        """Derive the items with work left from the ledger."""
        ...

    def run(self, item: ItemT) -> float | None:
        """Do the next part of an item's work, and commit it.

        Returns the seconds until its next part is due, or None once nothing is left. Raises
        ProviderError if a model can't be reached, StoreError if the store can't serve.
        """
        ...

    def outlook(self) -> Outlook:
        """Count what is left, for progress reports."""
        ...


@dataclass(frozen=True, slots=True)
class Pace:
    """When the items of a stage are due after a hint, and how many run at once."""

    quiet: float = 0.0
    """Seconds without a further hint of the item."""
    most_wait: float = 0.0
    """Seconds after the first hint at the latest."""
    most_hints: float = math.inf
    """Hints after which an item is due at once."""
    rest: float = 0.0
    """Time to leave to others after each run, as a multiple of the time that the run took."""
    workers: int = 1
    """Items run at once, by the background and `flush` together; 0 leaves them to `flush`."""
    flushed: bool = True
    """`flush` waits for the stage."""
    eager: bool = False
    """A hint ends the pause after a failure."""
    leased: bool = True
    """Of several workers, one runs an item at a time; else the stage itself sees to it that what
    several do at once does no harm."""
