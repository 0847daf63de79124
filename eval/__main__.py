"""Command line of the evaluation: python -m eval."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, cast

import typer
from rich.table import Table

import eval.gate as gating
from eval import beliefs as belief_rules
from eval import (
    cascades,
    consolidated,
    experiment,
    knowledge_updates,
    messages,
    pairs,
    resumable,
    retired,
    sentences,
    sweeps,
)
from eval.audit.command import audit
from eval.bench_command import bench
from eval.blocks import blocks
from eval.chaos.command import chaos
from eval.datasets.load import NAMES as SETS
from eval.datasets.load import load, named
from eval.datasets.scenarios import BELIEFS
from eval.decay import draw, simulate
from eval.encryption import measure_encryption
from eval.extraction_report import attacks, extraction
from eval.flood import flood as put_flood
from eval.gold import Half
from eval.hook import measure as measure_hook
from eval.indexes import Filled, Searched, measure_index
from eval.ledgers import measure_ledgers
from eval.llm.command import measure_llm
from eval.load import fill
from eval.load import load as put_load
from eval.measures import measure as parse_measure
from eval.mutants.command import mutants
from eval.natural.command import measure_natural
from eval.pathological import pathological
from eval.printing import print_figures
from eval.qa import Answers, Chat, answer_all
from eval.relevance_report import relevance
from eval.report import document, page, terminal
from eval.results import summary, write_rows
from eval.scale_command import scale
from eval.spaces_report import spaces
from eval.stages import measure_stages
from eval.stale import stale
from eval.starts import fill as fill_store
from eval.starts import measure as measure_starts
from eval.starvation import starvation as measure_starvation
from eval.statements_report import AsJson, core, languages, own_speech, statements
from eval.systems.build import INCLUDED, OURS
from eval.systems.build import NAMES as SYSTEMS
from eval.systems.build import Name as SystemName
from eval.tune import tune as search_weights
from eval.voices import voices
from eval.walk import table as walk_table
from eval.workers import count_draws, measure_state
from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.consolidation.fading import Fading
from semantic_memory.domain.errors import InvalidInputError, SemanticMemoryError
from semantic_memory.entrypoints.cli import show
from semantic_memory.settings import load as load_settings

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)

DataFile = Annotated[
    Path | None, typer.Option("--data", help="The data set's file, plain or gzipped.")
]
SetChoice = Annotated[str, typer.Option("--set", help=f"One of: {', '.join(SETS)}.")]
Cache = Annotated[
    Path | None,
    typer.Option(help="Cache of embeddings between runs [the settings' cache_dir/eval]."),
]
StoreDirectory = Annotated[
    Path | None, typer.Option(help="Keep the store here, or use an existing one.")
]
Rerank = Annotated[
    bool, typer.Option(help="Reorder the hits of this product by its packaged reranker.")
]
MeasureName = Annotated[str, typer.Option("--measure", help="Like nDCG@10 or Success@5.")]


app.command()(audit)
app.command()(mutants)
app.command()(stale)
app.command()(extraction)
app.command()(attacks)
app.command()(statements)
app.command()(languages)
app.command()(core)
app.command()(own_speech)
app.command()(relevance)
app.command()(spaces)
app.command()(bench)
app.command()(chaos)
app.command()(voices)
app.command()(blocks)
app.command()(pathological)
app.command()(scale)


@app.callback()
def about() -> None:
    """Measure retrieval offline."""


@app.command()
def run(
    dataset: SetChoice,
    data: DataFile = None,
    systems: Annotated[
        str, typer.Option(help=f"`all`, or some of {','.join(SYSTEMS)}.")
    ] = ",".join(INCLUDED),
    html: Annotated[Path | None, typer.Option(help="Write a page with plots.")] = None,
    rows: Annotated[
        Path | None, typer.Option(help="Write a row for every question, as JSONL.")
    ] = None,
    ablation: Annotated[
        bool, typer.Option(help="Switch off one part of the ranking at a time.")
    ] = False,
    measure: MeasureName = "nDCG@10",
    pack: Annotated[bool, typer.Option(help="Measure packing into token budgets.")] = True,
    resume: Annotated[
        Path | None,
        typer.Option(
            help="Keep the rows of each history in this file, and continue where a run was stopped;"
            " without packing and ablation."
        ),
    ] = None,
    rerank: Rerank = False,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Compare systems on a data set, all with the same vectors."""
    names = _systems(systems)
    _check_measure(measure)
    if html is not None:
        page.check_dependencies()
    loaded = load(named(dataset), data)
    with experiment.bench(cache) as shared, show.progress(quiet=False) as report:
        if resume is not None:
            results = [
                resumable.asked(loaded, name, shared, resume, report, rerank=rerank)
                for name in names
            ]
            found = experiment.Comparison(loaded, results, [], [], "")
        else:
            found = experiment.compare(
                loaded,
                names,
                shared,
                report,
                pack=pack,
                ablate=measure if ablation else None,
                rerank=rerank,
            )
    if rows is not None:
        write_rows(rows, loaded, found.results)
    if html is not None:
        page.write_page(html, found, shared.embedder.identity)
    if as_json:
        print(json.dumps(document.comparison(found)))
    else:
        terminal.comparison(found)


