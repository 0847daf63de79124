"""Check a forgetting in advance: what it may delete by mistake, and what it leaves."""

from __future__ import annotations

from semantic_memory.application.clearing import texts_in
from semantic_memory.application.items import every_item
from semantic_memory.application.naming import Naming
from semantic_memory.application.reach import Reach
from semantic_memory.domain.items import BEFORE_ALL, ItemScope
from semantic_memory.domain.ports import Ledger
from semantic_memory.domain.requests import ForgetRequest

_SHARE = 1 / 3  # of a user's memories, above which a subject needs `force`
_FEW = 10  # memories of a user, below which a third says nothing


class ForgetChecks:
    """Checks of what is to be forgotten by its name. Thread-safe."""

    def __init__(self, ledger: Ledger, naming: Naming) -> None:
        self._ledger = ledger
        self._naming = naming

    def doubt(self, asked: ForgetRequest, found: Reach) -> str:
        """Return why a request may take more than it means; empty if it doesn't."""
        if not asked.names_content:
            return ""
        if asked.entity is not None and (why := self._naming.doubt(asked.entity, asked.user_id)):
            return why
        taken, held = len(found.gone) + len(found.left), self._ledger.count(asked.user_id)
        if held < _FEW or taken <= _SHARE * held:
            return ""
        return f"it takes {taken:,} of the user's {held:,} memories"

    def kept_in(self, asked: ForgetRequest) -> list[str]:
        """Return the profile fields and items, written by hand, that hold the subject."""
        subject = asked.entity or asked.query
        if subject is None:
            return []
        names = self._naming.test(subject)
        lines = (one for one in self._ledger.lines(asked.user_id) if one.origin == "user")
        fields = [f"profile {one.layer}" for one in lines if names(one.text)]
        scope = ItemScope(asked.user_id, (), BEFORE_ALL)
        items = [
            f"item {'/'.join((*item.namespace, item.key))}"
            for item in (one.item for one in every_item(self._ledger, scope))
            if any(map(names, (item.key, *texts_in(item.value))))
        ]
        return [*fields, *items]
