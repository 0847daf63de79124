"""The model that ranks a statement above what it made untrue, as shipped."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from semantic_memory import Message, SemanticMemory
from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.retrieval.succession import (
    BUCKETS,
    COMPONENTS,
    DOUBTED,
    LIKELY,
    SIGNS,
    buckets,
    logit,
    model_for,
    shipped,
)
from semantic_memory.settings import IngestSettings, Settings
from semantic_memory.testing import FrozenClock
from training.data import PAIR_LABELS, pairs

MONDAY = datetime(2026, 2, 2, 9, tzinfo=UTC)
OLD = "I always swim at the baths in Canal Street."
NEW = "The pool shut for good, so these days it's the lake at Ansgar for my swimming."
QUESTION = "Where do I swim?"


@pytest.fixture
def memory(tmp_path):
    settings = Settings(ingest=IngestSettings(background=False))
    clock = FrozenClock(MONDAY + timedelta(days=90))
    with SemanticMemory.open(tmp_path / "store", settings=settings, clock=clock) as memory:
        yield memory


def tell(memory: SemanticMemory, *said: tuple[str, str]) -> None:
    for number, (role, text) in enumerate(said):
        at = MONDAY + timedelta(days=30 * number)
        message = Message(role=role, content=text, created_at=at)
        memory.observe([message], user_id="u1", session_id=f"s{number}")
    memory.flush()


def order(memory: SemanticMemory, question: str, k: int = 10) -> list[str]:
    """Return which of the statements the hits tell, best first."""
    hits = memory.search(question, user_id="u1", k=k)
    told = {OLD[8:20]: "old", "Ansgar": "new"}
    return [name for hit in hits for words, name in told.items() if words in hit.fact.content]


def test_a_statement_comes_before_what_it_made_untrue(memory):
    tell(memory, ("user", OLD), ("user", NEW))
    assert order(memory, QUESTION)[0] == "new"
    (best, *_) = memory.search(QUESTION, user_id="u1")
    assert best.parts.newer > 0.0


def test_it_does_so_however_few_are_asked_for(memory):
    tell(memory, ("user", OLD), ("user", NEW))
    assert order(memory, QUESTION, k=1) == ["new"]


def test_questions_about_the_past_keep_their_order(memory):
    tell(memory, ("user", OLD), ("user", NEW))
    assert order(memory, "Where did I swim in February?")[0] == "old"


def test_an_assistant_ends_nothing_by_what_it_says(memory):
    tell(memory, ("user", OLD), ("assistant", NEW))
    assert order(memory, QUESTION)[0] == "old"


def test_an_older_statement_ends_nothing(memory):
    tell(memory, ("user", NEW), ("user", OLD))
    assert order(memory, QUESTION)[0] == "old"


def test_the_shipped_weights_are_whole():
    model = shipped()
    assert model.basis.shape == (len(model.mean), COMPONENTS)
    assert model.older.shape == model.newer.shape == model.both.shape == (COMPONENTS,)
    assert model.older_words.shape == model.newer_words.shape == (BUCKETS,)
    assert model.grams.shape == (BUCKETS,)
    assert model.signs.shape == (SIGNS,)
    together = (model.grams, model.signs)
    apart = (model.basis, model.older, model.both, model.older_words, model.newer_words)
    for values in (*apart, *together):
        assert np.isfinite(values).all()
        assert np.count_nonzero(values)


def test_it_fits_the_packaged_embedder_alone():
    assert model_for(make_embedder(Settings()).identity.model) is shipped()
    assert model_for("text-embedding-3-small") is None


def test_numbers_are_read_alike():
    assert np.array_equal(buckets("the rent is 940"), buckets("The rent is 1040"))


def test_updates_score_above_look_alikes_that_it_was_not_trained_on():
    held = [one for one in pairs() if one.held and one.writer.startswith("successions: ")]
    embedder = make_embedder(Settings())
    scores = np.array(
        [
            logit(
                one.older,
                one.newer,
                embedder.embed([one.older, one.newer], "document"),
                shipped(),
            )
            for one in held
        ]
    )
    over = np.array([PAIR_LABELS[one.label] == "over" for one in held])
    assert (scores[over][:, None] > scores[~over][None]).mean() > 0.8
    assert (scores[~over] > LIKELY).mean() < 0.11
    assert (scores[over] > LIKELY).mean() > 0.45
    assert (scores[~over] > DOUBTED).mean() < 0.08
