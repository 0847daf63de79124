"""Webhooks: signed, in order, at least once, and nothing waits for a dead endpoint."""

from __future__ import annotations

import base64
import hashlib
import hmac
import itertools
import json
import logging
from collections.abc import Iterator

import pytest

from semantic_memory import Settings
from semantic_memory.application.dead_letters import DeadLetters
from semantic_memory.application.webhook import Webhook
from semantic_memory.concurrency import Backoff
from semantic_memory.delivery import http_endpoint, signed
from semantic_memory.domain.changes import Add, Extracted, Forget
from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.events import EventsDelivered, WebhookDisabled, WorkerFailed
from semantic_memory.domain.feed import EventKind
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.settings import UpkeepSettings
from tests.conftest import NOW, eventually, make_fact
from tests.support.webhooks import SECRET, Endpoint, receiving

AT_ONCE = Backoff(0.01, 0.02)


@pytest.fixture
def hook() -> Iterator[Endpoint]:
    with receiving() as hook:
        yield hook


@pytest.fixture
def ledger(tmp_path) -> Iterator[SqliteLedger]:
    ledger = SqliteLedger(tmp_path / "ledger.sqlite3")
    yield ledger
    ledger.close()


@pytest.fixture
def deliver(ledger, clock, events):
    started = []

    def start(url: str, kinds=(), onto=ledger, **options) -> Webhook:
        to = http_endpoint(url, SECRET)
        webhook = Webhook(onto, to, kinds, clock, events.append, AT_ONCE, **options)
        webhook.start()
        started.append(webhook)
        return webhook

    yield start
    for webhook in started:
        webhook.close()


def add(ledger, *numbers: int) -> None:
    ledger.apply([Add(make_fact(number)) for number in numbers])


def ids(hook: Endpoint) -> list[str]:
    return [event["memory_id"] for event in hook.events]


def test_a_signature_is_that_of_the_published_example():
    body = b'{"test": 2432232314}'
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    headers = signed(body, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, key)
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert headers["webhook-id"] == "msg_p5jXN8AQM9LWM0D4loKWxJek"
    assert headers["webhook-timestamp"] == "1614265330"


def test_events_arrive_signed_in_order_and_without_texts(ledger, hook, deliver):
    add(ledger, 1)  # before the first start
    deliver(hook.url)
    add(ledger, 2, 3)
    ledger.apply([Forget("fact-2", NOW, "asked")])
    assert eventually(lambda: len(hook.received) == 3)
    assert ids(hook) == ["fact-2", "fact-3", "fact-2"]
    assert hook.kinds == ["memory.added", "memory.added", "memory.forgotten"]
    assert b"asked" not in hook.received[2][1]
    headers, body = hook.received[0]
    assert b"Thing" not in body
    signature = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.digest(key, signature, hashlib.sha256)).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert headers["webhook-timestamp"] == str(int(NOW.timestamp()))
    assert len({headers["webhook-id"] for headers, _ in hook.received}) == 3


def test_only_the_chosen_kinds_are_delivered(ledger, hook, deliver):
    deliver(hook.url, [EventKind.FORGOTTEN])
    add(ledger, 1, 2)
    ledger.apply([Forget("fact-1", NOW)])
    assert eventually(lambda: hook.kinds == ["memory.forgotten"])


def test_a_refused_event_is_sent_again_under_the_same_id_before_any_other(
    ledger, hook, deliver, events
):
    answers = itertools.chain([500, 302, 404], itertools.repeat(200))
    hook.status = lambda: next(answers)
    deliver(hook.url)
    add(ledger, 1, 2)
    assert eventually(lambda: len(hook.received) == 5)
    assert ids(hook) == ["fact-1"] * 4 + ["fact-2"]
    assert len({headers["webhook-id"] for headers, _ in hook.received}) == 2
    failures = [event for event in events if isinstance(event, WorkerFailed)]
    assert [failure.error for failure in failures] == [
        f"the endpoint answered {status}" for status in (500, 302, 404)
    ]
    assert [failure.repeated for failure in failures] == [False, True, True]


def failing(hook: Endpoint, *fact_ids: str, status: int = 500) -> None:
    """Have the endpoint refuse these events, and take the others."""
    hook.status = lambda: status if hook.events[-1]["memory_id"] in fact_ids else 204


