"""A store as a whole, for its operator: `memory.admin`.

for finding in memory.admin.check():
    print(finding.check, finding.ok, finding.remedy)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semantic_memory.domain.reports import Finding, Stats
from semantic_memory.domain.requests import IdsRequest, VerifyRequest
from semantic_memory.groups.binding import Group, verb

if TYPE_CHECKING:  # they would load numpy
    from semantic_memory.application.inspection import Inspection
    from semantic_memory.domain.ports import Progress
    from semantic_memory.settings import Settings


class Admin(Group):
    """The operation of a store. Thread-safe."""

    ids = verb(IdsRequest.of, lambda use: use.lookup.ids)
    verify_receipt = verb(VerifyRequest.of, lambda use: use.receipts.verify)

    @property
    def settings(self) -> Settings:
        """The settings of the store."""
        return self._parts().settings

    @property
    def inspection(self) -> Inspection:
        """The use cases of those who look into the store, such as its dashboard."""
        return self._parts().inspection

    def users(self) -> list[str]:
        """Return every user with a memory."""
        return self._parts().statistics.users()

    def stats(self) -> Stats:
        """Count the contents of the store."""
        return self._parts().statistics.stats()

    def check(self) -> list[Finding]:
        """Check the store from end to end, with a remedy for each problem."""
        return self._parts().doctor.check()

    def rebuild(self, progress: Progress | None = None) -> int:
        """Fill the vector index again from the ledger, embedding nothing; return its size."""
        return self._parts().maintenance.rebuild(progress)
