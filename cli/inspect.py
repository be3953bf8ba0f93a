"""`status`: what runs here, and what does not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cli.deploy import out_directory
from cli.engine import engine_for
from sandbox.cluster import commands, daemons, facts, ownership
from sandbox.cluster.configs import Paths
from sandbox.cluster.start import is_whole

if TYPE_CHECKING:
    from sandbox.home import Home


def status(home: Home, stack: str) -> int:
    """Print the cluster's processes and the last verdict. Exit code 0 when all that should run does, else 3."""
    engine = engine_for(home, stack)
    whole = True
    if engine.state is not None:
        owner = ownership.read_owner()
        running = daemons.running(str(engine.state))
        whole = is_whole(Paths(engine.state))
        machine = facts.gather(home)
        print(f"state      {engine.state}")
        print(f"owner      {owner.name if owner else 'no embedded cluster is started on this machine'}")
        for name in commands.ALL:
            print(f"  {name:<26} {f'process {running[name].pid}' if name in running else 'not running'}")
        print(f"cluster    {'runs whole' if whole else 'does not run whole: make up'}")
        print(f"free       {machine.free_gib:.1f} GiB of disk, {machine.memory_gib:.1f} GiB of memory")
    report = out_directory(engine) / "report.json"
    if report.exists():
        content = json.loads(report.read_text())
        print(f"last smoke {content['verdict']} at {content['started']} ({report.with_suffix('.html')})")
    else:
        print("last smoke none: `make up` began and was not proven, or nothing ever ran from this checkout")
    return 0 if whole else 3
