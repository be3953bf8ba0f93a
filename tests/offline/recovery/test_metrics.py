"""What a run tells arrives in a real Pushgateway, a failure leaves the last success alone, no fault is swallowed."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
import requests

from recovery.metrics import Measured, Run, created, failed, predicted_restore_seconds, pruned, push, verified
from recovery.model import Part, Point, Verification
from signals import recovery_metrics as names
from signals.pushed_jobs import JOB_PERIOD, JOB_SUCCESS
from tests.offline.programs import free_port, require, running
from tests.offline.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recovery.metrics import Values

# 2026-11-30T07:20:00Z is second 1796023200: 20787 days, 7 hours and 20 minutes after 1970.
BEGUN = datetime(2026, 11, 30, 7, 20, tzinfo=UTC)
RUN = Run(ended=datetime(2026, 11, 30, 7, 30, tzinfo=UTC), period_seconds=3600)
ENDED = 1796023800.0
BY_HAND = replace(RUN, period_seconds=None)
POINT = Point(
    id="20261130T072000Z-1f2e3d4c",
    stack="local",
    cluster_uid="u",
    mode="online",
    started=BEGUN,
    ended=RUN.ended,
    program="1",
    consistency=(),
    first_lost=BEGUN,
    parts=(
        Part(store="postgres", kind="postgres", version="16"),
        Part(store="objects", kind="objects", version="1"),
    ),
)
GOOD = Verification(point=POINT.id, started=RUN.ended, seconds=8.0, differences=(), figures={})
BAD = GOOD.model_copy(update={"differences": ("postgres: rows of run: 4, not 5", "redis: keys: 0, not 1")})
MEASURED = Measured(
    sizes={"postgres": 4000, "objects": 96000}, seconds={"postgres": 2.5, "objects": 1.5}, new_bytes=70, tampered=2
)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a real Pushgateway."""
    url = f"http://127.0.0.1:{free_port()}"
    command = [require("pushgateway"), f"--web.listen-address={url.removeprefix('http://')}"]
    with running(command, f"{url}/-/ready", tmp_path_factory.mktemp("pushgateway") / "log"):
        yield url


@pytest.fixture
def empty(gateway: str) -> str:
    """The same, holding nothing."""
    for job in names.JOBS:
        assert requests.delete(f"{gateway}/metrics/job/{job}", timeout=60).status_code == 202
    return gateway


def held(url: str, job: str) -> dict[str, float]:
    """Series of a group as Prometheus would scrape them: `name` or `name store` → value."""
    text = requests.get(f"{url}/metrics", timeout=60).text
    found = re.findall(r"^(plumbline_\w+)\{([^}]*)\} (\S+)$", text, re.MULTILINE)
    series = {}
    for name, labels, value in found:
        pairs = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        assert set(pairs) <= {"job", "instance", "store"}, "a label of its own would displace one of the target"
        if pairs["job"] == job:
            series[f"{name} {pairs.get('store', '')}".strip()] = float(value)
    return series


def made(run: Run = RUN) -> Values:
    return created(run, POINT, MEASURED, rpo_seconds=86400, rto_seconds=3600)


def test_a_point_that_was_made_is_told(empty: str) -> None:
    assert push(empty, names.CREATE, made()) is None
    assert held(empty, names.CREATE) == {
        "plumbline_job_last_success_timestamp_seconds": ENDED,
        "plumbline_job_period_seconds": 3600,
        "plumbline_recovery_last_point_timestamp_seconds": 1796023200,
        "plumbline_recovery_point_bytes postgres": 4000,
        "plumbline_recovery_point_bytes objects": 96000,
        "plumbline_recovery_create_duration_seconds postgres": 2.5,
        "plumbline_recovery_create_duration_seconds objects": 1.5,
        "plumbline_recovery_point_new_bytes": 70,
        "plumbline_recovery_tampered_objects": 2,
        "plumbline_recovery_rpo_target_seconds": 86400,
        "plumbline_recovery_rto_target_seconds": 3600,
        "plumbline_recovery_last_failure_timestamp_seconds none": 0,
    }


