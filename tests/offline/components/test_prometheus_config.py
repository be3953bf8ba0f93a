"""The rendered configuration follows the catalogue and the settings, and its revision names it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import yaml

from components.errors import DeployError
from components.prometheus.args import BasicAuth, PrometheusArgs, RemoteWrite
from components.prometheus.config import SENTINEL_FILE, render
from components.rendered import revision
from components.scrape import ScrapeJob
from signals.budget import samples_per_scrape
from signals.catalogue import PRODUCERS
from tests.offline.stacks.examples import local_args, settings

AUTH = BasicAuth(secret="store-login", username_key="user", password_key="pass")  # noqa: S106  # names of keys


def configuration(args: PrometheusArgs) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(render(args).files["prometheus.yml"])
    return found


def job(args: PrometheusArgs, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(j for j in configuration(args)["scrape_configs"] if j["job_name"] == name)
    return found


@cache
def drops(name: str) -> list[dict[str, Any]]:
    """The rules of a job that drop samples; rendered once, because they are asked about every metric."""
    return [r for r in job(local_args(), name).get("metric_relabel_configs", ()) if r.get("action") == "drop"]


def dropped(name: str, sample: dict[str, str]) -> bool:
    """Whether metric relabelling of a job drops a sample; regular expressions are anchored, as in Prometheus."""
    return any(
        re.fullmatch(rule["regex"], ";".join(sample.get(label, "") for label in rule["source_labels"]))
        for rule in drops(name)
    )


def test_one_job_per_producer_in_order() -> None:
    assert [j["job_name"] for j in configuration(local_args())["scrape_configs"]] == [p.job for p in PRODUCERS]


@pytest.mark.parametrize("page", PRODUCERS, ids=lambda page: str(page.job))
def test_targets_carry_exactly_the_promised_labels(page: Any) -> None:  # noqa: ANN401  # Producer, by parametrize
    rules = job(local_args(), page.job)["relabel_configs"]
    instance = ("instance",) if page.instance_is_node else ()
    assert tuple(rule["target_label"] for rule in rules if "target_label" in rule) == (*page.target_labels, *instance)


def test_cluster_and_environment_come_from_the_settings() -> None:
    args = replace(local_args(), cluster="c1", environment="e1")
    values = {r["target_label"]: r.get("replacement") for r in job(args, "kubelet")["relabel_configs"]}
    assert values == {"cluster": "c1", "environment": "e1", "node": None}
    assert configuration(args)["global"]["external_labels"] == {"cluster": "c1", "environment": "e1"}


@pytest.mark.parametrize("page", PRODUCERS, ids=lambda page: str(page.job))
def test_every_job_has_every_limit(page: Any) -> None:  # noqa: ANN401  # Producer, by parametrize
    found = job(local_args(prometheus={"limits": {"samples": 100_007, "body_size": "1MB"}}), page.job)
    planned = samples_per_scrape(page, settings("local").sizing)
    assert {key: value for key, value in found.items() if key.endswith("_limit")} == {
        "sample_limit": min(planned, 100_007),
        "label_limit": 40,
        "label_name_length_limit": 128,
        "label_value_length_limit": 2048,
        "body_size_limit": "1MB",
        "target_limit": 5000,
    }


def test_retention_is_in_the_file_so_that_it_needs_no_restart() -> None:
    assert configuration(local_args())["storage"] == {"tsdb": {"retention": {"time": "2d", "size": "3GB"}}}


@pytest.mark.parametrize("name", ["kubelet", "cadvisor"])
def test_kubelets_are_verified_unless_the_stack_says_otherwise(name: str) -> None:
    authority = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"
    assert job(local_args(), name)["tls_config"] == {"ca_file": authority}
    assert job(local_args(kubelet={"tls": "insecure"}), name)["tls_config"] == {"insecure_skip_verify": True}


def test_the_api_server_is_verified_even_then() -> None:
    assert "insecure_skip_verify" not in job(local_args(kubelet={"tls": "insecure"}), "apiserver")["tls_config"]


@pytest.mark.parametrize("name", ["apiserver", "kubelet", "cadvisor"])
def test_a_token_never_follows_a_redirect(name: str) -> None:
    found = job(local_args(), name)
    assert found["authorization"] == {"credentials_file": "/var/run/secrets/kubernetes.io/serviceaccount/token"}
    assert found["follow_redirects"] is False


def test_samples_with_their_own_time_become_stale_with_their_container() -> None:
    assert job(local_args(), "cadvisor")["track_timestamps_staleness"] is True
    assert "track_timestamps_staleness" not in job(local_args(), "kubelet")


@pytest.mark.parametrize(
    ("name", "sample"),
    [
        ("apiserver", {"__name__": "apiserver_request_duration_seconds_bucket", "le": "1.0"}),
        ("apiserver", {"__name__": "apiserver_request_sli_duration_seconds_bucket", "le": "0.05"}),
        ("apiserver", {"__name__": "apiserver_request_sli_duration_seconds_bucket", "le": "2.0"}),
        ("apiserver", {"__name__": "apiserver_request_sli_duration_seconds_bucket", "le": "2"}),
        ("apiserver", {"__name__": "etcd_request_duration_seconds_bucket", "le": "60.0"}),
        ("apiserver", {"__name__": "apiserver_response_sizes_bucket", "le": "1000.0"}),
        ("apiserver", {"__name__": "apiserver_flowcontrol_request_wait_duration_seconds_bucket", "le": "0.0"}),
        ("cadvisor", {"__name__": "container_cpu_usage_seconds_total", "id": "/kubepods/burstable"}),
        ("cadvisor", {"__name__": "container_tasks_state", "id": "/kubepods/a", "pod": "a", "container": "b"}),
        ("cadvisor", {"__name__": "container_fs_io_time_seconds_total", "id": "/kubepods/a", "pod": "a"}),
        ("cadvisor", {"__name__": "container_fs_reads_merged_total", "id": "/kubepods/a", "pod": "a"}),
    ],
)
def test_drop_list_drops(name: str, sample: dict[str, str]) -> None:
    assert dropped(name, sample)


@pytest.mark.parametrize(
    ("name", "sample"),
    [
        ("apiserver", {"__name__": "apiserver_request_duration_seconds_count"}),
        ("apiserver", {"__name__": "apiserver_request_sli_duration_seconds_bucket", "le": "1.0"}),
        ("apiserver", {"__name__": "apiserver_request_sli_duration_seconds_bucket", "le": "+Inf"}),
        ("apiserver", {"__name__": "etcd_request_duration_seconds_bucket", "le": "0.025"}),
        ("cadvisor", {"__name__": "container_cpu_usage_seconds_total", "id": "/"}),
        ("cadvisor", {"__name__": "container_cpu_usage_seconds_total", "id": "/kubepods/a", "pod": "a"}),
        ("cadvisor", {"__name__": "machine_memory_bytes"}),
        ("cadvisor", {"__name__": "container_fs_reads_bytes_total", "id": "/kubepods/a", "pod": "a"}),
    ],
)
def test_drop_list_keeps(name: str, sample: dict[str, str]) -> None:
    assert not dropped(name, sample)


@pytest.mark.parametrize("page", PRODUCERS, ids=lambda page: str(page.job))
def test_nothing_of_the_catalogue_is_dropped(page: Any) -> None:  # noqa: ANN401  # Producer, by parametrize
    for metric in page.metrics:
        suffix = "_count" if metric.type in ("histogram", "summary") else ""
        assert not dropped(page.job, {"__name__": metric.name + suffix, "id": "/kubepods/a", "pod": "a"}), metric.name
        if "le" in metric.labels:
            assert not dropped(page.job, {"__name__": f"{metric.name}_bucket", "le": "+Inf"}), metric.name


def test_unknown_producer_is_refused_with_the_place_to_add_it() -> None:
    stranger = ScrapeJob(page=replace(PRODUCERS[0], job="stranger"), sample_limit=1)
    with pytest.raises(DeployError, match=r"`stranger` names no pods and no addresses, and components/prometheus/disc"):
        render(replace(local_args(), jobs=(stranger,)))


def test_remote_write_reads_its_login_from_a_mounted_secret() -> None:
    stores = (RemoteWrite(name="store", url="https://store.example.com/write", basic_auth=AUTH),)
    assert configuration(replace(local_args(), remote_write=stores))["remote_write"] == [
        {
            "name": "store",
            "url": "https://store.example.com/write",
            "basic_auth": {
                "username_file": "/etc/prometheus-secrets/store/user",
                "password_file": "/etc/prometheus-secrets/store/pass",
            },
        }
    ]


def test_without_stores_there_is_no_remote_write() -> None:
    assert "remote_write" not in configuration(local_args())


def test_every_rule_file_is_loaded_by_name() -> None:
    files = render(local_args()).files
    assert configuration(local_args())["rule_files"] == sorted(set(files) - {"prometheus.yml"})


def test_revision_is_the_hash_of_names_and_contents() -> None:
    expected = hashlib.sha256(b"a\x001\x00b\x002\x00").hexdigest()[:12]
    assert revision({"b": "2", "a": "1"}) == expected


def test_revision_changes_with_configuration_and_rules() -> None:
    base = render(local_args())
    slower = render(replace(local_args(), scrape_interval="60s"))
    fewer = render(replace(local_args(), jobs=local_args().jobs[:2]))
    assert len({base.revision, slower.revision, fewer.revision}) == 3


def test_revision_is_the_same_every_time() -> None:
    assert render(local_args()) == render(local_args())


def test_sentinel_shows_the_revision() -> None:
    found = render(local_args())
    assert yaml.safe_load(found.files[SENTINEL_FILE]) == {
        "groups": [
            {
                "name": "plumbline-sentinel",
                "interval": "5s",
                "rules": [
                    {
                        "record": "plumbline:config_revision",
                        "expr": "vector(1)",
                        "labels": {"revision": found.revision},
                    }
                ],
            }
        ]
    }
