"""`make debug-logs` opens, ends and lists windows, by the real program for their file and a cluster of its own."""

from __future__ import annotations

import io
import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from cli import clients, debug_file, debug_logs, deploy
from cli.debug_file import Agents, Change, agents, put
from cli.debug_logs import asked, seconds_of, shown
from components.fixed_config import revision_of
from components.otel_collector.debug import Window, fragment, parse
from components.otel_collector.names import DEBUG_FILE, debug_config
from sandbox.errors import SandboxError
from sandbox.process import ProgramError
from sandbox.progress import Progress
from signals.rules.inputs import POD_LABELS

if TYPE_CHECKING:
    from pathlib import Path

    from cli.engine import Engine
    from sandbox.home import Home

Json = dict[str, Any]
WHERE = Agents("plumbline-node", "otel-agent")
OPENED = Change("team-a", "trainer", 1800)
PROMISED = {"telemetry": {"agent": {"namespace": "plumbline-node", "name": "otel-agent"}, "signals": ["logs"]}}


class Cluster:
    """kubectl of a cluster with agents, their ConfigMap, and a Deployment with its pod.

    conflicts: how often somebody else writes a window of their own before we do. code: of `rollout status`.
    """

    def __init__(self, *windows: Window, level: str = "INFO") -> None:
        self.level = level
        self.data = {DEBUG_FILE: fragment(level, windows)}
        self.version = 7
        self.conflicts, self.code = 0, 0
        self.volumes = ["otel-agent-config", debug_config(level)]
        self.written: dict[str, str] = {}
        self.started: dict[str, str] = {}
        self.calls: list[tuple[str, ...]] = []

    def __call__(self, *arguments: str, stdin: str | None = None) -> str:
        self.calls.append(arguments)
        _, namespace, word, kind, *_ = arguments
        if (word, kind) == ("patch", "daemonset"):
            patch = json.loads(arguments[arguments.index("-p") + 1])
            self.started |= patch["spec"]["template"]["metadata"]["annotations"]
            return ""
        if word == "patch":
            return self._patched(json.loads(stdin or ""))
        if kind == "daemonset":
            volumes = [{"name": name, "configMap": {"name": name}} for name in self.volumes] + [{"name": "data"}]
            template = {"metadata": {"annotations": self.started}, "spec": {"volumes": volumes}}
            return json.dumps({"spec": {"template": template}})
        if kind == "configmap":
            assert (namespace, arguments[4]) == ("plumbline-node", debug_config(self.level))
            meta: Json = {"name": arguments[4], "namespace": namespace, "resourceVersion": str(self.version)}
            meta |= {"annotations": self.written} if self.written else {}
            return json.dumps({"metadata": meta, "data": self.data})
        items = [_object("Deployment", "trainer"), _object("Pod", "trainer-7c9d8f6b5d-x2v4q", "ranks")]
        return json.dumps({"items": items if namespace == "team-a" else []})

    def attached(self, *arguments: str) -> int:
        self.calls.append(arguments)
        return self.code

    def _patched(self, patch: Json) -> str:
        if self.conflicts:
            self.conflicts -= 1
            self.version += 1
            theirs = Window(namespace="b", workload=f"their-{self.version}", until=int(time.time()) + 600)
            self.data = {DEBUG_FILE: fragment(self.level, [*self.windows, theirs])}
        if patch["metadata"]["resourceVersion"] != str(self.version):
            raise ProgramError(
                ["kubectl"], "exited with 1", "Error from server (Conflict): the object has been modified"
            )
        self.data = {**self.data, **patch["data"]}
        self.written |= patch["metadata"]["annotations"]
        return ""

    @property
    def windows(self) -> tuple[Window, ...]:
        return parse(self.data[DEBUG_FILE], self.level)

    @property
    def rolled(self) -> list[str]:
        words: dict[tuple[str, ...], str] = {("patch", "daemonset"): "restart", ("rollout", "status"): "status"}
        return [words[call[2:4]] for call in self.calls if call[2:4] in words]


