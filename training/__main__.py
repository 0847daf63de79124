"""Train the packaged models: `python -m training [pairs | sentences | answers | ...]`."""

from __future__ import annotations

import argparse
from pathlib import Path

from training import card, question_map, questions
from training.data import GOLD


def main() -> None:
    """Train, compile to int8, measure on held writers, and write the model with its card."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument(
        "judges",
        nargs="*",
        choices=("pairs", "sentences", "answers", "questions", "map", "hints"),
    )
    parser.add_argument("--gold", type=Path, default=GOLD, help="directory of the labelled data")
    parser.add_argument("--out", type=Path, default=card.MODELS, help="directory of the models")
    parser.add_argument("--epochs", type=float, help="epochs, if others than the card's")
    parser.add_argument("--share", type=float, default=1.0, help="share of writers, 0 to 1")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for judge in options.judges or ("pairs", "sentences", "answers", "questions", "map"):
        if judge == "questions":
            questions.make(options.gold)
            continue
        if judge == "map":
            question_map.make(options.gold)
            continue
        if judge == "hints":  # `sentences` fits them too
            card.refit_hints(options.gold, options.out / "sentences")
            continue
        if judge == "answers":
            target = options.out / judge
            card.make_answers(options.gold, target, epochs=options.epochs, seed=options.seed)
            continue
        card.make(
            "pairs" if judge == "pairs" else "sentences",
            options.gold,
            options.out / judge,
            epochs=options.epochs,
            share=options.share,
            seed=options.seed,
        )


if __name__ == "__main__":
    main()
