"""Rights of API keys and of agents, kept apart so that the command line loads quickly."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, get_args


class Right(StrEnum):
    """A right of a key's holder; none includes another."""

    READ = "read"
    """See the memories of the key's users."""
    WRITE = "write"
    """Add to, change and delete them."""
    ADMIN = "admin"
    """Run maintenance, and see counts of the whole store."""


Toolset = Literal["five", "all"]
"""The five tools that every agent has, or these and all others."""
TOOLSETS: tuple[Toolset, ...] = get_args(Toolset)
