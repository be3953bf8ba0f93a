"""A machine that answers the commands of smoke like a healthy node."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

MEMORY_AND_PIDS = "v2 cpuset cpu io memory hugetlb pids\n"
ANSWERS = {
    "cat /proc/sys/kernel/random/boot_id": "boot-1\n",
    "cat /proc/filesystems": "nodev\tproc\nnodev\toverlay\n\text4\n",
    "cat /proc/sys/net/ipv4/ip_forward": "1\n",
    "uname -r": "6.1.0-18-amd64\n",
    "stat -fc %T /sys/fs/cgroup": "cgroup2fs\n",
    "kubepods": MEMORY_AND_PIDS,
    "grep -lxF -e kubelet": "/proc/10/comm\n",
    "grep -lxF -e containerd": "/proc/11/comm\n",
    "/proc/10/cmdline": "kubelet\n--root-dir=/var/lib/kubelet\n--config\n/etc/kubelet.yaml\n",
    "/proc/11/cmdline": "containerd\n--config\n/etc/containerd.toml\n",
    "/proc/11/exe --version": "containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+b1\n",
    "^containerRuntimeEndpoint:": "containerRuntimeEndpoint: unix:///run/containerd/containerd.sock\n",
    "test -S /run/containerd/containerd.sock": "",
    "df -Pk": "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/vda1 100000000 4000000 60000000 40% /\n",
    "df -Pi": "Filesystem Inodes IUsed IFree IUse% Mounted on\n/dev/vda1 6000000 1000000 5000000 17% /\n",
}


@dataclass
class Machine:
    """Answers a command by the first key that it contains; unknown commands fail."""

    answers: dict[str, str] = field(default_factory=lambda: dict(ANSWERS))

    def run(self, command: str, *args: str) -> SimpleNamespace:
        """As testinfra's `Host.run`."""
        line = command % args if args else command
        for part, output in self.answers.items():
            if part in line:
                return SimpleNamespace(rc=0, stdout=output, stderr="")
        return SimpleNamespace(rc=1, stdout="", stderr=f"unexpected: {line}")


def healthy_machine() -> Machine:
    """A machine on which every check of the node is green."""
    return Machine()
