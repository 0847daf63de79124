"""Show profiles, and write their fields by hand."""

from __future__ import annotations

from semantic_memory.domain.changes import Change, Retire, Write
from semantic_memory.domain.ports import Clock, Ledger
from semantic_memory.domain.profile import PROFILE_FIELDS, Line, Overview, overview
from semantic_memory.domain.requests import (
    ProfileHistoryRequest,
    ProfileRequest,
    UpdateProfileRequest,
)
from semantic_memory.domain.values import new_id
from semantic_memory.profile.rollup import Rollup


class Profiles:
    """Return users' profiles and histories, and replace fields of a profile. Thread-safe."""

    def __init__(self, ledger: Ledger, rollup: Rollup, clock: Clock) -> None:
        self._ledger = ledger
        self._rollup = rollup
        self._clock = clock

    def get(self, asked: ProfileRequest) -> Overview:
        """Return a user's profile and history, now or as they stood at `as_of`."""
        return overview(self._ledger.lines(asked.user_id, asked.as_of))

    def update(self, asked: UpdateProfileRequest) -> Overview:
        """Write fields by hand; None returns one to the text derived from facts."""
        now = self._clock.now()
        texts = asked.fields.given()
        cleared = {name for name, text in texts.items() if text is None}
        with self._ledger.exclusive():
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
        return overview(self._ledger.lines(asked.user_id))

    def history(self, asked: ProfileHistoryRequest) -> list[Line]:
        """Return the texts that a field has had, in order."""
        return self._ledger.past_lines(asked.user_id, asked.field)
