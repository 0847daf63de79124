"""Figures as one JSON object, or as lines."""

from __future__ import annotations

import json
from collections.abc import Mapping

from semantic_memory.entrypoints.cli import show


def print_figures(
    figures: Mapping[str, float], shown: str, *, as_json: bool, digits: int = 3
) -> None:
    """Print figures as JSON, rounded, or each as the format `shown` says."""
    if as_json:
        print(json.dumps({name: round(value, digits) for name, value in figures.items()}))
    else:
        show.pairs({name: shown.format(value) for name, value in figures.items()})
