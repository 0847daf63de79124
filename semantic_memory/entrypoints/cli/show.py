"""Output of the command line: JSON for programs, tables for people."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text

from semantic_memory.domain.errors import (
    ConfigurationError,
    InvalidInputError,
    NotFoundError,
    SemanticMemoryError,
)
from semantic_memory.domain.facts import Category, Cause, Fact, FactVersion, Status
from semantic_memory.domain.forget_requests import RequestToForget
from semantic_memory.domain.messages import Message, SessionInfo
from semantic_memory.domain.ports import Progress as Report
from semantic_memory.domain.profile import Overview
from semantic_memory.domain.prompts import PromptRecord
from semantic_memory.domain.recall import Hit
from semantic_memory.domain.reports import Finding, Forgotten, JobRun, Proof, Verified
from semantic_memory.domain.review import Retirement, Unconfirmed
from semantic_memory.domain.trust import Trust
from semantic_memory.entrypoints.cli.ids import shortened
from semantic_memory.entrypoints.cli.progress import Lines, bars, every_ten_seconds

if TYPE_CHECKING:
    from semantic_memory.application.migration import Migrated

# how options that are off are shown
_OFF = {"not extracted": "extract", "doesn't fade": "fades", "not compacted": "compact"}

out = Console()
err = Console(stderr=True)


def as_json(value: Any) -> None:
    """Print a record, or a list or dictionary of them, as one JSON document."""
    print(json.dumps(_plain(value), ensure_ascii=False, indent=2))


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def fail(error: SemanticMemoryError) -> int:
    """Print an error on standard error; return the exit code."""
    err.print(Text.assemble(("error: ", "bold red"), str(error)), soft_wrap=True)
    if isinstance(error, InvalidInputError | ConfigurationError):
        return 2
    return 3 if isinstance(error, NotFoundError) else 1


def facts(found: Sequence[Fact]) -> None:
    """Print memories, facts before what was said: short id, day, category and text.

    A trust below the user's own stands behind the category.
    """
    short = shortened(fact.id for fact in found)
    table = _grid()
    for fact in sorted(found, key=lambda one: one.category is Category.CONVERSATION):
        kind = fact.category.value
        kind = kind if fact.trust == Trust.USER else f"{kind}, {fact.trust.value}"
        table.add_row(_id(short[fact.id]), _day(fact.created_at), kind, _stated(fact))
    out.print(table if found else "no memories")


def _stated(fact: Fact) -> Text:
    """Return the text of a memory, with its speaker if it is a message, and with its doubts."""
    # A message needs its speaker beside it. A fact names its subject itself.
    verbatim = fact.category is Category.CONVERSATION
    speaker = f"{fact.source.speaker or fact.source.role}: " if verbatim else ""
    return Text.assemble(speaker, fact.text, *_doubts(fact))


def retirements(found: Sequence[Retirement]) -> None:
    """Print retired facts, each with what ended it and why."""
    entries = [
        (one.fact, f"ended {_minute(one.cause.at)} by ", one.newer, one.cause) for one in found
    ]
    _reviewed(entries, "nothing was retired")


def to_confirm(found: Sequence[Unconfirmed]) -> None:
    """Print facts that perhaps changed, and preferences of long ago."""
    entries = [(one.fact, "perhaps changed by ", one.newer, one.cause) for one in found]
    _reviewed(entries, "nothing to confirm")


def _reviewed(entries: Sequence[tuple[Fact, str, Fact | None, Cause | None]], none: str) -> None:
    """Print facts, each above the statement that changed it, and who decided so."""
    ids = [one.id for fact, _, newer, _ in entries for one in (fact, newer) if one is not None]
    short = shortened(ids)
    table = _grid()
    for fact, what, newer, cause in entries:
        table.add_row(_id(short[fact.id]), _day(fact.stated_at), Text(fact.text))
        if cause is None:
            table.add_row("", "", Text("not stated since", style="dim"))
            continue
        told = (newer.content if newer else "") or cause.quote or cause.newer or ""
        whose = f"{short[newer.id]} " if newer else ""
        sure = "" if cause.probability is None else f", {cause.probability:.2f}"
        by = f"\n{cause.reason} ({cause.decided_by}{sure})"
        table.add_row("", "", Text.assemble((what, "dim"), (whose, "cyan"), told, (by, "dim")))
    out.print(table if entries else none)


def _doubts(fact: Fact) -> Iterator[tuple[str, str]]:
    """Yield a line for the review of a fact, and for each statement that perhaps changed it."""
    if fact.review is not None:
        yield f"\n{fact.review}", "dim"
    for link in fact.perhaps_changed:
        quote = f": “{link.quote}”" if link.quote else ""
        newer = shortened([link.newer])[link.newer] if link.newer else "another"
        yield f"\nperhaps changed by {newer}{quote}", "dim"


def _minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"


def tombstones(found: Sequence[Fact]) -> None:
    """Print forgotten memories, and the number of them by reason."""
    short = shortened(fact.id for fact in found)
    table = _grid()
    reasons: Counter[str] = Counter()
    for fact in found:
        if (record := fact.tombstone) is None:
            continue
        reason = record.reason or "no reason given"
        pinned = ", was pinned" if record.was_pinned else ""
        states = "" if record.states == 1 else f", {record.states} states"
        told = f"forgotten {_minute(record.at)} by {record.by}: {reason}{pinned}{states}"
        table.add_row(_id(short[fact.id]), _day(fact.created_at), fact.category.value, Text(told))
        reasons[reason] += 1
    out.print(table if reasons else "nothing was forgotten")
    pairs(dict(reasons.most_common()))


def hits(found: Sequence[Hit]) -> None:
    """Print the hits, best first, each with the parts of its score."""
    short = shortened(hit.fact.id for hit in found)
    grid = Table.grid(padding=(0, 2, 1, 0))
    for hit in found:
        fact = hit.fact
        owner = f"  of {hit.space}" if hit.space else ""
        about = f"{short[fact.id]}  {fact.created_at:%Y-%m-%d}  {fact.category.value}"
        sure = f"{fact.confidence:.2f}  {fact.trust.value}{owner}"
        grid.add_row(
            Text(f"{hit.score:.3f}", style="bold"),
            Text.assemble(_stated(fact), (f"\n{about}  {sure}\n{why(hit)}", "dim")),
        )
    out.print(grid if found else "nothing found")


def why(hit: Hit) -> str:
    """Describe the parts of a score in one line."""
    parts = hit.parts
    reasons = (
        ("meaning ", parts.dense, True),
        ("words ", parts.lexical, True),
        ("context +", parts.context, False),
        ("speaker +", parts.speaker, False),
        ("own words +", parts.voice, False),
        ("time +", parts.time, False),
        ("a question -", parts.asks, False),
        ("no longer so -", parts.outdated, False),
        ("relevance ", parts.relevance, True),
        ("states what is asked +", parts.asked, False),
        ("newer +", parts.newer, False),
    )
    return ", ".join(f"{name}{part:.2f}" for name, part, always in reasons if part or always)


def sessions(found: Sequence[SessionInfo]) -> None:
    """Print sessions, each with its messages, times and options."""
    table = _grid()
    for info in found:
        facts = sum(info.by_category.values()) - info.messages
        counts = f"{info.messages:,} messages, {facts:,} facts, {info.log_bytes:,} bytes"
        times = f"{_minute(info.first_at)} to {_minute(info.last_at)}"
        lines = [counts, f"{times}, last used {_minute(info.last_accessed_at)}"]
        lines += [", ".join(options)] if (options := list(_options(info))) else []
        table.add_row(Text(info.session_id, style="bold"), Text("\n".join(lines)))
    out.print(table if found else "no sessions")


def _options(info: SessionInfo) -> Iterator[str]:
    """Yield the state and the options of a session, as far as they aren't the usual ones."""
    if info.closed_at is not None:
        yield f"closed {_minute(info.closed_at)}"
    if info.deleted:
        yield f"{info.deleted:,} deleted"
    if info.corrupt_lines:
        yield f"{info.corrupt_lines:,} corrupt"
    yield from (name for name, off in _OFF.items() if not getattr(info.options, off))
    for category, days in info.options.half_life_days.items():
        yield f"{category} {days:g} days"
    if info.options.floor is not None:
        yield f"floor {info.options.floor:g}"
    if info.options.language:
        yield info.options.language
    if info.options.verbosity != "normal":
        yield info.options.verbosity


