"""Reordering hits by a model: the forms of requests, the order, and what happens if it fails."""

import json
import math
from dataclasses import replace
from datetime import UTC, datetime

import httpx
import pytest

from semantic_memory import Filters, Message, SemanticMemory
from semantic_memory.application.told import told
from semantic_memory.bootstrap import Parts, build
from semantic_memory.domain.errors import ConfigurationError, ProviderError
from semantic_memory.domain.events import Reranked
from semantic_memory.domain.recall import Hit, ScoreParts
from semantic_memory.retrieval.rerankers.http import HttpReranker
from semantic_memory.retrieval.rerankers.packaged import PackagedReranker
from semantic_memory.retrieval.reranking import Most, Reranking
from semantic_memory.settings import IndexSettings, RerankSettings, Settings
from semantic_memory.testing import HashEmbedder, InMemoryIndex
from tests.conftest import make_fact
from tests.support.inside import inside

TEXTS = ["Likes tea", "Owns a red canoe", "Lives in Oslo"]
SCORES = [0.1, 0.9, 0.5]
ALL = {"u1": Filters()}


def answers(form, body):
    """Answer a request as a provider of this form does, best first."""
    placed = sorted(enumerate(SCORES), key=lambda one: -one[1])
    match form:
        case "tei":
            assert body == {"query": "boats", "texts": TEXTS, "truncate": True}
            return [{"index": place, "score": score} for place, score in placed]
        case _:
            assert body == {"query": "boats", "documents": TEXTS, "model": "m-1"}
            found = [{"index": place, "relevance_score": score} for place, score in placed]
            return {"data" if form == "voyage" else "results": found}


def reranker(form, handle, **options):
    model = "" if form == "tei" else "m-1"
    return HttpReranker(
        form, model, base_url="http://rerank.test", transport=httpx.MockTransport(handle), **options
    )


@pytest.mark.parametrize(
    ("form", "path"),
    [
        ("cohere", "/v2/rerank"),
        ("voyage", "/v1/rerank"),
        ("jina", "/v1/rerank"),
        ("tei", "/rerank"),
    ],
)
def test_every_form_of_request_gives_the_scores_in_the_order_of_the_texts(form, path):
    def handle(request):
        assert request.url.path == path
        assert request.headers["authorization"] == "Bearer key"
        return httpx.Response(200, json=answers(form, json.loads(request.content)))

    assert reranker(form, handle, api_key="key").scores("boats", TEXTS) == SCORES


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(500),
        httpx.Response(200, text="no json"),
        httpx.Response(200, json={"results": [{"index": 0, "relevance_score": 1.0}]}),
        httpx.Response(200, json={"error": "quota"}),
    ],
)
def test_an_answer_that_can_not_be_used_is_a_failure_of_the_provider(answer):
    with pytest.raises(ProviderError) as failed:
        reranker("cohere", lambda request: answer).scores("boats", TEXTS)
    assert "tea" not in str(failed.value)


def test_an_endpoint_that_can_not_be_reached_is_too():
    def fails(request):
        raise httpx.ConnectTimeout("too late", request=request)

    with pytest.raises(ProviderError, match="ConnectTimeout"):
        reranker("jina", fails).scores("boats", TEXTS)


class Scripted:
    """A reranker that prefers texts with a word, or fails."""

    def __init__(self, word):
        self.word = word
        self.asked = []

    def scores(self, query, texts):
        self.asked.append((query, texts))
        if self.word is None:
            raise ProviderError("the reranker answered 500")
        return [float(self.word in text) for text in texts]

    def close(self):
        """Hold nothing."""


@pytest.fixture
def searched(tmp_path, clock, events):
    """Return a function that searches three facts of a store with a reranker."""

    def search(reranker=None, k=3, most=40):
        parts = Parts(HashEmbedder(), None, InMemoryIndex(), clock=clock, observer=events.append)
        settings = Settings(
            rerank=RerankSettings(candidates=most), data_dir=tmp_path / f"{len(events)}-{most}"
        )
        with SemanticMemory(build(settings, replace(parts, reranker=reranker))) as memory:
            for place, text in enumerate(TEXTS):
                memory.add(text, importance=0.9 - 0.3 * place, user_id="u1")
            memory.flush()
            hits = memory.search("tea", k=k, user_id="u1")
            return [(hit.fact.content, hit.score, hit.reranked) for hit in hits]

    return search


def reranked(events):
    return [one for one in events if isinstance(one, Reranked)]


def test_hits_come_in_the_models_order_with_the_scores_of_the_search(searched, events):
    before = searched()
    assert before[0][0] == "Likes tea"
    assert reranked(events) == []  # of searches, the packaged model reorders none by default
    assert {one for _, _, one in before} == {None}
    after = searched(Scripted("Oslo"))
    assert after[0][0] == "Lives in Oslo"
    assert [score for _, score, _ in after] == [score for _, score, _ in before]
    assert [score for *_, score in after] == [1.0, 0.0, 0.0]
    (event,) = reranked(events)
    assert (event.hits, event.error) == (3, None)
    assert event.seconds > 0
    assert [text for text, *_ in searched(Scripted("Oslo"), k=1)] == ["Lives in Oslo"]


def test_only_the_best_hits_are_reordered(searched):
    order = [text for text, *_ in searched()]
    assert [text for text, *_ in searched(Scripted(order[2]), most=2)] == order


def test_a_reranker_that_fails_leaves_the_order_and_says_so(searched, events):
    assert searched(Scripted(None)) == searched()
    (event,) = reranked(events)
    assert event.error == "the reranker answered 500"


