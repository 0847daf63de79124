"""The command line, run as in a process."""

import io
import json
import os
import re
from typing import Any

import pytest

from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.facts import Fact
from semantic_memory.entrypoints.cli.ids import completed, shortened
from tests.conftest import DATA, make_fact
from tests.support.command_line import Cli


@pytest.fixture(scope="module")
def cli(tmp_path_factory) -> Cli:
    cli = Cli(tmp_path_factory.mktemp("cli") / "store")
    conversations = [str(DATA / "conversations" / f"2026-0{month}.jsonl") for month in (1, 3, 5)]
    cli.process("ingest", conversations[0], "--user", "maya")
    for file in conversations[1:]:
        cli("ingest", file, "--user", "maya")
    return cli


def test_ingesting_again_doubles_nothing(cli):
    before = cli.json("admin", "stats")["memories"]
    file = str(DATA / "conversations" / "2026-01.jsonl")
    assert cli.json("ingest", file, "--user", "maya") == {
        "accepted": 0,
        "duplicates": 17,
        "rejected": 0,
        "dated ahead": 0,
        "memories": before,
        "rejections": [],
    }


def test_a_search_finds_what_was_said_and_says_why(cli):
    hits = cli.json("search", "When did Maya move to Berlin?", "--user", "maya", "-k", "2")
    assert "Berlin" in hits[0]["fact"]["content"]
    assert hits[0]["parts"]["match"] > 0
    shown = cli.process("search", "When did Maya move to Berlin?", "-u", "maya").stdout
    assert "Berlin" in shown
    assert "meaning" in shown


def test_a_context_stays_within_its_budget(cli):
    block = cli.json("context", "compaction", "-u", "maya", "--budget", "200")
    assert block["tokens"] <= 200
    shown = cli("context", "compaction", "-u", "maya", "-b", "200")
    assert shown.stdout.strip() == block["text"]
    assert "of 200 tokens" in shown.stderr


def test_a_fact_is_added_shown_listed_and_deleted(cli):
    fact = cli.json(
        "add", "Maya's birthday is on 3 July", "-u", "maya", "-c", "personal", "-t", "home.family"
    )
    assert cli.json("get", fact["id"]) == fact
    assert fact["id"] in cli("get", fact["id"][:8]).stdout
    assert cli.json("list", "-u", "maya", "--tag", "home")[0]["id"] == fact["id"]
    assert "birthday" in cli("list", "-u", "maya", "--tag", "home").stdout
    assert cli.json("delete", fact["id"], "--reason", "private") == {"deleted": fact["id"]}
    assert [version["action"] for version in cli.json("history", "versions", fact["id"])] == [
        "added",
        "forgotten",
    ]
    assert "private" in cli("history", "versions", fact["id"]).stdout
    assert "no memory" in cli("get", fact["id"], code=3).stderr