def of_user(number: int, user_id: str) -> Add:
    return Add(make_fact(number, id=f"fact-{number}", user_id=user_id))


def test_a_user_whose_event_is_refused_holds_up_no_other(ledger, hook, deliver):
    failing(hook, "fact-1")
    deliver(hook.url, senders=1)
    ledger.apply([of_user(1, "u1"), of_user(2, "u1"), of_user(3, "u2"), of_user(4, "u3")])
    assert eventually(lambda: {"fact-3", "fact-4"} <= {*ids(hook)})
    assert "fact-2" not in ids(hook)
    failing(hook)
    assert eventually(lambda: "fact-2" in ids(hook))
    assert eventually(lambda: ledger.meta("webhook") == "4")


def test_the_place_stays_before_what_is_not_delivered(ledger, hook, deliver):
    failing(hook, "fact-2")
    webhook = deliver(hook.url)
    ledger.apply([of_user(1, "u1"), of_user(2, "u2"), of_user(3, "u3")])
    assert eventually(lambda: {"fact-1", "fact-2", "fact-3"} <= {*ids(hook)})
    webhook.close()
    assert ledger.meta("webhook") == "1"


def test_an_event_that_others_show_to_be_at_fault_becomes_a_dead_letter(
    ledger, hook, deliver, events
):
    failing(hook, "fact-1")
    deliver(hook.url, attempts=3)
    ledger.apply([of_user(1, "u1"), of_user(2, "u1"), of_user(3, "u2")])
    letters = DeadLetters(ledger)
    number = 4
    while not letters.listed():
        ledger.apply([of_user(number, "u2")])  # the endpoint takes what others have
        assert eventually(lambda: len({*ids(hook)} - {"fact-1"}) >= number - 2)  # noqa: B023
        number += 1
    assert eventually(lambda: "fact-2" in ids(hook))
    (letter,) = letters.listed()
    assert (letter.event_id, letter.error) == (1, "the endpoint answered 500")
    assert letter.attempts == ids(hook).count("fact-1") >= 3
    assert EventsDelivered("dead", 1) in events


def test_an_endpoint_that_takes_nothing_makes_no_dead_letters(ledger, hook, deliver):
    hook.status = lambda: 503
    deliver(hook.url, attempts=2)
    ledger.apply([of_user(1, "u1"), of_user(2, "u2")])
    assert eventually(lambda: min(map(ids(hook).count, ("fact-1", "fact-2"))) > 3)
    assert DeadLetters(ledger).listed() == ()
    hook.status = lambda: 204
    assert eventually(lambda: ledger.meta("webhook") == "2")


def test_a_refusal_by_4xx_becomes_a_dead_letter_of_the_only_user_too(ledger, hook, deliver):
    failing(hook, "fact-1", status=422)
    deliver(hook.url, attempts=2)
    add(ledger, 1, 2)
    assert eventually(lambda: "fact-2" in ids(hook))
    assert [letter.event_id for letter in DeadLetters(ledger).listed()] == [1]


def test_dead_letters_are_sent_again_by_a_job(open_memory, hook):
    taking: list[bool] = []
    hook.status = lambda: 204 if taking else 422
    settings = Settings(
        webhook={"url": hook.url, "secret": SECRET, "attempts": 1},
        upkeep=UpkeepSettings(schedule=False),
    )
    memory = open_memory(settings=settings)
    fact = memory.add("Prefers tea", user_id="maya")
    assert eventually(lambda: bool(memory.admin.stats().webhook.dead))
    taking.append(True)
    before = len(hook.received)
    assert memory.jobs.run()  # of all jobs, none sends them again
    (planned,) = memory.jobs.run(["redeliver"], dry_run=True)
    assert planned.counts == {"redelivered": 1}
    assert len(hook.received) == before
    (run,) = memory.jobs.run(["redeliver"])
    assert run.counts == {"redelivered": 1}
    assert eventually(lambda: ids(hook)[before:] == [fact.id])
    assert eventually(lambda: memory.admin.stats().webhook.dead == ())


