"""Storing beside extraction: a message stored while it is looked for hasn't been forgotten."""

from types import SimpleNamespace
from typing import Any, cast

from semantic_memory.domain.messages import SessionKey
from semantic_memory.pipeline.facts import forgotten, verbatim_id

KEY = SessionKey("u1", "s1")


def test_a_message_that_is_stored_between_two_reads_is_not_taken_for_forgotten():
    stored: set[str] = set()

    class Meanwhile:
        """A ledger in which a message is stored behind the first read."""

        def known(self, ids):
            found = set(ids) & stored
            stored.update(ids)
            return found

        def get(self, ids):
            found = [SimpleNamespace(id=one) for one in ids if one in stored]
            stored.update(ids)
            return found

    assert forgotten(cast(Any, Meanwhile()), KEY, ["m1"]) == set()
    assert stored == {verbatim_id(KEY, "m1")}
