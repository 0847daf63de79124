"""The documents are true of the code."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

import semantic_memory
from semantic_memory.entrypoints.cli import app
from semantic_memory.settings import Settings
from tests.support import pages

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = pages.pages()
WITH_CODE = [page for page in PAGES if any(pages.blocks(page))]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_the_public_names_are_complete_and_sorted():
    assert semantic_memory.__all__ == sorted(semantic_memory.__all__)
    for one in semantic_memory.__all__:
        assert getattr(semantic_memory, one).__doc__


@pytest.mark.parametrize("page", WITH_CODE, ids=name)
def test_the_code_of_a_page_runs_and_prints_what_it_says(page, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.pages", str(page), str(tmp_path)],
        cwd=ROOT,
        env={**_environment(), "SEMANTIC_MEMORY_DATA_DIR": str(tmp_path / "store")},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == pages.NOT_INSTALLED:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr


def test_every_python_block_is_run_or_needs_a_service():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        run = sum(block.is_shown for block in pages.blocks(page))
        served = text.count("<!-- service -->")
        assert len(re.findall(r"^\s*```(?:python|py)\b", text, re.MULTILINE)) == run + served, page


def test_a_page_that_prints_something_else_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint('2026-01-01 tea')\n```\n\n```text\n2025-05-05 coffee\n```\n")
    with pytest.raises(AssertionError, match="line 2 prints"):
        pages.run(page)
    page.write_text("```python\nprint('2026-01-01 tea')\n```\n\n```text\n2025-05-05 tea\n```\n")
    pages.run(page)


def test_the_readme_fits_on_a_screen_and_a_half():
    assert README.count("\n") <= 130


def test_the_settings_on_the_pages_are_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for page in PAGES:
        if page.parent.name == "models":  # tests/unit/test_model_recipes.py
            continue
        text = page.read_text(encoding="utf-8")
        assert _settings_in_ini(text) == [], page
        for block in re.findall(r"```toml\n(.*?)```", text, re.DOTALL):
            (tmp_path / "semantic_memory.toml").write_text(block, encoding="utf-8")
            held = Settings()
            for section, values in tomllib.loads(block).items():
                if isinstance(values, dict) and section != "llm":
                    for key in values:
                        assert hasattr(getattr(held, section), key), f"{page}: {section}.{key}"


def test_settings_in_blocks_of_ini_are_found():
    other = "```ini\narchive_mode = on\n[Unit]\n```\n"
    assert _settings_in_ini(other) == []
    indented = "  ```ini\n  data_dir = /srv\n  ```\n"
    assert _settings_in_ini(f"{other}\n{indented}") == ["data_dir"]
    assert _settings_in_ini("```ini\n[ index ]\nbatch = 3\n```") == ["index"]
    assert _settings_in_ini("```ini\nstore.url=x\n```") == ["store"]


def _settings_in_ini(text: str) -> list[str]:
    """Return the settings and sections of settings in `ini` blocks, which no check reads."""
    blocks = re.findall(r"```ini\n(.*?)```", text, re.DOTALL)
    names = re.findall(r"^\s*(?:\[\s*)?(\w+).*?[=\]]", "\n".join(blocks), re.MULTILINE)
    return [one for one in names if one in Settings.model_fields]


def test_the_commands_on_the_pages_exist_with_their_options():
    wrong = []
    for page in PAGES:
        if page.parent.name not in ("decisions", "research"):
            text = page.read_text(encoding="utf-8")
            wrong += [f"{name(page)}: {fault}" for fault in map(_fault, _commands(text)) if fault]
    assert wrong == []


def test_a_command_or_an_option_that_is_not_there_is_found():
    calls = _commands("```sh\nsemantic-memory doctor\n$ semantic-memory search tea --nope\n```")
    assert [_fault(call) for call in calls] == [
        "no command doctor",
        "no option --nope of search tea --nope",
    ]


def _commands(text: str) -> list[list[str]]:
    """Return the calls of `semantic-memory` in shell blocks and in code within a line."""
    lines = [
        line
        for block in re.findall(r"```(?:sh|console)?\n(.*?)```", text, re.DOTALL)
        for line in block.replace("\\\n", " ").splitlines()
    ]
    lines += re.findall(
        r"`(semantic-memory [^`]*)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    )
    found = []
    for line in lines:
        called = re.match(
            r"(?:\$ )?semantic-memory\s+(.*?)(?:\s[|>].*|\s+#.*)?$", " ".join(line.split())
        )
        if called:
            found.append(shlex.split(called[1]))
    return found


def _fault(words: list[str]) -> str | None:
    """Say what no command, or option of it, is."""
    command = typer.main.get_command(app)
    rest = list(words)
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        known = command.commands
        if rest[0] not in known:
            return f"no command {' '.join(words)}"
        command = known[rest.pop(0)]
    options = {
        one for parameter in command.params for one in (*parameter.opts, *parameter.secondary_opts)
    }
    for word in rest:
        given = word.partition("=")[0]
        if re.match(r"--?[a-z]", given) and given not in options | {"--help", "--version"}:
            return f"no option {given} of {' '.join(words)}"
    return None


def test_the_generated_pages_are_up_to_date():
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"],
        env={**_environment(), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stderr}: make reference"


def test_links_lead_somewhere():
    for page in [*PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page}: {target}"


def test_every_page_is_in_the_navigation():
    listed = set(re.findall(r": ([\w./-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    found = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert listed == {page for page in found if not page.startswith("decisions/")}


def _environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key != "SEMANTIC_MEMORY_DATA_DIR"}
