import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from semantic_memory.domain.errors import ConfigurationError, ProviderError
from semantic_memory.domain.events import BreakerOpened, Event, JudgingFellBack
from semantic_memory.judging.cascade import CascadeJudge
from semantic_memory.judging.llm import LLMJudge
from semantic_memory.judging.ports import Pair, PairJudge, Verdict
from semantic_memory.llm.chat import ChatModel
from semantic_memory.settings import (
    BeliefSettings,
    Settings,
    UpkeepSettings,
)
from semantic_memory.testing import HashEmbedder, ScriptedPairJudge
from tests.conftest import make_fact
from tests.support.chat_models import endpoint as endpoint_of
from tests.support.chat_models import model_at
from tests.support.inside import inside
from tests.support.openai_server import OpenAIServer, completion, failure, serve, shown


def pair(older: str, newer: str, similarity: float = 0.8) -> Pair:
    return Pair(make_fact(1, content=older), make_fact(2, content=newer), similarity)


class Endpoint:
    """A scripted endpoint that answers for each pair."""

    def __init__(self, server: OpenAIServer, model: ChatModel, events: list[Event]) -> None:
        self.server = server
        self.model = model
        self.events = events
        self.answering(
            lambda pairs: [
                {"pair": row["pair"], "relation": "updates", "reason": "moved", "certainty": 0.9}
                for row in pairs
            ]
        )

    @property
    def requests(self) -> list[dict[str, Any]]:
        return self.server.requests

    def answering(self, answer: Callable[[list[dict[str, Any]]], object]) -> None:
        self.server.script = [
            lambda request: completion(json.dumps({"answers": answer(shown(request))}))
        ]

    def failing(self) -> None:
        self.server.script = [failure(500)]

    def judge(self) -> LLMJudge:
        return LLMJudge(self.model)

    def escalating(self, **values) -> CascadeJudge:
        return CascadeJudge(
            ScriptedPairJudge(first),
            self.judge(),
            name="second",
            observe=self.events.append,
            **values,
        )


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    events: list[Event] = []
    with serve() as server, model_at(server, events.append, model="some-model") as model:
        yield Endpoint(server, model, events)


def test_a_language_model_decides_each_pair_and_says_why(endpoint):
    verdicts = endpoint.judge().judge([pair("a", "b"), pair("c", "d")])
    assert verdicts == [Verdict(0.9, 0.0, "openai:some-model", "moved", is_final=True)] * 2
    (request,) = endpoint.requests
    assert request["temperature"] == 0
    assert request["response_format"]["type"] == "json_schema"


def test_pairs_are_sent_twenty_at_a_time(endpoint):
    assert len(endpoint.judge().judge([pair("a", str(n)) for n in range(45)])) == 45
    sizes = [len(shown(request)) for request in endpoint.requests]
    assert sizes == [20, 20, 5]


@pytest.mark.parametrize(
    "answer",
    [
        lambda pairs: [],
        lambda pairs: [{"pair": 0, "relation": "destroys", "reason": "", "certainty": 1}],
        lambda pairs: [{"pair": 0, "relation": "same", "reason": "", "certainty": 7}],
        lambda pairs: "yes",
    ],
)
def test_an_answer_of_another_form_is_an_error(endpoint, answer):
    endpoint.answering(answer)
    with pytest.raises(ProviderError, match="some-model"):
        endpoint.judge().judge([pair("a", "b")])


def test_a_failing_endpoint_is_a_provider_error(endpoint):
    endpoint.failing()
    with pytest.raises(ProviderError, match="some-model failed"):
        endpoint.judge().judge([pair("a", "b")])


def first(older: str, newer: str):
    return "over" if "Rome" in older else None


UNSURE = pair("The user codes with Vim", "The user is on Emacs nowadays", 0.75)
SURE = pair("Maya lives in Rome.", "Maya moved to Oslo.", 0.75)
FAR = pair("The user codes with Vim", "Rain is wet", 0.1)


def test_only_unsure_pairs_are_escalated_and_each_once(endpoint):
    judge = endpoint.escalating()
    for _ in range(2):
        verdicts = judge.judge([UNSURE, SURE, FAR])
        assert [(one.over, one.decided_by) for one in verdicts] == [
            (0.9, "openai:some-model"),
            (1.0, "scripted"),
            (0.0, "scripted"),
        ]
    (request,) = endpoint.requests
    (asked,) = shown(request)
    assert asked["newer"]["text"] == UNSURE.newer.content


def test_so_many_pairs_are_asked_about_in_an_hour_and_no_more(endpoint):
    moment = 0.0
    judge = endpoint.escalating(per_hour=3, now=lambda: moment)
    many = [pair("The user codes with Vim", f"They like editor {n}", 0.75) for n in range(10)]
    for asked, deferred in ((3, 7), (3, 7)):
        verdicts = judge.judge(many)
        assert sum(one.over > 0.5 for one in verdicts) == asked
        assert sum(one.is_deferred for one in verdicts) == deferred
    moment = 3_600.0
    assert sum(one.over > 0.5 for one in judge.judge(many)) == 6


def test_when_the_second_judge_fails_the_pair_is_deferred_and_it_is_left_alone(endpoint):
    endpoint.failing()
    judge = endpoint.escalating()
    for _ in range(4):
        (verdict,) = judge.judge([UNSURE])
        assert (verdict.over, verdict.is_deferred) == (0.0, True)
    assert len(endpoint.requests) == 3
    kinds = Counter(type(event).__name__ for event in endpoint.events)
    assert kinds == {"JudgingFellBack": 4, "BreakerOpened": 1}


