"""One policy on secrets and personal data, whichever way a text comes in."""

import pytest

from semantic_memory import Message
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.settings import IngestSettings, Settings

U = {"user_id": "u1"}
SECRET = "The bank password is hunter2."
MAIL = "Maya's mail is maya.k@example.org."


def policy(open_memory, personal_data):
    return open_memory(settings=Settings(ingest=IngestSettings(personal_data=personal_data)))


def record(content):
    stamp = "2026-05-10T12:00:00Z"
    fact = {"id": "f1", "user_id": "u1", "content": content, "category": "personal"}
    fact |= dict.fromkeys(("created_at", "recorded_at", "valid_from"), stamp)
    return {"kind": "fact", "fact": fact}


def item(value):
    stamp = "2026-05-10T12:00:00Z"
    own = {"user_id": "u1", "namespace": ["a"], "key": "k", "value": value}
    return {"kind": "item", "item": {**own, "created_at": stamp, "updated_at": stamp}}


DOORS = {
    "add: content": lambda memory, text: memory.add(text, **U),
    "add: metadata.notes.0": lambda memory, text: memory.add(
        "Likes tea", **U, metadata={"notes": [text]}
    ),
    "item 2: content": lambda memory, text: memory.transfer.add_many(
        [{"content": "Likes jazz"}, {"content": text}], **U
    ),
    "update: content": lambda memory, text: memory.update(
        memory.add("Likes tea", **U).id, content=text
    ),
    "record 1: content": lambda memory, text: memory.transfer.load([record(text)], **U),
    "items.put: value.notes.0": lambda memory, text: memory.items.put(
        ["a"], "k", {"notes": [text]}, **U
    ),
    "record 1: value.note": lambda memory, text: memory.transfer.load([item({"note": text})], **U),
    "top_of_mind": lambda memory, text: memory.profile.update({"top_of_mind": text}, **U),
}


def stored(memory):
    facts = " ".join(fact.model_dump_json() for fact in memory.list(**U))
    items = " ".join(one.model_dump_json() for one in memory.items.list(**U))
    return facts + items + memory.profile.get(**U).model_dump_json()


KEPT = {"items.put: value.notes.0", "record 1: value.note"}
"""Doors of items, which come back as they were put."""


@pytest.mark.parametrize("place", sorted(DOORS.keys() - KEPT))
def test_a_secret_is_refused_with_its_kind_and_place(memory, place):
    with pytest.raises(InvalidInputError) as caught:
        DOORS[place](memory, SECRET)
    assert f"{place} holds a secret (password or code) at characters 21 to 28" in str(caught.value)
    assert "hunter2" not in str(caught.value) + stored(memory)


@pytest.mark.parametrize("place", DOORS)
def test_personal_data_is_redacted_by_policy(open_memory, place):
    memory = policy(open_memory, "redact")
    DOORS[place](memory, MAIL)
    assert "Maya's mail is [email]" in stored(memory)
    assert "maya.k" not in stored(memory)


@pytest.mark.parametrize("place", DOORS)
def test_personal_data_is_refused_by_policy(open_memory, place):
    memory = policy(open_memory, "refuse")
    with pytest.raises(InvalidInputError) as caught:
        DOORS[place](memory, MAIL)
    assert f"{place} holds personal data (email) at characters 15 to 33" in str(caught.value)
    assert "maya.k" not in str(caught.value) + stored(memory)


def test_an_address_is_kept_by_default_and_a_card_number_masked(memory):
    assert memory.add(MAIL, **U).content == MAIL
    assert memory.add("Pays with 4111111111111111", **U).content == "Pays with [card number]"


def test_a_kind_of_key_is_named(memory):
    with pytest.raises(InvalidInputError, match=r"holds a secret \(AWS Access Key\)"):
        memory.add("The key is AKIAIOSFODNN7EXAMPLE.", **U)


def test_a_reason_is_redacted_and_never_refused(open_memory):
    memory = policy(open_memory, "refuse")
    fact = memory.add("Likes tea", **U)
    memory.delete(fact.id, reason=f"asked by maya.k@example.org. {SECRET}")
    reason = memory.history.versions(fact.id)[-1].reason
    assert reason == "asked by [email]. The bank password is [secret]."


def test_a_tag_that_is_personal_data_is_dropped_or_refused(open_memory):
    memory = policy(open_memory, "redact")
    assert memory.add("Likes tea", **U, tags=["food", "212-555-2368"]).tags == ("food",)


@pytest.mark.parametrize("name", ["password", "db_password", "admin-pin", "client_secret"])
def test_a_secret_that_only_its_key_tells_is_refused(memory, name):
    with pytest.raises(InvalidInputError, match=f"metadata.{name} holds a secret"):
        memory.add("Likes tea", **U, metadata={name: "swordfish7"})


@pytest.mark.parametrize("place", sorted(KEPT))
def test_an_item_with_a_secret_is_kept_as_it_is_unless_secrets_are_refused(open_memory, place):
    memory = open_memory()
    DOORS[place](memory, SECRET)
    (item,) = memory.items.list(**U)
    assert SECRET in str(item.value)
    memory.close()
    memory = open_memory(settings=Settings(ingest=IngestSettings(secrets="refuse")))
    with pytest.raises(InvalidInputError, match="holds a secret"):
        DOORS[place](memory, SECRET)


@pytest.mark.parametrize("value", [{"password": "123"}, {"pin": 4711}, {"note": SECRET}])
def test_a_secret_in_an_item_is_in_no_index(memory, value):
    memory.items.put(["a"], "k", value, **U)
    assert memory.items.get(["a"], "k", **U).value == value
    assert not memory.items.search("hunter2 123 4711", **U, namespace=["a"], by="words")


@pytest.mark.parametrize("action", ["redact", "refuse"])
def test_an_item_without_an_index_is_kept_and_loaded_as_it_is(open_memory, action):
    memory = policy(open_memory, action)
    value = {"password": "swordfish7", "json": '{"text": "Call 212-555-2368"}'}
    memory.items.put(["a"], "k", value, **U, index=False)
    assert memory.items.get(["a"], "k", **U).value == value
    records = [*memory.transfer.export(**U)]
    memory.items.delete(["a"], "k", **U)
    memory.transfer.load(records, **U)
    assert memory.items.get(["a"], "k", **U).value == value


def test_a_speakers_name_and_metadata_are_masked_or_refused(open_memory):
    told = Message(
        role="user", content="Hello there", name=SECRET, metadata={"note": SECRET, "pin": "4711"}
    )
    memory = open_memory()
    memory.observe([told], user_id="u1", session_id="s1")
    memory.flush()
    (kept,) = memory.sessions.messages(user_id="u1", session_id="s1")
    assert kept.name == "The bank password is [secret]."
    assert kept.metadata == {"note": "The bank password is [secret].", "pin": "[secret]"}
    assert "hunter2" not in stored(memory)
    memory.close()
    memory = open_memory(settings=Settings(ingest=IngestSettings(secrets="refuse")))
    for part in ("name", "metadata"):
        with pytest.raises(InvalidInputError, match="holds a secret"):
            memory.observe(
                [Message(role="user", content="Hello", **{part: getattr(told, part)})],
                user_id="u1",
                session_id="s1",
            )
