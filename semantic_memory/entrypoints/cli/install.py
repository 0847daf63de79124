"""Commands that install plugins of coding agents: install, uninstall."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from semantic_memory.entrypoints.cli import work
from semantic_memory.entrypoints.cli.commands import app
from semantic_memory.entrypoints.cli.options import DataDir, User

if TYPE_CHECKING:
    from semantic_memory.application.plugins import Change

Agent = Annotated[str, typer.Argument(help="claude-code, codex, cursor or gemini.")]
Home = Annotated[
    Optional[Path], typer.Option(help="Directory of the agent's files; yours if left out.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would change, and write nothing.")
]


@app.command()
def install(
    agent: Agent,
    user: User,
    dry_run: DryRun = False,
    home: Home = None,
    data_dir: DataDir = None,
) -> None:
    """Install the plugin of a coding agent: its tools, and hooks that recall and observe.

    What is learned in a repository stays in it; what is added elsewhere is shared by all.
    """
    plugins, directory = work.plugins, work.settings.located(data_dir, None).data_dir
    launch = plugins.Launch(sys.executable, user, directory.expanduser().resolve())
    _carry_out(plugins.changes(agent, home or Path.home(), launch), dry_run=dry_run)
    if not dry_run:
        work.show.out.print(f"restart {agent} to use it; `uninstall {agent}` removes it")


@app.command()
def uninstall(agent: Agent, dry_run: DryRun = False, home: Home = None) -> None:
    """Remove the plugin of a coding agent. The memory stays."""
    _carry_out(work.plugins.changes(agent, home or Path.home(), None), dry_run=dry_run)


def _carry_out(changes: list[Change], *, dry_run: bool) -> None:
    """Show the changes, and write them unless `dry_run`."""
    for one in changes:
        before, after = (one.before or "").splitlines(), (one.after or "").splitlines()
        for line in difflib.unified_diff(before, after, str(one.file), str(one.file), lineterm=""):
            print(line)
        if not dry_run:
            one.file.parent.mkdir(parents=True, exist_ok=True)
            new = one.file.with_name(f"{one.file.name}.new")
            new.write_text(one.after or "", encoding="utf-8")
            if one.file.exists():
                new.chmod(one.file.stat().st_mode)
            new.replace(one.file.resolve())
    if not changes:
        work.show.out.print("nothing to change")
