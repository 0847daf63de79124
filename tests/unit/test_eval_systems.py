"""Every installed system finds the user's memories, and only theirs."""

import numpy as np
import pytest

from eval.systems import System
from eval.systems.build import NAMES, build_system
from eval.systems.plain import Plain
from semantic_memory.domain.errors import MissingDependencyError
from semantic_memory.testing import HashEmbedder
from tests.unit.eval_histories import ASKED, small


def quiet(step, done, total):
    del step, done, total


# What others' packages warn about is not ours to mend.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(params=NAMES)
def system(request, tmp_path):
    if request.param == "mempalace":
        pytest.importorskip("mempalace")
    try:
        built: System = build_system(request.param, HashEmbedder(), tmp_path)
    except MissingDependencyError as error:
        pytest.skip(str(error))
    built.take_in(small().histories, quiet)
    yield built
    built.close()


def test_the_best_memory_is_found_and_only_the_users_own(system):
    found = system.search("u2", "Where is the spare key?", 2, ASKED)
    assert list(found[0].ids) == ["m1"]
    assert len(found) <= 2
    assert "spare key" in found[0].line
    everything = system.search("u2", "Where is the spare key?", 50, ASKED)
    assert {one for result in everything for one in result.ids} <= {"m1", "m2", "m3"}
    assert not any("violin" in result.line for result in everything)


def test_scores_go_down_the_ranking(system, request):
    if request.node.callspec.params["system"] == "mempalace":
        pytest.skip("the similarity it reports isn't what it ranks by")
    found = system.search("u1", "What happened in the kitchen?", 10, ASKED)
    scores = [result.score for result in found]
    assert scores == sorted(scores, reverse=True)


def scores(method, query):
    plain = Plain(method, HashEmbedder())
    plain.take_in(small().histories, quiet)
    return {result.ids[0]: result.score for result in plain.search("u1", query, 10, ASKED)}


def test_fusions_are_what_their_formulas_say():
    query = "Who repaired the kitchen roof?"
    dense, bm25 = scores("dense", query), scores("bm25", query)
    ids = sorted(dense)

    def scaled(values):
        column = np.array([values[one] for one in ids])
        return (column - column.min()) / (column.max() - column.min())

    def reciprocal(values):
        # Equal scores keep the order in which the memories were told, which is that of the ids.
        order = sorted(ids, key=lambda one: -values[one])
        return np.array([1 / (61 + order.index(one)) for one in ids])

    fused, ranked = scores("min-max", query), scores("rrf", query)
    expected = (scaled(dense) + scaled(bm25)) / 2
    assert [fused[one] for one in ids] == pytest.approx(expected.tolist())
    expected = reciprocal(dense) + reciprocal(bm25)
    assert [ranked[one] for one in ids] == pytest.approx(expected.tolist())
