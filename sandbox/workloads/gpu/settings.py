"""Flags and variables of dcgm-exporter 4.6.0-4.8.3 (pkg/cmd/app.go), and those of the simulator: --simulate-*.

A flag wins over its variable. What upstream takes and the simulator does not play is refused unless it has its default;
flags that change nothing on the page (logs, dumps, other devices) are taken and have no effect.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from sandbox.workloads.gpu import web
from sandbox.workloads.gpu.fields import Instance
from sandbox.workloads.gpu.identity import GPUS_AT_MOST, RESOURCE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FIRST_INSTANCE: Final = 7  # NVML numbers the smallest slices from here
MOST_INSTANCES: Final = 7
HOSTNAME_LABELS: Final = ("hostname", "Hostname")


class SettingsError(Exception):
    """A flag or variable is wrong: which, what is accepted."""


@dataclass(frozen=True)
class Flag:
    """One flag. played: whether it has an effect; refused: whether anything but its default is refused."""

    name: str
    variable: str | None
    default: str
    kind: Literal["text", "number", "switch"] = "text"
    short: str | None = None
    effect: Literal["played", "none", "refused"] = "played"


FLAGS: Final = (
    Flag("collectors", "DCGM_EXPORTER_COLLECTORS", "/etc/dcgm-exporter/default-counters.csv", short="f"),
    Flag("address", "DCGM_EXPORTER_LISTEN", ":9400", short="a"),
    Flag("collect-interval", "DCGM_EXPORTER_INTERVAL", "30000", "number", "c"),
    Flag("kubernetes", "DCGM_EXPORTER_KUBERNETES", "false", "switch", "k"),
    Flag("no-hostname", "DCGM_EXPORTER_NO_HOSTNAME", "false", "switch", "n"),
    Flag("xid-count-window-size", "DCGM_EXPORTER_XID_COUNT_WINDOW_SIZE", "300000", "number", "x"),
    Flag("clock-events-count-window-size", "DCGM_EXPORTER_CLOCK_EVENTS_COUNT_WINDOW_SIZE", "300000", "number"),
    Flag("replace-blanks-in-model-name", "DCGM_EXPORTER_REPLACE_BLANKS_IN_MODEL_NAME", "false", "switch", "rbmn"),
    Flag(
        "pod-resources-kubelet-socket",
        "DCGM_POD_RESOURCES_KUBELET_SOCKET",
        "/var/lib/kubelet/pod-resources/kubelet.sock",
    ),
    Flag("nvidia-resource-names", "NVIDIA_RESOURCE_NAMES", ""),
    Flag("simulate-control", None, "127.0.0.1:9401"),
    Flag("simulate-mig", None, ""),
    Flag("simulate-hostname-label", None, "hostname"),
    Flag("config-file", "DCGM_EXPORTER_CONFIG_FILE", "", effect="refused"),
    Flag("configmap-data", "DCGM_EXPORTER_CONFIGMAP_DATA", "none", short="m", effect="refused"),
    Flag("devices", "DCGM_EXPORTER_DEVICES_STR", "f", short="d", effect="refused"),
    Flag("use-old-namespace", "DCGM_EXPORTER_USE_OLD_NAMESPACE", "false", "switch", "o", "refused"),
    Flag(
        "kubernetes-enable-pod-labels",
        "DCGM_EXPORTER_KUBERNETES_ENABLE_POD_LABELS",
        "false",
        "switch",
        effect="refused",
    ),
    Flag("kubernetes-enable-pod-uid", "DCGM_EXPORTER_KUBERNETES_ENABLE_POD_UID", "false", "switch", effect="refused"),
    Flag("kubernetes-gpu-id-type", "DCGM_EXPORTER_KUBERNETES_GPU_ID_TYPE", "uid", effect="refused"),
    Flag("kubernetes-virtual-gpus", "KUBERNETES_VIRTUAL_GPUS", "false", "switch", effect="refused"),
    Flag("kubernetes-enable-dra", "KUBERNETES_ENABLE_DRA", "false", "switch", effect="refused"),
    Flag("web-config-file", "DCGM_EXPORTER_WEB_CONFIG_FILE", "", effect="refused"),
    Flag("web-systemd-socket", "DCGM_EXPORTER_SYSTEMD_SOCKET", "false", "switch", effect="refused"),
    Flag("hpc-job-mapping-dir", "DCGM_HPC_JOB_MAPPING_DIR", "", effect="refused"),
    Flag("container-labels", "DCGM_EXPORTER_CONTAINER_LABELS", "false", "switch", effect="refused"),
    Flag("remote-hostengine-info", "DCGM_REMOTE_HOSTENGINE_INFO", "localhost:5555", short="r", effect="none"),
    Flag("container-runtime-socket", "DCGM_CONTAINER_RUNTIME_SOCKET", "", effect="none"),
    Flag(
        "kubernetes-pod-label-allowlist-regex",
        "DCGM_EXPORTER_KUBERNETES_POD_LABEL_ALLOWLIST_REGEX",
        "",
        effect="none",
    ),
    Flag("cpu-devices", "DCGM_EXPORTER_CPU_DEVICES_STR", "f", short="p", effect="none"),
    Flag("switch-devices", "DCGM_EXPORTER_OTHER_DEVICES_STR", "f", short="s", effect="none"),
    Flag("fake-gpus", "DCGM_EXPORTER_USE_FAKE_GPUS", "false", "switch", effect="none"),
    Flag("web-read-timeout", "DCGM_EXPORTER_WEB_READ_TIMEOUT", "10s", effect="none"),
    Flag("web-write-timeout", "DCGM_EXPORTER_WEB_WRITE_TIMEOUT", "10s", effect="none"),
    Flag("debug", "DCGM_EXPORTER_DEBUG", "false", "switch", effect="none"),
    Flag("enable-dcgm-log", "DCGM_EXPORTER_ENABLE_DCGM_LOG", "false", "switch", effect="none"),
    Flag("dcgm-log-level", "DCGM_EXPORTER_DCGM_LOG_LEVEL", "NONE", effect="none"),
    Flag("log-format", "DCGM_EXPORTER_LOG_FORMAT", "text", effect="none"),
    Flag("dump-enabled", "DCGM_EXPORTER_DUMP_ENABLED", "false", "switch", effect="none"),
    Flag("dump-directory", "DCGM_EXPORTER_DUMP_DIRECTORY", "/tmp/dcgm-exporter-debug", effect="none"),  # noqa: S108  never written
    Flag("dump-retention", "DCGM_EXPORTER_DUMP_RETENTION", "24", "number", effect="none"),
    Flag("dump-compression", "DCGM_EXPORTER_DUMP_COMPRESSION", "true", "switch", effect="none"),
    Flag("disable-startup-validate", "DISABLE_STARTUP_VALIDATE", "false", "switch", effect="none"),
    Flag(
        "enable-gpu-bind-unbind-watch", "DCGM_EXPORTER_ENABLE_GPU_BIND_UNBIND_WATCH", "false", "switch", effect="none"
    ),
    Flag("gpu-bind-unbind-poll-interval", "DCGM_EXPORTER_GPU_BIND_UNBIND_POLL_INTERVAL", "1s", effect="none"),
    Flag("enable-pprof", "DCGM_EXPORTER_ENABLE_PPROF", "false", "switch", effect="none"),
)
_BY_WORD: Final = {word: flag for flag in FLAGS for word in (flag.name, flag.short) if word}
_TRUE, _FALSE = ("1", "t", "T", "TRUE", "true", "True"), ("0", "f", "F", "FALSE", "false", "False")


@dataclass(frozen=True)
class Settings:
    """The exporter's settings. interval in seconds, windows in milliseconds. control: where incidents are asked for."""

    collectors: Path
    listen: tuple[str, int]
    interval: float
    kubernetes: bool
    node: str
    hostname: str | None
    hostname_label: str
    xid_window: int
    clock_window: int
    replace_blanks: bool
    socket: Path
    resources: tuple[str, ...]
    control: tuple[str, int]
    sliced: Mapping[int, tuple[Instance, ...]]