def test_figures_that_differ_are_never_the_same_whatever_the_model_says(endpoint):
    endpoint.answering(
        lambda pairs: [
            {"pair": row["pair"], "relation": "same", "reason": "", "certainty": 1} for row in pairs
        ]
    )
    (verdict,) = endpoint.judge().judge([pair("Drinks 5 cups", "Drinks 7 cups")])
    assert verdict.same == 0.0


def nli_model(directory: Path, bias: list[float]) -> Path:
    """Return a cross-encoder that gives these logits for any input."""
    from tests.support.cross_encoder import tiny_model

    return tiny_model(directory, bias)


def nli_judge(model: Path) -> PairJudge:
    from semantic_memory.judging.nli import NLIJudge

    return NLIJudge(model)


def test_an_nli_model_finds_near_contradictions_by_the_names_of_its_labels(tmp_path):
    model = nli_model(tmp_path, [0.0, 0.0, 6.0])
    near, far = nli_judge(model).judge([pair("yes", "no", 0.8), pair("yes", "no", 0.2)])
    assert near is not None
    assert far is not None
    assert near.over > 0.9
    assert far.over == 0.0


def test_entailment_both_ways_is_the_same_unless_a_guard_objects(tmp_path):
    judge = nli_judge(nli_model(tmp_path, [6.0, 0.0, 0.0]))
    same, guarded = judge.judge([pair("yes", "yes yes"), pair("5 cups", "7 cups")])
    assert same is not None
    assert guarded is not None
    assert same.same > 0.9
    assert guarded.same == 0.0


def test_a_model_that_is_not_there_is_named_with_a_remedy(tmp_path):
    with pytest.raises(ConfigurationError, match="give the directory"):
        nli_judge(tmp_path / "nothing")


# ---------------------------------------------------------------- in the product

U = {"user_id": "u1"}
ALIKE = ("I write my notes in Obsidian at night", "I take my notes in Obsidian at night")


def asking(judge: str, **values) -> Settings:
    chosen = {"judge": "nli"} if judge == "nli" else {"llm": judge}
    return Settings(
        beliefs=BeliefSettings(**chosen, **values.pop("beliefs", {})),
        upkeep=UpkeepSettings(schedule=False),
        **values,
    )


def remembered(memory) -> list[str]:
    return sorted(fact.content for fact in memory.list(**U))


def test_a_sweep_asks_a_language_model_about_what_the_rules_left(
    endpoint, open_memory, events, clock
):
    endpoint.answering(
        lambda pairs: [
            {"pair": row["pair"], "relation": "same", "reason": "habit", "certainty": 0.9}
            for row in pairs
        ]
    )
    settings = asking(
        "test",
        llm=endpoint_of(endpoint.server.url, model="judge-model"),
    )
    memory = open_memory(settings=settings, embedder=HashEmbedder(256))
    kept = memory.add(ALIKE[0], **U)
    clock.advance(days=1)
    other = memory.add(ALIKE[1], **U)
    memory.flush()
    assert remembered(memory) == sorted(ALIKE)
    assert endpoint.requests == []  # settling waits for no model
    run = inside(memory).upkeep.run_due("dedup")
    assert (run.users, run.counts, run.error) == (1, {"merged": 1}, None)
    (request,) = endpoint.requests
    assert request["model"] == "judge-model"
    assert memory.history.versions(other.id)[-1].reason == "openai:judge-model: habit"
    assert memory.get(other.id).superseded_by == kept.id
    assert inside(memory).upkeep.run_due("dedup").users == 0  # and nothing costs twice
    assert "ModelCalled" in [type(event).__name__ for event in events]


def test_a_language_model_that_fails_leaves_the_rules_and_is_counted(
    endpoint, open_memory, events, clock
):
    endpoint.failing()
    settings = asking(
        "test",
        llm=endpoint_of(endpoint.server.url, max_retries=0, breaker_failures=1),
    )
    memory = open_memory(settings=settings, embedder=HashEmbedder(256))
    for content in (*ALIKE, "I live in Bergen"):
        memory.add(content, **U)
    clock.advance(days=1)
    memory.add("I live in Oslo", **U)
    runs = memory.jobs.run(["dedup", "conflicts"])
    assert [run.error for run in runs] == [None, None]
    assert remembered(memory) == sorted([*ALIKE, "I live in Oslo"])
    assert {type(e) for e in events} >= {JudgingFellBack, BreakerOpened}
    assert len(endpoint.requests) == 1


def test_a_sweep_asks_a_cross_encoder_about_what_the_rules_left(tmp_path, open_memory):
    model = nli_model(tmp_path / "model", [6.0, 0.0, 0.0])
    settings = asking("nli", beliefs={"model": str(model)})
    memory = open_memory(settings=settings, embedder=HashEmbedder(256))
    for content in ALIKE:
        memory.add(content, **U)
    memory.flush()
    assert remembered(memory) == sorted(ALIKE)
    (run,) = memory.jobs.run(["dedup"])
    assert run.counts == {"merged": 1}
    assert len(remembered(memory)) == 1


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (asking("openai"), "beliefs.llm needs a key: set OPENAI_API_KEY"),
        (asking("nli"), "beliefs.judge nli needs beliefs.model"),
        (asking("nli", beliefs={"model": "/nowhere"}), "can't load the NLI model '/nowhere'"),
    ],
)
def test_a_judge_that_can_not_be_made_is_named_with_a_remedy(open_memory, settings, named):
    with pytest.raises(ConfigurationError, match=named):
        open_memory(settings=settings)
