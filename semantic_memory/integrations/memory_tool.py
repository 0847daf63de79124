"""Anthropic's memory tool over the items of a memory: files below /memories, of one user.

from semantic_memory.integrations.memory_tool import MemoryTool

tool = MemoryTool(memory, "maya")
reply = client.beta.messages.create(..., tools=[tool.definition])
result = tool.call(block.input)         # of a tool_use block named "memory"

A file is an item; directories are what paths have in common.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from semantic_memory.aio import AsyncSemanticMemory
from semantic_memory.client import Client
from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.refusals import explain
from semantic_memory.memory import SemanticMemory

ROOT = "/memories"
_NAMESPACE = ("anthropic", "memory")
_DEPTH = 2  # of a listing
_PAGE = 1_000
_SNIPPET = 4  # lines around an edit
_ESCAPED = regex(r"%(?:2e|2f|5c|00)", 2)  # ignoring case
_CONTROL = regex(r"[\x00-\x1f\x7f\\]")
_MOST_CHARACTERS = 1_024


class _Command(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class View(_Command):
    """Show a file with line numbers, or list a directory."""

    command: Literal["view"]
    path: str
    view_range: tuple[int, int] | None = None


class Create(_Command):
    """Create a file."""

    command: Literal["create"]
    path: str
    file_text: str


class StrReplace(_Command):
    """Replace a text that a file has once."""

    command: Literal["str_replace"]
    path: str
    old_str: str
    new_str: str = ""


class Insert(_Command):
    """Insert a text behind a line."""

    command: Literal["insert"]
    path: str
    insert_line: int
    insert_text: str


class Delete(_Command):
    """Delete a file, or a directory with all in it."""

    command: Literal["delete"]
    path: str


class Rename(_Command):
    """Rename a file or a directory."""

    command: Literal["rename"]
    old_path: str
    new_path: str


Command = Annotated[
    View | Create | StrReplace | Insert | Delete | Rename, Field(discriminator="command")
]
_COMMAND: TypeAdapter[Command] = TypeAdapter(Command)


class _Refused(Exception):  # noqa: N818 - its text is an answer to the model, not an error of ours
    """The answer to a command that can't be carried out."""


class MemoryTool:
    """The memory directory of one user, in which a model keeps files. Thread-safe."""

    definition: Mapping[str, str] = {"type": "memory_20250818", "name": "memory"}
    """The tool as Anthropic's Messages API takes it."""

    def __init__(self, memory: SemanticMemory | AsyncSemanticMemory | Client, user_id: str) -> None:
        blocking = memory.blocking if isinstance(memory, AsyncSemanticMemory) else memory
        self._items = blocking.items
        self._user_id = user_id

    def call(self, arguments: Mapping[str, Any]) -> str:
        """Carry out a command of the model; return the text that answers it.

        The model gets its mistakes as answers; the failures of a store are raised.
        """
        try:
            return self._done(_COMMAND.validate_python(dict(arguments)))
        except _Refused as refused:
            return str(refused)
        except ValidationError as error:
            return f"Error: {explain(error, Command)}"
        except InvalidInputError as error:
            return f"Error: {error}"

    async def acall(self, arguments: Mapping[str, Any]) -> str:
        """Do as `call`, on a thread."""
        return await asyncio.to_thread(self.call, arguments)

    def _done(self, command: Command) -> str:
        match command:
            case View():
                return self._view(_checked(command.path), command.view_range)
            case Create():
                return self._create(_file(command.path), command.file_text)
            case StrReplace():
                return self._replace(_file(command.path), command.old_str, command.new_str)
            case Insert():
                return self._insert(_file(command.path), command.insert_line, command.insert_text)
            case Delete():
                return self._delete(_file(command.path))
            case Rename():
                return self._rename(_file(command.old_path), _file(command.new_path))

    def _view(self, path: str, lines: tuple[int, int] | None) -> str:
        text = self._read(path)
        if text is not None:
            shown = _numbered(text, *_range(text, lines))
            return f"Here's the content of {path} with line numbers:\n{shown}"
        files = self._below(path)
        if not files and path != ROOT:
            raise _Refused(f"The path {path} does not exist. Please provide a valid path.")
        return (
            f"Here're the files and directories up to {_DEPTH} levels deep in {path}, excluding"
            " hidden items and node_modules:\n" + "\n".join(_listed(path, files))
        )

    def _create(self, path: str, text: str) -> str:
        self._refuse_taken(path, f"Error: File {path} already exists")
        self._write(path, text)
        return f"File created successfully at: {path}"

    def _replace(self, path: str, old: str, new: str) -> str:
        text = self._existing(path)
        places = [at for at in range(len(text)) if old and text.startswith(old, at)]
        if not places:
            raise _Refused(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            )
        if len(places) > 1:
            numbers = ", ".join(dict.fromkeys(str(text.count("\n", 0, at) + 1) for at in places))
            raise _Refused(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines:"
                f" {numbers}. Please ensure it is unique"
            )
        changed = text.replace(old, new)
        self._write(path, changed)
        line = text.count("\n", 0, places[0]) + 1
        last = line + new.count("\n") + _SNIPPET
        shown = _numbered(changed, max(1, line - _SNIPPET), last)
        return f"The memory file has been edited. Here's the result:\n{shown}"

    def _insert(self, path: str, line: int, text: str) -> str:
        lines = self._existing(path).split("\n")
        if not 0 <= line <= len(lines):
            raise _Refused(
                f"Error: Invalid `insert_line` parameter: {line}. It should be within the range of"
                f" lines of the file: [0, {len(lines)}]"
            )
        self._write(
            path, "\n".join([*lines[:line], *text.removesuffix("\n").split("\n"), *lines[line:]])
        )
        return f"The file {path} has been edited."

    def _delete(self, path: str) -> str:
        files = self._taken(path)
        if not files:
            raise _Refused(f"Error: The path {path} does not exist")
        for file in files:
            self._items.delete(_NAMESPACE, file, user_id=self._user_id)
        return f"Successfully deleted {path}"

    def _rename(self, old: str, new: str) -> str:
        files = self._taken(old)
        if not files:
            raise _Refused(f"Error: The path {old} does not exist")
        self._refuse_taken(new, f"Error: The destination {new} already exists")
        if new.startswith(f"{old}/"):
            raise _Refused(f"Error: {old} can't be moved into itself")
        for file, text in files.items():  # all are written before the first is deleted
            self._write(new + file.removeprefix(old), text)
        for file in files:
            self._items.delete(_NAMESPACE, file, user_id=self._user_id)
        return f"Successfully renamed {old} to {new}"

    def _read(self, path: str) -> str | None:
        try:
            found = self._items.get(_NAMESPACE, path, user_id=self._user_id)
        except NotFoundError:
            return None
        return str(found.value["text"])

    def _existing(self, path: str) -> str:
        text = self._read(path)
        if text is None:
            raise _Refused(f"Error: The path {path} does not exist. Please provide a valid path.")
        return text

    def _write(self, path: str, text: str) -> None:
        value = {"text": text}
        self._items.put(_NAMESPACE, path, value, user_id=self._user_id, index=["text"])

    def _refuse_taken(self, path: str, answer: str) -> None:
        """Refuse a path that exists, or that leads through a file."""
        above = path.split("/")
        parents = ["/".join(above[:depth]) for depth in range(3, len(above))]
        if self._taken(path):
            raise _Refused(answer)
        for parent in parents:
            if self._read(parent) is not None:
                raise _Refused(f"Error: {parent} is a file")

    def _taken(self, path: str) -> dict[str, str]:
        """Return the texts of the files at a path or below it."""
        text = self._read(path)
        return self._below(path) if text is None else {path: text}

    def _below(self, path: str) -> dict[str, str]:
        return {file: text for file, text in self._files() if file.startswith(f"{path}/")}

    def _files(self) -> Iterator[tuple[str, str]]:
        seen = 0
        while True:
            page = self._items.list(
                _NAMESPACE, user_id=self._user_id, limit=_PAGE, offset=seen, refresh=False
            )
            yield from ((item.key, str(item.value["text"])) for item in page)
            seen += len(page)
            if len(page) < _PAGE:
                return


