"""Words for what pydantic refuses: the place, the reason, the value, and which keys there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.refusals import parse
from semantic_memory.domain.requests import AddRequest, SearchRequest, UpdateRequest
from semantic_memory.domain.requests.base import built


class Leg(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: Literal["leg"] = "leg"
    length: int = Field(1, ge=1, le=9)


class Wheel(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: Literal["wheel"] = "wheel"
    spokes: int


class Chair(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field("", max_length=3)
    legs: list[Leg] = []
    under: Annotated[Leg | Wheel, Field(discriminator="kind")] | None = None
    parts: Mapping[str, Leg | str] = {}
    pair: tuple[int, ...] = ()


CASES: dict[str, tuple[dict[str, Any], str]] = {
    "a key of the top": ({"nam": "x"}, "unknown key 'nam'; did you mean 'name'? known: legs, name"),
    "a key within a list": ({"legs": [{}, {"lenght": 1}]}, "unknown key 'lenght' in legs.1; did"),
    "known keys of the part": ({"legs": [{"x": 1}]}, "known: kind, length"),
    "a key of an alternative": ({"under": {"kind": "wheel", "spoke": 1}}, "in under; did you mean"),
    "a missing field": ({"under": {"kind": "wheel"}}, "under.spokes is missing"),
    "no kind": ({"under": {}}, "under.kind is missing"),
    "another kind": (
        {"under": {"kind": "x"}},
        "under.kind must be one of 'leg', 'wheel' (got 'x')",
    ),
    "beyond both limits": ({"legs": [{"length": 0}]}, "legs.0.length must be 1 to 9 (got 0)"),
    "another type": ({"name": 3}, "name must be a valid string (got 3)"),
    "too long": ({"name": "long"}, "name must have at most 3 characters (got 'long')"),
    "no list": ({"pair": 3}, "pair must be a list (got 3)"),
    "a key within a mapping": ({"parts": {"a b": {"x": 1}}}, "unknown key 'x' in parts.a b;"),
    "a password": ({"legs": "postgresql://me:secret@host"}, "(got 'postgresql***)"),
}


@pytest.mark.parametrize(("values", "words"), CASES.values(), ids=CASES)
def test_an_error_names_the_place_and_what_to_write(values, words):
    with pytest.raises(InvalidInputError) as caught:
        parse(Chair, "chair", values)
    said = str(caught.value)
    assert said.startswith("chair: ")
    assert words in said
    assert "pydantic" not in said


def test_keys_are_named_once():
    with pytest.raises(InvalidInputError) as caught:
        parse(Chair, "chair", {"a": 1, "b": 2})
    assert str(caught.value).count("known:") == 1


@given(st.dictionaries(st.text(min_size=1), st.integers(), min_size=1))
def test_every_unknown_key_is_named(keys):
    unknown = {key: value for key, value in keys.items() if key not in Chair.model_fields}
    if unknown:
        with pytest.raises(InvalidInputError) as caught:
            parse(Chair, "chair", unknown)
        assert all(repr(key) in str(caught.value) for key in unknown)


@pytest.mark.parametrize(
    ("build", "given", "words"),
    [
        (
            SearchRequest.of,
            {"query": "x", "user_id": "m", "kk": 3},
            "search.* 'kk'; did you mean 'k'",
        ),
        (AddRequest.of, {"user_id": "m"}, "add.*missing.*'content'; it takes content, user_id"),
        (UpdateRequest.of, {"fact_id": "f", "mood": "good"}, "update.*'mood'; it takes fact_id"),
    ],
)
def test_an_unknown_argument_is_a_type_error_that_names_the_others(build, given, words):
    with pytest.raises(TypeError, match=words):
        built(build, **given)
