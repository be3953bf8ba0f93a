"""Pages of exporters say how the exporter must run, and that is what makes them true."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from components.alertmanager.names import FLAGS as ALERTMANAGER_FLAGS
from signals.catalogue import PRODUCERS
from signals.catalogue.kube_pods import IDENTITY_LABELS
from signals.catalogue.kube_state_metrics import NODE_LABELS, PRODUCER, RESOURCES, SELF, allowlist, labels_allowlist
from signals.catalogue.node_exporter import COLLECTORS, FLAGS
from signals.catalogue.node_exporter import PRODUCER as NODE
from signals.rules.inputs import POD_LABELS
from tests.offline.signals.promtool_cases import alerts

if TYPE_CHECKING:
    from signals.catalogue.model import Metric, Producer


def flag(name: str) -> str:
    return next(value.removeprefix(f"--{name}=") for value in FLAGS if value.startswith(f"--{name}="))


def sanitised(label: str) -> str:
    """As kube-state-metrics makes a metric's label of an object's (internal/store/utils.go)."""
    return "label_" + re.sub(r"[^a-zA-Z0-9_]", "_", label)


@pytest.mark.parametrize("page", PRODUCERS, ids=lambda page: page.job)
def test_no_drop_takes_a_metric_of_its_own_page(page: Producer) -> None:
    whole = [drop for drop in page.drops if not drop.buckets and not drop.labels]
    assert [m.name for m in page.metrics for drop in whole if re.fullmatch(drop.metric, m.name)] == []


@pytest.mark.parametrize("page", PRODUCERS, ids=lambda page: page.job)
def test_every_page_plans_its_series(page: Producer) -> None:
    budget = page.budget
    planned = (budget.fixed, budget.per_target, budget.per_gpu, budget.per_pod, budget.per_node, budget.per_api_server)
    assert sum(planned) > 0


def test_only_the_listed_collectors_run() -> None:
    assert FLAGS[0] == "--collector.disable-defaults"
    assert set(FLAGS[1 : len(COLLECTORS) + 1]) == {f"--collector.{name}" for name in COLLECTORS}


@pytest.mark.parametrize("metric", NODE.metrics, ids=lambda metric: metric.name)
def test_the_collector_of_every_node_metric_runs(metric: Metric) -> None:
    found = re.search(r"collector/(\w+?)(_common|_linux)?\.go$", metric.source)
    assert found is None or found[1] in (*COLLECTORS, "collector"), metric


@pytest.mark.parametrize(
    ("name", "kept", "left_out"),
    [
        (
            "collector.netdev.device-exclude",
            ("eth0", "bond0", "ib0", "ens5", "enp1s0f0", "mlx5_0"),
            ("lo", "veth12", "cali3", "docker0", "cni0", "br-1a", "kube-bridge"),
        ),
        (
            "collector.filesystem.mount-points-exclude",
            ("/", "/data", "/var", "/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet", "/home", "/system"),
            (
                "/proc",
                "/sys/fs",
                "/run",
                "/run/user/0",
                "/var/lib/kubelet/pods/x/volumes/y",
                "/var/lib/docker/overlay2/z",
            ),
        ),
        (
            "collector.filesystem.fs-types-exclude",
            ("ext4", "xfs", "btrfs", "zfs", "nfs4", "lustre", "ceph", "vfat", "fuse.juicefs"),
            ("tmpfs", "overlay", "squashfs", "proc", "cgroup2"),
        ),
        ("collector.vmstat.fields", ("oom_kill", "pgmajfault"), ("pgfault", "pgpgin")),
        ("collector.netstat.fields", ("Tcp_RetransSegs", "TcpExt_ListenDrops"), ("Udp_InErrors", "Icmp_InMsgs")),
    ],
)
def test_filters_of_node_exporter(name: str, kept: tuple[str, ...], left_out: tuple[str, ...]) -> None:
    """As Go's `MatchString`: anywhere, unless anchored. A match of an `exclude` flag leaves out, of `fields` keeps."""
    pattern = re.compile(flag(name))
    excludes = name.endswith("exclude")
    assert [value for value in kept if bool(pattern.search(value)) is excludes] == []
    assert [value for value in left_out if bool(pattern.search(value)) is not excludes] == []


def test_both_network_collectors_see_the_same_devices() -> None:
    assert flag("collector.netclass.ignored-devices") == flag("collector.netdev.device-exclude")


def test_the_allow_list_has_the_families_of_the_page_and_no_other() -> None:
    """kube-state-metrics searches for its expressions anywhere in a name."""
    patterns = [re.compile(pattern) for pattern in allowlist().split(",")]
    shown = [metric.name for metric in PRODUCER.metrics]
    assert [name for name in shown if not any(p.search(name) for p in patterns)] == []
    others = ["kube_pod_info_x", "x_kube_pod_info", "kube_pod_status_qos_class", "kube_secret_info", "kube_pod_created"]
    assert [name for name in others if any(p.search(name) for p in patterns)] == []


def test_every_kind_of_object_on_the_page_is_watched_and_no_other() -> None:
    files = {metric.source.rpartition("/")[2].removesuffix(".go") for metric in PRODUCER.metrics}
    assert {f"{name}s" for name in files} == set(RESOURCES)


def test_labels_are_allowed_by_name_per_kind() -> None:
    assert labels_allowlist(("a/team", "app")) == (
        "pods=[a/team,app],nodes=[nvidia.com/gpu.product,node.kubernetes.io/instance-type,"
        "topology.kubernetes.io/zone,node-role.kubernetes.io/control-plane]"
    )
    assert labels_allowlist(("app",), ("team",)).endswith(",namespaces=[team]")


def test_label_names_of_the_page_are_those_of_the_objects() -> None:
    assert set(IDENTITY_LABELS) == {sanitised(label) for label in POD_LABELS.values()}
    shown = next(metric for metric in PRODUCER.metrics if metric.name == "kube_node_labels")
    assert set(shown.optional) == {sanitised(label) for label in NODE_LABELS}


def test_objects_and_the_program_that_tells_of_them_are_two_pages() -> None:
    """They are two ports. A target that lacked half of a page's metrics would count as stale."""
    assert not {metric.name for metric in PRODUCER.metrics} & {metric.name for metric in SELF.metrics}
    assert (PRODUCER.honor_labels, SELF.honor_labels) == (True, False)


def test_no_rule_and_no_page_asks_for_what_replicas_of_alertmanager_would_show() -> None:
    """It runs once, without gossip: whatever compares replicas could never fire."""
    assert ALERTMANAGER_FLAGS["cluster.listen-address"] == ""
    names = {metric.name for page in PRODUCERS for metric in page.metrics}
    assert {name for name in names if name.startswith("alertmanager_cluster")} == set()
    compared = [alert.alert for alert in alerts() if "alertmanager_c" in alert.expr and "hash" in alert.expr]
    assert compared + [alert.alert for alert in alerts() if "alertmanager_cluster" in alert.expr] == []
