"""Volumes that run full under the real program: it says whose, nothing new counts, and what was good stays good.

Needs no cluster, but root: each server lies on a file system of its own that is really too small.
"""

from __future__ import annotations

import hashlib
import random
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.live import volumes
from tests.live.volumes import volume
from tests.offline.recovery import clickhouse_servers, databases, locked, program_site
from tests.offline.recovery.buckets import LIVE
from tests.offline.sandbox.clickhouse_engine import process
from tests.offline.sandbox.swanlab_server import server_driver

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live.volumes import Volume
    from tests.offline.recovery.program_site import Site
    from tests.offline.sandbox.swanlab_server.server_driver import Cluster

FAILED: Final = 3
_SIZE: Final = 96
"""MiB of a small volume."""
_PIECE: Final = 12 * 1024**2
_ROWS: Final = 350_000
"""Of 32 hexadecimal digits each, twice: more than a small volume has beside an empty PostgreSQL."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Every store with more in it than a small volume takes, on volumes that are large enough."""
    with program_site.site(tmp_path_factory.mktemp("site")) as found:
        rows = f"SELECT i, md5(i::text) || md5((-i)::text) AS text FROM generate_series(1, {_ROWS}) AS i"  # noqa: S608  # a number of ours
        found.postgres.run(found.database, f"CREATE TABLE large AS {rows}")
        found.clickhouse.run("CREATE TABLE @.large (a String) ENGINE = MergeTree ORDER BY tuple()")
        found.clickhouse.run("INSERT INTO @.large SELECT randomString(1000) FROM numbers(40000)")
        content = random.Random(6)  # noqa: S311  # bytes that nothing compresses, the same each time
        for number in range(3):
            found.objects.put(f"large/{number}", content.randbytes(_PIECE))
        yield found
    assert volumes.mounted() == []


@pytest.fixture(scope="module")
def good(site: Site) -> str:
    """A point that was verified."""
    code, facts, said = site.run(site.config("live"), "create")
    assert code == 0, said
    assert verified(site, str(facts["point"]))
    return str(facts["point"])


@pytest.fixture
def small(tmp_path: Path, record_property: Any) -> Iterator[Volume]:  # noqa: ANN401  # pytest gives it no type
    """A volume of 96 MiB; the report says what it is made of."""
    with volume(tmp_path / "image", _SIZE) as found:
        record_property("volume", found.kind)
        yield found


def verified(site: Site, point: str) -> bool:
    """Whether a point is good, in scratch stores that have room."""
    code, facts, said = site.run(site.config("healthy", stores=[], scratch=site.scratch()), "verify", "--point", point)
    assert code == 0, said
    return bool(facts["good"])


def held(site: Site) -> dict[str, Any]:
    """What the live stores hold."""
    query = "SELECT md5(string_agg(t::text, '' ORDER BY t::text)) FROM {} AS t"
    return {
        "postgres": [site.postgres.ask(site.database, query.format(table)) for table in ("large", "numbers", "texts")],
        "databases": site.postgres.names(site.database) & {""},
        "clickhouse": [
            site.clickhouse.run(f"SELECT count(), sum(cityHash64(*)) FROM @.{table}")  # noqa: S608  # names of ours
            for table in ("large", "scalar")
        ],
        "redis": site.redis.content(),
        "objects": {key: hashlib.sha256(value).hexdigest() for key, value in site.objects.own(LIVE).items()},
    }


def refused(answer: tuple[int, dict[str, Any], str], store: str, *words: str) -> None:
    """It could not be done, and one sentence says where, that room lacks, and what to do."""
    code, facts, said = answer
    print(code, facts)
    assert code == FAILED, said
    assert facts["error"].startswith(store), facts["error"]
    for word in words:
        assert word in facts["error"], facts["error"]
    assert "Traceback" not in said


def stays(site: Site, good: str, before: dict[str, Any]) -> None:
    """Live data is untouched, no point came, and the good one is good."""
    assert held(site) == before
    config = site.config("live")
    assert [(one["id"], one["state"]) for one in site.run(config, "list")[1]["points"]] == [(good, "verified")]
    code, facts, said = site.run(config, "status")
    assert (code, facts["newest"], facts["verified"]) == (0, good, good), said
    assert verified(site, good)


@contextmanager
def database(site: Site, cluster: Cluster, *options: str) -> Iterator[Site]:
    """The same site with another PostgreSQL, as long as it lasts."""
    with cluster.running(*options) as address:
        yield replace(site, postgres=databases.Server(address, site.postgres.programs))


def test_verify_and_restore_into_a_full_postgres(site: Site, good: str, small: Volume) -> None:
    """Its log of changes lies elsewhere, so it is a table that finds no room."""
    before = held(site)
    with server_driver.cluster(small.path, log_elsewhere=True) as cluster, database(site, cluster) as full:
        full.database = full.postgres.database("CREATE TABLE own AS SELECT 4711 AS id")
        small.fill(16 * 1024**2)
        verify = site.run(site.config("full", stores=[], scratch=full.scratch()), "verify", "--latest")
        restore = full.run(full.config("full"), "restore", "--point", good, "--store", "metadata")
        assert full.postgres.ask(full.database, "SELECT id FROM own") == 4711
        assert full.postgres.names(full.database) == {""}, "a copy that is not whole was left"
    for answer in (verify, restore):
        refused(answer, "metadata: ", "No space left on device", "volume is full", "make it larger")
    stays(site, good, before)


