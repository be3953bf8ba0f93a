"""A durable stack changes SwanLab's pins only behind a point that was made and verified recently."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import pytest

from components.errors import DeployError
from components.images import ImagePin
from components.swanlab.args import Chart
from components.swanlab.names import CHART, IMAGES
from stacks import preflight
from stacks.cluster import ForbiddenError
from stacks.images import resolve
from stacks.recovery import Recovery
from stacks.recovery_gate import PROGRAMS, check_gate
from stacks.swanlab_arguments import roles, swanlab_args
from tests.offline.components.swanlab.examples import whole
from tests.offline.stacks.readers import Silent
from tests.offline.stacks.test_preflight import WHERE
from tests.offline.stacks.test_preflight import Cluster as Permissive
from tests.offline.stacks.test_recovery_relations import GOOD, stack

if TYPE_CHECKING:
    from components.swanlab.args import SwanlabArgs
    from stacks.settings import Settings

Json = dict[str, Any]
NOW: Final = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
LAB: Final = "plumbline-swanlab"
OWN: Final = "plumbline-recovery"
APPS: Final = f"/apis/apps/v1/namespaces/{LAB}"
SELECTOR: Final = "?labelSelector=app.kubernetes.io/instance%3Dswanlab-self-hosted"
VERIFY: Final = f"/apis/batch/v1/namespaces/{OWN}/cronjobs?fieldSelector=metadata.name%3Drecovery-verify"
CREATE: Final = f"/apis/batch/v1/namespaces/{LAB}/cronjobs?fieldSelector=metadata.name%3Drecovery-create"
OLD: Final = "registry.example.org/swanlab-{}:1.0"
COMMANDS: Final = (
    "make recovery STACK=prod RUN='create --mode quiesced'\n  make recovery STACK=prod RUN='verify --latest'\n"
)


def at(hours: float) -> str:
    """A moment that many hours ago, as Kubernetes writes it."""
    return (NOW - timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")


def workload(program: str, image: str | None = None, *, chart: str | None = None, labelled: bool = True) -> Json:
    """As the chart makes it. labelled: with the label of its program, which only the selection of pods needs."""
    labels = {"app.kubernetes.io/instance": "swanlab-self-hosted"}
    labels |= {"app.kubernetes.io/service": program} if labelled else {}
    labels |= {} if chart is None else {"helm.sh/chart": chart}
    name = "swanlab-self-hosted" if program == "gateway" else f"swanlab-self-hosted-{program}"
    containers = [{"name": "side", "image": "side:9"}, {"name": program, "image": image or OLD.format(program)}]
    return {"metadata": {"name": name, "labels": labels}, "spec": {"template": {"spec": {"containers": containers}}}}


class Cluster(Silent):
    """A release that runs, and when points were last made and verified, in hours ago; None is never."""

    def __init__(self, verified: float | None = 1.0, made: float | None = 2.0, *live: Json) -> None:
        sets = [workload("vector")]
        deployments = [workload(program) for program in PROGRAMS if program != "vector"]
        if live:
            sets, deployments = [], list(live)
        self.lists: dict[str, list[Json]] = {
            f"{APPS}/statefulsets{SELECTOR}": sets,
            f"{APPS}/deployments{SELECTOR}": deployments,
            VERIFY: [self.cron_job("recovery-verify", verified)],
            CREATE: [self.cron_job("recovery-create", made)],
        }
        self.asked: list[str] = []
        self.time: datetime | None = NOW

    @staticmethod
    def cron_job(name: str, hours: float | None) -> Json:
        status = {} if hours is None else {"lastSuccessfulTime": at(hours)}
        return {"metadata": {"name": name}, "status": status}

    def listing(self, path: str) -> list[dict[str, Any]]:
        self.asked.append(path)
        if path not in self.lists:
            raise AssertionError(f"asked for list {path}")
        return self.lists[path]

    def clock(self) -> datetime | None:
        return self.time


def wanted(**tags: str) -> SwanlabArgs:
    """Arguments of SwanLab with other tags for these programs."""
    args = replace(whole(), chart=Chart(version="0.6.2", repository="https://helm.example.org"))
    pins = {f"swanlab-{name}": ImagePin(reference=f"registry.example.org/swanlab-{name}:{tags[name]}") for name in tags}
    return replace(args, images=args.images | pins)


def refusal(cluster: Cluster, args: SwanlabArgs | None = None, settings: Settings | None = None) -> str:
    """What a change of the server is answered with."""
    with pytest.raises(DeployError) as caught:
        check_gate(cluster, settings or stack(), args or wanted(server="2.0"), _silent, lambda: NOW)
    return str(caught.value)


def passes(cluster: Silent, args: SwanlabArgs | None = None, settings: Settings | None = None) -> None:
    check_gate(cluster, settings or stack(), args or wanted(server="2.0"), _silent, lambda: NOW)


def _silent(line: str) -> None:
    raise AssertionError(f"warned of {line}")


def test_change_behind_a_point_that_was_verified_recently_passes() -> None:
    cluster = Cluster()
    passes(cluster)
    assert cluster.asked == [*(f"{APPS}/{kind}{SELECTOR}" for kind in ("statefulsets", "deployments")), VERIFY, CREATE]


def test_equal_pins_pass_and_nobody_is_asked_about_points() -> None:
    cluster = Cluster(None, None)
    passes(cluster, wanted())
    assert not {VERIFY, CREATE} & set(cluster.asked)


def test_first_deployment_passes() -> None:
    cluster = Cluster(None, None)
    for kind in ("statefulsets", "deployments"):
        cluster.lists[f"{APPS}/{kind}{SELECTOR}"] = []
    passes(cluster)


def test_throwaway_stack_is_asked_nothing_at_all() -> None:
    passes(Silent(), settings=stack().model_copy(update={"profile": "throwaway"}))


@pytest.mark.parametrize("program", PROGRAMS)
def test_change_of_each_program_up_or_down_is_refused_without_a_verified_point(program: str) -> None:
    for tag in ("2.0", "0.9"):
        message = refusal(Cluster(None), wanted(**{program: tag}))
        assert f"\n- {program}: {OLD.format(program)} → registry.example.org/swanlab-{program}:{tag}\n" in message


def test_programs_are_all_of_the_chart_that_keep_or_serve_something() -> None:
    helpers = {"swanlab-identify", "swanlab-helper", "swanlab-mc"}
    assert {f"swanlab-{program}" for program in PROGRAMS} == set(IMAGES) - helpers


def test_refusal_says_what_is_accepted_and_the_next_commands() -> None:
    message = refusal(Cluster(None))
    assert message.startswith("pins of SwanLab would change, and there is no way back that was tried recently; nothing")
    assert "accepted: a restore point that was made and verified within plumbline:recovery.gate_max_age 24h" in message
    assert COMMANDS in message
    assert "pulumi config set --path 'plumbline:recovery.gate' off --stack prod" in message


def test_verification_that_never_ended_well_is_refused() -> None:
    said = f"\n- CronJob {OWN}/recovery-verify never ended well: no restore point was verified\n"
    assert said in refusal(Cluster(verified=None))
    without = Cluster()
    without.lists[VERIFY] = [{"metadata": {"name": "recovery-verify"}}]
    assert said in refusal(without)


def test_missing_cron_job_is_refused_and_another_ones_success_does_not_count() -> None:
    cluster = Cluster()
    for found in ([], [Cluster.cron_job("recovery-prune", 1.0)]):
        cluster.lists[VERIFY] = found
        message = refusal(cluster)
        assert f"CronJob {OWN}/recovery-verify is missing, so no restore point was verified by it; deploy" in message


@pytest.mark.parametrize(("age", "good"), [(23.99, True), (24.0, True), (24.01, False), (52.0, False)])
def test_verification_is_accepted_up_to_the_age_of_the_settings(age: float, *, good: bool) -> None:
    if good:
        passes(Cluster(verified=age))
        return
    said = f"a restore point was last verified {at(age)}, {age:.1f} hours ago, more than 24.0 hours"
    assert said in refusal(Cluster(verified=age))


def test_age_is_that_of_the_settings() -> None:
    short = stack(gate_max_age="1h")
    passes(Cluster(verified=0.9, made=0.9), settings=short)
    assert "1.1 hours ago, more than 1.0 hours" in refusal(Cluster(verified=1.1, made=0.9), settings=short)


def test_verified_point_that_nobody_has_made_anew_for_long_is_refused() -> None:
    """A verification restores the newest point that there is, and is good night after night."""
    message = refusal(Cluster(verified=1.0, made=72.0))
    assert f"a restore point was last made {at(72)}, 72.0 hours ago, more than 24.0 hours" in message
    assert "last verified" not in message
    never = refusal(Cluster(made=None))
    assert f"CronJob {LAB}/recovery-create never ended well: no restore point was made" in never


def test_all_that_is_missing_is_said_at_once() -> None:
    message = refusal(Cluster(verified=None, made=30.0))
    assert "never ended well: no restore point was verified" in message
    assert "a restore point was last made" in message


@pytest.mark.parametrize("ahead", [4.9, 5.0])
def test_clocks_of_a_cluster_may_be_a_little_apart(ahead: float) -> None:
    passes(Cluster(verified=-ahead / 60))


def test_verification_that_is_to_come_is_refused_as_a_clock_that_jumped() -> None:
    message = refusal(Cluster(verified=-3.0))
    said = f"a restore point was last verified {at(-3)}, which is 3.0 hours after now (2026-11-30T12:00:00Z): a clock"
    assert said in message
    assert "kubectl -n plumbline-recovery patch cronjob recovery-verify --subresource=status --type=merge" in message
    assert "which is 6 minutes after now" in refusal(Cluster(verified=-0.1))


def test_time_is_that_of_the_api_server_and_else_that_of_here() -> None:
    ahead = Cluster(verified=1.0)
    ahead.time = NOW + timedelta(hours=30)
    assert "31.0 hours ago" in refusal(ahead)
    silent = Cluster(verified=30.0)
    silent.time = None
    assert "30.0 hours ago" in refusal(silent)


def test_stack_without_recovery_is_refused_and_told_to_have_it_first() -> None:
    off = stack(mode="off", image=None, target={}, recovery_public_key=None)
    cluster = Cluster()
    message = refusal(cluster, settings=off)
    assert "\n- plumbline:recovery.mode is `off`, so there is no restore point; have recovery managed first" in message
    assert not {VERIFY, CREATE} & set(cluster.asked)
    passes(cluster, wanted(), off)


def test_gate_that_is_off_lets_through_and_says_what() -> None:
    told: list[str] = []
    check_gate(Cluster(None, None), stack(gate="off"), wanted(server="2.0"), told.append)
    (line,) = told
    assert line.startswith("plumbline:recovery.gate is `off`: nobody asked for a verified restore point")
    assert f"server: {OLD.format('server')} → registry.example.org/swanlab-server:2.0" in line
    passes(Cluster(None, None), wanted(), stack(gate="off"))


def test_gate_is_enforced_unless_told() -> None:
    assert Recovery.model_validate_json(json.dumps(GOOD)).gate == "enforced"


def test_another_version_of_the_chart_is_a_change_where_its_label_tells() -> None:
    live = workload("server", chart=f"{CHART}-0.5.0")
    message = refusal(Cluster(None, 2.0, live), wanted())
    assert "\n- chart: self-hosted-0.5.0 → self-hosted-0.6.2\n" in message
    passes(Cluster(None, 2.0, workload("server", chart=f"{CHART}-0.6.2")), wanted())
    passes(Cluster(None, 2.0, workload("server", chart="another-1.0")), wanted())


def test_version_of_a_chart_with_a_build_is_compared_as_its_label_is_written() -> None:
    args = replace(wanted(), chart=Chart(version="0.6.2+1", repository="https://helm.example.org"))
    passes(Cluster(None, 2.0, workload("server", chart=f"{CHART}-0.6.2_1")), args)


def test_chart_that_the_settings_name_by_a_path_is_known_by_its_images_alone() -> None:
    args = replace(wanted(), chart=Chart(version="0.6.2", path="/charts/self-hosted"))
    passes(Cluster(None, 2.0, workload("server", chart=f"{CHART}-0.5.0")), args)


def test_store_that_moves_elsewhere_is_not_this_gates_business() -> None:
    args = wanted()
    images = {role: pin for role, pin in args.images.items() if role != "swanlab-postgres"}
    passes(Cluster(None, None), replace(args, images=images))


def test_program_is_known_by_its_name_where_only_its_pods_are_labelled() -> None:
    for program in ("gateway", "postgres"):
        live = workload(program, labelled=False)
        assert f"- {program}: " in refusal(Cluster(None, 2.0, live), wanted(**{program: "2.0"}))


def test_container_of_another_name_is_compared_as_well() -> None:
    live = workload("server")
    beside = {"name": "side", "image": "side:9"}
    live["spec"]["template"]["spec"]["containers"] = [beside, {"name": "main", "image": OLD.format("server")}]
    assert "- server: " in refusal(Cluster(None, 2.0, live))
    passes(Cluster(None, 2.0, live), wanted())


def test_release_of_which_no_program_is_known_is_refused() -> None:
    live = workload("other")
    message = refusal(Cluster(1.0, 2.0, live), wanted())
    assert "runs swanlab-self-hosted-other of release swanlab-self-hosted, and none is a known program" in message


def test_workload_of_another_release_is_not_compared() -> None:
    live = workload("server", "registry.example.org/swanlab-server:0.1")
    live["metadata"]["labels"]["app.kubernetes.io/instance"] = "another"
    passes(Cluster(None, None, live), wanted())


def test_account_that_may_not_look_does_not_get_through() -> None:
    class Forbidding(Cluster):
        def listing(self, path: str) -> list[dict[str, Any]]:
            if "/cronjobs" in path:
                raise ForbiddenError("this account may not read it (403)")
            return super().listing(path)

    with pytest.raises(ForbiddenError):
        passes(Forbidding())


def test_deployment_asks_the_gate_before_anything_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the pins of the repository over those of an older release."""

    class Everything(Permissive):
        def listing(self, path: str) -> list[dict[str, Any]]:
            old = [workload("server", "repo.swanlab.cn/self-hosted/swanlab-server:v2.9.0")]
            return old if path == f"{APPS}/deployments{SELECTOR}" else super().listing(path)

        def secret_keys(self, namespace: str, name: str) -> frozenset[str] | None:
            self.asked.append(f"secret {namespace}/{name}")
            return frozenset({"p0", "p1", "p2", "p3", "watchdog", "accessKey", "secretKey", "password", "key"})

    monkeypatch.setattr(preflight, "check_swanlab", lambda *_: None)
    settings = stack()
    with pytest.raises(DeployError, match="pins of SwanLab would change") as caught:
        preflight.check_cluster(settings, WHERE, Everything())
    pin = resolve(settings.images, roles(settings.swanlab))["swanlab-server"].reference
    assert swanlab_args(settings, resolve(settings.images, roles(settings.swanlab))).namespace == LAB
    assert f"- server: repo.swanlab.cn/self-hosted/swanlab-server:v2.9.0 → {pin}" in str(caught.value)
    assert f"CronJob {OWN}/recovery-verify is missing" in str(caught.value)
