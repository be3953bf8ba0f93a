"""testinfra backends whose commands end: the machine itself, and a container through `kubectl exec`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testinfra.backend.kubectl import KubectlBackend
from testinfra.backend.local import LocalBackend
from testinfra.host import Host

from smoke import limits
from smoke.access import procs

if TYPE_CHECKING:
    from pathlib import Path

    from testinfra.backend.base import CommandResult


class BoundedLocal(LocalBackend):  # type: ignore[misc,unused-ignore]  # testinfra ships without type information
    """testinfra's local backend with a timeout on every command."""

    def run_local(self, command: str, *args: str) -> CommandResult:
        return _result(self, ["/bin/sh", "-c", self.quote(command, *args)])


class BoundedKubectl(KubectlBackend):  # type: ignore[misc,unused-ignore]  # the same
    """testinfra's kubectl backend with a timeout, and with an argv instead of a shell line.

    The original puts quoted values inside quotation marks, so that a kubeconfig path with a blank cannot be used.
    """

    def run(self, command: str, *args: str, **_: object) -> CommandResult:
        where = ["--kubeconfig", self.kubeconfig, "--context", self.context, "-n", self.namespace]
        shell = ["/bin/sh", "-c", self.get_command(command, *args)]
        return _result(self, ["kubectl", *where, "exec", self.name, "-c", self.container, "--", *shell])


def machine() -> Host:
    """The machine that runs smoke. Commands raise CommandError when they do not end in time."""
    return _host(BoundedLocal())


def container(kubeconfig: Path, context: str, namespace: str, pod: str, name: str) -> Host:
    """A container of a pod; it needs a shell. Commands raise CommandError when they do not end in time."""
    backend = BoundedKubectl(pod, container=name, namespace=namespace, context=context, kubeconfig=str(kubeconfig))
    return _host(backend)


def _host(backend: LocalBackend | KubectlBackend) -> Host:
    host = Host(backend)
    backend.set_host(host)
    return host


def _result(backend: LocalBackend | KubectlBackend, argv: list[str]) -> CommandResult:
    done = procs.run(argv, limits.COMMAND, check=False)
    return backend.result(done.code, " ".join(argv).encode(), done.stdout, done.stderr)
