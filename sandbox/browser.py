"""The browser in which tests open pages: unpacked from Debian packages and never installed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sandbox import debs
from sandbox.errors import SandboxError
from sandbox.exclusive import exclusively
from sandbox.process import ProgramError, run

if TYPE_CHECKING:
    from sandbox.home import Home
    from sandbox.progress import Progress

NAME: Final = "chromium"
"""As tests look for it on PATH."""
_INSTALL: Final = f"install a browser that is on PATH as {NAME}, then run the same command again"
PACKAGES: Final = ("chromium-headless-shell", "fonts-dejavu-core")
# What only a desktop needs, and the C library: two of them in one process do not go together.
UNWANTED: Final = re.compile(
    r"libc6|gcc-\d+-base|c?debconf.*|perl.*|lsb-base|sysvinit-utils|x11-(common|utils)|xdg-utils|xfonts-.*|ttf-.*"
    r"|fonts-(?!dejavu-core).*"
)
_OWN_OF_LIBC: Final = re.compile(r"(ld-linux[\w-]*|lib(c|m|dl|rt|pthread|resolv|util))\.so\.\d+")
_RESOLVED: Final = re.compile(r"^\s*(\S+) => (.+?)(?: \(0x[0-9a-f]+\))?$", re.M)
_FONTS: Final = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{fonts}</dir><cachedir>{cache}</cachedir></fontconfig>
"""


@dataclass(frozen=True)
class Browser:
    """An unpacked browser. `bin` holds the wrapper that finds its libraries and fonts; put it on PATH."""

    root: Path

    @property
    def bin(self) -> Path:
        """Directory of the wrapper."""
        return self.root / "bin"

    @property
    def tree(self) -> Path:
        """The unpacked packages."""
        return self.root / "tree"

    @property
    def program(self) -> Path:
        """The browser itself."""
        return self.tree / "usr/lib/chromium/chromium-headless-shell"

    @property
    def libraries(self) -> str:
        """Directories of its libraries, as the loader is told."""
        multiarch = sysconfig.get_config_var("MULTIARCH") or "x86_64-linux-gnu"
        places = (f"usr/lib/{multiarch}", f"lib/{multiarch}", f"usr/lib/{multiarch}/pulseaudio")
        return ":".join(f"{self.tree}/{place}" for place in places)


def ensure(home: Home, progress: Progress) -> Browser:
    """Unpack the browser unless it is there.

    Raises SandboxError: not Debian, package index unreachable, no such package, a library that no package brings.
    """
    key = "\n".join((*PACKAGES, UNWANTED.pattern, Path(__file__).read_text(), Path(debs.__file__).read_text()))
    digest = hashlib.sha256(key.encode()).hexdigest()[:12]
    browser = Browser(home.host_tools / f"browser-{debs.release()}-{digest}")
    if (browser.root / "versions.json").exists():
        return browser
    if not debs.release().startswith("debian"):
        # Others have no such package, or one that installs the browser by means of their own.
        raise SandboxError(f"{debs.release()} has no package of a browser that can be unpacked", _INSTALL)
    debs.require("the browser of the tests comes from")
    with exclusively(home.host_tools, "unpacking a browser for tests"):
        if not (browser.root / "versions.json").exists():  # it may have been another process that ended just now
            _make(browser, progress)
    return browser


def _make(browser: Browser, progress: Progress) -> None:
    """Unpack into a directory of its own and rename it, so that a killed run leaves all or nothing."""
    work = Browser(browser.root.with_name(f".unpacking-{browser.root.name}"))
    shutil.rmtree(work.root, ignore_errors=True)
    try:
        with progress.step("a browser for tests"):
            sources = debs.read_sources(work.root / "debs")
            sources.download(sources.closure(PACKAGES, lambda name: UNWANTED.fullmatch(name) is None))
            versions = debs.unpack(work.root / "debs", work.tree)
            shutil.rmtree(work.root / "debs")
            _prove(work)
            _wrap(work, browser)
            (work.root / "versions.json").write_text(json.dumps(versions, indent=2, sort_keys=True))
            work.root.rename(browser.root)
    finally:
        shutil.rmtree(work.root, ignore_errors=True)


def _prove(browser: Browser) -> None:
    """Every library but the C library's own comes from the tree: the next machine may lack what this one has."""
    if not browser.program.exists():
        raise SandboxError(f"the packages of {NAME} hold no {browser.program.name}", _INSTALL)
    environment = {**os.environ, "LD_LIBRARY_PATH": browser.libraries}
    try:
        listed = run(["ldd", str(browser.program)], timeout=60, env=environment).stdout
    except ProgramError as error:
        raise SandboxError(f"{browser.program.name}, unpacked for tests, does not run: {error}", _INSTALL) from error
    lost = sorted(
        name
        for name, path in _RESOLVED.findall(listed)
        if not path.startswith(str(browser.tree)) and not _OWN_OF_LIBC.fullmatch(name)
    )
    if lost:
        raise SandboxError(f"{browser.program.name} needs {', '.join(lost)}, which no unpacked package holds", _INSTALL)


def _wrap(work: Browser, browser: Browser) -> None:
    """Write what names the final place, since the tree is renamed after this."""
    work.bin.mkdir()
    fonts = work.root / "fonts.conf"
    fonts.write_text(_FONTS.format(fonts=browser.tree / "usr/share/fonts", cache=browser.root / "font-cache"))
    wrapper = work.bin / NAME
    wrapper.write_text(
        "#!/bin/sh\n"
        f"export LD_LIBRARY_PATH={browser.libraries} FONTCONFIG_FILE={browser.root}/fonts.conf\n"
        f'exec {browser.program} "$@"\n'
    )
    wrapper.chmod(0o755)