def parse(arguments: Sequence[str], environment: Mapping[str, str]) -> Settings:
    """Settings from the command line and the environment. Raises SettingsError."""
    values = {flag.name: environment.get(flag.variable or "", "") or flag.default for flag in FLAGS}
    values |= _given(list(arguments))
    for flag in FLAGS:
        _check(flag, values[flag.name])
    node = environment.get("NODE_NAME") or socket.gethostname()
    extra = tuple(name for name in values["nvidia-resource-names"].split(",") if name)
    if values["simulate-hostname-label"] not in HOSTNAME_LABELS:
        raise SettingsError(f"--simulate-hostname-label: accepted are {', '.join(HOSTNAME_LABELS)}")
    return Settings(
        collectors=Path(values["collectors"]),
        listen=_address("address", values["address"]),
        interval=int(values["collect-interval"]) / 1000,
        kubernetes=_switch(values["kubernetes"]),
        node=node,
        hostname=None if _switch(values["no-hostname"]) else node,
        hostname_label=values["simulate-hostname-label"],
        xid_window=int(values["xid-count-window-size"]),
        clock_window=int(values["clock-events-count-window-size"]),
        replace_blanks=_switch(values["replace-blanks-in-model-name"]),
        socket=Path(values["pod-resources-kubelet-socket"]),
        resources=(RESOURCE, *extra),
        control=_address("simulate-control", values["simulate-control"]),
        sliced=_sliced(values["simulate-mig"]),
    )


