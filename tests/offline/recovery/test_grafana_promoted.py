"""What is missing in a Grafana is made there, nothing is replaced, and what was made can be taken away again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recovery.errors import HeldError, RecoveryError
from recovery.stores import grafana
from tests.offline.recovery.buckets import silent
from tests.offline.recovery.grafana_made import filled
from tests.offline.recovery.grafanas import FOLDER, OURS, FakeGrafana
from tests.offline.recovery.test_grafana import made_by_people, opened, renamed, taken

if TYPE_CHECKING:
    from pathlib import Path


def test_one_that_holds_something_else_is_refused_and_with_force_keeps_it(tmp_path: Path) -> None:
    vault, part = taken(filled(), tmp_path)
    target = filled()
    renamed(target)
    del target.boards["loss"]
    with opened(target, tmp_path / "work") as store:
        store.restore(part, vault, silent)
        with pytest.raises(HeldError, match="dashboards mine; nothing was changed"):
            store.promote(force=False)
        assert "loss" not in target.boards
        said = store.promote(force=True)
        assert "1 made, 12 were there" in said
        assert "1 of them with another content, which stays: dashboards mine" in said
        assert target.boards["mine"]["content"]["title"] == "Others"
        assert target.boards["loss"]["content"]["title"] == "Loss"


def test_demote_takes_away_what_was_made_and_nothing_that_people_changed_or_put_there(tmp_path: Path) -> None:
    vault, part = taken(filled(), tmp_path)
    target = FakeGrafana()
    with opened(target, tmp_path / "work") as store:
        store.restore(part, vault, silent)
        store.promote(force=False)
        renamed(target)
        shows = {"uid": "new", "title": "New", "panels": [{"libraryPanel": {"uid": "lib"}}]}
        target.boards["new"] = {"content": shows, "folder": "runs", "provisioned": False}
        said = store.demote()
    assert "1 were changed since and stay: dashboards mine" in said
    assert "folders runs stays" in said
    assert "elements lib stays" in said
    assert set(target.boards) == {OURS, "mine", "new"}
    assert set(target.folders) == {FOLDER, "team-a", "runs"}, "runs lies in team-a"
    assert [one["login"] for one in target.users.values()] == ["admin"]
    assert (target.teams, list(target.elements), target.playlists, target.annotations) == ({}, ["lib"], {}, {})
    assert not any(target.preferences.values())


def test_demote_keeps_a_board_on_which_people_have_put_annotations_since(tmp_path: Path) -> None:
    vault, part = taken(filled(), tmp_path)
    target = FakeGrafana()
    with opened(target, tmp_path / "work") as store:
        store.restore(part, vault, silent)
        store.promote(force=False)
        mark = {"dashboardUID": "loss", "panelId": 0, "time": 7, "timeEnd": 7, "text": "outage", "tags": []}
        target.annotations[500] = {"id": 500, "alertId": 0, **mark}
        said = store.demote()
    assert "dashboards loss stays: it has annotations of others" in said
    assert set(target.boards) == {OURS, "loss"}
    assert [one["text"] for one in target.annotations.values()] == ["outage"]


def test_demote_elsewhere_and_confirm_leave_everything(tmp_path: Path) -> None:
    vault, part = taken(filled(), tmp_path)
    target = FakeGrafana()
    with opened(target, tmp_path / "work") as store:
        store.restore(part, vault, silent)
        store.promote(force=False)
        store.confirm()
        made = made_by_people(target)
        assert "nothing is known here" in store.demote()
    assert made_by_people(target) == made


def test_a_run_killed_while_it_makes_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = filled(), FakeGrafana()
    vault, part = taken(source, tmp_path)
    for stop in ("/api/dashboards/db", "/api/annotations", "/api/admin/users/2/permissions"):

        def dying(method: str, path: str, stop: str = stop) -> None:
            if method != "GET" and path == stop:
                raise ConnectionAbortedError

        with opened(target, tmp_path / "work") as store:
            store.restore(part, vault, silent)
            target.before = dying
            with monkeypatch.context() as patched:
                patched.setattr(grafana.Grafana, "_undone", lambda _self: "killed")  # no killed run undoes anything
                with pytest.raises(RecoveryError, match="killed"):
                    store.promote(force=False)
            target.before = lambda _method, _path: None
    with opened(target, tmp_path / "work") as store:
        store.promote(force=False)
    assert made_by_people(target) == made_by_people(source)


def test_what_was_made_is_taken_away_again_where_one_thing_is_refused(tmp_path: Path) -> None:
    vault, part = taken(filled(), tmp_path)
    target = FakeGrafana()
    target.bare["/api/playlists"] = (200, [])
    before = made_by_people(target)

    def full(method: str, path: str) -> None:
        answer = (507, {"message": "no room"}) if method == "POST" else (200, [])
        if path == "/api/playlists":
            target.bare[path] = answer

    target.before = full
    with opened(target, tmp_path / "work") as store:
        store.restore(part, vault, silent)
        with pytest.raises(RecoveryError, match=r"(?s)507: no room.*that were made are deleted"):
            store.promote(force=False)
    after = made_by_people(target)
    assert {kind: after[kind] for kind in after if kind != "preferences"} == {
        kind: before[kind] for kind in before if kind != "preferences"
    }


def test_what_somebody_makes_under_the_same_name_meanwhile_is_not_taken_away_again(tmp_path: Path) -> None:
    vault, part = taken(filled(), tmp_path)
    target = FakeGrafana()

    def hurried(method: str, path: str) -> None:
        if (method, path) == ("POST", "/api/admin/users") and 70 not in target.users:
            who = {"login": "ann", "name": "Ann herself", "email": "ann@example.org"}
            target.users[70] = {"id": 70, **who, "isAdmin": False, "isDisabled": False}
            target.roles[70] = "Viewer"
            target.boards["mine"] = {"content": {"uid": "mine", "title": "Hers"}, "folder": "", "provisioned": False}

    target.before = hurried
    with opened(target, tmp_path / "work") as store:
        store.restore(part, vault, silent)
        with pytest.raises(RecoveryError, match="412: User with email or username already exists"):
            store.promote(force=False)
    assert [one["name"] for one in target.users.values()] == ["", "Ann herself"]
    assert target.boards["mine"]["content"]["title"] == "Hers"


def test_what_people_changed_since_an_earlier_promotion_survives_one_that_is_refused(tmp_path: Path) -> None:
    vault, part = taken(filled(), tmp_path)
    target = FakeGrafana()
    with opened(target, tmp_path / "work") as store:
        store.restore(part, vault, silent)
        store.promote(force=False)
        renamed(target)
        del target.boards["loss"]
        target.bare["/api/dashboards/db"] = (507, {"message": "no room"})
        with pytest.raises(RecoveryError, match="507: no room"):
            store.promote(force=True)
    assert target.boards["mine"]["content"]["title"] == "Others"


def test_what_is_answered_for_and_not_kept_is_seen(tmp_path: Path) -> None:
    vault, part = taken(filled(), tmp_path)
    target = FakeGrafana()
    target.bare["/api/annotations"] = (200, [])
    with opened(target, tmp_path / "work") as store:
        store.restore(part, vault, silent)
        with pytest.raises(RecoveryError, match="2 were made and are not there as they were: annotations"):
            store.promote(force=False)
        del target.bare["/api/annotations"]
        assert "2 made, 11 were there" in store.promote(force=False)
    assert made_by_people(target) == made_by_people(filled())


def test_annotations_of_boards_that_are_not_here_are_left_out_and_told(tmp_path: Path) -> None:
    source = filled()
    vault, part = taken(source, tmp_path)
    target = FakeGrafana()
    target.boards["other-ours"] = target.boards.pop(OURS)
    with opened(target, tmp_path / "work") as store:
        store.restore(part, vault, silent)
        said = store.promote(force=False)
    assert "12 made, 0 were there; 1 belong to boards that are not here and were left out" in said
    assert len(target.annotations) == 1