@app.command()
def locomo(
    data: Annotated[Path, typer.Option("--data", help="A LoCoMo file, plain or gzipped.")],
    pack: Annotated[bool, typer.Option(help="Measure packing into token budgets.")] = False,
    rerank: Rerank = False,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Measure recall of this product on LoCoMo, at the turn level."""
    loaded = load("locomo", data)
    with experiment.bench(cache) as shared, show.progress(quiet=False) as report:
        found = experiment.compare(loaded, [OURS], shared, report, pack=pack, rerank=rerank)
    (result,) = found.results
    if as_json:
        print(json.dumps(summary(result, loaded.level)))
    else:
        terminal.comparison(found)


@app.command()
def tune(
    dataset: SetChoice,
    data: DataFile = None,
    measure: MeasureName = "nDCG@10",
    rounds: Annotated[
        int, typer.Option(min=1, help="Largest number of rounds over all weights.")
    ] = 3,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Search weights on half of the users, and report them on the other half."""
    _check_measure(measure)
    loaded = load(named(dataset), data)
    with (
        experiment.bench(cache, remember_queries=True) as shared,
        show.progress(quiet=False) as report,
    ):
        found = search_weights(loaded, measure, rounds, shared, report)
    if as_json:
        print(json.dumps(document.tuning(found)))
    else:
        terminal.tuning(found)


@app.command()
def gate(
    write: Annotated[
        bool, typer.Option(help="Store the measured figures as the expected ones.")
    ] = False,
    cache: Cache = None,
) -> None:
    """Compare figures on the shipped set with stored ones; fail on a drop of more than .02."""
    with experiment.bench(cache) as shared, show.progress(quiet=False) as report:
        figures = gating.measured(shared, report)
    if write:
        gating.write_expected(figures)
    checked = gating.checks(gating.read_expected(), figures)
    terminal.gate(checked)
    if not all(one.passed for one in checked):
        raise typer.Exit(1)


@app.command()
def qa(
    dataset: SetChoice,
    model: Annotated[str, typer.Option(help="Model that answers the questions.")],
    data: DataFile = None,
    judge_model: Annotated[
        str | None, typer.Option(help="Model that judges the answers [the same].")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="An OpenAI-compatible endpoint [OpenAI's].")
    ] = None,
    api_key: Annotated[str | None, typer.Option(envvar="OPENAI_API_KEY")] = None,
    budget: Annotated[int, typer.Option(min=1, help="Token budget of the context block.")] = 2_000,
    workers: Annotated[int, typer.Option(min=1, help="Number of concurrent requests.")] = 4,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Answer questions with a model from recalled memories, and judge the answers."""
    loaded = load(named(dataset), data)
    reader = Chat(base_url, model, api_key=api_key)
    judge = Chat(base_url, judge_model or model, api_key=api_key)
    with experiment.bench(cache) as shared, show.progress(quiet=False) as report:
        judged = answer_all(loaded, reader, judge, budget, workers, shared, report)
    found = Answers(loaded.name, model, judge_model or model, budget, judged)
    if as_json:
        print(json.dumps(document.answers(found)))
    else:
        terminal.answers(found)


@app.command()
def encryption(as_json: AsJson = False) -> None:
    """Measure what encryption at rest costs, against the same store in plain text."""
    figures = measure_encryption()
    print_figures(figures, "{:,.2f}", as_json=as_json)


@app.command("load")
def load_service(
    users: Annotated[int, typer.Option(help="Number of users.")] = 100,
    each: Annotated[int, typer.Option(help="Number of memories of a user.")] = 5_000,
    seconds: Annotated[float, typer.Option(help="Duration.")] = 60.0,
    clients: Annotated[int, typer.Option(help="Number of concurrent clients.")] = 16,
    store: StoreDirectory = None,
    as_json: AsJson = False,
) -> None:
    """Put load on the service: 80 % searches, 15 % messages, 5 % facts; fail on any loss."""
    with TemporaryDirectory(prefix="semantic-memory-load-") as scratch:
        directory = store or Path(scratch, "store")
        if not directory.exists():
            fill(directory, users, each)
        outcome, figures = put_load(directory, users, seconds, clients)
    print_figures(figures, "{:,.1f}", as_json=as_json)
    for error in outcome.errors[:10]:
        show.warn(error)
    if outcome.errors or outcome.lost or outcome.strays:
        raise typer.Exit(1)


@app.command()
def stages(
    memories: Annotated[int, typer.Option(min=100, help="Number of memories of the user.")] = 5_000,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each, of which the median.")] = 7,
    store: StoreDirectory = None,
    as_json: AsJson = False,
) -> None:
    """Measure the CPU of a search, a block, a request and a write, beside their floors."""
    figures = measure_stages(store, memories, rounds)
    print_figures(figures, "{:,.2f} ms", as_json=as_json)


@app.command()
def starts(
    memories: Annotated[int, typer.Option(min=1, help="Number of memories.")] = 10_000,
    rounds: Annotated[int, typer.Option(min=1, help="Runs of each, of which the least.")] = 5,
    store: StoreDirectory = None,
    as_json: AsJson = False,
) -> None:
    """Measure the CPU seconds of each start: help, search, MCP, the service."""
    with (
        TemporaryDirectory(prefix="semantic-memory-starts-") as scratch,
        show.progress(quiet=False) as report,
    ):
        directory = store or Path(scratch, "store")
        if not directory.exists():
            fill_store(directory, memories, report)
        figures = measure_starts(directory, rounds, report)
    print_figures(figures, "{:.2f} s", as_json=as_json)


@app.command()
def hook(
    memories: Annotated[int, typer.Option(min=1, help="Number of memories.")] = 1_000,
    prompts: Annotated[int, typer.Option(min=1, help="Number of prompts.")] = 20,
    store: StoreDirectory = None,
    as_json: AsJson = False,
) -> None:
    """Measure a coding agent's hook at a prompt, from its start to its answer."""
    with (
        TemporaryDirectory(prefix="semantic-memory-hook-") as scratch,
        show.progress(quiet=False) as report,
    ):
        directory = store or Path(scratch, "store")
        if not directory.exists():
            fill_store(directory, memories, report)
        figures = measure_hook(directory, prompts)._asdict()
    print_figures(figures, "{:.0f} ms", as_json=as_json, digits=1)


@app.command()
def flood(
    sessions: Annotated[int, typer.Option(help="Number of concurrent sessions.")] = 1_000,
    each: Annotated[int, typer.Option(help="Number of messages of a session.")] = 10,
    callers: Annotated[int, typer.Option(help="Number of threads that observe.")] = 16,
    as_json: AsJson = False,
) -> None:
    """Measure the cost of observing many sessions at once, in time, threads and RAM."""
    with TemporaryDirectory(prefix="semantic-memory-flood-") as scratch:
        figures = put_flood(Path(scratch, "store"), sessions, each, callers)
    print_figures(figures, "{:,.1f}", as_json=as_json)
    if figures["messages stored"] != figures["messages"]:
        raise typer.Exit(1)


@app.command()
def starvation(
    rounds: Annotated[int, typer.Option(help="Number of times that each call is timed.")] = 3,
    flooding: Annotated[int, typer.Option(help="Number of threads of the other user.")] = 4,
    as_json: AsJson = False,
) -> None:
    """Measure how long one user's calls wait while another user floods the store."""
    with TemporaryDirectory(prefix="semantic-memory-starvation-") as scratch:
        found = measure_starvation(Path(scratch, "store"), rounds, flooding)
    if as_json:
        print(json.dumps({name: [round(one, 4) for one in row] for name, row in found.items()}))
        return
    show.pairs(
        {
            name: f"quiet {quiet:.3f} s, loaded {loaded:.3f} s ({loaded / quiet:.0f} times),"
            f" longest {longest:.3f} s"
            for name, (quiet, loaded, longest) in found.items()
        }
    )


@app.command()
def ledgers(
    url: Annotated[
        str,
        typer.Argument(help="Schema to fill on a server, like postgresql://host/db?schema=trial."),
    ],
    users: Annotated[int, typer.Option(help="Number of users.")] = 10,
    memories: Annotated[int, typer.Option(help="Number of memories of each user.")] = 1_000,
    rounds: Annotated[int, typer.Option(help="Number of times that each call is timed.")] = 100,
) -> None:
    """Time the calls of the ledger on PostgreSQL beside those of the one on SQLite, in turns."""
    found = measure_ledgers(url, users, memories, rounds)
    show.pairs(
        {one.call: f"SQLite {one.sqlite:.2f} ms, PostgreSQL {one.postgres:.2f} ms" for one in found}
    )


@app.command()
def workers(
    url: Annotated[
        str, typer.Argument(help="Schema on a server, like postgresql://host/db?schema=trial.")
    ],
    rounds: Annotated[int, typer.Option(help="Number of times that each call is timed.")] = 500,
    rate: Annotated[
        int, typer.Option(help="Requests a second of the caller whose are counted.")
    ] = 350,
) -> None:
    """Time keys, kept answers and rates in a database of several workers beside those in files."""
    found = measure_state(url, rounds)
    show.pairs(
        {one.call: f"files {one.files:.3f} ms, PostgreSQL {one.database:.3f} ms" for one in found}
    )
    requests, drawn = count_draws(url, rate, 10.0)
    show.pairs({"shares drawn": f"{drawn:.1f} a second, at {requests / 10:.0f} requests a second"})


@app.command()
def indexes(
    url: Annotated[
        str,
        typer.Argument(
            help="Server to fill: a Chroma server, like http://host:8000, or a schema of its own"
            " with pgvector, like postgresql://host/db?schema=trial."
        ),
    ],
    memories: Annotated[int, typer.Option(help="Number of the large user's memories.")] = 20_000,
    queries: Annotated[int, typer.Option(help="Number of queries of each kind.")] = 100,
) -> None:
    """Measure recall@50 and speed of an index on a server, for a large user and small ones."""
    for one in measure_index(url, memories, queries):
        match one:
            case Filled(number, filling, separating):
                rate = number / filling
                show.pairs({"filled": f"{rate:,.0f} memories/s, apart in {separating:.1f} s"})
            case Searched(what, recall, milliseconds):
                show.pairs({what: f"Recall@50 {recall:.3f}, median {milliseconds:.1f} ms"})


@app.command()
def beliefs(
    data: Annotated[
        Path | None,
        typer.Option(help="Directory of the data sets, or, with --natural, a file of scenarios."),
    ] = None,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Time upkeep over 100,000 facts instead.")
    ] = False,
    natural: Annotated[
        bool, typer.Option("--natural", help="Tell scenarios in natural chat to a store instead.")
    ] = False,
    half: Annotated[str, typer.Option(help="Scenarios: build, measure or both.")] = "both",
    rows: Annotated[Path | None, typer.Option(help="Write every scenario's row, JSONL.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure the detection of duplicates, conflicts and updates."""
    if natural:
        measure_natural(data or BELIEFS, half, rows, as_json=as_json)
    elif sweep:
        for timed in sweeps.timed():
            show.out.print(sweeps.table(timed))
    elif data is None:
        raise InvalidInputError("give the directory of the data sets with --data, or --sweep")
    else:
        for table in belief_rules.tables(data):
            show.out.print(table)


@app.command()
def factconsolidation(
    data: Annotated[Path | None, typer.Option("--data", help="Other rows of that form.")] = None,
) -> None:
    """Measure whether the last of contradicting facts ranks first and is in the block."""
    found = consolidated.answers(make_embedder(load_settings()), data)
    show.pairs({"questions": str(len(found))})
    show.pairs({name: f"{share:.1%}" for name, share in consolidated.shares(found).items()})


@app.command()
def cascade(
    data: Annotated[Path | None, typer.Option("--data", help="Other cases of that form.")] = None,
    half: Annotated[Half | None, typer.Option(help="Only the cases of that half.")] = None,
    misses: Annotated[bool, typer.Option(help="Print what was missed or marked wrongly.")] = False,
) -> None:
    """Measure which facts are to check once the fact that they rest on has fallen."""
    found = [*cascades.outcomes(make_embedder(load_settings()), data, half)]
    stood = [one.case.basis for one in found if not one.fell]
    for one in found if misses else ():
        if one.fell and (one.found < len(one.case.rests) or one.wrong or one.retired):
            print(one)
    columns = ("cases", "resting facts", "found", "wrongly marked", "silently retired")
    table = Table("kind", *columns)
    for kind, figures in cascades.shares(found).items():
        cells = (
            f"{value:.0%}" if name == "found" else str(value) for name, value in figures.items()
        )
        table.add_row(kind, *cells)
    show.out.print(table)
    print(f"{len(stood)} of {len(found)} bases stood after what was meant to end them: {stood}")


@app.command(name="knowledge-updates")
def updates_of_knowledge(
    file: Annotated[Path, typer.Argument(help="LongMemEval's file, plain or gzipped.")],
    others: Annotated[
        int, typer.Option(min=0, help="Other sessions that a user is told.")
    ] = knowledge_updates.OTHERS,
) -> None:
    """Measure which of LongMemEval's updates the block shows, and the store recognises."""
    embedder = make_embedder(load_settings())
    with show.progress(quiet=False) as report:
        found = list(knowledge_updates.outcomes(file, embedder, report, others=others))
    show.pairs(knowledge_updates.shares(found))


@app.command(name="pairs")
def judged_pairs() -> None:
    """Measure the packaged pair judge on writers that were in no training."""
    for table in pairs.tables():
        show.out.print(table)


@app.command(name="sentences")
def judged_sentences() -> None:
    """Measure the packaged sentence judge on writers that were in no training."""
    show.pairs(sentences.figures())


@app.command(name="messages")
def judged_messages(
    data: Annotated[
        Path | None, typer.Option(help="Messages as in data/gold/messages.jsonl.")
    ] = None,
) -> None:
    """Measure requests to forget and secrets on writers that were in no training."""
    show.pairs(messages.figures(data))


@app.command(name="retired")
def retired_statements(
    file: Annotated[Path, typer.Argument(help="A data set of conversations.")],
    form: Annotated[retired.Form, typer.Option("--format", help="Its format.")],
    conversations: Annotated[int, typer.Option(min=1, help="Conversations told.")] = 5,
    out: Annotated[Path | None, typer.Option(help="Write the rows as JSONL, to grade.")] = None,
) -> None:
    """Show which statements of ordinary conversations are ended or marked."""
    for line in retired.measure(file, form, conversations, out):
        print(line)


@app.command("llm")
def language_model(
    base_url: Annotated[
        str | None,
        typer.Option(help="An OpenAI-compatible endpoint [recorded answers are replayed]."),
    ] = None,
    model: Annotated[str, typer.Option(help="Model behind that endpoint.")] = "gpt-4o-mini",
    api_key: Annotated[str, typer.Option(envvar="OPENAI_API_KEY")] = "",
    requests: Annotated[
        Path | None,
        typer.Option(help="Directory for requests without an answer, and for their answers."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Extract from conversations by a language model, and count what it retires and keeps."""
    raise typer.Exit(measure_llm(base_url, model, api_key, requests, as_json=as_json))


@app.command()
def decay(
    plot: Annotated[
        Path | None, typer.Option(help="Write a plot to this file (.svg, .png).")
    ] = None,
    cap: Annotated[int, typer.Option(help="Largest number of facts of the user.")] = 1_500,
) -> None:
    """Simulate a year of decay: facts kept, faded and archived."""
    year = simulate(Fading(cap=cap))
    table = Table("category", "said", "kept", "kept of used", "of unused", "mean retention")
    for name, said, kept, used, unused, left in year.rows():
        table.add_row(name, str(said), str(kept), f"{used:.0%}", f"{unused:.0%}", f"{left:.2f}")
    show.out.print(table)
    if plot is not None:
        draw(year, plot)


@app.command()
def walk() -> None:
    """Count the rooms of the code that one message and one query pass through."""
    show.out.print(walk_table())


def _systems(names: str) -> list[SystemName]:
    asked = list(SYSTEMS) if names == "all" else [name.strip() for name in names.split(",")]
    for name in asked:
        if name not in SYSTEMS:
            raise InvalidInputError(
                f"unknown system {name!r}: `all` or some of {','.join(SYSTEMS)}"
            )
    return [cast("SystemName", name) for name in dict.fromkeys(asked)]


def _check_measure(name: str) -> None:
    try:
        parse_measure(name)
    except ValueError as error:
        raise InvalidInputError(str(error)) from None


if __name__ == "__main__":
    try:
        app()
    except SemanticMemoryError as error:
        sys.exit(show.fail(error))
