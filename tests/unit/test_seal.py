from pathlib import Path

import pytest

from semantic_memory.vectors.chroma import seal


@pytest.fixture
def index(tmp_path: Path) -> Path:
    directory = tmp_path / "chroma"
    (directory / "segment").mkdir(parents=True)
    (directory / "chroma.sqlite3").write_bytes(b"database")
    (directory / "segment" / "data_level0.bin").write_bytes(b"x" * 1000)
    (directory / "segment" / "length.bin").write_bytes(b"y" * 100)
    seal.write(directory, "generation")
    return directory


def data(directory: Path) -> Path:
    return directory / "segment" / "data_level0.bin"


def test_what_is_as_it_was_sealed_is_sound(index):
    assert seal.damage(index, "generation") is None


def test_the_database_may_change_without_a_new_seal(index):
    (index / "chroma.sqlite3").write_bytes(b"more in the database")
    assert seal.damage(index, "generation") is None


def flip(directory: Path) -> None:
    data(directory).write_bytes(b"x" * 500 + b"z" + b"x" * 499)


def cut(directory: Path) -> None:
    data(directory).write_bytes(b"x" * 999)


def remove(directory: Path) -> None:
    data(directory).unlink()


def new_file(directory: Path) -> None:
    (directory / "segment" / "index_metadata.pickle").write_bytes(b"?")


def no_database(directory: Path) -> None:
    (directory / "chroma.sqlite3").unlink()


def empty_database(directory: Path) -> None:
    (directory / "chroma.sqlite3").write_bytes(b"")


def no_seal(directory: Path) -> None:
    (directory / seal.SEAL).unlink()


def spoilt_seal(directory: Path) -> None:
    (directory / seal.SEAL).write_text("[]")


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (flip, "differs from its seal"),
        (cut, "has 999 bytes instead of 1,000"),
        (remove, "data_level0.bin is missing"),
        (new_file, "was being written"),
        (no_database, "missing or empty"),
        (empty_database, "missing or empty"),
        (no_seal, "seal is missing"),
        (spoilt_seal, "seal is missing or unreadable"),
    ],
)
def test_damage_is_named(index, harm, words):
    harm(index)
    assert words in str(seal.damage(index, "generation"))


def test_a_quick_look_reads_no_file(index):
    flip(index)
    assert seal.damage(index, "generation", quick=True) is None
    cut(index)
    assert seal.damage(index, "generation", quick=True)


def test_another_filling_is_not_taken_for_this_one(index):
    assert "another generation" in str(seal.damage(index, "other"))


def test_an_index_that_was_never_made_is_empty(tmp_path):
    assert seal.is_empty(tmp_path / "nothing")
