"""Every setting has an effect that is seen from outside when it is changed.

A new setting needs a case in `tests/unit/settings_effects`: a probe that opens a store, or serves
it, and returns what a user can see.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from semantic_memory.entrypoints.cli.reference import every_setting
from tests.support.openai_server import OpenAIServer, serve
from tests.unit.settings_effects import (  # noqa: F401 - they register their cases
    delivery,
    indexes,
    layers,
    models,
    packing,
    ranking,
    reranking,
    service,
    store,
    traces,
    upkeep,
    window,
    writing,
)
from tests.unit.settings_effects.case import CASES, Case, trial


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with serve() as server:
        yield server


def test_every_setting_has_a_case() -> None:
    names = {setting.name for setting in every_setting()}
    assert sorted(names - CASES.keys()) == [], "settings without a case"
    assert sorted(CASES.keys() - names) == [], "cases of settings that are gone"


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES.items()])
def test_a_setting_has_an_effect(case: Case, tmp_path: Path, server: OpenAIServer) -> None:
    with trial(case, tmp_path / "default", server, changed=False) as run:
        assert case.probe(run) == case.was
    with trial(case, tmp_path / "changed", server, changed=True) as run:
        assert case.probe(run) == case.becomes
