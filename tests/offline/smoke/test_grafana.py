"""Grafana from end to end against a stand-in: green as a whole, red to the point on each fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from signals.dashboards.asking import sent
from signals.dashboards.model import PROMETHEUS
from smoke import limits
from tests.offline.smoke.conftest import check_of
from tests.offline.smoke.grafana_faults import FAULTS
from tests.offline.smoke.grafana_site import CHECKS, FOLDER, Site, healthy_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.offline.smoke.conftest import World
    from tests.offline.smoke.fake_grafana import FakeGrafana


@pytest.fixture
def site(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr(limits, "GRAFANA_LOCK", 0.0)
    with healthy_site(world) as made:
        yield made


def test_healthy_grafana_is_green(site: Site) -> None:
    code, told = site.run()
    assert [one["status"] for one in told.values()] == ["pass"] * len(CHECKS), told
    assert code == 0
    assert told["grafana.health"]["evidence"] == "Grafana 11.6.4, database ok"
    count = f"{sum(len(board.panels) for board in site.boards)} panels of {len(site.boards)} boards"
    assert f"{count} answered through Grafana" in told["grafana.panels"]["evidence"]


def test_panels_are_asked_as_the_page_of_a_board_asks_them(site: Site) -> None:
    site.run("grafana.panels")
    assert len(site.state.posted) == sum(len(board.panels) for board in site.boards)
    body = next(one for one in site.state.posted if "fleet:gpu_sm_active" in str(one))
    assert int(body["to"]) - int(body["from"]) == 900_000
    assert [query["refId"] for query in body["queries"]] == ["A", "B", "C"]
    (uid,) = {query["datasource"]["uid"] for query in body["queries"]}
    first = body["queries"][0]
    assert (uid, first["range"], first["intervalMs"], first["maxDataPoints"]) == (PROMETHEUS, True, 15_000, 60)
    assert first["expr"] == 'avg(fleet:gpu_sm_active:avg{cluster=~"local", environment=~"dev"})'


def test_variables_of_the_datasource_stay_for_it() -> None:
    expr = 'rate(x{cluster=~"$cluster"}[$__rate_interval]) + y[${__range}]'
    assert sent(expr, {"cluster": "c1"}) == 'rate(x{cluster=~"c1"}[$__rate_interval]) + y[$__range]'
    with pytest.raises(ValueError, match="team"):
        sent("$team", {"cluster": "c1"})


@pytest.mark.parametrize(("damage", "check", "told"), FAULTS, ids=lambda one: getattr(one, "__name__", ""))
def test_fault_is_red_and_to_the_point(
    site: Site, damage: Callable[[FakeGrafana], None], check: str, told: str
) -> None:
    damage(site.state)
    assert told in site.red(check)


def test_panel_without_values_is_red_with_its_name(site: Site) -> None:
    site.state.series[site.asked("Temperature by node")] = []
    assert "GPU fleet: Temperature by node: seen nothing" in site.red("grafana.panels")


def test_panel_of_a_value_that_is_none_is_red_with_its_name(site: Site) -> None:
    site.state.values[site.asked("Power")] = None
    assert "GPU fleet: Power: seen no number" in site.red("grafana.panels")


def test_panel_with_two_numbers_is_red_with_its_name(site: Site) -> None:
    site.state.series[site.asked("Power")] = [{"instance": "a"}, {"instance": "b"}]
    assert "GPU fleet: Power: seen 2 numbers" in site.red("grafana.panels")


def test_panel_whose_query_fails_is_red_with_its_name_and_the_error(site: Site) -> None:
    site.state.series[site.asked("Power")] = "execution: many-to-many matching"
    assert "GPU fleet: Power: seen execution: many-to-many matching" in site.red("grafana.panels")


def test_panel_of_a_datasource_that_is_not_there_is_red_with_its_name(site: Site) -> None:
    for target in site.panel("Power")["targets"]:
        target["datasource"]["uid"] = "${DS_PROMETHEUS}"
    assert "GPU fleet: Power: seen HTTP 404: Data source not found" in site.red("grafana.panels")


def test_panel_with_a_query_too_few_is_red_with_its_name(site: Site) -> None:
    site.panel("Activity of the fleet")["targets"].pop()
    told = site.red("grafana.panels")
    assert "GPU fleet: Activity of the fleet: seen 0 answers; expected 3, one for each query" in told


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("bare", [(500, {"message": "Internal server error"}), (200, "<!DOCTYPE html>"), (503, "")])
def test_grafana_that_answers_nothing_of_its_own_is_red(site: Site, check: str, bare: tuple[int, Any]) -> None:
    site.state.bare = bare
    assert "Grafana" in site.red(check)


def test_contract_that_promises_nothing_is_red(site: Site) -> None:
    for check in ("grafana.datasources", "grafana.boards", "grafana.panels"):
        code, told = site.run(check, grafana=None)
        assert code == 1
        assert "has no section 'grafana'" in told[check]["evidence"]
    nothing = {"folder": FOLDER, "datasources": [], "boards": {}}
    for check in ("grafana.datasources", "grafana.boards", "grafana.panels"):
        code, told = site.run(check, grafana=nothing)
        assert (code, told[check]["status"]) == (1, "fail")


def test_stack_without_grafana_skips_its_checks(site: Site) -> None:
    code, report = site.world.run("--only", "cluster.identity", *CHECKS, expected_checks=["cluster.identity"])
    assert code == 0
    assert {check_of(report, name)["status"] for name in CHECKS} == {"skip"}