def test_a_failure_leaves_the_last_success_and_the_last_point_alone(empty: str) -> None:
    push(empty, names.CREATE, made())
    before = held(empty, names.CREATE)
    later = replace(RUN, ended=datetime(2026, 11, 30, 8, 30, tzinfo=UTC))
    assert push(empty, names.CREATE, failed(later, store="postgres")) is None
    del before[f"{names.LAST_FAILURE} none"]
    assert held(empty, names.CREATE) == before | {f"{names.LAST_FAILURE} postgres": ENDED + 3600}


@pytest.mark.parametrize("year", [2020, 2026, 2099])
def test_a_success_takes_back_a_failure_whatever_its_clock_said(empty: str, year: int) -> None:
    push(empty, names.CREATE, failed(replace(RUN, ended=RUN.ended.replace(year=year)), store="postgres"))
    push(empty, names.CREATE, made())
    assert [(name, value) for name, value in held(empty, names.CREATE).items() if names.LAST_FAILURE in name] == [
        (f"{names.LAST_FAILURE} none", 0)
    ]


def test_a_verification_that_is_not_good_takes_back_nothing(empty: str) -> None:
    push(empty, names.VERIFY, failed(RUN, store="redis"))
    push(empty, names.VERIFY, verified(RUN, BAD, restored_bytes=1, newest_good=None, damaged=1, tampered=0))
    assert held(empty, names.VERIFY)[f"{names.LAST_FAILURE} redis"] == ENDED


def test_the_next_failure_takes_the_place_of_the_one_before(empty: str) -> None:
    push(empty, names.CREATE, failed(RUN, store="postgres"))
    push(empty, names.CREATE, failed(RUN, store=None))
    assert held(empty, names.CREATE) == {f"{names.LAST_FAILURE} none": ENDED, JOB_PERIOD: 3600}


def test_a_job_that_only_ever_failed_promises_and_shows_no_success() -> None:
    """Which is what PushedJobWithoutSuccess fires on."""
    assert JOB_PERIOD in failed(RUN, store=None)
    assert JOB_SUCCESS not in failed(RUN, store=None)


def test_a_run_without_a_schedule_promises_nothing() -> None:
    for values in (made(BY_HAND), failed(BY_HAND, store=None), pruned(BY_HAND, kept=1, tampered=0)):
        assert JOB_PERIOD not in values
    assert made(BY_HAND)[JOB_SUCCESS] == ENDED


def test_a_store_that_left_the_point_leaves_the_group(empty: str) -> None:
    push(empty, names.CREATE, made())
    alone = POINT.model_copy(update={"parts": POINT.parts[:1]})
    measured = Measured(sizes={"postgres": 1}, seconds={"postgres": 1}, new_bytes=0, tampered=0)
    push(empty, names.CREATE, created(RUN, alone, measured, rpo_seconds=1, rto_seconds=1))
    assert [name for name in held(empty, names.CREATE) if name.startswith(names.POINT_BYTES)] == [
        f"{names.POINT_BYTES} postgres"
    ]


@pytest.mark.parametrize("key", ["sizes", "seconds"])
@pytest.mark.parametrize("stores", [{"postgres": 1}, {"postgres": 1, "objects": 1, "redis": 1}, {}])
def test_a_store_that_was_not_measured_is_refused(key: str, stores: dict[str, float]) -> None:
    wrong = replace(MEASURED, sizes=stores) if key == "sizes" else replace(MEASURED, seconds=stores)
    with pytest.raises(ValueError, match=key):
        created(RUN, POINT, wrong, rpo_seconds=1, rto_seconds=1)


def test_a_good_verification_is_told(empty: str) -> None:
    values = verified(RUN, GOOD, restored_bytes=100_000, newest_good=POINT, damaged=1, tampered=3)
    assert push(empty, names.VERIFY, values) is None
    assert held(empty, names.VERIFY) == {
        "plumbline_job_last_success_timestamp_seconds": ENDED,
        "plumbline_job_period_seconds": 3600,
        "plumbline_recovery_last_verified_point_timestamp_seconds": 1796023200,
        "plumbline_recovery_verification_duration_seconds": 8,
        "plumbline_recovery_verification_differences": 0,
        "plumbline_recovery_points_damaged": 1,
        "plumbline_recovery_tampered_objects": 3,
        "plumbline_recovery_restore_bytes_per_second": 12500,
        "plumbline_recovery_last_failure_timestamp_seconds none": 0,
    }


