"""The program killed at every kind of line that it tells: live data stays, and the next run is clean.

A word is killed at one line after the other, each run over what the killed one before it left, and then runs through.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

from recovery.vault.vault import Vault
from tests.offline.recovery import killed_program, program_site
from tests.offline.recovery.buckets import LIVE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.offline.recovery.killed_program import Ended
    from tests.offline.recovery.program_site import Site

STORES = ("metadata", "clickhouse", "redis", "media")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Every store, once."""
    with program_site.site(tmp_path_factory.mktemp("site")) as found:
        yield found


@pytest.fixture(scope="module")
def point(site: Site) -> str:
    """A point that was verified; its stores hold something else afterwards."""
    taken = program(site, site.config("live"), "create")
    assert taken.code == 0, taken.said
    done = program(site, site.config("verify", stores=[], scratch=site.scratch()), "verify", "--latest")
    assert done.code == 0, done.said
    change(site)
    return str(taken.facts["point"])


def program(site: Site, config: Path, *words: str, **how: Any) -> Ended:  # noqa: ANN401  # how it is ended
    """The program in a process of its own."""
    return killed_program.run(site.home, config, *words, **how)


def change(site: Site) -> None:
    """What the point does not have, in every store."""
    site.postgres.run(site.database, "INSERT INTO empty VALUES (1, 'after')")
    site.clickhouse.run("INSERT INTO @.scalar SELECT 'later', number, 0 FROM numbers(7)")
    site.redis.client().set("string", "after")
    site.objects.put("runs/4 ü+%.png", b"after")


def held(site: Site) -> dict[str, Any]:
    """Store → what it holds."""
    tables = ("numbers", "texts", "child", "empty")
    return {
        "metadata": [
            site.postgres.ask(site.database, f"SELECT array_agg(t::text ORDER BY t::text) FROM {table} AS t")  # noqa: S608  # names of ours
            for table in tables
        ],
        "clickhouse": site.clickhouse.run("SELECT count(), sum(cityHash64(*)) FROM @.scalar"),
        "redis": site.redis.content(),
        "media": site.objects.own(LIVE),
    }


def points(site: Site) -> list[tuple[str, str]]:
    """Points and their states."""
    vault = Vault.open(site.target.target(site.bucket), write=False)
    return [(one.id, one.state) for one in vault.points()]


def killed(site: Site, config: Path, words: tuple[str, ...], kinds: tuple[str, ...]) -> Iterator[str]:
    """Kill it at each kind of line; each time it is looked at what is there."""
    for kind in kinds:
        done = program(site, config, *words, at=kind)
        assert done.code == -signal.SIGKILL, (kind, done.said)
        yield kind


def test_ids_of_any_run_are_one_kind() -> None:
    ids = ("00000004-000007F5-1", "0000000A-00000FFF-2")
    said = {killed_program.kind(f"metadata: snapshot {one} of app_7") for one in ids}
    assert said == {"metadata: snapshot N-N-N of app_7"}


def test_create(site: Site, point: str) -> None:
    config, before, there = site.config("live"), held(site), points(site)
    whole = program(site, config, "create")
    assert [kind for kind in whole.kinds if kind.startswith("1 of 4")], whole.kinds
    assert len(whole.kinds) >= 8, whole.kinds
    there = points(site)
    for kind in killed(site, config, ("create",), whole.kinds):
        assert held(site) == before, kind
        assert points(site) == there, kind
    done = program(site, config, "create")
    assert done.code == 0, done.said
    assert points(site) == [*there, (done.facts["point"], "unverified")]
    checked = program(site, site.config("verify", stores=[], scratch=site.scratch()), "verify", "--latest")
    assert (checked.code, checked.facts["point"]) == (0, done.facts["point"]), checked.said
    assert point in dict(points(site))


