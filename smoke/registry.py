"""All checks: the one page that says what smoke proves, and what to do when a proof fails.

The suite holds one test per id; a test that carries no id of this page makes the run red.
"""

from __future__ import annotations

from smoke.conformance import ACCELERATORS, SERVICES
from smoke.model import Check, Impact
from smoke.registry_boards import boards
from smoke.registry_experiments import EXPERIMENTS, SWANLAB, experiments
from smoke.registry_gpu import gpus
from smoke.registry_recovery import recovery
from smoke.registry_telemetry import telemetry

PROMETHEUS = "prometheus"
ALERTMANAGER = "alertmanager"
PUSHGATEWAY = "pushgateway"
METRICS = ("metrics",)
MANAGED, NODE = ("metrics", "prometheus-managed"), ("node-access",)
ROLL_OUT = "look at `kubectl describe` and the events of the pod; correct the setting it names and run `make up`"
LOGS = "read the log of Prometheus in the report; correct the configuration it names and run `make up`"
RERUN = "run `make up`: it writes the configuration again; if it stays, read the log of Prometheus in the report"
TARGET = "open the target's lastError; check that its pod runs, its port and path, and that no policy closes the way"
CATALOGUE = "compare the producer's version with its page in signals/catalogue; correct the scrape job or the page"


def _cluster() -> tuple[Check, ...]:
    return (
        Check(
            id="cluster.identity",
            requirement="B0",
            claim="The cluster behind the context is the one that the stack was deployed to",
            remedy="choose the kubeconfig and context of this stack's cluster; nothing else was asked of the other one",
        ),
        Check(
            id="pods.running",
            requirement="B1",
            claim="Every pod of the stack is Running and Ready",
            remedy=ROLL_OUT,
            spans=True,
        ),
        Check(
            id="pods.not_restarted",
            requirement="B1",
            claim="No container has been restarted since its pod was rolled out",
            remedy="read the log of the previous container (`kubectl logs --previous`); once the cause is understood, "
            "delete the pod or roll out anew, so that the count starts at 0",
            spans=True,
        ),
    )


def _workloads() -> tuple[Check, ...]:
    return (
        Check(
            id="workloads.rolled_out",
            requirement="B1",
            claim="Every workload has finished its roll-out: its newest revision, in the promised number of pods",
            remedy=ROLL_OUT,
            spans=True,
        ),
        Check(
            id="workloads.image",
            requirement="B1",
            claim="Every container runs the pinned image",
            remedy="find who changed the image (`kubectl get --show-managed-fields`), then run `make up`",
        ),
        Check(
            id="claims.bound",
            requirement="B1",
            claim="Every claim is bound to an existing volume of at least the asked size",
            remedy="look at the events of the claim and at the storage class's provisioner",
        ),
        Check(
            id="node.conditions",
            requirement="B1",
            claim="Every node is Ready, under no pressure and without a taint of trouble",
            remedy="look at `kubectl describe node` for the condition it names",
        ),
    )


def _metrics(
    id: str, requirement: str, claim: str, remedy: str, *, spans: bool = False, conformance: tuple[str, ...] = ()
) -> Check:
    """Of any Prometheus, whoever deploys it. spans: what it says rests on every exporter."""
    return Check(
        id=id,
        requirement=requirement,
        claim=claim,
        remedy=remedy,
        needs=METRICS,
        component=PROMETHEUS,
        spans=spans,
        conformance=conformance,
    )


def _own(id: str, requirement: str, claim: str, remedy: str) -> Check:
    """Of a Prometheus that this stack deploys."""
    return Check(id=id, requirement=requirement, claim=claim, remedy=remedy, needs=MANAGED, component=PROMETHEUS)


def _prometheus() -> tuple[Check, ...]:
    return (
        _own("prometheus.reload", "A3", "Prometheus accepted the configuration it was given last", LOGS),
        _own("prometheus.revision", "A3", "Prometheus runs the configuration that the stack rendered", RERUN),
        _metrics("prometheus.sentinel_rule", "A3", "The sentinel rule is loaded, healthy and evaluated", RERUN),
        _own("prometheus.flags", "A3", "Prometheus runs with the contracted flags", RERUN),
        _own(
            "prometheus.storage_fresh",
            "A3",
            "Prometheus stores what it scrapes: samples are fresh and its log is sound",
            "check the free space of the volume and the log of Prometheus; a full disk stops ingestion silently",
        ),
        _metrics(
            "prometheus.rules_healthy",
            "C8",
            "Every rule is evaluated and none fails",
            "correct the rule whose lastError is shown; joins need one series per match: aggregate with `max by` first",
        ),
    )


