"""Effects of the settings of traces."""

from __future__ import annotations

from semantic_memory import SemanticMemory
from tests.unit.settings_effects.case import Trial, U, effect


def searched(run: Trial, times: int = 4) -> SemanticMemory:
    """Return a store in which as many searches were made."""
    memory = run.open()
    memory.add("Likes tea", **U)
    for _ in range(times):
        memory.search("tea", **U)
    return memory


@effect("trace.share", 0.5, was=4, becomes=2)
def traces_of_four_searches(run: Trial) -> int:
    return len(searched(run).admin.inspection.tracer.latest("u1", 10))


@effect("trace.most", 1, was=4, becomes=1)
def traces_that_are_kept(run: Trial) -> int:
    return len(searched(run).admin.inspection.tracer.latest("u1", 10))


@effect("trace.days", 20.0, was=0, becomes=1)
def traces_after_ten_days(run: Trial) -> int:
    memory = searched(run, times=1)
    run.clock.advance(days=10)
    return len(memory.admin.inspection.tracer.latest("u1", 10))


@effect("trace.texts", True, was=[None], becomes=["tea"])
def questions_in_traces(run: Trial) -> list[str | None]:
    traces = searched(run, times=1).admin.inspection.tracer.latest("u1", 10)
    return [trace.query for trace in traces]