def _object(kind: str, name: str, workload: str = "") -> Json:
    labels = {"plumbline.dev/workload": workload} if workload else {}
    return {"kind": kind, "metadata": {"name": name, "labels": labels}}


def change(cluster: Cluster, wanted: Change = OPENED) -> list[Json]:
    return put(cluster, WHERE, wanted, Progress(stream=io.StringIO()))  # type: ignore[arg-type]  # stands for kubectl


def test_names_are_those_of_the_component() -> None:
    assert debug_config("INFO") == debug_file.CONFIG_MAP + "info"
    assert POD_LABELS["workload"] == debug_file.WORKLOAD_LABEL


@pytest.mark.parametrize(
    ("span", "seconds"),
    [("0", 0), ("30m", 1800), ("2h", 7200), ("1h30m", 5400), ("90s", 90), ("24h", 86400), ("1440m", 86400), ("0s", 0)],
)
def test_spans(span: str, seconds: int) -> None:
    assert seconds_of(span) == seconds


@pytest.mark.parametrize("span", ["", "30", "m", "1d", "-5m", "30 m", "1.5h", "5m1h", "forever"])
def test_a_span_that_is_none_is_refused(span: str) -> None:
    with pytest.raises(SandboxError, match="accepted are hours, minutes and seconds"):
        seconds_of(span)


@pytest.mark.parametrize("span", ["25h", "24h1s", "1441m"])
def test_more_than_a_day_is_refused(span: str) -> None:
    with pytest.raises(SandboxError, match="more than 24h"):
        seconds_of(span)


def test_words() -> None:
    assert asked("list", "nonsense") is None
    assert asked("team-a/trainer", "30m") == OPENED


@pytest.mark.parametrize("workload", ["trainer", "/trainer", "team-a/", "a/b/c", "deployment/a/b"])
def test_a_workload_that_names_no_namespace_is_refused(workload: str) -> None:
    with pytest.raises(SandboxError, match="accepted are namespace/name"):
        asked(workload, "30m")


def test_window_is_written_agents_start_again_and_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    cluster, now = Cluster(), time.time()
    windows = change(cluster)
    (window,) = cluster.windows
    assert (window.namespace, window.workload) == ("team-a", "trainer")
    assert 1799 <= window.until - now <= 1830
    assert [one["until"] for one in windows] == [window.until]
    assert cluster.rolled == ["restart", "status"]
    assert "team-a/trainer" in capsys.readouterr().out
    own = revision_of(cluster.data)
    assert cluster.written == {"plumbline/config-revision": own}
    assert cluster.started["plumbline/debug-revision"] == f"otel-debug-info-{own}"
    assert cluster.started["kubectl.kubernetes.io/restartedAt"]


def test_a_pod_and_a_workload_by_its_label_are_known() -> None:
    cluster = Cluster()
    change(cluster, Change("team-a", "trainer-7c9d8f6b5d-x2v4q", 60))
    change(cluster, Change("team-a", "ranks", 60))
    assert {one.workload for one in cluster.windows} == {"trainer-7c9d8f6b5d-x2v4q", "ranks"}


def test_an_unknown_workload_changes_nothing() -> None:
    cluster = Cluster()
    with pytest.raises(SandboxError, match="did you mean trainer"):
        change(cluster, Change("team-a", "trainr", 60))
    assert (cluster.windows, cluster.rolled) == ((), [])


def test_windows_of_others_stay_also_of_those_who_write_meanwhile() -> None:
    cluster = Cluster(Window(namespace="c", workload="x", until=int(time.time()) + 60))
    cluster.conflicts = 2
    change(cluster)
    assert [one.workload for one in cluster.windows] == ["their-8", "their-9", "x", "trainer"]


