"""Log lines of events: level, component, text, fields."""

import logging
from dataclasses import fields
from typing import Any, get_args

import pytest

from semantic_memory.domain import events
from semantic_memory.domain.observers import log_event

EXAMPLES = {"str": "x", "int": 3, "float": 1.5, "tuple[str, ...]": ("a",)}


def example(kind: type[events.Event]) -> events.Event:
    """Make an event whose fields have values of their annotated types."""
    values: dict[str, Any] = {}
    for one in fields(kind):
        name = str(one.type)
        values[one.name] = {"a": 1} if name.startswith("Mapping") else EXAMPLES.get(name, "x")
    return kind(**values)


@pytest.mark.parametrize("kind", get_args(events.Event), ids=lambda kind: kind.__name__)
def test_every_event_can_be_logged_with_its_figures(kind, caplog):
    with caplog.at_level(logging.DEBUG, logger="semantic_memory"):
        log_event(example(kind))
    (record,) = caplog.records
    assert record.getMessage()
    assert "%(" not in record.getMessage()


def test_outcomes_have_level_component_and_fields(caplog):
    with caplog.at_level(logging.INFO, logger="semantic_memory"):
        log_event(events.SessionChanged("ann@example.org", "s1", "begun"))
        log_event(events.FactsExtracted("ann@example.org", "s1", 5, 2, 0, {"confidence": 1}, 0.1))
        log_event(events.WindowCompacted("ann@example.org", "s1", "snip", 900, 4, 300))
        log_event(events.JobFinished("decay", 3, {"archived": 2}, 0.2, None))
        log_event(events.JobFinished("decay", 3, {}, 0.2, "disk full"))
    lines = [(one.levelname, one.name, one.getMessage()) for one in caplog.records]
    assert lines == [
        ("INFO", "semantic_memory.session", "session s1 begun"),
        (
            "INFO",
            "semantic_memory.extraction",
            "session s1: 2 facts from 5 messages, 0 quarantined, refused {'confidence': 1}",
        ),
        (
            "INFO",
            "semantic_memory.session",
            "window of session s1 compacted (snip) from 900 to 300 tokens, without 4 messages",
        ),
        (
            "INFO",
            "semantic_memory.upkeep",
            "the job decay ran for 3 users in 0.20 s: {'archived': 2}",
        ),
        ("WARNING", "semantic_memory.upkeep", "the job decay failed: disk full"),
    ]
    extracted = caplog.records[1]
    assert (extracted.session_id, extracted.admitted, extracted.messages) == ("s1", 2, 5)
    assert "ann@example.org" not in str([vars(one) for one in caplog.records])
