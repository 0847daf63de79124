"""The modules that commands work with, each loaded at its first use.

`semantic-memory --help` and the parsing of options load none of them, nor pydantic, rich or numpy.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semantic_memory import settings
    from semantic_memory.application import (
        encrypting,
        hooks,
        importing,
        keyring,
        migration,
        plugins,
        private_files,
    )
    from semantic_memory.bootstrap import moving
    from semantic_memory.domain import requests
    from semantic_memory.entrypoints import state
    from semantic_memory.entrypoints.cli import ids, listing, reference, show, store

__all__ = [
    "encrypting",
    "hooks",
    "ids",
    "importing",
    "keyring",
    "listing",
    "migration",
    "moving",
    "plugins",
    "private_files",
    "reference",
    "requests",
    "settings",
    "show",
    "state",
    "store",
]

_MODULES = {
    "encrypting": "semantic_memory.application.encrypting",
    "hooks": "semantic_memory.application.hooks",
    "ids": "semantic_memory.entrypoints.cli.ids",
    "importing": "semantic_memory.application.importing",
    "keyring": "semantic_memory.application.keyring",
    "listing": "semantic_memory.entrypoints.cli.listing",
    "migration": "semantic_memory.application.migration",
    "moving": "semantic_memory.bootstrap.moving",
    "plugins": "semantic_memory.application.plugins",
    "private_files": "semantic_memory.application.private_files",
    "reference": "semantic_memory.entrypoints.cli.reference",
    "requests": "semantic_memory.domain.requests",
    "settings": "semantic_memory.settings",
    "show": "semantic_memory.entrypoints.cli.show",
    "state": "semantic_memory.entrypoints.state",
    "store": "semantic_memory.entrypoints.cli.store",
}


def __getattr__(name: str) -> ModuleType:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(_MODULES[name])