def test_retirements_and_links_are_reviewed_undone_and_settled(cli):
    """The causes are loaded: which statements end others is not the command line's matter."""
    texts = ("Has a cat", "Likes tea", "Plays chess", "Owns a boat")
    cat, tea, chess, boat = (cli.json("add", text, "-u", "rita")["id"] for text in texts)
    records = [
        json.loads(line) for line in cli("transfer", "export", "-u", "rita").stdout.splitlines()
    ]
    cause = {"decided_by": "pairs-1", "reason": "an end", "at": "2026-05-03T12:00:00Z"}
    for record in records:
        if record.get("fact", {}).get("id") == cat:
            ended = {"newer": tea, "quote": "Likes tea", "probability": 0.9}
            record["fact"] |= {"status": "superseded", "superseded_by": tea}
            record["fact"]["ended_by"] = cause | ended
        if record.get("fact", {}).get("id") == chess:
            record["fact"]["perhaps_changed"] = [cause | {"newer": boat, "quote": "Owns a boat"}]
    file = cli.store.parent / "causes.jsonl"
    file.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    cli("transfer", "import", str(file), "-u", "sam")
    (one,) = cli.json("history", "retired", "-u", "sam", "--since", "2026-05-03")
    assert one["cause"]["quote"] == one["newer"]["content"] == "Likes tea"
    shown = cli("history", "retired", "-u", "sam").stdout
    assert "an end" in shown
    assert "pairs-1" in shown
    assert cli.json("history", "retired", "-u", "sam", "--since", "2026-05-04") == []
    assert (
        "would restore 1"
        in cli("history", "undo", "-u", "sam", "--day", "2026-05-03", "--dry-run").stdout
    )
    (back,) = cli.json("history", "undo", one["fact"]["id"], "-u", "sam")
    assert back["status"] == "active"
    (link,) = cli.json("history", "to-confirm", "-u", "sam")
    assert "Owns a boat" in cli("history", "to-confirm", "-u", "sam").stdout
    assert "perhaps changed by" in cli("search", "chess", "-u", "sam").stdout
    pair = link["fact"]["id"], link["newer"]["id"]
    assert cli.json("history", "accept", *pair, "-u", "sam")["status"] == "superseded"
    assert "decided by caller" in cli("history", "versions", pair[0]).stdout
    assert "no link" in cli("history", "reject", *pair, "-u", "sam", code=3).stderr
    rows = map(json.loads, cli("history", "labels", "-u", "sam").stdout.splitlines())
    assert {tuple(row.values()) for row in rows} == {
        ("Has a cat", "Likes tea", "neither"),
        ("Plays chess", "Owns a boat", "over"),
    }
    assert "say what to undo" in cli("history", "undo", "-u", "sam", code=2).stderr


def test_an_id_used_twice_costs_only_its_own_line(cli, tmp_path):
    rows = [("a", "One"), ("b", "Two"), ("a", "Three"), ("c", "Four")]
    file = tmp_path / "twice.jsonl"
    lines = [json.dumps({"role": "user", "id": i, "content": text}) for i, text in rows]
    file.write_text("\n".join(lines), encoding="utf-8")
    summary = cli.json("ingest", str(file), "--user", "twice")
    assert (summary["accepted"], summary["rejected"]) == (3, 1)
    assert summary["rejections"][0]["place"] == "message a"


def test_lines_that_can_not_be_used_are_reported_and_the_rest_is_kept(cli, tmp_path):
    file = tmp_path / "mixed.jsonl"
    file.write_text('{"role": "user", "content": "A good line"}\nnonsense\n', encoding="utf-8")
    done = cli("ingest", str(file), "--user", "other")
    assert "line 2" in done.stderr
    assert cli.json("list", "--user", "other")[0]["content"] == "A good line"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("search", "", "-u", "maya"), 2, "query is empty"),
        (("search", "x", "-u", "a b"), 2, "user_id"),
        (("search", "x", "-u", "maya", "-k", "0"), 2, "k must be"),
        (("search", "x"), 2, "--user"),
        (("add", "x", "-u", "maya", "-c", "mood"), 2, "mood"),
        (("add", "x", "-u", "maya", "--confidence", "nan"), 2, "confidence"),
        (("ingest", "/nowhere.jsonl", "-u", "maya"), 3, "no file /nowhere.jsonl"),
        (("ingest", str(DATA.parent / "LICENSE"), "-u", "maya"), 2, "can't tell the format"),
        (("ingest", str(DATA / "README.md"), "-u", "maya", "--format", "chatgpt"), 2, "is damaged"),
        (("ingest", str(DATA / "conversations" / "2026-01.jsonl")), 2, "give --user"),
        (("ingest", "x", "-u", "maya", "--format", "xml"), 2, "unknown format 'xml'"),
        (("list", "-u", "maya", "--after", "nothing"), 3, "no memory 'nothing'"),
        (("history", "versions", "nothing"), 3, "no memory 'nothing'"),
        (("add", "x", "-u", "maya", "--expires-at", "soon"), 2, "a time like"),
        (("history", "undo", "-u", "maya", "--day", "soon"), 2, "a day like"),
        (("list", "-u", "maya", "--since", "soonish"), 2, "names no time"),
        (("add", "x", "-u", "a b"), 2, "only letters, digits and _ . @ : + -"),
        (("ingest", str(DATA), "-u", "maya"), 2, "is a directory"),
        (("juggle",), 2, "juggle"),
    ],
)  # fmt: skip
def test_a_mistake_ends_in_one_line_and_a_code(cli, arguments, code, words):
    assert words in cli(*arguments, code=code).stderr


