"""Silences of the real Alertmanager are taken, compared, and posted once."""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import requests

from components.alertmanager.names import NAME
from recovery.errors import DamagedError, RecoveryError
from recovery.stores import silences
from tests.offline.programs import free_port, require, running
from tests.offline.recovery.buckets import silent
from tests.offline.recovery.vaults import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recovery.model import Part
    from recovery.stores.silences import Silences

_CONFIG = "route: {receiver: none}\nreceivers: [{name: none}]\n"


def at(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))


def silence(value: str, begins: float = -5, ends: float = 3600, **more: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON of the API
    matcher = {"name": "alertname", "value": value, "isRegex": False, "isEqual": True, **more}
    return {"matchers": [matcher], "startsAt": at(begins), "endsAt": at(ends), "createdBy": "ann", "comment": "why é"}


@contextmanager
def alertmanager(directory: Path) -> Iterator[str]:
    directory.mkdir()
    (directory / "config.yml").write_text(_CONFIG, encoding="utf-8")
    url = f"http://127.0.0.1:{free_port()}"
    flags = {
        "config.file": directory / "config.yml",
        "storage.path": directory / "data",
        "web.listen-address": url.removeprefix("http://"),
        "cluster.listen-address": "",
    }
    command = [require(NAME), *(f"--{name}={value}" for name, value in flags.items())]
    with running(command, f"{url}/-/ready", directory / "log"):
        yield url


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    top = tmp_path_factory.mktemp("alertmanagers")
    with alertmanager(top / "live") as live, alertmanager(top / "scratch") as scratch:
        yield live, scratch


@pytest.fixture
def servers(urls: tuple[str, str]) -> tuple[str, str]:
    for url in urls:
        for found in acting(url):
            requests.delete(f"{url}/api/v2/silence/{found['id']}", timeout=60).raise_for_status()
    return urls


def post(url: str, *bodies: dict[str, Any]) -> None:
    for body in bodies:
        requests.post(f"{url}/api/v2/silences", json=body, timeout=60).raise_for_status()


def acting(url: str) -> list[dict[str, Any]]:
    found = requests.get(f"{url}/api/v2/silences", timeout=60).json()
    return [one for one in found if one["status"]["state"] != "expired"]


def values(url: str) -> list[str]:
    return sorted(one["matchers"][0]["value"] for one in acting(url))


def store(url: str, work: Path, *, scratch: bool = False) -> Silences:
    return silences.open_store(silences.Settings(name="alertmanager", url=url, scratch=scratch), work)


def taken(url: str, work: Path) -> tuple[Memory, Part]:
    vault = Memory()
    return vault, store(url, work).take(vault, "online", silent)


def test_what_acts_and_what_will_are_taken_and_what_ended_is_left_out(servers: tuple[str, str], tmp_path: Path) -> None:
    live, scratch = servers
    post(live, silence("now"), silence("later", 1800), silence(".+", isRegex=True, isEqual=False), silence("over"))
    ended = next(one["id"] for one in acting(live) if one["matchers"][0]["value"] == "over")
    requests.delete(f"{live}/api/v2/silence/{ended}", timeout=60).raise_for_status()
    vault, part = taken(live, tmp_path)
    assert part.figures["silences"] == 3
    assert part.left_out == (silences.LEFT_OUT,)
    post(scratch, silence("left behind"))
    target = store(scratch, tmp_path, scratch=True)
    for _ in range(2):
        target.restore(part, vault, silent)
        assert target.compare(part, vault).differences == ()
    assert values(scratch) == [".+", "later", "now"]
    shown = {one["matchers"][0]["value"]: one for one in acting(scratch)}
    given = {one["matchers"][0]["value"]: one for one in acting(live)}
    for name in given:
        same = ("matchers", "endsAt", "createdBy", "comment", *(("startsAt",) if name == "later" else ()))
        assert [shown[name][field] for field in same] == [given[name][field] for field in same]


def test_figures_by_hand(servers: tuple[str, str], tmp_path: Path) -> None:
    body = silence("now") | {"endsAt": "2090-01-01T00:00:00Z"}
    post(servers[0], body)
    _, part = taken(servers[0], tmp_path)
    # 2090-01-01 is 43830 days after 1970: 120 years and 30 leap days.
    text = json.dumps([[["alertname", "now", False, True]], 43830 * 86400 * 1000, "ann", "why é"])
    assert part.figures == {"silences": 1, "content": hashlib.sha256(text.encode()).hexdigest()}


def test_faults_of_a_scratch_copy_are_named(servers: tuple[str, str], tmp_path: Path) -> None:
    live, scratch = servers
    post(live, silence("one"), silence("two", 1800))
    vault, part = taken(live, tmp_path)
    target = store(scratch, tmp_path, scratch=True)
    target.restore(part, vault, silent)
    other = next(one for one in acting(scratch) if one["matchers"][0]["value"] == "two")
    requests.delete(f"{scratch}/api/v2/silence/{other['id']}", timeout=60).raise_for_status()
    assert any('"two"' in line and "is missing" in line for line in target.compare(part, vault).differences)
    moved = {name: other[name] for name in ("matchers", "endsAt", "createdBy", "comment")} | {"startsAt": at(900)}
    post(scratch, moved, silence("extra"))
    found = target.compare(part, vault).differences
    assert any('"two"' in line and "begins at" in line for line in found)
    assert any('"extra"' in line and "not in the restore point" in line for line in found)
    figures = part.model_copy(update={"figures": {**part.figures, "silences": 9}})
    assert any("silences is 2, the restore point says 9" in line for line in target.compare(figures, vault).differences)


def test_the_kept_file_is_compared_where_nothing_may_be_posted(servers: tuple[str, str], tmp_path: Path) -> None:
    live, _ = servers
    post(live, silence("one"))
    vault, part = taken(live, tmp_path)
    target = store(live, tmp_path)
    assert any("is missing" in line for line in target.compare(part, vault).differences)
    target.restore(part, vault, silent)
    assert target.compare(part, vault).differences == ()
    assert values(live) == ["one"]
    (tmp_path / "alertmanager.silences.json").write_text("[]", encoding="utf-8")
    assert any("is missing" in line for line in target.compare(part, vault).differences)
    (tmp_path / "alertmanager.silences.json").write_text("[{}]", encoding="utf-8")
    with pytest.raises(RecoveryError, match="run restore again"):
        target.compare(part, vault)


def test_promote_posts_what_is_not_there_once_and_demote_expires_only_that(
    servers: tuple[str, str], tmp_path: Path
) -> None:
    live, other = servers
    kept = silence("kept")
    post(live, kept, silence("lost"))
    vault, part = taken(live, tmp_path)
    post(other, kept, silence("own"))
    target = store(other, tmp_path)
    with pytest.raises(RecoveryError, match="run restore first"):
        target.promote(force=True)
    target.restore(part, vault, silent)
    assert "1 silences posted, 1 were there" in target.promote(force=False)
    assert "0 silences posted, 2 were there" in target.promote(force=True)
    assert values(other) == ["kept", "lost", "own"]
    assert "1 silences that were posted are expired" in target.demote()
    assert values(other) == ["kept", "own"]
    assert "0 silences" in target.demote()
    target.promote(force=False)
    target.confirm()
    target.demote()
    assert values(other) == ["kept", "lost", "own"]
    target.discard()
    target.discard()
    with pytest.raises(RecoveryError, match="run restore first"):
        target.promote(force=True)


def test_a_run_killed_while_it_posts_goes_on_and_can_be_taken_back(
    servers: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, other = servers
    post(live, silence("one"), silence("two"), silence("three"))
    vault, part = taken(live, tmp_path)
    target = store(other, tmp_path)
    target.restore(part, vault, silent)
    real = requests.request

    def dying(method: str, url: str, **how: Any) -> requests.Response:  # noqa: ANN401  # options of requests
        if method == "POST" and len(acting(other)) == 2:
            raise KeyboardInterrupt
        return real(method, url, **how)

    with monkeypatch.context() as patched:
        patched.setattr(requests, "request", dying)
        patched.setattr(requests, "get", lambda url, **how: real("GET", url, **how))
        with pytest.raises(KeyboardInterrupt):
            target.promote(force=False)
    assert len(acting(other)) == 2
    target.promote(force=False)
    assert values(other) == ["one", "three", "two"]
    target.demote()
    assert values(other) == []


def test_silences_that_have_ended_meanwhile_are_neither_posted_nor_missed(
    servers: tuple[str, str], tmp_path: Path
) -> None:
    live, scratch = servers
    for seconds in (2, 8, 32):  # on a busy machine it has ended before it is taken, and a longer one is tried
        for one in acting(live):
            requests.delete(f"{live}/api/v2/silence/{one['id']}", timeout=60).raise_for_status()
        post(live, silence("long"), silence("short", ends=seconds))
        vault, part = taken(live, tmp_path)
        if part.figures["silences"] == 2:
            break
    assert part.figures["silences"] == 2
    while len(acting(live)) == 2:
        time.sleep(0.1)
    target = store(scratch, tmp_path, scratch=True)
    target.restore(part, vault, silent)
    found = target.compare(part, vault)
    assert (found.differences, found.figures["expired"]) == ((), 1)
    assert values(scratch) == ["long"]


def test_who_is_not_an_alertmanager_or_not_there_is_an_error(servers: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(RecoveryError, match="must be reachable"):
        taken(f"http://127.0.0.1:{free_port()}", tmp_path)
    with pytest.raises(RecoveryError, match="must be reachable"):
        taken(f"{servers[0]}/nothing", tmp_path)


def test_a_point_without_silences_or_with_a_damaged_list_is_refused(tmp_path: Path, servers: tuple[str, str]) -> None:
    vault, part = taken(servers[0], tmp_path)
    target = store(servers[0], tmp_path)
    with pytest.raises(DamagedError, match=r"has no silences\.json"):
        target.restore(part.model_copy(update={"files": ()}), vault, silent)
    broken = vault.put("silences.json", [b"[{"])
    with pytest.raises(DamagedError, match="cannot be read"):
        target.restore(part.model_copy(update={"files": (broken,)}), vault, silent)
