"""Answering and judging, with the real openai client against a scripted endpoint."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from eval.__main__ import app
from eval.cache import CachingEmbedder
from eval.experiment import Bench
from eval.qa import Chat, accuracy, answer_all
from semantic_memory.context.tokens import TiktokenCounter
from semantic_memory.domain.errors import ProviderError
from semantic_memory.testing import HashEmbedder
from tests.unit.eval_histories import small


class Endpoint:
    """Endpoint that replies with a function of the system and the user message."""

    def __init__(self, script) -> None:
        self.asked: list[dict[str, Any]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.asked.append(asked)
                status, said = script(*(message["content"] for message in asked["messages"]))
                body = json.dumps(
                    {
                        "id": "1",
                        "object": "chat.completion",
                        "created": 0,
                        "model": asked["model"],
                        "choices": [
                            {
                                "index": 0,
                                "finish_reason": "stop",
                                "message": {"role": "assistant", "content": said},
                            }
                        ],
                    }
                ).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                del arguments

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._server.serve_forever)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def serve():
    opened = []

    def start(script):
        opened.append(Endpoint(script))
        return opened[-1]

    yield start
    for endpoint in opened:
        endpoint.close()


@pytest.fixture
def shared(tmp_path):
    embedder = CachingEmbedder(HashEmbedder(), tmp_path / "cache")
    yield Bench(embedder, TiktokenCounter(), tmp_path)
    embedder.close()


def model(instruction, text):
    """Answer from the block; as a judge, accept an answer with the expected word."""
    if instruction.startswith("You answer"):
        block, asked = text.rsplit("Question: ", 1)
        known = "lent" in asked and "Bruno" in block
        return 200, "It was lent to Bruno." if known else "I don't know."
    if "can't be answered" in instruction:
        return 200, "**CORRECT**" if "don't know" in text else "WRONG"
    expected = text.split("Expected: ")[1].split("\n")[0]
    return 200, "Correct." if expected in text.split("Answer: ")[1] else "WRONG"


def quiet(step, done, total):
    del step, done, total


def test_answers_are_given_from_what_is_recalled_and_judged(serve, shared):
    endpoint = serve(model)
    reader, judge = Chat(endpoint.url, "small"), Chat(endpoint.url, "large")
    judged = answer_all(small(), reader, judge, 500, 2, shared, quiet)
    verdicts = {one.question.text: one.correct for one in judged}
    assert verdicts == {
        "Who was lent the violin?": True,
        "Which ship sank?": True,
        "Where is the spare key?": False,
    }
    assert accuracy(judged) == pytest.approx(2 / 3)
    prompts = [asked for asked in endpoint.asked if asked["model"] == "small"]
    assert len(prompts) == 3
    recalled = [asked for asked in prompts if "<memory>" in asked["messages"][1]["content"]]
    assert any("Bruno" in asked["messages"][1]["content"] for asked in recalled)
    assert all(one.tokens <= 500 for one in judged)


def test_the_command_prints_accuracy_and_whose_answers_they_are(serve, tmp_path, capsys):
    endpoint = serve(model)
    own = tmp_path / "own.jsonl"
    asked = {"query": "Who was lent the violin?", "relevant_ids": ["0"], "answer": "Bruno"}
    own.write_text(json.dumps({"memories": ["Bruno has the violin"], "questions": [asked]}))
    arguments = ["qa", "--set", "own", "--data", str(own), "--model", "small", "--json"]
    app([*arguments, "--base-url", endpoint.url, "--cache", str(tmp_path)], standalone_mode=False)
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (figures["accuracy"], figures["model"], figures["judge"]) == (1.0, "small", "small")


def test_a_failing_endpoint_is_an_error_that_says_so(serve):
    endpoint = serve(lambda *_: (401, "no"))
    with pytest.raises(ProviderError, match="chat endpoint"):
        Chat(endpoint.url, "small").ask("instruction", "text")
