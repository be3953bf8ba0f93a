"""Which images are built here, from what, and how their containers start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sandbox.images import layers
from sandbox.images.layers import Layer
from sandbox.images.oci import Entry, Settings
from sandbox.images.python import ENVIRONMENT
from sandbox.programs.spec import catalogue

if TYPE_CHECKING:
    from sandbox.home import Home
    from sandbox.hosttools import HostTools
    from sandbox.images.python import Runtime

CHECKOUT: Final = Path(__file__).parents[2]


@dataclass(frozen=True)
class Role:
    """An image: role, version in its tag, layers from the bottom up, how it starts.

    image: its name where that is not the role's. stand_in: whether it imitates a program that cannot be had here.
    """

    name: str
    version: str
    layers: tuple[Layer, ...]
    settings: Settings
    image: str = ""
    stand_in: bool = False

    def digest(self) -> str:
        """First 8 hex digits of the hash over every input."""
        return layers.key(self.version, repr(self.settings), *(layer.key for layer in self.layers))[:8]

    def reference(self) -> str:
        """`plumbline.local/<image>:<version>-<hash8>`: says that it was built here, never an upstream's name."""
        return f"plumbline.local/{self.image or self.name}:{self.version}-{self.digest()}"


@dataclass(frozen=True)
class BuiltProgram:
    """A role that is a pinned program: outputs are the binaries in its image, the first of them starts."""

    role: str
    program: str
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class StandIn:
    """A role that is a Python module of ours. version: of the upstream that it imitates, or its own."""

    role: str
    image: str
    version: str
    module: str


PROGRAMS: Final = (
    BuiltProgram("prometheus", "prometheus", ("prometheus", "promtool")),
    BuiltProgram("alertmanager", "alertmanager", ("alertmanager", "amtool")),
    BuiltProgram("node-exporter", "node-exporter", ("node_exporter",)),
    BuiltProgram("pushgateway", "pushgateway", ("pushgateway",)),
    BuiltProgram("prometheus-operator", "prometheus-operator", ("operator",)),
    BuiltProgram("prometheus-config-reloader", "prometheus-operator", ("prometheus-config-reloader",)),
)
STAND_INS: Final = (
    StandIn("dcgm-exporter", "dcgm-exporter-simulator", "4.6.0-4.8.3", "sandbox.workloads.gpu.exporter"),
    StandIn("kube-state-metrics", "kube-state-metrics-stand-in", "2.19.1", "sandbox.workloads.kube_state_metrics"),
    StandIn("alert-sink", "alert-sink-stand-in", "1", "sandbox.workloads.alert_sink"),
)


def build_roles(home: Home, tools: HostTools, runtime: Runtime, checkout: Path = CHECKOUT) -> tuple[Role, ...]:
    """Every role that the embedded cluster and the bundle need here. checkout: whose code the stand-ins run."""
    base = layers.base(tools)
    python = (base, *runtime.layers(), layers.code(checkout))
    return (
        *_cluster(tools, base),
        *_programs(home, base, "use"),
        *(_stand_in(python, item) for item in STAND_INS),
    )


def roles_of_tests(home: Home, tools: HostTools) -> tuple[Role, ...]:
    """Roles of programs that live tests alone need, see `purpose` of a program."""
    return _programs(home, layers.base(tools), "tests")


def _programs(home: Home, base: Layer, purpose: str) -> tuple[Role, ...]:
    programs = catalogue()[1]
    return tuple(_program(home, base, item) for item in PROGRAMS if programs[item.program].purpose == purpose)


def _cluster(tools: HostTools, base: Layer) -> tuple[Role, Role]:
    versions = tools.versions()
    catatonit = next(p for p in (tools.tree / "usr/bin/catatonit", tools.tree / "bin/catatonit") if p.exists())
    pause = Layer(layers.key("pause", versions["catatonit"]), (Entry("catatonit", file=catatonit),))
    return (
        Role("pause", _tag(versions["catatonit"]), (pause,), Settings(("/catatonit", "-P"))),
        Role("volume-helper", _tag(versions["busybox-static"]), (base,), Settings(("/bin/sh",), user="0:0")),
    )


def _program(home: Home, base: Layer, item: BuiltProgram) -> Role:
    title = {"org.opencontainers.image.title": f"{item.role}, built by Plumbline"}
    settings = Settings((f"/bin/{item.outputs[0]}",), labels=title)
    version = catalogue()[1][item.program].version
    return Role(item.role, version, (base, layers.programs(home, *item.outputs)), settings)


def _stand_in(python: tuple[Layer, ...], item: StandIn) -> Role:
    title = {"org.opencontainers.image.title": f"{item.image}, Plumbline's own code in place of {item.role}"}
    settings = Settings(("/usr/bin/python3", "-P", "-m", item.module), env=ENVIRONMENT, labels=title)
    return Role(item.role, item.version, python, settings, image=item.image, stand_in=True)


def _tag(version: str) -> str:
    """A Debian version as an image tag: epochs and revisions hold characters that a tag must not."""
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in version)
