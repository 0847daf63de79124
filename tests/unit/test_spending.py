"""Costs of language models, by user and task, and the daily budget of judging."""

import pytest
from prometheus_client import CollectorRegistry

from semantic_memory.domain.errors import BudgetReachedError, ConfigurationError
from semantic_memory.domain.events import BudgetReached
from semantic_memory.entrypoints.metrics import PREFIX, MetricsObserver
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.llm.chat import ChatRequest
from semantic_memory.llm.endpoint import Price
from semantic_memory.llm.spending import Budget, Budgeted, SpendBook, charged_to
from semantic_memory.settings import BeliefSettings, ExtractionSettings, Settings
from tests.conftest import say
from tests.support.chat_models import endpoint, model_at
from tests.support.openai_server import answer, completion, fact, serve

ASKED = ChatRequest("beliefs", "Judge.", "{}")


@pytest.fixture
def server():
    with serve() as server:
        server.script = [completion("Yes.", tokens=(900, 100))]
        yield server


@pytest.fixture
def book(clock, tmp_path):
    ledger = SqliteLedger(tmp_path / "ledger.sqlite3")
    yield SpendBook(ledger, clock)
    ledger.close()


@pytest.fixture
def model(server, book, events):
    def report(event):
        events.append(event)
        book.record(event)

    with model_at(server, report, price=Price(1.0, 10.0)) as model:
        yield model


def test_calls_are_charged_to_the_user_they_are_made_for(model, book):
    for user in ("maya", "noah", "maya"):
        with charged_to(user):
            model.complete(ASKED)
    model.complete(ChatRequest("summary", "Tell.", "{}"))
    rows = {(one.user_id, one.task): (one.calls, one.input_tokens) for one in book.spending()}
    assert rows == {
        ("maya", "beliefs"): (2, 1_800),
        ("noah", "beliefs"): (1, 900),
        ("", "summary"): (1, 900),
    }
    assert book.spending()[0].cost_usd == pytest.approx(2 * 0.0019)


@pytest.mark.parametrize(
    "budget", [Budget("beliefs", tokens=1_500), Budget("beliefs", usd=0.002)], ids=["tokens", "usd"]
)
def test_a_spent_budget_ends_the_calls_of_the_day_and_says_so_once(
    model, book, events, clock, server, budget
):
    asked = Budgeted(model, budget, book, events.append)
    asked.complete(ASKED)
    asked.complete(ASKED)
    for _ in range(2):
        with pytest.raises(BudgetReachedError, match=r"2,000 tokens.*is renewed at"):
            asked.complete(ASKED)
    assert len(server.requests) == 2
    assert len([event for event in events if isinstance(event, BudgetReached)]) == 1
    assert budget.state(book).reached_until == book.midnight()
    clock.advance(days=1)
    assert budget.state(book).reached_until is None
    asked.complete(ASKED)


def test_other_tasks_are_not_of_the_budget(model, book, events):
    asked = Budgeted(model, Budget("beliefs", tokens=1), book, events.append)
    model.complete(ChatRequest("summary", "Tell.", "{}"))
    asked.complete(ASKED)


def test_a_restart_forgets_no_spending(clock, server, open_memory):
    server.script = [answer(fact("Maya owns a boat.", 1))]
    settings = Settings(
        llm=endpoint(server.url),
        extraction=ExtractionSettings(llm="test"),
        beliefs=BeliefSettings(llm="test", daily_budget_tokens=5),
    )
    memory = open_memory(settings=settings)
    memory.observe(say("I own a boat."), user_id="u1", session_id="s1")
    memory.flush()
    memory.close()
    memory = open_memory(settings=settings)
    (row,) = memory.admin.stats().spending
    assert (row.user_id, row.task, row.calls, row.output_tokens) == ("u1", "extraction", 1, 100)
    assert row.cost_usd == pytest.approx(0.00021)
    (budget,) = memory.admin.stats().budgets
    assert (budget.task, budget.tokens, budget.reached_until) == ("beliefs", 0, None)
    memory.forget(user_id="u1", everything=True)
    assert memory.admin.stats().spending == ()


def test_a_budget_in_usd_needs_a_price(server, open_memory):
    settings = Settings(
        llm=endpoint(server.url, usd_per_million_tokens=None),
        beliefs=BeliefSettings(llm="test", daily_budget_usd=1.0),
    )
    with pytest.raises(ConfigurationError, match=r"llm\.test\.usd_per_million_tokens"):
        open_memory(settings=settings)


def test_metrics_tell_tokens_and_cost_by_purpose(server):
    registry = CollectorRegistry()
    with model_at(server, MetricsObserver(registry), price=Price(1.0, 10.0)) as model:
        model.complete(ASKED)
    labels = {"purpose": "beliefs", "model": "gpt-4o-mini"}
    cost = registry.get_sample_value(f"{PREFIX}model_cost_usd_total", labels)
    assert cost == pytest.approx(0.0019)
