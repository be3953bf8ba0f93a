"""Recovery as a system of the stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.recovery.component import Recovery
from components.recovery.manifests import manifests
from components.recovery.names import NAME
from components.swanlab.names import NAME as SWANLAB
from stacks.recovery_arguments import component, recovery_args
from stacks.root_secret import check_root_secret, root_secret
from stacks.system import System

if TYPE_CHECKING:
    from stacks.settings import Settings
    from stacks.system import Images


def recovery(settings: Settings, images: Images) -> System:
    """Restore points. Behind SwanLab: points are made in its namespace, with its Secrets."""
    args = recovery_args(settings, images)
    return System(
        name=NAME,
        manifests=manifests(args),
        promise=component(args),
        register=lambda opts: Recovery(NAME, args, root_secret(settings), opts),
        lint=lambda: check_root_secret(settings),
        after=(SWANLAB,),
    )
