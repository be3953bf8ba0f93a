"""Whatever the checks of Grafana try, people are not locked out, and no password is told."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from smoke import limits
from smoke.access.grafana import DEFAULT_PASSWORD
from smoke.redact import redact
from tests.offline.smoke.fake_grafana import EMAIL, PASSWORD
from tests.offline.smoke.grafana_faults import default_password, old_password
from tests.offline.smoke.grafana_site import Site, healthy_site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.offline.smoke.conftest import World


@pytest.fixture
def site(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr(limits, "GRAFANA_LOCK", 0.0)
    with healthy_site(world) as made:
        yield made


def test_people_are_never_locked_out_by_runs_that_are_green(site: Site) -> None:
    for _ in range(5):
        assert site.run("grafana.closed", "grafana.boards")[0] == 0
    assert site.state.wrong == {EMAIL: 5}


def test_lock_on_the_address_is_awaited_and_told(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.state.wrong[EMAIL] = 5
    assert "locked after wrong passwords" in site.red("grafana.closed")
    assert "admin" not in site.state.typed
    monkeypatch.setattr(limits, "GRAFANA_LOCK", 60.0)

    def end() -> None:
        if len(site.state.typed) == 3:
            site.state.wrong.clear()

    site.state.typed.clear()
    site.state.before_login = end
    assert site.run("grafana.closed")[0] == 0
    assert len(site.state.typed) > 3


@pytest.mark.parametrize("check", ["grafana.closed", "grafana.boards", "grafana.panels"])
def test_people_are_never_locked_out_by_a_secret_that_is_wrong(site: Site, check: str) -> None:
    old_password(site.state)
    for _ in range(6):
        site.red(check)
    assert site.state.wrong["admin"] <= 3


def test_wrong_secret_is_tried_once_in_a_run_however_many_checks_ask_how_often(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LEAST_WAIT", "QUICK", "TARGETS", "RULES"):
        monkeypatch.setattr(limits, name, 0.05)
    old_password(site.state)
    code, told = site.run()
    assert code == 1
    assert [name for name, one in told.items() if one["status"] == "pass"] == ["grafana.health"]
    assert site.state.wrong == {EMAIL: 2, "admin": 1}


def test_account_with_an_address_of_its_own_is_found_by_its_name(site: Site) -> None:
    site.state.email = "ops@example.com"
    assert site.run()[0] == 0
    assert site.state.wrong == {"ops@example.com": 1}


def test_default_password_of_an_account_with_an_address_of_its_own_is_red(site: Site) -> None:
    site.state.email = "ops@example.com"
    default_password(site.state)
    site.secret(DEFAULT_PASSWORD)
    assert "the default login: seen accepted; expected HTTP 401" in site.red("grafana.closed")


def test_password_is_in_no_report(site: Site) -> None:
    header = base64.b64encode(f"admin:{PASSWORD}".encode()).decode()
    site.state.email = "ops@example.com"
    site.run()
    text = "".join(path.read_text() for path in site.world.out.rglob("*") if path.is_file())
    assert text
    assert PASSWORD not in text
    assert header not in text
    assert PASSWORD not in redact(f"x {PASSWORD} y")
    assert header not in redact(f"x {header} y")
