"""Importing the package, and asking the command line for help, loads nothing heavy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from semantic_memory import SemanticMemory
from semantic_memory.entrypoints.cli import app
from semantic_memory.testing import InMemoryIndex
from tests.support.surface import command_names

ROOT = Path(__file__).parents[2]
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
COMPILED = """
import re, sys
compile_source, compiled = re._compiler.compile, []
re._compiler.compile = lambda *given: compiled.append(given) or compile_source(*given)
from semantic_memory import SemanticMemory
SemanticMemory.open(sys.argv[1]).close()
print(len(compiled))
"""
SPELLED = """
import sys
from semantic_memory.domain.english import notation
spell, spelled = notation.spellings, []
notation.spellings = lambda phrase: spelled.append(phrase) or spell(phrase)
from semantic_memory import SemanticMemory
SemanticMemory.open(sys.argv[1]).close()
print(len(spelled))
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


def test_a_search_loads_only_what_it_needs(tmp_path):
    with SemanticMemory.open(tmp_path, index=InMemoryIndex()) as memory:
        memory.add("Likes tea", user_id="u1")
    loaded, printed = run(RUN, "search", "tea", "-u", "u1", "--data-dir", str(tmp_path))
    assert "Likes tea" in printed
    assert loaded.isdisjoint(
        ("apscheduler", "fastapi", "httpx", "mcp", "openai", "sentence_transformers", "torch")
    )


def test_opening_a_store_compiles_hardly_a_pattern(tmp_path):
    _, printed = run(COMPILED, str(tmp_path))
    assert int(printed) < 150  # of about 1,200


def test_opening_a_store_writes_out_hardly_a_phrase(tmp_path):
    _, printed = run(SPELLED, str(tmp_path))
    assert int(printed) < 4_000  # of about 50,000


def test_patterns_are_compiled_at_their_first_use():
    folders = ("semantic_memory", "ingest")
    eager = [
        f"{file}: {line}"
        for folder in folders
        for file in (ROOT / folder).rglob("*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if "re.compile(" in line and "re.compile(rb" not in line and file.name != "patterns.py"
    ]
    assert eager == [], "use semantic_memory.domain.patterns.regex"


def test_the_service_loads_neither_mcp_nor_models_until_they_are_asked_for():
    loaded, _ = run("import semantic_memory.entrypoints.api.server")
    assert loaded.isdisjoint(("chromadb", "httpx", "mcp", "onnxruntime", "openai", "torch"))


def test_the_server_of_an_agent_loads_no_parts_until_a_tool_is_called():
    loaded, _ = run("import semantic_memory.entrypoints.mcp.stdio")
    assert loaded.isdisjoint(
        ("ingest", "lemminflect", "numpy", "onnxruntime", "semantic_memory.bootstrap", "tokenizers")
    )
