"""A store belongs to the process that opened it, not to its forks."""

import os

import pytest

from semantic_memory import SemanticMemory, StoreLockedError
from semantic_memory.testing import HashEmbedder
from tests.conftest import say

U = {"user_id": "anna"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_is_refused_and_takes_nothing_from_its_parent(open_memory, tmp_path):
    memory = open_memory()
    kept = memory.add("Likes tea", **U)
    child = os.fork()
    if child == 0:  # an exit code tells how it went
        refused = 0
        for call in (
            lambda: memory.search("tea", **U),
            lambda: memory.add("Likes coffee", **U),
            lambda: memory.observe(say("One"), session_id="s1", **U),
            lambda: memory.delete(kept.id),
        ):
            try:
                call()
            except StoreLockedError as error:
                refused += "fork" in str(error)
        memory.close()
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
    assert [fact.content for fact in memory.list(**U)] == ["Likes tea"]
    with pytest.raises(StoreLockedError, match=str(os.getpid())):
        SemanticMemory.open(tmp_path / "store", embedder=HashEmbedder())
