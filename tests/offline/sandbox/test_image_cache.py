"""Archives are written once, whole or not at all, and listed in images.json."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sandbox.images import build, materials, oci
from sandbox.images.build import BuiltImage, ensure, write_index
from sandbox.images.layers import Layer
from sandbox.images.oci import Entry, Settings
from sandbox.images.role import Role
from tests.offline.sandbox.fakes import host_tools, silent

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.home import Home

    Build = Callable[[], tuple[dict[str, BuiltImage], str]]

BASE = Layer("base-key-base-key", (Entry("bin"),))
ROLES = (
    Role("one", "1.0", (BASE,), Settings(("/one",))),
    Role("two", "2.0", (BASE, Layer("own-key-own-key-own", (Entry("two", content=b"2"),))), Settings(("/two",))),
)


@pytest.fixture
def images(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """Builds two roles; images and what was printed."""
    monkeypatch.setattr(build, "build_roles", lambda *_: ROLES)
    monkeypatch.setattr(materials, "ensure", lambda *_: None)
    monkeypatch.setattr(materials, "prune", lambda *_: None)
    tools = host_tools(tmp_path / "tools")

    def call() -> tuple[dict[str, BuiltImage], str]:
        progress, stream = silent()
        return ensure(home, tools, progress), stream.getvalue()

    return call


def test_each_role_gets_an_archive_named_after_its_reference(images: Build) -> None:
    built, _ = images()
    assert {name: image.reference for name, image in built.items()} == {role.name: role.reference() for role in ROLES}
    assert all(image.archive.stat().st_size > 0 for image in built.values())


def test_second_call_writes_nothing(images: Build) -> None:
    first, _ = images()
    times = {name: image.archive.stat().st_mtime_ns for name, image in first.items()}
    again, printed = images()
    assert printed == ""
    assert again == first
    assert {name: image.archive.stat().st_mtime_ns for name, image in again.items()} == times


def test_shared_layer_is_kept_once(home: Home, images: Build) -> None:
    images()
    assert len(list(home.images.glob("layer-*.tar"))) == 2


def test_interrupted_archive_is_not_taken_for_whole(images: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = images()
    for image in whole.values():
        image.archive.unlink()

    def interrupted(_reference: str, _layers: object, _settings: object, target: Path) -> str:
        target.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "write_archive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        images()
    monkeypatch.setattr(build, "write_archive", oci.write_archive)
    again, printed = images()
    assert "image one 1.0" in printed
    assert again == whole
    assert all(image.archive.read_bytes() != b"half" for image in again.values())


def test_archive_without_its_record_is_written_anew(home: Home, images: Build) -> None:
    built, _ = images()
    for record in home.images.glob("*.json"):
        record.unlink()
    assert images()[0] == built


def test_interrupted_layer_is_not_taken_for_whole(home: Home, images: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_entries: object, target: Path) -> None:
        target.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "write_layer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        images()
    monkeypatch.setattr(build, "write_layer", oci.write_layer)
    images()
    assert all(path.read_bytes() != b"half" for path in home.images.glob("layer-*.tar"))


def test_remains_of_a_killed_build_are_removed(home: Home, images: Build) -> None:
    home.images.mkdir(parents=True)
    (home.images / "one_0.9-aaaaaaaa.part").write_bytes(b"half")
    images()
    assert list(home.images.glob("*.part")) == []


def edited(monkeypatch: pytest.MonkeyPatch, images: Build, times: int) -> list[BuiltImage]:
    """Change one layer of role `two` so many times and build each time. Returns its images, oldest first."""
    found = []
    for time in range(times):
        layer = Layer(f"{time:016}", (Entry("two", content=str(time).encode()),))
        roles = (ROLES[0], replace(ROLES[1], layers=(BASE, layer)))
        monkeypatch.setattr(build, "build_roles", lambda *_, roles=roles: roles)
        found.append(images()[0]["two"])
        os.utime(found[-1].archive, (time, time))
    return found


def test_cache_is_bounded_however_often_code_changes(
    home: Home, images: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = edited(monkeypatch, images, 5)
    assert [image.archive.exists() for image in found] == [False, False, True, True, True]
    assert [image.archive.with_suffix(".json").exists() for image in found] == [False, False, True, True, True]
    assert len(list(home.images.glob("layer-*.tar"))) == 2


def test_image_whose_archive_was_removed_is_built_with_the_same_id(
    images: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = edited(monkeypatch, images, 4)[0]
    assert not first.archive.exists()
    assert edited(monkeypatch, images, 1) == [first]
    assert first.archive.exists()


def test_roles_that_share_an_image_share_its_archive(images: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = (replace(ROLES[0], image="same"), replace(ROLES[0], name="other", image="same"))
    monkeypatch.setattr(build, "build_roles", lambda *_: shared)
    built, printed = images()
    assert built["one"] == built["other"]
    assert printed.count("image same 1.0: done") == 1


def test_of_large_archives_and_layers_only_what_is_used_stays(
    home: Home, images: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "LARGE", 100)
    found = edited(monkeypatch, images, 3)
    assert [image.archive.exists() for image in found] == [False, False, True]
    assert list(home.images.glob("layer-*.tar")) == []
    assert edited(monkeypatch, images, 3)[0] == found[0]


def test_archives_of_other_images_stay(home: Home, images: Build) -> None:
    other = home.images / "one-more_1.0-00000000.tar"
    home.images.mkdir(parents=True)
    other.write_bytes(b"another image")
    images()
    assert other.exists()


INDEX = {
    "b": BuiltImage("plumbline.local/b:1-x", "sha256:bb", Path("/b.tar"), stand_in=True),
    "a": BuiltImage("r", "sha256:aa", Path("/a")),
}


def test_index_maps_roles_to_reference_and_id(tmp_path: Path) -> None:
    write_index(INDEX, tmp_path / "images.json")
    assert json.loads((tmp_path / "images.json").read_text()) == {
        "a": {"reference": "r", "image_id": "sha256:aa", "stand_in": False},
        "b": {"reference": "plumbline.local/b:1-x", "image_id": "sha256:bb", "stand_in": True},
    }


def test_interrupted_index_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_index(INDEX, tmp_path / "images.json")
    before = (tmp_path / "images.json").read_text()
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_index({}, tmp_path / "images.json")
    assert (tmp_path / "images.json").read_text() == before
