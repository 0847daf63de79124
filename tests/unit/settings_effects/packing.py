"""Effects of the settings of context blocks and profiles."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from semantic_memory import Category, Hit, ScoreParts, SemanticMemory
from semantic_memory.bootstrap.read_path import make_packer
from semantic_memory.context.tokens import TiktokenCounter, encoding_name
from semantic_memory.testing import ScriptedSentenceJudge
from tests.conftest import NOW, make_fact
from tests.unit.settings_effects.case import Trial, U, effect

LIKES = ("Likes green tea", "Owns a wooden boat", "Plays the cello in an orchestra")
COLOURS = ("red", "green", "blue", "black", "white", "brown", "pink", "grey", "gold", "teal")
DIVERSE = 222
"""Tokens of a block with room for eleven short lines."""
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
    memory.transfer.add_many([{"content": one, **values} for one in contents], **U)
    return memory


def with_pets(run: Trial, *contents: str) -> SemanticMemory:
    """Return a store with these facts, each read as one about a pet."""
    memory = run.open(sentence_judge=ScriptedSentenceJudge(lambda _: {"slot": "pet"}))
    memory.transfer.add_many([{"content": one} for one in contents], **U)
    memory.flush()
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
    return len(memory.history.audit(**U))


@effect("context.template", "markdown", was="<memory>", becomes="# Memory")
def the_first_line(run: Trial) -> str:
    return with_facts(run, "Likes tea").context("tea", **U).text.splitlines()[0]


@effect("context.floor", 1, was=1, becomes=0)
def recalled_below_the_floor(run: Trial) -> int:
    return len(with_facts(run, "Likes tea").context("green tea or coffee", **U).hits)


def with_ten_better(run: Trial, budget: int, *others: Hit) -> list[str]:
    """Return the texts of those of other hits that a block shows behind the ten best."""
    doors = [
        as_hit(number, f"The {colour} door of the barn", 0.5, Category.FINDING)
        for number, colour in enumerate(COLOURS)
    ]
    packer = make_packer(run.settings.context, TiktokenCounter())
    shown = packer.pack([*doors, *others], budget=budget).hits[len(doors) :]
    return [hit.fact.content for hit in shown]


def as_hit(number: int, content: str, score: float, category: Category, match: float = 0.5) -> Hit:
    parts = dict.fromkeys(ScoreParts.model_fields, 0.5) | {"match": match}
    fact = make_fact(number, content=content, category=category)
    return Hit(fact=fact, score=score, parts=ScoreParts(**parts))


@effect("context.weakest", 0, was=0, becomes=1)
def recalled_beside_good_matches(run: Trial) -> int:
    weak = as_hit(11, LIKES[1], 0.45, Category.PREFERENCE, match=0.05)
    return len(with_ten_better(run, 2_000, weak))


@effect(
    "context.diversity",
    0,
    was=["Plays the cello in the old hall"],
    becomes=["The red door of the old barn"],
)
def one_more_in_a_small_block(run: Trial) -> list[str]:
    return with_ten_better(
        run,
        DIVERSE,
        as_hit(11, "The red door of the old barn", 0.49, Category.FINDING),
        as_hit(12, "Plays the cello in the old hall", 0.48, Category.FINDING),
    )


@effect("context.core", 0, was=True, becomes=False)
def a_core_is_shown(run: Trial) -> bool:
    memory = with_pets(run, "Has a cat")
    return "<core>" in memory.context("anything else", **U).text


@effect("context.history", 0, was=True, becomes=False)
def a_history_is_shown(run: Trial) -> bool:
    memory = with_facts(run, *EVENTS, category="project")
    memory.flush()
    return "<history>" in memory.context("What have I been up to?", **U).text


@effect(
    "context.shares",
    {"preference": 0.01, "technical": 1},
    was=[LIKES[0]],
    becomes=["Runs on Linux"],
)
def one_of_two_categories_in_a_small_block(run: Trial) -> list[str]:
    return with_ten_better(
        run,
        DIVERSE,
        as_hit(11, LIKES[0], 0.49, Category.PREFERENCE),
        as_hit(12, "Runs on Linux", 0.48, Category.TECHNICAL),
    )


def tiers(run: Trial, *, days: int) -> list[int]:
    """Return the entries of a history of events of that age: recent, earlier, long ago."""
    at = NOW - timedelta(days=days)
    memory = with_facts(run, *EVENTS, category="project", created_at=at)
    memory.flush()
    history = memory.profile.get(**U).history
    return [len(getattr(history, name)) for name in type(history).model_fields]


@effect("profile.facts", 1, was=3, becomes=1)
def pets(run: Trial) -> int:
    """Return the number of facts about the user's pets."""
    found = with_pets(run, "Has a cat", "Has a dog", "Has a parrot").profile.get(**U).profile.family
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
