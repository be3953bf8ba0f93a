"""The whole regression, with drivers and a server that are played: what is wrong is red, late is not wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smoke.access.errors import UnreachableError
from smoke.sdk import planned, report
from smoke.sdk.drive import Address
from smoke.sdk.environments import EnvironmentFailedError, Lock
from smoke.sdk.matrix import read_matrix
from smoke.sdk.model import Ended, Matrix, Outcome, ReadBack
from smoke.sdk.regression import QUIET, READ_WITHIN, Regression, jobs
from tests.offline.smoke.sdk.made import READ, RUN, SECOND, World, ended, result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smoke.sdk.model import LoggedRun

FULL = read_matrix()
VERSION = "0.8.4"
SUBJECT = "a stand-in"


def only(*names: str) -> Matrix:
    """The matrix with these scenarios alone."""
    return Matrix(FULL.versions, tuple(one for one in FULL.scenarios if one.name in names))


class Bench:
    """A regression with time that passes when it sleeps."""

    def __init__(self, matrix: Matrix, *endings: Ended) -> None:
        self.now = 0.0
        self.world = World({"alice/p/1": READ, "alice/p/2": READ})
        self.said: list[str] = []
        self.plans: list[Mapping[str, Any]] = []
        self.addresses: list[Address] = []
        self.endings = list(endings)
        self.at: list[tuple[float, Callable[[], None]]] = []
        self.refused: set[str] = set()
        self.matrix = matrix
        # These runs are short; what a plan asks for is the business of the tests that set this.
        self.short: Callable[[Mapping[str, Any], LoggedRun], tuple[str, ...]] = lambda *_: ()

    def play(self, _: Path, plan: Mapping[str, Any], address: Address) -> Ended:
        """As drive."""
        self.plans.append(plan)
        self.addresses.append(address)
        return self.endings.pop(0)

    def prepare(self, lock: Lock, cache: Path, _: Callable[[str], None]) -> Path:
        """As ensure."""
        if lock.version in self.refused:
            raise EnvironmentFailedError("the package index cannot be reached\n  next: check the network")
        return cache / "python"

    def sleep(self, seconds: float) -> None:
        """Time passes, and what is due happens."""
        self.now += seconds
        for due, change in [one for one in self.at if one[0] <= self.now]:
            self.at.remove((due, change))
            change()

    def read(self, path: str, **change: Any) -> Callable[[], None]:  # noqa: ANN401  # fields of a reading
        """What makes a run read otherwise."""
        return lambda: self.world.reads.update({path: replace(self.world.reads[path], **change)})

    def run(self, *versions: str) -> Outcome:
        """The regression."""
        return Regression(
            matrix=self.matrix,
            versions=versions or (VERSION,),
            address=lambda: Address("http://10.203.0.1:80", "key"),
            reader=self.world,
            cache=Path("/nowhere"),
            say=self.said.append,
            clock=lambda: self.now,
            sleep=self.sleep,
            play=self.play,
            prepare=self.prepare,
            short=self.short,
            stamp="0badcafe",
        ).run(SUBJECT)


def seen(outcome: Outcome) -> dict[str, str]:
    """Scenario → outcome."""
    return {verdict.scenario: verdict.seen.outcome for verdict in outcome.verdicts}


def test_all_as_expected_is_green_and_read_late_enough() -> None:
    bench = Bench(only("roundtrip"), ended(RUN))
    outcome = bench.run()
    assert outcome.green
    assert seen(outcome) == {"roundtrip": "equal"}
    assert bench.now >= QUIET


def test_what_arrives_late_is_not_missing() -> None:
    bench = Bench(only("roundtrip"), ended(RUN))
    bench.read("alice/p/1", series={})()
    bench.at.append((40.0, bench.read("alice/p/1", series=READ.series)))
    assert bench.run().green
    assert 40.0 <= bench.now < READ_WITHIN


def test_what_never_arrives_is_red_after_the_deadline() -> None:
    bench = Bench(only("roundtrip"), ended(RUN))
    bench.read("alice/p/1", series={"loss": READ.series["loss"][:2]})()
    outcome = bench.run()
    assert not outcome.green
    assert outcome.verdicts[0].seen.differences == ("loss: 1 of 3 steps are missing: [2]",)
    assert bench.now >= READ_WITHIN


def test_what_nobody_logged_is_seen_even_if_it_comes_after_all_else() -> None:
    bench = Bench(only("roundtrip"), ended(RUN))
    twice = {"loss": (*READ.series["loss"], (2, "nan"))}
    bench.at.append((QUIET - 1, bench.read("alice/p/1", series=twice)))
    outcome = bench.run()
    assert seen(outcome) == {"roundtrip": "different"}
    assert outcome.verdicts[0].seen.differences == ("loss: 1 points are there twice",)


def test_better_than_expected_is_red() -> None:
    bench = Bench(
        only("login_web_host", "get_run_without_run"),
        ended(answers={"login_web_host": "accepted", "get_run_without_run": "None"}),
    )
    outcome = bench.run()
    assert not outcome.green
    assert [verdict.right for verdict in outcome.verdicts] == [False, False]
    assert "seen accepted, expected TypeError" in report.words(outcome)
    assert "expected by wheel 0.8.4 swanlab/sdk/cmd/login.py:30" in report.words(outcome)


def test_a_wrong_expectation_is_red() -> None:
    scenario = next(one for one in FULL.scenarios if one.name == "roundtrip")
    expected = {**scenario.expected, VERSION: replace(scenario.expected[VERSION], outcome="different")}
    bench = Bench(Matrix(FULL.versions, (replace(scenario, expected=expected),)), ended(RUN))
    assert not bench.run().green


def test_a_result_of_another_sdk_is_red_although_all_of_it_came_back() -> None:
    outcome = Bench(only("roundtrip"), ended(RUN, sdk="0.10.3")).run()
    assert not outcome.green
    assert seen(outcome) == {"roundtrip": "foreign"}
    assert outcome.verdicts[0].seen.differences == ("the environment has SDK 0.10.3, expected 0.8.4",)


@pytest.mark.parametrize("name", ["roundtrip", "second_init", "negative_step"])
def test_nothing_logged_and_nothing_read_is_red(name: str) -> None:
    nothing: dict[str, Any] = {"logged": {}, "media": {}, "config": {}, "lines": ()}
    bench = Bench(only(name), ended(replace(RUN, **nothing), replace(SECOND, **nothing)))
    bench.short = planned.short
    bench.world.reads = dict.fromkeys(bench.world.reads, ReadBack("FINISHED"))
    outcome = bench.run()
    assert not outcome.green
    assert seen(outcome) == {name: "foreign"}


def test_a_driver_that_logs_fewer_points_than_planned_is_foreign_although_all_came_back() -> None:
    fewer = {"sentinel/again": tuple((step, "0.5") for step in range(19))}
    runs = [replace(run, logged=fewer, media={}, lines=()) for run in (RUN, SECOND)]
    bench = Bench(only("second_init"), ended(*runs, script="second_init"))
    bench.world.reads = dict.fromkeys(bench.world.reads, replace(READ, keys=frozenset(fewer), series=fewer, media={}))
    assert bench.run().green
    bench.endings, bench.short = [ended(*runs, script="second_init")], planned.short
    outcome = bench.run()
    assert seen(outcome) == {"second_init": "foreign"}
    words = "finished, and 19 points of sentinel/again were logged, planned were 20"
    assert outcome.verdicts[0].seen.differences == (f"run r {words}", f"run r-second {words}")


def test_a_hang_is_told_at_once_and_the_others_are_played() -> None:
    hang = Ended(result(replace(RUN, finished=False), stage="first run finishes"), hang=True)
    bench = Bench(only("roundtrip", "login_web_host"), hang, ended(answers={"login_web_host": "TypeError"}))
    outcome = bench.run()
    assert seen(outcome) == {"roundtrip": "hang", "login_web_host": "TypeError"}
    assert bench.now == 0.0


def test_a_server_that_cannot_be_read_is_red() -> None:
    bench = Bench(only("roundtrip"), ended(RUN))

    def broken(_: LoggedRun) -> str:
        raise UnreachableError("SwanLab /api/project", "HTTP 500: password=hunter2")

    bench.world.state = broken  # type: ignore[method-assign,assignment]  # this server breaks
    outcome = bench.run()
    assert seen(outcome) == {"roundtrip": "unreadable"}
    assert "HTTP 500" in report.words(outcome)
    assert "hunter2" not in report.words(outcome)


def test_one_version_that_cannot_be_installed_is_a_fault_and_the_others_go_on() -> None:
    bench = Bench(only("roundtrip"), ended(RUN))
    bench.refused = {"0.8.5"}
    outcome = bench.run("0.8.5", VERSION)
    assert [verdict.version for verdict in outcome.verdicts] == [VERSION]
    assert all(verdict.right for verdict in outcome.verdicts)
    assert not outcome.green
    assert "SDK 0.8.5 could not be tried: the package index cannot be reached" in outcome.faults[0]


def test_nothing_played_is_not_green() -> None:
    bench = Bench(only("roundtrip"))
    bench.refused = {VERSION}
    assert not bench.run().green
    assert not Outcome(SUBJECT).green


def test_an_interrupt_keeps_what_was_seen_and_removes_what_was_logged() -> None:
    bench = Bench(only("roundtrip"), ended(RUN))
    bench.world.names = [("sdk-0badcafe-0.8.4-roundtrip", "2026-01-01T00:00:00Z"), ("sdk-another-0.8.4-calls", "")]

    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    bench.sleep = interrupted  # type: ignore[method-assign,assignment]  # Ctrl-C while it waits
    outcome = bench.run()
    assert outcome.interrupted
    assert not outcome.green
    assert ("plumbline-sentinel", "sdk-0badcafe-0.8.4-roundtrip") in bench.world.swept
    assert ("plumbline-sentinel", "sdk-another-0.8.4-calls") not in bench.world.swept


def test_only_what_a_killed_regression_left_long_ago_is_removed_at_the_start() -> None:
    bench = Bench(only("roundtrip"), ended(RUN))
    old, new = "2026-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z"
    bench.world.names = [
        ("sdk-1-x", old),
        ("sdk-2-x", new),
        ("theirs", old),
        ("sdk-3-x", "soon"),
        ("sdk-4-x", "2026-01-01"),
    ]
    bench.run()
    assert [name for _, name in bench.world.swept] == ["sdk-1-x"]


def test_runs_that_cannot_be_removed_are_a_fault() -> None:
    bench = Bench(only("login_web_host"), ended(answers={"login_web_host": "TypeError"}))
    bench.world.fail = UnreachableError("SwanLab", "HTTP 503")
    outcome = bench.run()
    assert not outcome.green
    assert "runs of plumbline-sentinel could not be removed" in outcome.faults[0]


def test_the_session_is_ended_by_a_proxy_for_that_scenario_alone() -> None:
    refused = replace(SECOND, path="", finished=False)
    second = ended(RUN, refused, script="second_init", raised=("first run finished: ApiError: 401",))
    bench = Bench(only("second_init", "second_init_session_ended"), ended(RUN, SECOND, script="second_init"), second)
    outcome = bench.run()
    assert seen(outcome) == {"second_init": "both", "second_init_session_ended": "second_refused"}
    assert outcome.green
    direct, proxied = bench.addresses
    assert direct.host == "http://10.203.0.1:80"
    assert proxied.host.startswith("http://127.0.0.1:")
    assert (proxied.key, proxied.proxies) == ("key", False)


def test_scenarios_of_one_script_share_a_process() -> None:
    grouped = {job.name: len(job.scenarios) for job in jobs(FULL, VERSION)}
    assert grouped == {"roundtrip": 1, "calls": 4, "values": 8, "second_init": 1, "second_init_session_ended": 1}


def test_each_run_has_a_name_of_its_own_and_the_round_trip_is_long() -> None:
    bench = Bench(only("roundtrip", "second_init"), ended(RUN), ended(RUN, SECOND, script="second_init"))
    bench.run()
    assert [plan["run"] for plan in bench.plans] == ["sdk-0badcafe-0.8.4-roundtrip", "sdk-0badcafe-0.8.4-second_init"]
    assert [plan["steps"] for plan in bench.plans] == [1000, 20]


def test_the_table_shows_what_differs(tmp_path: Path) -> None:
    bench = Bench(only("roundtrip"), ended(RUN), ended(RUN, sdk="0.8.5"))
    bench.read("alice/p/1", state="ABORTED")()
    outcome = bench.run("0.8.4", "0.8.5")
    lines = report.table(bench.matrix, outcome).splitlines()
    assert lines[0].split() == ["scenario", "0.8.4", "0.8.5"]
    assert lines[1].split() == ["roundtrip", "✗", "different", "≠", "equal", "✗", "different", "≠", "equal"]
    assert "RED: 0 of 2 answers as expected" in report.words(outcome)
    told = json.loads(report.write(outcome, tmp_path / "out").read_text(encoding="utf-8"))
    assert (told["subject"], told["green"], told["interrupted"]) == (SUBJECT, False, False)
    assert told["answers"][0]["differences"] == ["state is 'ABORTED', expected 'FINISHED'"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == [report.NAME]


@pytest.mark.parametrize("reading", [READ, ReadBack("FINISHED")])
def test_a_green_table_has_no_cross(reading: ReadBack) -> None:
    bench = Bench(only("roundtrip"), ended(RUN))
    bench.world.reads["alice/p/1"] = reading
    outcome = bench.run()
    assert ("✗" in report.table(bench.matrix, outcome)) is not outcome.green
