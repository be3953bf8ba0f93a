"""What the documentation names exists, and what it links to is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.offline.docs import mentions
from tests.offline.docs.markdown import ROOT, Page, pages, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Rule = "Callable[[Page], Iterator[str]]"


def named(text: str) -> Page:
    return parse("x.md", f"`{text}`\n")


@pytest.mark.parametrize("rule", mentions.RULES, ids=lambda r: r.__name__)
def test_every_name_exists(rule: Callable[[Page], Iterator[str]]) -> None:
    assert [found for page in pages() for found in rule(page)] == []


@pytest.mark.parametrize(
    ("rule", "wrong", "right"),
    [
        (mentions.words, "make upp", "make up"),
        (mentions.words, "make up STAK=kind", "make up STACK=kind"),
        (mentions.stacks, "make up STACK=stagng", "make up STACK=staging"),
        (mentions.stacks, "bin/pulumi up -s locl", "bin/pulumi up -s local"),
        (mentions.settings, "plumbline:prometheus.retenton", "plumbline:prometheus.retention"),
        (mentions.settings, "plumbline:prometheus.remote_write[0].uri", "plumbline:prometheus.remote_write[0].url"),
        (mentions.checks, "prometheus.relaod", "prometheus.reload"),
        (mentions.metrics, "prometheus_tsdb_head_serie", "prometheus_tsdb_head_series"),
        (mentions.metrics, "kubelet_pod_start_seconds", "kubelet_pod_start_duration_seconds_bucket"),
        (mentions.metrics, "DCGM_FI_DEV_GPU_TEMPERATURE > 80", "topk(3, DCGM_FI_DEV_GPU_TEMP)"),
        (mentions.metrics, "node_memory_MemFree", "node_memory_MemAvailable_bytes"),
        (mentions.recorded, "node:gpu_temperature:max", "topk(10, node:gpu_temperature_celsius:max)"),
        (mentions.settings, "plumbline:pod_identity", "plumbline:pod_identity:info"),
        (mentions.settings, "plumbline:thresholds.gpu_hot", "plumbline:thresholds.gpu_temperature_celsius_by_model.x"),
        (mentions.variables, "PLUMBLINE_HOUSE=/x", "PLUMBLINE_HOME=/x"),
        (mentions.tests, "test_wrong_image_is_green", "test_wrong_image_is_red"),
        (mentions.paths, "stacks/setings.py", "stacks/settings.py"),
        (mentions.paths, "stacks/Pulumi.<stack>.yml", "stacks/Pulumi.<stack>.yaml"),
        (mentions.paths, "sandbox/programs/{programs,others}.toml", "stacks/{settings,fields}.py"),
        (mentions.paths, "smoke/suit/", "smoke/suite/"),
        (mentions.paths, "pyproject.yaml", "pyproject.toml"),
        (mentions.paths, ".out/<stack>/raport.html", ".out/<stack>/report.{html,json}"),
        (mentions.machine, "$PLUMBLINE_HOME/cache/program", "$PLUMBLINE_HOME/cache/programs"),
        (mentions.machine, "/var/lib/plumbline/states/local", "/var/lib/plumbline/state/local/kubeconfig"),
        (mentions.machine, "/run/plumb", "/run/plumbline"),
        (mentions.machine, "/var/lib/plumbline-hotel", "/var/lib/plumbline-otel"),
    ],
)
def test_a_name_in_vain_is_seen(rule: Callable[[Page], Iterator[str]], wrong: str, right: str) -> None:
    assert list(rule(named(wrong)))
    assert list(rule(named(right))) == []


def test_names_in_blocks_are_seen_too() -> None:
    page = parse("x.md", "```console\n$ make upp\n```\n")
    assert list(mentions.words(page)) == ["x.md:2: the Makefile has no word `upp`"]


def broken_links(page: Page, known: dict[str, Page]) -> list[str]:
    """Links that lead nowhere; addresses of the web are not asked."""
    found = []
    for link in page.links():
        target, _, anchor = link.text.partition("#")
        if "://" in target:
            continue
        path = (ROOT / page.path).parent / target if target else ROOT / page.path
        name = path.resolve().relative_to(ROOT).as_posix() if path.exists() else ""
        if not name or (anchor and anchor not in (known[name].anchors() if name in known else ())):
            found.append(f"{link.where}: {link.text} leads nowhere")
    return found


def test_links_lead_somewhere() -> None:
    known = {page.path: page for page in pages()}
    assert [found for page in pages() for found in broken_links(page, known)] == []


@pytest.mark.parametrize("target", ["docs/nowhere.md", "#nothing", "CONTRIBUTING.md#nothing"])
def test_a_link_that_leads_nowhere_is_seen(target: str) -> None:
    known = {page.path: page for page in pages()}
    page = parse("README.md", f"# Here\n[x]({target}) [y](#here) `[z](not-a-link)`\n")
    assert broken_links(page, known | {"README.md": page}) == [f"README.md:2: {target} leads nowhere"]


def test_every_page_is_reached_from_the_front_page() -> None:
    known = {page.path: page for page in pages()}
    reached, todo = set(), ["README.md"]
    while todo:
        name = todo.pop()
        if name in reached or name not in known:
            continue
        reached.add(name)
        targets = [link.text.partition("#")[0] for link in known[name].links() if "://" not in link.text]
        paths = [((ROOT / name).parent / target).resolve() for target in targets if target]
        todo += [path.relative_to(ROOT).as_posix() for path in paths]
    assert set(known) - reached == set()
