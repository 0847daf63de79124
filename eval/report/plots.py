"""Plots as SVG, for the HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from eval.datasets import Level
from eval.experiment import Ablation
from eval.results import Result, by_kind, mean, survival

_DEPTHS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)


@contextmanager
def style() -> Iterator[None]:
    """Set plain axes, text as text, and deterministic output."""
    with mpl.rc_context():
        mpl.rcParams["svg.fonttype"] = "none"
        mpl.rcParams["svg.hashsalt"] = "semantic-memory"
        mpl.rcParams["font.size"] = 9
        mpl.rcParams["axes.spines.top"] = False
        mpl.rcParams["axes.spines.right"] = False
        mpl.rcParams["axes.grid"] = True
        mpl.rcParams["grid.alpha"] = 0.25
        yield


def recall_over_k(results: Sequence[Result], level: Level) -> str:
    """Plot Recall@k of every system over k."""
    with style():
        figure = Figure(figsize=(6.4, 3.8), layout="constrained")
        axes = figure.subplots()
        for place, result in enumerate(results):
            rows = result.answered(level)
            recalls = [mean(rows, f"Recall@{k}", level) for k in _DEPTHS]
            axes.plot(
                _DEPTHS, recalls, marker="o", markersize=3, lw=1 + (place == 0), label=result.system
            )
        axes.set(xlabel="k", ylabel="Recall@k", ylim=(0, 1.02), xscale="log")
        axes.set_xticks(_DEPTHS, [str(k) for k in _DEPTHS])
        axes.minorticks_off()
        axes.legend(fontsize=8)
        return svg(figure)


def by_kind_of_question(results: Sequence[Result], level: Level, measure: str) -> str:
    """Plot a measure of every system by kind of question."""
    kinds = {kind: len(rows) for kind, rows in by_kind(results[0].answered(level)).items()}
    with style():
        figure = Figure(
            figsize=(6.4, 0.7 + 0.16 * (len(kinds) * (len(results) + 1.5))), layout="constrained"
        )
        axes = figure.subplots()
        places = np.arange(len(kinds))
        height = 0.85 / len(results)
        for number, result in enumerate(results):
            rows = by_kind(result.answered(level))
            values = [mean(rows[kind], measure, level) for kind in kinds]
            axes.barh(places + number * height, values, height, label=result.system)
        labels = [f"{kind} ({number})" for kind, number in kinds.items()]
        axes.set_yticks(places + 0.425 - height / 2, labels)
        axes.set(xlabel=measure, xlim=(0, 1))
        axes.margins(y=0.01)
        axes.invert_yaxis()
        axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
        return svg(figure)


def survival_over_budget(results: Sequence[Result]) -> str:
    """Plot the share of relevant memories left by a token budget."""
    with style():
        figure = Figure(figsize=(6.4, 3.4), layout="constrained")
        axes = figure.subplots()
        for result in results:
            figures = survival(result.rows)
            budgets = [int(budget) for budget in figures]
            greedy = [one["greedy"] for one in figures.values()]
            (drawn,) = axes.plot(
                budgets, greedy, "o--", lw=1, markersize=3, label=f"{result.system}, top"
            )
            packed = [one["packed"] for one in figures.values() if "packed" in one]
            if packed:
                axes.plot(
                    budgets,
                    packed,
                    "s-",
                    color=drawn.get_color(),
                    label=f"{result.system}, context()",
                )
        axes.set(xlabel="token budget", ylabel="share left", ylim=(0, 1.02))
        axes.legend(fontsize=8)
        return svg(figure)


def ablation(parts: Sequence[Ablation], measure: str) -> str:
    """Plot the effect of switching each part off, with its interval."""
    with style():
        figure = Figure(figsize=(6.4, 0.9 + 0.28 * len(parts)), layout="constrained")
        axes = figure.subplots()
        means = np.array([one.difference.mean for one in parts])
        reach = np.array(
            [
                [
                    one.difference.mean - one.difference.low,
                    one.difference.high - one.difference.mean,
                ]
                for one in parts
            ]
        ).T
        axes.barh(
            [one.part for one in parts],
            means,
            xerr=reach,
            height=0.6,
            color="tab:red",
            ecolor="0.3",
        )
        axes.axvline(0, color="0.2", lw=0.8)
        axes.set(xlabel=f"change of {measure} without the part")
        axes.invert_yaxis()
        return svg(figure)


def svg(figure: Figure) -> str:
    """Return a figure as an SVG element."""
    text = StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    drawn = text.getvalue()
    return drawn[drawn.index("<svg") :]
