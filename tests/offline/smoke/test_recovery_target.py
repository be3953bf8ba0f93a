"""The bucket of restore points from end to end: whether it locks, and what its reader may do"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smoke.main import main
from tests.offline.recovery.locked import BRIEF, GOVERNED, LOCKED, LOOSE, PLAIN, Locked, locked
from tests.offline.smoke.recovery_objects import HERE
from tests.offline.smoke.recovery_site import JOBS, POINTS, STORE, TARGET, Site, lock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.offline.smoke.conftest import World


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    """The real object store: buckets with locks of all kinds, and accounts that may too much."""
    with locked(tmp_path_factory.mktemp("locked")) as made:
        yield made


@pytest.fixture
def site(world: World) -> Site:
    """A healthy stack with restore points, whose target nobody needs."""
    return Site(world)


def test_own_target_is_reached_through_a_forward_to_the_service_that_its_address_names(
    site: Site, store: Locked
) -> None:
    site.own = {"own": True, "bucket": LOCKED}
    binaries: Path = site.world.directory / "bin"
    (binaries / "target").write_text(store.endpoint.removeprefix("http://"))
    code, told, _ = site.run(TARGET)
    assert code == 0, told
    calls = (binaries / "calls").read_text()
    assert "port-forward" in calls
    assert f"-n {HERE}" in calls or f"--namespace={HERE}" in calls or f"--namespace {HERE}" in calls
    assert STORE in calls
    assert "8333" in calls


def test_own_target_at_no_service_is_told(site: Site) -> None:
    site.own = {"own": True, "target": "http://s3:8333", "bucket": LOCKED}
    code, told, _ = site.run(TARGET)
    assert code == 1
    assert "http://s3:8333 is no address of a Service" in told[TARGET]


def test_reading_run_does_not_try_to_write(site: Site, store: Locked) -> None:
    site.own["target"] = store.endpoint
    site.reader("reader-writes")
    site.run(JOBS, POINTS)
    main(site.world.arguments("--impact", "read"))
    asked = {check["id"] for check in site.world.report()["checks"]}
    assert {JOBS, POINTS} <= asked
    assert TARGET not in asked
    assert store.keys("plumbline-sentinel/", LOCKED) == []


@pytest.mark.parametrize(
    ("bucket", "words"),
    [
        (LOOSE, "bucket loose: seen no default retention"),
        (PLAIN, "bucket plain: seen no default retention (ObjectLockConfigurationNotFoundError)"),
        (GOVERNED, "bucket governed: seen GOVERNANCE for 7 days; expected COMPLIANCE for at least 7 days"),
        (BRIEF, "bucket brief: seen COMPLIANCE for 1 days; expected COMPLIANCE for at least 7 days"),
        ("missing", "bucket missing: seen no default retention"),
    ],
)
def test_bucket_that_does_not_lock_is_red_and_nothing_is_written_to_it(
    site: Site, store: Locked, bucket: str, words: str
) -> None:
    site.own |= {"target": store.endpoint, "bucket": bucket}
    site.reader("reader-writes")
    code, told, _ = site.run(TARGET)
    assert code == 1
    assert words in told[TARGET]
    if bucket != "missing":
        assert store.keys("plumbline-sentinel/", bucket) == []


def test_reader_that_may_write_is_red_and_what_it_wrote_is_named(site: Site, store: Locked) -> None:
    """Its bucket has a lock, so nobody can remove it before that has run out."""
    site.own["target"] = store.endpoint
    site.own["bucket"] = store.fresh()
    lock(store, site.own["bucket"])
    site.reader("reader-writes")
    code, told, _ = site.run(TARGET)
    (left,) = store.keys("plumbline-sentinel/", site.own["bucket"])
    assert code == 1
    assert f"PUT {site.own['bucket']}/{left} by its reader: seen allowed; expected refused" in told[TARGET]
    assert f"object {site.own['bucket']}/{left}: seen left behind" in told[TARGET]


@pytest.mark.parametrize("account", ["nobody", "writer", "stranger"])
def test_key_that_opens_nothing_is_red_although_its_write_would_be_refused(
    site: Site, store: Locked, account: str
) -> None:
    """A check of refusals alone would be green."""
    site.own["target"] = store.endpoint
    site.reader(account)
    code, told, _ = site.run(TARGET)
    assert code == 1
    assert "HTTP 403" in told[TARGET]


def test_reader_that_may_not_list_is_red(site: Site, store: Locked) -> None:
    site.own["target"] = store.endpoint
    site.reader("reader-without-list")
    code, told, _ = site.run(TARGET)
    assert code == 1
    assert "HTTP 403" in told[TARGET]


def test_reader_that_may_not_read_is_red(site: Site, store: Locked) -> None:
    site.own["target"] = store.endpoint
    site.reader("reader-without-get")
    code, told, _ = site.run(TARGET)
    assert code == 1
    assert "seen HTTP 403; expected 404" in told[TARGET]


def test_target_that_does_not_answer_is_red(site: Site) -> None:
    code, told, _ = site.run(TARGET)
    assert code == 1
    assert "target of restore points" in told[TARGET]
