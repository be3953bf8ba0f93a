"""The pins agree with each other: modules, programs.toml, packages and the versions that programs report."""

from __future__ import annotations

import re
import tomllib

import pytest

from cli.engine import ROOT
from sandbox.programs.spec import MODULES, Program, catalogue, names

PROGRAMS = catalogue()[1]
# Program → module whose version in go.mod is what is built.
PINNED = {
    "prometheus": "github.com/prometheus/prometheus",
    "kubernetes": "k8s.io/kubernetes",
    "etcd": "go.etcd.io/etcd/server/v3",
    "coredns": "github.com/coredns/coredns",
    "local-path-provisioner": "github.com/rancher/local-path-provisioner",
    "kube-router": "github.com/cloudnativelabs/kube-router/v2",
    "pulumi": "github.com/pulumi/pulumi/pkg/v3",
    "pulumi-language-python": "github.com/pulumi/pulumi/sdk/v3",
    "alertmanager": "github.com/prometheus/alertmanager",
    "node-exporter": "github.com/prometheus/node_exporter",
    "pushgateway": "github.com/prometheus/pushgateway",
    "prometheus-operator": "github.com/prometheus-operator/prometheus-operator",
    "helm": "helm.sh/helm/v3",
    "victoria-logs": "github.com/VictoriaMetrics/VictoriaLogs",
}
CONTRIB = "github.com/open-telemetry/opentelemetry-collector-contrib"
CORE = "go.opentelemetry.io/collector"
TELEMETRY = ["otel-collector", "victoria-logs", "jaeger"]
EXPORTERS = ["alertmanager", "node-exporter", "pushgateway", "prometheus-operator"]


def required(name: str, module: str) -> str:
    """Version of `module` in a program's go.mod."""
    found = re.search(rf"^\s*(?:require )?{re.escape(module)} v(\S+)", (MODULES / name / "go.mod").read_text(), re.M)
    assert found is not None, f"{name}/go.mod does not require {module}"
    return found[1]


