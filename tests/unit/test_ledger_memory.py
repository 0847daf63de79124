"""A store whose ledger is in memory, as tests use it."""

import pytest

from semantic_memory.domain.errors import ConfigurationError, NotFoundError
from semantic_memory.settings import IndexSettings, LedgerSettings, Settings, load
from tests.conftest import say

IN_MEMORY = LedgerSettings(store="memory")
U = {"user_id": "u1"}


@pytest.mark.parametrize("exact_limit", [7_000, 0])
def test_the_main_path_needs_no_file(open_memory, tmp_path, exact_limit):
    settings = Settings(ledger=IN_MEMORY, index=IndexSettings(exact_limit=exact_limit))
    memory = open_memory(settings=settings)
    memory.observe(say("I live in Oslo.", "My dog is called Rex."), session_id="s1", **U)
    memory.flush()
    assert "Rex" in memory.search("What is my dog called?", **U)[0].fact.content
    added = memory.add("Moved to Berlin", **U)
    changed = memory.update(added.id, content="Moved to Hamburg")
    assert [one.fact.content for one in memory.history.versions(added.id)] == [
        "Moved to Berlin",
        "Moved to Hamburg",
    ]
    memory.flush()
    assert memory.search("Hamburg", **U, k=1)[0].fact.id == changed.id
    assert "Hamburg" in memory.context("Where did I move to?", **U).text
    memory.delete(changed.id)
    with pytest.raises(NotFoundError):
        memory.get(changed.id)
    assert changed.id not in [hit.fact.id for hit in memory.search("Hamburg", **U, k=40)]
    assert {fact.source.session_id for fact in memory.list(**U)} == {"s1"}
    assert memory.sessions.list(**U)[0].messages == 2
    assert memory.admin.users() == ["u1"]
    assert all(run.error is None for run in memory.jobs.run())
    assert all(finding.ok for finding in memory.admin.check())
    assert not list((tmp_path / "store").glob("ledger*"))


def test_nothing_is_kept_but_what_the_session_logs_hold(open_memory):
    settings = Settings(ledger=IN_MEMORY)
    memory = open_memory(settings=settings)
    memory.observe(say("I live in Oslo."), session_id="s1", **U)
    told = memory.add("Likes tea", **U)
    memory.flush()
    memory.close()
    again = open_memory(settings=settings)
    again.flush()
    assert told.id not in {fact.id for fact in again.list(**U)}
    assert "I live in Oslo." in {fact.content for fact in again.list(**U)}


def test_the_setting_is_checked():
    assert load(ledger={"store": "memory"}).ledger.store == "memory"
    with pytest.raises(ConfigurationError, match="store"):
        load(ledger={"store": "paper"})
