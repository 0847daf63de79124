"""The ledger's records of sessions: their options, and when they were created and closed.

Sessions that fade otherwise than the settings say are also listed by user, so that a search finds
them in one read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pydantic import TypeAdapter

from semantic_memory.consolidation.fading import Fading
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.messages import SessionKey, SessionOptions, SessionState
from semantic_memory.domain.ports import KeyValues
from semantic_memory.domain.values import Value

_OPTIONS = SessionOptions()
_STATE = SessionState()
_BY_SESSION = TypeAdapter(dict[str, SessionOptions])


def read_options(ledger: KeyValues, key: SessionKey) -> SessionOptions:
    """Return the options of a session."""
    stored = ledger.meta(_name("options", key))
    return SessionOptions.model_validate_json(stored) if stored else _OPTIONS


def write_options(ledger: KeyValues, key: SessionKey, options: SessionOptions) -> None:
    """Set the options of a session. Ask with the ledger held exclusively."""
    ledger.set_meta(_name("options", key), options.model_dump_json())
    fading = fading_of(ledger, key.user_id)
    own = SessionOptions(half_life_days=options.half_life_days, floor=options.floor)
    if fading.get(key.session_id, _OPTIONS) != own:
        fading.pop(key.session_id, None)
        if own != _OPTIONS:
            fading[key.session_id] = own
        stored = _BY_SESSION.dump_json(fading, exclude_defaults=True).decode() if fading else ""
        ledger.set_meta(_fading(key.user_id), stored)


def read_state(ledger: KeyValues, key: SessionKey) -> SessionState:
    """Return when a session was created and closed, if that has been recorded."""
    stored = ledger.meta(_name("session", key))
    return SessionState.model_validate_json(stored) if stored else _STATE


def write_state(ledger: KeyValues, key: SessionKey, state: SessionState) -> None:
    """Record when a session was created and closed."""
    ledger.set_meta(_name("session", key), state.model_dump_json())


class StandInMark(Value):
    """Messages of a session that rules read in a model's place, by their positions in the log."""

    start: int
    end: int | None = None
    """Position behind them, once the model is back and reads them again; None before."""


def read_stand_in(ledger: KeyValues, key: SessionKey) -> StandInMark | None:
    """Return what rules read of a session in a model's place; None for nothing."""
    stored = ledger.meta(_name("stand-in", key))
    return StandInMark.model_validate_json(stored) if stored else None


def write_stand_in(ledger: KeyValues, key: SessionKey, mark: StandInMark | None) -> None:
    """Record it. Ask with the ledger held exclusively."""
    ledger.set_meta(_name("stand-in", key), mark.model_dump_json() if mark else "")


def stand_ins(ledger: KeyValues) -> list[tuple[SessionKey, StandInMark]]:
    """Return every session of which rules read something in a model's place."""
    return [
        (SessionKey(*name.split(" ")[1:]), StandInMark.model_validate_json(stored))
        for name, stored in ledger.metas("stand-in ").items()
        if stored
    ]


def reset(ledger: KeyValues, key: SessionKey) -> None:
    """Return a session to the default options and state. Ask with the ledger held exclusively."""
    if read_options(ledger, key) != _OPTIONS:
        write_options(ledger, key, _OPTIONS)
        ledger.set_meta(_name("options", key), "")
    if read_stand_in(ledger, key) is not None:
        write_stand_in(ledger, key, None)
    if read_state(ledger, key) != _STATE:
        ledger.set_meta(_name("session", key), "")


def fading_of(ledger: KeyValues, user_id: str) -> dict[str, SessionOptions]:
    """Return the half-lives and floors of a user's sessions that have their own."""
    stored = ledger.meta(_fading(user_id))
    return _BY_SESSION.validate_json(stored) if stored else {}


def own_rules(rules: Fading, fact: Fact, fading: Mapping[str, SessionOptions]) -> Fading:
    """Return the rules of fading for a fact, with the half-lives and the floor of its session."""
    own = fading.get(fact.source.session_id or "")
    if own is None:
        return rules
    floor = rules.curve.floor if own.floor is None else own.floor
    return replace(
        rules,
        half_life_days={**rules.half_life_days, **own.half_life_days},
        curve=replace(rules.curve, floor=floor),
    )


def _name(kind: str, key: SessionKey) -> str:
    return f"{kind} {key.user_id} {key.session_id}"  # no id holds a space


def _fading(user_id: str) -> str:
    return f"fading {user_id}"
