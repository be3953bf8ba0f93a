"""What is built into which image, and when its reference changes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sandbox.images import layers
from sandbox.images.layers import Layer
from sandbox.images.oci import Settings
from sandbox.images.python import Runtime
from sandbox.images.roles import CHECKOUT, STAND_INS, Role, StandIn, build_roles
from tests.offline.sandbox.fakes import host_tools

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sandbox.home import Home

    Roles = dict[str, Role]

ROLE = Role("echo", "1.2.3", (Layer("a", ()), Layer("b", ())), Settings(("/bin/echo",)))
STAND_IN_ROLES = {"dcgm-exporter", "kube-state-metrics", "alert-sink"}


def runtime(root: Path) -> Runtime:
    """An unpacked interpreter of two files, and a package."""
    found = Runtime(root)
    for path in (found.tree / "usr/bin/python3.11", found.tree / "usr/lib/x/libc.so.6", found.packages / "grpc.py"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name)
    (root / "versions.json").write_text(json.dumps({"python": "3.11", "wheels": "0", "libc6": "2.36"}))
    return found


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with code for containers and other code."""
    root = tmp_path / "checkout"
    for path in ("sandbox/__init__.py", "sandbox/workloads/a.py", "signals/b.py", "sandbox/home.py", "cli/c.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)
    return root


@pytest.fixture
def build(home: Home, tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Roles]:
    """Builds every role, of fake tools and programs that lie in the given directory."""
    monkeypatch.setattr(layers, "binary", lambda _, name: tmp_path / name)

    def call(directory: str = "here") -> Roles:
        found = (host_tools(tmp_path / directory / "tools"), runtime(tmp_path / directory / "python"))
        return {role.name: role for role in build_roles(home, *found, checkout)}

    return call


@pytest.fixture
def built(build: Callable[..., Roles]) -> Roles:
    """Every role."""
    return build()


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


def test_every_role_has_a_tag_that_registries_accept(built: Roles) -> None:
    # The grammar of tags in the OCI distribution specification.
    tag = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}")
    assert all(tag.fullmatch(role.reference().rpartition(":")[2]) for role in built.values())


def test_debian_version_becomes_a_tag(built: Roles) -> None:
    assert built["volume-helper"].version == "1-1.35.0-4"
    assert built["pause"].version == "0.1.7-1-b2"


def test_images_share_their_base(built: Roles) -> None:
    assert built["prometheus"].layers[0].key == built["volume-helper"].layers[0].key


def test_prometheus_image_holds_server_and_linter(built: Roles) -> None:
    assert [entry.path for entry in built["prometheus"].layers[-1].entries] == ["bin/prometheus", "bin/promtool"]


@pytest.mark.parametrize(
    ("role", "binaries"),
    [
        ("alertmanager", ["bin/alertmanager", "bin/amtool"]),
        ("node-exporter", ["bin/node_exporter"]),
        ("pushgateway", ["bin/pushgateway"]),
    ],
)
def test_image_of_a_program_holds_its_binaries_and_starts_the_first(
    built: Roles, role: str, binaries: list[str]
) -> None:
    assert [entry.path for entry in built[role].layers[-1].entries] == binaries
    assert built[role].settings.entrypoint == (f"/{binaries[0]}",)


def test_everything_but_the_volume_helper_runs_without_root(built: Roles) -> None:
    # It makes and removes directories of any owner.
    assert {name for name, role in built.items() if role.settings.user != "65534:65534"} == {"volume-helper"}


def test_stand_ins_are_marked_and_no_other_image_is(built: Roles) -> None:
    assert {name for name, role in built.items() if role.stand_in} == STAND_IN_ROLES


def test_stand_ins_do_not_carry_the_name_of_what_they_imitate(built: Roles) -> None:
    names = {name: re.sub(r"-[0-9a-f]{8}$", "", built[name].reference()) for name in STAND_IN_ROLES}
    assert names == {
        "dcgm-exporter": "plumbline.local/dcgm-exporter-simulator:4.6.0-4.8.3",
        "kube-state-metrics": "plumbline.local/kube-state-metrics-stand-in:2.19.1",
        "alert-sink": "plumbline.local/alert-sink-stand-in:1",
    }


@pytest.mark.parametrize(
    ("role", "module"),
    [
        ("dcgm-exporter", "sandbox.workloads.gpu.exporter"),
        ("kube-state-metrics", "sandbox.workloads.kube_state_metrics"),
        ("alert-sink", "sandbox.workloads.alert_sink"),
    ],
)
def test_stand_in_starts_its_module_and_finds_code_and_packages(built: Roles, role: str, module: str) -> None:
    settings = built[role].settings
    assert settings.entrypoint == ("/usr/bin/python3", "-P", "-m", module)
    assert settings.env["PYTHONPATH"] == "/opt/plumbline:/opt/packages"
    assert settings.env["PYTHONDONTWRITEBYTECODE"] == "1"


@pytest.mark.parametrize("item", STAND_INS, ids=lambda item: item.role)
def test_module_of_a_stand_in_is_in_the_checkout(item: StandIn) -> None:
    path = CHECKOUT / item.module.replace(".", "/")
    assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file()


def test_stand_ins_share_all_layers(built: Roles) -> None:
    assert len({tuple(layer.key for layer in built[name].layers) for name in STAND_IN_ROLES}) == 1


def test_stand_in_holds_shell_interpreter_packages_and_code(built: Roles) -> None:
    files = [[e.path for e in layer.entries if e.file or e.content] for layer in built["alert-sink"].layers]
    assert "bin/busybox" in files[0]
    assert files[1:] == [
        ["usr/bin/python3.11", "usr/lib/x/libc.so.6"],
        ["opt/packages/grpc.py"],
        [f"opt/plumbline/{path}" for path in ("sandbox/__init__.py", "sandbox/workloads/a.py", "signals/b.py")],
    ]


def test_changed_code_changes_the_last_layer_of_stand_ins_alone(
    built: Roles, build: Callable[..., Roles], checkout: Path
) -> None:
    (checkout / "signals/b.py").write_text("changed")
    again = build()
    assert {name for name in built if built[name].reference() != again[name].reference()} == STAND_IN_ROLES
    old, new = built["alert-sink"].layers, again["alert-sink"].layers
    assert [a.key == b.key for a, b in zip(old, new, strict=True)] == [True, True, True, False]


def test_base_has_the_shell_and_its_applets(built: Roles) -> None:
    links = {entry.path: entry.link for entry in built["volume-helper"].layers[0].entries if entry.link}
    assert links == {"bin/ls": "busybox", "bin/sh": "busybox"}


def test_base_key_changes_with_its_accounts(
    built: Roles, build: Callable[..., Roles], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layers, "PASSWD", b"root:x:0:0::/:/bin/sh\n")
    assert build()["volume-helper"].layers[0].key != built["volume-helper"].layers[0].key


def test_references_do_not_change_with_the_place_of_the_tools(built: Roles, build: Callable[..., Roles]) -> None:
    again = build("elsewhere")
    assert {name: role.reference() for name, role in again.items()} == {n: r.reference() for n, r in built.items()}
