"""The object store from end to end against a stand-in: which buckets there are, and whose key opens which.

What becomes of the buckets of one owner, public and private, is in test_experiments.py.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.offline.smoke.conftest import check_of
from tests.offline.smoke.lab import bucket

if TYPE_CHECKING:
    from tests.offline.smoke.lab import Lab

ROUNDTRIP = "objects.roundtrip"
TWO_OWNERS = {"buckets": [bucket("swanlab-private"), bucket("media", "media"), bucket("shared", "media")]}


def test_buckets_are_those_of_the_contract_each_with_its_owners_key(lab: Lab) -> None:
    """None of them is public: a store needs none."""
    lab.store.owners = {"swanlab-private": "swanlab", "media": "media", "shared": "media"}
    code, report = lab.run("objects.roundtrip", "objects.anonymous", object_store=TWO_OWNERS)
    told = {name: check_of(report, name)["evidence"] for name in ("objects.roundtrip", "objects.anonymous")}
    assert code == 0, told
    assert "deleted in swanlab-private and media and shared; a wrong key was refused; 2 owners" in told[ROUNDTRIP]
    assert "a stranger reads nothing of swanlab-private and media and shared" in told["objects.anonymous"]
    assert lab.store.objects == {}
    assert "verysecret" not in json.dumps(report)


def test_key_that_opens_the_bucket_of_another_owner_is_told(lab: Lab) -> None:
    code, report = lab.run(ROUNDTRIP, object_store=TWO_OWNERS)
    evidence = check_of(report, ROUNDTRIP)["evidence"]
    assert code == 1
    assert "GET swanlab-private/plumbline-sentinel/" in evidence
    assert "by owner media: seen allowed; expected refused" in evidence
    assert "by owner swanlab: seen allowed; expected refused" in evidence


def test_other_owner_may_read_what_everybody_reads_and_write_nothing(lab: Lab) -> None:
    buckets = {"buckets": [bucket("swanlab-public", public_read=True), bucket("media", "media")]}
    lab.store.owners = {"media": "media"}
    _, report = lab.run(ROUNDTRIP, object_store=buckets)
    evidence = check_of(report, ROUNDTRIP)["evidence"]
    assert "PUT swanlab-public/plumbline-sentinel/" in evidence
    assert "GET" not in evidence


def test_contract_that_claims_an_object_store_and_promises_none_is_red(lab: Lab) -> None:
    code, report = lab.run(ROUNDTRIP, object_store=None)
    assert code == 1
    assert "has no section 'object_store'" in check_of(report, ROUNDTRIP)["evidence"]