@pytest.mark.parametrize(
    ("values", "says"),
    [({"provider": "tei"}, "base_url"), ({"provider": "cohere"}, "a model's name")],
)
def test_a_reranker_without_what_it_needs_is_refused_when_the_store_is_opened(
    open_memory, values, says
):
    with pytest.raises(ConfigurationError, match=says):
        open_memory(settings=Settings(rerank=RerankSettings(**values)))


def test_without_exact_search_the_index_answers_every_question(open_memory):
    memory = open_memory(settings=Settings(index=IndexSettings(exact=False)))
    memory.add("Likes tea", user_id="u1")
    memory.flush()
    assert memory.search("tea", user_id="u1")
    assert inside(memory).index.snapshot("u1", Filters(), ()) is None


def turn(number, content, name=None, role="user"):
    at = datetime(2026, 3, 1, 9, number, tzinfo=UTC)
    return Message(id=f"m{number}", role=role, name=name, content=content, created_at=at)


@pytest.fixture
def talked(open_memory):
    """Return a function that opens a store in which two people talked."""

    def talk(**rerank):
        memory = open_memory(settings=Settings(rerank=RerankSettings(**rerank)))
        said = [
            turn(0, "Where did the three of you go in the end?", "Noor"),
            turn(1, "Lisbon! Five days, and it rained on four.", "Sam"),
            turn(2, "We never got round to Porto.", "Sam"),
        ]
        memory.observe(said, user_id="u1", session_id="s1")
        memory.flush()
        return memory

    return talk


def test_the_packaged_model_reorders_blocks_and_searches_if_told_to(talked, events):
    memory = talked()
    memory.search("which city was it?", user_id="u1")
    assert reranked(events) == []
    memory.context("which city was it?", user_id="u1", budget=500)
    (event,) = reranked(events)
    assert event.error is None
    memory.close()

    memory = talked(searches=True)
    hits = memory.search("Which city did Sam visit?", user_id="u1")
    assert len(reranked(events)) == 2
    assert all(hit.reranked is not None for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    memory.close()

    memory = talked(provider="none")
    memory.context("which city was it?", user_id="u1", budget=500)
    assert len(reranked(events)) == 2


def test_the_packaged_model_reads_a_memory_behind_what_was_said_before_it(talked):
    memory = talked()
    facts = [hit.fact for hit in memory.search("Lisbon rain", user_id="u1")]
    (lisbon,) = (fact for fact in facts if "Lisbon" in fact.text)
    (text,) = told("Which city?", [lisbon], inside(memory).ledger, ALL)
    assert text.startswith("Noor: Where did the three of you go in the end? / Sam: Lisbon!")
    lone = memory.add("Sam owns a canoe", user_id="u1")
    assert told("Which city?", [lone], inside(memory).ledger, ALL) == ["Sam owns a canoe"]


def test_of_a_long_memory_the_part_around_the_question_is_read(open_memory):
    memory = open_memory()
    filling = "We talked about the weather for a long while. " * 20
    fact = memory.add(f"{filling}The boat is called Marlin. {filling}", user_id="u1")
    (text,) = told("What is the boat called?", [fact], inside(memory).ledger, ALL)
    assert "Marlin" in text
    assert len(text) < 450


def test_the_packaged_model_leaves_what_is_not_asked_in_english_as_it_is():
    scores = PackagedReranker().scores
    texts = ["Sam: I moved to Lisbon in May.", "Sam: The weather is lovely."]
    assert scores("In welche Stadt ist Sam eigentlich gezogen, weißt du das noch?", texts) == []
    assert scores("12345", texts) == []
    moved, weather = scores("Which city did Sam move to?", texts)
    assert moved > weather


def test_a_text_in_another_language_stands_between_those_that_are_read():
    texts = ["Sam: I moved to Lisbon in May.", "Sam: The weather is lovely."]
    foreign = "Sam: Ich bin im Mai umgezogen, und jetzt wohne ich am Fluss in der Altstadt."
    moved, other, weather = PackagedReranker().scores(
        "Which city did Sam move to?", [texts[0], foreign, texts[1]]
    )
    assert other == pytest.approx((moved + weather) / 2)


def test_what_the_search_puts_right_above_another_stays_above_it():
    class Prefers:
        def scores(self, query, texts):
            return [0.0, 5.0, 4.0]

        def close(self):
            """Hold nothing."""

    parts = dict.fromkeys(
        "dense lexical context speaker voice time asks match importance confidence retention"
        " recency relevance".split(),
        0.0,
    )
    scores = [math.nextafter(0.4, 1.0), 0.4, 0.39]
    hits = [
        Hit(fact=make_fact(number, content=text), score=score, parts=ScoreParts(**parts))
        for number, (text, score) in enumerate(zip(TEXTS, scores, strict=True))
    ]
    reranking = Reranking(Prefers(), Most(3, 3), lambda event: None, blend=0.02)
    ordered = reranking.reordered("q", hits, TEXTS)
    assert [hit.fact.content for hit in ordered] == [TEXTS[0], TEXTS[1], TEXTS[2]]
    assert [hit.score for hit in ordered] == scores


def test_a_damaged_model_leaves_the_order(talked, events, monkeypatch):
    memory = talked(searches=True)
    before = [hit.fact.id for hit in memory.search("Which city did Sam visit?", user_id="u1")]

    def broken(name):
        raise ConfigurationError("a packaged judge is damaged")

    monkeypatch.setattr("semantic_memory.retrieval.rerankers.packaged.packaged", broken)
    assert {hit.fact.id for hit in memory.search("Which city did Sam visit?", user_id="u1")} == {
        *before
    }
    assert "damaged" in reranked(events)[-1].error
