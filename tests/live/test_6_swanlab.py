"""SwanLab on the stack under test: every SDK, refused settings, passwords that stay and turn, an upgrade and back."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

from components.swanlab.names import BUFFER, SECRETS, service_name
from sandbox.home import find_home
from smoke.access.errors import RefusedError
from smoke.access.objects import Key, Objects
from smoke.sdk.matrix import MATRIX, read_matrix
from tests.live import swanlab, swanlab_pods
from tests.live.plumbline import OUT, ROOT, STATE, forwarded, get, images_of_tests, kubectl, pulumi, smoke, until, words
from tests.live.swanlab import site
from tests.live.swanlab_pods import SPACE, WRITERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GENERATIONS: Final = (
    "swanlab.stores.postgres.generation",
    "swanlab.stores.clickhouse.generation",
    "object_store.generation",
)
DUMP: Final = "/tmp/before-upgrade.dump"  # noqa: S108  # a volume of PostgreSQL's pod, which stays
UPGRADED: Final = ("server", "auth", "house")
LATER: Final = "swanlab-server-next"


def test_every_store_lies_on_its_claim() -> None:
    code, checks, output = smoke("--only", "swanlab.volumes")
    assert code == 0, output
    told = checks["swanlab.volumes"]["evidence"]
    assert "postgres: /var/lib/postgresql/data" in told
    for store in ("postgres", "redis", "clickhouse"):
        assert f"is on claim swanlab-{store}-pvc" in told


def test_every_sdk_does_what_the_matrix_says() -> None:
    done = words("sdk-regression", timeout=1500)
    assert done.returncode == 0, done.stdout
    matrix = read_matrix()
    report = json.loads((OUT / "sdk-regression.json").read_text())
    asked = {(answer["sdk"], answer["scenario"]) for answer in report["answers"]}
    assert asked == {(version, scenario.name) for version in matrix.versions for scenario in matrix.scenarios}
    assert all(answer["right"] for answer in report["answers"])
    table = [line.split() for line in done.stdout.splitlines()]
    assert ["scenario", *matrix.versions] in table
    assert any(line[:1] == ["roundtrip"] and line.count("equal") == len(matrix.versions) for line in table)


def test_wrong_expectation_is_red(tmp_path: Path) -> None:
    head, *parts = re.split(r"(?m)^(?=\[scenarios\.\w+\]$)", MATRIX.read_text())
    # The scenarios that need no run: seconds instead of minutes.
    calls = "".join(part for part in parts if 'script = "calls"' in part)
    before, mark, after = calls.partition("[scenarios.login_web_host]")
    wrong = tmp_path / "matrix.toml"
    wrong.write_text(head + before + mark + after.replace('outcome = "TypeError"', 'outcome = "accepted"', 1))
    kubeconfig = find_home().state(STATE) / "kubeconfig"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "smoke.sdk", "--matrix", str(wrong)),
            *("--contract", str(OUT / "contract.json"), "--sdk", "0.8.4"),
            *("--out", str(tmp_path), "--cache", str(find_home().cache / "sdk"), "--kubeconfig", str(kubeconfig)),
        ],
        cwd=ROOT,
        env=swanlab.with_kubectl(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    answers = json.loads((tmp_path / "sdk-regression.json").read_text())["answers"]
    assert [a["scenario"] for a in answers if not a["right"]] == ["login_web_host"]
    assert "SDK 0.8.4 login_web_host: seen TypeError, expected accepted" in done.stdout
    assert "RED: " in done.stdout


REFUSED: Final[list[tuple[dict[str, object], list[str]]]] = [
    ({"swanlab.stores.postgres.ephemeral": True}, ["ephemeral"]),
    ({"swanlab.buffer.max_size": "512Mi"}, ["does not fit into plumbline:swanlab.buffer.volume"]),
    (
        {
            "swanlab.stores.redis.mode": "external",
            "swanlab.stores.redis.host": "127.0.0.1",
            "swanlab.stores.redis.port": 9,
            "swanlab.stores.redis.secret": "of-nobody",
        },
        [
            "swanlab-redis-pvc holds data of this stack",
            f"Secret {SPACE}/of-nobody is missing",
            "Redis 127.0.0.1:9 (plumbline:swanlab.stores.redis) cannot be reached from here",
        ],
    ),
    ({"object_store.mode": "off"}, ["plumbline:object_store.mode `off`"]),
]


@pytest.mark.parametrize(("values", "told"), REFUSED, ids=[next(iter(values)) for values, _ in REFUSED])
def test_setting_that_loses_data_is_refused_before_anything_changes(values: dict[str, object], told: list[str]) -> None:
    before = _versions()
    with swanlab.settings(values):
        done = pulumi("up", "-s", "local", "--yes", "--non-interactive")
    assert done.returncode != 0, done.stdout
    assert [text for text in told if text not in " ".join(done.stdout.split())] == [], done.stdout
    assert "Traceback" not in done.stdout
    assert _versions() == before


def test_value_that_the_chart_does_not_know_is_refused_before_anything_changes(tmp_path: Path) -> None:
    chart = tmp_path / "chart"
    shutil.copytree(ROOT / "sandbox" / "swanlab_server" / "chart", chart)
    values = chart / "values.yaml"
    assert "bufferMaxSize" in values.read_text()
    values.write_text(values.read_text().replace("bufferMaxSize", "bufferMaximum"))
    before = _versions()
    with swanlab.settings({"swanlab.chart.path": str(chart)}):
        done = pulumi("up", "-s", "local", "--yes", "--non-interactive")
    assert done.returncode != 0, done.stdout
    assert "vector.sinks.bufferMaxSize" in done.stdout
    assert _versions() == before


def _versions() -> dict[str, str]:
    """What a deployment would change of SwanLab: workloads by their generation, Secrets and claims by their uid."""
    found = {}
    for kind in ("deployments", "statefulsets", "secrets", "pvc"):
        for item in get(kind, "-n", SPACE)["items"]:
            metadata = item["metadata"]
            found[f"{kind}/{metadata['name']}"] = f"{metadata['uid']} {metadata.get('generation')}"
    return found


def test_passwords_stay_after_up_and_after_an_unrelated_change(tmp_path: Path) -> None:
    kept = swanlab.remember(tmp_path)
    swanlab.deploy()
    assert kept.lost() == []
    with swanlab.settings({"sizing.pods": 61}):
        swanlab.deploy()
        assert kept.lost() == []


def test_raised_generation_lets_the_new_password_in_and_refuses_the_old(tmp_path: Path) -> None:
    run = swanlab.logged(site(), tmp_path, keys=1, steps=50)
    stores = ("postgres", "clickhouse", "s3")
    old = {store: swanlab.secret(SECRETS[store]) for store in stores}
    for setting in GENERATIONS:
        swanlab.set_to(setting, swanlab.setting(setting, 1) + 1)
    swanlab.deploy()
    new = {store: swanlab.secret(SECRETS[store]) for store in stores}
    for store in stores:
        until(f"{store} lets the new password in", lambda store=store: _lets_in(store, new[store]), 60)  # type: ignore[misc]  # a default binds the name
        until(f"{store} refuses the old password", lambda store=store: not _lets_in(store, old[store]), 60)  # type: ignore[misc]  # as above
    assert site().differences(run) == ()
    swanlab.logged(site(), tmp_path, keys=1, steps=50)
    code, _, output = smoke("--only", "signals.contract", "workloads.rolled_out")
    assert code == 0, output


def _lets_in(store: str, credentials: dict[str, str]) -> bool:
    """Whether a store takes these credentials. One that gives no verdict fails the test."""
    if store == "postgres":
        script = "read -r PGPASSWORD; export PGPASSWORD; psql -XwAtqh 127.0.0.1 -d app -c 'SELECT 1' 2>&1 || true"
        told = swanlab_pods.postgres(script, stdin=f"{credentials['password']}\n").strip()
        assert told == "1" or "password authentication failed" in told, told
        return told == "1"
    if store == "clickhouse":
        with forwarded(f"service/{service_name(store)}", 8123, SPACE) as base:
            headers = {"X-ClickHouse-User": credentials["username"], "X-ClickHouse-Key": credentials["password"]}
            found = swanlab.fetch(f"{base}/?query=SELECT%201", headers=headers)
        assert found.status_code in (200, 401, 403), (found.status_code, found.text)
        return found.ok
    key = Key(credentials["accessKey"], credentials["secretKey"])
    try:
        Objects("object store", lambda: site().store, lambda: None, key).names("swanlab-private", "nobody/")
    except RefusedError:
        return False
    return True


def test_upgrade_with_a_migration_and_back_keeps_what_was_before_both(tmp_path: Path) -> None:
    before = swanlab.logged(site(), tmp_path, keys=1, steps=100)
    schema, images = _migrations(), _images()
    later = images_of_tests(LATER)[LATER]
    with _back_to(schema, images):
        with swanlab_pods.stopped(*WRITERS):
            _drained()
            swanlab_pods.postgres(f"pg_dump -Fc --no-owner --no-acl -f {DUMP} app")
            _set_images(dict.fromkeys(UPGRADED, later))
        swanlab.everything_runs()
        assert set(_migrations()) > set(schema)
        assert site().differences(before) == ()
        between = swanlab.logged(site(), tmp_path, keys=1, steps=100)
        _set_images({"server": images["server"]})
        until("the older server refuses the newer schema", _refuses_the_schema, 120)
    assert _migrations() == schema
    assert site().differences(before) == ()
    assert site().differences(between) != (), "the rollback took the database back to before that run"
    swanlab.logged(site(), tmp_path, keys=1, steps=20)


@contextmanager
def _back_to(schema: list[str], images: dict[str, str]) -> Iterator[None]:
    """Afterwards, programs and database are again those of before: the database from DUMP, with writers stopped."""
    try:
        yield
    finally:
        with swanlab_pods.stopped(*WRITERS):
            if _migrations() != schema:
                _drained()
                swanlab_pods.postgres("psql -Xq -d postgres -c 'DROP DATABASE app' -c 'CREATE DATABASE app'")
                swanlab_pods.postgres(f"pg_restore --no-owner --exit-on-error -d app {DUMP}")
            _set_images(images)
        swanlab.everything_runs()


def _migrations() -> list[str]:
    told = swanlab_pods.postgres("psql -XAtq -d app -c 'SELECT migration_name FROM _prisma_migrations ORDER BY 1'")
    return told.split()


def _images() -> dict[str, str]:
    specs = {name: get(swanlab_pods.workload(name), "-n", SPACE)["spec"]["template"]["spec"] for name in UPGRADED}
    return {name: spec["containers"][0]["image"] for name, spec in specs.items()}


def _set_images(images: dict[str, str]) -> None:
    for program, image in images.items():
        kubectl("set", "image", swanlab_pods.workload(program), f"{program}={image}", "-n", SPACE)


def _refuses_the_schema() -> bool:
    names = [pod["metadata"]["name"] for pod in swanlab_pods.pods("server")]
    logs = [kubectl("logs", name, "-n", SPACE, "-c", "server", check=False) for name in names]
    return any("cannot start" in text and "does not know" in text for text in logs)


def _drained() -> None:
    """Wait until the delivery buffer holds nothing: what is in it belongs to the state that is dumped."""
    for pod in swanlab_pods.pods(BUFFER):
        with forwarded(f"pod/{pod['metadata']['name']}", 9090, SPACE) as base:
            until("the buffer is empty", lambda base=base: _depth(base) == 0, 120)  # type: ignore[misc]  # a default binds the name


def _depth(base: str) -> float:
    lines = swanlab.fetch(f"{base}/metrics").text.splitlines()
    found = [float(line.rpartition(" ")[2]) for line in lines if line.startswith("vector_buffer_events{")]
    assert found, "the buffer does not tell its depth"
    return sum(found)
