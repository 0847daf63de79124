"""Callers and what they may do, apart from the keys so that an agent's server starts quickly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from semantic_memory.domain.errors import AccessDeniedError
from semantic_memory.domain.fields import MOST_SPACES
from semantic_memory.entrypoints.rights import Right as Right

ANYONE = frozenset(Right)
"""Every right, for any sender of a request where no key is needed."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request, with users and rights."""

    name: str
    users: tuple[str, ...]
    rights: frozenset[Right]
    key: str | None = None
    """The name of the API key; None without one."""
    agent_id: str | None = None
    """The agent to which the key is limited; None for a key of all agents."""
    spaces: tuple[str, ...] = ()
    """Further users, such as a team, whose memory it may read and not change."""

    def covers(self, user_id: str, right: Right = Right.READ) -> bool:
        """Return True if `user_id` is one of the caller's users, or to read, one of its spaces."""
        own = _match(user_id, self.users)
        return own or (right is Right.READ and _match(user_id, self.spaces))

    def require(self, right: Right, user_id: str | None = None, *, scoped: bool = False) -> None:
        """Raise AccessDeniedError unless the caller has `right`, and covers the user if given.

        A caller limited to an agent is refused too, unless what follows is limited to it: `scoped`.
        """
        if right not in self.rights:
            raise AccessDeniedError(f"this key has no right to {right}")
        if user_id is not None and not self.covers(user_id, right):
            known = self.covers(user_id)
            said = "may only read that user's memory" if known else "doesn't cover that user"
            raise AccessDeniedError(f"this key {said}")
        if self.agent_id is not None and not scoped:
            raise self.limited()

    def require_all(self, owners: Iterable[str]) -> None:
        """Raise AccessDeniedError unless the caller may read the memory of each of `owners`.

        What follows limits itself to the caller's agent.
        """
        for owner in owners:
            self.require(Right.READ, owner, scoped=True)

    def beside(self, user_id: str) -> tuple[str, ...]:
        """Return the spaces that a call reads beside its user: as many as a call may have.

        None where the user is a space itself.
        """
        own = _match(user_id, self.users)
        spaces = dict.fromkeys(one for one in self.spaces if own and _is_one(one))
        spaces.pop(user_id, None)
        return tuple(spaces)[:MOST_SPACES]

    def narrowed(self, user_id: str | None, agent_id: str | None) -> Caller:
        """Return the caller limited to one of its users, and to an agent.

        Raises AccessDeniedError for a user that it doesn't cover, or for another agent than its
        own.
        """
        if user_id is not None and not self.covers(user_id):
            raise AccessDeniedError("this key doesn't cover that user")
        own = _match(user_id, self.users) if user_id is not None else False
        users = (user_id,) if user_id is not None and own else self.users
        return replace(self, users=users, agent_id=self.agent(agent_id))

    def governs(self, users: Iterable[str], spaces: Iterable[str] = ()) -> bool:
        """Return True if a key of these users and spaces reaches nothing beyond the caller."""
        readable = (*self.users, *self.spaces)
        return all(_within(one, self.users) for one in users) and all(
            _within(one, readable) for one in spaces
        )

    def reads(self, user_id: str | None) -> bool:
        """Return True if the caller may read for the user; None stands for every user."""
        covered = "*" in self.users if user_id is None else self.covers(user_id)
        return Right.READ in self.rights and covered

    def require_user(self, right: Right, user_id: str | None, *, scoped: bool = False) -> None:
        """Do as `require`, where None stands for every user."""
        self.require(right, user_id, scoped=scoped)
        if user_id is None and "*" not in self.users:
            raise AccessDeniedError("give a user_id: this key doesn't cover every user")

    def agent(self, named: str | None) -> str | None:
        """Return the agent of a call: the one it names, or the one to which the caller is limited.

        Raises AccessDeniedError for another one.
        """
        if self.agent_id is not None and named not in (None, self.agent_id):
            raise self.limited()
        return named if self.agent_id is None else self.agent_id

    def sees(self, agent_id: str | None) -> bool:
        """Return True if the caller may read what is of this agent, or of none."""
        return self.agent_id is None or agent_id in (None, self.agent_id)

    def limited(self) -> AccessDeniedError:
        """Return the error for what goes beyond the caller's agent."""
        return AccessDeniedError(
            f"this key is limited to agent {self.agent_id!r}, and this would go beyond its memories"
        )

    @property
    def only_user(self) -> str | None:
        """The caller's user, if there is exactly one."""
        if len(self.users) == 1 and _is_one(self.users[0]):
            return self.users[0]
        return None


def _is_one(pattern: str) -> bool:
    return not pattern.endswith("*")


def _match(user_id: str, patterns: tuple[str, ...]) -> bool:
    return any(
        user_id.startswith(pattern[:-1]) if pattern.endswith("*") else user_id == pattern
        for pattern in patterns
    )


def _within(pattern: str, patterns: tuple[str, ...]) -> bool:
    """Return True if each user that `pattern` matches is matched by one of `patterns`.

    >>> _within("team-*", ("te*",)), _within("team-*", ("team-a",)), _within("*", ("te*",))
    (True, False, False)
    """
    return pattern in patterns or any(
        wide.endswith("*") and pattern.removesuffix("*").startswith(wide[:-1]) for wide in patterns
    )
