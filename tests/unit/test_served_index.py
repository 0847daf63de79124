"""Indexes on a server: one that goes away and comes back, and several processes that share it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from ingest.encryption import new_key
from semantic_memory import SemanticMemory
from semantic_memory.bootstrap import Parts, build
from semantic_memory.domain.changes import Add, FactVectors, Forget
from semantic_memory.domain.errors import ConfigurationError, IndexUnavailableError
from semantic_memory.domain.events import IndexSetAside
from semantic_memory.domain.ports import IndexEntry
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.settings import EncryptionSettings, IndexSettings, Settings
from semantic_memory.testing import HashEmbedder
from semantic_memory.vectors.chroma.server import ChromaServer
from semantic_memory.vectors.home import STATE, IndexHome
from semantic_memory.vectors.sync import IndexKeeper, SeparatingIndex
from tests.conftest import make_fact, unit_vectors
from tests.support import chroma, postgres

postgres.require()

import psycopg  # noqa: E402 - it may be absent

from semantic_memory.vectors.pgvector.home import PgvectorDatabase  # noqa: E402

NUMBERS = itertools.count()


@dataclass
class Place:
    """A server of indexes."""

    server: chroma.Server | postgres.Server
    name: str
    """The store's own, for each test."""

    def home(self, name: str = "") -> IndexHome:
        if isinstance(self.server, chroma.Server):
            return ChromaServer(self.server.url, "", name or self.name, sync_threshold=1_000)
        return PgvectorDatabase(f"{self.server.url}&schema={name or self.name}")

    def leave(self) -> None:
        if isinstance(self.server, chroma.Server):
            self.server.kill()
        else:
            self.server.stop("immediate")


