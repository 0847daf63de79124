"""Results as a self-contained HTML file."""

from __future__ import annotations

import statistics
from importlib.metadata import version
from pathlib import Path

from eval.experiment import Comparison
from eval.results import HEADLINE, mean, percentile, survival
from eval.significance import paired_bootstrap
from semantic_memory.domain.errors import MissingDependencyError, StoreUnavailableError
from semantic_memory.domain.ports import EmbedderIdentity

_TEMPLATE = Path(__file__).with_name("page.html")


def check_dependencies() -> None:
    """Raise MissingDependencyError if a package of the page is missing, before a long run."""
    try:
        import jinja2
        import matplotlib
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"--html needs {error.name}: pip install 'semantic-memory[eval]'"
        ) from None
    del jinja2, matplotlib


def write_page(path: Path, found: Comparison, embedder: EmbedderIdentity) -> None:
    """Write the page. Raises StoreUnavailableError."""
    from jinja2 import Environment, StrictUndefined

    from eval.report import plots

    level = found.dataset.level
    first, *others = found.results
    drawn = {
        "recall": plots.recall_over_k(found.results, level),
        "kinds": plots.by_kind_of_question(found.results, level, "nDCG@10"),
        "survival": plots.survival_over_budget(found.results) if survival(first.rows) else "",
        "ablation": plots.ablation(found.ablations, found.ablation_measure)
        if found.ablations
        else "",
    }
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(
        _TEMPLATE.read_text(encoding="utf-8")
    )
    html = template.render(
        found=found,
        version=version("semantic-memory"),
        embedder=str(embedder),
        levels=[one for one in ("memory", "session") if first.answered(one)],
        headline=HEADLINE,
        differences={
            other.system: [
                paired_bootstrap(first.column(name, level), other.column(name, level))
                for name in HEADLINE[:3]
            ]
            for other in others
        },
        plots=drawn,
        mean=mean,
        percentile=percentile,
        tokens=lambda rows: statistics.fmean(row.tokens for row in rows),
    )
    try:
        path.write_text(html, encoding="utf-8")
    except OSError as error:
        raise StoreUnavailableError(f"can't write {path}: {error.strerror or error}") from error
