"""One policy on secrets and personal data, whichever way a text comes in."""

import pytest

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


DOORS = {
    "add: content": lambda memory, text: memory.add(text, **U),
    "add: metadata.notes.0": lambda memory, text: memory.add(
        "Likes tea", **U, metadata={"notes": [text]}
    ),
    "item 2: content": lambda memory, text: memory.add_many(
        [{"content": "Likes jazz"}, {"content": text}], **U
    ),
    "update: content": lambda memory, text: memory.update(
        memory.add("Likes tea", **U).id, content=text
    ),
    "record 1: content": lambda memory, text: memory.load([record(text)], **U),
    "top_of_mind": lambda memory, text: memory.update_profile({"top_of_mind": text}, **U),
}


def stored(memory):
    facts = " ".join(fact.model_dump_json() for fact in memory.list(**U))
    return facts + memory.profile(**U).model_dump_json()


@pytest.mark.parametrize("place", DOORS)
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


def test_personal_data_is_kept_by_default(memory):
    assert memory.add(MAIL, **U).content == MAIL


def test_a_kind_of_key_is_named(memory):
    with pytest.raises(InvalidInputError, match=r"holds a secret \(AWS Access Key\)"):
        memory.add("The key is AKIAIOSFODNN7EXAMPLE.", **U)


def test_a_reason_is_redacted_and_never_refused(open_memory):
    memory = policy(open_memory, "refuse")
    fact = memory.add("Likes tea", **U)
    memory.delete(fact.id, reason=f"asked by maya.k@example.org. {SECRET}")
    reason = memory.history(fact.id)[-1].reason
    assert reason == "asked by [email]. The bank password is [secret]."


def test_a_tag_that_is_personal_data_is_dropped_or_refused(open_memory):
    memory = policy(open_memory, "redact")
    assert memory.add("Likes tea", **U, tags=["food", "212-555-2368"]).tags == ("food",)
