"""The command `python -m eval extraction`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from eval.extraction import (
    Tally,
    every_sentence,
    extracted,
    halves,
    judge,
    judge_dialogues,
    judge_gate,
    read_triples,
)
from ingest.extract.offline import OfflineExtractor
from ingest.gate import Gate
from semantic_memory.bootstrap import make_embedder
from semantic_memory.entrypoints.cli import show
from semantic_memory.settings import Settings

InputFile = Annotated[Path | None, typer.Option(exists=True, dir_okay=False)]


def extraction(
    paed: InputFile = None,
    locomo: InputFile = None,
    attacks: InputFile = None,
    ordinary: Annotated[
        list[Path] | None,
        typer.Option(help="Conversations that hold no attack; can be given more than once."),
    ] = None,
    worst: Annotated[int, typer.Option(help="Print so many cases that went wrong.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, last.")] = False,
) -> None:
    """What the offline extractor keeps, how much of it is right, and what the gate holds back."""
    extractor, gate = OfflineExtractor(), Gate()
    figures: dict[str, dict[str, float]] = {}
    cases: list[Tally] = []
    if paed:
        for half, own in halves(read_triples(paed)).items():
            tally = judge(own, extracted(extractor, gate))
            baseline = judge(own, every_sentence)
            if half == "development":  # what is held out isn't read
                cases.append(tally)
            figures[f"{half}: offline extractor"] = tally.figures()
            figures[f"{half}: every sentence"] = baseline.figures()
            figures[f"{half}: share of the baseline's recall"] = {
                "recall": tally.recall / baseline.recall
            }
    if locomo:
        found = judge_dialogues(locomo, extractor, gate, make_embedder(Settings()))
        figures["dialogues"] = found.figures()
    if attacks:
        figures["gate"] = judge_gate(attacks, ordinary or ())
    if as_json:
        print(json.dumps(figures))
        return
    for name, values in figures.items():
        show.pairs({f"{name}: {measure}": f"{value:,.4f}" for measure, value in values.items()})
    for case in [case for tally in cases for case in tally.worst(worst)][:worst]:
        print(f"\n{case.text}")
        print(f"  missed: {'; '.join(case.missed) or '-'}")
        print(f"  facts:  {' '.join(case.facts) or '-'}")
        print(f"  wrong:  {' '.join(case.wrong) or '-'}")