def overview(found: Overview) -> None:
    """Print a profile and a history, each line with its date, without the empty fields."""
    grid = _grid()
    for name in type(found.profile).model_fields:
        told = getattr(found.profile, name)
        if told is not None:
            grid.add_row(_title(name), _day(told.updated_at), Text(told.text), _by(told.origin))
    for name in type(found.history).model_fields:
        for place, item in enumerate(getattr(found.history, name)):
            title = _title(name) if place == 0 else Text()
            grid.add_row(title, _day(item.at), Text(item.text), _by(item.origin))
    out.print(grid if grid.row_count else "nothing known yet")


def _title(name: str) -> Text:
    return Text(name.replace("_", " "), style="bold")


def _day(at: datetime) -> Text:
    return Text(f"{at:%Y-%m-%d}", style="dim")


def _by(origin: str) -> Text:
    return Text("" if origin == "derived" else f"by {origin}", style="dim")


def messages(found: Sequence[Message]) -> None:
    """Print messages in their order."""
    grid = _grid()
    for message in found:
        said = _minute(message.created_at) if message.created_at else ""
        grid.add_row(Text(said, style="dim"), Text(message.speaker, style="bold"), message.content)
    out.print(grid)


def runs(found: Sequence[JobRun]) -> None:
    """Print the changes that jobs made, or would make."""
    for run in found:
        if run.running:
            out.print(f"[bold]{run.job}[/] {_under_way(run)}")
            continue
        counts = ", ".join(f"{number:,} {kind}" for kind, number in run.counts.items())
        done = f"[red]{run.error}[/]" if run.error else counts or "nothing to do"
        out.print(f"[bold]{run.job}[/] {done} [dim]({run.users:,} users, {run.seconds:.1f} s)[/]")
        for line in run.planned:
            out.print(f"  would {line}", markup=False, highlight=False, soft_wrap=True)