def test_verify(site: Site, point: str) -> None:
    config, before, there = site.config("verify", stores=[], scratch=site.scratch()), held(site), points(site)
    words = ("verify", "--point", point)
    kinds = program(site, config, *words).kinds
    assert len(kinds) >= 7, kinds
    for kind in killed(site, config, words, kinds):
        assert held(site) == before, kind
        assert points(site) == there, kind
    done = program(site, config, *words)
    assert (done.code, done.facts["good"]) == (0, True), done.said


def test_restore(site: Site, point: str) -> None:
    config, before = site.config("live"), held(site)
    words = ("restore", "--point", point)
    kinds = program(site, config, *words).kinds
    assert len(kinds) >= 7, kinds
    for kind in killed(site, config, words, kinds):
        assert held(site) == before, kind
    done = program(site, config, *words)
    assert (done.code, done.facts["differences"]) == (0, []), done.said
    assert held(site) == before


ENDS = (
    (signal.SIGKILL, "metadata"),
    (signal.SIGKILL, "clickhouse"),
    (signal.SIGTERM, "redis"),
    (signal.SIGKILL, "redis"),
    (signal.SIGKILL, "media"),
)
"""How a run is ended, and behind which store."""


def swapped(site: Site, config: Path, words: tuple[str, ...], before: dict[str, Any], after: dict[str, Any]) -> None:
    """A word that goes from store to store, ended behind each of them: those are done, and the others are not."""
    for number, store in ENDS:
        done = program(site, config, *words, at=store, number=number)
        now, behind = held(site), STORES.index(store)
        for place, other in enumerate(STORES):
            assert now[other] == (after if place <= behind else before)[other], (store, other)
        if number == signal.SIGKILL:
            assert done.code == -number, done.said
        else:
            assert done.code == 130, done.said
            assert f"run `{words[0]}` again, which ends it" in done.said
            assert "Traceback" not in done.said
    done = program(site, config, *words)
    assert done.code == 0, done.said
    assert held(site) == after


def test_promote_demote_and_confirm(site: Site, point: str) -> None:
    config, own = site.config("live"), held(site)
    done = program(site, config, "restore", "--point", point)
    assert done.code == 0, done.said
    promote = ("promote", "--force", "--point", point)
    done = program(site, config, *promote)
    assert done.code == 0, done.said
    copy = held(site)
    assert all(copy[store] != own[store] for store in STORES)
    swapped(site, config, ("demote",), copy, own)
    swapped(site, config, promote, own, copy)
    swapped(site, config, ("confirm",), copy, copy)
    assert site.postgres.names(site.database) == {""}
    assert site.redis.client(15).dbsize() == 0
    change(site)


def test_prune(site: Site, point: str) -> None:
    config = site.config("prune", stores=[], retention={"keep_last": 1, "keep_days": 0})
    before, there = held(site), points(site)
    whole = program(site, config, "prune")
    assert whole.code == 0, whole.said
    for kind in killed(site, config, ("prune",), whole.kinds):
        assert held(site) == before, kind
        assert points(site) == there, kind
    assert program(site, config, "prune").code == 0
    assert point in dict(points(site))


@pytest.mark.parametrize(
    ("words", "at"),
    [
        (("create",), "2 of 4: clickhouse (clickhouse)"),
        (("verify", "--latest"), "2 of 4: clickhouse (clickhouse)"),
        (("restore", "--latest-verified"), "2 of 4: clickhouse (clickhouse)"),
        (("prune",), "N chunks are needed"),
    ],
)
def test_terminated(site: Site, point: str, words: tuple[str, ...], at: str) -> None:
    config = site.config("ended") if words[0] != "verify" else site.config("ended", stores=[], scratch=site.scratch())
    before, there = held(site), points(site)
    assert point in dict(there)
    done = program(site, config, *words, at=at, number=signal.SIGTERM)
    assert done.code == 130, done.said
    assert "interrupted; nothing that was live has changed; run the same again" in done.said
    assert "Traceback" not in done.said
    assert (held(site), points(site)) == (before, there)
    assert program(site, config, *words).code == 0
