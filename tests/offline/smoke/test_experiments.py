"""SwanLab and the object store from end to end against stand-ins: green as a whole, red and to the point on each fault.

The pods of these stand-ins are healthy throughout: what is missing is data.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from smoke import limits
from smoke.judge import security
from smoke.proofs.roundtrip_pod import sentinel_pod
from stacks.contract import Experiments
from tests.offline.smoke.conftest import check_of
from tests.offline.smoke.fake_swanlab import KEY, Run
from tests.offline.smoke.lab import BASE, LARGE, PGDATA, Lab, bucket

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]

CHECKS = (
    *("swanlab.ready", "swanlab.activated", "swanlab.closed", "swanlab.large_bodies", "swanlab.volumes"),
    *("swanlab.roundtrip", "swanlab.roundtrip_pod", "objects.roundtrip", "objects.anonymous"),
)


def test_everything_is_green_and_nothing_is_left(lab: Lab) -> None:
    code, report = lab.run(*CHECKS)
    failed = {c["id"]: c["evidence"] for c in report["checks"] if c["status"] not in ("pass", "skip")}
    assert {c["id"] for c in report["checks"] if c["status"] == "pass"} == {"cluster.identity", *CHECKS}
    assert (failed, report["faults"], code) == ({}, [], 0)
    assert (lab.left(), lab.killed) == ([], [])
    # 2 keys of 20 steps, 3 infinities and 3 NaN; 2 images, sounds and texts.
    for check_id in ("swanlab.roundtrip", "swanlab.roundtrip_pod"):
        assert "46 points of 4 keys, 6 files, 20 lines, 2 settings" in check_of(report, check_id)["evidence"]
        assert check_of(report, check_id)["tier"] == "simulated"
    told = check_of(report, "swanlab.volumes")["evidence"]
    assert f"postgres: {PGDATA} of pod postgres-0 is on claim swanlab-postgres-pvc" in told
    assert len(told.splitlines()) == 4
    assert KEY not in json.dumps(report)
    assert "verysecret" not in json.dumps(report)


def _lose(key: str, *steps: int) -> Callable[[Run], None]:
    def damage(run: Run) -> None:
        run.points[key] = [point for point in run.points[key] if point[0] not in steps]

    return damage


def _points_lost(lab: Lab) -> None:
    lab.swanlab.damage = _lose("sentinel/k1", 3, 4, 5, 9)


def _all_points_lost(lab: Lab) -> None:
    lab.swanlab.damage = lambda run: run.points.update({key: [] for key in run.points})


def _column_lost(lab: Lab) -> None:
    lab.swanlab.damage = lambda run: run.points.pop("sentinel/k0")


def _value_changed(lab: Lab) -> None:
    lab.swanlab.damage = lambda run: run.points["sentinel/k0"].__setitem__(2, (2, "7"))


def _point_twice(lab: Lab) -> None:
    lab.swanlab.damage = lambda run: run.points["sentinel/k0"].append((2, "2.0"))


def _file_damaged(lab: Lab) -> None:
    lab.swanlab.damage = lambda run: run.files["sentinel/image"].__setitem__(1, (1, b"other"))


def _file_lost(lab: Lab) -> None:
    lab.swanlab.damage = lambda run: run.files["sentinel/image"].pop()


def _lines_lost(lab: Lab) -> None:
    lab.swanlab.damage = lambda run: run.lines.pop(3)


def _setting_lost(lab: Lab) -> None:
    lab.swanlab.damage = lambda run: run.config.pop("lr")


def _never_finished(lab: Lab) -> None:
    lab.swanlab.damage = lambda run: setattr(run, "state", "RUNNING")


def _other_sdk(lab: Lab) -> None:
    lab.swanlab.sdk = "0.10.3"


def _no_result(lab: Lab) -> None:
    lab.swanlab.printed = lambda _: "Traceback: no module named swanlab\n"


def _pod_failed(lab: Lab) -> None:
    lab.phase = "Failed"


def _not_activated(lab: Lab) -> None:
    lab.swanlab.licence["enabled"] = False


def _expired(lab: Lab) -> None:
    lab.swanlab.licence["expired"] = True


def _key_refused(lab: Lab) -> None:
    lab.swanlab.keys = {"another": "bob"}


def _no_key(lab: Lab) -> None:
    del lab.world.api.objects[f"{BASE}/secrets/swanlab-api-key"]


def _any_key(lab: Lab) -> None:
    class Everybody(dict[str, str]):
        def __contains__(self, _: object) -> bool:
            return True

        def __missing__(self, _: str) -> str:
            return "alice"

    lab.swanlab.keys = Everybody()


def _internal_open(lab: Lab) -> None:
    lab.swanlab.answers["/api/house/internal"] = (200, b"{}")


def _house_down(lab: Lab) -> None:
    lab.swanlab.answers["/api/house/health"] = (503, b"")


def _gate_blind(lab: Lab) -> None:
    lab.swanlab.parts.clear()


def _part_down(lab: Lab) -> None:
    lab.swanlab.parts["clickhouse"] = 0


def _public_writable(lab: Lab) -> None:
    lab.store.anonymous |= {"PUT swanlab-public", "LIST swanlab-public", "DELETE swanlab-public"}


def _private_readable(lab: Lab) -> None:
    lab.store.anonymous |= {"GET swanlab-private"}


def _public_closed(lab: Lab) -> None:
    lab.store.anonymous.clear()


def _bytes_damaged(lab: Lab) -> None:
    lab.store.damage = b"\n"


def _any_access_key(lab: Lab) -> None:
    lab.store.known.add("plumbline-nobody")


def _no_key_of_the_owner(lab: Lab) -> None:
    del lab.world.api.objects["/api/v1/namespaces/plumbline/secrets/object-store-keys"]["data"]["swanlab-secret-key"]


def _ephemeral(lab: Lab) -> None:
    lab.pods[0]["spec"]["volumes"] = [{"name": "data", "emptyDir": {}}]


def _data_elsewhere(lab: Lab) -> None:
    lab.keeps("postgres", "/var/lib/postgresql/15/main")


def _redis_elsewhere(lab: Lab) -> None:
    lab.keeps("redis", "/var/lib/redis")


def _clickhouse_elsewhere(lab: Lab) -> None:
    lab.keeps("clickhouse", "/mnt/clickhouse")


def _small_bodies_alone(lab: Lab) -> None:
    lab.swanlab.largest = LARGE - 1


def _large_bodies_cut(lab: Lab) -> None:
    lab.swanlab.largest, lab.swanlab.cuts = LARGE - 1, True


def _no_body_at_all(lab: Lab) -> None:
    lab.swanlab.answers["/api/house/metrics"] = (403, b"")


def _logs_fewer_points(lab: Lab) -> None:
    lab.swanlab.forgets = lambda told: told["logged"]["sentinel/k1"].pop()


def _logs_no_key(lab: Lab) -> None:
    lab.swanlab.forgets = lambda told: told["logged"].pop("sentinel/k1")


def _logs_fewer_files(lab: Lab) -> None:
    lab.swanlab.forgets = lambda told: told["media"]["sentinel/text"].pop()


def _logs_fewer_lines(lab: Lab) -> None:
    lab.swanlab.forgets = lambda told: told["lines"].pop()


FAULTS: list[tuple[Callable[[Lab], None], str, str]] = [
    (_points_lost, "swanlab.roundtrip", "key sentinel/k1: seen 4 missing (steps 3-5, 9); expected all 20 steps, equal"),
    (_points_lost, "swanlab.roundtrip_pod", "key sentinel/k1: seen 4 missing (steps 3-5, 9)"),
    (_all_points_lost, "swanlab.roundtrip", "key sentinel/k0: seen 20 missing (steps 0-19)"),
    (_column_lost, "swanlab.roundtrip", "keys that are missing: seen sentinel/k0"),
    (_value_changed, "swanlab.roundtrip_pod", "key sentinel/k0: seen 1 different (steps 2); step 2 is '7'"),
    (_point_twice, "swanlab.roundtrip_pod", "key sentinel/k0: seen 1 extra (steps 2)"),
    (_file_damaged, "swanlab.roundtrip_pod", "1 missing or different (steps 1)"),
    (_file_lost, "swanlab.roundtrip_pod", "files of key sentinel/image: seen 1 files"),
    (_lines_lost, "swanlab.roundtrip_pod", "terminal log: seen 1 of 20 lines missing"),
    (_setting_lost, "swanlab.roundtrip_pod", "setting lr: seen missing; expected 0.1"),
    (_never_finished, "swanlab.roundtrip_pod", "state of the run: seen RUNNING; expected FINISHED"),
    (_other_sdk, "swanlab.roundtrip_pod", "SDK of the driver: seen 0.10.3; expected 0.8.4, the pinned one"),
    (_no_result, "swanlab.roundtrip", "PLUMBLINE-RESULT lines 0 were printed"),
    (_pod_failed, "swanlab.roundtrip_pod", "seen Failed"),
    (_not_activated, "swanlab.activated", "licence: seen enabled: False; expected enabled: True"),
    (_expired, "swanlab.activated", "licence: seen expired: True"),
    (_key_refused, "swanlab.activated", "HTTP 401"),
    (_key_refused, "swanlab.roundtrip", "HTTP 401"),
    (_no_key, "swanlab.activated", "Secret swanlab-api-key of namespace plumbline-swanlab: seen does not exist"),
    (_any_key, "swanlab.closed", "login with an empty key: seen logged in; expected refused"),
    (_internal_open, "swanlab.closed", "GET /api/house/internal of the gateway: seen HTTP 200; expected no 2xx"),
    (_public_writable, "swanlab.closed", "PUT swanlab-public by a stranger: seen allowed"),
    (_house_down, "swanlab.ready", "HTTP 503"),
    (_gate_blind, "swanlab.ready", "SwanLab's gate: seen no plumbline_swanlab_up"),
    (_part_down, "swanlab.ready", "part clickhouse as SwanLab's gate sees it: seen not well"),
    (_public_writable, "objects.anonymous", "LIST swanlab-public by a stranger: seen allowed"),
    (_private_readable, "objects.anonymous", "swanlab-private/plumbline-sentinel/"),
    (_public_closed, "objects.anonymous", "seen HTTP 403; expected readable"),
    (_bytes_damaged, "objects.roundtrip", "seen 65537 bytes"),
    (_any_access_key, "objects.roundtrip", "by a wrong key: seen allowed"),
    (_no_key_of_the_owner, "objects.roundtrip", "has no key 'swanlab-secret-key'"),
    (_ephemeral, "swanlab.volumes", "claim swanlab-postgres-pvc: seen a volume of no pod of its store"),
    (_data_elsewhere, "swanlab.volumes", "/var/lib/postgresql/15/main: seen on the container's own file system"),
    (_redis_elsewhere, "swanlab.volumes", "state in /var/lib/redis: seen on the container's own file system"),
    (_clickhouse_elsewhere, "swanlab.volumes", "state in /mnt/clickhouse: seen on the container's own file system"),
    (_small_bodies_alone, "swanlab.large_bodies", f"with {LARGE} bytes: seen HTTP 413; expected HTTP 400"),
    (_large_bodies_cut, "swanlab.large_bodies", "/api/house/metrics: seen no answer"),
    (_no_body_at_all, "swanlab.large_bodies", "with 2 bytes: seen HTTP 403"),
    (_logs_fewer_points, "swanlab.roundtrip", "19 points of sentinel/k1 were logged, planned were 20"),
    (_logs_no_key, "swanlab.roundtrip_pod", "0 points of sentinel/k1 were logged, planned were 20"),
    (_logs_fewer_files, "swanlab.roundtrip_pod", "1 files of sentinel/text were logged, planned were 2"),
    (_logs_fewer_lines, "swanlab.roundtrip", "19 lines were logged, planned were 20"),
]


@pytest.mark.parametrize(("damage", "check_id", "words"), FAULTS)
def test_fault_turns_its_check_red_and_nothing_is_left(
    lab: Lab, damage: Callable[[Lab], None], check_id: str, words: str
) -> None:
    damage(lab)
    code, report = lab.run(check_id)
    found = check_of(report, check_id)
    assert found["status"] == "fail"
    assert words in found["evidence"]
    assert code == 1
    assert KEY not in json.dumps(report)
    assert [name for name in lab.left() if not name.startswith("swanlab-p")] == []


def test_each_public_bucket_of_the_stacks_own_store_is_closed_to_writing(lab: Lab) -> None:
    buckets = {"buckets": [bucket("a-private"), bucket("b-public", public_read=True)]}
    lab.store.anonymous = {"GET b-public", "PUT a-private", "LIST b-public"}
    _, report = lab.run("swanlab.closed", object_store=buckets)
    evidence = check_of(report, "swanlab.closed")["evidence"]
    assert "LIST b-public by a stranger: seen allowed" in evidence
    assert "PUT" not in evidence


def test_stack_without_a_public_bucket_says_what_it_did_not_ask(lab: Lab) -> None:
    _, report = lab.run("swanlab.closed", object_store={"buckets": [bucket("a-private")]})
    assert "the contract does not say where the public bucket is" in check_of(report, "swanlab.closed")["evidence"]


def test_what_killed_runs_have_left_is_removed_and_what_others_have_is_not(lab: Lab) -> None:
    lab.swanlab.store("sentinel-dead", "old1", "2026-01-01T00:00:00Z")
    lab.swanlab.store("sdk-1-0.8.4", "old2", "2026-01-01T00:00:00Z")
    lab.store.objects["swanlab-public/plumbline-sentinel/1000-dead"] = b"x"
    lab.store.objects["swanlab-public/media/a"] = b"x"
    labels = {"plumbline.dev/sentinel": "swanlab-roundtrip"}
    for kind in ("pods", "configmaps"):
        dead = {"metadata": {"name": "plumbline-sdk-proof-dead", "uid": f"dead-{kind}", "labels": labels}}
        lab.world.api.objects[f"{BASE}/{kind}"].append(dead)
    code, _ = lab.run(*CHECKS)
    assert code == 0
    assert lab.left() == ["sdk-1-0.8.4", "swanlab-public/media/a"]


def test_stack_without_a_store_of_its_own_says_what_it_did_not_ask(lab: Lab) -> None:
    without = ["experiments"]
    code, report = lab.run("swanlab.closed", capabilities=without)
    assert code == 0
    assert "the contract does not say where the public bucket is" in check_of(report, "swanlab.closed")["evidence"]


def test_stack_without_a_gate_says_so(lab: Lab) -> None:
    components = lab.contract()["components"]
    del components["swanlab"]["endpoints"]["gate"]
    code, report = lab.run("swanlab.ready", components=components)
    assert code == 0
    assert "the contract has no gate" in check_of(report, "swanlab.ready")["evidence"]


def test_public_bucket_of_an_s3_elsewhere_is_asked_by_its_address(lab: Lab) -> None:
    experiments = lab.contract()["experiments"] | {"public_bucket": f"{lab.addresses[1]}/elsewhere"}
    code, report = lab.run("swanlab.closed", capabilities=["experiments"], experiments=experiments)
    assert (code, "so are PUT and LIST" in check_of(report, "swanlab.closed")["evidence"]) == (0, True)
    lab.store.anonymous |= {"PUT elsewhere", "LIST elsewhere", "DELETE elsewhere"}
    code, report = lab.run("swanlab.closed", capabilities=["experiments"], experiments=experiments)
    evidence = check_of(report, "swanlab.closed")["evidence"]
    assert (code, lab.left()) == (1, [])
    for verb in ("PUT", "LIST"):
        assert f"{verb} {lab.addresses[1]}/elsewhere by a stranger: seen allowed" in evidence


def test_public_bucket_of_the_charts_own_store_is_asked_through_the_gateway(lab: Lab) -> None:
    experiments = lab.contract()["experiments"]
    experiments["stores"]["s3"] = {"mode": "chart", "claims": ["swanlab-minio-pvc"]}
    lab.run("swanlab.closed", capabilities=["experiments"], experiments=experiments)
    asked = [path for path in lab.swanlab.asked if "swanlab-public" in path]
    assert [path.split("/")[0] for path in asked] == ["PUT ", "GET "]


def test_pod_that_smoke_creates_is_restricted_and_has_the_key_by_reference_alone() -> None:
    experiments = Experiments.model_validate(
        {
            "sdk": "0.8.4",
            "host": "http://gateway",
            "login": {"namespace": "n", "name": "swanlab-api-key", "key": "api-key"},
            "sdk_image": "sdk:1",
            "stores": {},
            "body_limit": 1,
        }
    )
    pod = sentinel_pod("p", experiments, [{"name": "pull"}])
    assert security.restricted(pod, "pod p") == []
    assert pod["spec"]["activeDeadlineSeconds"] == limits.SENTINEL_LIFE
    env = {one["name"]: one for one in pod["spec"]["containers"][0]["env"]}
    assert env["SWANLAB_API_KEY"]["valueFrom"] == {"secretKeyRef": {"name": "swanlab-api-key", "key": "api-key"}}
    assert env["SWANLAB_API_HOST"]["value"] == "http://gateway"
