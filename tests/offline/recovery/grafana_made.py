"""A Grafana in which people have made one of everything."""

from __future__ import annotations

from typing import Any

from tests.offline.recovery.grafanas import OURS, FakeGrafana


def filled() -> FakeGrafana:
    """Two accounts, a team, two folders one in the other, three boards, an element, a playlist, two annotations."""
    state = FakeGrafana()
    ann, bob = _people(state)
    team = _team(state, ann, bob)
    state.folders["team-a"] = {"uid": "team-a", "title": "Team A"}
    state.folders["runs"] = {"uid": "runs", "title": "Runs", "parentUid": "team-a"}
    state.grants["team-a"] = [{"teamId": team, "permission": 2}, {"role": "Viewer", "permission": 1}]
    state.grants["runs"] = []
    element = {"libraryPanel": {"uid": "lib", "name": "Shared"}}
    state.boards |= {
        "mine": _board("mine", "Mine", "", {"panels": [{"type": "stat", "value": 1.5}]}),
        "loss": _board("loss", "Loss", "runs", {"panels": [element], "tags": ["é"]}),
        "cost": _board("cost", "Cost", "plumbline", {"panels": []}),
    }
    state.grants |= {"mine": [{"userId": ann, "permission": 4}, {"userId": 1, "permission": 4}], "loss": [], "cost": []}
    model = {"type": "stat", "description": "", "options": {}}
    state.elements["lib"] = {
        **{"uid": "lib", "name": "Shared", "kind": 1, "model": model},
        "meta": {"folderUid": "team-a"},
    }
    entries = [{"type": "dashboard_by_uid", "value": "mine"}, {"type": "dashboard_by_tag", "value": "é"}]
    state.playlists["p"] = {"uid": "p", "name": "Wall", "interval": "5m", "items": entries}
    state.annotations = {
        9001: _annotation(9001, OURS, 4, "restart"),
        9002: _annotation(9002, "", 0, "exam"),
        9003: {**_annotation(9003, "mine", 1, "alert"), "alertId": 7},
    }
    state.preferences = {"theme": "light", "timezone": "utc", "homeDashboardUID": "mine"}
    return state


def _people(state: FakeGrafana) -> tuple[int, int]:
    ann, bob = next(state.numbers), next(state.numbers)
    state.users[ann] = {
        **{"id": ann, "login": "ann", "name": "Ann É", "email": "ann@example.org"},
        **{"isAdmin": True, "isDisabled": False},
    }
    state.users[bob] = {
        **{"id": bob, "login": "bob", "name": "", "email": "bob"},
        **{"isAdmin": False, "isDisabled": True},
    }
    state.roles |= {ann: "Editor", bob: "Viewer"}
    state.passwords[ann] = "secret-of-ann"  # of a stand-in
    return ann, bob


def _team(state: FakeGrafana, ann: int, bob: int) -> int:
    number = next(state.numbers)
    state.teams[number] = {"id": number, "name": "research", "email": ""}
    state.members[number] = {ann: 4, bob: 0}
    return number


def _board(uid: str, title: str, folder: str, content: dict[str, Any]) -> dict[str, Any]:
    return {
        "content": {"uid": uid, "title": title, "id": 5, "version": 3, **content},
        "folder": folder,
        "provisioned": False,
    }


def _annotation(number: int, board: str, panel: int, text: str) -> dict[str, Any]:
    moment = 1_700_000_000_000 + number
    return {
        **{"id": number, "alertId": 0, "dashboardUID": board, "panelId": panel},
        **{"time": moment, "timeEnd": moment + 60_000, "text": text, "tags": ["b", "a"]},
    }
