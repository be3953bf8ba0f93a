"""The configuration that is rendered: the program's own parser takes it, and each side knows what it needs alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from components.recovery.config import render
from components.recovery.jobs import create_secrets
from components.recovery.manifests import manifests
from recovery.config import load
from tests.offline.components.recovery.examples import PUBLIC_KEY, elsewhere, local, with_grafana

if TYPE_CHECKING:
    from pathlib import Path

    from components.recovery.args import RecoveryArgs
    from components.recovery.config import Side

LIVE = [
    ("postgres", "swanlab-postgres"),
    ("clickhouse", "swanlab-clickhouse"),
    ("redis", "swanlab-redis"),
    ("objects", "swanlab-private"),
    ("objects", "swanlab-public"),
    ("alertmanager", "alertmanager"),
]


OWN_LOGIN = {"admin": {"secret": {"name": "grafana-login", "key": "password"}}}
ALL = {
    "local": local(),
    "elsewhere": elsewhere(),
    "grafana": with_grafana(),
    "own login": with_grafana(**OWN_LOGIN),
}


def shown(args: RecoveryArgs, side: Side) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(render(args, side))
    return found


def files(value: object) -> set[str]:
    """Every path of a file or directory below /secrets in a value."""
    if isinstance(value, str):
        return {value} if value.startswith("/secrets/") else set()
    if isinstance(value, dict):
        return set().union(*(files(item) for item in value.values()))
    if isinstance(value, list):
        return set().union(*(files(item) for item in value))
    return set()


def mounted(args: RecoveryArgs, role: str) -> dict[str, bool]:
    """Directory below /secrets that a CronJob's main container mounts → whether the Secret may be absent."""
    spec = manifests(args)[role]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    mounts = {mount["mountPath"]: volumes[mount["name"]] for mount in spec["containers"][0]["volumeMounts"]}
    found = {}
    for path, volume in mounts.items():
        if path.startswith("/secrets/"):
            assert path == f"/secrets/{volume['secret']['secretName']}"
            found[path] = volume["secret"].get("optional", False)
    return found


@pytest.mark.parametrize("side", ["create", "restore", "recovery"])
@pytest.mark.parametrize("args", ALL.values(), ids=ALL)
def test_program_takes_it(args: RecoveryArgs, side: Side, tmp_path: Path) -> None:
    text = render(args, side)
    for name in files(json.loads(text)):
        # What the pod mounts: 32 characters, as each derived key has, and an address for a Redis.
        here = tmp_path / name.lstrip("/")
        here.parent.mkdir(parents=True, exist_ok=True)
        if here.name in ("username", "password", "accessKey", "secretKey", "key", "url"):
            here.write_text("redis://redis:6379/0" if here.name == "url" else "k" * 32)
    path = tmp_path / "config.json"
    path.write_text(text.replace('"/work"', f'"{tmp_path}"').replace('"/secrets/', f'"{tmp_path}/secrets/'))
    opened = load(path)
    assert opened.config.stack == "local"
    assert opened.config.cluster_uid == "11111111-2222-3333-4444-555555555555"
    assert opened.config.target.endpoint == args.target.endpoint
    assert (len(opened.stores) > 0) == (side != "recovery")
    assert (len(opened.scratch) > 0) == (side == "recovery")
    assert opened.config.target.signing_key() == b"k" * 32


def test_creating_side_has_writer_and_reader_and_every_live_store() -> None:
    found = shown(local(), "create")
    assert (found["target"]["pruner"], found["scratch"]) == (None, [])
    assert found["target"]["writer"] is not None
    assert found["target"]["reader"] is not None
    assert [(store["kind"], store["name"]) for store in found["stores"]] == LIVE


def test_restoring_side_has_the_readers_account_and_every_live_store() -> None:
    found = shown(local(), "restore")
    assert (found["target"]["writer"], found["target"]["pruner"], found["scratch"]) == (None, None, [])
    assert found["target"]["reader"] is not None
    assert found["stores"] == shown(local(), "create")["stores"]


def test_recoverys_own_side_knows_no_live_store_and_no_file_of_one() -> None:
    found = shown(local(), "recovery")
    assert (found["stores"], found["quiesce"]) == ([], None)
    assert {path.split("/")[2] for path in files(found)} == {
        *("recovery-writer", "recovery-reader", "recovery-pruner", "recovery-signing", "recovery-scratch"),
    }


def test_scratch_stores_have_the_names_of_the_live_ones_and_are_reached_on_loopback() -> None:
    live = {store["name"]: store["kind"] for store in shown(local(), "create")["stores"]}
    scratch = shown(local(), "recovery")["scratch"]
    assert {store["name"]: store["kind"] for store in scratch} == {
        name: kind for name, kind in live.items() if kind != "objects"
    }
    assert {
        store.get("host", store.get("url", "127.0.0.1")).removeprefix("http://").split(":")[0] for store in scratch
    } == {"127.0.0.1"}
    assert "alertmanager" not in {store["name"] for store in shown(elsewhere(), "recovery")["scratch"]}


