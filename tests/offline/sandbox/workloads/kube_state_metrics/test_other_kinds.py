"""Other kinds: expected series follow the cases of upstream's tests beside `internal/store/<kind>.go` at v2.19.1."""

from __future__ import annotations

from typing import Any

import pytest

from tests.offline.sandbox.workloads.kube_state_metrics.written import lines


def named(name: str, **parts: Any) -> dict[str, Any]:  # noqa: ANN401  # parts of an API object, as JSON has them
    """An object of namespace ns1; metadata is laid over its name."""
    return {**parts, "metadata": {"namespace": "ns1", "name": name, **parts.get("metadata", {})}}


DEPLOYMENT = named(
    "depl1",
    metadata={"generation": 21},
    spec={"replicas": 200},
    status={"availableReplicas": 10, "observedGeneration": 111},
)
STATEFULSET = named("s1", spec={"replicas": 6}, status={"readyReplicas": 5})
DAEMONSET = named("ds1", status={"desiredNumberScheduled": 15, "numberReady": 5, "numberAvailable": 4})
JOB = named(
    "RunningJob1",
    metadata={"ownerReferences": [{"kind": "CronJob", "name": "cronjob-name", "controller": True}]},
    status={"active": 1, "succeeded": 2, "startTime": "2017-05-26T12:00:07Z"},
)
CRONJOB = named(
    "Cron1",
    spec={"schedule": "0 */6 * * *", "timeZone": "Asia/Shanghai", "concurrencyPolicy": "Forbid", "suspend": False},
    status={"lastSuccessfulTime": "2018-03-11T04:34:56Z"},
)
NAMESPACE = {"metadata": {"name": "nsActive", "labels": {"app": "example1"}}, "status": {"phase": "Active"}}
CLAIM = named(
    "mysql-data",
    spec={
        "storageClassName": "rbd",
        "volumeName": "pvc-mysql-data",
        "volumeMode": "Block",
        "resources": {"requests": {"storage": "1Gi"}},
    },
    status={"phase": "Bound"},
)
QUOTA = named("q1", status={"hard": {"cpu": "4300m", "requests.nvidia.com/gpu": "8"}, "used": {"cpu": "2100m"}})

