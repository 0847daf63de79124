"""Commands `python -m eval extraction` and `python -m eval attacks`."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from eval.attacks import disturbed, reach, read_attacks
from eval.extraction import (
    Tally,
    every_sentence,
    extracted,
    halves,
    judge,
    judge_dialogues,
    read_lines,
)
from ingest.extract.offline import OfflineExtractor
from ingest.gate import Gate
from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.entrypoints.cli import show
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import Settings

InputFile = Annotated[Path | None, typer.Option(exists=True, dir_okay=False)]


def extraction(
    paed: InputFile = None,
    locomo: InputFile = None,
    worst: Annotated[int, typer.Option(help="Number of wrong cases to print.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, last.")] = False,
) -> None:
    """Measure recall and precision of the offline extractor."""
    if paed is None and locomo is None:
        raise InvalidInputError(
            "give texts with labelled sentences with --paed, conversations with --locomo, or both:"
            " nothing is downloaded"
        )
    extractor, gate = OfflineExtractor(), Gate()
    figures: dict[str, dict[str, float]] = {}
    cases: list[Tally] = []
    if paed:
        for half, own in halves(read_lines(paed)).items():
            tally = judge(own, extracted(extractor, gate))
            baseline = judge(own, every_sentence)
            if half == "development":  # held-out cases aren't printed
                cases.append(tally)
            figures[f"{half}: offline extractor"] = tally.figures()
            figures[f"{half}: every sentence"] = baseline.figures()
            figures[f"{half}: share of the baseline's recall"] = {
                "recall": tally.recall / baseline.recall
            }
    if locomo:
        found = judge_dialogues(locomo, extractor, gate, make_embedder(Settings()))
        figures["dialogues"] = found.figures()
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


def attacks(
    data: Annotated[
        Path, typer.Option(help="Attack strings: JSON lines with `text` and `kind`.", exists=True)
    ],
    ordinary: Annotated[
        list[Path] | None,
        typer.Option(help="Conversations without attacks; can be given more than once."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, last.")] = False,
) -> None:
    """Measure how many stored prompt injections reach a prompt, and the guard's cost."""
    with TemporaryDirectory() as directory:
        settings = Settings(data_dir=Path(directory))
        with SemanticMemory.open(settings=settings) as memory:
            figures = reach(memory, read_attacks(data))
    for path in ordinary or ():
        figures |= disturbed(Gate(), path)
    if as_json:
        print(json.dumps(figures))
    else:
        show.pairs({name: f"{value:,.4f}" for name, value in figures.items()})
