"""What is built into which image, and when its reference changes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sandbox.images import roles
from sandbox.images.oci import Settings
from sandbox.images.roles import Layer, Role, build_roles
from tests.offline.sandbox.fakes import host_tools

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.home import Home

ROLE = Role("echo", "1.2.3", (Layer("a", ()), Layer("b", ())), Settings(("/bin/echo",)))


@pytest.fixture
def built(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Role]:
    """Every role, of fake tools and programs."""
    monkeypatch.setattr(roles, "binary", lambda _, name: tmp_path / name)
    return {role.name: role for role in build_roles(home, host_tools(tmp_path / "tools"))}


def test_reference_says_that_the_image_was_built_here() -> None:
    assert re.fullmatch(r"plumbline\.local/echo:1\.2\.3-[0-9a-f]{8}", ROLE.reference())


def test_equal_roles_have_equal_references() -> None:
    assert replace(ROLE).reference() == ROLE.reference()


@pytest.mark.parametrize(
    "changed",
    [
        replace(ROLE, layers=(Layer("a", ()), Layer("c", ()))),
        replace(ROLE, layers=(Layer("b", ()), Layer("a", ()))),
        replace(ROLE, settings=Settings(("/bin/echo", "-n"))),
        replace(ROLE, settings=Settings(("/bin/echo",), user="0:0")),
        replace(ROLE, version="1.2.4"),
    ],
    ids=["layer key", "layer order", "entrypoint", "user", "version"],
)
def test_reference_changes_with_an_input(changed: Role) -> None:
    assert changed.reference().rsplit("-", 1)[1] != ROLE.reference().rsplit("-", 1)[1]


def test_every_role_has_a_tag_that_registries_accept(built: dict[str, Role]) -> None:
    # The grammar of tags in the OCI distribution specification.
    tag = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}")
    assert all(tag.fullmatch(role.reference().rpartition(":")[2]) for role in built.values())


def test_debian_version_becomes_a_tag(built: dict[str, Role]) -> None:
    assert built["volume-helper"].version == "1-1.35.0-4"
    assert built["pause"].version == "0.1.7-1-b2"


def test_images_share_their_base(built: dict[str, Role]) -> None:
    assert built["prometheus"].layers[0].key == built["volume-helper"].layers[0].key


def test_prometheus_image_holds_server_and_linter(built: dict[str, Role]) -> None:
    assert [entry.path for entry in built["prometheus"].layers[-1].entries] == ["bin/prometheus", "bin/promtool"]


def test_programs_of_users_run_without_root(built: dict[str, Role]) -> None:
    assert {name: role.settings.user for name, role in built.items()} == {
        "pause": "65534:65534",
        "volume-helper": "0:0",  # it makes and removes directories of any owner
        "prometheus": "65534:65534",
    }


def test_base_has_the_shell_and_its_applets(built: dict[str, Role]) -> None:
    links = {entry.path: entry.link for entry in built["volume-helper"].layers[0].entries if entry.link}
    assert links == {"bin/ls": "busybox", "bin/sh": "busybox"}


def test_base_key_changes_with_its_accounts(
    home: Home, tmp_path: Path, built: dict[str, Role], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roles, "PASSWD", b"root:x:0:0::/:/bin/sh\n")
    again = {role.name: role for role in build_roles(home, host_tools(tmp_path / "tools"))}
    assert again["volume-helper"].layers[0].key != built["volume-helper"].layers[0].key


def test_base_key_does_not_change_with_the_place_of_the_tools(
    home: Home, tmp_path: Path, built: dict[str, Role]
) -> None:
    again = {role.name: role for role in build_roles(home, host_tools(tmp_path / "elsewhere"))}
    assert again["volume-helper"].reference() == built["volume-helper"].reference()
