"""GPUs are counted, named after the pods that hold them, charged to the right team, and handed over."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from tests.live.plumbline import get, kubectl, query, smoke, until
from tests.live.workloads import CONTAINER, Holder, allocatable, samples, start, teams_namespace

if TYPE_CHECKING:
    from collections.abc import Iterator

JOB = 'job="dcgm-exporter"'
OF_EVERY_GPU = ("DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_POWER_USAGE")
TRAINING = Holder("training", "live-red", 2)
SERVING = Holder("serving", "live-blue", 1)
NEXT = Holder("serving-next", "live-blue", 1)
SCRAPES = 2


@pytest.fixture(scope="module")
def namespace() -> Iterator[str]:
    """Pods of two teams and a third that holds what is left, so that a GPU set free can go to one pod alone."""
    (offered,) = allocatable().values()
    rest = Holder("rest", "live-grey", offered - TRAINING.gpus - SERVING.gpus)
    with teams_namespace() as name:
        start(name, TRAINING, SERVING, rest)
        yield name


def _named(namespace: str, pod: str, metric: str = OF_EVERY_GPU[0]) -> list[dict[str, str]]:
    found = query(f'{metric}{{{JOB}, namespace="{namespace}", pod="{pod}"}}')
    return [series["metric"] for series in found]


def test_pod_with_two_gpus_is_named_by_exactly_two_series_of_a_metric(namespace: str) -> None:
    until("the pod is named", lambda: len(_named(namespace, TRAINING.name)) == TRAINING.gpus, 60)
    for metric in OF_EVERY_GPU:
        series = _named(namespace, TRAINING.name, metric)
        assert len({labels["UUID"] for labels in series}) == len(series) == TRAINING.gpus
        assert {labels["container"] for labels in series} == {CONTAINER}
        assert [name for labels in series for name in labels if name.startswith("exported_")] == []


def test_two_pods_side_by_side_share_no_gpu_and_nobody_else_is_named(namespace: str) -> None:
    until("both are named", lambda: len(_named(namespace, SERVING.name)) == SERVING.gpus, 60)
    ours, theirs = ({labels["UUID"] for labels in _named(namespace, name)} for name in (TRAINING.name, SERVING.name))
    assert ours.isdisjoint(theirs)
    everybody = {
        (s["metric"]["namespace"], s["metric"]["pod"]) for s in query(f'DCGM_FI_DEV_FB_FREE{{{JOB}, pod!=""}}')
    }
    assert everybody == {(namespace, pod) for pod in (TRAINING.name, SERVING.name, "rest")}


def test_smoke_counts_and_names_them() -> None:
    code, checks, output = smoke("--only", "gpu.count", "gpu.attribution")
    assert code == 0, output
    for node, offered in allocatable().items():
        exposed = query(f'count(group by (UUID) (DCGM_FI_DEV_FB_FREE{{{JOB}, node="{node}"}}))')
        assert [series["value"][1] for series in exposed] == [str(offered)]
        assert f"{node} {offered}" in checks["gpu.count"]["evidence"]
    assert TRAINING.name in checks["gpu.attribution"]["evidence"]


def test_gpu_is_handed_over_within_two_scrapes(namespace: str) -> None:
    (gpu,) = (labels["UUID"] for labels in _named(namespace, SERVING.name))
    kubectl("delete", "pod", SERVING.name, "-n", namespace)
    start(namespace, NEXT)
    until("the next pod is named", lambda: bool(_named(namespace, NEXT.name)), 60)
    state = get(f"pod/{NEXT.name}", "-n", namespace)["status"]["containerStatuses"][0]["state"]
    since = datetime.fromisoformat(state["running"]["startedAt"]).timestamp()
    named = {
        pod: [
            at for labels, times in samples(f'DCGM_FI_DEV_FB_FREE{{{JOB}, UUID="{gpu}", pod="{pod}"}}') for at in times
        ]
        for pod in (SERVING.name, NEXT.name)
    }
    scrapes = [at for _, times in samples(f"up{{{JOB}}}") for at in times]
    first = min(named[NEXT.name])
    assert len([at for at in scrapes if since < at <= first]) <= SCRAPES
    assert max(named[SERVING.name]) < first


def test_each_team_is_charged_for_its_own(namespace: str) -> None:
    """Last of this file: the pod that was handed a GPU is of the same team, and nothing changes for it."""
    wanted = {TRAINING.team: TRAINING.gpus, NEXT.team: NEXT.gpus}
    records = ("team:gpu_allocated:sum", "team:gpu_devices:count")
    until("records have both teams", lambda: [_by_team(record) for record in records] == [wanted, wanted], 150)
    info = query(f'plumbline:pod_identity:info{{namespace="{namespace}", pod="{TRAINING.name}"}}')
    assert [series["metric"]["team"] for series in info] == [TRAINING.team]


def _by_team(record: str) -> dict[str, int]:
    found = query(f'{record}{{team=~"{TRAINING.team}|{NEXT.team}"}}')
    return {series["metric"]["team"]: int(float(series["value"][1])) for series in found}
