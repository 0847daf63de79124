import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from semantic_memory.errors import ConfigurationError, ProviderError
from semantic_memory.maintenance.escalating import EscalatingJudge
from semantic_memory.maintenance.llm import LLMJudge
from semantic_memory.maintenance.nli import NLIJudge
from semantic_memory.maintenance.relations import Pair, Relation, Verdict
from semantic_memory.maintenance.rules import RuleJudge
from tests.conftest import make_fact


def pair(older: str, newer: str, similarity: float = 0.8) -> Pair:
    return Pair(make_fact(1, content=older), make_fact(2, content=newer), similarity)


class Endpoint:
    """An OpenAI-compatible endpoint on loopback that answers as scripted."""

    def __init__(self) -> None:
        self.requests: list[dict] = []
        self.answer: Callable[[list[dict]], object] = lambda pairs: [
            {"pair": row["pair"], "relation": "updates", "reason": "moved", "certainty": 0.9}
            for row in pairs
        ]
        self.status = 200
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                endpoint.requests.append(body)
                asked = json.loads(body["messages"][1]["content"])
                content = json.dumps({"answers": endpoint.answer(asked)})
                message = {"role": "assistant", "content": content}
                reply = json.dumps(
                    {
                        "id": "1",
                        "object": "chat.completion",
                        "created": 1,
                        "model": body["model"],
                        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                    }
                ).encode()
                self.send_response(endpoint.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def judge(self) -> LLMJudge:
        url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        return LLMJudge("some-model", base_url=url, max_retries=0)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    served = Endpoint()
    yield served
    served.server.shutdown()
    served.server.server_close()


def test_a_language_model_decides_each_pair_and_says_why(endpoint):
    verdicts = endpoint.judge().judge([pair("a", "b"), pair("c", "d")])
    assert verdicts == [Verdict(Relation.UPDATES, ("some-model: moved",), 0.9)] * 2
    (request,) = endpoint.requests
    assert request["temperature"] == 0
    assert request["response_format"]["type"] == "json_schema"


def test_pairs_are_sent_twenty_at_a_time(endpoint):
    assert len(endpoint.judge().judge([pair("a", str(n)) for n in range(45)])) == 45
    sizes = [len(json.loads(request["messages"][1]["content"])) for request in endpoint.requests]
    assert sizes == [20, 20, 5]


@pytest.mark.parametrize(
    "answer",
    [
        lambda pairs: [],
        lambda pairs: [{"pair": 0, "relation": "destroys", "reason": "", "certainty": 1}],
        lambda pairs: [{"pair": 0, "relation": "same", "reason": "", "certainty": 7}],
        lambda pairs: "yes",
    ],
)
def test_an_answer_of_another_form_is_an_error(endpoint, answer):
    endpoint.answer = answer
    with pytest.raises(ProviderError, match="some-model"):
        endpoint.judge().judge([pair("a", "b")])


def test_a_failing_endpoint_is_a_provider_error(endpoint):
    endpoint.status = 500
    with pytest.raises(ProviderError, match="some-model failed"):
        endpoint.judge().judge([pair("a", "b")])


UNSURE = pair("The user codes with Vim", "The user is on Emacs nowadays", 0.75)
SURE = pair("Maya lives in Rome.", "Maya moved to Oslo.", 0.75)
FAR = pair("The user codes with Vim", "Rain is wet", 0.1)


def test_only_unsure_pairs_are_escalated_and_each_once(endpoint):
    cache: dict[str, Verdict] = {}
    for _ in range(2):
        judge = EscalatingJudge(RuleJudge(), endpoint.judge(), cache=cache)
        verdicts = judge.judge([UNSURE, SURE, FAR])
        assert verdicts[0].relation is Relation.UPDATES
        assert verdicts[2].relation is Relation.UNRELATED
    (request,) = endpoint.requests
    (asked,) = json.loads(request["messages"][1]["content"])
    assert asked["newer"]["text"] == UNSURE.newer.content


def test_a_sweep_asks_about_so_many_pairs_and_no_more(endpoint):
    judge = EscalatingJudge(RuleJudge(), endpoint.judge(), cache={}, at_most=3)
    many = [pair("The user codes with Vim", f"They like editor {n}", 0.75) for n in range(10)]
    relations = [verdict.relation for verdict in judge.judge(many) + judge.judge(many)]
    assert judge.asked == 3
    assert relations.count(Relation.UPDATES) == 6


def test_when_the_second_judge_fails_the_first_decides(endpoint):
    endpoint.status = 500
    judge = EscalatingJudge(RuleJudge(), endpoint.judge(), cache={})
    assert judge.judge([UNSURE, UNSURE])[0].relation is Relation.UNRELATED
    assert isinstance(judge.failure, ProviderError)
    judge.judge([UNSURE])
    assert len(endpoint.requests) == 1


WORDS = "[PAD] [UNK] [CLS] [SEP] yes no maybe".split()


def tiny_model(directory: Path, bias: list[float]) -> Path:
    """A cross-encoder of one layer that gives these logits, whatever it reads."""
    core = Tokenizer(WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    core.pre_tokenizer = Whitespace()
    PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]"
    ).save_pretrained(directory)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=32,
        num_labels=3,
        id2label={0: "entailment", 1: "neutral", 2: "contradiction"},
        label2id={"entailment": 0, "neutral": 1, "contradiction": 2},
    )
    model = BertForSequenceClassification(config)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor(bias))
    model.save_pretrained(directory)
    return directory


def test_an_nli_model_finds_near_contradictions_by_the_names_of_its_labels(tmp_path):
    model = tiny_model(tmp_path, [0.0, 0.0, 6.0])
    near, far = NLIJudge(model).judge([pair("yes", "no", 0.8), pair("yes", "no", 0.2)])
    assert near.relation is Relation.CONTRADICTS
    assert near.certainty > 0.9
    assert far.relation is Relation.UNRELATED


def test_entailment_both_ways_is_the_same_unless_a_guard_objects(tmp_path):
    judge = NLIJudge(tiny_model(tmp_path, [6.0, 0.0, 0.0]))
    same, guarded = judge.judge([pair("yes", "yes yes"), pair("5 cups", "7 cups")])
    assert same.relation is Relation.SAME
    assert guarded.relation is Relation.REFINES


def test_a_model_that_is_not_there_is_named_with_a_remedy(tmp_path):
    with pytest.raises(ConfigurationError, match="give the directory"):
        NLIJudge(tmp_path / "nothing")