def test_410_disables_the_webhook_until_it_is_enabled_or_has_another_address(
    ledger, hook, deliver, events
):
    hook.status = lambda: 410
    deliver(hook.url)
    add(ledger, 1)
    letters = DeadLetters(ledger)
    assert eventually(letters.disabled)
    assert WebhookDisabled() in events
    hook.status = lambda: 204
    sent = len(hook.received)
    deliver(hook.url).close()
    assert len(hook.received) == sent
    deliver(f"{hook.url}/other")
    assert not letters.disabled()
    assert eventually(lambda: ids(hook)[sent:] == ["fact-1"])


def test_several_events_of_a_user_are_one_message(ledger, hook, deliver):
    hook.status = lambda: 503
    deliver(hook.url, at_once=3).close()
    ledger.apply([of_user(number, "u1") for number in range(5)] + [of_user(9, "u2")])
    hook.received.clear()
    hook.status = lambda: 204
    deliver(hook.url, at_once=3)
    assert eventually(lambda: ledger.meta("webhook") == "6")
    messages = [json.loads(body) for _, body in hook.received]
    batches = [one["data"]["events"] for one in messages if one["type"] == "memory.batch"]
    assert [[one["data"]["memory_id"] for one in batch] for batch in batches] == [
        ["fact-0", "fact-1", "fact-2"],
        ["fact-3", "fact-4"],
    ]
    assert [one["data"]["memory_id"] for one in messages if "memory_id" in one["data"]] == [
        "fact-9"
    ]


def test_what_happens_while_nothing_is_delivered_is_delivered_after_a_restart(
    tmp_path, ledger, hook, deliver
):
    webhook = deliver(hook.url)
    add(ledger, 1)
    assert eventually(lambda: len(hook.received) == 1)
    webhook.close()  # it keeps the place behind what was delivered
    ledger.close()
    again = SqliteLedger(tmp_path / "ledger.sqlite3")
    add(again, 2)
    webhook = deliver(hook.url, onto=again)
    assert eventually(lambda: len(hook.received) == 2)
    webhook.close()
    again.close()
    assert ids(hook) == ["fact-1", "fact-2"]


def test_a_dead_endpoint_stops_nothing_and_is_caught_up_when_it_is_back(ledger, deliver, events):
    with receiving() as gone:
        url = gone.url
    deliver(url)
    add(ledger, *range(5))
    assert eventually(lambda: any(isinstance(event, WorkerFailed) for event in events))
    assert len(ledger.ids("u1")) == 5
    with receiving(int(url.split(":")[2].split("/")[0])) as back:
        assert eventually(lambda: len(back.received) == 5)


def test_pauses_double_up_to_five_minutes():
    pauses = [Backoff().pause(failures) for failures in (1, 2, 3, 9, 10, 1_000)]
    assert pauses == [1, 2, 4, 256, 300, 300]


def test_closing_does_not_wait_for_the_next_attempt(ledger, clock, events):
    with receiving() as gone:
        url = gone.url
    webhook = Webhook(
        ledger, http_endpoint(url, SECRET), (), clock, events.append, Backoff(3_600, 3_600)
    )
    webhook.start()
    add(ledger, 1)
    assert eventually(lambda: bool(events))
    webhook.close()


def test_closing_does_not_wait_for_an_answer_that_never_ends(ledger, clock, events, monkeypatch):
    monkeypatch.setattr("semantic_memory.application.webhook._SECONDS", 0.1)
    with receiving() as hook:
        hook.answer = b"HTTP/1.1 200 OK\r\n"
        to = http_endpoint(hook.url, SECRET)
        webhook = Webhook(ledger, to, (), clock, events.append, AT_ONCE)
        webhook.start()
        add(ledger, 1)
        assert eventually(lambda: bool(hook.received))
        webhook.close()


def test_the_body_of_an_answer_is_not_waited_for(ledger, deliver):
    with receiving() as hook:
        hook.answer = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"
        deliver(hook.url)
        add(ledger, 1, 2)
        assert eventually(lambda: ids(hook) == ["fact-1", "fact-2"])


def test_a_fault_of_any_kind_is_reported_and_tried_again(tmp_path, hook, deliver, events):
    faults = [RuntimeError("with a token")]

    class Faulty(SqliteLedger):
        def events(self, *args, **kwargs):
            if faults:
                raise faults.pop()
            return super().events(*args, **kwargs)

    ledger = Faulty(tmp_path / "faulty.sqlite3")
    deliver(hook.url, onto=ledger)
    add(ledger, 1)
    assert eventually(lambda: ids(hook) == ["fact-1"])
    assert [event.error for event in events if isinstance(event, WorkerFailed)] == ["RuntimeError"]
    ledger.close()