def test_a_mistake_ends_a_process_in_one_line_and_a_code(cli):
    done = cli.process("history", "versions", "nothing", code=3)
    assert done.stderr.count("\n") == 1
    assert "no memory 'nothing'" in done.stderr


def test_an_import_whose_extraction_fails_tells_what_was_taken_in(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("SEMANTIC_MEMORY_EXTRACTION__LLM", "openai")
    monkeypatch.setenv("SEMANTIC_MEMORY_LLM__OPENAI__MAX_RETRIES", "0")
    monkeypatch.setenv("SEMANTIC_MEMORY_LLM__OPENAI__BASE_URL", "http://127.0.0.1:9/v1")
    file = tmp_path / "notes.md"
    file.write_text("# Home\nI live in a lighthouse.\n", encoding="utf-8")
    done = cli("ingest", str(file), "--user", "keeper", "--json", code=1)
    assert json.loads(done.stdout)["accepted"] == 1
    assert "all messages are kept" in done.stderr
    assert "lighthouse" in cli("search", "lighthouse", "--user", "keeper").stdout


def test_settings_that_can_not_work_are_named(cli, tmp_path):
    (tmp_path / "semantic_memory.toml").write_text("[index]\nexact_limit = -1\n", encoding="utf-8")
    assert "index.exact_limit" in cli("admin", "stats", code=2).stderr


def test_the_doctor_finds_a_sound_store_and_rebuilding_keeps_it_so(cli):
    assert all(finding["ok"] for finding in cli.json("admin", "check"))
    assert cli.json("admin", "rebuild")["indexed"] == cli.json("admin", "stats")["memories"]
    said = cli("admin", "check").stdout
    assert "level with the ledger" in said
    assert "languages" in said


def test_reembedding_embeds_everything(cli):
    assert cli.json("admin", "reembed")["embedded"] == cli.json("admin", "stats")["memories"]
    assert all(finding["ok"] for finding in cli.json("admin", "check"))


def test_help_names_every_command(cli):
    shown = cli.process("--help").stdout
    for command in (
        "ingest",
        "add",
        "search",
        "context",
        "list",
        "get",
        "delete",
        "forget",
        "sessions",
        "profile",
        "history",
        "transfer",
        "jobs",
        "admin",
    ):
        assert re.search(rf"\b{command}\b", shown)


def test_a_store_in_use_names_its_owner(cli):
    from semantic_memory import SemanticMemory
    from semantic_memory.testing import InMemoryIndex

    with SemanticMemory.open(cli.store, index=InMemoryIndex()):
        assert f"in use by process {os.getpid()}" in cli("admin", "stats", code=1).stderr


def test_another_case_of_a_users_id_is_suggested(tmp_path):
    command = Cli(tmp_path / "store")
    command("add", "Maya lives in Oslo", "--user", "Maya")
    for given in (
        ("list",),
        ("search", "Oslo"),
        ("context", "Oslo"),
        ("history", "retired"),
        ("sessions", "list"),
        ("forget", "--entity", "Oslo"),
    ):
        said = " ".join(command(*given, "--user", "maya").stderr.split())
        assert "did you mean 'Maya'?" in said, given
    assert "did you mean" not in command("list", "--user", "bo").stderr


def test_the_user_is_taken_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMANTIC_MEMORY_USER", "maya")
    command = Cli(tmp_path / "store")
    command("add", "Maya lives in Oslo")
    assert "Oslo" in command("list").stdout
    assert "Oslo" not in command("list", "--user", "bo").stdout


def test_ids_are_short_and_complete_themselves(tmp_path):
    command = Cli(tmp_path / "store")
    fact = command.json("add", "Maya lives in Oslo", "--user", "maya")
    short = fact["id"][:8]
    shown = command("list", "--user", "maya").stdout
    assert short in shown
    assert fact["id"] not in shown
    assert command.json("get", short) == command.json("get", short, "--user", "maya") == fact
    assert "no memory" in command("get", short, "--user", "bo", code=3).stderr
    assert "no memory" in command("get", short[:3], code=3).stderr  # a slip away from another
    command("delete", short)
    assert "forgotten" in command("history", "versions", short).stdout


class Held:
    """Memories by id, as commands read them."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts
        self.admin = self

    def ids(self, prefix: str, *, user_id: str | None = None) -> list[str]:
        return sorted(one for one in self._texts if one.startswith(prefix))

    def get(self, memory_id: str, *, user_id: str | None = None) -> Fact:
        if not self._texts[memory_id]:
            raise NotFoundError("deleted")
        return make_fact(id=memory_id, content=self._texts[memory_id])


def test_an_ambiguous_id_lists_the_candidates():
    held: Any = Held({"abcd0": "Likes tea", "abcd1": "Plays chess", "abcd12": "", "abce": "Rows"})
    with pytest.raises(InvalidInputError) as refused:
        completed(held, "abcd")
    assert str(refused.value).splitlines()[1:] == [
        "  abcd0  Likes tea",
        "  abcd1  Plays chess",
        "  abcd12  (deleted)",
    ]
    assert completed(held, "abcd1") == "abcd1"  # whole, though another begins with it
    assert completed(held, "abce") == "abce"
    for wrong, words in (("abc", "at least its first 4"), ("abcf", "`list` shows")):
        with pytest.raises(NotFoundError, match=words):
            completed(held, wrong)


def test_short_ids_tell_those_printed_apart():
    same = "0123456789ab"
    first, second, third = same + "0" * 12, same + "1" * 20, "f" * 24
    short = shortened([first, second, third, "note-1", "note-2"])
    assert short == {
        first: same + "0",
        second: same + "1",
        third: "f" * 8,
        "note-1": "note-1",
        "note-2": "note-2",
    }


def test_facts_are_listed_before_messages_page_by_page(cli):
    every = cli.json("list", "-u", "maya", "-n", "1000")
    said = [one["category"] == "conversation" for one in every]
    assert said == sorted(said)
    pages, after = [], None
    for _ in every:
        page = cli(
            "list", "-u", "maya", "-n", "7", "--json", *(("--after", after) if after else ())
        )
        pages += json.loads(page.stdout)
        after = page.stderr.rpartition("--after ")[2].strip()
        if not after:
            break
    assert pages == every


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "-u", "maya"),
        ("search", "Where does Maya live?", "-u", "maya"),
        ("history", "to-confirm", "-u", "maya"),
        ("sessions", "list", "-u", "maya"),
        ("sessions", "messages", "january", "-u", "maya"),
        ("profile", "get", "-u", "maya"),
        ("admin", "stats"),
    ],
)
def test_what_is_shown_fits_80_columns(cli, arguments, monkeypatch):
    monkeypatch.setattr("tests.support.command_line.COLUMNS", 80)
    assert max(map(len, cli(*arguments).stdout.splitlines())) <= 80


def test_the_demo_shows_a_search_a_change_and_a_block_and_keeps_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    shown = Cli(tmp_path / "store")("demo").stdout
    assert "Noor is allergic to penicillin" in shown
    assert "ended 2026-07-10" in shown
    assert "</memory>" in shown
    assert not [one for one in tmp_path.rglob("*") if one.is_file()]


def test_a_file_is_tried_without_a_trace(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    command, file = Cli(tmp_path / "store"), tmp_path / "chat.jsonl"
    said = {"role": "user", "content": "I work at a bakery in Ghent."}
    file.write_text(json.dumps(said), encoding="utf-8")
    asked = command("try", str(file), "--ask", "Where do I work?", "--ask", "Who bakes?")
    assert asked.stdout.count("bakery in Ghent") >= 2
    monkeypatch.setattr("sys.stdin", io.StringIO("Where do I work?\n\nnot read"))
    assert "bakery in Ghent" in command("try", str(file)).stdout
    assert "no file" in command("try", str(tmp_path / "none.jsonl"), code=3).stderr
    assert [one.name for one in tmp_path.rglob("*") if one.is_file()] == ["chat.jsonl"]


def test_notes_are_told_from_a_conversation(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("Maya lives in Oslo. She plays chess.\n")
    said = " ".join(Cli(tmp_path / "store")("ingest", str(file), "--user", "maya").stderr.split())
    assert "read as notes, not as a conversation" in said