def test_others_who_never_cease_to_write_are_an_error() -> None:
    cluster = Cluster()
    cluster.conflicts = 9
    with pytest.raises(ProgramError, match="has been modified"):
        change(cluster)
    assert "trainer" not in {one.workload for one in cluster.windows}
    assert cluster.rolled == []


def test_zero_ends_it(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Cluster(Window(namespace="team-a", workload="trainer", until=int(time.time()) + 60))
    assert change(cluster, Change("team-a", "trainer", 0)) == []
    assert (cluster.windows, cluster.rolled) == ((), ["restart", "status"])
    assert "closed" in capsys.readouterr().out


def test_ending_what_is_not_open_restarts_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Cluster()
    assert change(cluster, Change("team-a", "trainer", 0)) == []
    assert cluster.rolled == []
    assert "nothing was changed" in capsys.readouterr().out


def test_agents_that_do_not_come_back_are_told() -> None:
    cluster = Cluster()
    cluster.code = 1
    with pytest.raises(SandboxError, match="not every agent has started again"):
        change(cluster)


def test_a_file_of_somebody_else_stays() -> None:
    cluster = Cluster()
    cluster.data = {DEBUG_FILE: "processors: {}\n"}
    with pytest.raises(SandboxError, match="writes the ConfigMap otel-debug-info anew") as error:
        change(cluster)
    assert error.value.remedy == "make up"
    assert cluster.data == {DEBUG_FILE: "processors: {}\n"}


def test_another_level_has_another_config_map() -> None:
    cluster = Cluster(level="WARN")
    change(cluster)
    assert [one.workload for one in cluster.windows] == ["trainer"]


@pytest.mark.parametrize("volumes", [["otel-agent-config"], ["otel-debug-info", "otel-debug-warn"]])
def test_agents_of_another_release_are_told(volumes: list[str]) -> None:
    cluster = Cluster()
    cluster.volumes = volumes
    with pytest.raises(SandboxError, match="run make up"):
        change(cluster)


@pytest.mark.parametrize(
    ("contract", "said"),
    [
        ({}, "no agents"),
        ({"telemetry": None}, "no agents"),
        ({"telemetry": {"agent": None, "signals": []}}, "no agents"),
        ({"telemetry": PROMISED["telemetry"] | {"signals": ["traces"]}}, "keeps no logs"),
    ],
)
def test_a_stack_without_logs_says_so(contract: Json, said: str) -> None:
    with pytest.raises(SandboxError, match=said):
        agents("prod", contract)


def test_windows_are_shown_with_their_end() -> None:
    windows = [
        {"namespace": "a", "workload": "x", "until": 1800},
        {"namespace": "team-b", "workload": "y", "until": 20},
    ]
    assert shown(windows, 0.0) == [
        "debug windows that are open:",
        "  a/x       until 1970-01-01 00:30:00 UTC, 30 min from now",
        "  team-b/y  until 1970-01-01 00:00:20 UTC, 20 s from now",
    ]
    assert shown([], 0.0) == ["no debug window is open"]


def test_the_word_lists_what_is_open(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Home, local: Engine, tmp_path: Path
) -> None:
    cluster = Cluster(Window(namespace="team-a", workload="trainer", until=int(time.time()) + 3600))
    contract = tmp_path / "contract.json"
    contract.write_text(json.dumps(PROMISED))
    monkeypatch.setattr(debug_logs, "engine_for", lambda *_: local)
    monkeypatch.setattr(deploy, "require_running", lambda _: None)
    monkeypatch.setattr(deploy, "write_contract", lambda *_: contract)
    monkeypatch.setattr(clients, "kubectl_of", lambda *_: cluster)
    assert debug_logs.debug_logs(home, "local", Progress(stream=io.StringIO()), "list", "30m") == 0
    assert "team-a/trainer  until " in capsys.readouterr().out
    assert cluster.rolled == []
    assert debug_logs.debug_logs(home, "local", Progress(stream=io.StringIO()), "team-a/trainer", "0") == 0
    assert "no debug window is open" in capsys.readouterr().out
