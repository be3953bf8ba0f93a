"""Environments are made once, whole or not at all, one at a time, and from nothing but the lock."""

from __future__ import annotations

import fcntl
import subprocess
import threading
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from smoke.sdk.environments import EnvironmentFailedError, Lock, ensure, prune, read_lock

if TYPE_CHECKING:
    from collections.abc import Sequence

LOCK = Lock(
    "0.8.4", "# head\nswanlab==0.8.4 \\\n    --hash=sha256:1\npwinput==1.0.3 \\\n    --hash=sha256:2\nwrapt==2\n"
)


class Pip:
    """Stands for every program that is started."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.listed: dict[str, str] = {}
        self.environments: list[dict[str, str]] = []
        self.code, self.output = 0, ""
        self.error: Exception | None = None

    def __call__(self, argv: Sequence[str], *, env: dict[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        """As subprocess.run."""
        self.calls.append(list(argv))
        self.environments.append(env)
        if self.error is not None:
            raise self.error
        if "venv" in argv:
            (Path(argv[-1]) / "bin").mkdir(parents=True)
            (Path(argv[-1]) / "bin" / "python").touch()
            return subprocess.CompletedProcess(argv, 0, "", "")
        if "-r" in argv:
            self.listed[Path(argv[-1]).stem] = Path(argv[-1]).read_text(encoding="utf-8")
        return subprocess.CompletedProcess(argv, self.code, "", self.output)


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> Pip:
    """No program is started."""
    fake = Pip()
    monkeypatch.setattr(subprocess, "run", fake)
    return fake


def test_it_is_made_once(pip: Pip, tmp_path: Path) -> None:
    told: list[str] = []
    python = ensure(LOCK, tmp_path / "sdk", told.append)
    assert python == tmp_path / "sdk" / LOCK.name / "bin" / "python"
    assert python.exists()
    assert [word for line in told for word in ("installing", "installed") if word in line] == [
        "installing",
        "installed",
    ]
    begun = len(pip.calls)
    assert ensure(LOCK, tmp_path / "sdk", told.append) == python
    assert (len(pip.calls), len(told)) == (begun, 2)


def test_every_package_comes_by_hash_and_only_the_source_ones_are_built(pip: Pip, tmp_path: Path) -> None:
    ensure(LOCK, tmp_path, print)
    installs = [call for call in pip.calls if "install" in call]
    assert all({"--require-hashes", "--no-deps"} <= set(call) for call in installs)
    assert [("--only-binary" in call, "--no-build-isolation" in call) for call in installs] == [
        (True, False),
        (False, True),
    ]
    assert "pwinput" not in pip.listed["wheels"]
    assert pip.listed["wheels"].count("==") == 2
    assert pip.listed["source"] == "pwinput==1.0.3 \\\n    --hash=sha256:2\n"
    assert pip.calls[-1][-1] == "check"


def test_packages_of_the_machine_stay_out_and_its_index_stays(
    pip: Pip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.test/simple")
    ensure(LOCK, tmp_path, print)
    assert all("PYTHONPATH" not in env for env in pip.environments)
    assert all(env["PYTHONNOUSERSITE"] == "1" for env in pip.environments)
    assert all(env["PIP_INDEX_URL"] == "https://index.test/simple" for env in pip.environments)


@pytest.mark.parametrize(
    ("output", "cause"),
    [
        ("WARNING: Retrying (Retry(total=4", "the package index cannot be reached"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM", "other files than the lock names"),
        ("ERROR: No matching distribution found for swanlab==0.8.4", "lacks a locked version"),
        ("ERROR: disk full", "pip's words follow"),
    ],
)
def test_a_failure_leaves_nothing_and_says_what_to_do(pip: Pip, tmp_path: Path, output: str, cause: str) -> None:
    pip.code, pip.output = 1, f"{output} from https://user:secret@index.test/simple"
    with pytest.raises(EnvironmentFailedError, match=cause) as caught:
        ensure(LOCK, tmp_path, print)
    assert output in str(caught.value)
    assert "secret" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == [f".{LOCK.name}.lock"]
    pip.code = 0
    assert ensure(LOCK, tmp_path, print).exists()


@pytest.mark.parametrize(
    ("error", "words"),
    [(subprocess.TimeoutExpired("pip", 900), "within 900 s"), (FileNotFoundError(2, "No such file"), "cannot start")],
)
def test_a_program_that_does_not_end_or_start_is_explained(
    pip: Pip, tmp_path: Path, error: Exception, words: str
) -> None:
    pip.error = error
    with pytest.raises(EnvironmentFailedError, match=words):
        ensure(LOCK, tmp_path, print)


def test_an_interrupted_one_is_made_anew(pip: Pip, tmp_path: Path) -> None:
    pip.error = KeyboardInterrupt()  # type: ignore[assignment]  # raised as it is
    with pytest.raises(KeyboardInterrupt):
        ensure(LOCK, tmp_path, print)
    assert not (tmp_path / LOCK.name).exists()
    pip.error = None
    assert ensure(LOCK, tmp_path, print).exists()


def test_who_comes_second_waits_and_is_told(pip: Pip, tmp_path: Path) -> None:
    told: list[str] = []
    waits = threading.Event()

    def say(line: str) -> None:
        told.append(line)
        waits.set()

    with (tmp_path / f".{LOCK.name}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        second = threading.Thread(target=ensure, args=(LOCK, tmp_path, say))
        second.start()
        assert waits.wait(60)
        assert told == [f"another process makes {LOCK.name}; waiting for it"]
        assert pip.calls == []
    second.join(10)
    assert (tmp_path / LOCK.name).exists()


def test_another_lock_is_another_environment() -> None:
    assert LOCK.name != Lock("0.8.4", f"{LOCK.text}more==1\n").name
    assert LOCK.name.startswith("0.8.4-")


def test_a_version_without_a_lock_is_refused() -> None:
    with pytest.raises(EnvironmentFailedError, match=r"no lock of SDK 0\.6\.0 .*; locked are .*0\.8\.4"):
        read_lock("0.6.0")


def test_a_cache_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentFailedError, match="set PLUMBLINE_HOME"):
        ensure(LOCK, tmp_path / "file" / "sdk", print)


def test_old_ones_go_but_not_those_in_use_and_nothing_else(tmp_path: Path) -> None:
    for name in ("0.8.4-0123abcd", "0.8.3-0123abcd", "0.9.8-0123abcd", "notes", "0.8.4-0123abcd-mine"):
        (tmp_path / name / "bin").mkdir(parents=True)
    with (tmp_path / ".0.9.8-0123abcd.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert prune(tmp_path, {"0.8.4-0123abcd"}) == ["0.8.3-0123abcd"]
    assert prune(tmp_path / "absent", set()) == []
    left = {path.name for path in tmp_path.iterdir() if path.is_dir()}
    assert left == {"0.8.4-0123abcd", "0.9.8-0123abcd", "notes", "0.8.4-0123abcd-mine"}


def wheel(directory: Path, content: str) -> str:
    """A wheel of swanlab 0.8.4 in a directory that serves as the index; gives its sha256."""
    path = directory / "swanlab-0.8.4-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("swanlab/__init__.py", content)
        info = "swanlab-0.8.4.dist-info"
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: swanlab\nVersion: 0.8.4\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return sha256(path.read_bytes()).hexdigest()


def test_the_real_pip_installs_from_a_local_index_and_refuses_other_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    lock = Lock("0.8.4", f"swanlab==0.8.4 \\\n    --hash=sha256:{wheel(tmp_path, 'VALUE = 1')}\n")
    python = ensure(lock, tmp_path / "sdk", print)
    done = subprocess.run(
        [str(python), "-I", "-c", "import swanlab, sys; print(swanlab.VALUE, sys.prefix)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["1", str(tmp_path / "sdk" / lock.name)]
    wheel(tmp_path, "VALUE = 2")
    with pytest.raises(EnvironmentFailedError, match="other files than the lock names"):
        ensure(Lock("0.8.4", f"{lock.text}# again\n"), tmp_path / "sdk", print)
