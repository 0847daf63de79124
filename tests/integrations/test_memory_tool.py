"""Anthropic's memory tool: its commands, answers and paths."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from semantic_memory import SemanticMemory
from semantic_memory.client import Client
from semantic_memory.integrations.memory_tool import MemoryTool
from tests.service.conftest import Served, serve, service

__all__ = ["serve", "service"]  # fixtures

NOTES = "/memories/notes.md"


@pytest.fixture
def tool(memory: SemanticMemory) -> MemoryTool:
    return MemoryTool(memory, "maya")


def create(tool: MemoryTool, path: str = NOTES, text: str = "one\ntwo\nthree") -> str:
    return tool.call({"command": "create", "path": path, "file_text": text})


def view(tool: MemoryTool, path: str = NOTES, **rest: Any) -> str:
    return tool.call({"command": "view", "path": path, **rest})


def test_a_file_is_created_and_viewed_with_line_numbers(tool: MemoryTool) -> None:
    assert create(tool) == f"File created successfully at: {NOTES}"
    head = f"Here's the content of {NOTES} with line numbers:\n"
    assert view(tool) == f"{head}     1\tone\n     2\ttwo\n     3\tthree"
    assert view(tool, view_range=[2, -1]) == f"{head}     2\ttwo\n     3\tthree"
    assert view(tool, view_range=[2, 9]).startswith("Error: Invalid `view_range`")
    assert create(tool) == f"Error: File {NOTES} already exists"
    assert create(tool, f"{NOTES}/x") == f"Error: {NOTES} is a file"


def test_a_directory_lists_two_levels_with_sizes(tool: MemoryTool) -> None:
    head = (
        "Here're the files and directories up to 2 levels deep in {}, excluding hidden items"
        " and node_modules:\n"
    )
    assert view(tool, "/memories") == head.format("/memories") + "0B\t/memories"
    for path in ("a.md", "d/b.md", "d/e/deep.md", ".hidden", "node_modules/x", "d/.git/x"):
        create(tool, f"/memories/{path}", "x" * 1_024)
    assert view(tool, "/memories/") == head.format("/memories") + "\n".join(
        (
            "3.0K\t/memories",
            "1.0K\t/memories/a.md",
            "2.0K\t/memories/d",
            "1.0K\t/memories/d/b.md",
            "1.0K\t/memories/d/e",
        )
    )
    assert "1.0K\t/memories/d/e/deep.md" in view(tool, "/memories/d")
    missing = "The path /memories/x does not exist. Please provide a valid path."
    assert view(tool, "/memories/x") == missing


def test_a_text_is_replaced_where_it_is_unique(tool: MemoryTool) -> None:
    create(tool, text="a cat\na dog\nthe end")
    edit = {"command": "str_replace", "path": NOTES}
    done = tool.call({**edit, "old_str": "dog", "new_str": "fox\nand a hen"})
    assert done.startswith("The memory file has been edited.")
    assert "     3\tand a hen" in done
    assert tool.call({**edit, "old_str": "cow", "new_str": "x"}) == (
        f"No replacement was performed, old_str `cow` did not appear verbatim in {NOTES}."
    )
    assert tool.call({**edit, "old_str": "a ", "new_str": "x"}) == (
        "No replacement was performed. Multiple occurrences of old_str `a ` in lines: 1, 2, 3."
        " Please ensure it is unique"
    )
    assert "does not exist" in tool.call({**edit, "path": "/memories/x", "old_str": "a"})
    assert tool.call({**edit, "old_str": "", "new_str": "x"}).startswith("No replacement")


@pytest.mark.parametrize(
    ("line", "text", "after"),
    [(0, "zero\n", "zero|one|two"), (1, "1.5", "one|1.5|two"), (2, "a\nb\n", "one|two|a|b")],
)
def test_a_text_is_inserted_behind_a_line(
    tool: MemoryTool, memory: SemanticMemory, line: int, text: str, after: str
) -> None:
    create(tool, text="one\ntwo")
    command = {"command": "insert", "path": NOTES, "insert_line": line, "insert_text": text}
    assert tool.call(command) == f"The file {NOTES} has been edited."
    (item,) = memory.items.list(user_id="maya")
    assert item.value["text"] == after.replace("|", "\n")
    assert tool.call({**command, "insert_line": 99}).startswith(
        "Error: Invalid `insert_line` parameter: 99. It should be within the range of lines of the"
        " file: [0, "
    )


def test_files_and_directories_are_deleted_and_renamed(tool: MemoryTool) -> None:
    for path in ("d/a.md", "d/e/b.md", "da.md"):
        create(tool, f"/memories/{path}", path)
    rename = {"command": "rename", "old_path": "/memories/d", "new_path": "/memories/new"}
    taken = {**rename, "new_path": "/memories/da.md"}
    assert tool.call(taken) == "Error: The destination /memories/da.md already exists"
    inside = tool.call({**rename, "new_path": "/memories/d/x"})
    assert inside == "Error: /memories/d can't be moved into itself"
    assert tool.call(rename) == "Successfully renamed /memories/d to /memories/new"
    assert tool.call(rename) == "Error: The path /memories/d does not exist"
    assert "d/e/b.md" in view(tool, "/memories/new/e/b.md")
    gone = {"command": "delete", "path": "/memories/new"}
    assert tool.call(gone) == "Successfully deleted /memories/new"
    assert tool.call(gone) == "Error: The path /memories/new does not exist"
    assert view(tool, "/memories/da.md").endswith("da.md")


PATHS = [
    "/etc/passwd",
    "/memoriesX/a",
    "memories/a",
    "",
    "/",
    "/memories/../secrets",
    "/memories/a/../../b",
    "/memories/..",
    "/memories/. /a",
    "/memories/.. /a",
    "/memories//a",
    "/memories/a//",
    "/memories/..\\a",
    "/memories\\a",
    "/memories/%2e%2e%2fa",
    "/memories/%2E./a",
    "/memories/a%2Fb",
    "/memories/a%5cb",
    "/memories/a%00",
    "/memories/a\x00b",
    "/memories/a\nb",
    "/memories/" + "a" * 2_000,
]


@pytest.mark.parametrize("path", PATHS)
def test_paths_outside_of_the_directory_are_refused(
    tool: MemoryTool, memory: SemanticMemory, path: str
) -> None:
    create(tool)
    commands: list[dict[str, Any]] = [
        {"command": "view", "path": path},
        {"command": "create", "path": path, "file_text": "x"},
        {"command": "str_replace", "path": path, "old_str": "one", "new_str": "x"},
        {"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"},
        {"command": "delete", "path": path},
        {"command": "rename", "old_path": path, "new_path": "/memories/x"},
        {"command": "rename", "old_path": NOTES, "new_path": path},
    ]
    for command in commands:
        assert tool.call(command).startswith("Error: The path"), command
    (item,) = memory.items.list(user_id="maya")
    assert (item.key, item.value) == (NOTES, {"text": "one\ntwo\nthree"})


def test_the_root_is_only_viewed(tool: MemoryTool) -> None:
    create(tool)
    for command in (
        {"command": "delete", "path": "/memories"},
        {"command": "delete", "path": "/memories/"},
    ):
        assert tool.call(command).startswith("Error: /memories itself")
    assert "notes.md" in view(tool, "/memories")


WRONG: list[dict[str, Any]] = [
    {},
    {"command": "format"},
    {"command": "create", "path": NOTES},
    {"command": "create", "path": NOTES, "file_text": "x", "user_id": "kim"},
    {"command": "create", "path": NOTES, "file_text": "x" * 1_000_001},
    {"command": "create", "path": NOTES, "file_text": "\ud800"},
    {"command": "view", "path": 3},
]


@pytest.mark.parametrize("arguments", WRONG)
def test_wrong_arguments_are_told_the_model(
    tool: MemoryTool, memory: SemanticMemory, arguments: dict[str, Any]
) -> None:
    assert tool.call(arguments).startswith("Error: ")
    assert memory.admin.users() == []


def test_files_belong_to_their_user_and_go_with_it(
    memory: SemanticMemory, tool: MemoryTool
) -> None:
    create(tool, text="about the volcano")
    assert "does not exist" in view(MemoryTool(memory, "kim"))
    hits = memory.items.search("volcano", user_id="maya")
    assert [hit.item.key for hit in hits] == [NOTES]
    assert memory.forget(user_id="maya", everything=True).items == 1
    assert "does not exist" in view(tool)


def test_it_works_over_a_client_and_without_blocking(service: Served) -> None:
    with Client(service.url) as client:
        tool = MemoryTool(client, "maya")
        create(tool, "/memories/a b/ü.md")
        shown = asyncio.run(tool.acall({"command": "view", "path": "/memories/a b/ü.md"}))
        assert shown.endswith("     3\tthree")
        assert tool.definition == {"type": "memory_20250818", "name": "memory"}
