"""The cache of unpacked interpreters, packages and programs is bounded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sandbox.images.debian import Debian
from sandbox.images.materials import Materials, prune
from sandbox.images.python import Runtime
from sandbox.images.wheels import Wheels

if TYPE_CHECKING:
    from sandbox.home import Home


def test_of_each_kind_what_is_used_and_the_last_other_stay(home: Home) -> None:
    used = ("python-debian12-0", "wheels-gpu-debian12-0", "wheels-gate-debian12-0", "debian-debian12-0")
    others = ("wheels-gpu-debian12-1", "wheels-gpu-debian12-2", "wheels-gpu-debian12-3", "wheels-gate-debian12-1")
    strangers = ("wheels-gpu-debian13-1", "wheels-gpu-debian13-2", "notes")
    for age, name in enumerate((*used, *others, *strangers)):
        (home.images / name / "packages").mkdir(parents=True)
        os.utime(home.images / name, (age, age))
    (home.images / "python-debian12-note").write_text("a file")
    python, gpu, gate, debian = (home.images / name for name in used)
    prune(home, Materials(Runtime(python), {"gpu": Wheels(gpu), "gate": Wheels(gate)}, Debian(debian)))
    gone = {"wheels-gpu-debian12-1", "wheels-gpu-debian12-2"}
    assert {path.name for path in home.images.iterdir()} == {*used, *others, *strangers, "python-debian12-note"} - gone
