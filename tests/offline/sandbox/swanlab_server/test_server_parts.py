"""Small parts of the stand-in's server: credentials, instants, licences, fields, addresses, filters, export, routes."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from sandbox.swanlab_server import bodies, credentials, export, licences, listing, projects, routes, storage, times
from sandbox.swanlab_server.listing import Field, Filter
from sandbox.swanlab_server.points import Point
from sandbox.swanlab_server.settings import Bucket
from sandbox.swanlab_server.storage import Storage
from sandbox.swanlab_server.web import Call, Refusal

NOW = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)
BUCKET = Bucket(
    endpoint="http://s3.test:9000",
    region="us-east-1",
    private="swanlab-private",
    public="swanlab-public",
    access_key="access",
    secret_key="secret",  # noqa: S106  # of no store
    public_url="",
)


def run(**changes: Any) -> dict[str, Any]:  # noqa: ANN401  # fields of a run
    base = {"state": "FINISHED", "name": "a", "cluster": "", "job": "", "labels": [], "user": {"username": "alice"}}
    return {**base, "profile": {"config": {"lr": {"value": 0.1}}}, **changes}


def test_an_api_key_has_the_length_that_sdk_0_7_20_insists_on() -> None:
    keys = {credentials.new_key() for _ in range(100)}
    assert len(keys) == 100
    assert all(re.fullmatch(r"[A-Za-z0-9]{21}", key) for key in keys)


def test_a_password_is_known_by_its_hash_alone() -> None:
    stored = credentials.hash_password("correct horse")
    assert "correct" not in stored
    assert stored != credentials.hash_password("correct horse")
    assert credentials.is_password("correct horse", stored)
    assert not credentials.is_password("wrong horse", stored)


@pytest.mark.parametrize("instant", [NOW, NOW.replace(microsecond=123_999)])
def test_instants_are_spelled_as_the_sdks_parse_them(instant: datetime) -> None:
    spelled = times.spell(instant)
    parsed = datetime.strptime(spelled, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    assert abs((parsed - instant).total_seconds()) < 0.001
    assert re.fullmatch(r"2026-01-31T12:00:00\.\d{3}Z", spelled)


@pytest.mark.parametrize(
    "text", ["2026-01-31T12:00:00.000000Z", "2026-01-31T12:00:00Z", "2026-01-31T12:00:00", "2026-01-31T20:00:00+08:00"]
)
def test_instants_are_read_with_and_without_fraction_and_zone(text: str) -> None:
    assert times.parse(text) == NOW


def test_any_text_is_a_free_licence_for_a_year() -> None:
    licence = licences.parse("from the site", NOW)
    assert (licence.plan, licence.seats) == ("free", 5)
    assert not licence.expired(datetime(2027, 1, 31, 11, 0, tzinfo=UTC))
    assert licence.expired(datetime(2027, 1, 31, 12, 0, tzinfo=UTC))


def test_a_licence_may_say_what_it_is() -> None:
    licence = licences.parse('{"plan":"commercial","seats":2,"expiredAt":"2026-01-31T11:59:59.000Z"}', NOW)
    assert (licence.plan, licence.seats, licence.expired(NOW)) == ("commercial", 2, True)


@pytest.mark.parametrize("text", ["", " ", '{"plan":"gold"}', '{"seats":0}', '{"seats":true}', '{"expiredAt":"soon"}'])
def test_a_licence_that_contradicts_itself_is_refused(text: str) -> None:
    with pytest.raises(Refusal):
        licences.parse(text, NOW)


@pytest.mark.parametrize("size", [10, 100])
def test_a_page_counts_pages_as_the_sdks_read_them(size: int) -> None:
    page = bodies.page({"page": "2", "size": str(size)})
    assert page.offset == size
    assert page.of([1], size + 1) == {"list": [1], "size": size, "pages": 2, "total": size + 1}


@pytest.mark.parametrize("query", [{"page": "0"}, {"page": "x"}, {"size": "11"}, {"size": "1000"}, {"page": "9" * 9}])
def test_a_page_that_is_none_is_refused(query: dict[str, str]) -> None:
    with pytest.raises(Refusal):
        bodies.page(query)


@pytest.mark.parametrize("path", ["", "/a", "a//b", "../b", "a/../b", "a/.", "a/", "a\0b", "a" * 901])
def test_a_path_that_leaves_its_run_is_refused(path: str) -> None:
    with pytest.raises(Refusal):
        storage.checked(path)


@pytest.mark.parametrize("path", ["media/image/001-ab.png", "train/损失/x.txt", "a..b", ".hidden"])
def test_a_path_below_its_run_is_taken(path: str) -> None:
    assert storage.checked(path) == path


def test_an_upload_address_signs_the_host_alone() -> None:
    url = Storage(BUCKET).upload_url("p/r/media/image/001-a b.png", "https://swanlab.example")
    parts, query = urlsplit(url), parse_qs(urlsplit(url).query)
    assert f"{parts.scheme}://{parts.netloc}" == "https://swanlab.example"
    assert parts.path == "/swanlab-private/p/r/media/image/001-a%20b.png"
    assert query["X-Amz-SignedHeaders"] == ["host"]
    assert "Content-MD5" not in url


def test_signed_addresses_begin_with_the_public_address_where_there_is_one() -> None:
    bucket = Bucket(**{**BUCKET.__dict__, "public_url": "https://s3.example:8333"})
    assert (
        Storage(bucket).download_url("p/r/a", "http://gateway").startswith("https://s3.example:8333/swanlab-private/")
    )


def test_a_part_of_an_upload_has_its_number_signed() -> None:
    query = parse_qs(urlsplit(Storage(BUCKET).part_url("p/r/a", "u1", 3, "http://gateway")).query)
    assert (query["partNumber"], query["uploadId"], query["X-Amz-SignedHeaders"]) == (["3"], ["u1"], ["host"])


def test_values_are_exported_as_they_are_read_back() -> None:
    points = [
        Point(0, 0.1 + 0.2, 5),
        Point(1, 1e-320, 6),
        Point(2, 3.0, 7),
        Point(3, float("nan"), 8),
        Point(4, "INF", 9),
    ]
    rows = export.as_csv("rat-1-loss", points).splitlines()
    assert rows[0] == "step,rat-1-loss_step,rat-1-loss_timestamp"
    assert rows[1:] == ["0,0.30000000000000004,5", "1,1e-320,6", "2,3.0,7", "3,nan,8", "4,INF,9"]


def test_a_title_with_a_comma_stays_one_field() -> None:
    assert export.as_csv('a,"b', []) == 'step,"a,""b_step","a,""b_timestamp"\n'


@pytest.mark.parametrize(
    ("field", "operator", "values", "taken"),
    [
        (Field("STABLE", "state"), "EQ", ("FINISHED",), True),
        (Field("STABLE", "state"), "EQ", ("CRASHED",), False),
        (Field("STABLE", "state"), "NEQ", ("CRASHED",), True),
        (Field("STABLE", "labels"), "IN", ("b", "z"), True),
        (Field("STABLE", "labels"), "NOT IN", ("b",), False),
        (Field("STABLE", "name"), "CONTAIN", ("un",), True),
        (Field("STABLE", "user.username"), "EQ", ("alice",), True),
        (Field("STABLE", "cluster"), "EQ", ("",), True),
        (Field("CONFIG", "lr"), "GTE", ("0.05",), True),
        (Field("CONFIG", "lr"), "LTE", ("0.05",), False),
        (Field("CONFIG", "layers"), "GTE", ("9",), True),
        (Field("CONFIG", "absent"), "EQ", ("",), True),
    ],
)
def test_filters(field: Field, operator: str, values: tuple[str, ...], taken: bool) -> None:  # noqa: FBT001  # a row
    config = {"lr": {"value": 0.1}, "layers": {"value": 12}}
    found = run(name="run-1", labels=[{"name": "a"}, {"name": "b"}], profile={"config": config})
    assert Filter(field, operator, values).takes(found) is taken


def test_groups_are_nested_in_their_order() -> None:
    found = [run(name="a", job="x"), run(name="b", job="y"), run(name="c", job="x", state="CRASHED")]
    grouped = listing.grouped(found, [Field("STABLE", "job"), Field("STABLE", "state")])
    assert grouped == {"x": {"FINISHED": [found[0]], "CRASHED": [found[2]]}, "y": {"FINISHED": [found[1]]}}


@pytest.mark.parametrize(
    ("headers", "old"),
    [
        ({"x-swanlab-sdk-version": "0.8.4"}, True),
        ({"x-swanlab-sdk-version": "0.9.8"}, False),
        ({"x-swanlab-sdk-version": "0.10.3"}, False),
        ({"swanlab-sdk": "0.7.20"}, True),
        ({}, False),
        ({"x-swanlab-sdk-version": "dev"}, False),
    ],
)
def test_sdks_from_before_multi_view_boards(headers: dict[str, str], old: bool) -> None:  # noqa: FBT001  # a row
    assert projects.old_sdk(Call(headers=headers)) is old


# Method and path of every request of the wheels 0.7.20 to 0.10.3 that is not under /api/house.
ASKED = """
POST /api/login/api_key
POST /api/project
POST /api/project/u
POST /api/projects/u
GET /api/project/u
GET /api/project/u/p
DELETE /api/project/u/p
POST /api/project/u/p/experiment
GET /api/project/u/p/runs
POST /api/project/u/p/runs/shows
POST /api/project/u/p/runs/del
GET /api/project/u/p/runs/r
DELETE /api/project/u/p/runs/r
PUT /api/project/u/p/runs/r/profile
PUT /api/project/u/p/runs/r/state
POST /api/projects/u/p/series
POST /api/experiment/r/columns
GET /api/experiment/r/column
GET /api/experiment/r/column/csv
POST /api/experiment/r/files/prepare
POST /api/experiment/r/files/complete
POST /api/experiment/r/files/prepare-multipart
POST /api/experiment/r/files/complete-multipart
POST /api/resources/presigned/put
POST /api/resources/presigned/get
POST /api/files/presigned/get
GET /api/user/profile
GET /api/user/u/groups
GET /api/user/key
POST /api/user/key
DELETE /api/user/key/1
GET /api/user/key/latest
GET /api/group/
GET /api/group/u
GET /api/self_hosted/info
GET /api/self_hosted/users
POST /api/self_hosted/users
GET /api/self_hosted/projects
GET /api/self_hosted/groups
GET /api/self_hosted/summary
GET /api
"""


@pytest.mark.parametrize("line", ASKED.strip().splitlines())
def test_every_request_of_the_sdks_has_a_route(line: str) -> None:
    method, path = line.split()
    patterns = [
        re.sub(r"\{[a-z]+(:int)?\}", "[^/]+", endpoint.path)
        for endpoint in routes.ENDPOINTS
        if endpoint.method == method
    ]
    assert any(re.fullmatch(pattern, path) for pattern in patterns)
