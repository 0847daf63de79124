"""Show profiles, and write their fields by hand."""

from __future__ import annotations

from ingest.gate import Gate
from semantic_memory.application.expiring import lines_seen, unexpired_lines
from semantic_memory.domain.changes import Change, Retire, Write
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.ports import Clock, Ledger
from semantic_memory.domain.profile import PROFILE_FIELDS, Line, Overview, overview
from semantic_memory.domain.requests import (
    ProfileHistoryRequest,
    ProfileRequest,
    UpdateProfileRequest,
)
from semantic_memory.domain.retention import Expiry
from semantic_memory.domain.trust import Trust
from semantic_memory.domain.values import new_id
from semantic_memory.profile.rollup import Rollup


class Profiles:
    """Return users' profiles and histories, and replace fields of a profile. Thread-safe."""

    def __init__(
        self, ledger: Ledger, rollup: Rollup, gate: Gate, clock: Clock, expiry: Expiry
    ) -> None:
        self._ledger = ledger
        self._rollup = rollup
        self._gate = gate
        self._clock = clock
        self._expiry = expiry

    def get(self, asked: ProfileRequest) -> Overview:
        """Return a user's profile and history, now or as they stood at `as_of`."""
        lines = self._ledger.lines(asked.user_id, asked.as_of)
        if asked.agent_id is not None:
            lines = lines_seen(self._ledger, lines, asked.seen)
        return overview(unexpired_lines(self._ledger, lines, self._expiry.now))

    def update(self, asked: UpdateProfileRequest) -> Overview:
        """Write fields by hand; None returns one to the text derived from facts.

        Raises InvalidInputError for a text that reads like an instruction to a model.
        """
        now = self._clock.now()
        texts = {
            name: text if text is None else self._gate.cleared(text, name)
            for name, text in asked.fields.given().items()
        }
        for name, text in texts.items():
            if text is not None and self._gate.suspects([text], Trust.USER):
                raise InvalidInputError(f"{name} reads like an instruction to a model")
        cleared = {name for name, text in texts.items() if text is None}
        with self._ledger.exclusive(asked.user_id):
            changes: list[Change] = [
                Retire(line.id, now)
                for line in self._ledger.lines(asked.user_id)
                if line.layer in cleared
            ]
            changes += [
                Write(
                    Line(
                        id=new_id(),
                        user_id=asked.user_id,
                        layer=name,
                        text=text,
                        origin="user",
                        at=now,
                        valid_from=now,
                    )
                )
                for name in PROFILE_FIELDS
                if (text := texts.get(name)) is not None
            ]
            self._ledger.apply(changes)
        self._rollup.refresh(asked.user_id)
        return self.get(ProfileRequest.of(user_id=asked.user_id))

    def history(self, asked: ProfileHistoryRequest) -> list[Line]:
        """Return the texts that a field has had, in order."""
        lines = self._ledger.past_lines(asked.user_id, asked.field)
        return unexpired_lines(self._ledger, lines, self._expiry.now)
