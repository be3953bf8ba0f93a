"""What people made in a Grafana is taken, compared, and made again where it is missing."""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from recovery.errors import DamagedError, RecoveryError
from recovery.stores import grafana
from tests.offline.recovery.buckets import silent
from tests.offline.recovery.grafana_made import filled
from tests.offline.recovery.grafanas import FOLDER, OURS, PASSWORD, FakeGrafana, served
from tests.offline.recovery.vaults import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recovery.model import Part
    from recovery.stores.grafana import Grafana

COUNTS = {
    **{"users": 2, "teams": 1, "folders": 2, "elements": 1},
    **{"dashboards": 3, "playlists": 1, "annotations": 2, "preferences": 1},
}


@contextmanager
def opened(state: FakeGrafana, work: Path, *, scratch: bool = False, password: str = PASSWORD) -> Iterator[Grafana]:
    work.mkdir(exist_ok=True)
    (work / "password").write_text(f"{password}\n", encoding="utf-8")
    with served(state) as url:
        settings = grafana.Settings(
            name="grafana", url=url, password_file=work / "password", folder=FOLDER, scratch=scratch
        )
        yield grafana.open_store(settings, work)


def taken(state: FakeGrafana, work: Path) -> tuple[Memory, Part]:
    vault = Memory()
    with opened(state, work) as store:
        return vault, store.take(vault, "online", silent)


def content(vault: Memory, part: Part) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(b"".join(vault.read(part.files[0])))
    return found


def made_by_people(state: FakeGrafana) -> dict[str, Any]:
    """What of it a person would miss, without the numbers of its database."""
    boards = {uid: one for uid, one in state.boards.items() if not one["provisioned"]}
    logins = {number: one["login"] for number, one in state.users.items()}
    return {
        "users": {
            one["login"]: (one["name"], one["email"], one["isAdmin"], one["isDisabled"], state.roles.get(number))
            for number, one in state.users.items()
        },
        "teams": {
            one["name"]: (one["email"], {logins[who]: level for who, level in state.members[number].items()})
            for number, one in state.teams.items()
        },
        "folders": {
            uid: (one["title"], one.get("parentUid", "")) for uid, one in state.folders.items() if uid != FOLDER
        },
        "boards": {
            uid: (one["folder"], {key: value for key, value in one["content"].items() if key not in ("id", "version")})
            for uid, one in boards.items()
        },
        "grants": {
            uid: sorted(
                (said["userLogin"], said["team"], said.get("role", ""), said["permission"])
                for said in map(state.told, grants)
            )
            for uid, grants in state.grants.items()
        },
        "elements": state.elements,
        "playlists": [(one["name"], one["interval"], one["items"]) for one in state.playlists.values()],
        "annotations": sorted(
            (one["dashboardUID"], one["panelId"], one["time"], one["timeEnd"], one["text"], one["tags"])
            for one in state.annotations.values()
            if not one["alertId"]
        ),
        "preferences": {key: value for key, value in state.preferences.items() if value},
    }


def test_what_people_made_is_counted_by_kind_and_nothing_of_the_deployment_is_in_it(tmp_path: Path) -> None:
    vault, part = taken(filled(), tmp_path)
    assert {kind: part.figures[kind] for kind in COUNTS} == COUNTS
    found = content(vault, part)
    assert [board["uid"] for board in found["dashboards"]] == ["cost", "loss", "mine"]
    assert [folder["uid"] for folder in found["folders"]] == ["runs", "team-a"]
    assert [user["login"] for user in found["users"]] == ["ann", "bob"]
    assert (part.version, part.kind, part.store) == ("11.6.4", "grafana", "grafana")
    assert part.left_out[: len(grafana.store.LEFT_OUT)] == grafana.store.LEFT_OUT