@pytest.fixture(params=["chroma_server", "postgres_server"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    place = Place(request.getfixturevalue(request.param), f"served{next(NUMBERS)}")
    yield place
    home = place.home()
    home.empty()
    home.close()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SqliteLedger]:
    ledger = SqliteLedger(tmp_path / "ledger.sqlite3")
    yield ledger
    ledger.close()


def add(ledger: SqliteLedger, *numbers: int) -> None:
    none = unit_vectors(0)
    vectors = {number: FactVectors(unit_vectors(1, seed=number), none) for number in numbers}
    ledger.apply([Add(make_fact(number), one) for number, one in vectors.items()])


def keeper_of(ledger, home, events) -> IndexKeeper:
    return IndexKeeper(home, ledger, events.append, own_at=1_000, lags=lambda: None)


def found(keeper_or_index, number: int, limit: int = 1) -> list[str]:
    vector = unit_vectors(1, seed=number)[0]
    matches = keeper_or_index.query(vector, user_id="u1", limit=limit)
    return [match.id for match in matches]


def test_the_ledger_answers_while_the_server_is_away_and_it_is_followed_again(
    place, ledger, events
):
    keeper = keeper_of(ledger, place.home(), events)
    add(ledger, 1, 2)
    keeper.sync()
    place.leave()
    add(ledger, 3)
    assert [found(keeper, number) for number in (1, 3)] == [["fact-1"], ["fact-3"]]
    with pytest.raises(IndexUnavailableError, match="can't be reached"):
        keeper.sync()
    assert found(keeper, 2) == ["fact-2"]
    place.server.start()
    keeper.sync()
    assert keeper.behind == 0
    assert keeper.differences() == (set(), set())
    assert found(keeper, 3) == ["fact-3"]
    assert not [event for event in events if isinstance(event, IndexSetAside)]
    keeper.close()


def test_an_index_that_is_gone_from_the_server_is_filled_again(place, ledger, events):
    keeper = keeper_of(ledger, place.home(), events)
    add(ledger, *range(5))
    keeper.sync()
    other = place.home()
    other.empty()
    other.close()
    assert found(keeper, 1) == ["fact-1"]
    keeper.sync()
    assert keeper.differences() == (set(), set())
    assert len([event for event in events if isinstance(event, IndexSetAside)]) == 1
    keeper.close()


def test_stores_that_share_a_server_leave_each_other_alone(place):
    mine, theirs = place.home(), place.home(f"{place.name}_too")
    indexes = [home.open("0a") for home in (mine, theirs)]
    for index in indexes:
        index.upsert([entry(1)])
    mine.empty()
    assert indexes[1].ids() == {"fact-1"}
    theirs.empty()
    mine.close()
    theirs.close()


def entry(number: int) -> IndexEntry:
    return IndexEntry(make_fact(number), unit_vectors(1, seed=number))


def test_a_user_whom_another_process_holds_apart_is_found_whole(place):
    homes = place.home(), place.home()
    writing, asking = (home.open("0a") for home in homes)
    writing.upsert([entry(number) for number in range(200)])
    assert found(asking, 7) == ["fact-7"]
    assert isinstance(writing, SeparatingIndex)
    writing.own("u1")
    writing.upsert([entry(200)])
    assert len(found(asking, 7, limit=300)) == 201
    asking.upsert([entry(201)])
    assert len(found(writing, 7, limit=300)) == 202
    for home in homes:
        home.close()


def test_a_filling_that_another_process_began_is_followed(place, ledger, events):
    one, other = (keeper_of(ledger, place.home(), events) for _ in range(2))
    add(ledger, *range(20))
    one.sync()
    assert found(other, 1) == ["fact-1"]
    other.sync()
    assert one.rebuild() == 20
    add(ledger, 20)
    ledger.apply([Forget("fact-3", make_fact(3).created_at)])
    assert found(other, 20) == ["fact-20"]
    other.sync()
    assert other.differences() == one.differences() == (set(), set())
    assert len(found(one, 5, limit=50)) == len(found(other, 5, limit=50)) == 20
    assert not [event for event in events if isinstance(event, IndexSetAside)]
    one.close()
    other.close()


def test_no_text_is_sent_to_a_chroma_server(chroma_server):
    home = ChromaServer(chroma_server.url, "", "textless", sync_threshold=1_000)
    home.open("0a").upsert([entry(1)])
    where = f"{chroma_server.collections}/{chroma_server.held()['textless-0a-memories']}/get"
    got = httpx.post(where, json={"include": ["documents", "metadatas"]}).json()
    assert got["ids"] == ["fact-1"]
    assert "Thing" not in json.dumps(got)
    home.empty()
    home.close()


def test_a_chroma_server_gets_the_token_and_who_is_refused_is_told_to_set_it():
    with chroma.refusing() as server:
        home = ChromaServer(server.url, "abc", "stores", sync_threshold=1_000)
        with pytest.raises(IndexUnavailableError, match=r"set index\.token"):
            home.open("0a")
    assert server.tokens == [("Bearer abc", "abc")]


@pytest.mark.parametrize("url", ["localhost:8000", "http://", "ftp://host", "http://h/path"])
def test_another_url_than_of_a_chroma_server_is_refused(url):
    with pytest.raises(ConfigurationError, match="write http://host:8000"):
        ChromaServer(url, "", "stores", sync_threshold=1_000)


def test_a_role_that_may_not_enable_pgvector_is_told_who_may(postgres_server):
    with psycopg.connect(postgres_server.url, autocommit=True) as db:
        db.execute("CREATE DATABASE bare")
        db.execute("CREATE ROLE reader LOGIN")
    url = postgres_server.url.replace("/postgres?", "/bare?")
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("CREATE SCHEMA own AUTHORIZATION reader")
    home = PgvectorDatabase(url.replace("tests@", "reader@") + "&schema=own")
    with pytest.raises(IndexUnavailableError, match="let an administrator run CREATE EXTENSION"):
        home.open("0a")


def test_a_large_user_is_searched_by_the_users_own_hnsw_index(postgres_server):
    home = PgvectorDatabase(f"{postgres_server.url}&schema=large")
    index = home.open("0a")
    index.upsert([entry(number) for number in range(2_000)])
    index.own("u1")
    assert index.owns("u1")
    with psycopg.connect(postgres_server.url) as db:
        kept = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'large' AND indexdef ~ 'hnsw'"
        ((definition,),) = db.execute(kept).fetchall()
    assert "WHERE (user_id = 'u1'" in definition
    assert found(index, 5, limit=20)[0] == "fact-5"
    home.empty()
    home.close()


def test_a_large_user_is_held_apart_once_all_is_written(place, ledger, events):
    home = place.home()
    keeper = IndexKeeper(home, ledger, events.append, own_at=20, lags=lambda: None)
    add(ledger, *range(30))
    keeper.sync()
    _, generation, _ = (ledger.meta(STATE) or "").split(" ")
    other = place.home()
    index = other.open(generation)
    assert isinstance(index, SeparatingIndex)
    assert (index.owns("u1"), index.owns("u2")) == (True, False)
    keeper.close()
    other.close()


def test_the_directory_of_a_former_index_is_named(tmp_path):
    for provider in ("chroma", "none"):
        settings = Settings(data_dir=tmp_path / "store", index=IndexSettings(provider=provider))
        with SemanticMemory.open(settings=settings, embedder=HashEmbedder()) as memory:
            memory.add("Owns a boat", user_id="u1")
            found = [one for one in memory.admin.check() if one.check == "index"]
    assert [one.detail for one in found if one.ok] == ["none: searches read the ledger"]
    assert [one.remedy for one in found if not one.ok] == [f"rm -r {tmp_path / 'store' / 'chroma'}"]


@pytest.mark.parametrize("provider", ["chroma-server", "pgvector"])
def test_a_provider_without_a_url_is_refused(tmp_path, provider):
    settings = Settings(data_dir=tmp_path, index=IndexSettings(provider=provider))
    with pytest.raises(ConfigurationError, match=r"set it to where that is"):
        build(settings, Parts(embedder=HashEmbedder(16)))


def test_an_encrypted_store_has_no_index_elsewhere(tmp_path):
    index = IndexSettings(provider="pgvector", url="postgresql://host/db")
    keys = EncryptionSettings(key=new_key())
    settings = Settings(data_dir=tmp_path / "store", index=index, encryption=keys)
    with pytest.raises(ConfigurationError, match=r"set index\.provider to none"):
        build(settings, Parts(embedder=HashEmbedder(16)))
