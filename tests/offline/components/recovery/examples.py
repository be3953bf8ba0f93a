"""Arguments of recovery for tests: those of stack local, and those of a stack whose bucket is somebody else's."""

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
