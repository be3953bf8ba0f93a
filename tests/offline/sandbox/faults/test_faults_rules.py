"""Which calls a rule is about, on which of them it acts, and how it is read from a file."""

from __future__ import annotations

import pytest

from sandbox.faults.reading import RulesError, parse
from sandbox.faults.rules import Asked, BodyLimit, Decision, Drop, Latency, Plan, Rule, Status, Truncate
from sandbox.faults.s3 import Wish, wish

NO = Status(503)
METRICS = Asked("POST", "/api/house/metrics", size=100)
UPLOAD = Asked("PUT", "/swanlab-private/p/e/a.png", "PutObject", "swanlab-private/p/e/a.png", 10)


@pytest.mark.parametrize(
    ("rule", "hit", "miss"),
    [
        (Rule(act=NO, method="POST"), METRICS, UPLOAD),
        (Rule(act=NO, route="/api/*"), METRICS, UPLOAD),
        (Rule(act=NO, route="re:/api/house/[a-z]+"), METRICS, Asked("POST", "/api/house/metrics/scalar")),
        (Rule(act=NO, verb="PutObject"), UPLOAD, METRICS),
        (Rule(act=NO, verb="*Object"), UPLOAD, Asked("PUT", "/x", "UploadPart", "b/x")),
        (Rule(act=NO, key="swanlab-private/*.png"), UPLOAD, Asked("PUT", "/b/a.wav", "PutObject", "b/a.wav")),
        (Rule(act=BodyLimit(99)), METRICS, Asked("POST", "/api/house/metrics", size=99)),
    ],
)
def test_rule_is_about_some_calls_and_not_about_others(rule: Rule, hit: Asked, miss: Asked) -> None:
    assert rule.matches(hit)
    assert not rule.matches(miss)


@pytest.mark.parametrize(
    ("rule", "acts_on"),
    [
        (Rule(act=NO), [1, 2, 3, 4, 5, 6, 7]),
        (Rule(act=NO, first=3), [3, 4, 5, 6, 7]),
        (Rule(act=NO, last=2), [1, 2]),
        (Rule(act=NO, first=2, last=6, every=2), [2, 4, 6]),
        (Rule(act=NO, first=2, every=3), [2, 5]),
    ],
)
def test_rule_acts_on_calls_by_their_number(rule: Rule, acts_on: list[int]) -> None:
    plan = Plan([rule])
    decisions = [plan.decide(METRICS) for _ in range(7)]
    assert [number for number, one in enumerate(decisions, 1) if one.act is NO] == acts_on


def test_calls_that_do_not_match_are_not_counted() -> None:
    plan = Plan([Rule(act=NO, method="POST", last=1)])
    assert plan.decide(UPLOAD) == Decision()
    assert plan.decide(METRICS).act is NO
    assert plan.decide(METRICS) == Decision()


def test_latencies_add_up_and_the_first_other_rule_wins() -> None:
    rules = [Rule(act=Latency(1.0), name="slow"), Rule(act=Drop()), Rule(act=NO), Rule(act=Latency(0.5))]
    assert Plan(rules).decide(METRICS) == Decision(1.5, Drop(), ("slow", "Drop", "Latency"))


