"""Where things lie: `PLUMBLINE_HOME` with its caches and the state of each cluster."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError


@dataclass(frozen=True)
class Home:
    """Layout of PLUMBLINE_HOME. Nothing here creates a directory."""

    root: Path

    @property
    def cache(self) -> Path:
        """What any clone and any cluster on the machine may share and what can be rebuilt."""
        return self.root / "cache"

    @property
    def programs(self) -> Path:
        """Built programs, one directory per name, version and hash of inputs."""
        return self.cache / "programs"

    @property
    def images(self) -> Path:
        """Image archives, one per role and hash of inputs."""
        return self.cache / "images"

    @property
    def host_tools(self) -> Path:
        """Unpacked Debian packages."""
        return self.cache / "host-tools"

    @property
    def go(self) -> Path:
        """Go's module and build caches while programs are built; removed once all of them are cached."""
        return self.cache / "go"

    def state(self, name: str) -> Path:
        """State of cluster `name`: etcd, volumes, kubeconfig, Pulumi state. Raises SandboxError on a bad name."""
        if not name or not all(c.isascii() and (c.isalnum() or c == "-") for c in name):
            raise SandboxError(
                f"state name {name!r} is not accepted: letters, digits and '-' only",
                "set PLUMBLINE_STATE to a name such as local or test",
            )
        return self.root / "state" / name


def find_home() -> Home:
    """PLUMBLINE_HOME, or the default for this user. Raises SandboxError when it is not an absolute path."""
    given = os.environ.get("PLUMBLINE_HOME")
    if given:
        path = Path(given)
        if not path.is_absolute():
            raise SandboxError(f"PLUMBLINE_HOME is {given!r}, not an absolute path", "export it as an absolute path")
        if any(c.isspace() or c in "\"'$`\\{}" for c in given):
            raise SandboxError(
                f"PLUMBLINE_HOME is {given!r}; the cluster's programs do not take blanks and quotes in paths",
                "choose a path without them",
            )
        return Home(path)
    if os.geteuid() == 0:
        return Home(Path("/var/lib/plumbline"))
    return Home(Path.home() / ".local" / "share" / "plumbline")
