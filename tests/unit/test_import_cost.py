"""Importing the package, and asking the command line for help, loads nothing heavy."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from semantic_memory.entrypoints.cli import app
from tests.support.surface import command_names

HEAVY = (
    "apscheduler",
    "chromadb",
    "cryptography",
    "dateparser",
    "detect_secrets",
    "fastapi",
    "httpx",
    "ijson",
    "ingest",
    "lemminflect",
    "mcp",
    "numpy",
    "onnxruntime",
    "openai",
    "prometheus_client",
    "pydantic_settings",
    "rich",
    "semantic_memory.bootstrap",
    "semantic_memory.settings",
    "sentencex",
    "sqlite3",
    "stamina",
    "tiktoken",
    "tokenizers",
    "torch",
    "typer.rich_utils",
)
MODELS = ("pydantic", "semantic_memory.domain.values", "semantic_memory.memory")
COMMANDS = command_names(app)
REPORT = """
import json, sys
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
RUN = """
import sys
from semantic_memory.entrypoints.cli import main
sys.argv[0] = "semantic-memory"
try:
    main()
except SystemExit:
    pass
"""
EVERY_HELP = """
import typer
from semantic_memory.entrypoints.cli import app
for name, command in typer.main.get_command(app).commands.items():
    command.main(["--help"], prog_name=name, standalone_mode=False)
"""


def run(program: str, *arguments: str, **environment: str) -> tuple[set[str], str]:
    """The modules that a program loads, and what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", program + REPORT, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=True,
    )
    return set(json.loads(done.stderr.splitlines()[-1])), done.stdout


def test_the_package_loads_nothing_until_a_name_is_used():
    loaded, _ = run("import semantic_memory")
    assert loaded.isdisjoint((*HEAVY, *MODELS))


@pytest.mark.parametrize("name", ["SemanticMemory", "AsyncSemanticMemory", "Fact", "Filters"])
def test_a_public_name_loads_models_and_no_parts(name: str):
    loaded, _ = run(f"from semantic_memory import {name}")
    assert "pydantic" in loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_load_no_models(option: str):
    loaded, printed = run(RUN, option)
    assert printed.strip()
    assert loaded.isdisjoint((*HEAVY, *MODELS))


def test_help_names_every_command():
    _, printed = run(RUN, "--help")
    for command in COMMANDS:
        assert f"\n  {command} " in printed, command


def test_help_of_every_command_loads_no_parts():
    loaded, printed = run(EVERY_HELP)
    assert "A question, or words to search for." in printed
    assert "Most memories to return." in printed
    assert loaded.isdisjoint((*HEAVY, "semantic_memory.memory"))


def test_completion_offers_every_command_and_loads_no_parts():
    loaded, printed = run(
        RUN,
        _SEMANTIC_MEMORY_COMPLETE="complete_bash",
        COMP_WORDS="semantic-memory ",
        COMP_CWORD="1",
    )
    assert set(printed.split()) >= COMMANDS
    assert loaded.isdisjoint((*HEAVY, "semantic_memory.memory"))


def test_wrong_options_are_refused_without_loading_parts():
    loaded, _ = run(RUN, "search", "tea", "--limitless")
    assert loaded.isdisjoint((*HEAVY, "semantic_memory.memory"))