def test_a_verification_with_differences_is_no_success_and_tells_no_speed(empty: str) -> None:
    push(empty, names.VERIFY, verified(RUN, GOOD, restored_bytes=100_000, newest_good=POINT, damaged=0, tampered=0))
    later = replace(RUN, ended=datetime(2026, 11, 30, 8, 30, tzinfo=UTC))
    push(empty, names.VERIFY, verified(later, BAD, restored_bytes=1, newest_good=None, damaged=1, tampered=5))
    assert held(empty, names.VERIFY) == {
        JOB_SUCCESS: ENDED,
        JOB_PERIOD: 3600,
        names.LAST_VERIFIED: 0,
        names.VERIFY_SECONDS: 8,
        names.DIFFERENCES: 2,
        names.DAMAGED: 1,
        names.TAMPERED: 5,
        names.RESTORE_RATE: 12500,
        f"{names.LAST_FAILURE} none": 0,
    }


def test_no_speed_is_told_of_a_verification_that_took_no_time() -> None:
    instant = GOOD.model_copy(update={"seconds": 0.0})
    assert names.RESTORE_RATE not in verified(RUN, instant, restored_bytes=5, newest_good=POINT, damaged=0, tampered=0)


def test_what_was_pruned_is_told(empty: str) -> None:
    assert push(empty, names.PRUNE, pruned(RUN, kept=14, tampered=4)) is None
    assert held(empty, names.PRUNE) == {
        JOB_SUCCESS: ENDED,
        JOB_PERIOD: 3600,
        names.POINTS: 14,
        names.TAMPERED: 4,
        f"{names.LAST_FAILURE} none": 0,
    }


def test_groups_of_the_jobs_do_not_mix(empty: str) -> None:
    push(empty, names.CREATE, made())
    push(empty, names.VERIFY, failed(RUN, store="redis"))
    assert held(empty, names.CREATE)[f"{names.LAST_FAILURE} none"] == 0
    assert f"{names.LAST_FAILURE} redis" not in held(empty, names.CREATE)
    assert JOB_SUCCESS not in held(empty, names.VERIFY)


def test_names_that_need_quoting_stay_what_they_are(empty: str) -> None:
    strange = 'a\\b"c\nd{}é'
    assert push(empty, names.CREATE, failed(RUN, store=strange)) is None
    told = requests.get(f"{empty}/api/v1/metrics", timeout=60).json()["data"][0][names.LAST_FAILURE]["metrics"]
    assert [metric["labels"]["store"] for metric in told] == [strange]


def test_every_metric_of_the_catalogue_is_pushed_and_with_its_type(empty: str) -> None:
    every = made() | verified(RUN, GOOD, restored_bytes=1, newest_good=POINT, damaged=0, tampered=0)
    every |= pruned(RUN, kept=1, tampered=0) | failed(RUN, store="x")
    assert set(names.RECOVERY) == set(every) - {JOB_SUCCESS, JOB_PERIOD}
    assert push(empty, names.CREATE, every) is None
    group = requests.get(f"{empty}/api/v1/metrics", timeout=60).json()["data"][0]
    assert {group[name]["type"] for name in every} == {"GAUGE"}


def test_prediction_is_the_size_at_the_measured_speed() -> None:
    """100 000 bytes in 8 s: 250 000 take 20 s."""
    assert predicted_restore_seconds(250_000, GOOD, 100_000) == 20
    assert predicted_restore_seconds(250_000, GOOD, 0) is None
    assert predicted_restore_seconds(250_000, BAD, 100_000) is None


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_number_is_not_pushed(empty: str, number: float) -> None:
    """Prometheus compares with NaN as with nothing."""
    fault = push(empty, names.CREATE, {names.POINT_BYTES: {"postgres": number}, names.NEW_BYTES: 1})
    assert fault is not None
    assert f"no number in {names.POINT_BYTES}" in fault
    assert held(empty, names.CREATE) == {}