def test_postgres_without_room_for_its_log_stops_and_has_lost_nothing(site: Site, good: str, small: Volume) -> None:
    before, tenant = held(site), small.fill(_SIZE * 1024**2 * 2 // 3)
    with server_driver.cluster(small.path) as cluster:
        with database(site, cluster) as full:
            full.database = full.postgres.database("CREATE TABLE own AS SELECT 4711 AS id")
            answer = full.run(full.config("full"), "restore", "--point", good, "--store", "metadata")
        refused(answer, "metadata: ", "the server stopped", "made larger")
        assert "No space left on device" in cluster.log.read_text(encoding="utf-8")
        tenant.unlink()
        with database(full, cluster) as again:
            assert again.postgres.ask(full.database, "SELECT id FROM own") == 4711
            code, _, said = again.run(again.config("full"), "discard", "--store", "metadata")
            assert code == 0, said
            assert again.postgres.names(full.database) == {""}
    stays(site, good, before)


def test_verify_and_restore_into_a_clickhouse_without_room(
    site: Site, good: str, small: Volume, tmp_path: Path
) -> None:
    before = held(site)
    with process.engine(small.directory("engine")) as server:
        full = replace(site, clickhouse=clickhouse_servers.case(server, tmp_path))
        full.clickhouse.run("CREATE TABLE @.own (id UInt32) ENGINE = MergeTree ORDER BY id")
        full.clickhouse.run("INSERT INTO @.own VALUES (4711)")
        small.fill(30 * 1024**2)
        verify = site.run(site.config("full", stores=[], scratch=full.scratch()), "verify", "--latest")
        restore = site.run(full.config("full"), "restore", "--point", good, "--store", "clickhouse")
        assert full.clickhouse.run("SELECT id FROM @.own") == ["4711"]
    for answer in (verify, restore):
        refused(answer, "clickhouse: ", "bytes are free", "are needed", "enlarge the volume")
    stays(site, good, before)


def test_clickhouse_runs_full_while_it_is_filled(site: Site, good: str, tmp_path: Path) -> None:
    """Bytes are free when the program asks, and then there is room for no further file."""
    before = held(site)
    with volume(tmp_path / "image", 160, 2000) as narrow, process.engine(narrow.directory("engine")) as server:
        full = replace(site, clickhouse=clickhouse_servers.case(server, tmp_path))
        sections = full.scratch()
        narrow.names(20)
        answer = site.run(site.config("full", stores=[], scratch=sections), "verify", "--latest")
    refused(answer, "clickhouse: ", "No space left on device", "volume is full", "enlarge")
    stays(site, good, before)


def test_working_directory_is_full(site: Site, good: str, small: Volume) -> None:
    before = held(site)
    small.fill()
    scratch = site.scratch()
    for store, words, stores in (
        ("metadata", ("create",), site.sections()),
        ("metadata", ("verify", "--latest"), []),
        ("redis", ("restore", "--point", good, "--store", "redis"), site.sections()),
    ):
        answer = site.run(site.config("full", work=str(small.path), stores=stores, scratch=scratch), *words)
        refused(answer, f"{store}: ", "orking directory", "room", "run again")
        left = {path.name for path in small.path.iterdir()} - {"another-tenant", "lost+found"}
        assert not left, f"{words} left files behind"
    stays(site, good, before)


def test_working_directory_takes_no_further_file(site: Site, good: str, small: Volume) -> None:
    """ClickHouse is not among them: it streams, and needs none."""
    before = held(site)
    small.names(0)
    for section in site.sections():
        if section["kind"] != "clickhouse":
            answer = site.run(site.config("full", work=str(small.path), stores=[section]), "create")
            refused(answer, f"{section['name']}: ", "orking directory", "room", "run again")
    stays(site, good, before)


def test_target_is_full(site: Site, small: Volume) -> None:
    """A point of a little is there and good; one of more than the target takes is none, and does not harm the first."""
    before, bucket = held(site), locked.LOCKED
    store = locked.prepared(small.directory("target"))
    little = [section for section in site.sections() if section["kind"] == "redis"]
    with store.running():
        store.make_buckets()
        own = replace(site, target=store)
        code, facts, said = own.run(own.config("little", stores=little), "create")
        assert code == 0, said
        point = str(facts["point"])
        assert verified(own, point)
        small.fill(20 * 1024**2)
        answer = own.run(own.config("live"), "create")
        refused(answer, "", bucket, "free space", "run again")
        config = own.config("live")
        assert [one["id"] for one in own.run(config, "list")[1]["points"]] == [point], "a point on a full target"
        code, facts, said = own.run(config, "status")
        assert (code, facts["verified"]) == (0, point), said
    (small.path / "another-tenant").unlink()
    with store.running():
        assert verified(own, point)
        assert held(site) == before
        assert own.run(config, "status")[1]["newest"] == point
