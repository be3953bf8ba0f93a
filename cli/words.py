"""The Makefile's words. Errors that the user can act on are printed without a stack trace."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cli import (
    bench,
    debug_logs,
    deploy,
    develop,
    drill,
    embedded,
    evidence,
    inspect,
    recovery,
    recovery_secrets,
    regression,
)
from cli.begin import interrupted
from cli.engine import EMBEDDED, ROOT, engine_for
from sandbox.cluster import facts, ownership, preflight
from sandbox.cluster.layout import CONTEXT, direct
from sandbox.errors import SandboxError
from sandbox.home import find_home
from sandbox.process import ProgramError
from sandbox.programs import build as programs
from sandbox.programs.spec import catalogue
from sandbox.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sandbox.home import Home

PASSED_ON = ("pulumi", "kubectl")
_EVIDENCE = {"run": "none", "step": "all", "alert": "none", "window": "60s", "since": "usual"}


def _down(stack: str, progress: Progress) -> int:
    _only_embedded(stack, "make down")
    preflight.check_machine(facts.gather(find_home()))
    with ownership.machine_lock("make down"):
        name = embedded.take_down(find_home(), progress)
    print(f"stopped; the data of {name!r} stays, make up resumes it" if name else "no embedded cluster runs here")
    return 0


def _clean(stack: str, cache: str, progress: Progress) -> int:
    _only_embedded(stack, "make clean")
    preflight.check_machine(facts.gather(find_home()))
    home = find_home()
    state = engine_for(home, stack).state
    assert state is not None  # noqa: S101  local has a state
    print(f"deleting {state}: cluster objects, volumes with their data, Pulumi state, keys", file=sys.stderr)
    with ownership.machine_lock("make clean"):
        embedded.delete_state(home, state, progress)
        if cache == "1":
            embedded.delete_caches(home)
    return 0


def _only_embedded(stack: str, verb: str) -> None:
    if stack != EMBEDDED:
        raise SandboxError(
            f"{verb} is for the embedded cluster, not for stack {stack}",
            f"to remove the stack: bin/pulumi destroy --stack {stack} (data of durable stacks stays)",
        )


def _pass_on(program: str, arguments: Sequence[str]) -> int:
    """Become the engine or kubectl, with the environment and options of the chosen stack."""
    home = find_home()
    if program == "kubectl":
        state = home.state(os.environ.get("PLUMBLINE_STATE", EMBEDDED))
        argv = [str(programs.binary(home, "kubectl")), f"--kubeconfig={state}/kubeconfig", f"--context={CONTEXT}"]
        os.execve(argv[0], [*argv, *arguments], direct(os.environ))  # noqa: S606  we become it
    engine = engine_for(home, _stack_of(arguments))
    engine.prepare()
    argv = engine.argv(arguments)
    os.execve(argv[0], argv, engine.environment())  # noqa: S606  we become it
    return 1


def _stack_of(arguments: Sequence[str]) -> str:
    """The stack that an engine command line names; PULUMI_STACK or `local` without one."""
    for i, word in enumerate(arguments):
        if word in ("-s", "--stack") and i + 1 < len(arguments):
            return arguments[i + 1].rsplit("/", 1)[-1]
        if word.startswith("--stack="):
            return word.split("=", 1)[1].rsplit("/", 1)[-1]
        if word.startswith("-s") and len(word) > len("-s"):
            return word.removeprefix("-s").removeprefix("=").rsplit("/", 1)[-1]
    return os.environ.get("PULUMI_STACK", EMBEDDED)


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="plumbline", description="The words of the Makefile.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("up", "down", "clean", "status", "smoke", "prove", "preview"):
        sub = verbs.add_parser(verb)
        sub.add_argument("--stack", default=EMBEDDED)
        if verb == "clean":
            sub.add_argument("--cache", default="0", choices=("0", "1"))
    verbs.add_parser("bench").add_argument("--cold", default="0", choices=("0", "1"))
    regress = verbs.add_parser("sdk-regression")
    regress.add_argument("--stack", default=EMBEDDED)
    regress.add_argument("--sdk", nargs="+", default=[regression.ALL], metavar="V")
    recover = verbs.add_parser("recovery")
    recover.add_argument("--stack", default=EMBEDDED)
    recover.add_argument("words", nargs=argparse.REMAINDER)
    opened = verbs.add_parser("recovery-secrets")
    opened.add_argument("--kit", required=True)
    opened.add_argument("--into", required=True)
    opened.add_argument("--point", default=recovery_secrets.LATEST)
    drilled = verbs.add_parser("drill")
    drilled.add_argument("--stack", default=EMBEDDED)
    drilled.add_argument("--destroy", default="no", choices=("no", "yes"))
    debugged = verbs.add_parser("debug-logs")
    debugged.add_argument("--stack", default=EMBEDDED)
    debugged.add_argument("--workload", default=debug_logs.LIST)
    debugged.add_argument("--for", dest="span", default="30m")
    told = verbs.add_parser("evidence")
    told.add_argument("--stack", default=EMBEDDED)
    for word, default in _EVIDENCE.items():
        told.add_argument(f"--{word}", default=default)
    reviewed = verbs.add_parser("alert-review")
    reviewed.add_argument("--stack", default=EMBEDDED)
    reviewed.add_argument("--since", default="usual")
    for verb in ("check", "test", "env", "programs", "lock", "golden"):
        verbs.add_parser(verb)
    return parser.parse_args(argv)


def _env() -> int:
    print(f'export PATH="{ROOT / "bin"}:$PATH"')
    return 0


def _programs(home: Home, progress: Progress) -> int:
    names = list(catalogue()[1])
    programs.ensure(home, names, progress)
    programs.prune(home, names, progress)
    return 0


def _run(options: argparse.Namespace) -> int:
    home, progress = find_home(), Progress()
    stack = getattr(options, "stack", EMBEDDED)
    verbs: dict[str, Callable[[], int]] = {
        "up": lambda: deploy.up(home, stack, progress),
        "down": lambda: _down(stack, progress),
        "clean": lambda: _clean(stack, options.cache, progress),
        "status": lambda: inspect.status(home, stack),
        "smoke": lambda: deploy.smoke(home, stack, "smoke"),
        "prove": lambda: deploy.smoke(home, stack, "prove"),
        "preview": lambda: deploy.preview(home, stack, progress),
        "sdk-regression": lambda: regression.sdk_regression(home, stack, options.sdk),
        "recovery": lambda: recovery.recovery(home, stack, [word for word in options.words if word != "--"]),
        "recovery-secrets": lambda: recovery_secrets.recovery_secrets(
            Path(options.kit), Path(options.into), options.point
        ),
        "drill": lambda: drill.drill(home, stack, progress, destroy=options.destroy == "yes"),
        "debug-logs": lambda: debug_logs.debug_logs(home, stack, progress, options.workload, options.span),
        "evidence": lambda: evidence.evidence(
            home, stack, evidence.Words(**{word: getattr(options, word) for word in _EVIDENCE})
        ),
        "alert-review": lambda: evidence.alert_review(home, stack, options.since),
        "check": lambda: develop.check(home, progress),
        "test": lambda: develop.test(home, progress),
        "bench": lambda: bench.bench(home, progress, cold=options.cold == "1"),
        "env": _env,
        "programs": lambda: _programs(home, progress),
        "lock": lambda: develop.lock(home),
        "golden": lambda: develop.golden(home),
    }
    code = verbs[options.verb]()
    sys.stdout.flush()  # here, where a closed pipe is expected, and not while Python ends
    return code


def main() -> int:
    """Run one verb; 130 after Ctrl-C, 1 after an error that was explained."""
    argv = sys.argv[1:]
    try:
        if argv and argv[0] in PASSED_ON:
            return _pass_on(argv[0], argv[1:])
        return _run(_parse(argv))
    except (SandboxError, ProgramError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # `make status | head`: whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return interrupted()
