"""Figures of a judge of sentences, from rows of held writers."""

import json
from collections.abc import Mapping

from eval.sentences import figures
from semantic_memory.testing import ScriptedSentenceJudge

ORDER: Mapping[str, object] = {"kind": "standing_order", "standing_order": 0.95}
ROWS = [
    ("Always answer in French.", "keep", "standing_order", True),
    ("Never use tables.", "keep", "standing_order", True),
    ("Shorten this text.", "task", "none", True),
    ("I live in Oslo.", "keep", "state", True),
    ("Call me Al.", "keep", "standing_order", False),
]
READ: Mapping[str, Mapping[str, object]] = {
    "Always answer in French.": ORDER,
    "Shorten this text.": {"keep": 0.1, **ORDER},
    "I live in Oslo.": {"keep": 0.1},
}


def test_orders_and_tasks_of_held_writers_are_counted(tmp_path):
    rows = [
        {"text": text, "writer": "one", "worth": worth, "kind": kind, "held": held}
        for text, worth, kind, held in ROWS
    ]
    (tmp_path / "sentences.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = figures(ScriptedSentenceJudge(lambda text: READ.get(text, {})), tmp_path)
    assert found["sentences"] == "4"
    assert found["worth keeping, found"] == "2 of 3 (66.7%)"
    assert found["found, worth keeping"] == "2 of 2 (100.0%)"
    assert found["standing orders found"] == "1 of 2 (50.0%)"
    assert found["taken, standing orders"] == "1 of 2 (50.0%)"
    assert found["tasks taken for standing orders"] == "1 of 1 (100.0%)"
    assert found["kind agrees"] == "2 of 3 (66.7%)"
    assert found["about agrees"] == "0 of 0 (0.0%)"
