"""Server-sent events: the frames of a stream of bytes, as the HTML standard divides it."""

from __future__ import annotations

from typing import NamedTuple


class Frame(NamedTuple):
    """The lines of a stream up to an empty one; a sign of life has no data."""

    id: str
    data: str


class Framing:
    """Divide what arrives in pieces of any length; a frame without its empty line never counts."""

    def __init__(self) -> None:
        self._tail = b""
        self._after_return = False
        self._fields: dict[str, list[str]] = {}

    def take(self, piece: bytes) -> list[Frame]:
        """Return the frames that a piece completes."""
        if self._after_return:  # both halves of one end of line
            piece = piece.removeprefix(b"\n")
        self._after_return = piece.endswith(b"\r")
        # Of bytes, unlike texts, only CR, LF and both end a line.
        lines = (self._tail + piece).splitlines(keepends=True)
        self._tail = lines.pop() if lines and not lines[-1].endswith((b"\r", b"\n")) else b""
        frames = [self._read(line.rstrip(b"\r\n").decode(errors="replace")) for line in lines]
        return [frame for frame in frames if frame is not None]

    def _read(self, line: str) -> Frame | None:
        if line:
            name, _, value = line.partition(":")
            self._fields.setdefault(name, []).append(value.removeprefix(" "))
            return None
        fields, self._fields = self._fields, {}
        return Frame(fields.get("id", [""])[-1], "\n".join(fields.get("data", ())))