def test_no_password_is_in_a_point_and_no_number_of_a_database(tmp_path: Path) -> None:
    vault, part = taken(filled(), tmp_path)
    text = json.dumps(content(vault, part), ensure_ascii=False) + part.model_dump_json()
    assert "secret-of-ann" not in text
    assert PASSWORD not in text
    for board in content(vault, part)["dashboards"]:
        assert not {"id", "version"} & board["content"].keys()


def test_the_same_state_gives_the_same_bytes_whatever_order_it_was_made_in(tmp_path: Path) -> None:
    vault, part = taken(filled(), tmp_path)
    other = filled()
    other.boards = dict(reversed(other.boards.items()))
    other.grants = {uid: grants[::-1] for uid, grants in other.grants.items()}
    other.annotations = dict(reversed(other.annotations.items()))
    for number, board in enumerate(other.boards.values(), 70):
        board["content"] |= {"id": number, "version": number}
    again, second = taken(other, tmp_path)
    assert (second.files, second.figures) == (part.files, part.figures)
    assert again.kept == vault.kept


def test_figures_by_hand(tmp_path: Path) -> None:
    """One folder that everybody may see, and nothing else."""
    state = FakeGrafana()
    state.folders["f"] = {"uid": "f", "title": "é"}
    state.grants["f"] = [{"role": "Viewer", "permission": 1}]
    _, part = taken(state, tmp_path)
    empty = hashlib.sha256(b"[]").hexdigest()
    text = '[{"grants":[{"kind":"role","permission":1,"to":"Viewer"}],"parent":"","title":"é","uid":"f"}]'
    kinds = ("users", "teams", "elements", "dashboards", "playlists", "annotations", "preferences")
    assert part.figures == {
        **dict.fromkeys(kinds, 0),
        **{f"{kind}_content": empty for kind in kinds},
        "folders": 1,
        "folders_content": hashlib.sha256(text.encode()).hexdigest(),
    }


def test_round_trip_into_a_clean_one_twice_is_the_same_and_touches_no_board_of_the_deployment(tmp_path: Path) -> None:
    source, target = filled(), FakeGrafana()
    vault, part = taken(source, tmp_path)
    before = json.dumps(target.boards[OURS])
    with opened(target, tmp_path / "work") as store:
        store.restore(part, vault, silent)
        assert store.compare(part, vault).differences == ()
        assert made_by_people(target) != made_by_people(source)
        assert "13 made, 0 were there; none was replaced" in store.promote(force=False)
        assert made_by_people(target) == made_by_people(source)
        state = json.dumps(made_by_people(target), sort_keys=True)
        changes = [ask for ask in target.asked if ask[0] != "GET"]
        assert "0 made, 13 were there" in store.promote(force=False)
        assert [ask for ask in target.asked if ask[0] != "GET"] == changes
        assert json.dumps(made_by_people(target), sort_keys=True) == state
    assert json.dumps(target.boards[OURS]) == before
    _, second = taken(target, tmp_path)
    assert second.figures == part.figures


def test_accounts_come_back_with_passwords_that_nobody_was_told(tmp_path: Path) -> None:
    vault, part = taken(filled(), tmp_path)
    target = FakeGrafana()
    with opened(target, tmp_path / "work") as store:
        store.restore(part, vault, silent)
        said = store.promote(force=False)
    given = list(target.passwords.values())
    assert len(set(given)) == 2
    assert all(len(password) >= 32 for password in given)
    written = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "work").iterdir())
    assert not any(password in written + said for password in given)


def test_a_scratch_one_is_given_everything_and_compared_as_it_answers(tmp_path: Path) -> None:
    vault, part = taken(filled(), tmp_path)
    scratch = FakeGrafana(provisioned=False)
    with opened(scratch, tmp_path / "work", scratch=True) as store:
        for _ in range(2):
            store.restore(part, vault, silent)
            found = store.compare(part, vault)
            assert found.differences == ()
            assert found.figures == part.figures
        assert made_by_people(scratch)["users"] == made_by_people(filled())["users"]
        store.discard()
        assert (scratch.boards, list(scratch.folders), list(scratch.users)) == ({}, [FOLDER], [1])


