"""The reference of settings is complete and level with the code."""

from pathlib import Path

from semantic_memory.entrypoints.cli.reference import every_setting, reference
from semantic_memory.settings import Settings, explained, load
from tests.support.command_line import in_process

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"


def rows() -> dict[str, list[str]]:
    """Return the cells of each row of the reference, by the setting's name."""
    lines = [line.strip("| ").split(" | ") for line in reference().split("\n") if "| `" in line]
    return {cells[0].strip("`"): cells for cells in lines}


def test_the_page_is_what_the_command_prints():
    printed = in_process("config", "--reference").stdout
    assert PAGE.read_text(encoding="utf-8") == printed, (
        f"out of date: semantic-memory config --reference > {PAGE}"
    )


def test_every_setting_has_a_row_with_a_meaning():
    names = {setting.name for setting in every_setting()}
    shown = {row.name for row in explained()}
    assert {
        name
        for name in shown
        if not any(f"{name}.".startswith(f"{n}.") or n.startswith(f"{name}.") for n in names)
    } == set()
    assert rows().keys() == names
    assert [name for name, cells in rows().items() if not cells[4:5]] == []


def test_environment_variables_in_the_reference_are_read(monkeypatch):
    monkeypatch.setenv(rows()["upkeep.cap"][1].strip("`"), "7")
    monkeypatch.setenv(rows()["lock_seconds"][1].strip("`"), "3")
    settings = load()
    assert (settings.upkeep.cap, settings.lock_seconds) == (7, 3.0)


def test_values_and_defaults_are_those_of_the_types():
    assert rows()["context.candidates"][2:4] == ["whole number, 1 to 1000", "`100`"]
    assert rows()["encryption.key"][2:4] == ["secret, or none", ""]
    assert rows()["service.cors_origins"][2:4] == ["list of text", "`[]`"]
    assert rows()["half_life_days"][2:4] == ["table of number by category", "`{}`"]
    assert rows()["window.trigger"][2] == "number, above 0, up to 1"
    assert str(Settings().data_dir) not in reference()
