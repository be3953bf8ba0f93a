"""Judgement over the configuration that lies in the cluster and the one that runs, and over what pods mount."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from components.prometheus import config
from signals.rules import rule_files
from smoke.judge import configuration, mounts
from stacks.contract import Claim
from tests.offline.smoke import objects
from tests.offline.stacks.examples import local_args

if TYPE_CHECKING:
    from smoke.model import Problem

Json = dict[str, Any]
MAIN = "prometheus.yml"
CLAIM = Claim(name="prometheus-data", size="10Gi", mounted_at="/prometheus")


def _text(problems: list[Problem]) -> str:
    return "\n".join(map(str, problems))


def test_revision_is_counted_as_the_component_counts_it() -> None:
    made = config.render(local_args())
    assert configuration.SENTINEL_FILE == config.SENTINEL_FILE
    assert configuration.revision(made.files) == made.revision
    rendered = rule_files(local_args().rules)
    assert configuration.as_rendered(made.files, made.revision, rendered, "c") == []


@pytest.mark.parametrize("change", ["differs", "missing"])
def test_rule_file_that_is_not_as_rendered_is_named(change: str) -> None:
    made, rendered = config.render(local_args()), rule_files(local_args().rules)
    files = dict(made.files)
    if change == "missing":
        del files["rules-targets.yml"]
    else:
        files["rules-targets.yml"] = "groups: []\n"
    text = _text(configuration.as_rendered(files, made.revision, rendered, "ConfigMap c"))
    assert f"(rules-targets.yml {change}); expected revision {made.revision}" in text


def test_other_file_that_is_not_as_rendered_is_narrowed_down() -> None:
    text = _text(configuration.as_rendered({MAIN: "a: 1"}, "x", {}, "c"))
    assert "not by a rule file of the catalogue; it has prometheus.yml" in text


def _groups(without: str = "") -> list[Json]:
    return [objects.group(group, objects.rule(name)) for group, name in objects.loaded() if name != without]


def _runs(files: dict[str, str] | None = None, running: str | None = None, groups: list[Json] | None = None) -> str:
    own = objects.FILES[MAIN].replace("24h", "1d").replace("2GB", "2GiB")
    seen = own if running is None else running
    return _text(configuration.runs(files or objects.FILES, MAIN, seen, _groups() if groups is None else groups))


def test_running_configuration_is_fine_in_units_of_its_own() -> None:
    assert _runs() == ""


def test_rule_that_does_not_run_and_rule_of_nobody_are_named() -> None:
    assert (
        _runs(groups=_groups(without="ScrapeTargetDown"))
        == "rule ScrapeTargetDown of group plumbline-targets: seen not running; expected running, as configured"
    )
    more = [*_groups(), objects.group("targets", objects.rule("Old"))]
    assert _runs(groups=more) == "rule Old of group targets: seen running; expected not configured, so not running"


def test_rule_file_that_is_gone_is_named() -> None:
    files = {name: text for name, text in objects.FILES.items() if name != "rules-targets.yml"}
    assert "rule file rules-targets.yml: seen missing" in _runs(files)


def test_other_jobs_and_retention_are_named() -> None:
    running = objects.FILES[MAIN].replace("kubelet", "other").replace("24h", "2h").replace("size: 2GB", "x: y")
    assert _runs(running=running).splitlines() == [
        "scrape job kubelet: seen not running; expected running, as configured",
        "scrape job other: seen running; expected not configured, so not running",
        "retention time: seen 2h; expected 24h",
        "retention size: seen not set; expected 2GB",
    ]


@pytest.mark.parametrize("text", ["", "[1]", "a: ["])
def test_text_that_is_no_configuration_is_a_problem(text: str) -> None:
    assert _runs(objects.FILES | {MAIN: text})
    assert _runs(running=text)
    assert _runs(objects.FILES | {"rules-targets.yml": text})


def _mounted(volume: Json | None) -> str:
    spec = objects.pod()["spec"]
    spec["volumes"] = [spec["volumes"][0], *([{"name": "data", **volume}] if volume else [])]
    return _text(mounts.is_claim(spec, "prometheus", CLAIM, "pod p"))


def test_contracted_claim_is_mounted() -> None:
    spec = objects.pod()["spec"]
    assert mounts.is_claim(spec, "prometheus", CLAIM, "pod p") == []
    assert mounts.config_map_at(spec, "prometheus", "/etc/prometheus/") == objects.CONFIG_MAP
    assert mounts.config_map_at(spec, "prometheus", "/prometheus") is None


def test_anything_else_behind_the_mount_is_named() -> None:
    wanted = "expected claim prometheus-data"
    assert _mounted({"emptyDir": {}}) == f"pod p at /prometheus: seen a volume of kind emptyDir; {wanted}"
    assert f"seen claim other; {wanted}" in _mounted({"persistentVolumeClaim": {"claimName": "other"}})
    assert f"seen no volume in the pod's spec; {wanted}" in _mounted(None)
    assert mounts.is_claim(objects.pod()["spec"], "other", CLAIM, "pod p")