def test_rules_are_read() -> None:
    text = """[
      {"name": "busy", "route": "/api/*", "method": "POST", "from": 2, "to": 9, "every": 3,
       "status": 503, "body": "later", "headers": {"Retry-After": "1"}},
      {"verb": "PutObject", "key": "b/*", "latency": 0.5},
      {"drop": "before"}, {"drop": "after"}, {"body_limit": 1048576}, {"truncate": 0}
    ]"""
    busy, slow, *rest = parse(text)
    assert busy == Rule(
        act=Status(503, "later", {"Retry-After": "1"}),
        **{"name": "busy", "route": "/api/*", "method": "POST", "first": 2, "last": 9, "every": 3},  # type: ignore[arg-type]  # fields by their names
    )
    assert slow == Rule(act=Latency(0.5), verb="PutObject", key="b/*")
    assert [rule.act for rule in rest] == [Drop(), Drop(reached=True), BodyLimit(1048576), Truncate(0)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not JSON"),
        ("{}", "no list of objects"),
        ("[1]", "no list of objects"),
        ("[{}]", "rule 1 has nothing to do; accepted are name, method"),
        ('[{"drop": "before"}, {"staus": 503}]', "rule 2 has staus"),
        ('[{"status": 503, "latency": 1}]', "rule 1 has"),
        ('[{"drop": "before", "body": "x"}]', "a body or headers without a status"),
        ('[{"status": 600}]', "accepted is 200 to 599"),
        ('[{"status": true}]', "status is True"),
        ('[{"status": 503, "body": 1}]', "body is 1; accepted is text"),
        ('[{"status": 503, "headers": {"a": 1}}]', "accepted is an object of texts"),
        ('[{"latency": 0}]', "latency is 0"),
        ('[{"latency": "1s"}]', "latency is '1s'"),
        ('[{"drop": "during"}]', "accepted is before or after"),
        ('[{"body_limit": -1}]', "a whole number from 0 on"),
        ('[{"truncate": 1.5}]', "truncate is 1.5"),
        ('[{"status": 503, "from": 0}]', "from is 0; accepted is a whole number from 1 on"),
        ('[{"status": 503, "route": "re:("}]', "no regular expression"),
        ('[{"status": 503, "route": 5}]', "route is 5; accepted is text"),
    ],
)
def test_rule_that_would_never_act_is_refused(text: str, told: str) -> None:
    with pytest.raises(RulesError, match=r".") as caught:
        parse(text)
    assert told in str(caught.value)


SIGNED = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=00"


@pytest.mark.parametrize(
    ("method", "target", "expected"),
    [
        ("PUT", f"/b/a%20c/d.png?{SIGNED}", Wish("PutObject", "b/a c/d.png")),
        ("GET", f"/b/k?{SIGNED}", Wish("GetObject", "b/k")),
        ("GET", f"/b/k?response-content-type=text%2Fcsv&{SIGNED}", Wish("GetObject", "b/k")),
        ("HEAD", f"/b/k?{SIGNED}", Wish("HeadObject", "b/k")),
        ("DELETE", f"/b/k?{SIGNED}", Wish("DeleteObject", "b/k")),
        ("PUT", f"/b/k?partNumber=1&uploadId=u&{SIGNED}", Wish("UploadPart", "b/k")),
        ("POST", f"/b/k?uploads=&{SIGNED}", Wish("CreateMultipartUpload", "b/k")),
        ("POST", f"/b/k?uploadId=u&{SIGNED}", Wish("CompleteMultipartUpload", "b/k")),
        ("DELETE", f"/b/k?uploadId=u&{SIGNED}", Wish("AbortMultipartUpload", "b/k")),
        ("GET", f"/b/k?uploadId=u&{SIGNED}", Wish("ListParts", "b/k")),
        ("GET", f"/b/k?acl=&{SIGNED}", Wish("Other", "b/k")),
        ("GET", f"/b?list-type=2&prefix=&{SIGNED}", Wish("ListObjectsV2", "b")),
        ("GET", f"/b?uploads=&{SIGNED}", Wish("ListMultipartUploads", "b")),
        ("PUT", f"/b?{SIGNED}", Wish("CreateBucket", "b")),
        ("PUT", f"/b?policy=&{SIGNED}", Wish("Other", "b")),
        ("POST", f"/b?delete=&{SIGNED}", Wish("DeleteObjects", "b")),
        ("GET", f"/?{SIGNED}", Wish("ListBuckets", "")),
        ("GET", "/b/k", Wish()),
        ("POST", "/api/house/metrics", Wish()),
    ],
)
def test_operation_of_an_object_store_is_told_from_the_request(method: str, target: str, expected: Wish) -> None:
    assert wish(method, target, {}) == expected


def test_operation_signed_in_a_header_is_told_too() -> None:
    signed = {"authorization": "AWS4-HMAC-SHA256 Credential=…"}
    assert wish("PUT", "/b/k", signed) == Wish("PutObject", "b/k")
    assert wish("PUT", "/b/k", signed | {"x-amz-copy-source": "/b/other"}) == Wish("CopyObject", "b/k")
    assert wish("PUT", "/b/k", {"authorization": "Basic eDp5"}) == Wish()
