"""Options of single sessions, kept in the ledger."""

from __future__ import annotations

from semantic_memory.domain.messages import SessionKey, SessionOptions
from semantic_memory.domain.ports import Ledger

_DEFAULT = SessionOptions()


def read_options(ledger: Ledger, key: SessionKey) -> SessionOptions:
    """Return the options of a session."""
    stored = ledger.meta(_name(key))
    return SessionOptions.model_validate_json(stored) if stored else _DEFAULT


def write_options(ledger: Ledger, key: SessionKey, options: SessionOptions) -> None:
    """Set the options of a session."""
    ledger.set_meta(_name(key), options.model_dump_json())


def reset_options(ledger: Ledger, key: SessionKey) -> None:
    """Set the options of a session to the defaults."""
    if read_options(ledger, key) != _DEFAULT:
        ledger.set_meta(_name(key), "")


def _name(key: SessionKey) -> str:
    return f"options {key.user_id} {key.session_id}"  # no id holds a space
