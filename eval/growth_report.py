"""Growth as a table, a plot and a document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from eval.growth import Grown, Size
from semantic_memory.domain.errors import InvalidInputError

SIZES = "1x1000,1x10000,1x100000,100x100,1000x100,3000x100"
MILLION = "1x1000000,10000x100"
_COLUMNS = 3


def parse_sizes(text: str) -> list[Size]:
    """Return the sizes of a text like `1x10000,1000x100`: users x memories of each."""
    return [_size(part.strip()) for part in text.split(",")]


def _size(text: str) -> Size:
    users, _, each = text.partition("x")
    if not (users.isdecimal() and each.isdecimal() and int(users) and int(each)):
        raise InvalidInputError(f"no size of a store: {text!r}; give USERSxMEMORIES, like 1000x100")
    return Size(int(users), int(each))


def table(grown: Sequence[Grown]) -> Table:
    """Return a row for each measure and a column for each size."""
    heads = [f"{one.size.users:,} x {one.size.each:,}" for one in grown]
    drawn = Table("users x memories", *heads)
    for measure in _measures(grown):
        drawn.add_row(measure, *(_shown(one.figures.get(measure)) for one in grown))
    return drawn


def document(grown: Sequence[Grown]) -> list[dict[str, Any]]:
    """Return the figures as JSON."""
    return [
        {"users": one.size.users, "each": one.size.each}
        | {name: round(value, 3) for name, value in one.figures.items()}
        for one in grown
    ]


def draw(grown: Sequence[Grown], path: Path) -> None:
    """Write an SVG with a panel for each measure, both axes logarithmic."""
    from matplotlib.figure import Figure

    from eval.report.plots import style, svg

    measures = _measures(grown)
    rows = -(-len(measures) // _COLUMNS)
    with style():
        figure = Figure(figsize=(9.6, 2.4 * rows), layout="constrained")
        panels = figure.subplots(rows, _COLUMNS, squeeze=False).flatten()
        for panel, measure in zip(panels, measures, strict=False):
            for label, series in _series(grown).items():
                points = [
                    (one.size.memories, one.figures[measure])
                    for one in series
                    if measure in one.figures
                ]
                places, values = zip(*sorted(points), strict=True) if points else ((), ())
                panel.plot(places, values, "o-", markersize=3, label=label)
            panel.set(title=measure, xscale="log", yscale="log")
        for panel in panels[len(measures) :]:
            panel.set_axis_off()
        panels[0].legend(fontsize=8)
        figure.supxlabel("memories of the store")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(svg(figure), encoding="utf-8")


def _series(grown: Sequence[Grown]) -> dict[str, list[Grown]]:
    one = [each for each in grown if each.size.users == 1]
    many = [each for each in grown if each.size.users > 1]
    named = {"one user": one, "many users": many}
    return {label: series for label, series in named.items() if series}


def _measures(grown: Sequence[Grown]) -> list[str]:
    return list(dict.fromkeys(name for one in grown for name in one.figures))


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:,.2f}" if value < 10 else f"{value:,.0f}"
