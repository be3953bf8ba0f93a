"""Facts gathered from a machine and from inside a container: what access hands to judgement."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Process:
    """A running process. `version` is the first line that its program prints for `--version`, if it was asked."""

    pid: int
    argv: tuple[str, ...]
    version: str = ""


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """release: as `uname -r`. filesystems: those the kernel knows. ip_forward: content of the sysctl."""

    release: str
    filesystems: frozenset[str]
    ip_forward: str


@dataclass(frozen=True, kw_only=True)
class Cgroups:
    """root_type: type of the file system at /sys/fs/cgroup. pods: version → controllers of the kubepods cgroup."""

    root_type: str
    pods: dict[str, frozenset[str]]


@dataclass(frozen=True, kw_only=True)
class Space:
    """Room on a file system. `inodes` is 0 where the file system does not count them."""

    path: str
    bytes_total: int
    bytes_free: int
    inodes: int = 0
    inodes_free: int = 0


@dataclass(frozen=True, kw_only=True)
class Inside:
    """A container seen from within.

    status: fields of /proc/1/status. mounts: mount point → options. token_mode: octal mode of the service account
    token, empty without one. writable: mount points asked about that the process may write to. space: free bytes of
    the mount points asked about. roots: mount point → what of its file system is mounted there. log_ages: of the mount
    points asked about, seconds since the newest segment in `wal/` was written; a point without one is missing.
    """

    status: dict[str, str]
    mounts: dict[str, frozenset[str]]
    token_mode: str
    writable: frozenset[str]
    space: dict[str, int]
    roots: dict[str, str]
    log_ages: dict[str, int]


@dataclass(frozen=True)
class Lock:
    """Default retention of a bucket. mode: None without one. why: what the store said where it told of none."""

    mode: str | None
    days: int
    why: str = ""
