"""The program cache: each pinned module is built once, into a directory named after the hash of its inputs."""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import TYPE_CHECKING

from sandbox.errors import SandboxError
from sandbox.exclusive import exclusively
from sandbox.process import ProgramError, held_back, kill_running, run
from sandbox.programs.spec import BUILD_FLAGS, STRIP, Program, catalogue
from sandbox.programs.toolchain import check_go, explain, go_environment, module_directory

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sandbox.home import Home
    from sandbox.progress import Progress

BUILD_TIMEOUT = 3600.0
GIB_PER_MISSING_PROGRAM = 4
GIB_AT_MOST = 35


def directory(home: Home, program: Program) -> Path:
    """Where the program lies in the cache, built or not."""
    return home.programs / f"{program.name}-{program.version}-{program.digest()}"


def binary(home: Home, name: str) -> Path:
    """Path of a built binary. Raises SandboxError when it is unknown or not built."""
    for program in catalogue()[1].values():
        if name in program.outputs:
            path = directory(home, program) / "bin" / name
            if path.exists():
                return path
            raise SandboxError(f"{name} is not built", "run make programs")
    raise SandboxError(f"no program builds {name}", "see sandbox/programs/programs.toml")


def missing(home: Home, names: Sequence[str]) -> list[Program]:
    """The programs of `names` that are not in the cache."""
    programs = catalogue()[1]
    return [programs[n] for n in names if not (directory(home, programs[n]) / "bin").is_dir()]


def ensure(home: Home, names: Sequence[str], progress: Progress) -> None:
    """Build what is missing of `names`, two at a time.

    Safe to interrupt: a build goes to a directory of its own and is renamed when complete.
    Raises SandboxError: no Go, too little disk, unreachable proxy, failed build.
    """
    if not missing(home, names):
        return
    check_go(catalogue()[0])
    with exclusively(home.programs, "building programs"):
        todo = missing(home, names)
        _check_disk(home, len(todo))
        _remove_remains(home)
        jobs = [
            (program, f"program {i} of {len(todo)}: {program.name} {program.version}")
            for i, program in enumerate(todo, 1)
        ]
        _build_all(home, jobs, progress)


def _build_all(home: Home, jobs: Sequence[tuple[Program, str]], progress: Progress) -> None:
    """Build two at a time; the first failure, or Ctrl-C, ends them all."""
    with held_back() as held:  # a build that nobody waits for would run to its end
        pool = ThreadPoolExecutor(2 if (os.cpu_count() or 1) > 1 else 1)
        futures = [pool.submit(_build, home, program, title, progress) for program, title in jobs]
    try:
        for interrupt in held:
            interrupt()
        wait(futures, return_when=FIRST_EXCEPTION)
        failed = next((f for f in futures if f.done() and f.exception() is not None), None)
        if failed is not None:
            failed.result()
    except BaseException:
        for future in futures:
            future.cancel()
        kill_running()
        while wait(futures, timeout=0.2).not_done:  # one that was between two calls has started the next
            kill_running()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def prune(home: Home, names: Sequence[str], progress: Progress) -> None:
    """Remove Go's caches (some 30 GB) once every program that the caller will ever need is built."""
    if not home.go.is_dir() or missing(home, names) or os.environ.get("PLUMBLINE_KEEP_GO_CACHE") == "1":
        return
    title = "removing Go's caches"
    with suppress(SandboxError), exclusively(home.programs, title), progress.step(title):  # else whoever builds does it
        shutil.rmtree(home.go, ignore_errors=True)


def _check_disk(home: Home, count: int) -> None:
    need = min(GIB_AT_MOST, GIB_PER_MISSING_PROGRAM * count)
    free = shutil.disk_usage(home.programs).free / 2**30
    if free < need:
        raise SandboxError(
            f"{home.root} has {free:.1f} GiB free; building {count} programs needs {need} GiB for a while",
            "free space, or set PLUMBLINE_HOME to a larger file system",
        )


def _remove_remains(home: Home) -> None:
    for path in home.programs.glob(".building-*"):
        shutil.rmtree(path, ignore_errors=True)


def _build(home: Home, program: Program, title: str, progress: Progress) -> None:
    work = home.programs / f".building-{program.name}"
    try:
        with progress.step(title):
            shutil.copytree(program.source, work / "src")
            (work / "bin").mkdir()
            _prepare(home, program, work)
            for output, package in program.outputs.items():
                _compile(home, program, work, output, package)
            shutil.rmtree(work / "src")
            work.rename(directory(home, program))
    except ProgramError as error:
        raise explain(program.name, error) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _prepare(home: Home, program: Program, work: Path) -> None:
    for item in program.copies:
        source = module_directory(home, item.module, expected_sum=item.sum, cwd=work)
        target = work / item.to
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / item.path, target)
        target.chmod(0o755 if target.parent == work / "bin" else 0o644)
    for item in program.generates:
        source = module_directory(home, item.module, expected_sum="", cwd=work / "src")
        content = json.loads((source / item.path).read_text())
        if item.set_version:
            content["version"] = program.version
        (work / "src" / item.to).write_text(json.dumps(content, separators=(",", ":")))


def _compile(home: Home, program: Program, work: Path, output: str, package: str) -> None:
    ldflags = " ".join((*STRIP, *program.ldflags))
    argv = ["go", "build", *BUILD_FLAGS, "-ldflags", ldflags, "-tags", ",".join(program.tags)]
    run(
        [*argv, "-o", str(work / "bin" / output), package],
        timeout=BUILD_TIMEOUT,
        env=go_environment(home),
        cwd=work / "src",
    )
