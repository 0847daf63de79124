"""Sealed files of arrays: mapped into memory, and believed only if their seals fit.

A file begins with the length and the CRC of its head, JSON that names its arrays with the seals of
the pieces they were written in.
It is written aside and renamed, and nothing waits for the disk: what a loss of power leaves in part
doesn't fit its seal. A file that is mapped may be replaced or deleted, and is never written again.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain.files import write_whole
from semantic_memory.domain.ports.disk import Disk

_BEGIN = struct.Struct("<8sQQ")
_MAGIC = b"smpieces"
_ALIGNED = 64  # bytes
_SUMMED = 1 << 14
"""Bytes from which a piece is sealed by its sum, which takes a twentieth of the time of a CRC."""


Pieces = Sequence[NDArray[Any]]
"""An array in pieces that follow each other, of one dtype and width: one may lie in a mapped file,
and is never copied into RAM."""


def write(path: Path, head: Mapping[str, Any], arrays: Mapping[str, Pieces], disk: Disk) -> None:
    """Write a file. Raises OSError."""
    named: dict[str, Any] = {}
    place = 0
    for name, pieces in arrays.items():
        shape = (sum(map(len, pieces)), *pieces[0].shape[1:])
        seals = [(piece.nbytes, _seal(_bytes(piece))) for piece in pieces]
        named[name] = (pieces[0].dtype.str, shape, place, seals)
        place += _padded(_size(pieces))
    begin = json.dumps({"head": head, "arrays": named}).encode()
    begin += b" " * (_padded(_BEGIN.size + len(begin)) - _BEGIN.size - len(begin))
    draft = path.with_suffix(".new")
    file = disk.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0))
    try:
        try:
            write_whole(disk, file, _BEGIN.pack(_MAGIC, len(begin), zlib.crc32(begin)) + begin)
            for pieces in arrays.values():
                for piece in pieces:
                    write_whole(disk, file, _bytes(piece).data)
                write_whole(disk, file, bytes(_padded(_size(pieces)) - _size(pieces)))
        finally:
            disk.close(file)
        disk.replace(draft, path)
    except OSError:
        with suppress(OSError):
            disk.remove(draft)
        raise


def read(path: Path, disk: Disk) -> tuple[Mapping[str, Any], dict[str, NDArray[Any]]] | None:
    """Return the head and the arrays of a file, which lie in it; None for one that is damaged.

    Raises OSError.
    """
    with disk.reader(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size < _BEGIN.size:
            return None
        whole = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    magic, length, crc = _BEGIN.unpack(whole[: _BEGIN.size].tobytes())
    start = _BEGIN.size + length
    if magic != _MAGIC or start > size:
        return None
    begin = whole[_BEGIN.size : start].tobytes()
    if zlib.crc32(begin) != crc:
        return None
    told = json.loads(begin)
    arrays: dict[str, NDArray[Any]] = {}
    for name, (dtype, shape, place, seals) in told["arrays"].items():
        begun = end = start + place
        for number, seal in seals:
            data = whole[end : end + number]
            if len(data) < number or _seal(data) != seal:
                return None
            end += number
        arrays[name] = whole[begun:end].view(dtype).reshape(shape)
    return told["head"], arrays


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _size(pieces: Pieces) -> int:
    return sum(piece.nbytes for piece in pieces)


def _padded(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def _seal(data: NDArray[np.uint8]) -> int:
    if len(data) < _SUMMED:
        return zlib.crc32(data.data)
    words = data[: len(data) // 8 * 8].view(np.uint64)
    return (int(np.add.reduce(words)) + zlib.crc32(data[len(words) * 8 :].data)) % 2**64
