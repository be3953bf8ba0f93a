"""The whole program over every real store, where somebody has been there before: a promotion that is said again, and a
target in which somebody laid something over what was stored, or that does not give what it holds."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from recovery.__main__ import _run
from recovery.arguments import parse
from recovery.errors import RecoveryError
from recovery.vault import s3
from recovery.vault.names import chunk_key
from recovery.vault.s3 import Answer, Bucket
from tests.offline.recovery import program_site
from tests.offline.recovery.refusing import FAILS, Disk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.offline.recovery.program_site import Site

ONLY = b"held by one object alone: " + bytes(range(256))
"""Of no other object, so that its chunk is known."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Every store, once."""
    with program_site.site(tmp_path_factory.mktemp("site")) as found:
        yield found


@pytest.fixture
def taken(site: Site) -> dict[str, Any]:
    """A new point."""
    code, facts, said = site.run(site.config("live"), "create")
    assert code == 0, said
    assert facts["tampered"] == 0
    return facts


def verified(site: Site) -> tuple[int, dict[str, Any], str]:
    """A verification of the newest point."""
    return site.run(site.config("verify", stores=[], scratch=site.scratch()), "verify", "--latest")


def test_promotion_that_is_said_again_stops_nobody_and_changes_nothing(site: Site, taken: dict[str, Any]) -> None:
    """The configuration has nobody to stop: whoever tried would fail."""
    live, words = site.config("live"), ("promote", "--point", taken["point"], "--force")
    site.redis.client().set("string", "before")
    assert site.run(live, "restore", "--point", taken["point"])[0] == 0
    code, facts, said = site.run(live, *words)
    assert (code, facts["already"]) == (0, False), said
    code, facts, said = site.run(live, *words, "--quiesce")
    assert (code, facts["already"], facts["changed"]) == (0, True, []), said
    site.redis.client().set("string", "after")
    site.clickhouse.run("INSERT INTO @.scalar VALUES ('run', 5000, 1)")
    site.postgres.run(site.database, "INSERT INTO empty VALUES (1, 'after')")
    site.objects.put("runs/1 ü+%.png", b"after")
    code, facts, said = site.run(live, *words, "--quiesce")
    assert (code, facts["already"]) == (0, True), said
    assert {line.partition(":")[0] for line in facts["changed"]} == {"redis", "clickhouse"}
    assert site.redis.client().get("string") == b"after"
    assert site.clickhouse.run("SELECT count() FROM @.scalar") == ["1001"]
    assert site.objects.get("runs/1 ü+%.png") == b"after"
    for name in (store["name"] for store in site.sections()):
        facts = _run(parse(["--config", str(live), *words, "--quiesce", "--store", name])).facts
        assert (facts["already"], facts["stores"]) == (True, [name])
    other = site.run(live, "create")[1]["point"]
    for name in (store["name"] for store in site.sections()):
        with pytest.raises(RecoveryError, match="--quiesce needs the section"):  # it holds a copy of the first point
            _run(parse(["--config", str(live), "promote", "--point", other, "--quiesce", "--store", name]))
    code, facts, said = site.run(live, "demote")
    assert code == 0, said
    assert site.redis.client().get("string") == b"before"
    code, facts, _ = site.run(live, *words, "--quiesce")
    assert code == 3
    assert "--quiesce needs the section" in facts["error"], "it is not live any more, and would have stopped writers"
    site.run(live, "confirm")
    site.run(live, "discard")


def test_content_over_a_chunk_is_told_and_status_is_not_good(site: Site) -> None:
    site.objects.put("runs/own.png", ONLY)
    assert site.run(site.config("live"), "create")[0] == 0
    key = chunk_key(hashlib.sha256(ONLY).hexdigest())
    config = site.config("live")
    assert verified(site)[0] == 0
    assert site.run(config, "status")[0] == 0
    site.target.bucket(site.bucket, "writer").put(key, b"something else", absent=False)
    code, facts, said = verified(site)
    assert (code, facts["good"], facts["tampered"], facts["tampered_objects"]) == (0, True, 1, [key]), said
    assert facts["figures"]["target"] == {"tampered": 1}
    code, facts, said = site.run(config, "status")
    assert code == 1, said
    assert [line for line in facts["faults"] if "found 1 objects that somebody hid or laid something over" in line]
    code, facts, said = site.run(config, "create")
    assert (code, facts["tampered_objects"]) == (0, [key]), said
    code, facts, said = verified(site)
    assert (code, facts["tampered"]) == (0, 0), "it was stored again by the run before"
    assert site.run(config, "status")[0] == 0


def test_what_the_target_does_not_give_makes_the_point_doubtful(
    site: Site, taken: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sector of the target's disk is lost. The program runs in this process, so that requests can meet it."""
    content = ONLY + b" and another"
    before = verified(site)[1]["point"]
    assert before == taken["point"]
    site.objects.put("runs/lost.png", content)
    point = site.run(site.config("live"), "create")[1]["point"]
    code, _, said = verified(site)
    assert code == 0, said
    disk, once = Disk({chunk_key(hashlib.sha256(content).hexdigest())}), Bucket._once

    def meets(bucket: Bucket, method: str, key: str, *rest: Any) -> Answer:  # noqa: ANN401  # handed on as they are
        return Answer(500, {}, FAILS, rest[-1]) if disk.fails(method, key) else once(bucket, method, key, *rest)

    monkeypatch.setattr(Bucket, "_once", meets)
    monkeypatch.setattr(s3, "_PAUSES", (0.0, 0.0, 0.0))
    config = str(site.config("verify", stores=[], scratch=site.scratch()))
    bad = _run(parse(["--config", config, "verify", "--latest"]))
    assert (bad.code, bad.facts["good"], bad.facts["point"]) == (1, False, point)
    (line,) = bad.facts["differences"]
    assert "cannot be read, though" in line
    assert "nothing that was stored is lost" not in line
    assert disk.asked == 8
    monkeypatch.undo()
    code, status, said = site.run(site.config("live"), "status")
    assert (code, status["verified"]) == (1, before), said
    assert [fault for fault in status["faults"] if fault.startswith(f"point {point} was not good")]
    assert verified(site)[0] == 0
    assert site.run(site.config("live"), "status")[1]["verified"] == point
