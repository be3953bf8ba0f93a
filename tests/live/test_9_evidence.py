"""What hit a training run: a GPU throttled in one step is found, its neighbour is clean, and an alert leads back."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pytest

from components.otel_collector.names import AGENT, HTTP_PORT
from components.swanlab.names import API_KEY_KEY
from sandbox.home import find_home
from sandbox.workloads.gpu import incidents
from sandbox.workloads.training import control
from sandbox.workloads.training.manifests import CONTROL_PORT, job
from sandbox.workloads.training.throttle import throttle
from tests.live import swanlab
from tests.live.plumbline import OUT, STATE, forwarded, get, kubectl, query, until, words
from tests.live.workloads import NODES, exporter, teams_namespace

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
ROLE: Final = "sandbox-training"
GPUS: Final = 2
STEP: Final = 40
STEPS: Final = 48
SECONDS: Final = 1.0
FACTOR: Final = 60.0
"""The slow step lasts about 52 s: several scrapes of the exporter lie within."""
SECRET: Final = "swanlab-login"  # noqa: S105  # a name


@dataclass(frozen=True)
class Runs:
    """Two runs that have ended, and the GPU that was slow in one step of the first."""

    namespace: str
    hot: str
    cool: str
    gpu: str


@pytest.fixture(scope="module")
def runs() -> Iterator[Runs]:
    """Both at once on one node, until both have ended."""
    mark = secrets.token_hex(3)
    hot, cool = f"hot-{mark}", f"cool-{mark}"
    with teams_namespace() as namespace:
        start(namespace, hot, cool)
        yield Runs(namespace, hot, cool, slowed(namespace, hot))


def start(namespace: str, *names: str) -> None:
    """Create the Jobs, and wait until their pods run."""
    image = json.loads((find_home().state(STATE) / "images.json").read_text())[ROLE]["reference"]
    where = swanlab.site()
    login = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET}, "stringData": {API_KEY_KEY: where.key}}
    promised = json.loads((OUT / "contract.json").read_text())["experiments"]
    items = [
        job(
            image,
            namespace=namespace,
            identity={"run_id": name, "team": "live", "workload": "training"},
            gpus=GPUS,
            steps=STEPS,
            step_seconds=SECONDS,
            endpoint=f"http://{AGENT}.{NODES}.svc:{HTTP_PORT}",
            host=promised["host"],
            key=(SECRET, API_KEY_KEY),
            life=900,
        )
        for name in names
    ]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [login, *items]})
    kubectl("apply", "-n", namespace, "-f", "-", stdin=text)
    until("both runs began", lambda: len(running(namespace)) == len(names), 120)


def running(namespace: str) -> dict[str, str]:
    """Run → pod that runs."""
    pods = get("pods", "-n", namespace)["items"]
    return {
        pod["metadata"]["labels"]["plumbline.dev/run-id"]: pod["metadata"]["name"]
        for pod in pods
        if pod["status"]["phase"] == "Running"
    }


def slowed(namespace: str, run: str) -> str:
    """Slow the run's second GPU down in the step, and wait for the end of all runs; the GPU's UUID."""
    pod = running(namespace)[run]
    until("the run's GPUs are named", lambda: len(held(namespace, pod)) == GPUS, 90)
    uuid, index = sorted(held(namespace, pod).items())[-1]
    until("the run can be told", lambda: answers(namespace, pod), 60)
    with exporter() as base, forwarded(f"pod/{pod}", CONTROL_PORT, namespace) as run_base:
        assert {one["uuid"] for one in incidents.status(base)["gpus"]} > {uuid}
        throttle(base, run_base, int(index), 1, STEP, FACTOR)
    kubectl("wait", "-n", namespace, "--for=condition=Complete", "--timeout=180s", "job", "--all", timeout=200)
    ended = time.time()
    until("a scrape lies behind the step", lambda: scraped(uuid) > ended, 90)
    return uuid


def answers(namespace: str, pod: str) -> bool:
    """Whether its control interface is there: a container that runs may not listen yet."""
    with forwarded(f"pod/{pod}", CONTROL_PORT, namespace) as base:
        try:
            return bool(control.status(base))
        except control.ControlError:
            return False


def scraped(uuid: str) -> float:
    """When the GPU was scraped last."""
    found = query(f'max(timestamp(DCGM_FI_DEV_FB_FREE{{UUID="{uuid}"}}))')
    return float(found[0]["value"][1]) if found else 0.0


def held(namespace: str, pod: str) -> dict[str, str]:
    """UUID → index of GPUs that name the pod."""
    found = query(f'DCGM_FI_DEV_FB_FREE{{namespace="{namespace}", pod="{pod}"}}')
    return {series["metric"]["UUID"]: series["metric"]["gpu"] for series in found}


def evidence(*arguments: str, name: str) -> tuple[str, Json]:
    """What `make evidence` printed, and the records beside its page. The exit code is 0."""
    done = words("evidence", *arguments)
    assert done.returncode == 0, done.stdout
    return done.stdout, json.loads((OUT / f"evidence-{name}.json").read_text())


def test_step_and_gpu_are_found(runs: Runs) -> None:
    printed, found = evidence(f"RUN={runs.hot}", f"STEP={STEP}", "WINDOW=5s", name=f"{runs.hot}-{STEP}")
    assert found["verdict"] == "findings", printed
    throttled = [one for one in found["findings"] if one["kind"] == "thermal_throttle"]
    assert [one["uuid"] for one in throttled] == [runs.gpu], printed
    assert throttled[0]["least_seconds"] > 0, printed
    (slow,) = (one for one in found["findings"] if one["kind"] == "slow_step")
    assert slow["rank"] == "1"
    # On the GPU 86 % of a step, which took 60 times as long; noise of 3 %, and the machine's own.
    assert slow["factor"] > FACTOR / 4  # a busy machine slows the other steps down too
    assert {one["uuid"] for one in found["gpus"]} > {runs.gpu}
    assert [one for one in found["not_looked_at"] if one["essential"]] == []
    assert found["contradictions"] == []


def test_neighbour_is_clean(runs: Runs) -> None:
    printed, found = evidence(f"RUN={runs.cool}", f"STEP={STEP}", "WINDOW=5s", name=f"{runs.cool}-{STEP}")
    # What a machine's own node has beyond P3 is told to every run on it, and is no fault of this test.
    ours = [one for one in found["findings"] if one.get("concerns") != "node"]
    assert ours == [], printed
    assert found["verdict"] == ("findings" if found["findings"] else "clean"), printed
    assert runs.gpu not in {one["uuid"] for one in found["gpus"]}


def test_ledger_of_a_run_that_has_ended_has_the_throttle(runs: Runs) -> None:
    printed, found = evidence(f"RUN={runs.hot}", name=f"{runs.hot}-all")
    throttles = [one for one in found["entries"] if one["kind"] == "thermal_throttle"]
    assert throttles, printed
    assert all(runs.gpu in one["about"] for one in throttles), printed


def test_run_is_in_swanlab_with_its_slow_step(runs: Runs) -> None:
    client = swanlab.site().client()
    project = f"{client.user()}/training"
    run = next(one for one in client.runs(project) if one["name"] == runs.hot)
    values = dict(client.series(client.target(project, run["cuid"]), "train/step_time"))
    assert sorted(values) == list(range(STEPS))
    taken = {step: float(value) for step, value in values.items()}
    assert taken[STEP] == max(taken.values())


def test_review_of_alerts_knows_what_fired_and_what_it_could_not_see() -> None:
    done = words("alert-review")
    found = json.loads((OUT / "evidence-alert-review.json").read_text())
    fired = {(one["alert"], one["severity"]) for one in found["fired"]}
    assert {("Watchdog", "P3"), ("PageProof", "P0")} <= fired, done.stdout
    silent = {(one["alert"], one["severity"]): one["without_series"] for one in found["silent"]}
    assert not fired & set(silent)
    # No machine of these clusters has InfiniBand.
    assert "node_infiniband_state_id" in silent["NodeRdmaLinkDown", "P1"]
    # A cluster of an hour has no month behind it, so no silence of it is clean.
    assert [one["what"] for one in found["not_looked_at"] if one["essential"]] == ["a part of the time"], done.stdout
    assert found["verdict"] != "clean"


def test_unknown_run_names_those_alike(runs: Runs) -> None:
    done = words("evidence", f"RUN={runs.hot}x", f"STEP={STEP}")
    assert done.returncode != 0
    assert runs.hot in done.stdout
