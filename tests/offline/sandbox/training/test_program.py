"""The program as a pod starts it: lines, control, the end; with the real SDK against SwanLab's stand-in routes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from sandbox.workloads.training import control
from sandbox.workloads.training.__main__ import DONE, ENDED, UNUSABLE, WRONG
from sandbox.workloads.training.manifests import GPU, job
from signals.rules.inputs import POD_LABELS
from tests.offline.components.otel_collector.backend import Backend
from tests.offline.programs import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_WAIT = 60.0


@contextmanager
def program(**variables: str) -> Iterator[subprocess.Popen[str]]:
    """The run as a process."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("SWANLAB_", "OTEL_", "TRAINING_"))}
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "sandbox.workloads.training"],
        env={**kept, "TRAINING_RUN_ID": "run-7", "TRAINING_CONTROL": "none", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def ended(process: subprocess.Popen[str]) -> tuple[int, list[dict[str, Any]]]:
    """Exit code, and the lines that it wrote."""
    out, _ = process.communicate(timeout=_WAIT)
    return process.returncode, [json.loads(line) for line in out.splitlines()]


def test_run_ends_with_0_and_its_spans_have_arrived() -> None:
    with Backend().up() as backend:
        with program(
            TRAINING_STEPS="3",
            TRAINING_STEP_SECONDS="0.01",
            TRAINING_RANKS="2",
            OTEL_EXPORTER_OTLP_ENDPOINT=backend.url,
        ) as process:
            code, lines = ended(process)
        spans = backend.spans()
    assert code == DONE
    assert [line["message"] for line in lines] == ["run begins", *["step done"] * 6, "run ended"]
    roots = {span.trace_id.hex() for span in spans if not span.parent_span_id}
    assert roots == {line["trace_id"] for line in lines if line["message"] == "step done"}
    assert len(spans) == 6 * 6


def test_sigterm_ends_a_run_in_order() -> None:
    with program(TRAINING_STEP_SECONDS="600") as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        code, lines = ended(process)
    assert (first["message"], code) == ("run begins", ENDED)
    assert [line["message"] for line in lines] == ["told to end", "run ended"]


def test_run_is_held_slowed_down_and_let_go_from_outside() -> None:
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    with program(
        TRAINING_STEPS="4", TRAINING_STEP_SECONDS="0.3", TRAINING_RANKS="2", TRAINING_CONTROL=f"127.0.0.1:{port}"
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        control.hold(base, 2)
        deadline = time.monotonic() + _WAIT
        while not control.status(base)["held"]:
            assert time.monotonic() < deadline
        with pytest.raises(control.ControlError, match="400"):
            control.release(base, {5: 2.0})
        control.release(base, {1: 4.0})
        code, lines = ended(process)
    assert code == DONE
    times = {(line["step"], line["rank"]): line["step_time"] for line in lines if line["message"] == "step done"}
    # 0.3 s with a noise of 3 %; on the GPU 0.86 of it, and three times that more.
    assert times[2, 1] == times[2, 0] == pytest.approx(0.3 + 3 * 0.86 * 0.3, rel=0.05)
    assert times[3, 1] == pytest.approx(0.3, rel=0.03)


def test_wrong_variable_ends_it_with_2() -> None:
    with program(TRAINING_STEPS="many") as process:
        _, told = process.communicate(timeout=_WAIT)
    assert process.returncode == WRONG
    assert "TRAINING_STEPS" in told


# A module of this name stands where the SDK is: what the program makes of its answers is all that is tried here.
_SDK = """
import os, time
def init(**options): print('{"message": "init", "project": "%(project)s", "name": "%(name)s"}' % options)
def log(values, step): pass
def finish(state): END
"""


def sdk(directory: Path, end: str) -> dict[str, str]:
    """Variables with which the program finds it. end: what `finish` does."""
    (directory / "swanlab.py").write_text(_SDK.replace("END", end))
    return {
        "PYTHONPATH": f"{directory}:{os.environ['PYTHONPATH']}",
        "SWANLAB_API_HOST": "http://swanlab",
        "TRAINING_STEPS": "1",
        "TRAINING_STEP_SECONDS": "0.01",
    }


@pytest.mark.parametrize(
    ("end", "code", "last"),
    [
        ("""print('{"message": "%s"}' % state)""", DONE, ["success", "run ended"]),
        ("""raise ValueError("no")""", UNUSABLE, ["step done", "SwanLab did not end the run"]),
    ],
    ids=["ended", "raises"],
)
def test_run_is_ended_in_swanlab_too(tmp_path: Path, end: str, code: int, last: list[str]) -> None:
    with program(**sdk(tmp_path, end)) as process:
        found, lines = ended(process)
    assert (found, [line["message"] for line in lines][-2:]) == (code, last)
    assert lines[0] == {"message": "init", "project": "training", "name": "run-7"}


def test_finish_that_never_comes_back_ends_the_process(tmp_path: Path) -> None:
    variables = sdk(tmp_path, "time.sleep(600)")
    with program(**variables, TRAINING_FINISH_SECONDS="1") as process:
        code, lines = ended(process)
    assert (code, lines[-1]["message"]) == (UNUSABLE, "SwanLab did not end the run in time")


def test_swanlab_that_cannot_be_used_ends_it_with_1() -> None:
    """The SDK is not among the packages of these tests, as in an image that was built wrong."""
    with program(SWANLAB_API_HOST=f"http://127.0.0.1:{free_port()}") as process:
        code, lines = ended(process)
    assert code == UNUSABLE
    assert lines[-1]["message"] == "cannot begin"
    assert "swanlab" in lines[-1]["error"]


def test_job_says_whose_it_is_and_asks_for_its_gpus() -> None:
    identity = {"run_id": "run-7", "team": "vision"}
    found = job("img", namespace="team-a", identity=identity, gpus=2, host="http://swanlab", key=("login", "key"))
    template = found["spec"]["template"]
    labels = template["metadata"]["labels"]
    assert {key: labels[POD_LABELS[key]] for key in identity} == identity
    (container,) = template["spec"]["containers"]
    assert container["resources"]["limits"][GPU] == "2"
    values = {one["name"]: one.get("value") for one in container["env"]}
    assert (values["TRAINING_RUN_ID"], values["TRAINING_RANKS"]) == ("run-7", "2")
    (key,) = (one["valueFrom"] for one in container["env"] if one["name"] == "SWANLAB_API_KEY")
    assert key == {"secretKeyRef": {"name": "login", "key": "key"}}
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert template["spec"]["securityContext"]["runAsNonRoot"]


@pytest.mark.parametrize("identity", [{"team": "vision"}, {"run_id": "run-7", "owner": "x"}])
def test_job_without_a_run_or_with_another_key_is_refused(identity: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="accepted are"):
        job("img", namespace="team-a", identity=identity, gpus=1)
