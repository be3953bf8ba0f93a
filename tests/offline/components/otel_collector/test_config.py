"""What is rendered: golden files, relations, revisions, and the collector's own judgement."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml

from components.errors import DeployError
from components.images import ImagePin
from components.otel_collector import abilities
from components.otel_collector.args import Redaction
from components.otel_collector.config import no_windows, render_agent, render_gateway
from components.otel_collector.debug import Window, fragment, opened, parse, running
from components.otel_collector.lint import lint
from components.otel_collector.names import CONFIG_FILE
from components.otel_collector.parts import MIB, Env, limits, text_of
from components.otel_collector.sizes import RUNTIME_PERCENT
from tests.live.telemetry import without_rules
from tests.offline.components.otel_collector import golden
from tests.offline.components.otel_collector.examples import ARGS, args

WINDOW = Window(namespace="ns", workload="api.v1-x", until=1_800_000_000)


@pytest.mark.parametrize("name", sorted(golden.rendered()))
def test_golden(name: str) -> None:
    assert golden.rendered()[name] == (golden.GOLDEN / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in sorted(golden.rendered()) if name != "agent-upstream.yaml"])
def test_the_collector_takes_each_rendering_that_it_can_start(name: str) -> None:
    debug = {} if name.startswith("gateway") else no_windows(ARGS).files
    lint({CONFIG_FILE: golden.rendered()[name], **debug})


def test_the_collector_takes_a_window() -> None:
    lint({**render_agent(ARGS).files, "debug.yaml": fragment("WARN", (WINDOW,))})


def test_what_the_program_here_cannot_start_is_named_as_unproven() -> None:
    with pytest.raises(DeployError, match=abilities.K8S_ATTRIBUTES):
        lint({CONFIG_FILE: golden.rendered()["agent-upstream.yaml"]})
    assert abilities.K8S_ATTRIBUTES in abilities.UNPROVEN


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("memory_limiter:", "memory_limitor:"),
        ("queue_size:", "queue_sise:"),
        ("replace_pattern(span.name", "replace_patern(span.name"),
        ("decision_wait:", "decision_wate:"),
        ("- span_metrics", "- span_metric"),
    ],
)
def test_the_collector_refuses_a_mistake(right: str, wrong: str) -> None:
    text = render_gateway(ARGS).files[CONFIG_FILE]
    assert right in text
    with pytest.raises(DeployError, match="otelcol-contrib validate"):
        lint({CONFIG_FILE: text.replace(right, wrong)})


def test_a_pattern_that_is_none_is_refused_by_the_collector() -> None:
    broken = args(redaction=Redaction(values=("(",)))
    with pytest.raises(DeployError, match="missing closing"):
        lint(render_gateway(broken).files)


def test_two_replicas_need_an_image_that_routes() -> None:
    two = args(gateway=replace(ARGS.gateway, replicas=2), abilities=frozenset())
    with pytest.raises(DeployError, match=r"replicas is 2"):
        render_agent(two)
    render_agent(args(abilities=frozenset()))


def test_abilities_by_image() -> None:
    upstream = "docker.io/otel/opentelemetry-collector-contrib:0.165.1"
    assert abilities.abilities_of(ImagePin(reference=upstream)) == {"load_balancing", "k8sattributes"}
    assert abilities.abilities_of(ImagePin(reference=upstream, image_id="sha256:1")) == {"load_balancing"}
    assert abilities.abilities_of(ImagePin(reference="example.org:5000/own/collector")) == frozenset()


def test_the_limiter_refuses_before_the_runtime_and_the_kernel_act() -> None:
    for memory in (64 * MIB, 512 * MIB, 4096 * MIB):
        found = limits(memory)
        assert 0 < found["spike_limit_mib"] < found["limit_mib"] < memory * RUNTIME_PERCENT // 100 // MIB


def test_first_limit_then_redact_then_anything_else() -> None:
    document = yaml.safe_load(render_gateway(ARGS).files[CONFIG_FILE])
    pipelines = document["service"]["pipelines"]
    for name in ("traces/in", "metrics", "logs"):
        first = ["memory_limiter", "resource/identity", "transform/redaction", "redaction/numbers"]
        assert pipelines[name]["processors"] == [*first, *(["transform/texts"] if name == "logs" else [])]
    outward = {name for name, pipeline in pipelines.items() if "otlp" in pipeline["receivers"]}
    assert outward == {"traces/in", "metrics", "logs"}
    assert "batch" not in str(pipelines)
    assert document["processors"]["transform/redaction"]["error_mode"] == "propagate"


def test_what_live_tests_take_out_of_the_gateway_is_in_it_and_the_rest_is_a_configuration() -> None:
    """A fault that is no longer there to play would be seen on a cluster alone."""
    document = yaml.safe_load(render_gateway(ARGS).files[CONFIG_FILE])
    without_rules(document)
    statements = document["processors"]["transform/redaction"]["trace_statements"]
    (spans,) = (group["statements"] for group in statements if group["context"] == "span")
    assert not [one for one in spans if one.startswith(("set(span.name,", "replace_pattern(span.name"))]
    assert "errors" not in {policy["name"] for policy in document["processors"]["tail_sampling"]["policies"]}
    lint({CONFIG_FILE: yaml.safe_dump(document, sort_keys=False)})


def test_revisions_change_with_what_they_name() -> None:
    other = args(lowest_level="WARN")
    assert render_agent(ARGS).revision != render_agent(other).revision
    assert render_gateway(ARGS).revision == render_gateway(other).revision
    rendered = render_gateway(ARGS)
    assert rendered.revision in rendered.files[CONFIG_FILE]


def test_a_dollar_sign_begins_nothing_but_a_variable() -> None:
    assert (
        text_of({"a": "x$", "b": Env("NAME"), "c": ["${env:HOME}"]}) == "a: x$$\nb: ${env:NAME}\nc:\n- $${env:HOME}\n"
    )


def test_windows_are_read_back() -> None:
    other = replace(WINDOW, workload="b")
    assert parse(fragment("INFO", (WINDOW, other)), "INFO") == (WINDOW, other)
    assert parse(fragment("INFO"), "INFO") == ()


@pytest.mark.parametrize(
    "text", ["", "a: [", "processors: {}", fragment("INFO", (WINDOW,)).replace("18000", "1800 or 0")]
)
def test_a_file_of_others_is_not_read(text: str) -> None:
    with pytest.raises(DeployError, match="by hand"):
        parse(text, "INFO")


def test_a_window_replaces_that_of_its_workload_and_those_that_ended_go() -> None:
    old = replace(WINDOW, workload="old", until=100)
    later = replace(WINDOW, until=WINDOW.until + 60)
    assert opened((WINDOW, old), later, now=200) == (later,)
    assert running((WINDOW, old), now=99.0) == (WINDOW, old)


@pytest.mark.parametrize("name", ['a" or true', "", "Api", "a b"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(DeployError, match="workload"):
        Window(namespace="ns", workload=name, until=1)