CASES: list[tuple[str, dict[str, Any], str, list[str]]] = [
    ("deployments", DEPLOYMENT, "kube_deployment_spec_replicas", ['{namespace="ns1",deployment="depl1"} 200']),
    ("deployments", named("d"), "kube_deployment_spec_replicas", []),
    (
        "deployments",
        DEPLOYMENT,
        "kube_deployment_status_replicas_available",
        ['{namespace="ns1",deployment="depl1"} 10'],
    ),
    ("deployments", named("d"), "kube_deployment_status_replicas_available", ['{namespace="ns1",deployment="d"} 0']),
    (
        "deployments",
        DEPLOYMENT,
        "kube_deployment_status_observed_generation",
        ['{namespace="ns1",deployment="depl1"} 111'],
    ),
    ("deployments", DEPLOYMENT, "kube_deployment_metadata_generation", ['{namespace="ns1",deployment="depl1"} 21']),
    ("statefulsets", STATEFULSET, "kube_statefulset_replicas", ['{namespace="ns1",statefulset="s1"} 6']),
    ("statefulsets", named("s"), "kube_statefulset_replicas", []),
    ("statefulsets", STATEFULSET, "kube_statefulset_status_replicas_ready", ['{namespace="ns1",statefulset="s1"} 5']),
    (
        "daemonsets",
        DAEMONSET,
        "kube_daemonset_status_desired_number_scheduled",
        ['{namespace="ns1",daemonset="ds1"} 15'],
    ),
    ("daemonsets", DAEMONSET, "kube_daemonset_status_number_ready", ['{namespace="ns1",daemonset="ds1"} 5']),
    ("daemonsets", DAEMONSET, "kube_daemonset_status_number_available", ['{namespace="ns1",daemonset="ds1"} 4']),
    ("jobs", JOB, "kube_job_status_active", ['{namespace="ns1",job_name="RunningJob1"} 1']),
    ("jobs", JOB, "kube_job_status_succeeded", ['{namespace="ns1",job_name="RunningJob1"} 2']),
    ("jobs", JOB, "kube_job_status_failed", ['{namespace="ns1",job_name="RunningJob1"} 0']),
    ("jobs", JOB, "kube_job_status_start_time", ['{namespace="ns1",job_name="RunningJob1"} 1.495800007e+09']),
    ("jobs", JOB, "kube_job_complete", []),
    (
        "jobs",
        JOB,
        "kube_job_owner",
        [
            '{namespace="ns1",job_name="RunningJob1",owner_kind="CronJob",owner_name="cronjob-name",'
            'owner_is_controller="true"} 1'
        ],
    ),
    (
        "cronjobs",
        CRONJOB,
        "kube_cronjob_info",
        [
            '{namespace="ns1",cronjob="Cron1",schedule="0 */6 * * *",concurrency_policy="Forbid",'
            'timezone="Asia/Shanghai"} 1'
        ],
    ),
    (
        "cronjobs",
        named("c"),
        "kube_cronjob_info",
        ['{namespace="ns1",cronjob="c",schedule="",concurrency_policy="",timezone="local"} 1'],
    ),
    ("cronjobs", CRONJOB, "kube_cronjob_spec_suspend", ['{namespace="ns1",cronjob="Cron1"} 0']),
    ("cronjobs", named("c"), "kube_cronjob_spec_suspend", []),
    (
        "cronjobs",
        CRONJOB,
        "kube_cronjob_status_last_successful_time",
        ['{namespace="ns1",cronjob="Cron1"} 1.520742896e+09'],
    ),
    (
        "namespaces",
        NAMESPACE,
        "kube_namespace_status_phase",
        ['{namespace="nsActive",phase="Active"} 1', '{namespace="nsActive",phase="Terminating"} 0'],
    ),
    ("namespaces", NAMESPACE, "kube_namespace_labels", ['{namespace="nsActive",label_app="example1"} 1']),
    (
        "persistentvolumeclaims",
        CLAIM,
        "kube_persistentvolumeclaim_info",
        [
            '{namespace="ns1",persistentvolumeclaim="mysql-data",storageclass="rbd",volumename="pvc-mysql-data",'
            'volumemode="Block"} 1'
        ],
    ),
    (
        "persistentvolumeclaims",
        named("old", metadata={"annotations": {"volume.beta.kubernetes.io/storage-class": "hdd"}}),
        "kube_persistentvolumeclaim_info",
        ['{namespace="ns1",persistentvolumeclaim="old",storageclass="hdd",volumename="",volumemode=""} 1'],
    ),
    (
        "persistentvolumeclaims",
        CLAIM,
        "kube_persistentvolumeclaim_status_phase",
        [
            '{namespace="ns1",persistentvolumeclaim="mysql-data",phase="Lost"} 0',
            '{namespace="ns1",persistentvolumeclaim="mysql-data",phase="Bound"} 1',
            '{namespace="ns1",persistentvolumeclaim="mysql-data",phase="Pending"} 0',
        ],
    ),
    (
        "persistentvolumeclaims",
        CLAIM,
        "kube_persistentvolumeclaim_resource_requests_storage_bytes",
        ['{namespace="ns1",persistentvolumeclaim="mysql-data"} 1.073741824e+09'],
    ),
    (
        "persistentvolumes",
        {"metadata": {"name": "pv"}, "status": {"phase": "Available"}},
        "kube_persistentvolume_status_phase",
        [
            '{persistentvolume="pv",phase="Pending"} 0',
            '{persistentvolume="pv",phase="Available"} 1',
            '{persistentvolume="pv",phase="Bound"} 0',
            '{persistentvolume="pv",phase="Released"} 0',
            '{persistentvolume="pv",phase="Failed"} 0',
        ],
    ),
    ("persistentvolumes", {"metadata": {"name": "pv"}}, "kube_persistentvolume_status_phase", []),
    (
        "resourcequotas",
        QUOTA,
        "kube_resourcequota",
        [
            '{namespace="ns1",resourcequota="q1",resource="cpu",type="hard"} 4.3',
            '{namespace="ns1",resourcequota="q1",resource="requests.nvidia.com/gpu",type="hard"} 8',
            '{namespace="ns1",resourcequota="q1",resource="cpu",type="used"} 2.1',
        ],
    ),
]


@pytest.mark.parametrize(("resource", "obj", "family", "expected"), CASES, ids=[f"{c[0]}-{c[2]}" for c in CASES])
def test_series(resource: str, obj: dict[str, Any], family: str, expected: list[str]) -> None:
    assert lines(resource, obj, family, ("app",)) == [family + text for text in expected]


@pytest.mark.parametrize(("kind", "family"), [("Complete", "kube_job_complete"), ("Failed", "kube_job_failed")])
def test_end_of_a_job(kind: str, family: str) -> None:
    obj = named("j", status={"conditions": [{"type": kind, "status": "True"}]})
    head = f'{family}{{namespace="ns1",job_name="j",condition='
    assert lines("jobs", obj, family) == [head + '"true"} 1', head + '"false"} 0', head + '"unknown"} 0']


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (
            [{"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}],
            ['reason="BackoffLimitExceeded"} 0', 'reason="DeadlineExceeded"} 1', 'reason="Evicted"} 0'],
        ),
        ([], ['reason=""} 3']),
        (
            [{"type": "Failed", "status": "True", "reason": "PodFailurePolicy"}],
            [
                *('reason="BackoffLimitExceeded"} 0', 'reason="DeadlineExceeded"} 0', 'reason="Evicted"} 0'),
                'reason=""} 3',
            ],
        ),
    ],
)
def test_failed_pods_of_a_job(conditions: list[dict[str, str]], expected: list[str]) -> None:
    obj = named("j", status={"failed": 3, "conditions": conditions})
    head = 'kube_job_status_failed{namespace="ns1",job_name="j",'
    assert lines("jobs", obj, "kube_job_status_failed") == [head + text for text in expected]
