"""Effects of the settings of context blocks and profiles."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from semantic_memory import SemanticMemory
from semantic_memory.context.tokens import TiktokenCounter, encoding_name
from tests.conftest import NOW
from tests.unit.settings_effects.case import Trial, U, effect

LIKES = ("Likes green tea", "Owns a wooden boat", "Plays the cello in an orchestra")
EVENTS = (
    "Moved the storage engine to Rust",
    "Signed the lease for an office in Oslo",
    "Hired two engineers from Madrid",
    "Shipped the billing service to customers",
    "Presented the roadmap at a conference",
)


def with_facts(run: Trial, *contents: str, **values: Any) -> SemanticMemory:
    """Return a store with these facts."""
    memory = run.open()
    memory.add_many([{"content": one, **values} for one in contents], **U)
    return memory


@effect("context.model", "gpt-4", was=["gpt-4o"], becomes=["gpt-4"])
def models_that_count_so_many(run: Trial) -> list[str]:
    block = with_facts(run, "Пьёт зелёный чай").context("зелёный чай", **U)
    counters = {name: TiktokenCounter(encoding_name(name)) for name in ("gpt-4o", "gpt-4")}
    return [name for name, counter in counters.items() if counter.count(block.text) == block.tokens]


@effect("context.candidates", 1, was=3, becomes=1)
def recalled_of_three_alike(run: Trial) -> int:
    memory = with_facts(run, "Drinks tea at noon", "Grows tea in Kerala", "Sells tea to shops")
    return len(memory.context("tea", **U).hits)


@effect("context.audit", 1, was=3, becomes=1)
def blocks_audited(run: Trial) -> int:
    memory = run.open()
    memory.add("Likes tea", **U)
    for _ in range(3):
        memory.context("tea", **U)
    return len(memory.audit(**U))


@effect("context.template", "markdown", was="<memory>", becomes="# Memory")
def the_first_line(run: Trial) -> str:
    return with_facts(run, "Likes tea").context("tea", **U).text.splitlines()[0]


@effect("context.floor", 1, was=1, becomes=0)
def recalled_below_the_floor(run: Trial) -> int:
    return len(with_facts(run, "Likes tea").context("green tea or coffee", **U).hits)


@effect("context.weakest", 0, was=1, becomes=3)
def recalled_beside_a_good_match(run: Trial) -> int:
    return len(with_facts(run, *LIKES, tags=("leisure",)).context("green tea", **U).hits)


@effect("context.diversity", 0, was=True, becomes=False)
def another_subject_is_among_two(run: Trial) -> bool:
    memory = with_facts(
        run,
        "Drinks green tea every morning at home",
        "Drinks green tea every morning at work",
        "Sells green tea in Bergen",
    )
    block = memory.context("green tea every day", **U, budget=52)
    return len(block.hits) == 2 and "Bergen" in block.text


@effect("context.core", 0, was=True, becomes=False)
def a_core_is_shown(run: Trial) -> bool:
    memory = with_facts(run, "Lives in a flat in Oslo", category="personal")
    memory.flush()
    return "<core>" in memory.context("anything else", **U).text


@effect("context.history", 0, was=True, becomes=False)
def a_history_is_shown(run: Trial) -> bool:
    memory = with_facts(run, *EVENTS, category="project")
    memory.flush()
    return "<history>" in memory.context("What have I been up to?", **U).text


@effect(
    "context.shares",
    {"preference": 0.01, "technical": 1},
    was=["preference"],
    becomes=["technical"],
)
def categories_in_a_small_block(run: Trial) -> list[str]:
    memory = with_facts(run, "Likes green tea from Kerala", category="preference")
    memory.add("The tea service runs on Kubernetes", **U, category="technical")
    block = memory.context("green tea from Kerala", **U, budget=48)
    return [fact.category.value for fact in block.facts]


def tiers(run: Trial, *, days: int) -> list[int]:
    """Return the entries of a history of events of that age: recent, earlier, long ago."""
    at = NOW - timedelta(days=days)
    memory = with_facts(run, *EVENTS, category="project", created_at=at)
    memory.flush()
    history = memory.profile(**U).history
    return [len(getattr(history, name)) for name in type(history).model_fields]


@effect("profile.facts", 1, was=3, becomes=1)
def homes(run: Trial) -> int:
    """Return the number of facts about the user's home."""
    memory = with_facts(
        run,
        "Lives in a flat in Oslo",
        "Lives near the harbour",
        "Moved to Oslo from Bergen",
        category="personal",
    )
    memory.flush()
    found = memory.profile(**U).profile.home
    return 0 if found is None else len(found.fact_ids)


effect("profile.recent_sentences", 1, was=[5, 0, 0], becomes=[1, 0, 0])(
    lambda run: tiers(run, days=20)
)
effect("profile.recent_tokens", 0, was=[5, 0, 0], becomes=[0, 0, 0])(
    lambda run: tiers(run, days=20)
)
effect("profile.earlier_sentences", 2, was=[0, 5, 0], becomes=[0, 2, 0])(
    lambda run: tiers(run, days=60)
)
effect("profile.earlier_tokens", 0, was=[0, 5, 0], becomes=[0, 0, 0])(
    lambda run: tiers(run, days=60)
)
effect("profile.long_term_sentences", 2, was=[0, 0, 5], becomes=[0, 0, 2])(
    lambda run: tiers(run, days=300)
)
effect("profile.long_term_tokens", 0, was=[0, 0, 5], becomes=[0, 0, 0])(
    lambda run: tiers(run, days=300)
)
