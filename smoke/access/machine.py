"""Facts about the machine that runs smoke, where it is the node. Everything is read, through testinfra."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smoke.access.errors import CommandError
from smoke.facts import Cgroups, Kernel, Process, Space

if TYPE_CHECKING:
    from testinfra.host import Host

DEFAULT_ROOT = "/var/lib/kubelet"
ENDPOINT_FLAGS = ("--containerd", "--container-runtime-endpoint")
CGROUPS = r"""
for d in /sys/fs/cgroup/kubepods /sys/fs/cgroup/kubepods.slice; do
  [ -f "$d/cgroup.controllers" ] && echo "v2 $(cat "$d/cgroup.controllers")"
done
for c in memory pids; do
  for d in "/sys/fs/cgroup/$c/kubepods" "/sys/fs/cgroup/$c/kubepods.slice"; do [ -d "$d" ] && echo "v1 $c"; done
done
true"""

# A program outside of the system's directories may need the libraries that it was started with.
VERSION = """
path=$(tr '\\0' '\\n' < /proc/%s/environ | sed -n 's/^LD_LIBRARY_PATH=//p')
[ -n "$path" ] && export LD_LIBRARY_PATH="$path"
/proc/%s/exe --version"""


def boot_id(host: Host) -> str:
    """The id of this boot; the kubelet reports the same one."""
    return _out(host, "cat /proc/sys/kernel/random/boot_id")


def kernel(host: Host) -> Kernel:
    """Release, file systems and forwarding."""
    filesystems = _out(host, "cat /proc/filesystems").split()
    forward = _out(host, "cat /proc/sys/net/ipv4/ip_forward")
    return Kernel(release=_out(host, "uname -r"), filesystems=frozenset(filesystems), ip_forward=forward)


def cgroups(host: Host) -> Cgroups:
    """Version of the hierarchy and the controllers that pods are under."""
    pods: dict[str, frozenset[str]] = {}
    for line in _out(host, CGROUPS).splitlines():
        version, *controllers = line.split()
        pods[version] = pods.get(version, frozenset()) | frozenset(controllers)
    return Cgroups(root_type=_out(host, "stat -fc %T /sys/fs/cgroup"), pods=pods)


def processes(host: Host, name: str, *, with_version: bool = False) -> list[Process]:
    """All processes of this name. Asking for the version runs each process' own program."""
    found = []
    for path in host.run("grep -lxF -e %s /proc/[0-9]*/comm 2>/dev/null", name).stdout.split():
        pid = path.split("/")[2]
        argv = host.run("tr '\\0' '\\n' < /proc/%s/cmdline 2>/dev/null", pid).stdout.splitlines()
        asked = host.run(VERSION, pid, pid).stdout if with_version else ""
        found.append(Process(int(pid), tuple(argv), asked.strip().split("\n")[0]))
    return found


def kubelet_root(kubelet: Process) -> str:
    """The kubelet's directory, by its own command line."""
    return flag(kubelet, "--root-dir") or DEFAULT_ROOT


def runtime_socket(host: Host, kubelet: Process) -> str:
    """Path of the container runtime's socket by the kubelet's flags or configuration; empty if neither names it."""
    endpoint = next((value for name in ENDPOINT_FLAGS if (value := flag(kubelet, name))), "")
    config = flag(kubelet, "--config")
    if not endpoint and config:
        line = host.run("grep -E '^containerRuntimeEndpoint:' %s", config).stdout
        endpoint = line.partition(":")[2].strip().strip("\"'")
    return endpoint.removeprefix("unix://")


def is_socket(host: Host, path: str) -> bool:
    """Whether there is a socket at this path."""
    return bool(host.run("test -S %s", path).rc == 0)


def space(host: Host, path: str) -> Space:
    """Bytes and inodes, total and free for root's use by others, of the file system that holds `path`."""
    blocks = _out(host, "df -Pk %s", path).splitlines()[-1].split()
    inodes = _out(host, "df -Pi %s", path).splitlines()[-1].split()
    return Space(
        path=path,
        bytes_total=int(blocks[1]) * 1024,
        bytes_free=int(blocks[3]) * 1024,
        inodes=_count(inodes[1]),
        inodes_free=_count(inodes[3]),
    )


def flag(process: Process, name: str) -> str:
    """Value of a command-line flag, written as `--name=value` or `--name value`; empty without it."""
    for position, word in enumerate(process.argv):
        if word == name and position + 1 < len(process.argv):
            return process.argv[position + 1]
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return ""


def _count(word: str) -> int:
    return int(word) if word.isdigit() else 0


def _out(host: Host, command: str, *args: str) -> str:
    done = host.run(command, *args)
    if done.rc != 0:
        raise CommandError(command.split(maxsplit=1)[0], f"exit code {done.rc}: {done.stderr.strip()[:300]}")
    return str(done.stdout.strip())
