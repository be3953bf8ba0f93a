"""Faults while an SDK logs: what is lost is named, what can be recovered arrives, smoke is red where data is gone."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from components.swanlab.names import BUFFER
from sandbox.faults.proxy import faulty
from sandbox.faults.rules import BodyLimit, Latency, Rule, Status
from sandbox.home import find_home
from smoke.access.errors import AccessError
from smoke.judge.pods import is_live, running
from smoke.model import CheckFailedError
from smoke.proofs.roundtrip import Roundtrip
from smoke.proofs.roundtrip_process import Process
from smoke.stack import Stack
from stacks.contract import Contract
from tests.live import swanlab, swanlab_pods
from tests.live.plumbline import OUT, STATE, get, kubectl, smoke, until
from tests.live.swanlab import site
from tests.live.swanlab_pods import SPACE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from smoke.model import Problem

METRICS: Final = "/api/house/metrics"
MEDIA: Final = {"sentinel/audio", "sentinel/image", "sentinel/text"}
MEBIBYTE: Final = 1024**2


def test_object_store_that_refuses_costs_the_media_and_they_are_named(tmp_path: Path) -> None:
    where = site()
    forbidden = Rule(act=Status(403), verb="PutObject", key="swanlab-private/*")
    with faulty(where.url, where.store, rules=[forbidden]) as proxy:
        with swanlab.logging(where, tmp_path, proxy, keys=1, steps=50) as future:
            run = swanlab.ended(future)
        assert [call.status for call in proxy.calls if call.asked.verb == "PutObject"].count(403) >= len(MEDIA)
    lost = swanlab.settled(where, run)
    assert {line.partition(":")[0] for line in lost} == MEDIA, lost
    swanlab.forget(where, run)


def test_object_store_that_is_busy_for_a_while_costs_nothing(tmp_path: Path) -> None:
    where = site()
    with faulty(where.url, where.store, rules=[Rule(act=Status(503), verb="PutObject", last=4)]) as proxy:
        with swanlab.logging(where, tmp_path, proxy, keys=1, steps=50) as future:
            run = swanlab.ended(future)
        statuses = [call.status for call in proxy.calls if call.asked.verb == "PutObject"]
    assert statuses.count(503) == 4
    swanlab.arrives(where, run)


def test_body_limit_of_one_megabyte_loses_points_and_they_are_named(tmp_path: Path) -> None:
    where = site()
    # While the first batch is held the rest gathers: a batch of 10,000 records is over the limit.
    rules = [Rule(act=Latency(20.0), route=METRICS, last=1), Rule(act=BodyLimit(MEBIBYTE), route=METRICS)]
    with faulty(where.url, where.store, rules=rules) as proxy:
        with swanlab.logging(where, tmp_path, proxy, keys=2, steps=10_000) as future:
            run = swanlab.ended(future)
        refused = [call.asked.size for call in proxy.calls if call.status == 413]
    assert refused
    assert min(refused) > MEBIBYTE
    lost = swanlab.settled(where, run)
    assert any("steps are missing" in line for line in lost), lost
    swanlab.forget(where, run)


def test_session_that_ends_while_an_sdk_logs_loses_all_from_then_on_and_it_is_named(tmp_path: Path) -> None:
    where = site()
    with faulty(where.url, where.store, rules=[Rule(act=Status(503), route=METRICS)]) as proxy:
        with swanlab.logging(where, tmp_path, proxy, keys=1, steps=50) as future:
            try:
                until("the first points are held", lambda: any(call.status == 503 for call in proxy.calls), 120)
                ended = swanlab_pods.inside("redis", "redis-cli --scan --pattern 'sid:*' | xargs -r redis-cli del")
                assert int(ended.split()[-1]) >= 1
            finally:
                proxy.rules = []
            run = swanlab.ended(future, may_raise=True)
        assert any(call.status == 401 for call in proxy.calls if call.asked.path == METRICS)
    lost = swanlab.settled(where, run)
    assert [key for key in run.logged if not any(line.startswith(f"{key}:") for line in lost)] == []
    assert "state is 'RUNNING', expected 'FINISHED'" in lost
    swanlab.forget(where, run)


def test_store_that_is_killed_again_and_again_while_sdks_log_loses_nothing(tmp_path: Path) -> None:
    where = site()
    runs = []
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with swanlab.logging(where, tmp_path, None, keys=2, steps=500) as future:
            while not future.done():
                names = [pod["metadata"]["name"] for pod in swanlab_pods.pods("clickhouse") if is_live(pod)]
                if names:
                    kubectl("delete", "pod", *names, "-n", SPACE, "--grace-period=0", "--force", check=False)
                time.sleep(3)
            runs.append(swanlab.ended(future))
    swanlab.everything_runs()
    for run in runs:
        swanlab.arrives(where, run)


def test_lost_buffer_is_red_although_every_pod_is_healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", swanlab.with_kubectl()["PATH"])
    with _proof() as proof:
        with swanlab_pods.stopped("clickhouse"):
            proof.begin()
            until("the SDK has logged all", lambda: _has_logged(proof), 300)
            with swanlab_pods.stopped(BUFFER):
                for claim in _buffer_claims():
                    swanlab_pods.empty_claim(claim)
        swanlab.everything_runs()
        problems = _final(proof)
    living = [pod for pod in get("pods", "-n", SPACE)["items"] if is_live(pod)]
    assert running(living, SPACE) == []
    lost = {problem.subject.removeprefix("key ") for problem in problems if "missing" in problem.seen}
    assert lost >= set(proof.run.logged), problems


@contextmanager
def _proof() -> Iterator[Roundtrip]:
    """The very proof that check swanlab.roundtrip plays; its run is removed afterwards."""
    contract = Contract.model_validate_json((OUT / "contract.json").read_text())
    stack = Stack(contract, find_home().state(STATE) / "kubeconfig")
    proof = Roundtrip(stack, Process(stack))
    try:
        yield proof
    finally:
        try:
            proof.end()
        finally:
            stack.close()


def _has_logged(proof: Roundtrip) -> bool:
    with suppress(AccessError):  # nothing can be read while the store is away
        problems = proof.advance()
        assert not any("driver" in problem.subject and problem.terminal for problem in problems), problems
    try:
        return bool(proof.run.finished)
    except CheckFailedError:
        return False


def _final(proof: Roundtrip) -> list[Problem]:
    """The problems with which the check would end: those that do not heal by waiting."""
    found: list[Problem] = []

    def probe() -> bool:
        with suppress(AccessError):
            found[:] = proof.advance()
        return any(problem.terminal for problem in found)

    until("the check gives up on what is missing", probe, 180)
    return found


def _buffer_claims() -> tuple[str, ...]:
    contract = Contract.model_validate_json((OUT / "contract.json").read_text())
    assert contract.experiments is not None
    return contract.experiments.stores["buffer"].claims


def test_after_all_faults_smoke_finds_nothing_lost() -> None:
    checks = ("swanlab.ready", "swanlab.activated", "swanlab.volumes", "swanlab.roundtrip")
    code, _, output = smoke(*(word for check in checks for word in ("--only", check)))
    assert code == 0, output
