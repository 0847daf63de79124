"""Results as tables in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from eval.datasets import Level
from eval.experiment import Comparison
from eval.gate import TOLERANCE, Check
from eval.qa import Answers, accuracy
from eval.results import HEADLINE, Result, by_kind, mean, percentile, separation, survival
from eval.significance import paired_bootstrap
from eval.tune import Tuning
from semantic_memory.entrypoints.cli import show


def comparison(found: Comparison) -> None:
    """Print the results of a run."""
    level = found.dataset.level
    show.out.print(Text(f"{found.dataset.name}: {found.dataset.protocol}", style="bold"))
    for reason in found.skipped:
        show.warn(f"skipped: {reason}")
    first = found.results[0]
    show.out.print(_systems(found.results, level))
    if first.answered("session") and level == "memory":
        show.out.print(_systems(found.results, "session"))
    show.out.print(kinds(first, level))
    if survival(first.rows):
        show.out.print(_survival(found.results))
    if len(found.results) > 1:
        show.out.print(_differences(found.results, level))
    if found.ablations:
        show.out.print(_ablations(found))


def kinds(result: Result, level: Level) -> Table:
    """Return the table of one system by kind of question."""
    table = _table("kind", "questions", *HEADLINE, title=f"{result.system}, {level} level")
    rows = result.answered(level)
    for kind, own in {**by_kind(rows), "all": rows}.items():
        table.add_row(kind, str(len(own)), *(f"{mean(own, name, level):.3f}" for name in HEADLINE))
    if (separated := separation(result.rows)) is not None:
        apart = sum(not row.answerable for row in result.rows)
        table.caption = (
            f"{apart} unanswerable questions: the best score separates them with AUROC"
            f" {separated:.3f}"
        )
    return table


def tuning(found: Tuning) -> None:
    """Print the outcome of a search for weights."""
    show.out.print(
        f"{found.measure} tuned on {len(found.train_users)} users of {found.dataset}"
        f" ({', '.join(found.train_users[:5])}{', ...' if len(found.train_users) > 5 else ''}),"
        f" {found.tried} settings tried: {found.train[0]:.4f} -> {found.train[1]:.4f}"
    )
    show.out.print(
        f"reported on the other {len(found.test_users)}: {found.test[0]:.4f} ->"
        f" {found.test[1]:.4f}, difference {found.difference}"
    )
    table = _table("weight", "before", "after", title="")
    for one in fields(found.before):
        before, after = (getattr(weights, one.name) for weights in (found.before, found.after))
        table.add_row(one.name, f"{before:.4g}", f"{after:.4g}", style="bold" * (before != after))
    show.out.print(table)


def gate(checked: Sequence[Check]) -> None:
    """Print stored and measured figures."""
    table = _table("part", "measure", "stored", "measured", "", title=f"tolerance {TOLERANCE}")
    for one in checked:
        verdict = Text("ok", "green") if one.passed else Text("DROPPED", "bold red")
        table.add_row(one.part, one.measure, f"{one.expected:.4f}", f"{one.measured:.4f}", verdict)
    show.out.print(table)


def answers(found: Answers) -> None:
    """Print the accuracy of judged answers."""
    title = f"{found.dataset}: {found.model}, {found.budget} tokens, judged by {found.judge}"
    table = _table("kind", "questions", "accuracy", title=title)
    for kind, own in {**found.by_kind(), "all": found.judged}.items():
        table.add_row(kind, str(len(own)), f"{accuracy(own):.3f}")
    show.out.print(table)


def _systems(results: Sequence[Result], level: Level) -> Table:
    table = _table(
        "system",
        *HEADLINE,
        "p50 ms",
        "p95 ms",
        "tokens",
        title=f"{level} level, {len(results[0].answered(level))} questions",
    )
    for result in results:
        rows = result.answered(level)
        table.add_row(
            result.system,
            *(f"{mean(rows, name, level):.3f}" for name in HEADLINE),
            f"{percentile(result.rows, 0.5):.1f}",
            f"{percentile(result.rows, 0.95):.1f}",
            f"{sum(row.tokens for row in result.rows) / len(result.rows):.0f}",
        )
    return table


def _survival(results: Sequence[Result]) -> Table:
    budgets = list(survival(results[0].rows))
    table = _table(
        "system",
        *(f"{budget} tokens" for budget in budgets),
        title="share of the relevant memories left in the prompt, and of questions with any",
    )
    for result in results:
        figures = survival(result.rows)
        table.add_row(
            f"{result.system}, top of the ranking",
            *(_both(figures[budget], "greedy") for budget in budgets),
        )
        if "packed" in figures[budgets[0]]:
            table.add_row(
                f"{result.system}, context()",
                *(_both(figures[budget], "packed") for budget in budgets),
            )
        if "answer words" in figures[budgets[0]]:
            table.add_row(
                f"{result.system}, words of the answers",
                *(f"{figures[budget]['answer words']:.3f}" for budget in budgets),
            )
    return table


def _both(figures: dict[str, float], name: str) -> str:
    return f"{figures[name]:.3f}, {figures[f'{name}, any']:.3f}"


def _differences(results: Sequence[Result], level: Level) -> Table:
    first = results[0]
    table = _table(
        f"{first.system} minus",
        *HEADLINE[:3],
        title="difference and its 95 % interval (paired bootstrap over questions)",
    )
    for other in results[1:]:
        table.add_row(
            other.system,
            *(
                str(paired_bootstrap(first.column(name, level), other.column(name, level)))
                for name in HEADLINE[:3]
            ),
        )
    return table


def _ablations(found: Comparison) -> Table:
    table = _table(
        "without", "weight", found.ablation_measure, "difference", title="one part off at a time"
    )
    for one in found.ablations:
        table.add_row(
            one.part,
            f"{one.was:.3g}",
            f"{one.figure:.3f}",
            Text(str(one.difference), "bold" if one.difference.significant else "dim"),
        )
    return table


def _table(first: str, *columns: str, title: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    table.add_column(first, no_wrap=True)
    for name in columns:
        table.add_column(name.replace("@", "\n@").replace(" ms", "\nms"), justify="right")
    return table