def test_program_compares_stores_that_tell_of_each_other() -> None:
    assert shown(local(), "create")["cross_check"] is None
    assert shown(local(), "recovery")["cross_check"] == {
        "postgres": "swanlab-postgres",
        "clickhouse": "swanlab-clickhouse",
        "private": "swanlab-private",
        "public": "swanlab-public",
    }


def test_scratch_alertmanager_alone_may_be_given_silences() -> None:
    (scratch,) = [store for store in shown(local(), "recovery")["scratch"] if store["kind"] == "alertmanager"]
    (live,) = [store for store in shown(local(), "create")["stores"] if store["kind"] == "alertmanager"]
    assert (scratch["scratch"], live.get("scratch")) == (True, None)


@pytest.mark.parametrize(
    ("args", "file"),
    [
        (with_grafana(), "/secrets/recovery-grafana/password"),
        (with_grafana(**OWN_LOGIN), "/secrets/grafana-login/password"),
    ],
)
def test_grafana_is_asked_with_the_password_of_its_administrator(args: RecoveryArgs, file: str) -> None:
    (live,) = [store for store in shown(args, "create")["stores"] if store["kind"] == "grafana"]
    assert live == {
        **{"kind": "grafana", "name": "grafana", "url": "http://grafana.plumbline.svc:3000"},
        **{"login": "admin", "password_file": file, "folder": "plumbline"},
    }
    assert live in shown(args, "restore")["stores"]
    (scratch,) = [store for store in shown(args, "recovery")["scratch"] if store["kind"] == "grafana"]
    assert scratch == live | {
        **{"url": "http://127.0.0.1:3000", "password_file": "/secrets/recovery-scratch/password"},
        "scratch": True,
    }


def test_a_stack_without_grafana_keeps_nothing_of_one() -> None:
    assert "grafana" not in {store["kind"] for store in shown(local(), "create")["stores"]}
    assert "grafana" not in json.dumps(manifests(local()))


def test_both_buckets_are_read_where_the_servers_reach_them() -> None:
    buckets = [store for store in shown(local(), "create")["stores"] if store["kind"] == "objects"]
    assert [(store["bucket"], store["endpoint"]) for store in buckets] == [
        ("swanlab-private", "http://object-store.plumbline.svc:8333"),
        ("swanlab-public", "http://object-store.plumbline.svc:8333"),
    ]


def test_writers_are_stopped_from_the_door_inwards() -> None:
    assert shown(local(), "create")["quiesce"] == {
        "namespace": "plumbline-swanlab",
        "order": [
            "swanlab-self-hosted",
            "swanlab-self-hosted-server",
            "swanlab-self-hosted-auth",
            "swanlab-self-hosted-house",
        ],
        "buffer": "swanlab-self-hosted-vector",
        "seconds": 600,
    }


@pytest.mark.parametrize("args", ALL.values(), ids=ALL)
def test_every_file_that_is_named_is_mounted(args: RecoveryArgs) -> None:
    there = set(mounted(args, "cron-job-create"))
    named = files(shown(args, "create"))
    assert {"/".join(path.split("/")[:3]) for path in named} == there
    restoring = {path for path in files(shown(args, "restore")) if "swanlab-api-key" not in path}
    assert {"/".join(path.split("/")[:3]) for path in restoring} == set(mounted(args, "cron-job-restore"))
    here = set().union(*(mounted(args, f"cron-job-{name}") for name in ("verify", "prune")))
    assert {"/".join(path.split("/")[:3]) for path in files(shown(args, "recovery"))} == here


def test_secrets_are_sealed_only_for_somebody() -> None:
    assert "secrets" not in {store["kind"] for store in shown(local(), "create")["stores"]}
    with_key = local(recovery_public_key=PUBLIC_KEY)
    (sealed,) = [store for store in shown(with_key, "create")["stores"] if store["kind"] == "secrets"]
    assert sealed["name"] == "stack-secrets"
    assert sealed["directories"] == [
        f"/secrets/{name}"
        for name in (
            *("swanlab-postgres", "swanlab-clickhouse", "swanlab-redis", "swanlab-s3"),
            *("swanlab-api-key", "recovery-signing"),
        )
    ]
    assert "swanlab-api-key" in create_secrets(with_key)
    assert "swanlab-api-key" not in create_secrets(local())


def test_only_what_is_made_later_may_be_absent() -> None:
    optional = {path for path, may in mounted(elsewhere(), "cron-job-create").items() if may}
    assert optional == {"/secrets/swanlab-api-key"}


def test_target_of_somebody_else_is_named_as_it_is() -> None:
    target = shown(elsewhere(), "recovery")["target"]
    assert (target["endpoint"], target["bucket"], target["region"]) == ("https://s3.example.org", "points", "eu-1")
    assert target["retention_days"] == 14
    assert target["pruner"] == {
        "access_key_file": "/secrets/points-pruner/accessKey",
        "secret_key_file": "/secrets/points-pruner/secretKey",
    }
