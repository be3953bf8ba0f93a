"""Port-forwards: found, restarted, ended, and refused with kubectl's own words."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from smoke import limits
from smoke.access.errors import CommandError, UnreachableError
from smoke.access.forward import PortForwards
from smoke.access.prometheus import Prometheus
from tests.offline.smoke import kubectl
from tests.offline.smoke.fakes import FakePrometheus, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def forwards(tmp_path: Path) -> Iterator[PortForwards]:
    """Forwards by the stand-in to a Prometheus."""
    with served(FakePrometheus()) as address:
        program = kubectl.install(tmp_path / "bin", address.removeprefix("http://"))
        made = PortForwards(tmp_path / "kubeconfig", "here", str(program))
        yield made
        made.close()


def _pid(forwards: PortForwards) -> int:
    return forwards._open[("plumbline", "prometheus", 9090)].process.pid


def _client(forwards: PortForwards) -> Prometheus:
    def locate() -> str:
        return f"http://127.0.0.1:{forwards.port('plumbline', 'prometheus', 9090)}"

    return Prometheus("Prometheus", locate, lambda: forwards.drop("plumbline", "prometheus", 9090), use_proxies=False)


def test_names_kubeconfig_context_and_namespace(forwards: PortForwards, tmp_path: Path) -> None:
    forwards.port("plumbline", "prometheus", 9090)
    assert (tmp_path / "bin" / "calls").read_text().strip() == (
        f"--kubeconfig {tmp_path}/kubeconfig --context here -n plumbline port-forward --address 127.0.0.1 "
        "svc/prometheus :9090"
    )


def test_carries_requests_and_is_used_again(forwards: PortForwards) -> None:
    client = _client(forwards)
    assert client.build()["version"] == "3.16.0"
    first = _pid(forwards)
    assert client.flags()
    assert _pid(forwards) == first


def test_is_started_again_when_it_has_died(forwards: PortForwards) -> None:
    client = _client(forwards)
    client.build()
    process = forwards._open[("plumbline", "prometheus", 9090)].process
    process.kill()
    process.wait()
    assert client.build()["version"] == "3.16.0"
    assert _pid(forwards) != process.pid


def test_is_replaced_when_it_lives_but_leads_nowhere(forwards: PortForwards, tmp_path: Path) -> None:
    working = (tmp_path / "bin" / "target").read_text()
    (tmp_path / "bin" / "target").write_text("127.0.0.1:1")
    client = _client(forwards)
    with pytest.raises(UnreachableError):
        client.build()
    (tmp_path / "bin" / "target").write_text(working)
    assert client.build()["version"] == "3.16.0"


def test_close_ends_the_process(forwards: PortForwards) -> None:
    forwards.port("plumbline", "prometheus", 9090)
    process = forwards._open[("plumbline", "prometheus", 9090)].process
    forwards.close()
    assert process.poll() is not None


def test_refusal_is_told_in_its_own_words(forwards: PortForwards, tmp_path: Path) -> None:
    (tmp_path / "bin" / "refuse").write_text('services "prometheus" not found')
    with pytest.raises(UnreachableError, match='services "prometheus" not found'):
        forwards.port("plumbline", "prometheus", 9090)


def test_silent_program_is_given_up_and_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "kubectl"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    program.chmod(0o755)
    for seconds in (0.2, 20.0):  # on a busy machine the program may not have come that far
        monkeypatch.setattr(limits, "FORWARD_READY", seconds)
        with pytest.raises(UnreachableError, match="not ready within"):
            PortForwards(tmp_path / "kubeconfig", "here", str(program)).port("ns", "prometheus", 9090)
        if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip():
            break
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be started"):
        PortForwards(tmp_path / "kubeconfig", "here", str(tmp_path / "kubectl")).port("ns", "prometheus", 9090)