def _given(words: list[str]) -> dict[str, str]:
    """Flag → value, of the command line."""
    found = {}
    while words:
        word = words.pop(0)
        name, equals, value = word.lstrip("-").partition("=")
        flag = _BY_WORD.get(name)
        if not word.startswith("-") or flag is None:
            raise SettingsError(
                f"flag provided but not defined: {word}; accepted are {', '.join('--' + flag.name for flag in FLAGS)}"
            )
        if not equals and flag.kind == "switch":
            value = "true"
        elif not equals:
            if not words:
                raise SettingsError(f"flag needs an argument: {word}")
            value = words.pop(0)
        found[flag.name] = value
    return found


def _check(flag: Flag, value: str) -> None:
    if flag.kind == "number" and not (value.isdecimal() and int(value) > 0):
        raise SettingsError(f"--{flag.name} {value!r}: a whole number above 0 is accepted")
    if flag.kind == "switch" and value not in (*_TRUE, *_FALSE):
        raise SettingsError(f"--{flag.name} {value!r}: true and false are accepted")
    same = _switch(value) == _switch(flag.default) if flag.kind == "switch" else value == flag.default
    if flag.effect == "refused" and not same:
        raise SettingsError(f"--{flag.name} {value!r}: the simulator does not play it; accepted is {flag.default!r}")


def _switch(value: str) -> bool:
    return value in _TRUE


def _address(name: str, value: str) -> tuple[str, int]:
    try:
        return web.address(value)
    except ValueError as error:
        raise SettingsError(f"--{name}: {error}") from error


def _sliced(text: str) -> dict[int, tuple[Instance, ...]]:
    """GPU → instances, of `<gpu>:<profile>:<instances>[,…]`."""
    found = {}
    for item in filter(None, text.split(",")):
        parts = item.split(":")
        accepted = f"--simulate-mig {item!r}: accepted is <gpu>:<profile>:<instances>, for example 0:1g.10gb:7"
        if len(parts) != 3 or not parts[0].isdecimal() or not parts[2].isdecimal():  # noqa: PLR2004  gpu, profile, instances
            raise SettingsError(accepted)
        gpu, profile, count = int(parts[0]), parts[1], int(parts[2])
        instances = tuple(Instance(profile, FIRST_INSTANCE + number) for number in range(count))
        try:
            fits = gpu < GPUS_AT_MOST and 1 <= count <= MOST_INSTANCES and all(i.mib > 0 for i in instances)
        except ValueError as error:
            raise SettingsError(f"--simulate-mig {item!r}: {error}") from error
        if not fits:
            raise SettingsError(accepted)
        found[gpu] = instances
    return found