@pytest.mark.parametrize(
    ("job", "values", "said"),
    [
        ("recovery-creat", {}, "known are recovery-create, recovery-verify, recovery-prune"),
        (names.CREATE, {"plumbline_recovery_point_byte": 1.0}, "not in the catalogue"),
        (names.CREATE, {"plumbline_page_proof": 1.0}, "not in the catalogue"),
        (names.CREATE, {names.POINT_BYTES: 1.0}, "a value for each store"),
        (names.CREATE, {names.LAST_POINT: {"postgres": 1.0}}, "takes one value"),
    ],
)
def test_what_the_catalogue_does_not_have_is_refused(job: str, values: Values, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        push("http://127.0.0.1:9", job, values)


class Answers(BaseHTTPRequestHandler):
    """Answers with these statuses, one after another, the last again and again; remembers what was asked."""

    statuses: tuple[int, ...] = (200,)
    asked: list[str]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.asked.append(f"{self.command} {self.path}")
        status = self.statuses[min(len(self.asked), len(self.statuses)) - 1]
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/")
        self.end_headers()
        self.wfile.write(b"so it\nis")

    do_GET = do_POST

    def log_message(self, *_: object) -> None:
        """Nothing."""


def answering(*statuses: int) -> tuple[list[str], ThreadingHTTPServer]:
    asked: list[str] = []
    handler = type("Handler", (Answers,), {"statuses": statuses, "asked": asked})
    return asked, ThreadingHTTPServer(("127.0.0.1", 0), handler)


VALUES = pruned(RUN, kept=1, tampered=0)
POST = "POST /metrics/job/recovery-prune"


@pytest.mark.parametrize(
    ("statuses", "attempts", "said"),
    [
        ((200,), 1, None),
        ((503, 200), 2, None),
        ((503, 503, 200), 3, None),
        ((503,), 3, r"it answers 503 \(so it is\)"),
        ((400,), 1, r"it answers 400 \(so it is\)"),
        ((404,), 1, "is metrics_url that of a Pushgateway"),
        ((302, 200), 1, "it answers 302"),
    ],
)
def test_it_tries_again_where_that_helps_and_never_follows_a_redirection(
    statuses: tuple[int, ...], attempts: int, said: str | None
) -> None:
    asked, server = answering(*statuses)
    with serving(server) as url:
        fault = push(url, names.PRUNE, VALUES, pauses=(0, 0))
    assert asked == [POST] * attempts
    assert (fault is None) == (said is None)
    assert said is None or re.search(said, fault or "")


def test_a_gateway_that_is_not_there_is_a_fault_that_says_where_and_what_next() -> None:
    port = free_port()
    fault = push(f"http://127.0.0.1:{port}", names.CREATE, made(), pauses=(0,))
    assert fault is not None
    assert f"what job recovery-create did is not told to the Pushgateway at 127.0.0.1:{port}" in fault
    assert "refused" in fault
    assert "push_from" in fault


def test_the_environment_sends_nothing_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, server = answering(200)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with serving(server) as url:
        assert push(url, names.PRUNE, VALUES, pauses=()) is None
    assert asked == [POST]


@pytest.mark.parametrize("url", ["", "pushgateway:9091", "http://[", "http://somebody:s3cret@127.0.0.1", "http://a b"])
def test_no_address_is_a_fault_and_a_password_in_it_is_not_shown(url: str) -> None:
    fault = push(url, names.PRUNE, VALUES, pauses=())
    assert fault is not None
    assert "s3cret" not in fault


def test_a_refused_body_is_told_with_the_gateways_own_words(empty: str) -> None:
    """Real words of a real refusal: another group already has the metric with another type."""
    clash = f"# TYPE {names.POINTS} counter\n{names.POINTS} 1\n"
    assert requests.post(f"{empty}/metrics/job/other", data=clash, timeout=60).ok
    try:
        fault = push(empty, names.PRUNE, VALUES, pauses=())
    finally:
        requests.delete(f"{empty}/metrics/job/other", timeout=60)
    assert fault is not None
    assert "it answers 400 (" in fault
    assert names.POINTS in fault
