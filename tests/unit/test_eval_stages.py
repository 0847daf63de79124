"""CPU of calls, and a server that only answers, as `python -m eval stages` measures them."""

import time

import httpx

from eval import stages


def test_the_cpu_of_a_call_is_measured_and_waiting_is_not():
    assert stages.median_cpu(lambda: time.sleep(0.005), rounds=1, times=4) < 2.5
    worked = stages.median_cpu(lambda: sum(range(300_000)), rounds=1, times=4)
    assert worked > 0.5


def test_the_floor_of_a_request_is_the_same_answer_without_the_service():
    with stages.answering(b'{"items": []}') as (pid, url):
        answer = httpx.post(url, json={"query": "x"}, timeout=60.0)
        assert answer.json() == {"items": []}
        assert pid > 0
