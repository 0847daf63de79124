"""Results as a JSON object: the first system's figures on top, all under `systems`."""

from __future__ import annotations

import statistics
from dataclasses import asdict
from typing import Any

from eval.experiment import Comparison
from eval.qa import Answers, accuracy
from eval.results import HEADLINE, summary
from eval.significance import paired_bootstrap
from eval.tune import Tuning


def comparison(found: Comparison) -> dict[str, Any]:
    """Return a run's results, with the differences to the first system and their intervals."""
    level = found.dataset.level
    systems = {result.system: summary(result, level) for result in found.results}
    first, *others = found.results
    return {
        **systems[first.system],
        "set": found.dataset.name,
        "protocol": found.dataset.protocol,
        "level": level,
        "system": first.system,
        "systems": systems,
        "skipped": list(found.skipped),
        "differences": {
            other.system: {
                name: paired_bootstrap(
                    first.column(name, level), other.column(name, level)
                ).rounded()
                for name in HEADLINE
            }
            for other in others
        },
        "ablation": {
            one.part: {
                "weight": one.was,
                found.ablation_measure: round(one.figure, 4),
                "difference": one.difference.rounded(),
            }
            for one in found.ablations
        },
    }


def tuning(found: Tuning) -> dict[str, Any]:
    """Return the outcome of a search for weights."""
    return {
        "set": found.dataset,
        "measure": found.measure,
        "tuned_on": found.train_users,
        "reported_on": found.test_users,
        "tried": found.tried,
        "train": dict(zip(("before", "after"), (round(v, 4) for v in found.train), strict=True)),
        "test": dict(zip(("before", "after"), (round(v, 4) for v in found.test), strict=True)),
        "difference": found.difference.rounded(),
        "weights": {"before": asdict(found.before), "after": asdict(found.after)},
    }


def answers(found: Answers) -> dict[str, Any]:
    """Return the accuracy of judged answers, with the models."""
    return {
        "set": found.dataset,
        "model": found.model,
        "judge": found.judge,
        "budget": found.budget,
        "accuracy": round(accuracy(found.judged), 4),
        "questions": len(found.judged),
        "tokens_a_query": round(statistics.fmean(one.tokens for one in found.judged), 1),
        "by_kind": {
            kind: {"questions": len(own), "accuracy": round(accuracy(own), 4)}
            for kind, own in found.by_kind().items()
        },
    }
