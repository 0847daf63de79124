"""Items in a store: exact keys, search, expiry, forgetting, export, encryption."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from semantic_memory import InvalidInputError, NotFoundError, SemanticMemory, repair
from semantic_memory.aio import AsyncSemanticMemory
from semantic_memory.domain.errors import InputRefusedError, ProviderError
from semantic_memory.domain.item_paths import steps, texts_at
from semantic_memory.settings import EncryptionSettings, Settings, TraceSettings
from semantic_memory.testing import FrozenClock, HashEmbedder, InMemoryIndex
from tests.conftest import NOW

MAYA: Any = {"user_id": "maya"}
SECRET = b"xylophobia"


class Failing(HashEmbedder):
    """An embedder that can be out of reach, or refuse a text."""

    down = False
    refused = "refused"

    def embed(self, texts: Any, input_type: Any) -> Any:
        if self.down:
            raise ProviderError("out of reach")
        if any(self.refused in text for text in texts):
            raise InputRefusedError("no")
        return super().embed(texts, input_type)


@pytest.fixture
def embedder() -> Failing:
    return Failing()


@pytest.fixture
def now() -> FrozenClock:
    return FrozenClock(NOW)


@pytest.fixture
def memory(tmp_path: Path, embedder: Failing, now: FrozenClock) -> Any:
    with SemanticMemory.open(
        tmp_path / "store", embedder=embedder, index=InMemoryIndex(), clock=now
    ) as opened:
        yield opened


def keys(memory: SemanticMemory, **asked: Any) -> list[str]:
    return [item.key for item in memory.items.list(**{**MAYA, **asked})]


def test_equal_and_contradicting_items_stay_as_they_are(memory: SemanticMemory) -> None:
    texts = ["Lives in Oslo", "Lives in Oslo", "Lives in Bergen", "I no longer live in Oslo"]
    for number, text in enumerate(texts):
        memory.items.put(["notes"], str(number), {"text": text}, **MAYA)
    memory.jobs.run()
    assert [item.value["text"] for item in memory.items.list(**MAYA)] == texts[::-1]
    assert memory.list(**MAYA) == []
    assert memory.context("Where do I live?", **MAYA).hits == ()


def test_search_merges_meaning_and_words(memory: SemanticMemory) -> None:
    texts = {"a": "green tea in the morning", "b": "black coffee", "c": "tea and coffee"}
    for key, text in texts.items():
        memory.items.put(["notes"], key, {"text": text}, **MAYA)
    memory.items.put(["notes"], "theirs", {"text": "green tea"}, user_id="kim")
    assert memory.items.search("green tea", **MAYA)[0].item.key == "a"
    words = memory.items.search("coffee", **MAYA, by="words")
    assert [hit.item.key for hit in words] == ["c", "b"]
    assert {hit.score for hit in words} == {1.0}
    assert memory.items.search("the of and", **MAYA, by="words") == []
    assert len(memory.items.search("green tea", user_id=None, limit=9)) == 4
    page = memory.items.search("tea", **MAYA, limit=1, offset=1)
    assert page == memory.items.search("tea", **MAYA, limit=2)[1:]
    narrowed = memory.items.search("tea", **MAYA, filters={"text": {"$ne": texts["a"]}}, limit=1)
    assert narrowed[0].item.key == "c"


def test_a_long_text_is_found_by_its_end(memory: SemanticMemory) -> None:
    long = "The meeting was about the budget of the year. " * 200 + "Volcano trips are on Sundays."
    memory.items.put(["notes"], "long", {"text": long}, **MAYA)
    memory.items.put(["notes"], "other", {"text": "The budget"}, **MAYA)
    assert memory.items.search("volcano trips on Sundays", **MAYA)[0].item.key == "long"


def test_items_are_embedded_later_if_the_model_is_out_of_reach(
    memory: SemanticMemory, embedder: Failing
) -> None:
    embedder.down = True
    memory.items.put(["notes"], "k", {"text": "green tea"}, **MAYA)
    assert memory.items.get(["notes"], "k", **MAYA).value == {"text": "green tea"}
    (finding,) = [one for one in memory.admin.check() if one.check == "items"]
    assert not finding.ok
    assert memory.items.search("tea", **MAYA, by="words")[0].item.key == "k"
    with pytest.raises(ProviderError):
        memory.items.search("tea", **MAYA)
    embedder.down = False
    assert memory.items.search("tea", **MAYA, by="meaning")[0].item.key == "k"


def test_a_refused_text_is_found_by_words(memory: SemanticMemory, embedder: Failing) -> None:
    embedder.down = True
    for key in ("refused", "fine", "none"):
        memory.items.put(["notes"], key, {"text": f"{key} tea"}, **MAYA)
    embedder.down = False
    assert len(memory.items.search("tea", **MAYA, by="meaning")) == 2
    assert len(memory.items.search("tea", **MAYA, by="words")) == 3


def test_an_expired_item_is_gone_at_once_and_swept(
    memory: SemanticMemory, now: FrozenClock
) -> None:
    memory.items.put(["notes"], "short", {"n": 1}, **MAYA, ttl=60)
    memory.items.put(["notes"], "kept", {"n": 2}, **MAYA)
    now.advance(seconds=40)
    assert memory.items.get(["notes"], "short", **MAYA).expires_at is not None
    now.advance(seconds=40)
    assert keys(memory, refresh=False) == ["kept", "short"]
    now.advance(seconds=30)
    assert keys(memory) == ["kept"]
    with pytest.raises(NotFoundError):
        memory.items.get(["notes"], "short", **MAYA)
    assert not memory.items.delete(["notes"], "none", **MAYA)
    (planned,) = memory.jobs.run(["expiry"], dry_run=True)
    assert planned.planned == ("erase 1 expired items",)
    assert memory.admin.stats().items == 2
    (run,) = memory.jobs.run(["expiry"])
    assert run.counts == {"expired items": 1}
    assert memory.admin.stats().items == 1


@pytest.mark.parametrize("way", ["deleted", "expired"])
def test_questions_about_an_item_go_with_it(tmp_path: Path, now: FrozenClock, way: str) -> None:
    settings = Settings(data_dir=tmp_path / "store", trace=TraceSettings(texts=True))
    index = InMemoryIndex()
    with SemanticMemory.open(
        settings=settings, embedder=HashEmbedder(), index=index, clock=now
    ) as memory:
        memory.items.put(["notes"], "fear", {"text": SECRET.decode()}, **MAYA, ttl=60)
        memory.search(f"What is {SECRET.decode()}?", **MAYA)
        if way == "deleted":
            memory.items.delete(["notes"], "fear", **MAYA)
        now.advance(minutes=5)
        memory.jobs.run(["expiry", "compact"])
    files = [one for one in tmp_path.rglob("*") if one.is_file()]
    assert not [one.name for one in files if SECRET in one.read_bytes()]


@pytest.mark.parametrize("expires", [True, False])
def test_questions_about_a_fact_go_when_it_expires(
    tmp_path: Path, now: FrozenClock, expires: bool
) -> None:
    settings = Settings(data_dir=tmp_path / "store", trace=TraceSettings(texts=True))
    index = InMemoryIndex()
    with SemanticMemory.open(
        settings=settings, embedder=HashEmbedder(), index=index, clock=now
    ) as memory:
        end = now.moment + timedelta(minutes=1) if expires else None
        memory.add(f"Fears {SECRET.decode()}", **MAYA, expires_at=end)
        memory.search(f"Who has {SECRET.decode()}?", **MAYA)
        now.advance(minutes=5)
        memory.jobs.run(["expiry", "compact"])
    files = [one for one in tmp_path.rglob("*") if one.is_file()]
    left = {one.name for one in files if SECRET in one.read_bytes()}
    assert left == (set() if expires else {"ledger.sqlite3", "traces.sqlite3"})


def test_another_users_item_is_out_of_reach(memory: SemanticMemory) -> None:
    memory.items.put(["notes"], "k", {"n": 1}, user_id="kim")
    with pytest.raises(NotFoundError):
        memory.items.get(["notes"], "k", **MAYA)
    assert not memory.items.delete(["notes"], "k", **MAYA)
    assert (keys(memory), memory.items.namespaces(**MAYA)) == ([], [])
    assert memory.items.search("n", **MAYA) == []
    memory.items.put(["notes"], "k", {"n": 2}, **MAYA)
    memory.forget(**MAYA, everything=True)
    assert memory.items.get(["notes"], "k", user_id="kim").value == {"n": 1}


def test_forgetting_a_subject_leaves_items(memory: SemanticMemory) -> None:
    memory.items.put(["notes"], "k", {"text": "about Anna"}, **MAYA)
    memory.add("Knows Anna", **MAYA)
    assert memory.forget(**MAYA, entity="Anna").items == 0
    assert keys(memory) == ["k"]


def holding(directory: Path) -> list[str]:
    return [
        path.name
        for path in directory.rglob("*")
        if path.is_file() and SECRET in path.read_bytes().lower()
    ]


@pytest.mark.parametrize("way", ["everything", "delete", "overwrite", "expiry"])
def test_no_file_holds_what_was_erased(
    memory: SemanticMemory, tmp_path: Path, now: FrozenClock, way: str
) -> None:
    place = (["notes", "xylophobia"], "xylophobia")
    kept = (["notes"], "k")
    memory.items.put(*place, {"text": "Has xylophobia"}, **MAYA, ttl=60)
    memory.items.put(*kept, {"text": "Fears xylophobia"}, **MAYA)
    assert holding(tmp_path) != []
    memory.items.put(*kept, {"text": "Fears nothing"}, **MAYA)
    match way:
        case "everything":
            memory.forget(**MAYA, everything=True)
        case "delete" | "overwrite":
            memory.items.delete(*place, **MAYA)
        case "expiry":
            now.advance(seconds=61)
            memory.jobs.run(["expiry"])
    memory.jobs.run(["compact"])
    assert holding(tmp_path) == []


def test_a_proof_searches_for_the_texts_of_items(memory: SemanticMemory, tmp_path: Path) -> None:
    memory.items.put(["notes"], "k", {"text": "Has xylophobia and other fears"}, **MAYA)
    (tmp_path / "store" / "left").write_text("has xylophobia and other fears")
    proof = memory.forget(**MAYA, everything=True, proof=True).proof
    assert proof is not None
    assert [trace.file for trace in proof.found] == ["left"]


def test_items_are_loaded_once_and_never_over_newer_ones(
    memory: SemanticMemory, now: FrozenClock
) -> None:
    memory.items.put(["notes"], "k", {"n": 10**30}, **MAYA, index=["n"])
    memory.items.put(["notes"], "timed", {}, **MAYA, ttl=60)
    records = [json.loads(json.dumps(one)) for one in memory.transfer.export(**MAYA)]
    assert [one["kind"] for one in records] == ["export", "item", "item"]
    assert memory.transfer.load(records, user_id="kim") == 2
    before = memory.items.get(["notes"], "k", **MAYA)
    assert memory.items.get(["notes"], "k", user_id="kim") == before.model_copy(
        update={"user_id": "kim"}
    )
    memory.items.put(["notes"], "k", {"n": 2}, user_id="kim")
    assert memory.transfer.load(records, user_id="kim") == 0
    assert memory.items.get(["notes"], "k", user_id="kim").value == {"n": 2}
    now.advance(seconds=61)
    assert memory.transfer.load(records, user_id="lea") == 1  # the other has expired meanwhile
    assert [*memory.transfer.export(**MAYA, session_id="s1")] == [*memory.transfer.export(**MAYA)][
        :1
    ]
    with pytest.raises(InvalidInputError, match=r"record 1: .*namespace"):
        memory.transfer.load(
            [{"kind": "item", "item": {**records[1]["item"], "namespace": []}}], **MAYA
        )


@pytest.mark.parametrize("ttl", [0, -1.0, 1e300, float("inf"), float("nan"), "60"])
def test_an_item_with_an_impossible_time_to_live_is_not_loaded(
    memory: SemanticMemory, ttl: object
) -> None:
    memory.items.put(["notes"], "k", {}, **MAYA, ttl=60)
    (_, record) = memory.transfer.export(**MAYA)
    with pytest.raises(InvalidInputError, match=r"record 1: .*ttl"):
        memory.transfer.load([{**record, "item": {**record["item"], "ttl": ttl}}], user_id="kim")


def test_an_encrypted_store_holds_no_item_in_plain_text(tmp_path: Path) -> None:
    settings = Settings(encryption=EncryptionSettings(key="A" * 43 + "="))
    for _ in range(2):
        with SemanticMemory.open(
            tmp_path / "sealed", settings=settings, embedder=HashEmbedder()
        ) as memory:
            memory.items.put(["xylophobia"], "k", {"text": "xylophobia"}, **MAYA)
            assert memory.items.search("xylophobia", **MAYA)[0].item.key == "k"
    assert holding(tmp_path) == []


def test_items_stand_after_opening_again_and_reembedding(tmp_path: Path) -> None:
    directory = tmp_path / "again"
    with SemanticMemory.open(directory, embedder=HashEmbedder()) as memory:
        memory.items.put(["notes"], "k", {"text": "green tea"}, **MAYA)
    repair.reembed(directory, embedder=HashEmbedder(32))
    with SemanticMemory.open(directory, embedder=HashEmbedder(32)) as memory:
        assert memory.items.search("tea", **MAYA, by="meaning")[0].item.key == "k"


def test_threads_put_and_read_at_once(memory: SemanticMemory) -> None:
    def work(worker: int) -> None:
        for number in range(20):
            memory.items.put(["n", str(worker)], str(number), {"n": number}, **MAYA)
            memory.items.search("n", ["n"], **MAYA, limit=1)
            memory.items.put(["n"], "shared", {"n": number}, **MAYA)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert memory.admin.stats().items == 81
    assert memory.items.get(["n"], "shared", **MAYA).value == {"n": 19}


async def _asynchronously(memory: AsyncSemanticMemory) -> list[str]:
    await memory.items.put(["notes"], "k", {"text": "tea"}, **MAYA)
    found = await memory.items.search("tea", **MAYA)
    return [hit.item.key for hit in found]


def test_items_of_an_asynchronous_memory_are_awaited(memory: SemanticMemory) -> None:
    import anyio

    assert anyio.run(_asynchronously, AsyncSemanticMemory(memory)) == ["k"]


PATHS = {
    "$": ['{"a": {"b": "x"}, "l": [{"t": "one"}, {"t": "two"}], "n": 1, "z": null}'],
    "a.b": ["x"],
    "a": ['{"b": "x"}'],
    "n": ["1"],
    "z": [],
    "missing.b": [],
    "l[0].t": ["one"],
    "l[-1].t": ["two"],
    "l[9].t": [],
    "l[*].t": ["one", "two"],
    "l.*.t": ["one", "two"],
    "*.b": ["x"],
    "{a.b,n}": ["x", "1"],
    "{n, missing}": ["1"],
}


@pytest.mark.parametrize("path", PATHS)
def test_texts_are_read_at_a_path(path: str) -> None:
    value = {"a": {"b": "x"}, "l": [{"t": "one"}, {"t": "two"}], "n": 1, "z": None}
    assert texts_at(value, path) == PATHS[path]


@pytest.mark.parametrize("path", ["", ".", ".a", "a..b", "a[", "a[x]", "a]", "{a", "a" * 300])
def test_a_path_that_cannot_be_read_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="must be like"):
        steps(path)
