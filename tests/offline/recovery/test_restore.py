"""A restore stands beside, and is promoted whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recovery.create import create
from recovery.errors import HeldError, RecoveryError
from recovery.registry import KINDS
from recovery.restore import chosen, each, live, once_more, promote, restore
from recovery.stores.clickhouse import ClickHouse
from recovery.stores.grafana import Grafana
from recovery.stores.objects.store import Objects
from recovery.stores.postgres import Postgres
from recovery.stores.redis_keys.store import Keys
from recovery.stores.sealed import Sealed
from recovery.stores.silences import Silences
from tests.offline.recovery.examples import config
from tests.offline.recovery.shelves import Compared, Shelf
from tests.offline.recovery.vaults import Memory

if TYPE_CHECKING:
    from recovery.model import Part, Point
    from recovery.ports import Reader, Store

STORES: tuple[type[Store], ...] = (Postgres, ClickHouse, Objects, Keys, Silences, Sealed, Grafana)
RUNS, POINTS = {"a": "one", "b": "two"}, {"c": "three"}


def silent(line: str) -> None:
    """Nobody listens."""
    del line


@pytest.fixture
def vault() -> Memory:
    """An empty vault."""
    return Memory()


@pytest.fixture
def point(vault: Memory) -> Point:
    """A point of two stores."""
    live = (Shelf("runs", RUNS), Shelf("points", POINTS))
    return create(config(), live, vault, lambda _: None, mode="online", quiet=None, tell=silent).point


def test_copy_stands_beside_what_is_held(point: Point, vault: Memory) -> None:
    stores = (Shelf("runs", {"x": "live"}), Shelf("points"))
    assert restore(point, stores, vault, silent) == ()
    assert (stores[0].held, stores[0].beside) == ({"x": "live"}, RUNS)


def test_promotion_of_all(point: Point, vault: Memory) -> None:
    stores = (Shelf("runs"), Shelf("points"))
    restore(point, stores, vault, silent)
    promote(point, stores, vault, silent, force=False)
    assert [store.held for store in stores] == [RUNS, POINTS]


def test_copy_that_went_with_its_pod_is_made_anew(point: Point, vault: Memory) -> None:
    stores = (Shelf("runs", copy_in_work=True), Shelf("points"))
    restore(point, stores[1:], vault, silent)
    promote(point, stores, vault, silent, force=False)
    assert [store.held for store in stores] == [RUNS, POINTS]


def test_every_kind_is_a_store() -> None:
    """STORES are held against the protocol when types are checked."""
    opened = {module.open_store.__annotations__["return"] for module in KINDS.values()}
    assert opened == {store.__name__ for store in STORES}


def test_copy_that_differs_is_not_promoted(point: Point, vault: Memory) -> None:
    stores = (Shelf("runs"), Shelf("points"))
    restore(point, stores, vault, silent)
    stores[1].beside = {}
    with pytest.raises(RecoveryError, match=r"nothing was promoted.*\n- points: 0 texts instead of 1"):
        promote(point, stores, vault, silent, force=False)
    assert [store.held for store in stores] == [{}, {}]


def test_without_a_restore_nothing_is_promoted(point: Point, vault: Memory) -> None:
    with pytest.raises(RecoveryError, match="nothing was promoted"):
        promote(point, (Shelf("runs"),), vault, silent, force=True)


def test_store_that_refuses_undoes_those_before_it(point: Point, vault: Memory) -> None:
    stores = (Shelf("runs", {"old": "run"}), Shelf("points", fails={"promote"}))
    restore(point, stores, vault, silent)
    with pytest.raises(RecoveryError, match=r"points was not promoted.*\nwhat was promoted before it was put back"):
        promote(point, stores, vault, silent, force=True)
    assert stores[0].held == {"old": "run"}


def test_undoing_that_fails_is_told(point: Point, vault: Memory) -> None:
    stores = (Shelf("runs", fails={"demote"}), Shelf("points", fails={"promote"}))
    restore(point, stores, vault, silent)
    with pytest.raises(RecoveryError, match="runs still holds the copy: demote of runs fails"):
        promote(point, stores, vault, silent, force=False)


def test_store_that_holds_data_is_refused_without_force(point: Point, vault: Memory) -> None:
    stores = (Shelf("runs", {"old": "run"}),)
    restore(point, stores, vault, silent)
    with pytest.raises(RecoveryError, match="runs holds 1 texts"):
        promote(point, stores, vault, silent, force=False)
    assert stores[0].held == {"old": "run"}


def test_store_that_the_point_does_not_have_is_named(point: Point, vault: Memory) -> None:
    with pytest.raises(
        RecoveryError, match=r"has no part grafana of kind shelf; it has runs \(shelf\), points \(shelf\)"
    ):
        restore(point, (Shelf("grafana"),), vault, silent)


def test_store_of_another_kind_is_named(point: Point, vault: Memory) -> None:
    with pytest.raises(RecoveryError, match="has no part runs of kind postgres"):
        restore(point, (Shelf("runs", kind="postgres"),), vault, silent)


def test_stores_are_chosen_by_name() -> None:
    stores = (Shelf("runs"), Shelf("points"))
    assert chosen(stores, ()) == stores
    assert chosen(stores, ("points",)) == stores[1:]
    with pytest.raises(RecoveryError, match="--store nothing: no such store here; accepted: points, runs"):
        chosen(stores, ("nothing",))


def test_a_step_is_tried_on_every_store() -> None:
    stores = (Shelf("runs", fails={"confirm"}), Shelf("points", fails={"confirm"}), Shelf("rest"))
    with pytest.raises(RecoveryError, match=r"runs: confirm of runs.*\npoints: confirm of points"):
        each(stores, lambda store: store.confirm(), silent)
    assert stores[2].calls == ["confirm"]


class Resuming(Shelf):
    """Tells what it was promoted to, as the real stores do."""

    given: frozenset[str] = frozenset()

    def promoted(self, part: Part, reader: Reader) -> Compared | None:
        """Held against the part; None without a promotion."""
        if self.replaced is None:
            return None
        held = {file.path: b"".join(reader.read(file)).decode() for file in part.files}
        return Compared(() if held == self.held else ("it holds something else",), {})

    def live(self, part: Part) -> bool:
        """The promotion is of the part whose texts it was given."""
        return self.replaced is not None and self.given == {file.path for file in part.files}

    def promote(self, *, force: bool) -> str:
        """Remembers what it was given."""
        self.given = frozenset(self.beside or {})
        return super().promote(force=force)


def test_a_point_is_live_when_every_store_says_so(point: Point, vault: Memory) -> None:
    stores = (Resuming("runs"), Resuming("points"))
    with pytest.raises(RecoveryError, match="has no part silences"):
        live(point, (*stores, Shelf("silences", copy_in_work=True)))
    assert not live(point, stores)
    restore(point, stores, vault, silent)
    assert not live(point, stores)
    stores[0].promote(force=False)
    assert not live(point, stores), "the other store waits"
    stores[1].promote(force=False)
    assert live(point, stores)
    stores[1].held["later"] = "written since"
    assert live(point, stores)
    assert once_more(point, stores, vault, silent) == ("points: it holds something else",)
    stores[1].given = frozenset({"of another point"})
    assert not live(point, stores)
    stores[0].demote()
    assert not live(point, stores)


def test_a_store_whose_copy_went_with_its_pod_gets_what_it_lacks(point: Point, vault: Memory) -> None:
    stores = (Resuming("runs"), Shelf("points", copy_in_work=True))
    restore(point, stores[:1], vault, silent)
    stores[0].promote(force=False)
    stores[0].calls.clear()
    assert live(point, stores)
    assert once_more(point, stores, vault, silent) == ()
    assert (stores[0].calls, stores[1].held) == ([], POINTS)
    assert not live(point, stores[1:]), "it cannot tell"


class Holding(Shelf):
    """It has data of its own."""

    def promote(self, *, force: bool) -> str:
        """Refuses."""
        del force
        raise HeldError(f"{self.name}: somebody made something of the same name")


def test_a_store_that_people_went_on_using_is_told_and_ends_nothing(point: Point, vault: Memory) -> None:
    stores = (Resuming("runs"), Holding("points", copy_in_work=True))
    restore(point, stores[:1], vault, silent)
    stores[0].promote(force=False)
    assert once_more(point, stores, vault, silent) == ("points: somebody made something of the same name",)
    others = (Shelf("runs"), stores[1])
    restore(point, others, vault, silent)
    with pytest.raises(RecoveryError, match="points was not promoted: somebody made something"):
        promote(point, others, vault, silent, force=False)
    assert others[0].held == {}, "none, or all"


def test_a_killed_promotion_is_ended_by_the_next_one(point: Point, vault: Memory) -> None:
    stores = (Resuming("runs", {"own": "run"}), Resuming("points", {"own": "point"}))
    restore(point, stores, vault, silent)
    stores[0].promote(force=True)
    stores[0].beside = None
    stores[0].calls.clear()
    stores[0].held["later"] = "written since"
    with pytest.raises(RecoveryError, match="it was promoted before, and it holds something else"):
        promote(point, stores, vault, silent, force=True)
    assert "promote" not in stores[1].calls
    del stores[0].held["later"]
    promote(point, stores, vault, silent, force=True)
    assert "promote" in stores[1].calls
    assert "compare" not in stores[0].calls
