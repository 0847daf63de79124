"""The files of deploy/ can be parsed, and name what there is."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry

from eval.chaos.programs import haproxy
from semantic_memory.domain.reports import Stats
from semantic_memory.entrypoints.cli.reference import EACH, every_setting
from semantic_memory.entrypoints.metrics import MetricsObserver, RequestMetrics, StoreFigures
from semantic_memory.settings import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
MANIFESTS = sorted(DEPLOY.rglob("*.yaml"))
PROXY = DEPLOY / "haproxy.cfg"
EMPTY = Stats(
    users=0,
    sessions=0,
    memories=0,
    by_category_and_status={},
    unembedded=0,
    log_bytes=0,
    store_bytes=0,
    embedder="",
)


def documents(file: Path) -> list[Any]:
    return list(yaml.safe_load_all(file.read_text(encoding="utf-8")))


def manifests() -> list[dict[str, Any]]:
    return [one for file in (DEPLOY / "kubernetes").glob("*.yaml") for one in documents(file)]


def of_kind(kind: str, name: str) -> dict[str, Any]:
    (found,) = [m for m in manifests() if (m["kind"], m["metadata"]["name"]) == (kind, name)]
    return found


def metrics() -> set[str]:
    """Return the names of all series that a worker has."""
    registry = CollectorRegistry()
    MetricsObserver(registry)
    RequestMetrics(registry)
    StoreFigures(registry, lambda: EMPTY)
    named = set()
    for metric in registry.collect():
        match metric.type:
            case "counter":
                named.add(f"{metric.name}_total")
            case "histogram":
                named |= {f"{metric.name}_{part}" for part in ("bucket", "sum", "count")}
            case _:
                named.add(metric.name)
    return named


def expressions() -> Iterator[str]:
    alerts = documents(DEPLOY / "monitoring" / "alerts.yaml")[0]
    for group in alerts["groups"]:
        yield from (rule["expr"] for rule in group["rules"])
    dashboard = json.loads((DEPLOY / "monitoring" / "grafana.json").read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        yield from (target["expr"] for target in panel["targets"])


@pytest.mark.parametrize("file", MANIFESTS, ids=lambda file: file.name)
def test_every_manifest_is_yaml(file: Path):
    assert all(isinstance(document, dict) for document in documents(file))


def test_alerts_and_dashboard_ask_for_metrics_that_exist():
    known = metrics()
    named = {name for one in expressions() for name in re.findall(r"semantic_memory_\w+", one)}
    assert len(named) > 20
    assert named <= known


def test_a_metric_that_does_not_exist_would_be_found():
    assert "semantic_memory_search_seconds_total" not in metrics()
    assert "semantic_memory_search_seconds_bucket" in metrics()


def test_brackets_of_expressions_are_balanced():
    for one in expressions():
        for opening, closing in ("()", "[]", "{}"):
            assert one.count(opening) == one.count(closing), one


def test_every_setting_in_a_manifest_is_one():
    text = "".join(file.read_text(encoding="utf-8") for file in MANIFESTS)
    named = set(re.findall(r"SEMANTIC_MEMORY_\w+", text))
    assert named
    known = {f"SEMANTIC_MEMORY_{one.name.upper().replace('.', '__')}" for one in every_setting()}
    for name in named:
        assert re.sub(r"_LLM__\w+?__", f"_LLM__{EACH}__", name) in known


def test_kustomization_names_files_that_exist():
    (found,) = documents(DEPLOY / "kustomization.yaml")
    files = [*found["resources"], *found["configMapGenerator"][0]["files"]]
    assert all((DEPLOY / file).is_file() for file in files)


def test_the_proxy_has_a_place_for_every_worker_that_the_autoscaler_may_start():
    most = of_kind("HorizontalPodAutoscaler", "semantic-memory")["spec"]["maxReplicas"]
    places = re.findall(r"server-template \S+ 1-(\d+)", PROXY.read_text(encoding="utf-8"))
    assert most <= min(map(int, places))


def test_two_proxies_place_workers_by_their_addresses():
    text = PROXY.read_text(encoding="utf-8")
    assert "server-template worker- 1-20" in text
    assert (
        "hash-key addr-port" in text.partition(".if version_atleast(3.0)")[2].partition(".else")[0]
    )
    (compose,) = documents(DEPLOY / "compose.yaml")
    (container,) = of_kind("Deployment", "semantic-memory-proxy")["spec"]["template"]["spec"][
        "containers"
    ]
    assert {compose["services"]["proxy"]["image"], container["image"]} == {"haproxy:3.0"}


def test_every_part_with_several_pods_is_spread_and_disrupted_one_at_a_time():
    for one in (m for m in manifests() if m["kind"] == "Deployment"):
        name, spec = one["metadata"]["name"], one["spec"]["template"]["spec"]
        assert of_kind("PodDisruptionBudget", name)["spec"]["maxUnavailable"] == 1
        assert of_kind("NetworkPolicy", name)["spec"]["policyTypes"] == ["Ingress"]
        assert "topologySpreadConstraints" in spec or "podAntiAffinity" in spec["affinity"]


def test_the_pool_has_room_for_every_worker():
    most = of_kind("HorizontalPodAutoscaler", "semantic-memory")["spec"]["maxReplicas"]
    (container,) = of_kind("Deployment", "semantic-memory-pgbouncer")["spec"]["template"]["spec"][
        "containers"
    ]
    given = {one["name"]: one.get("value") for one in container["env"]}
    assert given["POOL_MODE"] == "transaction"
    assert int(given["MAX_CLIENT_CONN"]) >= 50 * most
    assert int(given["DEFAULT_POOL_SIZE"]) > 2 * most


def test_the_script_of_the_first_key_is_python_that_prints_nothing():
    (container,) = of_kind("Job", "semantic-memory-key")["spec"]["template"]["spec"]["containers"]
    (script,) = container["args"]
    compile(script, "key.yaml", "exec")
    assert "print" not in script
    assert "stdout=subprocess.PIPE" in script


def test_workers_have_time_to_end():
    worker = of_kind("Deployment", "semantic-memory")["spec"]["template"]["spec"]
    drain = Settings().service.drain_seconds
    (compose,) = documents(DEPLOY / "compose.yaml")
    assert worker["terminationGracePeriodSeconds"] > 2 * drain
    assert compose["services"]["worker"]["stop_grace_period"] == "60s"
    assert drain * 2 < 60


def test_the_selectors_choose_the_pods():
    for kind in ("Service", "Deployment"):
        for one in (m for m in manifests() if m["kind"] == kind):
            spec = one["spec"]
            chosen = spec["selector"].get("matchLabels", spec["selector"])
            pods = [m["spec"]["template"] for m in manifests() if m["kind"] == "Deployment"]
            assert any(chosen.items() <= pod["metadata"]["labels"].items() for pod in pods)


@pytest.mark.parametrize(
    "workers",
    [
        {"WORKERS": "localhost:8321"},
        {f"WORKER_{number}": f"127.0.0.1:{8320 + number}" for number in (1, 2, 3)},
    ],
    ids=["by a name", "by addresses"],
)
def test_haproxy_takes_its_configuration(workers: dict[str, str]):
    program = haproxy()
    if program is None:
        pytest.skip("needs HAProxy (Debian: apt-get install haproxy)")
    done = subprocess.run(
        [program, "-c", "-f", str(PROXY)], env=workers, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
