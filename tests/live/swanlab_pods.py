"""What is done to SwanLab's pods and stores behind the engine's back.

Whatever stops a part starts it again at the end of its block, so that a test that fails leaves the stack whole.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from components.naming import swanlab_namespace_name
from components.swanlab.names import BUFFER, service_name
from tests.live.plumbline import NAMESPACE, get, kubectl, until

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
SPACE: Final = swanlab_namespace_name(NAMESPACE)
WRITERS: Final = ("gateway", "server", "auth", "house")
"""Programs that write to the stores, in the order in which they are stopped; they start the other way round."""


def workload(program: str) -> str:
    """`kind/name` of what runs a program of SwanLab."""
    return f"{'statefulset' if program == BUFFER else 'deployment'}/{service_name(program)}"


def pods(program: str) -> list[Json]:
    """Pods of a program, those that end among them."""
    return list(get("pods", "-n", SPACE, "-l", f"app.kubernetes.io/service={program}")["items"])


@contextmanager
def stopped(*programs: str) -> Iterator[None]:
    """No pod of these programs while the block lasts. They stop in this order and start in the other."""
    before = {program: int(get(workload(program), "-n", SPACE)["spec"]["replicas"]) for program in programs}
    try:
        for program in programs:
            kubectl("scale", workload(program), "-n", SPACE, "--replicas=0")
            until(f"{program} has stopped", lambda program=program: not pods(program), 120)  # type: ignore[misc]  # a default binds the name
        yield
    finally:
        for program, replicas in reversed(before.items()):
            kubectl("scale", workload(program), "-n", SPACE, f"--replicas={replicas}")
        for program in reversed(before):
            rolled_out(program)


def rolled_out(program: str) -> None:
    """Wait until the pods of a program are those of its template."""
    kubectl("rollout", "status", workload(program), "-n", SPACE, "--timeout=170s")


def inside(program: str, script: str, *arguments: str, stdin: str | None = None) -> str:
    """Run a shell script in the container of a program; what it printed. It fails with the script."""
    command = ("sh", "-euc", script, "sh", *arguments)
    return kubectl("exec", "-i", "-n", SPACE, workload(program), "-c", program, "--", *command, stdin=stdin or "")


def postgres(script: str, *arguments: str, stdin: str | None = None) -> str:
    """Run a shell script beside PostgreSQL, whose programs it finds; it is the owner of database `app`."""
    prelude = 'for d in /usr/lib/postgresql/*/bin; do PATH="$PATH:$d"; done; export PATH PGUSER="$POSTGRES_USER"\n'
    return inside("postgres", prelude + script, *arguments, stdin=stdin)


def empty_claim(name: str) -> None:
    """Delete all that is on a claim. No pod may use it."""
    volume = get(f"pvc/{name}", "-n", SPACE)["spec"]["volumeName"]
    spec = get(f"pv/{volume}")["spec"]
    directory = Path((spec.get("local") or spec["hostPath"])["path"])
    assert volume in directory.as_posix(), f"{directory} is not the directory of volume {volume} alone"
    for entry in directory.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