def test_events_of_other_kinds_are_passed_over_once(tmp_path, hook, deliver):
    read = []

    class Recording(SqliteLedger):
        def events(self, after, *args, **kwargs):
            read.append(after)
            return super().events(after, *args, **kwargs)

    path = tmp_path / "recording.sqlite3"
    ledger = Recording(path)
    webhook = deliver(hook.url, [EventKind.FORGOTTEN], onto=ledger)
    add(ledger, 1, 2)
    assert eventually(lambda: 0 in read)
    add(ledger, 3)
    assert eventually(lambda: max(read) >= 2)  # 2 and 3 may be read together
    ledger.apply([Extracted("u1", "s1", 1, 1, NOW)] * 1_000)
    assert eventually(lambda: ledger.meta("webhook") == "1003")
    add(ledger, 4)
    assert eventually(lambda: max(read) >= 1_003)
    webhook.close()
    assert ledger.meta("webhook") == "1004"
    ledger.close()


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("ftp://example.org/", SECRET),
        ("example.org", SECRET),
        ("https://example.org:port/", SECRET),
        ("https://example.org:99999/", SECRET),
        ("https://user:password@example.org/", SECRET),
        ("https://a..b/", SECRET),
        (f"https://{'a' * 64}.example.org/", SECRET),
        ("https://example.org/", None),
        ("https://example.org/", "whsec_c2hvcnQ="),
        ("https://example.org/", "whsec_not base64"),
    ],
)
def test_an_address_or_a_secret_that_cannot_be_used_is_refused_unquoted(url, secret):
    with pytest.raises(ConfigurationError, match="webhook") as refused:
        http_endpoint(url, secret)
    assert "password@" not in str(refused.value)
    assert "c2hvcnQ" not in str(refused.value)


def test_the_secret_is_in_no_log_no_event_and_no_representation(
    ledger, hook, deliver, events, caplog
):
    caplog.set_level(logging.DEBUG)
    answers = itertools.chain([500], itertools.repeat(200))
    hook.status = lambda: next(answers)
    deliver(f"{hook.url}/token")
    add(ledger, 1)
    assert eventually(lambda: len(hook.received) == 2)
    assert "token" not in repr(events)
    shown = caplog.text + repr(events) + repr(http_endpoint(hook.url, SECRET))
    settings = repr(Settings(webhook={"url": f"{hook.url}/token", "secret": SECRET}))
    assert hook.url not in settings
    shown += settings
    assert SECRET.removeprefix("whsec_") not in shown


def test_what_is_not_delivered_yet_is_not_removed(open_memory):
    with receiving() as gone:
        url = gone.url
    upkeep = UpkeepSettings(schedule=False, events=1)
    webhook = {"url": url, "secret": SECRET}
    memory = open_memory(settings=Settings(webhook=webhook, upkeep=upkeep))
    for number in range(5):
        memory.add("Likes tea", user_id=f"maya-{number}")  # of one user, they might be merged
    memory.jobs.run(["expiry"])
    assert len(memory.events.list()) == 5
    memory.close()
    with receiving() as hook:
        webhook = {"url": hook.url, "secret": SECRET}
        memory = open_memory(settings=Settings(webhook=webhook, upkeep=upkeep))
        assert eventually(lambda: len(hook.events) == 5)
        # The place is kept a moment after the endpoint has answered.
        assert eventually(lambda: memory.jobs.run(["expiry"])[0].counts == {"events": 4})


def test_events_removed_while_there_was_no_webhook_are_reported(ledger, hook, deliver, events):
    deliver(hook.url).close()
    add(ledger, 1, 2, 3)
    ledger.drop_events(2)
    deliver(hook.url)
    assert eventually(lambda: ids(hook) == ["fact-3"])
    (missed,) = [event.error for event in events if isinstance(event, WorkerFailed)]
    assert missed.startswith("2 events were removed")


def test_a_memory_delivers_while_it_is_open(open_memory, hook):
    settings = Settings(webhook={"url": hook.url, "secret": SECRET, "kinds": ["added"]})
    fact = open_memory(settings=settings).add("Prefers tea", user_id="maya")
    assert eventually(lambda: ids(hook) == [fact.id])
