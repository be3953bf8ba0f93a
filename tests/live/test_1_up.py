"""From nothing to a proven stack, again without a change, and by the literal engine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sandbox.home import find_home
from tests.live import plumbline
from tests.live.plumbline import NAMESPACE, OUT, STATE, get, pulumi, words
from tests.offline.components.grafana import golden

if TYPE_CHECKING:
    from sandbox.hosttools import HostTools

BOARDS = 7
GRAFANA = {f"grafana.{name}" for name in ("health", "closed", "datasources", "boards", "panels")}


def test_up_ends_green_with_every_pod_running(machine_before: dict[str, list[str]]) -> None:
    assert machine_before["processes"] == []
    done = words("up", boards=True)
    assert done.returncode == 0, done.stdout
    report = json.loads((OUT / "report.json").read_text())
    assert report["verdict"] == "green"
    assert (OUT / "report.html").read_text().count("data-board=") == BOARDS
    skipped = {c["id"]: c["skip_reason"] for c in report["checks"] if c["status"] == "skip"}
    assert {c["status"] for c in report["checks"]} == {"pass", "skip"}
    assert set(skipped) == GRAFANA, "without an image of it, and nothing else"
    assert all("grafana" in reason for reason in skipped.values())
    assert {p["metadata"]["namespace"] for p in get("pods", "-A")["items"]} >= {NAMESPACE}
    phases = {p["metadata"]["name"]: p["status"]["phase"] for p in get("pods", "-A")["items"]}
    assert phases["prometheus-0"] == "Running"
    assert set(phases.values()) <= {"Running", "Succeeded"}


def test_every_expected_check_is_in_the_report() -> None:
    contract = json.loads((OUT / "contract.json").read_text())
    report = json.loads((OUT / "report.json").read_text())
    assert set(contract["expected_checks"]) == {c["id"] for c in report["checks"]} - GRAFANA
    assert (OUT / "report.xml").read_text().startswith("<?xml")
    assert "<html" in (OUT / "report.html").read_text()


def test_second_up_changes_nothing() -> None:
    before = get("statefulset/prometheus", "-n", NAMESPACE)["metadata"]["generation"]
    done = words("up")
    assert done.returncode == 0, done.stdout
    assert get("statefulset/prometheus", "-n", NAMESPACE)["metadata"]["generation"] == before
    assert get("pods/prometheus-0", "-n", NAMESPACE)["status"]["containerStatuses"][0]["restartCount"] == 0


def test_second_preview_is_empty() -> None:
    done = pulumi("preview", "-s", "local", "--expect-no-changes", "--non-interactive")
    assert done.returncode == 0, done.stdout


def test_refresh_finds_the_cluster_as_the_state_says() -> None:
    done = pulumi("refresh", "-s", "local", "--expect-no-changes", "--yes", "--skip-preview", "--non-interactive")
    assert done.returncode == 0, done.stdout


def test_literal_engine_command_works() -> None:
    done = pulumi("up", "-s", "local", "--yes", "--non-interactive")
    assert done.returncode == 0, done.stdout


def test_secrets_of_the_state_are_nowhere_in_the_open() -> None:
    state = find_home().state(STATE)
    canaries = [(state / name).read_text().strip() for name in ("passphrase", "root-secret", "recovery-key")]
    exported = pulumi("stack", "export", "-s", "local").stdout
    texts = {
        "stack export": exported,
        "ConfigMaps and pods": plumbline.kubectl("get", "configmaps,pods", "-A", "-o", "yaml"),
        **{str(p): p.read_text(errors="replace") for p in (*OUT.iterdir(), *(state / "logs").iterdir())},
    }
    leaks = [name for name, text in texts.items() for canary in canaries if canary in text]
    assert leaks == []
    assert [oct((state / n).stat().st_mode & 0o777) for n in ("passphrase", "root-secret", "kubeconfig")] == [
        "0o600"
    ] * 3


@pytest.mark.parametrize("stack", ["kind", "staging", "prod"])
def test_other_stacks_preview_against_a_real_api_server(stack: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """With a Grafana on each of them, the one that has none in its file too."""
    grafana = {
        "mode": "managed",
        "admin": {"secret": {"name": "grafana-login", "key": "password"}},
        "encryption": {"name": "grafana-encryption", "key": "key"},
    }
    sections = {"grafana": grafana} if stack == "kind" else {}
    with plumbline.receivers_of(stack):
        # The GPUs of the one node are measured by the stack under test, and the doctor would not let a second one in.
        off = {"mode": "off"}
        done = plumbline.preview_elsewhere(stack, tmp_path_factory.mktemp(stack), dcgm_exporter=off, **sections)
    assert done.returncode == 0, done.stdout
    assert "StatefulSet" in done.stdout
    assert "grafana-boards" in done.stdout


@pytest.mark.parametrize("design", golden.NAMES)
def test_grafana_is_taken_by_a_real_api_server(design: str) -> None:
    """Nothing is made: the server judges each manifest as if it were."""
    manifests = golden.found(design)
    elsewhere = {m["metadata"]["namespace"] for m in manifests} - {NAMESPACE}
    for namespace in elsewhere:
        plumbline.kubectl("create", "namespace", namespace)
    try:
        listed = {"apiVersion": "v1", "kind": "List", "items": manifests}
        said = plumbline.kubectl("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(listed))
    finally:
        for namespace in elsewhere:
            plumbline.kubectl("delete", "namespace", namespace, "--timeout=120s")
    assert said.count("(server dry run)") == len(manifests)


def test_gpus_that_no_label_selects_are_refused_with_what_to_do(tmp_path_factory: pytest.TempPathFactory) -> None:
    with plumbline.receivers_of("staging"):
        done = plumbline.preview_elsewhere("staging", tmp_path_factory.mktemp("unlabelled"))
    assert done.returncode != 0
    assert "no node with GPUs has the labels nvidia.com/gpu.present=true; missed: plumbline" in done.stdout
    assert "Traceback" not in done.stdout


def test_receivers_in_a_secret_that_is_missing_are_refused_with_the_command(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    done = plumbline.preview_elsewhere("staging", tmp_path_factory.mktemp("without"))
    assert done.returncode != 0
    assert "Secret plumbline-staging/alert-receivers is missing" in done.stdout
    assert "kubectl -n plumbline-staging create secret generic alert-receivers" in done.stdout


def test_network_policy_keeps_strangers_out_and_friends_in(tools: HostTools) -> None:
    address = get("service/prometheus", "-n", NAMESPACE)["spec"]["clusterIP"]
    assert tools.root.is_dir()
    assert plumbline.connects("default", address, 9090) is False
    assert plumbline.connects(NAMESPACE, address, 9090) is True
