"""The whole program over every real store: a point is taken, verified, restored beside, promoted and put back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.offline.recovery import program_site
from tests.offline.recovery.buckets import LIVE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.offline.recovery.program_site import Site

CANARY = "canary-of-a-password"


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
    return facts


def test_point_is_listed_verified_and_then_meets_its_aims(site: Site, taken: dict[str, Any]) -> None:
    config = site.config("verify", stores=[], scratch=site.scratch())
    listed = site.run(config, "list")[1]["points"]
    assert (listed[-1]["id"], listed[-1]["state"]) == (taken["point"], "unverified")
    code, facts, said = site.run_as_a_pod(config, "verify", "--latest")
    assert code == 0, said
    assert (facts["point"], facts["good"], facts["differences"]) == (taken["point"], True, [])
    assert facts["figures"]["media"]["read_back"] is True
    assert site.run(config, "list")[1]["points"][-1]["state"] == "verified"
    code, facts, _ = site.run(config, "status")
    assert (code, facts["verified"], facts["faults"]) == (0, taken["point"], [])
    code, facts, _ = site.run_as_a_pod(site.config("hurried", rpo_seconds=1, rto_seconds=1800), "status")
    assert code == 1
    assert "1 s are accepted (rpo)" in facts["faults"][0]


def test_second_point_sends_little(site: Site, taken: dict[str, Any]) -> None:
    code, facts, said = site.run(site.config("live"), "create")
    assert code == 0, said
    assert facts["point"] > taken["point"]
    assert facts["bytes"] - facts["sent"] >= sum(number * 1000 for number in range(5)), "objects were sent again"


def test_lost_chunk_is_found_and_the_good_point_stays_latest(site: Site, taken: dict[str, Any]) -> None:
    config = site.config("verify", stores=[], scratch=site.scratch())
    assert site.run(config, "verify", "--latest")[0] == 0
    before = set(site.target.keys("chunks/", site.bucket))
    site.objects.put("runs/later.png", b"only in the second point")
    assert site.run(site.config("live"), "create")[0] == 0
    added = set(site.target.keys("chunks/", site.bucket)) - before
    bucket = site.target.bucket(site.bucket)
    (own,) = (key for key in added if bucket.get(key) == b"only in the second point")
    site.lose(own)
    code, facts, said = site.run(config, "verify", "--latest")
    assert code == 1, said
    assert facts["good"] is False
    assert len(facts["differences"]) == 1
    assert facts["differences"][0].startswith("media: runs/later.png: chunk")
    assert "is missing" in facts["differences"][0]
    assert site.run(config, "status")[1]["verified"] == taken["point"]
    assert site.run(config, "list")[1]["points"][-1]["state"] == "failed"


def test_manifest_that_somebody_lays_over_is_not_used(site: Site, taken: dict[str, Any]) -> None:
    key = f"points/{taken['point']}/manifest.json"
    whole = site.target.bucket(site.bucket).get(key)
    assert whole is not None
    site.target.bucket(site.bucket, "writer").put(key, whole.replace(b"online", b"onlinE"), absent=False)
    code, facts, said = site.run(site.config("live"), "list")
    assert code == 0, said
    assert facts["points"][-1]["state"] == "unverified"
    assert "what lies over it is not genuine, an older version is" in facts["notes"][0]


def test_point_without_its_manifest_is_none(site: Site, taken: dict[str, Any]) -> None:
    site.lose(f"points/{taken['point']}/manifest.json")
    code, facts, said = site.run(site.config("live"), "restore", "--point", taken["point"])
    assert code == 3
    assert f"there is no point {taken['point']}" in facts["error"]
    assert "Traceback" not in said


def test_stores_whose_schema_nobody_knows_are_said_to_be_unchecked(site: Site, taken: dict[str, Any]) -> None:
    between = {"postgres": "metadata", "clickhouse": "clickhouse", "private": "media", "public": "media"}
    config = site.config("verify", stores=[], scratch=site.scratch(), cross_check=between)
    code, facts, said = site.run(config, "verify", "--point", taken["point"])
    assert code == 1, said
    assert len(facts["differences"]) == 1
    assert facts["differences"][0].startswith("between stores: no known schema: cross-check not done")
    between["clickhouse"] = "elsewhere"
    code, facts, _ = site.run(
        site.config("verify", stores=[], scratch=site.scratch(), cross_check=between), "verify", "--latest"
    )
    assert code == 3
    assert "cross_check: scratch has no store elsewhere" in facts["error"]


def test_store_that_cannot_be_read_leaves_no_point(site: Site) -> None:
    before = site.run(site.config("live"), "list")[1]["points"]
    sections = site.sections()
    sections[1]["database"] = "not_there"
    code, facts, said = site.run(site.config("broken", stores=sections), "create")
    assert code == 3
    assert facts["error"].startswith("clickhouse: ")
    assert "Traceback" not in said
    assert site.run(site.config("live"), "list")[1]["points"] == before


def test_restore_is_promoted_put_back_and_confirmed(site: Site, taken: dict[str, Any]) -> None:
    live, point = site.config("live"), taken["point"]
    site.clickhouse.run("ALTER TABLE @.scalar DELETE WHERE step >= 500 SETTINGS mutations_sync = 2")
    site.postgres.run(site.database, "DELETE FROM child; INSERT INTO empty VALUES (1, 'after')")
    site.redis.client().set("string", "after")
    site.objects.client.remove_object(LIVE, "runs/4 ü+%.png")
    code, facts, said = site.run(live, "restore", "--point", point)
    assert (code, facts["differences"]) == (0, []), said
    assert site.clickhouse.run("SELECT count() FROM @.scalar") == ["500"], "the live store was written to"
    code, facts, said = site.run(live, "promote", "--point", point)
    assert code == 3, said
    assert "nothing" in facts["error"] or "put back" in facts["error"]
    code, _, said = site.run(live, "promote", "--point", point, "--force")
    assert code == 0, said
    assert site.clickhouse.run("SELECT count() FROM @.scalar") == ["1000"]
    assert site.postgres.ask(site.database, "SELECT count(*) FROM child") == 2
    assert site.redis.client().get("string") == b"one"
    assert site.objects.get("runs/4 ü+%.png") == bytes([4]) * 4000
    code, _, said = site.run(live, "demote")
    assert code == 0, said
    assert site.clickhouse.run("SELECT count() FROM @.scalar") == ["500"]
    assert site.postgres.ask(site.database, "SELECT note FROM empty") == "after"
    assert site.run(live, "promote", "--point", point, "--force")[0] == 0
    code, _, said = site.run(live, "confirm")
    assert code == 0, said
    assert site.postgres.names(site.database) == {""}


def test_prune_keeps_what_the_rule_says(site: Site, taken: dict[str, Any]) -> None:
    config = site.config("prune", stores=[], retention={"keep_last": 1, "keep_days": 0.0001})
    code, facts, said = site.run(config, "prune", "--dry-run")
    assert code == 0, said
    assert taken["point"] not in facts["deleted"]
    left = [one["id"] for one in site.run(config, "list")[1]["points"]]
    assert len(left) > 1, "a dry run deletes nothing"


def test_secrets_are_opened_with_the_recovery_key_alone(site: Site, tmp_path: Path) -> None:
    secret = tmp_path / "swanlab-postgres"
    secret.mkdir()
    (secret / "password").write_text(CANARY, encoding="utf-8")
    config = site.config("sealed", stores=[site.sealed(secret)])
    code, facts, said = site.run(config, "create")
    assert code == 0, said
    point = facts["point"]
    other = tmp_path / "other-key"
    assert site.run(config, "keygen", "--private", str(other))[0] == 0
    assert oct(other.stat().st_mode & 0o777) == "0o600"
    words = ("open-secrets", "--point", point, "--into", str(tmp_path / "out"))
    code, facts, _ = site.run(config, *words, "--private", str(other))
    assert code == 3
    assert CANARY not in json.dumps(facts)
    code, _, said = site.run(config, *words, "--private", str(site.private))
    assert code == 0, said
    assert (tmp_path / "out" / "swanlab-postgres" / "password").read_text(encoding="utf-8") == CANARY
    everything = [site.target.bucket(site.bucket).get(key) or b"" for key in site.target.keys("", site.bucket)]
    assert not [content for content in everything if CANARY.encode() in content]


def test_wrong_configuration_says_what_is_accepted(site: Site) -> None:
    code, facts, _ = site.run_as_a_pod(site.config("wrong", stores=[{"kind": "mysql", "name": "x"}]), "list")
    assert code == 3
    assert (
        "stores[0].kind is 'mysql'; accepted: alertmanager, clickhouse, grafana, objects, postgres, redis, secrets"
        in facts["error"]
    )
    code, facts, _ = site.run(site.config("twice", stores=[*site.sections(), *site.sections()]), "list")
    assert "stores has a name twice" in facts["error"]
    code, facts, _ = site.run(site.config("key", rpo_seconds="soon"), "list")
    assert "rpo_seconds" in facts["error"]