def _under_way(run: JobRun) -> str:
    share = "" if not run.total else f" of {run.total:,} users, {100 * run.users // run.total} %"
    left = "" if run.seconds_left is None else f", about {run.seconds_left:,.0f} s left"
    return f"running: {run.users:,}{share}{left}"


def requests(found: Sequence[RequestToForget]) -> None:
    """Print requests to forget."""
    short = shortened(one.id for one in found)
    table = _grid()
    for one in found:
        subject = "(everything)" if one.scope == "everything" else one.subject
        about = Text(f"{_minute(one.asked_at)}  {one.state}", style="dim")
        table.add_row(
            _id(short[one.id]), about, Text.assemble(subject, (f"\nin {one.session_id}", "dim"))
        )
    out.print(table if found else "no requests to forget")


def audit(found: Sequence[PromptRecord]) -> None:
    """Print what entered prompts, each block above its memories."""
    short = shortened(one.id for block in found for one in block.memories)
    for block in found:
        where = f"session {block.session_id}" if block.session_id else "no session"
        whose = f", key {block.caller}" if block.caller else ""
        out.print(Text(f"{block.at:%Y-%m-%d %H:%M:%S}  {where}{whose}", style="bold"))
        table = _grid()
        for one in block.memories:
            score = "" if one.score is None else f"{one.score:.3f}"
            table.add_row("", _id(short[one.id]), one.reason, score)
        out.print(table)
    if not found:
        out.print("nothing entered a prompt")


def proof(found: Proof) -> None:
    """Print what was searched after a forgetting, and what was found."""
    out.print(
        f"searched {found.files:,} files, {found.bytes:,} bytes, for {found.texts:,} texts:"
        f" {'found in' if found.found else 'nothing found'}",
        soft_wrap=True,
    )
    for trace in found.found:
        words = f"words, perhaps of its format: {', '.join(trace.words)}" if trace.words else ""
        parts = [f"{trace.stretches:,} stretches of text" if trace.stretches else "", words]
        told = "; ".join(part for part in parts if part)
        out.print(f"  {trace.file}: {told}", markup=False, highlight=False, soft_wrap=True)

    if found.receipt is not None:
        out.print("receipt:", highlight=False)
        out.print(found.receipt.model_dump_json(), markup=False, highlight=False, soft_wrap=True)


def would_forget(found: Forgotten) -> None:
    """Print what a forgetting would delete, what it leaves, and why it would be refused."""
    facts(found.memories)
    for sentence in found.sentences:
        out.print(f"cut out of a message: {sentence}", markup=False)
    kept_in(found.kept_in)
    if found.warning:
        warn(f"{found.warning}: add --force to forget it nonetheless")


def kept_in(places: Sequence[str]) -> None:
    """Print the places of texts that hold what was forgotten, and stay."""
    for place in places:
        warn(f"written by hand, so not deleted: {place}")