def packages() -> dict[str, str]:
    """Package → version in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return dict(item.split("==") for item in project["dependencies"])


def test_every_program_has_a_module_and_every_module_a_program() -> None:
    assert {p.name for p in MODULES.iterdir()} == set(PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=lambda p: p.name)
@pytest.mark.parametrize("file", ["go.mod", "go.sum"])
def test_every_module_is_pinned(program: Program, file: str) -> None:
    assert (program.source / file).stat().st_size > 0


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=lambda p: p.name)
def test_every_program_says_why_it_is_here(program: Program) -> None:
    assert program.why.strip()


def test_no_two_programs_build_the_same_binary() -> None:
    outputs = [output for program in PROGRAMS.values() for output in program.outputs]
    assert len(outputs) == len(set(outputs))


@pytest.mark.parametrize("name", sorted(set(PINNED) - {"prometheus"}))
def test_version_is_the_one_of_the_module(name: str) -> None:
    assert PROGRAMS[name].version == required(name, PINNED[name])


def test_prometheus_version_is_spelt_in_its_module() -> None:
    # Prometheus 3.16.0 is module v0.316.0: two digits of the minor number, none of the major one.
    major, minor, patch = PROGRAMS["prometheus"].version.split(".")
    assert required("prometheus", PINNED["prometheus"]) == f"0.{major}{int(minor):02}.{patch}"


def test_jaeger_version_is_the_one_that_its_module_was_released_as() -> None:
    # Its changelog: "v1.76.0 / v2.13.0", one release under two numbers.
    assert (required("jaeger", "github.com/jaegertracing/jaeger"), PROGRAMS["jaeger"].version) == ("1.76.0", "2.13.0")


def test_collector_is_of_one_release_but_for_what_is_served_older() -> None:
    go_mod = (MODULES / "otel-collector" / "go.mod").read_text()
    direct = re.findall(r"^\s*(\S+) v(\S+)$", go_mod, re.M)  # what is indirect says so
    contributed = {module.removeprefix(f"{CONTRIB}/"): version for module, version in direct if CONTRIB in module}
    current = {module for module, version in contributed.items() if version == PROGRAMS["otel-collector"].version}
    assert {version for module, version in contributed.items() if module not in current} == {"0.161.0"}
    assert {"connector/spanmetricsconnector", "processor/redactionprocessor", "receiver/filelogreceiver"} <= current
    major, minor, _ = PROGRAMS["otel-collector"].version.split(".")
    assert required("otel-collector", f"{CORE}/otelcol").startswith(f"{major}.{minor}.")


def test_every_module_that_the_collector_requires_directly_is_in_its_source() -> None:
    source = MODULES / "otel-collector"
    direct = re.findall(r"^\s*(\S+) v\S+$", (source / "go.mod").read_text(), re.M)
    code = "".join(path.read_text() for path in sorted(source.glob("*.go")))
    assert direct
    assert [module for module in direct if f'"{module}"' not in code and f'"{module}/' not in code] == []


@pytest.mark.parametrize(
    "name", ["prometheus", "kubernetes", "pulumi", "pulumi-resource-kubernetes", *EXPORTERS, *TELEMETRY]
)
def test_program_reports_the_version_that_is_pinned(name: str) -> None:
    program = PROGRAMS[name]
    told = [f.rpartition("=")[2] for f in program.ldflags if re.search(r"\.(gitVersion|latestVersion|Version)=", f)]
    assert [t.removeprefix("v") for t in told] == [program.version]


def test_kubernetes_reports_its_major_and_minor_number() -> None:
    program = PROGRAMS["kubernetes"]
    told = dict(re.findall(r"\.(gitMajor|gitMinor)=(\d+)", " ".join(program.ldflags)))
    assert [told["gitMajor"], told["gitMinor"]] == program.version.split(".")[:2]


def test_staging_modules_of_kubernetes_have_its_minor_and_patch_number() -> None:
    go_mod = (MODULES / "kubernetes" / "go.mod").read_text()
    replaced = re.findall(r"^\s*(?:replace )?k8s\.io/(\S+) => k8s\.io/(\S+) v(\S+)", go_mod, re.M)
    expected = f"0.{PROGRAMS['kubernetes'].version.removeprefix('1.')}"
    assert replaced
    assert {(new, version) for _, new, version in replaced} == {(old, expected) for old, _, _ in replaced}


def test_provider_program_and_python_package_have_one_version() -> None:
    assert PROGRAMS["pulumi-resource-kubernetes"].version == packages()["pulumi-kubernetes"]


def test_launcher_script_is_of_the_engines_version() -> None:
    (script,) = PROGRAMS["pulumi-language-python"].copies
    assert script.module == f"github.com/pulumi/pulumi/sdk/v3@v{PROGRAMS['pulumi'].version}"


def test_copied_files_are_checked_against_a_sum() -> None:
    copies = [item for program in PROGRAMS.values() for item in program.copies]
    assert all(re.fullmatch(r"h1:[A-Za-z0-9+/]{43}=", item.sum) for item in copies)


def test_every_program_is_for_users_or_for_tests() -> None:
    assert {program.purpose for program in PROGRAMS.values()} == {"use", "tests"}


def test_users_do_not_build_what_only_tests_need() -> None:
    assert set(names(tests=True)) - set(names()) == {"prometheus-operator", "helm"}
    assert names(tests=True) == list(PROGRAMS)


def test_operator_comes_with_the_definitions_of_its_own_module() -> None:
    operator = PROGRAMS["prometheus-operator"]
    assert {item.module for item in operator.copies} == {f"{PINNED[operator.name]}@v{operator.version}"}
    assert sorted(item.to for item in operator.copies) == [
        "crds/podmonitors.yaml",
        "crds/probes.yaml",
        "crds/prometheuses.yaml",
        "crds/prometheusrules.yaml",
        "crds/scrapeconfigs.yaml",
        "crds/servicemonitors.yaml",
    ]


def test_interfaces_of_the_operator_have_its_version() -> None:
    operator = PROGRAMS["prometheus-operator"]
    for part in ("pkg/apis/monitoring", "pkg/client"):
        assert required(operator.name, f"{PINNED[operator.name]}/{part}") == operator.version


def test_generated_files_come_from_the_module_that_is_built() -> None:
    program = PROGRAMS["pulumi-resource-kubernetes"]
    modules = {item.module for item in program.generates}
    built = required(program.name, "github.com/pulumi/pulumi-kubernetes/provider/v4")
    assert modules == {f"github.com/pulumi/pulumi-kubernetes/provider/v4@v{built}"}
