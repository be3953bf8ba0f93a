"""The real Jaeger with our very configuration: what survives, what is refused, what it says of itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from components.rendered import Rendered
from components.traces.config import document, render
from components.traces.lint import complaints, lint
from components.traces.names import CONFIG_FILE
from signals.yamltext import dump
from tests.offline.components.logs.program import until
from tests.offline.components.traces.program import Jaeger
from tests.offline.components.traces.test_manifests import ARGS

if TYPE_CHECKING:
    from pathlib import Path

TRACE = "0af7651916cd43dd8448eb211c80319c"


def test_what_was_answered_for_survives_a_kill_in_the_same_moment(tmp_path: Path) -> None:
    jaeger = Jaeger(tmp_path)
    with jaeger.running(ARGS) as process:
        sent = jaeger.write(TRACE, ["request", "queue", "prefill", "decode"])
        process.kill()
        process.wait(60)
        assert sent.status_code == 200
    with jaeger.running(ARGS):
        assert jaeger.spans(TRACE) == ["request", "queue", "prefill", "decode"]
        assert jaeger.spans("f" * 32) == []


@pytest.mark.parametrize("traces_itself", [False, True])
def test_questions_leave_no_spans_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, traces_itself: bool
) -> None:
    """In the pod its receiver is where OpenTelemetry looks for one by default. What it would do is shown as well."""
    jaeger = Talking(tmp_path) if traces_itself else Jaeger(tmp_path)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", jaeger.at("otlp-grpc"))
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")  # sent at once
    with jaeger.running(ARGS) as process:
        for _ in range(20):
            assert jaeger.spans(TRACE) == []
        if traces_itself:
            until(lambda: jaeger.services() == ["jaeger"], "its own spans are found")
        else:
            assert jaeger.services() == []
        process.kill()


def test_a_large_trace_is_taken_in_one_request_and_counted(tmp_path: Path) -> None:
    """More than the 4 MiB that the receiver takes by default."""
    jaeger = Jaeger(tmp_path)
    with jaeger.running(ARGS):
        names = ["root", *(f"{index:05d}-{'x' * 1000}" for index in range(6000))]
        assert jaeger.write(TRACE, names).status_code == 200
        assert jaeger.spans(TRACE) == names
        assert jaeger.metric("otelcol_receiver_accepted_spans") == 6001
        assert jaeger.metric("otelcol_exporter_sent_spans") == 6001


def test_over_the_memory_limit_spans_are_refused_so_that_the_gateway_keeps_them(tmp_path: Path) -> None:
    jaeger = Jaeger(tmp_path)
    with jaeger.running(replace(ARGS, memory_bytes=512 * 2**20)):
        assert jaeger.write(TRACE, ["small"]).status_code == 200
    tight = Tight(tmp_path)
    with tight.running(ARGS):
        until(lambda: tight.write("b" * 32, ["early"]).status_code == 503, "memory was looked at")
        assert tight.write("a" * 32, ["refused"]).status_code == 503
        assert tight.spans("a" * 32) == []
        assert tight.spans(TRACE) == ["small"], "what is there can be asked all the same"


class Talking(Jaeger):
    """A Jaeger that traces itself, as it does by default."""

    def _moved(self, found: Any) -> Any:  # noqa: ANN401  # as in the parent
        if isinstance(found, dict):
            found = {key: value for key, value in found.items() if key != "enable_tracing"}
        return super()._moved(found)


class Tight(Jaeger):
    """A Jaeger whose limit is under what it needs at rest."""

    def _moved(self, found: Any) -> Any:  # noqa: ANN401  # as in the parent
        if isinstance(found, dict) and "limit_mib" in found:
            return {**found, "limit_mib": 2, "spike_limit_mib": 1}
        return super()._moved(found)


def test_jaeger_accepts_what_is_rendered() -> None:
    lint(render(ARGS))


@pytest.mark.parametrize(
    ("section", "key", "said"),
    [("processors", "batches", "batches"), ("exporters", "otlp_grpc", "otlp_grpc"), ("receivers", "zip", "zip")],
)
def test_jaeger_itself_judges_what_it_does_not_know(section: str, key: str, said: str) -> None:
    found = document(ARGS, "")
    found[section][key] = {}
    with pytest.raises(DeployError, match=said):
        lint(Rendered(files={CONFIG_FILE: dump(found)}, revision="0"))


def test_what_jaeger_would_accept_and_lose_data_by_is_refused() -> None:
    assert list(complaints(document(ARGS, ""))) == []
    elsewhere, ephemeral, batching, tracing = (
        document(ARGS, ""),
        document(ARGS, ""),
        document(ARGS, ""),
        document(ARGS, ""),
    )
    del tracing["extensions"]["jaeger_query"]["enable_tracing"]
    elsewhere["exporters"]["jaeger_storage_exporter"]["trace_storage"] = "memory"
    del ephemeral["extensions"]["jaeger_storage"]["backends"]["badger"]["badger"]["ephemeral"]
    batching["processors"]["batch"] = {}
    batching["service"]["pipelines"]["traces"]["processors"].append("batch")
    assert list(complaints(elsewhere)) == [
        "jaeger_storage_exporter names storage `memory`; accepted is badger",
        "spans are written to `memory` and looked for in `badger`; accepted is one and the same",
    ]
    assert ["does not outlive the process" in line for line in complaints(ephemeral)] == [True]
    assert ["batches" in line for line in complaints(batching)] == [True]
    assert ["past the gateway" in line for line in complaints(tracing)] == [True]
    for broken in (elsewhere, ephemeral, batching, tracing):
        with pytest.raises(DeployError, match="the configuration of Jaeger"):
            lint(Rendered(files={CONFIG_FILE: dump(broken)}, revision="0"))
