"""The documents are true of the code."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import semantic_memory
from semantic_memory.entrypoints.cli.commands import app
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import Settings
from tests.support.surface import command_names

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
# Without what needs a running service, which tests/service tries.
LIBRARY = re.sub(r"## As a service\n.*?(?=\n## )", "", README, flags=re.DOTALL)


def test_the_public_names_are_complete_and_sorted():
    assert semantic_memory.__all__ == sorted(semantic_memory.__all__)
    for name in semantic_memory.__all__:
        assert getattr(semantic_memory, name).__doc__


def test_the_readmes_examples_run(tmp_path):
    printed = ""
    for example in re.findall(r"```python\n(.*?)```", LIBRARY, re.DOTALL):
        done = subprocess.run(
            [sys.executable, "-c", example],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed += done.stdout
    assert "Berlin" in printed
    assert "<memory>" in printed


def test_the_readme_documents_every_command_and_call():
    for name in command_names(app):
        assert f"`{name}" in README, name
    for call in vars(SemanticMemory):
        if not call.startswith("_"):
            assert re.search(rf"`(memory\.)?{call}\b", README), call


def test_the_readmes_shell_commands_run(tmp_path):
    (block,) = [b for b in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) if "ingest" in b]
    for line in block.strip().splitlines():
        command = line.replace(
            "semantic-memory ", f"{sys.executable} -m semantic_memory.entrypoints.cli "
        )
        environment = {"SEMANTIC_MEMORY_DATA_DIR": str(tmp_path / "store"), **_environment()}
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_the_readmes_settings_are_settings(tmp_path, monkeypatch):
    assert "```ini" not in README
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        (tmp_path / "semantic_memory.toml").write_text(block, encoding="utf-8")
        held = Settings()
        for section, values in tomllib.loads(block).items():
            for name, value in values.items():
                assert getattr(getattr(held, section), name) == value, f"{section}.{name}"


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page}: {target}"


def _environment() -> dict[str, str]:
    import os

    return {key: value for key, value in os.environ.items() if key != "SEMANTIC_MEMORY_DATA_DIR"}
