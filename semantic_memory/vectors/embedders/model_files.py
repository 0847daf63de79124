"""Files of a compiled model: a directory with `model.onnx`, `tokenizer.json` and their digests."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.files import sha256_of

Precision = Literal["int8", "fp32"]

SHIPPED = Path(__file__).parent / "all-MiniLM-L6-v2"
"""Directory of the default model, all-MiniLM-L6-v2 in int8, that is part of this package."""
MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
_DIGESTS = "SHA256SUMS"


def shipped_model() -> Path:
    """Return the directory of the default model.

    Raises ConfigurationError if a file is missing or isn't the one that was shipped.
    """
    name = damaged(SHIPPED)
    if name is not None:
        raise ConfigurationError(
            f"the embedding model is damaged: {SHIPPED / name} is missing or incomplete; install"
            " semantic-memory again (pip install --force-reinstall --no-deps; in a checkout:"
            " git checkout -- semantic_memory/vectors). Nothing in the store is lost: what has no"
            " vector yet gets one then"
        )
    return SHIPPED


def damaged(directory: Path) -> str | None:
    """Return the name of a file that is missing or differs from its digest; None if all are right.

    Reads the whole model: 20 to 60 ms for 23 MB.
    """
    try:
        digests = (directory / _DIGESTS).read_text(encoding="ascii")
    except OSError:
        return _DIGESTS
    parts = (line.partition("  ") for line in digests.splitlines())
    expected = {name: digest for digest, _, name in parts}
    for name in (MODEL, TOKENIZER):
        try:
            found = sha256_of(directory / name)
        except OSError:
            return name
        if found != expected.get(name):
            return name
    return None


def write_digests(directory: Path) -> None:
    """Write the digests of a model's files, as `sha256sum` does."""
    lines = [f"{sha256_of(directory / name)}  {name}\n" for name in (MODEL, TOKENIZER)]
    (directory / _DIGESTS).write_text("".join(lines), encoding="ascii")
