"""Arguments of every verb, sensible and hostile: an answer or an error of the library, no other."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from semantic_memory import Category, Message, SemanticMemory
from semantic_memory.domain.errors import SemanticMemoryError
from semantic_memory.domain.fields import JOBS
from semantic_memory.testing import FrozenClock, HashEmbedder, InMemoryIndex
from tests.conftest import NOW
from tests.support.effort import rounds
from tests.support.surface import groups

_APART = {
    "open": "opens a store of its own; takes settings, not data",
    "connect": "opens a store of its own; takes settings, not data",
    "close": "ends the store of the other examples",
    "sessions.open": "takes objects of the program beside its ids; see tests/unit/test_session.py",
    "flush": "takes a callback of the program",
    "admin.rebuild": "takes a callback of the program",
}
"""Public methods that take no data of callers, with the reason."""
VERBS = sorted(
    verb
    for group, kind in {"": SemanticMemory, **groups(SemanticMemory)}.items()
    for name, _ in inspect.getmembers(kind, inspect.isroutine)
    if not name.startswith("_") and (verb := f"{group}.{name}".lstrip(".")) not in _APART
)

EDGES = [
    "9999-12-31", "since 9999-12-31", "0001-01-01", "31 December 9999", "in 9999", "before 0001",
    "last year", "2023-02-30", "1e400", "NaN", "-0", "", " ", "\x00", "a\x00b", "\ud800",
    "x\udfff", "\u202e", "\ufeff", "\u0301", "🙂", "../../etc/passwd", "a" * 129, "'; --", "%",
    "*", '"', '"a', "tag:", "since:9999-12-31", "when:9999-12-31", "as_of:0001-01-01", "{", "{}",
    '{"$or": 1}', "[" * 2_000, "(" * 300, "-", "a:b:c", "limit:1e9", "~", "~~~~", "meta.a:NaN",
    "since 9999-12-31 I live in Oslo", "I was born on 0001-01-01", "\n" * 50, "٣", "²", "①",
]  # fmt: skip
MOMENTS = [
    datetime(1, 1, 1),  # noqa: DTZ001  # naive, as callers may give them
    datetime(9999, 12, 31, 23, 59, 59),  # noqa: DTZ001
    datetime.min.replace(tzinfo=UTC),
    datetime.max.replace(tzinfo=UTC),
    datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
    datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
    datetime(1, 1, 2, tzinfo=UTC),
    NOW,
]
NUMBERS = [
    0, 1, -1, 2, 3, 1.5, 0.5, 1e308, -1e308, 2**31, 2**63, 2**64, 10**400, math.nan, math.inf,
    -math.inf, True, False, 1j,
]  # fmt: skip
_TEXTS = st.one_of(
    st.sampled_from(EDGES), st.text(max_size=30), st.text(st.characters(codec=None), max_size=8)
)
_SCALARS = st.one_of(
    st.none(), st.sampled_from(NUMBERS), _TEXTS, st.sampled_from(MOMENTS), st.binary(max_size=4)
)
_WILD = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner),
        st.dictionaries(st.one_of(_TEXTS, st.sampled_from(NUMBERS[:4])), inner, max_size=3),
        st.sampled_from([object(), {1}, range(3), int]),
    ),
    max_leaves=5,
)
_MESSAGES = st.one_of(
    st.builds(Message, role=st.just("user"), content=st.sampled_from([EDGES[0], EDGES[1], "Hi"])),
    _WILD,
    st.fixed_dictionaries({"role": _SCALARS, "content": _SCALARS}),
)
_FACT = {"id": "f", "user_id": "u", "content": "Likes tea", "category": "personal"}
_RECORDS = st.one_of(
    _WILD,
    st.fixed_dictionaries(
        {"kind": st.sampled_from(["export", "session", "message", "fact", "line"])},
        optional=dict.fromkeys(
            ("schema_version", "user_id", "session_id", "options", "message", "line"), _WILD
        ),
    ),
    st.builds(
        lambda field, value: {"kind": "fact", "fact": {**_FACT, field: value}},
        st.sampled_from(["id", "created_at", "valid_from", "metadata", "tags", "confidence"]),
        _WILD,
    ),
)
_SENSIBLE: dict[str, st.SearchStrategy[Any]] = {
    "user_id": st.sampled_from(["maya", "ben"]),
    "session_id": st.sampled_from(["s1", "s2"]),
    "fact_id": st.sampled_from(["known", "unknown"]),
    "query": st.sampled_from(["Where does Maya live?", *EDGES[:8]]),
    "content": st.sampled_from(["Lives in Oslo", *EDGES[:8]]),
    "messages": st.lists(_MESSAGES, max_size=3),
    "items": st.lists(
        st.fixed_dictionaries({"content": _TEXTS}, optional={"confidence": _WILD}), max_size=3
    ),
    "records": st.lists(_RECORDS, max_size=3),
    "document": st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("schema_version", "user_id", "sessions", "facts"), _WILD)
    ),
    "fields": st.dictionaries(
        st.sampled_from(["work_context", "top_of_mind", "name"]), _SCALARS, max_size=2
    ),
    "field": st.sampled_from(["work_context", "name"]),
    "filters": st.one_of(
        st.none(),
        _TEXTS,
        st.dictionaries(
            st.sampled_from(
                [
                    "since",
                    "until",
                    "when",
                    "as_of",
                    "tags",
                    "metadata",
                    "ids",
                    "depth",
                    "limit",
                    "refers_to",
                    "min_score",
                    "words",
                    "categories",
                ]
            ),
            _WILD,
            max_size=3,
        ),
    ),
    "as_of": st.sampled_from(MOMENTS),
    "created_at": st.sampled_from(MOMENTS),
    "expires_at": st.sampled_from(MOMENTS),
    "since": st.sampled_from(MOMENTS),
    "until": st.sampled_from(MOMENTS),
    "category": st.sampled_from([*Category]),
    "metadata": st.dictionaries(_TEXTS, _WILD, max_size=3),
    "jobs": st.lists(st.sampled_from([*JOBS, "all", "none"]), max_size=2),
    "dry_run": st.just(True),
}
_CHANGES = ("content", "confidence", "tags", "metadata", "expires_at", "body", "trust", "user")


def _method(verb: str) -> Callable[..., Any]:
    group, _, name = verb.rpartition(".")
    found: Callable[..., Any] = getattr(
        groups(SemanticMemory)[group] if group else SemanticMemory, name
    )
    return found


@st.composite
def calls(draw: st.DrawFn, verb: str) -> dict[str, Any]:
    """Return arguments of a verb: mostly sensible, so that hostile ones get beyond the first."""
    found: dict[str, Any] = {}
    for name, one in inspect.signature(_method(verb)).parameters.items():
        if name == "self":
            continue
        if one.kind is inspect.Parameter.VAR_KEYWORD:
            found |= draw(st.dictionaries(st.sampled_from(_CHANGES), _WILD, max_size=2))
        elif one.default is inspect.Parameter.empty or draw(st.booleans()):
            wild = draw(st.integers(0, 3)) == 0 or name not in _SENSIBLE
            found[name] = draw(_WILD if wild else _SENSIBLE[name])
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SemanticMemory]:
    with SemanticMemory.open(
        tmp_path_factory.mktemp("input"),
        embedder=HashEmbedder(),
        index=InMemoryIndex(),
        clock=FrozenClock(NOW),
    ) as memory:
        memory.add("Maya lives in Oslo", user_id="maya")
        said = Message(role="user", content="I live in Oslo.")
        memory.observe([said], user_id="maya", session_id="s1")
        memory.flush()
        yield memory


def answered(memory: SemanticMemory, verb: str, arguments: dict[str, Any]) -> None:
    """Call a verb. Its own errors are answers; any other fails the test."""
    if arguments.get("fact_id") == "known":
        known = memory.add("Maya lives in Oslo", user_id="maya")
        arguments = {**arguments, "fact_id": known.id}
    try:
        answer = attrgetter(verb)(memory)(**arguments)
        if inspect.isgenerator(answer):
            list(answer)
    except SemanticMemoryError as error:
        str(error).encode("utf-8")  # as logs, terminals and HTTP carry it


@pytest.mark.parametrize("verb", VERBS)
def test_any_argument_is_answered_or_refused(store: SemanticMemory, verb: str) -> None:
    @settings(
        max_examples=rounds(full=500, quick=40),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(calls(verb))
    def run(arguments: dict[str, Any]) -> None:
        answered(store, verb, arguments)

    run()


@settings(max_examples=rounds(full=500, quick=40))
@given(st.lists(_TEXTS, min_size=1, max_size=4))
@example(["since 9999-12-31"])
@example(["I have lived in Oslo since 9999-12-31.", "I live in Oslo"])
def test_any_message_is_read(store: SemanticMemory, texts: list[str]) -> None:
    for text in texts:
        arguments = {"messages": [{"role": "user", "content": text}], "user_id": "ben"}
        answered(store, "observe", {**arguments, "session_id": "s"})
        try:
            said = Message(role="user", content=text)
        except ValueError:
            continue
        store.observe([said], user_id="ben", session_id="s")
    store.flush()
    for text in texts:
        answered(store, "search", {"query": text, "user_id": "ben"})
        answered(store, "context", {"query": text, "user_id": "ben"})
