"""The rules of English: their examples run, and their data files are explained and used."""

import doctest
import gzip
import importlib
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest
from lemminflect import config, getAllLemmas

from semantic_memory.domain import english
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.tables import words
from semantic_memory.domain.english.words import readings

ROOT = Path(__file__).parent.parent.parent
DATA = sorted((ROOT / "semantic_memory" / "domain" / "english" / "data").glob("*.toml"))
CODE = "\n".join(
    file.read_text(encoding="utf-8")
    for package in ("semantic_memory", "ingest")
    for file in (ROOT / package).rglob("*.py")
)
MODULES = [
    *(f"{english.__name__}.{module.name}" for module in pkgutil.iter_modules(english.__path__)),
    "ingest.extract.entries",
    "ingest.extract.languages",
    "ingest.gate.manners",
    "semantic_memory.language.clauses",
    "semantic_memory.language.confidences",
    "semantic_memory.language.persons",
    "semantic_memory.domain.text",
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_run(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("file", DATA, ids=lambda file: file.stem)
def test_every_entry_has_a_comment_with_examples(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    table = next((number for number, line in enumerate(lines) if line.startswith("[")), len(lines))
    heads = [
        number
        for number, line in enumerate(lines)
        if re.match(r"\[\w+\]" if number >= table else r"\w+ = ", line)
    ]
    assert [lines[head] for head in heads if not lines[head - 1].startswith("# Example")] == []


@pytest.mark.parametrize("file", DATA, ids=lambda file: file.stem)
def test_every_entry_is_read_by_some_rule(file):
    entries = tomllib.loads(file.read_text(encoding="utf-8"))
    unused = [
        entry
        for entry in entries
        if not re.search(rf"['\"]{file.stem}\.{entry}(?:\.\w+)?['\"]", CODE)
    ]
    assert unused == []


@pytest.mark.parametrize(
    ("phrases", "text", "found"),
    [
        (["of", "of course"], "of course not", "of course"),  # the longest first
        (["any[ ]way[s]"], "any ways", "any ways"),
        (["(good|bad) [old ]day"], "bad old day", "bad old day"),
        (["haha*", "ha"], "hahaha!", "hahaha"),
        (["hm+"], "hmmm", "hmmm"),
        (["a * fan"], "a big fan", "a big fan"),
        (["from ... to"], "from old Rome to", "from old Rome to"),
        (["have #"], "have 3", "have 3"),
        (["no."], "no 5", None),  # a full stop is one
    ],
)
def test_phrases_are_found_as_they_are_written(phrases, text, found):
    match = re.match(one_of(phrases), text)
    assert (match and match[0]) == found


def test_an_unknown_entry_is_an_error():
    with pytest.raises(KeyError):
        words("words.no_such_list")


def test_the_dictionary_reads_every_word_as_lemminflect_does():
    with gzip.open(config.lemma_lu_fn, "rt", encoding="utf-8") as table:
        lines = [*table, *Path(config.lemma_overrides_fn).read_text(encoding="utf-8").splitlines()]
    known = {line.split(",")[0].lower() for line in lines} | {"gardns", "a,b", ""}
    assert len(known) > 60_000
    for word in known:
        assert readings(word) == getAllLemmas(word), word
