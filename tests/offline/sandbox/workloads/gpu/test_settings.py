"""Flags and variables are upstream's; what is not played is refused, never ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.workloads.gpu.fields import Instance
from sandbox.workloads.gpu.settings import SettingsError, parse

NODE = {"NODE_NAME": "n1"}


def test_defaults_are_those_of_upstream() -> None:
    found = parse([], NODE)
    assert found.collectors == Path("/etc/dcgm-exporter/default-counters.csv")
    assert (found.listen, found.interval, found.kubernetes) == (("", 9400), 30.0, False)
    assert (found.xid_window, found.clock_window) == (300_000, 300_000)
    assert found.socket == Path("/var/lib/kubelet/pod-resources/kubelet.sock")
    assert (found.hostname, found.hostname_label) == ("n1", "hostname")
    assert (found.resources, found.control) == (("nvidia.com/gpu",), ("127.0.0.1", 9401))


def test_variables_are_read_and_flags_win() -> None:
    environment = {
        **NODE,
        "DCGM_EXPORTER_KUBERNETES": "true",
        "DCGM_EXPORTER_LISTEN": "127.0.0.1:9500",
        "DCGM_EXPORTER_INTERVAL": "15000",
        "DCGM_EXPORTER_COLLECTORS": "/a.csv",
        "NVIDIA_RESOURCE_NAMES": "nvidia.com/a100,nvidia.com/a10",
    }
    found = parse(["-f", "/b.csv", "-c=10000", "--no-hostname"], environment)
    assert (found.collectors, found.interval, found.hostname) == (Path("/b.csv"), 10.0, None)
    assert (found.kubernetes, found.listen) == (True, ("127.0.0.1", 9500))
    assert found.resources == ("nvidia.com/gpu", "nvidia.com/a100", "nvidia.com/a10")


@pytest.mark.parametrize("arguments", [["--kubernetes"], ["-k"], ["--kubernetes=true"], ["-k=1"]])
def test_switches(arguments: list[str]) -> None:
    assert parse(arguments, NODE).kubernetes is True


def test_flags_without_effect_are_taken() -> None:
    assert parse(["-r", "localhost:5555", "--debug", "--log-format", "json"], NODE) == parse([], NODE)


def test_sliced_gpu() -> None:
    sliced = parse(["--simulate-mig", "0:1g.10gb:7,3:3g.40gb:2"], NODE).sliced
    assert sliced[0] == tuple(Instance("1g.10gb", number) for number in range(7, 14))
    assert [item.number for item in sliced[3]] == [7, 8]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--unknown"], "flag provided but not defined: --unknown; accepted are --collectors"),
        (["stray"], "flag provided but not defined: stray"),
        (["-f"], "flag needs an argument: -f"),
        (["-c", "soon"], "--collect-interval 'soon': a whole number above 0"),
        (["-k=maybe"], "true and false are accepted"),
        (["--kubernetes-virtual-gpus"], "the simulator does not play it; accepted is 'false'"),
        (["--kubernetes-enable-pod-labels"], "does not play it"),
        (["-m", "ns:name"], "does not play it; accepted is 'none'"),
        (["-a", "9400"], "is no <host>:<port>"),
        (["-a", ":99999"], "is no <host>:<port>"),
        (["--simulate-mig", "0:1g.10gb"], "<gpu>:<profile>:<instances>"),
        (["--simulate-mig", "0:big:2"], "big is no MIG profile"),
        (["--simulate-mig", "0:1g.10gb:8"], "<gpu>:<profile>:<instances>"),
        (["--simulate-hostname-label", "host"], "hostname, Hostname"),
    ],
)
def test_wrong_flag_is_refused(arguments: list[str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        parse(arguments, NODE)


def test_wrong_variable_is_refused() -> None:
    with pytest.raises(SettingsError, match="--use-old-namespace 'true': the simulator does not play it"):
        parse([], {**NODE, "DCGM_EXPORTER_USE_OLD_NAMESPACE": "true"})
