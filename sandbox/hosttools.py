"""Programs of the host that the cluster needs, unpacked from Debian packages and never installed.

Installing containerd or iptables could displace what the user runs (Docker, a firewall); unpacking cannot.
The versions are those of the machine's own package sources; they are recorded beside the files.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sandbox import debs
from sandbox.errors import SandboxError
from sandbox.exclusive import exclusively
from sandbox.process import run

if TYPE_CHECKING:
    from sandbox.home import Home
    from sandbox.progress import Progress

PACKAGES: Final = (
    "containerd",  # container runtime
    "runc",
    "containernetworking-plugins",  # bridge, host-local, portmap, loopback
    "iptables",  # kube-proxy, kube-router and portmap call it
    "ipset",  # kube-router's sets of addresses
    "busybox-static",  # shell of the images and of the volume helper
    "catatonit",  # the pause process
    "libseccomp2",
    "libxtables12",
    "libip4tc2",
    "libip6tc2",
    "libnftnl11",
    "libmnl0",
    "libnfnetlink0",
    "libnetfilter-conntrack3",
    "libipset13",
)
IPTABLES_APPLETS: Final = tuple(
    f"{family}{suffix}" for family in ("iptables", "ip6tables") for suffix in ("", "-save", "-restore")
)


@dataclass(frozen=True)
class HostTools:
    """Unpacked tools. `bin` holds wrappers that find their libraries; put it first on PATH."""

    root: Path

    @property
    def bin(self) -> Path:
        """Directory of wrappers and links."""
        return self.root / "bin"

    @property
    def tree(self) -> Path:
        """The unpacked packages."""
        return self.root / "tree"

    @property
    def cni(self) -> Path:
        """Directory of the CNI plugins."""
        return self.tree / "usr" / "lib" / "cni"

    def versions(self) -> dict[str, str]:
        """Package name → version."""
        return dict(json.loads((self.root / "versions.json").read_text()))


def _location(home: Home) -> HostTools:
    key = "\n".join((*PACKAGES, Path(__file__).read_text(), Path(debs.__file__).read_text()))
    digest = hashlib.sha256(key.encode()).hexdigest()[:12]
    return HostTools(home.host_tools / f"{debs.release()}-{digest}")


def ensure(home: Home, progress: Progress) -> HostTools:
    """Unpack the tools unless they are there. Raises SandboxError: not Debian, package index unreachable."""
    tools = _location(home)
    if (tools.root / "versions.json").exists():
        return tools
    debs.require("the embedded cluster takes its container runtime from")
    with exclusively(home.host_tools, "unpacking host tools"):
        if not (tools.root / "versions.json").exists():  # it may have been another process that ended just now
            _make(tools, progress)
    return tools


def _make(tools: HostTools, progress: Progress) -> None:
    """Unpack into a directory of its own and rename it, so that a killed run leaves all or nothing."""
    work = tools.root.with_name(f".unpacking-{tools.root.name}")
    shutil.rmtree(work, ignore_errors=True)
    try:
        with progress.step("host tools: containerd, runc, CNI plugins, iptables"):
            debs.read_sources(work / "debs").download(PACKAGES)
            versions = debs.unpack(work / "debs", work / "tree")
            shutil.rmtree(work / "debs")
            _wrap(work, tools)
            (work / "versions.json").write_text(json.dumps(versions, indent=2, sort_keys=True))
            work.rename(tools.root)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _wrap(work: Path, tools: HostTools) -> None:
    """Write wrappers that name the final place, since the tree is renamed after this."""
    (work / "bin").mkdir()
    multiarch = sysconfig.get_config_var("MULTIARCH") or f"{platform.machine()}-linux-gnu"
    libraries = f"{tools.tree}/usr/lib/{multiarch}:{tools.tree}/lib/{multiarch}"
    backend = _iptables_backend(work / "tree", multiarch)
    commands = {
        "containerd": f"{tools.tree}/usr/bin/containerd",
        "containerd-shim-runc-v2": f"{tools.tree}/usr/bin/containerd-shim-runc-v2",
        "ctr": f"{tools.tree}/usr/bin/ctr",
        "runc": f"{tools.tree}/usr/sbin/runc",
        "ipset": f"{tools.tree}/{_find(work / 'tree', 'ipset')}",
    }
    commands |= {name: f"{tools.tree}/usr/sbin/{backend} {name}" for name in IPTABLES_APPLETS}
    for name, command in commands.items():
        path = work / "bin" / name
        path.write_text(
            "#!/bin/sh\n"
            f"export LD_LIBRARY_PATH={libraries} XTABLES_LIBDIR={tools.tree}/usr/lib/{multiarch}/xtables\n"
            f'exec {command} "$@"\n'
        )
        path.chmod(0o755)


def _find(tree: Path, name: str) -> str:
    found = next((p for p in (tree / "usr/sbin" / name, tree / "sbin" / name) if p.exists()), None)
    if found is None:
        raise SandboxError(f"the unpacked packages hold no {name}", "this Debian release lays its files differently")
    return found.relative_to(tree).as_posix()


def _iptables_backend(tree: Path, multiarch: str) -> str:
    """The multi-call binary whose kernel side exists here: the legacy one where it works, else nftables."""
    environment = {
        "LD_LIBRARY_PATH": f"{tree}/usr/lib/{multiarch}:{tree}/lib/{multiarch}",
        "XTABLES_LIBDIR": f"{tree}/usr/lib/{multiarch}/xtables",
    }
    for backend in ("xtables-legacy-multi", "xtables-nft-multi"):
        probe = [f"{tree}/usr/sbin/{backend}", "iptables", "-t", "nat", "-S"]
        if run(probe, timeout=30, env=environment, check=False).code == 0:
            return backend
    raise SandboxError("neither iptables backend works with this kernel", "load ip_tables or nf_tables, or use a VM")
