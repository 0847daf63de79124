"""The public interface as plain values, without module paths and schema names."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_origin, get_type_hints

import typer

import semantic_memory
from semantic_memory.client import AsyncClient, Client
from semantic_memory.session.session import Session

_SILENT = {"$defs", "title", "description", "examples", "example", "summary", "tags"}


def library() -> dict[str, Any]:
    """Return the names of the package, and the signature of each public method."""
    return {
        "names": semantic_memory.__all__,
        "Session": _methods(Session),
        **{
            f"{face.__name__}{group}": _methods(kind)
            for face in FACES
            for group, kind in {"": face, **_dotted(groups(face))}.items()
        },
    }


FACES = (semantic_memory.SemanticMemory, semantic_memory.AsyncSemanticMemory, Client, AsyncClient)


def groups(face: type) -> dict[str, type]:
    """Return the groups of a face's methods, by name."""
    found = {
        name: get_type_hints(member.fget)["return"]
        for name, member in members(face).items()
        if isinstance(member, property) and member.fget is not None
    }
    return {name: get_origin(kind) or kind for name, kind in found.items()}


def members(kind: type) -> dict[str, Any]:
    """Return the public members of a class, those of its bases included."""
    return {
        name: member
        for base in reversed(kind.__mro__[:-1])
        for name, member in vars(base).items()
        if not name.startswith("_")
    }


def _dotted(found: Mapping[str, type]) -> dict[str, type]:
    return {f".{name}": kind for name, kind in found.items()}


def wire(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an OpenAPI document without prose: its routes, then its schemas by name.

    A schema names those that it uses, as some hold themselves.
    """
    routes = {
        f"{method.upper()} {path}": {
            "operation": operation["operationId"],
            "parameters": [_named(one) for one in operation.get("parameters", [])],
            "body": _named(operation.get("requestBody")),
            "answer": {
                status: _named(answer.get("content"))
                for status, answer in operation["responses"].items()
                if status.startswith("2")
            },
            "errors": sorted(s for s in operation["responses"] if not s.startswith("2")),
        }
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
    }
    schemas = schema["components"]["schemas"]
    return routes | {f"schema {name}": _named(schemas[name]) for name in sorted(schemas)}


def schema(document: Mapping[str, Any]) -> Any:
    """Return a JSON schema without names and prose."""
    return _inlined(document, document)


def command_names(app: typer.Typer) -> set[str]:
    """Return the names of the commands that are in no group."""
    return {
        one.name or getattr(one.callback, "__name__", "").replace("_", "-")
        for one in app.registered_commands
    }


def commands(app: typer.Typer) -> dict[str, list[str]]:
    """Return each command with its arguments and options."""
    return dict(_commands(typer.main.get_command(app), ""))


def _commands(group: Any, prefix: str) -> Iterator[tuple[str, list[str]]]:
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from _commands(command, f"{prefix}{name} ")
        else:
            yield (
                f"{prefix}{name}",
                [
                    " ".join(
                        [
                            *sorted(parameter.opts + parameter.secondary_opts),
                            *(["required"] if parameter.required else []),
                            *(["repeatable"] if parameter.multiple else []),
                            *([] if parameter.default is None else [repr(parameter.default)]),
                        ]
                    )
                    for parameter in command.params
                ],
            )


def _methods(kind: type) -> dict[str, str]:
    return {
        name: _signature(getattr(kind, name))
        for name, member in sorted(members(kind).items())
        if not isinstance(member, property)
    }


def _signature(verb: Callable[..., Any]) -> str:
    signature = inspect.signature(verb)
    parameters = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


def _is_field(value: Any) -> bool:
    """Return True if a key that is usually prose names a property here."""
    return isinstance(value, dict) and ("type" in value or "anyOf" in value or "$ref" in value)


def _named(part: Any) -> Any:
    """Return a part of a document without prose, with references as the names of schemas."""
    if isinstance(part, dict):
        if "$ref" in part:
            return {"schema": part["$ref"].rpartition("/")[2]}
        return {
            name: _named(value)
            for name, value in sorted(part.items())
            if name not in _SILENT or _is_field(value)
        }
    return [_named(value) for value in part] if isinstance(part, list) else part


def _inlined(part: Any, document: Mapping[str, Any], depth: int = 0) -> Any:
    if depth > 60:  # JSON values contain JSON values
        return "..."
    if isinstance(part, dict):
        if "$ref" in part:
            at: Any = document
            for step in part["$ref"].removeprefix("#/").split("/"):
                at = at[step]
            if re.search(r"Json", part["$ref"]):
                return "json"
            return _inlined(at, document, depth + 1)
        return {
            name: _inlined(value, document, depth + 1)
            for name, value in sorted(part.items())
            if name not in _SILENT or _is_field(value)
        }
    if isinstance(part, list):
        return [_inlined(value, document, depth + 1) for value in part]
    return part
