"""Roles that are pinned programs, built here from their authors' source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sandbox.images import layers
from sandbox.images.oci import Settings
from sandbox.images.role import OURS, Role, title
from sandbox.programs.spec import catalogue

if TYPE_CHECKING:
    from sandbox.home import Home
    from sandbox.images.layers import Layer

COLLECTOR: Final = 10001  # whom the official images of the collector and of Jaeger run as


@dataclass(frozen=True)
class BuiltProgram:
    """A role that is a pinned program: outputs are the binaries in its image, the first of them starts."""

    role: str
    program: str
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class BareProgram:
    """A role that is one pinned program and nothing else, not even a shell.

    path: below /, where the program lies in its authors' image, so that a command line fits both.
    """

    role: str
    program: str
    output: str
    path: str
    user: int


PROGRAMS: Final = (
    BuiltProgram("prometheus", "prometheus", ("prometheus", "promtool")),
    BuiltProgram("alertmanager", "alertmanager", ("alertmanager", "amtool")),
    BuiltProgram("node-exporter", "node-exporter", ("node_exporter",)),
    BuiltProgram("pushgateway", "pushgateway", ("pushgateway",)),
    BuiltProgram("prometheus-operator", "prometheus-operator", ("operator",)),
    BuiltProgram("prometheus-config-reloader", "prometheus-operator", ("prometheus-config-reloader",)),
)
BARE: Final = (
    BareProgram("otel-collector", "otel-collector", "otelcol-contrib", "otelcol-contrib", COLLECTOR),
    # Its authors' image names no user, which means root: pods must name one, here as there.
    BareProgram("victoria-logs", "victoria-logs", "victoria-logs-prod", "victoria-logs-prod", OURS),
    BareProgram("jaeger", "jaeger", "jaeger-linux", "cmd/jaeger/jaeger-linux", COLLECTOR),
)


def roles(home: Home, base: Layer, purpose: str) -> tuple[Role, ...]:
    """Every pinned program of this purpose, as its image. base: with a shell, for those that have one."""
    programs = catalogue()[1]
    return (
        *(_with_shell(home, base, item) for item in PROGRAMS if programs[item.program].purpose == purpose),
        *(_bare(home, item) for item in BARE if programs[item.program].purpose == purpose),
    )


def _with_shell(home: Home, base: Layer, item: BuiltProgram) -> Role:
    settings = Settings((f"/bin/{item.outputs[0]}",), labels=_title(item.role))
    version = catalogue()[1][item.program].version
    return Role(item.role, version, (base, layers.programs(home, *item.outputs)), settings)


def _bare(home: Home, item: BareProgram) -> Role:
    content = (
        layers.bare(),
        layers.accounts(item.role, item.user),
        layers.program_at(home, item.output, item.path),
    )
    settings = Settings((f"/{item.path}",), user=f"{item.user}:{item.user}", labels=_title(item.role))
    return Role(item.role, catalogue()[1][item.program].version, content, settings)


def _title(role: str) -> dict[str, str]:
    return title(f"{role}, built by Plumbline")