def verified(found: Verified) -> None:
    """Print the outcome of verifying a receipt."""
    if not found.issued:
        out.print("not issued by this store, or modified since")
    elif found.back:
        out.print(f"genuine, but {len(found.back):,} memories are back: {', '.join(found.back)}")
    else:
        out.print("genuine, and everything it names is still forgotten")


def findings(found: Sequence[Finding]) -> None:
    """Print the outcome of checks, each problem with its remedy."""
    for finding in found:
        mark = "[green]ok  [/]" if finding.ok else "[red]FAIL[/]"
        out.print(f"{mark} {finding.check}: ", end="")
        out.print(finding.detail, markup=False, highlight=False, soft_wrap=True)
        if finding.remedy:
            out.print(f"     -> {finding.remedy}", markup=False, soft_wrap=True)


def migrated(outcomes: Sequence[Migrated]) -> None:
    """Print the outcome of migrating each store."""
    for one in outcomes:
        if one.error is not None:
            said = f"failed: {one.error}"
        elif one.before == one.after:
            said = f"has schema {one.after} already"
        else:
            said = f"schema {one.before} -> {one.after}"
        out.print(f"{one.directory}: {said}", highlight=False, markup=False, soft_wrap=True)


def number(done: str, of: int, *, json: bool) -> None:
    """Print the number of memories that something was done to."""
    as_json({done: of}) if json else out.print(f"{done} {of:,} memories")


def history(versions: Sequence[FactVersion]) -> None:
    """Print the states of a memory, each with what led to it and why."""
    table = _grid()
    for version in versions:
        fact = version.fact
        state = f"{fact.status.value}, {fact.confidence:.2f}"
        at = Text(f"{version.at:%Y-%m-%d %H:%M:%S}", style="dim")
        text = Text.assemble((f"{version.action}: {state}", "bold"), f"\n{fact.content}".rstrip())
        if told := _cause(version):
            text.append("\n").append(told)
        table.add_row(str(version.version), at, text)
    out.print(table)


def _cause(version: FactVersion) -> Text:
    """Describe why a fact came into a state, and what decided it where it ended."""
    cause = version.fact.ended_by
    if cause is None or version.fact.status is not Status.SUPERSEDED:
        return Text(version.reason)
    quote = f"\n“{cause.quote}”" if cause.quote else ""
    sure = "" if cause.probability is None else f", {cause.probability:.0%} sure"
    return Text.assemble(
        version.reason or cause.reason, (f"{quote}\ndecided by {cause.decided_by}{sure}", "dim")
    )


def pairs(values: dict[str, Any]) -> None:
    """Print a table of names and values."""
    table = _grid()
    for name, value in values.items():
        table.add_row(Text(name, style="dim"), Text(_worded(value)))
    out.print(table)


def _worded(value: Any) -> str:
    """Return a value as a person writes it; names and values of a record, one after the other."""
    match value:
        case bool() | None:
            return {True: "yes", False: "no", None: "none"}[value]
        case int():
            return f"{value:,}"
        case float():
            return f"{value:.2f}".rstrip("0").rstrip(".")
        case dict():
            return ", ".join(f"{name} {_worded(one)}" for name, one in value.items())
        case list() | tuple():
            return ", ".join(map(_worded, value))
    return str(value)


@contextmanager
def progress(quiet: bool) -> Iterator[Report]:
    """Show the progress of a long task on standard error, also without a terminal."""
    if quiet:
        yield lambda *_: None
    elif err.is_terminal:
        with bars(err) as report:
            yield report
    else:
        yield Lines(lambda line: err.print(line, markup=False, highlight=False, soft_wrap=True))


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Tell on standard error what a command waits for: at a terminal at once, else every 10 s."""
    if err.is_terminal:
        with err.status(what):
            yield
        return
    with every_ten_seconds(lambda seconds: warn(f"{what}: {seconds} s so far")):
        yield


def heading(title: str) -> None:
    """Print a heading between two parts of the output."""
    out.print()
    out.rule(Text(title, style="bold"), align="left")


def warn(message: str) -> None:
    """Print a note on standard error."""
    err.print(Text.assemble(("note: ", "yellow"), message), soft_wrap=True)


def _grid() -> Table:
    """Return an empty table without lines and heads."""
    return Table.grid(padding=(0, 2, 0, 0))


def _id(short: str) -> Text:
    return Text(short, style="cyan", no_wrap=True)
