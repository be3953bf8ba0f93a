"""Role → image, from the list of local builds or from the pins."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

import pytest

from components.errors import DeployError
from stacks.images import VERSIONS, resolve, upstream
from stacks.settings import Images
from tests.offline.stacks.examples import BUILT, MONITORING, NOT_BUILT, write_images

if TYPE_CHECKING:
    from pathlib import Path


ROLES = ("prometheus",)


def local(path: Path) -> Images:
    return Images(source="file", path=str(path))


def test_local_build_is_used_with_its_image_id(tmp_path: Path) -> None:
    built = {role: pin for role, pin in BUILT.items() if role not in NOT_BUILT}
    assert resolve(local(write_images(tmp_path / "images.json")), tuple(built)) == built


def test_missing_list_says_run_make_up(tmp_path: Path) -> None:
    with pytest.raises(DeployError, match=r"images\.json cannot be read \(No such file or directory\): run `make up`"):
        resolve(local(tmp_path / "images.json"), ROLES)


def test_list_without_the_role_names_those_it_has(tmp_path: Path) -> None:
    path = tmp_path / "images.json"
    path.write_text(json.dumps({"pause": {"reference": "plumbline.local/pause:1", "image_id": "sha256:0"}}))
    with pytest.raises(DeployError, match=r"has no image for prometheus; it has pause: run `make up`"):
        resolve(local(path), ROLES)


def test_list_with_an_unpinned_reference_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "images.json"
    path.write_text(json.dumps({"prometheus": {"reference": "prometheus", "image_id": "sha256:0"}}))
    with pytest.raises(DeployError, match=r"is not a list of images: prometheus\.reference: .*does not pin an image"):
        resolve(local(path), ROLES)


def test_broken_list_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "images.json"
    path.write_text("{")
    with pytest.raises(DeployError, match=r"is not a list of images"):
        resolve(local(path), ROLES)


def test_upstream_pins_are_complete() -> None:
    assert {role: pin.reference for role, pin in resolve(Images(source="upstream"), tuple(MONITORING)).items()} == {
        "prometheus": "quay.io/prometheus/prometheus:v3.16.0",
        "alertmanager": "quay.io/prometheus/alertmanager:v0.31.1",
        "pushgateway": "quay.io/prometheus/pushgateway:v1.11.1",
        "node-exporter": "quay.io/prometheus/node-exporter:v1.12.1",
        "kube-state-metrics": "registry.k8s.io/kube-state-metrics/kube-state-metrics:v2.19.1",
        "dcgm-exporter": "nvcr.io/nvidia/k8s/dcgm-exporter:4.6.0-4.8.3-distroless",
    }


def test_upstream_has_every_image_of_swanlabs_chart() -> None:
    # The list in SwanLab's deployment guide, and the version of the chart that this project targets.
    applications = ("server", "auth", "house", "cloud", "next")
    expected = {f"swanlab-{name}": f"repo.swanlab.cn/self-hosted/swanlab-{name}:v3.1.1" for name in applications} | {
        "swanlab-gateway": "repo.swanlab.cn/public/traefik:3.6",
        "swanlab-identify": "repo.swanlab.cn/public/swanlab-helper/identify:v1.2",
        "swanlab-helper": "repo.swanlab.cn/public/busybox:1.37.0",
        "swanlab-vector": "repo.swanlab.cn/public/vector:0.51.1-debian",
        "swanlab-postgres": "repo.swanlab.cn/self-hosted/postgres:16.1",
        "swanlab-redis": "repo.swanlab.cn/self-hosted/redis-stack:7.4.0-v8",
        "swanlab-clickhouse": "repo.swanlab.cn/self-hosted/clickhouse-server:24.3",
        "swanlab-s3": "repo.swanlab.cn/self-hosted/minio/minio:RELEASE.2025-09-07T16-13-09Z",
        "swanlab-mc": "repo.swanlab.cn/self-hosted/minio/mc:RELEASE.2025-08-13T08-35-41Z",
        "object-store": "docker.io/chrislusf/seaweedfs:4.48",
    }
    found = resolve(Images(source="upstream"), tuple(expected))
    assert {role: pin.reference for role, pin in found.items()} == expected


def test_chart_is_pinned_beside_the_images() -> None:
    assert tomllib.loads(VERSIONS.read_text())["charts"]["swanlab"] == {
        "repository": "https://helm.swanlab.cn",
        "name": "self-hosted",
        "version": "0.6.2",
        "app_version": "v3.1.1",
    }


def test_mirror_replaces_the_host_only() -> None:
    found = upstream(VERSIONS, "registry.example.com:5000/quay", ROLES)
    assert found["prometheus"].reference == "registry.example.com:5000/quay/prometheus/prometheus:v3.16.0"


def test_digest_is_appended_to_the_tag(tmp_path: Path) -> None:
    path = tmp_path / "versions.toml"
    digest = "sha256:" + "0" * 64
    path.write_text(f'[images.prometheus]\nrepository = "quay.io/p/p"\ntag = "v1"\ndigest = "{digest}"\n')
    assert upstream(path, None, ROLES)["prometheus"].reference == f"quay.io/p/p:v1@{digest}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no image for prometheus; it has none"),
        ("[images", "does not pin the images"),
        ('[images.prometheus]\nrepository = "quay.io/p/p"\n', r"prometheus\.tag: Field required"),
        ('[images.prometheus]\nrepository = "quay.io/p/p"\ntag = "latest"\n', "does not pin an image"),
    ],
)
def test_wrong_pins_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "versions.toml"
    path.write_text(text)
    with pytest.raises(DeployError, match=words):
        upstream(path, None, ROLES)
