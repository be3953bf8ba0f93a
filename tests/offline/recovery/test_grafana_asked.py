"""A Grafana that does not tell everything gives no restore point; what is deleted while it is read is not missed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from recovery.errors import RecoveryError
from recovery.stores import grafana
from recovery.stores.grafana import read
from tests.offline.programs import free_port
from tests.offline.recovery.buckets import silent
from tests.offline.recovery.grafana_made import filled
from tests.offline.recovery.grafanas import FOLDER, OURS, PASSWORD, FakeGrafana
from tests.offline.recovery.test_grafana import content, opened, taken
from tests.offline.recovery.vaults import Memory

if TYPE_CHECKING:
    from pathlib import Path

PATHS = (
    *("/api/search", "/api/dashboards/uid/mine", "/api/dashboards/uid/mine/permissions", "/api/folders/runs"),
    *("/api/folders/runs/permissions", "/api/library-elements", "/api/playlists", "/api/playlists/p"),
    *("/api/annotations", "/api/org/preferences", "/api/org/users", "/api/users", "/api/teams/search"),
    "/api/health",
)
HTML = "<!DOCTYPE html><title>Grafana</title>"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((500, {"message": "database is locked"}), "500: database is locked"),
        ((502, HTML), "502: no JSON"),
        ((403, {"message": "no permission"}), "403: no permission"),
        ((302, ""), "302"),
        ((200, HTML), "is no JSON"),
    ],
)
def test_every_question_that_is_not_answered_gives_no_point(
    path: str, answer: tuple[int, Any], said: str, tmp_path: Path
) -> None:
    state = filled()
    state.bare[path] = answer
    with pytest.raises(RecoveryError, match=said):
        taken(state, tmp_path)


@pytest.mark.parametrize("path", PATHS)
def test_an_answer_that_breaks_off_gives_no_point(path: str, tmp_path: Path) -> None:
    state = filled()
    state.cut.add(path)
    with pytest.raises(RecoveryError, match="answer as a whole"):
        taken(state, tmp_path)


@pytest.mark.parametrize("path", [path for path in PATHS if path != "/api/health"])
@pytest.mark.parametrize("found", [{"message": "ok"}, [{"title": "x"}], None])
def test_an_answer_of_another_shape_gives_no_point(path: str, found: object, tmp_path: Path) -> None:
    if path == "/api/org/preferences" and isinstance(found, dict):
        found = {"theme": 7}
    state = filled()
    state.bare[path] = (200, found)
    with pytest.raises(RecoveryError, match=r"another shape|does not answer with a list|same page twice"):
        taken(state, tmp_path)


def test_a_wrong_password_is_typed_once_and_shown_nowhere(tmp_path: Path) -> None:
    """Five wrong ones within five minutes would lock the account for everybody."""
    state = filled()
    with (
        opened(state, tmp_path, password="wrong-word") as store,  # noqa: S106  # of a stand-in
        pytest.raises(RecoveryError, match="does not hold the password of account admin") as error,
    ):
        store.take(Memory(), "online", silent)
    assert state.asked == [], "it asked on after it was refused"
    assert "wrong-word" not in str(error.value)
    assert PASSWORD not in str(error.value)


def test_who_is_not_there_is_an_error_and_an_address_with_a_login_is_refused(tmp_path: Path) -> None:
    (tmp_path / "password").write_text(PASSWORD, encoding="utf-8")
    keys: dict[str, Any] = {"name": "grafana", "password_file": tmp_path / "password", "folder": FOLDER}
    store = grafana.open_store(grafana.Settings(url=f"http://127.0.0.1:{free_port()}", **keys), tmp_path)
    with pytest.raises(RecoveryError, match="must be reachable"):
        store.take(Memory(), "online", silent)
    for url in ("http://admin:secret@grafana:3000", "grafana:3000", "http://grafana:3000/api"):
        with pytest.raises(ValueError, match="url"):
            grafana.Settings(url=url, **keys)


def test_neither_a_proxy_nor_a_password_of_the_environment_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("default login eve password x", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert taken(filled(), tmp_path)[1].figures["dashboards"] == 3


def test_the_main_organisation_is_asked_whichever_the_administrator_is_in(tmp_path: Path) -> None:
    state = filled()
    state.current = "2"
    assert taken(state, tmp_path)[1].figures == taken(filled(), tmp_path)[1].figures


def test_lists_that_are_empty_though_the_deployment_has_boards_give_no_point(tmp_path: Path) -> None:
    state = filled()
    state.bare["/api/search"] = (200, [])
    with pytest.raises(RecoveryError, match="shows none of the boards that its deployment brings"):
        taken(state, tmp_path)


def test_a_lost_database_gives_a_point_whose_figures_and_size_say_so(tmp_path: Path) -> None:
    """Its deployment fills it with boards again, and it is well. The alert about points that shrink looks at sizes."""
    full = taken(filled(), tmp_path)[1]
    empty = taken(FakeGrafana(), tmp_path)[1]
    assert (empty.figures["dashboards"], full.figures["dashboards"]) == (0, 3)
    assert empty.files[0].size < 150
    assert full.files[0].size > 10 * empty.files[0].size


def test_boards_elements_and_people_on_many_pages_are_all_read(tmp_path: Path) -> None:
    state = filled()
    for number in range(8):
        name = f"more{number}"
        state.boards[name] = {"content": {"uid": name, "title": name}, "folder": "", "provisioned": False}
        state.elements[name] = {"uid": name, "name": name, "kind": 1, "model": {}, "meta": {"folderUid": ""}}
        state.teams[700 + number] = {"id": 700 + number, "name": name, "email": ""}
        state.members[700 + number] = {}
        who = {"login": name, "name": "", "email": name, "isAdmin": False, "isDisabled": False}
        state.users[800 + number] = {"id": 800 + number, **who}
        state.roles[800 + number] = "Viewer"
    _, whole = taken(state, tmp_path)
    state.page = 3
    _, part = taken(state, tmp_path)
    assert {kind: part.figures[kind] for kind in ("dashboards", "elements", "teams", "users")} == {
        **{"dashboards": 11, "elements": 9},
        **{"teams": 9, "users": 10},
    }
    assert part.figures == whole.figures


def test_a_server_that_knows_no_pages_is_refused(tmp_path: Path) -> None:
    state = filled()
    state.bare["/api/users"] = (200, list(state.users.values()))
    with pytest.raises(RecoveryError, match="/api/users gives the same page twice"):
        taken(state, tmp_path)


def test_a_board_that_moves_to_a_page_that_was_read_is_not_lost(tmp_path: Path) -> None:
    """`Cost` is deleted when page one was read: what was first on page two is then last on page one."""
    state = filled()
    state.page = 2
    pages = []

    def drop(_method: str, path: str) -> None:
        if path == "/api/search":
            pages.append(path)
            if len(pages) == 2:
                del state.boards["cost"]

    state.before = drop
    vault, part = taken(state, tmp_path)
    assert [board["uid"] for board in content(vault, part)["dashboards"]] == ["loss", "mine"]


def test_a_board_that_moves_to_the_one_page_that_is_left_is_not_lost(tmp_path: Path) -> None:
    """`Cost` is deleted when page one was read: page two, on which `Zoo` was alone, is then empty."""
    state = filled()
    state.page = 3
    state.boards["mine"]["content"]["title"] = "Zoo"

    def drop(_method: str, path: str) -> None:
        if [asked for _, asked in state.asked].count("/api/search") == 2 and path == "/api/search":
            del state.boards["cost"]

    state.before = drop
    vault, part = taken(state, tmp_path)
    assert [board["uid"] for board in content(vault, part)["dashboards"]] == ["loss", "mine"]


def test_a_list_that_never_stays_the_same_gives_no_point(tmp_path: Path) -> None:
    state = filled()
    state.page = 2

    def more(_method: str, path: str) -> None:
        if path == "/api/search":
            name = f"new{len(state.asked)}"
            state.boards[name] = {"content": {"uid": name, "title": "A"}, "folder": "", "provisioned": False}
            state.boards.pop(f"new{len(state.asked) - 2}", None)

    state.before = more
    with pytest.raises(RecoveryError, match="changed each time it was read"):
        taken(state, tmp_path)


@pytest.mark.parametrize(
    ("asked", "kind", "left"),
    [
        ("/api/dashboards/uid/mine", "dashboards", ["cost", "loss"]),
        ("/api/dashboards/uid/mine/permissions", "dashboards", ["cost", "loss"]),
    ],
)
def test_a_board_that_is_deleted_while_it_is_read_is_left_out(
    asked: str, kind: str, left: list[str], tmp_path: Path
) -> None:
    state = filled()

    def drop(_method: str, path: str) -> None:
        if path == asked:
            state.boards.pop("mine", None)

    state.before = drop
    vault, part = taken(state, tmp_path)
    assert [one["uid"] for one in content(vault, part)[kind]] == left


def test_playlists_and_teams_that_are_deleted_while_they_are_read_are_left_out(tmp_path: Path) -> None:
    state = filled()

    def drop(_method: str, path: str) -> None:
        if path == "/api/playlists/p":
            state.playlists.clear()
        if path.endswith("/members"):
            state.teams.clear()

    state.before = drop
    _, part = taken(state, tmp_path)
    assert (part.figures["playlists"], part.figures["teams"], part.figures["dashboards"]) == (0, 0, 3)
    assert any("permissions and memberships" in line for line in part.left_out), "team-a was the team's"


def test_a_folder_that_is_deleted_after_its_boards_were_read_takes_them_along(tmp_path: Path) -> None:
    state = filled()

    def drop(_method: str, path: str) -> None:
        if path == "/api/library-elements" and "runs" in state.folders:
            del state.folders["runs"], state.grants["runs"], state.boards["loss"]

    state.before = drop
    vault, part = taken(state, tmp_path)
    assert [one["uid"] for one in content(vault, part)["dashboards"]] == ["cost", "mine"]
    assert [one["uid"] for one in content(vault, part)["folders"]] == ["team-a"]


def test_boards_in_a_folder_that_is_never_listed_give_no_point(tmp_path: Path) -> None:
    state = filled()
    state.boards["mine"]["folder"] = "hidden"
    with pytest.raises(RecoveryError, match="folders were moved or deleted each time"):
        taken(state, tmp_path)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/api/dashboards/uid/mine", "lists board mine"),
        ("/api/folders/runs", "lists folder runs"),
        ("/api/playlists/p", "lists playlist p"),
        ("/api/teams/4/members", "lists team 4"),
    ],
)
def test_what_is_listed_and_cannot_be_read_was_not_deleted(path: str, said: str, tmp_path: Path) -> None:
    state = filled()
    state.bare[path] = (404, {"message": "not found"})
    with pytest.raises(RecoveryError, match=said):
        taken(state, tmp_path)


def test_a_404_of_whoever_stands_before_it_is_no_deletion(tmp_path: Path) -> None:
    state = filled()
    state.bare["/api/dashboards/uid/mine"] = (404, "<html>default backend - 404</html>")
    with pytest.raises(RecoveryError, match="no JSON"):
        taken(state, tmp_path)


def test_annotations_are_bounded_the_newest_are_kept_and_the_point_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "ANNOTATIONS", 1)
    vault, part = taken(filled(), tmp_path)
    assert [one["text"] for one in content(vault, part)["annotations"]] == ["exam"]
    assert "annotations older than the newest 1" in part.left_out
    monkeypatch.setattr(read, "ANNOTATIONS", 2)
    assert not any("older than" in line for line in taken(filled(), tmp_path)[1].left_out)


def test_too_many_playlists_give_no_point(tmp_path: Path) -> None:
    """Grafana lists no more than 1000, and does not say that there is another."""
    state = filled()
    state.playlists |= {f"more{number}": {**state.playlists["p"], "uid": f"more{number}"} for number in range(1000)}
    with pytest.raises(RecoveryError, match="1000 playlists or more"):
        taken(state, tmp_path)


def test_what_service_accounts_and_others_have_is_left_out_and_counted(tmp_path: Path) -> None:
    state = filled()
    state.grants["mine"] += [
        {"login": "sa-1-robot", "permission": 2},
        {"role": "Admin", "permission": 4},
        {"userId": 1, "permission": 0},
        {"role": "Viewer", "permission": 1, "told": {"inherited": True}},
    ]
    state.users[77] = {"id": 77, "login": "eve", "name": "", "email": "eve", "isAdmin": False, "isDisabled": False}
    vault, part = taken(state, tmp_path)
    (mine,) = [one for one in content(vault, part)["dashboards"] if one["uid"] == "mine"]
    assert [(grant["kind"], grant["to"], grant["permission"]) for grant in mine["grants"]] == [
        ("user", "admin", 4),
        ("user", "ann", 4),
    ]
    assert "eve" not in [user["login"] for user in content(vault, part)["users"]]
    assert any(line.startswith("2 permissions and memberships") for line in part.left_out)
    assert any(line.startswith("1 accounts") for line in part.left_out)


def test_the_top_is_one_place_however_an_answer_calls_it(tmp_path: Path) -> None:
    _, part = taken(filled(), tmp_path)
    state = filled()
    state.boards["mine"]["folder"] = "general"
    state.folders["general"] = {"uid": "general", "title": "General"}
    assert taken(state, tmp_path)[1].figures == part.figures


def test_taking_a_point_changes_nothing(tmp_path: Path) -> None:
    state = filled()
    taken(state, tmp_path)
    assert {method for method, _ in state.asked} == {"GET"}
    assert ("GET", f"/api/dashboards/uid/{OURS}/permissions") not in state.asked
