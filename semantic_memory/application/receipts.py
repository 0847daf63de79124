"""Issue receipts of forgetting, and verify them: what was forgotten, when, where it was searched.

A receipt holds no text. Its digest is an HMAC by a key that never leaves the store, so that nobody
can guess texts from it or change it unnoticed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections import Counter
from collections.abc import Iterable

from semantic_memory.domain.ports import Clock, Ledger
from semantic_memory.domain.reports import ForgetReceipt, Verified
from semantic_memory.domain.requests import VerifyRequest

_KEY = "receipt key"
_BATCH = 500


class Receipts:
    """Issue and verify receipts. Thread-safe."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock

    def issue(
        self,
        user_id: str,
        gone: Iterable[str],
        cut: Iterable[str],
        files: Iterable[str],
        texts: int,
    ) -> ForgetReceipt:
        """Return the receipt of a forgetting, whose `files` were searched for its `texts`."""
        places = Counter(name.partition("/")[0] for name in files)
        open_receipt = ForgetReceipt(
            user_id=user_id,
            at=self._clock.now(),
            forgotten=tuple(sorted(gone)),
            cut=tuple(sorted(cut)),
            texts=texts,
            searched=dict(sorted(places.items())),
            digest="",
        )
        return open_receipt.model_copy(update={"digest": self._digest(open_receipt)})

    def verify(self, asked: VerifyRequest) -> Verified:
        """Return whether this store issued a receipt, and whether what it names is still gone."""
        receipt = asked.receipt
        issued = hmac.compare_digest(self._digest(receipt), receipt.digest)
        back = []
        for start in range(0, len(receipt.forgotten), _BATCH):
            ids = receipt.forgotten[start : start + _BATCH]
            back += [fact.id for fact in self._ledger.get(ids, receipt.user_id)]
        return Verified(issued=issued, back=tuple(back))

    def _digest(self, receipt: ForgetReceipt) -> str:
        stated = receipt.model_dump(mode="json", exclude={"digest"})
        plain = json.dumps(stated, sort_keys=True, separators=(",", ":")).encode()
        return hmac.new(self._key(), plain, hashlib.sha256).hexdigest()

    def _key(self) -> bytes:
        kept = self._ledger.meta(_KEY)
        if not kept:
            self._ledger.set_meta(_KEY, secrets.token_hex(32))
            kept = self._ledger.meta(_KEY) or ""
        return bytes.fromhex(kept)
