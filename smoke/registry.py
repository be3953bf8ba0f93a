"""All checks: the one page that says what smoke proves, and what to do when a proof fails.

The suite holds one test per id; a test that carries no id of this page makes the run red.
"""

from __future__ import annotations

from smoke.model import Check, Impact

PROMETHEUS = "prometheus"
METRICS = ("metrics",)
NODE = ("node-access",)
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
            claim="Every pod of the namespace is Running and Ready",
            remedy=ROLL_OUT,
        ),
        Check(
            id="pods.not_restarted",
            requirement="B1",
            claim="No container has been restarted since its pod was rolled out",
            remedy="read the log of the previous container (`kubectl logs --previous`); once the cause is understood, "
            "delete the pod or roll out anew, so that the count starts at 0",
        ),
    )


def _workloads() -> tuple[Check, ...]:
    return (
        Check(
            id="workloads.rolled_out",
            requirement="B1",
            claim="Every workload has finished its roll-out: its newest revision, in the promised number of pods",
            remedy=ROLL_OUT,
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


def _metrics(id: str, requirement: str, claim: str, remedy: str, impact: Impact = Impact.READ) -> Check:
    needs = (*METRICS, "disruptive") if impact is Impact.DISRUPTIVE else METRICS
    return Check(
        id=id,
        requirement=requirement,
        claim=claim,
        remedy=remedy,
        impact=impact,
        needs=needs,
        component=PROMETHEUS,
    )


def _prometheus() -> tuple[Check, ...]:
    return (
        _metrics("prometheus.reload", "A3", "Prometheus accepted the configuration it was given last", LOGS),
        _metrics("prometheus.revision", "A3", "Prometheus runs the configuration that the stack rendered", RERUN),
        _metrics("prometheus.sentinel_rule", "A3", "The sentinel rule is loaded, healthy and evaluated", RERUN),
        _metrics("prometheus.flags", "A3", "Prometheus runs with the contracted flags", RERUN),
        _metrics(
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
        _metrics("scrape.expected_jobs", "B3", "Every contracted scrape job has its targets up", TARGET),
        _metrics("scrape.all_up", "B3", "Every target is up", TARGET),
        _metrics("scrape.no_duplicates", "B3", "No endpoint is scraped twice", "remove one of the two scrape jobs"),
        _metrics("scrape.labels", "B3", "Targets carry exactly the contracted labels", CATALOGUE),
        _metrics("signals.contract", "B3", "Every metric of the catalogue is there, as it is described", CATALOGUE),
        _metrics("signals.fresh", "B3", "Every metric of the catalogue is fresh", TARGET),
    )


def _inside() -> tuple[Check, ...]:
    return (
        _metrics(
            "pod.security",
            "A8",
            "Prometheus runs without root, capabilities and a writable root file system",
            "compare the pod's securityContext with the component's manifest; a policy or webhook may have changed it",
        ),
        _metrics(
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
        _metrics(
            "prometheus.data_survives_kill",
            "B1",
            "Samples, claim and volume of Prometheus survive the death of its pod",
            "compare the uid of claim and volume with the report; restore the data if it is gone",
            Impact.DISRUPTIVE,
        ),
    )


_ALL = (
    *(*_cluster(), *_workloads(), *_prometheus(), *_scraping()),
    *(*_inside(), *_machine(), *_disruptive()),
)
REGISTRY: dict[str, Check] = {check.id: check for check in _ALL}
CHECK_IDS: tuple[str, ...] = tuple(REGISTRY)
IDENTITY = "cluster.identity"