def _scraping() -> tuple[Check, ...]:
    return (
        _metrics(
            "scrape.expected_jobs",
            "B3",
            "Every contracted job has its targets up, on every node it must",
            TARGET,
            conformance=(SERVICES,),
        ),
        _metrics("scrape.all_up", "B3", "Every target is up", TARGET),
        _metrics(
            "scrape.no_duplicates",
            "B3",
            "No endpoint is scraped twice, and no object is told of by two targets",
            "remove one of the two scrape jobs, or one of the two exporters",
            spans=True,
        ),
        _metrics("scrape.labels", "B3", "Targets carry exactly the contracted labels", CATALOGUE),
        _metrics(
            "signals.contract",
            "B3",
            "Every metric of the catalogue is as it is described",
            CATALOGUE,
            spans=True,
            conformance=(ACCELERATORS,),
        ),
        _metrics(
            "signals.fresh",
            "B3",
            "Every metric of the catalogue is fresh, and moves",
            TARGET,
            spans=True,
            conformance=(ACCELERATORS,),
        ),
        _metrics(
            "signals.budget",
            "D12",
            "No job stores more series than are planned for it",
            "look at the metrics that are named: find the label that grew; or plan for a larger cluster in `sizing`",
            spans=True,
        ),
        _metrics(
            "signals.banned",
            "C1",
            "No series comes with a label that is banned",
            "take the label off where it is made: scraping has removed it, and series may have become one by that",
            spans=True,
        ),
    )


def _alerting() -> tuple[Check, ...]:
    return (
        Check(
            id="alertmanager.config",
            requirement="A3",
            claim="Alertmanager runs the configuration that the stack rendered",
            remedy="run `make up` with the checkout that deployed; if it stays, read the log of Alertmanager",
            needs=("alerting",),
            component=ALERTMANAGER,
        ),
        Check(
            id="alertmanager.connected",
            requirement="B5",
            claim="Prometheus sends its alerts to the contracted Alertmanager and none is lost",
            remedy="compare `alerting` in the configuration of Prometheus with the Service of Alertmanager",
            needs=(*METRICS, "alerting"),
            component=ALERTMANAGER,
        ),
        Check(
            id="push.flags",
            requirement="A3",
            claim="The Pushgateway runs with the contracted flags, so that it keeps what was pushed",
            remedy="the StatefulSet of the Pushgateway was changed by hand: run `make up`",
            needs=("push",),
            component=PUSHGATEWAY,
        ),
        Check(
            id="push.labels",
            requirement="B3",
            claim="What a job pushes is stored under the job's own labels",
            remedy="the scrape job of the Pushgateway needs honor_labels; see its targets",
            impact=Impact.SENTINEL,
            needs=(*METRICS, "push"),
            component=PUSHGATEWAY,
        ),
        Check(
            id="alerting.delivery",
            requirement="B5",
            claim="An alert of each severity arrives at its receiver alone, with a runbook that exists, and resolves",
            remedy="follow the alert from /alerts of Prometheus to Alertmanager, its silences, and the receiver's log",
            impact=Impact.SENTINEL,
            needs=(*METRICS, "push", "alerting", "alert-sink"),
            component=ALERTMANAGER,
        ),
    )


def _inside() -> tuple[Check, ...]:
    return (
        Check(
            id="pod.security",
            requirement="A8",
            claim="No pod has more privileges than it needs: no root, no capabilities, no writable root file system",
            remedy="compare the pod's securityContext with the component's manifest; a policy or webhook may have "
            "changed it",
            spans=True,
        ),
        _own(
            "pod.volume",
            "A3",
            "Prometheus writes to its claim, which has room",
            "check the volume's permissions and free space; raise the claim or lower the retention",
        ),
    )


def _node(id: str, claim: str, remedy: str) -> Check:
    return Check(id=id, requirement="A10", claim=claim, remedy=remedy, needs=NODE)


def _machine() -> tuple[Check, ...]:
    return (
        _node("node.kernel", "The kernel can run the cluster", "update the kernel; set net.ipv4.ip_forward to 1"),
        _node("node.cgroup", "Pods are limited by cgroups", "compare the kubelet's cgroup driver with what is mounted"),
        _node("node.runtime", "The container runtime is the reported one", "start the cluster again with `make up`"),
        _node("node.kubelet", "The kubelet runs and keeps its lease", "read the kubelet's log; `make up` starts it"),
        _node("node.disk", "The node has disk space and inodes left", "free disk space on the node"),
        _node("node.clock", "The clocks agree", "synchronise the machine's clock"),
    )


def _disruptive() -> tuple[Check, ...]:
    return (
        Check(
            id="swanlab.survives_kill",
            requirement="B2",
            claim="Accounts, keys, runs, points and files of SwanLab survive the death of all its pods at once",
            remedy="look which store is named: its claim or its mount has changed; restore it from its backup",
            impact=Impact.DISRUPTIVE,
            needs=(*EXPERIMENTS, "disruptive"),
            component=SWANLAB,
        ),
        Check(
            id="prometheus.data_survives_kill",
            requirement="B1",
            claim="Samples, claim and volume of Prometheus survive the death of its pod",
            remedy="compare the uid of claim and volume with the report; restore the data if it is gone",
            impact=Impact.DISRUPTIVE,
            needs=(*MANAGED, "disruptive"),
            component=PROMETHEUS,
        ),
    )


_ALL = (
    *(*_cluster(), *_workloads(), *_prometheus(), *_scraping(), *gpus(), *_alerting()),
    *(*experiments(), *boards(), *recovery(), *telemetry()),
    *(*_inside(), *_machine(), *_disruptive()),
)
REGISTRY: dict[str, Check] = {check.id: check for check in _ALL}
CHECK_IDS: tuple[str, ...] = tuple(REGISTRY)
IDENTITY = "cluster.identity"
