"""The command `python -m eval llm`."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from eval.llm.conversations import DATA, load_conversations
from eval.llm.figures import Figures, figures, wrong
from eval.llm.planted import Planting
from eval.llm.play import PACES, Endpoint, Pace, Played, play
from eval.llm.recorded import Answers, adopt, leave_requests, serve
from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.context.tokens import TiktokenCounter, encoding_name
from semantic_memory.domain.ports import Embedder
from semantic_memory.entrypoints.cli import show
from semantic_memory.settings import load

_PLANTED = 100
_EACH = 16
MODEL = "gpt-4o-mini"
"""The model whose tokens are counted when recorded answers are replayed."""


def measure_llm(
    base_url: str | None, model: str, api_key: str, requests: Path | None, *, as_json: bool
) -> int:
    """Tell the conversations at both paces, and print the figures; return the exit code.

    Without `base_url`, recorded answers are replayed. Requests that have none are left in the
    directory `requests`, and answers that are found there are added to the recording. Returns 1 if
    an answer is missing or stale.
    """
    if requests is not None:
        adopt(DATA, requests)
    embedder = make_embedder(load())
    with ExitStack() as stack:
        answers = None
        if base_url is None:
            answers = Answers.read(DATA)
            counter = TiktokenCounter(encoding_name(MODEL))
            base_url, model = stack.enter_context(serve(answers, counter.count)), MODEL
        played = play_all(Endpoint(base_url, model, api_key or "none"), embedder)
    admitted, planted = (0, 0) if answers is None else measure_planted(embedder)
    if answers is not None and requests is not None:
        leave_requests(answers, requests)
    found = {pace: figures(own) for pace, own in played.items()}
    if as_json:
        rows: dict[str, object] = {pace: asdict(own) for pace, own in found.items()}
        print(json.dumps({**rows, "planted": planted, "planted_admitted": admitted}))
    else:
        show.out.print(table(found))
        if planted:
            show.out.print(f"planted facts that nobody said: {admitted} of {planted} admitted")
        for own in played.values():
            for one in (*wrong(own), *(failure for each in own for failure in each.failures)):
                show.out.print(one)
    if answers is None:
        return 0
    for reason in (
        *answers.stale,
        *(f"{len(answers.missing)} answers are missing",) * bool(answers.missing),
    ):
        show.out.print(reason)
    return int(bool(answers.stale or answers.missing))


def play_all(endpoint: Endpoint, embedder: Embedder) -> dict[Pace, list[Played]]:
    """Tell every conversation at every pace."""
    conversations = load_conversations()
    return {pace: [play(one, pace, endpoint, embedder) for one in conversations] for pace in PACES}


def measure_planted(embedder: Embedder) -> tuple[int, int]:
    """Tell the conversations live with facts planted in the answers; count the admitted ones."""
    planting = Planting(_PLANTED, _EACH)
    answers = Answers.read(DATA, planting)
    with serve(answers, len) as url:
        played = [
            play(one, "live", Endpoint(url, MODEL, max_retries=0), embedder)
            for one in load_conversations()
        ]
    kept = [fact for one in played for fact in one.facts if fact.content in planting.planted]
    return len(kept), len(planting.planted)


def table(found: dict[Pace, Figures]) -> Table:
    """Return the figures as a table."""
    shown = Table("measure", *found)
    rows = {
        "updates retired": [f"{one.retired} of {one.updates}" for one in found.values()],
        "look-alikes taken as updates": [
            f"{one.misled} of {one.lookalikes}" for one in found.values()
        ],
        "facts kept": [f"{one.kept} of {one.facts}" for one in found.values()],
        "messages, calls": [f"{one.messages}, {one.calls}" for one in found.values()],
        "calls for 20 messages": [f"{one.calls_for_twenty:.1f}" for one in found.values()],
        "input tokens a call": [f"{one.input_tokens:,.0f}" for one in found.values()],
    }
    for name, values in rows.items():
        shown.add_row(name, *values)
    return shown
