"""The changes that write items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta

import numpy as np

from semantic_memory.domain.changes import (
    DropItem,
    EmbedItem,
    EraseItems,
    ItemChange,
    Matrix,
    PutItem,
    RefreshItems,
)
from semantic_memory.ledger.sql.dialect import Dialect
from semantic_memory.ledger.sql.items import PLACE, ItemRow, condition_of, written
from semantic_memory.ledger.sql.part import Database
from semantic_memory.ledger.sql.rows import chunks, maybe_micros, micros, moment

_INSERT = (
    f"INSERT INTO items ({', '.join(ItemRow._fields[1:])}, embedded)"
    f" VALUES ({', '.join('?' * len(ItemRow._fields))}) RETURNING num"
)
_MICROSECOND = timedelta(microseconds=1)


def write(db: Database, dialect: Dialect, change: ItemChange) -> bool:
    """Write a change of items; return True if it had an effect."""
    match change:
        case PutItem():
            return _put(db, dialect, change)
        case DropItem(user_id, namespace, key):
            place = (written(namespace), key, user_id)
            return db.execute(f"DELETE FROM items WHERE {PLACE}", place).rowcount > 0
        case RefreshItems(nums, at):
            for part, marks in chunks(nums):
                query = (
                    "UPDATE items SET expires_at = ? + ttl WHERE ttl IS NOT NULL"
                    f" AND num IN ({marks})"
                )
                db.execute(query, (micros(at), *part))
            return True
        case EmbedItem():
            return _embed(db, dialect, change)
        case EraseItems():
            condition, values = condition_of(change)
            return db.execute(f"DELETE FROM items WHERE {condition}", values).rowcount > 0


def _put(db: Database, dialect: Dialect, change: PutItem) -> bool:
    item = change.item
    namespace = written(item.namespace)
    place = (namespace, item.key, item.user_id)
    created_at = item.created_at
    found = db.execute(f"SELECT created_at, expires_at FROM items WHERE {PLACE}", place).fetchone()
    if found is not None:
        stands = found[1] is None or found[1] > micros(change.at)
        if change.fresh and stands:
            return False
        if stands:
            created_at = moment(found[0])
        db.execute(f"DELETE FROM items WHERE {PLACE}", place)
    [(num,)] = db.execute(
        _INSERT,
        (
            item.user_id,
            namespace,
            item.key,
            json.dumps(item.value, ensure_ascii=False),
            micros(created_at),
            micros(item.updated_at),
            None if item.ttl is None else timedelta(seconds=item.ttl) // _MICROSECOND,
            maybe_micros(item.expires_at),
            json.dumps(item.index),
            int(not item.index or change.vectors is not None),
        ),
    ).fetchall()
    db.executemany(
        f"INSERT INTO item_terms ({dialect.own.columns}, term)"
        f" SELECT {dialect.own.columns}, ? FROM items WHERE num = ?",
        [(term, num) for term in sorted(change.terms)],
    )
    _write_vectors(db, dialect, num, change.vectors or {})
    return True


def _embed(db: Database, dialect: Dialect, change: EmbedItem) -> bool:
    query = "UPDATE items SET embedded = 1 WHERE num = ? AND embedded = 0"
    if not db.execute(query, (change.num,)).rowcount:
        return False
    _write_vectors(db, dialect, change.num, change.vectors)
    return True


def _write_vectors(db: Database, dialect: Dialect, num: int, vectors: Mapping[str, Matrix]) -> None:
    db.executemany(
        f"INSERT INTO item_vectors ({dialect.own.columns}, path, rows, data)"
        f" SELECT {dialect.own.columns}, ?, ?, ? FROM items WHERE num = ?",
        [
            (path, len(rows), rows.astype(np.float32).tobytes(), num)
            for path, rows in vectors.items()
        ],
    )
