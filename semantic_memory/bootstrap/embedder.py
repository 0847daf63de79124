"""The embedder that a ledger's vectors are of."""

from __future__ import annotations

import json
from dataclasses import asdict

from semantic_memory.domain.errors import EmbedderMismatchError
from semantic_memory.domain.ports import EmbedderIdentity, Ledger

_EMBEDDER = "embedder"  # key in the ledger's meta


def check_embedder(ledger: Ledger, identity: EmbedderIdentity) -> None:
    """Check that the vectors in the ledger are this embedder's; record it in a new ledger.

    Raises EmbedderMismatchError.
    """
    stored = ledger.meta(_EMBEDDER)
    if stored is None:
        record_embedder(ledger, identity)
    elif (known := EmbedderIdentity(**json.loads(stored))) != identity:
        raise EmbedderMismatchError(
            f"this store was embedded with {known}, the settings say {identity}: set the model"
            " back, or run `semantic-memory admin reembed` to embed every memory again"
        )


def record_embedder(ledger: Ledger, identity: EmbedderIdentity) -> int:
    """Record the ledger's embedder; return the number of memories to embed (again)."""
    return ledger.drop_vectors(_EMBEDDER, json.dumps(asdict(identity)))
