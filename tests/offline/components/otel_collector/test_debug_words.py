"""The program behind `make debug-logs`: what it makes of the file of windows, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from cli.engine import ROOT
from components.errors import DeployError
from components.fixed_config import revision_of
from components.otel_collector.debug import Window, fragment, is_of
from components.otel_collector.debug_words import answer

Json = dict[str, Any]
NOW = 1_000_000.5
OPEN = Window(namespace="team-a", workload="trainer", until=1_000_600)
ENDED = Window(namespace="team-a", workload="old", until=1_000_000)


def asked(*windows: Window, level: str = "INFO", **change: Any) -> Json:  # noqa: ANN401  # members of `change`
    wanted = {"namespace": "team-b", "seconds": 1800, "pods": [], "known": [], **change} if change else None
    return {
        **{"level": level, "file": "debug.yaml", "text": fragment(level, windows)},
        **{"now": NOW, "change": wanted},
    }


def test_a_window_is_opened_beside_others_and_those_that_ended_go() -> None:
    told = answer(asked(OPEN, ENDED, workload="api", pods=["api-7c9d8f6b5d-x2v4q"]))
    new = Window(namespace="team-b", workload="api", until=1_001_800)
    assert told["text"] == fragment("INFO", [OPEN, new])
    assert told["windows"] == [
        {"namespace": "team-a", "workload": "trainer", "until": 1_000_600},
        {"namespace": "team-b", "workload": "api", "until": 1_001_800},
    ]


def test_a_window_of_the_same_workload_is_replaced() -> None:
    told = answer(asked(OPEN, namespace="team-a", workload="trainer", seconds=60, known=["trainer"]))
    assert told["windows"] == [{"namespace": "team-a", "workload": "trainer", "until": 1_000_060}]


def test_zero_ends_a_window_whose_workload_is_gone() -> None:
    told = answer(asked(OPEN, namespace="team-a", workload="trainer", seconds=0))
    assert (told["text"], told["windows"]) == (fragment("INFO"), [])


def test_what_is_not_there_cannot_be_ended_and_nothing_changes() -> None:
    question = asked(OPEN, namespace="team-a", workload="other", seconds=0)
    assert answer(question)["text"] == question["text"]


def test_windows_are_read_and_those_that_ended_are_not_told() -> None:
    question = asked(OPEN, ENDED)
    told = answer(question)
    assert told["text"] == question["text"]
    assert [one["workload"] for one in told["windows"]] == ["trainer"]


@pytest.mark.parametrize(
    ("pods", "known", "said"),
    [
        (["api-server-7c9d8f6b5d-x2v4q"], ["api-server"], "did you mean api-server"),
        (["zoo"], [], "there are zoo"),
        ([f"n{number:02d}" for number in range(12)], [], "n09 and 2 more"),
        ([], [], "namespace team-b does not exist"),
    ],
)
def test_an_unknown_workload_is_refused_with_what_is_there(pods: list[str], known: list[str], said: str) -> None:
    with pytest.raises(DeployError, match=said):
        answer(asked(OPEN, workload="api", pods=pods, known=known))


@pytest.mark.parametrize(
    ("change", "said"),
    [({"workload": 'a" or true'}, "workload is"), ({"workload": "api", "namespace": "Team"}, "namespace is")],
)
def test_a_name_that_is_none_is_refused(change: Json, said: str) -> None:
    with pytest.raises(DeployError, match=said):
        answer(asked(**change, known=["api"]))


def test_nothing_is_opened_where_every_record_is_kept() -> None:
    with pytest.raises(DeployError, match="lowest_level is TRACE"):
        answer(asked(level="TRACE", workload="api", known=["api"]))


def test_a_file_of_somebody_else_is_not_written_over_and_says_how_to_get_a_new_one() -> None:
    question = asked(workload="api", known=["api"]) | {"text": fragment("INFO", [OPEN]) + "# mine\n"}
    with pytest.raises(DeployError, match=r"`make up` writes the ConfigMap otel-debug-info anew"):
        answer(question)
    code, told = _program(question)
    assert (code, told["next"]) == (1, "make up")


def test_mending_keeps_what_was_written_here_and_nothing_else() -> None:
    question = asked(OPEN) | {"change": {"mend": True}}
    told = answer(question)
    assert (told["text"], told["revision"]) == (question["text"], revision_of({"debug.yaml": question["text"]}))
    assert told["first"] == revision_of({"debug.yaml": fragment("INFO")})
    told = answer(question | {"text": question["text"] + "# mine\n"})
    assert (told["text"], told["revision"], told["windows"]) == (fragment("INFO"), told["first"], [])


@pytest.mark.parametrize(
    ("pod", "mine"),
    [
        ("api", True),  # a pod of that name
        ("api-0", True),  # of a StatefulSet
        ("api-x2v4q", True),  # of a DaemonSet or a Job
        ("api-7c9d8f6b5d-x2v4q", True),  # of a Deployment
        ("api-29407785-x2v4q", True),  # of a CronJob
        ("api-server-7c9d8f6b5d-x2v4q", False),
        ("my-api-0", False),
    ],
)
def test_pods_of_a_workload(pod: str, mine: bool) -> None:  # noqa: FBT001  # of the table
    assert is_of("api", pod) is mine


def _program(question: Json) -> tuple[int, Json]:
    done = subprocess.run(
        [sys.executable, "-m", "components.otel_collector.debug_words"],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


def test_the_program_answers_in_json_and_with_its_exit_code() -> None:
    assert _program(asked(OPEN)) == (0, answer(asked(OPEN)))
    code, told = _program(asked(workload="api"))
    assert code == 1
    assert "team-b does not exist" in told["error"]
