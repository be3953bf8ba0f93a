"""Arguments of recovery for tests: of stack local, of one with a Grafana, and of one with somebody else's bucket."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from components.recovery.args import Account, Target
from stacks.recovery_arguments import recovery_args
from tests.offline.stacks.examples import BUILT, settings

if TYPE_CHECKING:
    from components.recovery.args import RecoveryArgs

PUBLIC_KEY = "plumbline-recovery-public-1:" + "A" * 43


def local(**keys: Any) -> RecoveryArgs:  # noqa: ANN401  # any key of the section
    """As stack local has it. keys: laid over `plumbline:recovery`."""
    return recovery_args(settings("local", None, recovery=keys), BUILT)


def with_grafana(**keys: Any) -> RecoveryArgs:  # noqa: ANN401  # any key of the section
    """The same with a Grafana of the stack. keys: laid over `plumbline:grafana`."""
    wanted = {"mode": "managed"} | keys
    return recovery_args(settings("local", None, recovery={"recovery_public_key": PUBLIC_KEY}, grafana=wanted), BUILT)


def elsewhere() -> RecoveryArgs:
    """The same with a bucket elsewhere, a recovery key, and no Alertmanager."""
    args = local(recovery_public_key=PUBLIC_KEY)
    target = Target(
        endpoint="https://s3.example.org",
        bucket="points",
        region="eu-1",
        lock_days=14,
        writer=Account(secret="points-writer"),  # noqa: S106  # the name of a Secret
        reader=Account(secret="points-reader"),  # noqa: S106  # the name of a Secret
        pruner=Account(secret="points-pruner"),  # noqa: S106  # the name of a Secret
    )
    stores = tuple(store for store in args.stores if store.name != "alertmanager")
    scratch = replace(args.scratch, alertmanager=None)
    return replace(args, target=target, stores=stores, scratch=scratch, alertmanager_pods=None)