def _checked(path: str) -> str:
    """Return a path below /memories, without a slash at its end."""
    steps = path.removesuffix("/").split("/")
    if (
        steps[:2] != ["", ROOT[1:]]
        or len(path) > _MOST_CHARACTERS
        or any(step.strip() in ("", ".", "..") for step in steps[1:])
        or _CONTROL.search(path)
        or _ESCAPED.search(path)
    ):
        raise _Refused(
            f"Error: The path {path[:200]!r} must be below {ROOT}, without `..`, backslashes,"
            " escapes and empty names"
        )
    return path.removesuffix("/")


def _file(path: str) -> str:
    found = _checked(path)
    if found == ROOT:
        raise _Refused(f"Error: {ROOT} itself can't be written, renamed or deleted")
    return found


def _range(text: str, lines: tuple[int, int] | None) -> tuple[int, int]:
    """Return the first and the last line to show; -1 is the last of the file."""
    last = text.count("\n") + 1
    if lines is None:
        return 1, last
    start, end = lines
    end = last if end == -1 else end
    if not 1 <= start <= end <= last:
        raise _Refused(
            f"Error: Invalid `view_range` parameter: {list(lines)}. It should be within the range"
            f" of lines of the file: [1, {last}]"
        )
    return start, end


def _numbered(text: str, first: int, last: int) -> str:
    lines = text.split("\n")[first - 1 : last]
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, start=first))


def _listed(path: str, files: Mapping[str, str]) -> Iterator[str]:
    """Yield a directory, and what is in it, with sizes."""
    sizes: dict[str, int] = {path: 0}
    for file, text in files.items():
        steps = file.removeprefix(f"{path}/").split("/")
        if any(step.startswith(".") or step == "node_modules" for step in steps):
            continue
        size = len(text.encode())
        sizes[path] += size
        for depth in range(1, min(len(steps), _DEPTH) + 1):
            place = "/".join((path, *steps[:depth]))
            sizes[place] = sizes.get(place, 0) + size
    for place, size in sorted(sizes.items()):
        yield f"{_human(size)}\t{place}"


def _human(size: int) -> str:
    return f"{size}B" if size < 1_024 else f"{size / 1_024:.1f}K"
