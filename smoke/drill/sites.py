"""The two stacks of a drill as smoke sees them: the one that is written to, and the one that is restored."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from smoke import limits, poll
from smoke.access.swanlab import SwanLab
from smoke.drill.recorder import Recorder
from smoke.judge.identity import same_cluster
from smoke.stack import ENDPOINT, Stack

if TYPE_CHECKING:
    from pathlib import Path

    from smoke.model import Problem
    from stacks.contract import Contract


class Source(Stack):
    """A stack whose SwanLab is written to."""

    @cached_property
    def swanlab(self) -> Recorder:
        """The contract's SwanLab, through its gateway."""
        where = self._where("swanlab", ENDPOINT)
        return Recorder("SwanLab", where.locate, where.broken, key=self.api_key, use_proxies=where.own_address)


class Copy(Stack):
    """A stack whose SwanLab was restored, asked with a key of another stack."""

    def __init__(self, contract: Contract, kubeconfig: Path, key: str) -> None:
        """key: of the account that has logged in before the restore."""
        super().__init__(contract, kubeconfig)
        self._old_key = key

    @cached_property
    def swanlab(self) -> SwanLab:
        """The contract's SwanLab, through its gateway."""
        where = self._where("swanlab", ENDPOINT)
        return SwanLab("SwanLab", where.locate, where.broken, key=lambda: self._old_key, use_proxies=where.own_address)


def identify(stack: Stack) -> None:
    """See that this is the contract's cluster. Raises CheckFailedError and AccessError."""

    def probe() -> list[Problem]:
        cluster = stack.contract.cluster
        return same_cluster(stack.kube.get("/api/v1/namespaces/kube-system"), cluster.uid, cluster.context)

    poll.settle(probe, limits.IDENTITY)


def old_key(source: Stack, restored: Stack) -> tuple[str, str]:
    """The key to log in with, and whose it is: `source`, or `restored` where the source has no such Secret any more.

    Raises AccessError and CheckFailedError.
    """
    ref = source.experiments.login
    path = f"/api/v1/namespaces/{ref.namespace}/secrets/{ref.name}"
    if poll.fetch(lambda: source.kube.find(path)) is not None:
        return poll.fetch(source.api_key), "source"
    return poll.fetch(restored.api_key), "restored"