def renamed(state: FakeGrafana) -> None:
    state.boards["mine"]["content"]["title"] = "Others"


def _shared(state: FakeGrafana) -> None:
    state.grants["team-a"] = [{"role": "Viewer", "permission": 2}]


def _left(state: FakeGrafana) -> None:
    state.members[next(iter(state.teams))].clear()


def _retimed(state: FakeGrafana) -> None:
    next(iter(state.annotations.values()))["timeEnd"] += 1


def _remodelled(state: FakeGrafana) -> None:
    state.elements["lib"]["model"]["type"] = "table"


def _moved(state: FakeGrafana) -> None:
    state.boards["loss"]["folder"] = ""


def _promoted(state: FakeGrafana) -> None:
    state.users[next(n for n, one in state.users.items() if one["login"] == "bob")]["isAdmin"] = True


def _lost(state: FakeGrafana) -> None:
    del state.boards["mine"]


def _reordered(state: FakeGrafana) -> None:
    next(iter(state.playlists.values()))["items"].reverse()


def _rehomed(state: FakeGrafana) -> None:
    state.preferences["homeDashboardUID"] = "loss"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (renamed, "dashboards mine has another content"),
        (_shared, "folders team-a has another content"),
        (_left, "teams research has another content"),
        (_retimed, "annotations .* is missing"),
        (_remodelled, "elements lib has another content"),
        (_moved, "dashboards loss has another content"),
        (_promoted, "users bob has another content"),
        (_lost, "dashboards is 2, the restore point says 3"),
        (_reordered, "playlists .* is in the copy and not in the restore point"),
        (_rehomed, "preferences organisation has another content"),
    ],
)
def test_what_a_scratch_one_holds_otherwise_is_named(change: Any, said: str, tmp_path: Path) -> None:  # noqa: ANN401  # a function of this file
    vault, part = taken(filled(), tmp_path)
    scratch = FakeGrafana(provisioned=False)
    with opened(scratch, tmp_path / "work", scratch=True) as store:
        store.restore(part, vault, silent)
        change(scratch)
        found = store.compare(part, vault).differences
    assert any(re.search(said, line) for line in found), found


def test_the_kept_file_is_compared_where_nothing_may_be_made(tmp_path: Path) -> None:
    state = filled()
    vault, part = taken(state, tmp_path)
    with opened(state, tmp_path / "work") as store:
        assert any("is missing" in line for line in store.compare(part, vault).differences)
        store.restore(part, vault, silent)
        assert store.compare(part, vault).differences == ()
        copy = tmp_path / "work" / "grafana.grafana.json"
        copy.write_text(copy.read_text(encoding="utf-8").replace("Loss", "Gain"), encoding="utf-8")
        assert any("dashboards loss has another" in line for line in store.compare(part, vault).differences)
        copy.write_text("{", encoding="utf-8")
        with pytest.raises(RecoveryError, match="run restore again"):
            store.compare(part, vault)
        store.discard()
        with pytest.raises(RecoveryError, match="run restore first"):
            store.promote(force=True)
    assert not [ask for ask in state.asked if ask[0] != "GET"]


def test_a_point_without_content_or_with_damaged_content_is_refused(tmp_path: Path) -> None:
    vault, part = taken(filled(), tmp_path)
    with opened(filled(), tmp_path) as store:
        with pytest.raises(DamagedError, match=r"has no grafana\.json"):
            store.restore(part.model_copy(update={"files": ()}), vault, silent)
        for text in (b"[{", b'{"boards": []}', b'{"users": [{"login": "ann"}]}'):
            broken = vault.put("grafana.json", [text])
            with pytest.raises(DamagedError, match="cannot be read"):
                store.restore(part.model_copy(update={"files": (broken,)}), vault, silent)
