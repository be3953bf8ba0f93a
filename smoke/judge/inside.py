"""A container seen from within: privileges, and the volume it writes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smoke import limits
from smoke.model import Problem

if TYPE_CHECKING:
    from smoke.facts import Inside

MIB = 1024**2
OTHERS_MAY = 0o007
# How the kernel ends the path of a mounted directory that is gone.
DELETED = "//deleted"


def security(facts: Inside, subject: str) -> list[Problem]:
    """The first process has no root, no capabilities and no way to gain them.

    Its root file system is read-only, its token is private.
    """
    ids = facts.status.get("Uid", "").split()
    problems = []
    if not ids or "0" in ids:
        problems.append(Problem(subject, f"user ids {' '.join(ids) or 'unknown'}", "none of them 0"))
    capabilities = facts.status.get("CapEff", "")
    if not capabilities or int(capabilities, 16) != 0:
        problems.append(Problem(subject, f"effective capabilities {capabilities or 'unknown'}", "none"))
    if facts.status.get("NoNewPrivs") != "1":
        problems.append(Problem(subject, f"NoNewPrivs {facts.status.get('NoNewPrivs', 'unknown')}", "1"))
    if facts.status.get("Seccomp") != "2":
        problems.append(Problem(subject, f"seccomp mode {facts.status.get('Seccomp', 'unknown')}", "2, a filter"))
    if "ro" not in facts.mounts.get("/", frozenset()):
        problems.append(Problem(subject, "root file system mounted writable", "read-only"))
    if facts.token_mode and int(facts.token_mode, 8) & OTHERS_MAY:
        problems.append(Problem(subject, f"mode {facts.token_mode} on its account's credential", "nothing for others"))
    return problems


def volume(facts: Inside, point: str, subject: str) -> list[Problem]:
    """The mount is one of its own and still exists, the process may write to it and does, and it has room."""
    subject = f"{subject} at {point}"
    options = facts.mounts.get(point.rstrip("/") or "/")
    if options is None:
        return [Problem(subject, "not a mount of its own", "the claim mounted there")]
    problems = _alive(facts, point, subject)
    if "rw" not in options or point not in facts.writable:
        problems.append(Problem(subject, "not writable by the process", "writable"))
    free = facts.space.get(point, 0)
    if free < limits.VOLUME_FREE_BYTES:
        least = f"at least {limits.VOLUME_FREE_BYTES / MIB:.0f} MiB"
        problems.append(Problem(subject, f"{free / MIB:.0f} MiB free", least))
    return problems


def _alive(facts: Inside, point: str, subject: str) -> list[Problem]:
    """A directory that was deleted stays mounted and writable for who holds it, and what is written there is lost."""
    problems = []
    root = facts.roots.get(point.rstrip("/") or "/", "unknown")
    if root == "unknown" or root.endswith(DELETED):
        problems.append(Problem(subject, f"directory {root} of its file system", "a directory that exists"))
    age = facts.log_ages.get(point)
    if age is None:
        problems.append(Problem(subject, "no segment in wal/", "the write-ahead log of Prometheus"))
    elif not -limits.FRESH_FUTURE <= age <= limits.LOG_AGE:
        wanted = f"less than {limits.LOG_AGE:.0f} s ago"
        problems.append(Problem(subject, f"newest segment of wal/ written {age} s ago", wanted))
    return problems
